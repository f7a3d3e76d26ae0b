import pytest

from dragoman.config import DataConfig
from dragoman.errors import TokenizerError
from dragoman.tokenize import training
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.training import sample_pairs

CORPUS = [(f"src {i}", f"tgt {i}") for i in range(1000)]


def test_a_small_corpus_is_taken_whole_and_in_order():
    assert sample_pairs(iter(CORPUS), seed=1) == CORPUS


def test_a_large_corpus_is_sampled_by_seed_without_repeats(monkeypatch):
    monkeypatch.setattr(training, "SAMPLED_PAIRS", 50)
    sample = sample_pairs(iter(CORPUS), seed=1)
    assert len(set(sample)) == 50
    assert set(sample) <= set(CORPUS)
    assert sample == sample_pairs(iter(CORPUS), seed=1)
    assert sample != sample_pairs(iter(CORPUS), seed=2)


def test_the_sample_favours_no_part_of_the_corpus(monkeypatch):
    monkeypatch.setattr(training, "SAMPLED_PAIRS", 100)
    drawn = [pair for seed in range(50) for pair in sample_pairs(CORPUS, seed=seed)]
    second_half = sum(int(src.split()[1]) >= 500 for src, _ in drawn)
    assert 2300 < second_half < 2700  # 2500 expected, standard deviation 34


def test_long_lines_shrink_the_sample(monkeypatch):
    monkeypatch.setattr(training, "SAMPLED_CHARACTERS", 700)
    sample = sample_pairs(CORPUS, seed=1)
    assert sum(len(src) + len(tgt) for src, tgt in sample) < 900


@pytest.mark.parametrize("kind", ["bpe", "unigram", "words", "characters", "symbols"])
@pytest.mark.parametrize("corpus", [[], [("", "")], [""]])
def test_an_empty_corpus_is_refused(kind, corpus):
    with pytest.raises(TokenizerError, match="no text to learn a vocabulary from"):
        Tokenizer.train(corpus, DataConfig(tokenizer=kind), seed=1)
