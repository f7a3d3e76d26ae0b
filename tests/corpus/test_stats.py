"""Numbers of a corpus, worked out by hand."""

from pathlib import Path

import pytest

from dragoman.corpus.reading import CorpusSource
from dragoman.corpus.stats import corpus_stats


def test_counts_agree_with_counting_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("ein Hund\ta dog\nzwei\ttwo big dogs\nein Hund\ta dog\n", encoding="utf-8")
    stats = corpus_stats(CorpusSource(corpus=(str(path),)))
    assert (stats.pairs, stats.duplicates) == (3, 1)
    assert (stats.src.words, stats.src.distinct_words, stats.src.characters) == (5, 3, 20)
    assert (stats.tgt.words, stats.tgt.distinct_words, stats.tgt.characters) == (7, 5, 22)
    assert stats.src.distinct_characters == len(set("ein Hundzwei"))
    assert stats.length_ratio == pytest.approx(22 / 20)
    assert stats.tgt.words_per_sentence["50%"] == 2
    assert stats.tgt.words_per_sentence["100%"] == 3
    assert stats.tgt.words_per_sentence["mean"] == pytest.approx(7 / 3)


def test_an_empty_corpus_has_zeros(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.touch()
    stats = corpus_stats(CorpusSource(corpus=(str(path),)))
    assert (stats.pairs, stats.length_ratio, stats.src.words_per_sentence["mean"]) == (0, 0.0, 0.0)
