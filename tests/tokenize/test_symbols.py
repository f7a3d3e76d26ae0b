from dragoman.config import DataConfig
from dragoman.tokenize.symbols import Symbols
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import UNK_ID, Vocabulary


def test_every_symbol_seen_once_is_known_whatever_the_minimum_frequency():
    config = DataConfig(tokenizer="symbols", min_frequency=5, vocab_size=8)
    tokenizer = Tokenizer.train([("1 2 3 4 5 6", "7 8")], config, seed=1)
    assert UNK_ID not in tokenizer.encode("1 2 3 4 5 6 7 8")
    assert tokenizer.src_vocab_size == 12


def test_an_unseen_symbol_is_unknown():
    assert Symbols(Vocabulary(["1"])).encode_batch(["1 11 1"]) == [[4, UNK_ID, 4]]


def test_runs_of_whitespace_separate_once():
    assert Symbols(Vocabulary([])).cut("  a \t b\u00a0") == ["a", "b"]
