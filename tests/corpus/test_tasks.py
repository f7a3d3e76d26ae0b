import re
from collections import Counter
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.corpus.numbers import in_words
from dragoman.corpus.tasks import TASKS, generate, split_of
from dragoman.errors import ConfigError, DataError

SPLITS = ["train", "valid", "test", "unseen"]


@pytest.mark.parametrize("name", list(TASKS))
def test_the_same_arguments_give_the_same_examples(name):
    first = list(generate(name, 30, seed=3))
    assert first == list(generate(name, 30, seed=3))
    assert first != list(generate(name, 30, seed=4))


@pytest.mark.parametrize("name", list(TASKS))
@pytest.mark.parametrize("split", SPLITS)
def test_exactly_as_many_examples_come_as_were_asked_for(name, split):
    assert len(list(generate(name, 7, split=split))) == 7
    assert list(generate(name, 0, split=split)) == []


@pytest.mark.parametrize("name", [name for name in TASKS if not name.startswith("grammar")])
def test_slices_share_no_source(name):
    sources = {split: {e.src for e in generate(name, 1500, split=split)} for split in SPLITS}
    for one in SPLITS:
        for other in SPLITS:
            assert one == other or not sources[one] & sources[other]


@pytest.mark.parametrize("name", ["grammar", "grammar_en_de"])
def test_slices_of_the_grammar_share_no_source_and_no_target(name):
    texts = {}
    for split in SPLITS:
        examples = list(generate(name, 2500 if split == "train" else 300, split=split))
        texts[split] = {e.src for e in examples} | {e.tgt for e in examples}
    for one in SPLITS:
        for other in SPLITS:
            assert one == other or not texts[one] & texts[other]


def test_slices_do_not_overlap_under_another_seed_either():
    train = {e.src for e in generate("reverse", 20_000, seed=1, max_length=4)}
    test = {e.src for e in generate("reverse", 200, seed=2, split="test", max_length=4)}
    assert not train & test


def test_copy_is_the_annotated_transformers_task_by_default():
    for example in generate("copy", 200):
        symbols = example.src.split()
        assert example.tgt == example.src
        assert len(symbols) == 10
        assert all(1 <= int(symbol) <= 10 for symbol in symbols)


def test_reverse_turns_the_sequence_round():
    assert all(e.tgt.split() == e.src.split()[::-1] for e in generate("reverse", 200))


def test_sort_gives_the_same_elements_in_order():
    for example in generate("sort", 500):
        source = [int(s) for s in example.src.split()]
        assert [int(s) for s in example.tgt.split()] == sorted(source)


def test_sort_mixes_in_reversed_and_repeated_sequences():
    sequences = [[int(s) for s in e.src.split()] for e in generate("sort", 2000, min_length=6)]
    falling = [s for s in sequences if s == sorted(s, reverse=True)]
    repeated = [s for s in sequences if len(set(s)) <= len(s) // 3]
    assert len(falling) > 100
    assert len(repeated) > 200


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 8), st.sampled_from(["copy", "sort"]))
def test_lengths_and_symbols_stay_within_the_options(vocab, low, more, name):
    options = {"vocab": vocab, "min_length": low, "max_length": low + more}
    for example in generate(name, 20, **options):
        symbols = example.src.split()
        assert low <= len(symbols) <= low + more
        assert {int(s) for s in symbols} <= set(range(1, vocab + 1))


def test_every_length_and_symbol_occurs():
    counts = Counter(len(e.src.split()) for e in generate("reverse", 5000, max_length=5))
    assert set(counts) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("language", ["en", "de"])
def test_numbers_are_spelled_in_the_language_asked_for(language):
    for example in generate("numbers", 200, language=language):
        assert example.tgt == in_words(int(example.src), language)
    for example in generate("words_to_numbers", 200, language=language):
        assert example.src == in_words(int(example.tgt), language)


def test_numbers_stay_below_the_largest_and_are_of_all_lengths():
    drawn = [int(e.src) for e in generate("numbers", 2000, max_value=5000)]
    assert max(drawn) <= 5000
    assert Counter(drawn).most_common(1)[0][1] < 100  # no number is favored, the largest least
    assert {len(str(number)) for number in drawn} == {1, 2, 3, 4}


def test_dates_become_iso_dates_of_the_same_year_and_day():
    for example in generate("dates", 500):
        day = date.fromisoformat(example.tgt)
        found = {int(digits) for digits in re.findall(r"\d+", example.src)}
        assert {day.year, day.day} <= found


def test_dates_can_be_asked_for_in_one_language():
    german = " ".join(e.src for e in generate("dates", 300, language="de"))
    english = " ".join(e.src for e in generate("dates", 300, language="en"))
    assert "Oktober" in german
    assert "October" not in german
    assert "October" in english
    assert "Oktober" not in english


def test_natural_text_has_its_punctuation_attached_and_no_trees():
    for natural, spaced in zip(
        generate("grammar", 50, tokenized=False), generate("grammar", 50), strict=True
    ):
        assert natural.alignment is natural.src_tree is natural.tgt_tree is None
        assert not re.search(r"\s[.,?!]", natural.src + natural.tgt)
        assert spaced.src.endswith((" .", " ?", " !"))


def test_an_unknown_option_is_refused_with_those_allowed():
    with pytest.raises(ConfigError, match=r"no option 'lenght'; it has vocab, min_length"):
        generate("copy", 1, lenght=3)


def test_an_unknown_task_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="Did you mean 'grammar'"):
        generate("gramar", 1)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("copy", {"vocab": 0}, "vocab = 0: must be at least 1"),
        ("copy", {"vocab": "ten"}, "must be of type int"),
        ("sort", {"min_length": 5, "max_length": 4}, "must be at least min_length"),
        ("numbers", {"language": "fr"}, "must be one of en, de"),
        ("numbers", {"max_value": 10**9}, "must be below"),
        ("grammar", {"tokenized": 1}, "must be of type bool"),
    ],
)
def test_an_impossible_option_is_refused(name, options, message):
    with pytest.raises(ConfigError, match=message):
        generate(name, 1, **options)


def test_an_unknown_slice_or_a_negative_count_is_refused():
    with pytest.raises(ConfigError, match="train, valid, test, unseen"):
        generate("copy", 1, split="dev")
    with pytest.raises(ConfigError, match="at least 0"):
        generate("copy", -1)


def test_a_space_too_small_for_the_test_slice_says_how_much_it_holds():
    with pytest.raises(DataError, match=r"copy \(test\) holds no more than \d+ distinct"):
        list(generate("copy", 500, split="test", vocab=3, min_length=1, max_length=4))


def test_training_examples_may_repeat_in_a_small_space():
    assert len(list(generate("copy", 500, vocab=3, min_length=1, max_length=4))) == 500


def test_a_slice_without_any_member_says_so_in_place_of_running_for_ever():
    only = {"vocab": 1, "min_length": 1, "max_length": 1}  # "1", which is a training example
    assert [e.src for e in generate("copy", 2, **only)] == ["1", "1"]
    for split in ("valid", "test", "unseen"):
        with pytest.raises(DataError, match="holds no more than 0 distinct sources"):
            list(generate("copy", 1, split=split, **only))


def test_a_training_slice_without_any_member_says_so_too():
    members = {text for n in range(1, 60) if split_of(text := " ".join("1" * n)) != "train"}
    length = len(min(members, key=len).split())
    with pytest.raises(DataError, match="holds no more than 0"):
        list(generate("copy", 1, vocab=1, min_length=length, max_length=length))
