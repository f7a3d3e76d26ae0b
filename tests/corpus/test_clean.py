"""Cleaning: what goes, what stays, and that every pair is counted once."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import DataConfig
from dragoman.corpus import hashes
from dragoman.corpus.clean import REASONS, Tally, clean, text_fault
from dragoman.corpus.hashes import hash_set
from dragoman.corpus.pair import Pair


def pairs_of(*texts: tuple[str, str]) -> list[Pair]:
    return [Pair(src, tgt, "t.de", line) for line, (src, tgt) in enumerate(texts, 1)]


def kept(pairs: list[Pair], tally: Tally | None = None, **settings: object) -> list[int]:
    return [p.line for p in clean(pairs, DataConfig(**settings), tally=tally or Tally())]


@pytest.mark.parametrize(
    ("src", "tgt", "reason"),
    [
        ("ein Hund", "a dog", None),
        ("", "a dog", "empty"),
        ("ein Hund", " \t", "empty"),
        ("", "", "empty"),
        ("ein\x00Hund", "a dog", "control_characters"),
        ("ein Hund", "a\x1bdog", "control_characters"),
        ("ein Hund", "a\x92dog", "control_characters"),
        ("ein\rHund", "a dog", "control_characters"),
        ("ein\tHund\u2028", "a\u200ddog", None),
        ("OK", "OK", None),
        ("Ja.", "Y" * 90, None),
        ("Ja.", "Y" * 91, "length_ratio"),
        ("Y" * 91, "Ja.", "length_ratio"),
        ("Y" * 20, "Y" * 180, None),
        ("Y" * 20, "Y" * 181, "length_ratio"),
    ],
)
def test_text_alone_decides(src: str, tgt: str, reason: str | None) -> None:
    assert text_fault(Pair(src, tgt, "t.de", 1), 9.0) == reason


def test_characters_are_limited_only_on_request() -> None:
    long = pairs_of(("a" * 5000, "b" * 5000))
    tally = Tally()
    assert kept(long) == [1]
    assert list(clean(long, DataConfig(), tally=tally, max_chars=4999)) == []
    assert tally.to_dict() == {"kept": 0, "dropped": {"too_long": 1}}


def test_the_first_of_equal_pairs_stays() -> None:
    pairs = pairs_of(("a", "b"), ("a", "c"), ("a", "b"), ("A", "b"), ("a", "b"))
    tally = Tally()
    assert kept(pairs, tally) == [1, 2, 4]
    assert tally.to_dict() == {"kept": 3, "dropped": {"duplicate": 2}}
    assert kept(pairs, drop_duplicates=False) == [1, 2, 3, 4, 5]


def test_pairs_of_the_validation_set_are_left_out() -> None:
    pairs = pairs_of(("a", "b"), ("a", "c"), ("a", "b"))
    tally = Tally()
    exclude = hash_set(pairs_of(("a", "b")))
    assert [p.line for p in clean(pairs, DataConfig(), tally=tally, exclude=exclude)] == [2]
    assert tally.dropped["in_validation"] == 2


def test_duplicates_are_found_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "CHUNK", 2)
    pairs = pairs_of(("a", "1"), ("b", "2"), ("c", "3"), ("a", "1"), ("d", "4"), ("c", "3"))
    assert kept(pairs) == [1, 2, 3, 5]


def test_an_empty_corpus_stays_empty() -> None:
    assert kept([]) == []


short_text = st.sampled_from(["", " ", "a", "b", "a\x00", "x" * 100])


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(short_text, short_text), max_size=40))
def test_every_pair_is_kept_or_counted_and_the_order_is_kept(texts: list[tuple[str, str]]) -> None:
    pairs, tally = pairs_of(*texts), Tally()
    lines = kept(pairs, tally)
    assert lines == sorted(set(lines))
    assert tally.kept == len(lines)
    assert tally.kept + sum(tally.dropped.values()) == len(pairs)
    assert set(tally.dropped) <= set(REASONS)


def test_the_tally_lists_unknown_reasons_too() -> None:
    tally = Tally(3, Counter({"other": 2, "duplicate": 1, "empty": 4, "too_long": 0}))
    assert list(tally.to_dict()["dropped"]) == ["empty", "duplicate", "other"]
