import math
from collections import Counter
from random import Random

import pytest

from dragoman.tokenize.sampling import LONGEST_STRETCH, BpeDropout, UnigramSampling

SCORES = {"a": -2.0, "b": -1.5, "c": -3.0, "ab": -2.2, "bc": -2.5, "abc": -4.0, "ca": -3.5}
IDS = {piece: number for number, piece in enumerate(SCORES, start=4)}
N_DRAWS = 20_000


def every_way(word):
    """All ways to cut a word, by trying every cut."""
    if not word:
        return [()]
    heads = [word[:end] for end in range(1, len(word) + 1) if word[:end] in SCORES]
    return [(head, *rest) for head in heads for rest in every_way(word[len(head) :])]


def frequencies(sampler, word):
    generator = Random(1)
    drawn = Counter(tuple(sampler.draw_pieces(word, generator)) for _ in range(N_DRAWS))
    return {way: count / N_DRAWS for way, count in drawn.items()}


@pytest.mark.parametrize("alpha", [0.1, 0.5, 2.0])
def test_unigram_draws_each_way_as_often_as_its_probability_says(alpha):
    word = "abcab"
    weights = {way: math.exp(alpha * sum(SCORES[p] for p in way)) for way in every_way(word)}
    total = sum(weights.values())
    seen = frequencies(UnigramSampling(IDS, SCORES, byte_ids=(), alpha=alpha), word)
    for way, weight in weights.items():
        # five standard deviations of a count of N_DRAWS
        spread = math.sqrt(weight / total * (1 - weight / total) / N_DRAWS)
        assert seen.get(way, 0.0) == pytest.approx(weight / total, abs=5 * spread)
    assert set(seen) <= set(weights)


def test_bpe_dropout_agrees_with_hand_arithmetic():
    # ab|c: "ab" (-2.2) beats "bc" (-2.5). With p = 1/4: "ab" is made 3/4 of the time, then "abc"
    # 3/4 of that; "bc" is made when "ab" is dropped and "bc" is not: 3/16, then "abc" 3/4 of that.
    seen = frequencies(BpeDropout(IDS, SCORES, byte_ids=(), alpha=0.25), "abc")
    expected = {
        ("abc",): 9 / 16 + 9 / 64,
        ("ab", "c"): 3 / 16,
        ("a", "bc"): 3 / 64,
        ("a", "b", "c"): 1 / 16,
    }
    assert seen == pytest.approx(expected, abs=0.016)


def test_bpe_dropout_of_one_leaves_characters():
    assert BpeDropout(IDS, SCORES, byte_ids=(), alpha=1.0).draw("abc", Random(1)) == [4, 5, 6]


@pytest.mark.parametrize("sampler", [BpeDropout, UnigramSampling])
def test_a_character_without_a_piece_is_spelled_in_bytes(sampler):
    byte_ids = range(100, 356)
    ids = sampler(IDS, SCORES, byte_ids=byte_ids, alpha=0.0).draw("aü", Random(1))
    assert ids == [4, 100 + 0xC3, 100 + 0xBC]


@pytest.mark.parametrize("sampler", [BpeDropout, UnigramSampling])
def test_a_very_long_word_keeps_all_its_characters(sampler):
    word = "abc" * LONGEST_STRETCH
    pieces = {number: piece for piece, number in IDS.items()}
    ids = sampler(IDS, SCORES, byte_ids=(), alpha=0.3).draw(word, Random(1))
    assert "".join(pieces[number] for number in ids) == word
