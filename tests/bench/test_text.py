"""The same sentences for everybody, in batches of like lengths and in random order."""

import pytest

from dragoman.bench import text as text_module
from dragoman.bench.text import (
    Text,
    batches_in_random_order,
    batches_of_like_length,
    decode_batches,
    find_source,
    read_text,
)
from dragoman.errors import DataError


@pytest.fixture
def mixed_lengths():
    lengths = [3, 9, 4, 17, 3, 8, 5, 30, 11, 6] * 20
    return Text("made up", 99, [([5] * n, [6 + n] * (n + 1)) for n in lengths])


def test_random_order_has_the_same_pairs_and_more_padding(mixed_lengths):
    alike = batches_of_like_length(mixed_lengths, batch_tokens=200, n_batches=4)
    mixed = batches_in_random_order(alike, batch_tokens=200)

    def pairs(batches):
        return sorted(pair for batch in batches.batches for pair in batch)

    assert pairs(alike) == pairs(mixed)
    assert alike.n_tokens == mixed.n_tokens
    assert alike.padding < 0.05 < 0.15 < mixed.padding


def test_no_batch_exceeds_its_budget(mixed_lengths):
    alike = batches_of_like_length(mixed_lengths, batch_tokens=200, n_batches=4)
    mixed = batches_in_random_order(alike, batch_tokens=200)
    for batches in (alike, mixed):
        sizes = [len(b) * (max(len(tgt) for _, tgt in b) + 1) for b in batches.batches]
        assert max(sizes) <= 300


def test_the_shuffled_order_is_the_same_each_time(mixed_lengths):
    alike = batches_of_like_length(mixed_lengths, batch_tokens=200, n_batches=4)
    first, second = (batches_in_random_order(alike, batch_tokens=200) for _ in range(2))
    assert first == second


def test_batches_are_taken_from_short_sentences_and_from_long_ones(mixed_lengths):
    alike = batches_of_like_length(mixed_lengths, batch_tokens=200, n_batches=3)
    lengths = [len(batch[0][0]) for batch in alike.batches]
    assert len(lengths) == 3
    assert lengths[0] < 8 < lengths[-1]


def test_there_are_no_more_batches_than_the_text_makes():
    few = Text("few", 9, [([5], [6])])
    assert len(batches_of_like_length(few, batch_tokens=100, n_batches=4).batches) == 1


def test_sentences_to_decode_come_from_all_over_the_text(mixed_lengths):
    batches = decode_batches(mixed_lengths, n_sentences=20, batch_size=8)
    assert [len(batch) for batch in batches] == [8, 8, 4]
    lengths = [len(src) for batch in batches for src, _ in batch]
    assert lengths == sorted(lengths, reverse=True)
    assert decode_batches(mixed_lengths, n_sentences=1000, batch_size=500)[0][199:]


def test_files_are_read_and_cut_with_one_vocabulary(sides, tmp_path, monkeypatch):
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path))
    text = read_text(*sides, vocab_size=300)
    assert text.name == "s.de"
    assert len(text.pairs) == 60
    assert max(max(src + tgt) for src, tgt in text.pairs) < text.vocab_size <= 300
    assert read_text(*sides, vocab_size=300) == text  # the vocabulary is kept


def test_without_files_multi30k_is_looked_for_and_then_the_grammar(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "MULTI30K", tmp_path)
    assert find_source()[0] == "grammar"
    for language in ("en", "de"):
        (tmp_path / f"train.{language}.gz").touch()
    name, source = find_source()
    assert name == "Multi30k"
    assert source.files() == [tmp_path / "train.en.gz", tmp_path / "train.de.gz"]


def test_one_side_alone_is_refused(sides):
    with pytest.raises(DataError, match="one side is missing"):
        find_source(sides[0], None)
