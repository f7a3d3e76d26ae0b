import logging

import pytest

from dragoman.config import DataConfig
from dragoman.errors import TokenizerError
from dragoman.tokenize import subword_training
from dragoman.tokenize.subword_training import choose_vocab_size, train_subwords

KINDS = ["bpe", "unigram"]


def test_the_chosen_size_grows_slowly_with_the_corpus_and_has_a_limit():
    assert 4000 <= choose_vocab_size(3_800_000) <= 8000  # Multi30k, both sides
    assert choose_vocab_size(8_000_000) <= 2.1 * choose_vocab_size(1_000_000)
    assert choose_vocab_size(10**12) == 32_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", [["a"], ["aaaa"], ["a b c d"], ["漢字"], ["1 2 3", "3 2 1"]])
@pytest.mark.parametrize("byte_fallback", [True, False])
def test_the_tiniest_corpus_gives_a_tokenizer(kind, texts, byte_fallback):
    model = train_subwords(texts, DataConfig(tokenizer=kind, byte_fallback=byte_fallback))
    assert model.decode_batch(model.encode_batch(texts)) == texts


@pytest.mark.parametrize("kind", KINDS)
def test_a_size_too_large_for_the_corpus_is_lowered_and_said(kind, caplog):
    config = DataConfig(tokenizer=kind, vocab_size=5000)
    with caplog.at_level(logging.WARNING, logger="dragoman"):
        model = train_subwords(["a dog runs", "a cat runs"], config)
    assert len(model) < 400
    assert f"only {len(model)} different pieces" in caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_a_size_that_fits_is_kept_exactly(kind, pairs):
    config = DataConfig(tokenizer=kind, vocab_size=330)
    assert len(train_subwords([text for pair in pairs for text in pair], config)) == 330


def test_a_size_below_the_reserved_pieces_is_refused_with_advice():
    with pytest.raises(TokenizerError, match=r"vocab_size = 100: too small.*(?s:.)*byte_fallback"):
        train_subwords(["a dog"], DataConfig(tokenizer="bpe", vocab_size=100))


@pytest.mark.parametrize("kind", KINDS)
def test_more_characters_than_the_vocabulary_holds_are_spelled_in_bytes(kind, caplog):
    texts = [chr(0x4E00 + i) + " a dog" for i in range(500)] + ["a dog runs"] * 10
    with caplog.at_level(logging.WARNING, logger="dragoman"):
        model = train_subwords(texts, DataConfig(tokenizer=kind, vocab_size=300))
    assert "too rare for the vocabulary" in caplog.text
    assert model.decode_batch(model.encode_batch(texts)) == texts


@pytest.mark.parametrize("kind", KINDS)
def test_long_lines_are_learned_from_too(kind):
    long_line = "unmistakably " * 2000  # 26,000 characters in one line
    model = train_subwords([long_line, "a dog"], DataConfig(tokenizer=kind))
    assert len(model.encode_batch(["unmistakably"])[0]) <= 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_of_a_hundred_thousand_letters_is_no_trouble(kind):
    texts = ["ab" * 50_000, "a dog"]
    model = train_subwords(texts, DataConfig(tokenizer=kind))
    assert model.decode_batch(model.encode_batch(texts)) == texts


@pytest.mark.parametrize("texts", [[], [""], ["  ", "\t"]])
def test_a_corpus_without_text_is_refused(texts):
    with pytest.raises(TokenizerError, match="no text to learn a vocabulary from"):
        train_subwords(texts, DataConfig(tokenizer="bpe"))


def test_what_sentencepiece_refuses_is_explained(monkeypatch):
    def refuse(*_):
        raise RuntimeError("INTERNAL: something broke")

    monkeypatch.setattr(subword_training, "_call_sentencepiece", refuse)
    with pytest.raises(TokenizerError, match=r"something broke\n.*corpus check"):
        train_subwords(["a dog"], DataConfig(tokenizer="bpe"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_texts_give_the_same_bytes(kind, pairs):
    texts = [text for pair in pairs for text in pair]
    first, second = (train_subwords(texts, DataConfig(tokenizer=kind)) for _ in range(2))
    assert first.to_bytes() == second.to_bytes()


def test_sentencepiece_is_silent(capfd, pairs):
    train_subwords([src for src, _ in pairs], DataConfig(tokenizer="unigram", vocab_size=5000))
    assert capfd.readouterr() == ("", "")
