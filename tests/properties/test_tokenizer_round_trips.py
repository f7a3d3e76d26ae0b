"""Text -> ids -> text, for every kind of tokenizer and any text."""

from __future__ import annotations

import gzip
import random
import string
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dragoman.config import DataConfig
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import UNK_ID

MULTI30K = Path(__file__).resolve().parents[3] / "shared" / "data" / "multi30k"

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
# Random Unicode seldom meets what is hard: spaces in rows, our marks, mixed scripts.
tricky_text = st.text(st.sampled_from("ab  ▁￭\x10_.,'\t\n\u00a0é漢😀<s>⁇"), max_size=40)
texts = any_text | tricky_text
thoroughly = settings(deadline=None, max_examples=150)
SUBWORDS = ["bpe", "unigram"]


@cache
def trained(kind: str, **options: bool | int) -> Tokenizer:
    generator = random.Random(1)
    words = ["".join(generator.choices(string.ascii_letters[:20], k=5)) for _ in range(60)]
    corpus = [(" ".join(generator.choices(words, k=8)), "It's ▁ ü, ok!") for _ in range(200)]
    return Tokenizer.train(corpus, DataConfig(tokenizer=kind, **options), seed=1)


@pytest.mark.parametrize("kind", SUBWORDS)
@thoroughly
@given(text=texts)
@example(text="▁")
@example(text="\x10_ ▁ \x10")
@example(text="  a   b  ")
@example(text="\U0010ffff\x00\ufeff\u2028")
def test_subwords_bring_back_any_text(kind, text):
    tokenizer = trained(kind)
    ids = tokenizer.encode(text)
    assert UNK_ID not in ids
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize("kind", SUBWORDS)
@thoroughly
@given(text=texts, alpha=st.floats(0.01, 0.99), seed=st.integers(0, 2**63))
def test_sampled_pieces_bring_back_any_text(kind, text, alpha, seed):
    tokenizer = trained(kind)
    drawn = tokenizer.sample_batch([text, text], alpha=alpha, seed=seed)
    assert tokenizer.decode_batch(drawn) == [text, text]
    assert drawn == tokenizer.sample_batch([text, text], alpha=alpha, seed=seed)


@pytest.mark.parametrize("kind", SUBWORDS)
@thoroughly
@given(text=texts)
def test_lower_case_is_all_that_lower_casing_changes(kind, text):
    tokenizer = trained(kind, lowercase=True)
    assert tokenizer.decode(tokenizer.encode(text)) == text.lower()


@pytest.mark.parametrize("kind", SUBWORDS)
@thoroughly
@given(text=st.text(st.sampled_from("abc   dt'▁"), max_size=40))
def test_subwords_without_bytes_bring_back_known_characters(kind, text):
    tokenizer = trained(kind, byte_fallback=False)
    if UNK_ID not in tokenizer.encode(text):
        assert tokenizer.decode(tokenizer.encode(text)) == text


@thoroughly
@given(text=texts.filter(str.strip))
def test_characters_bring_back_the_text_they_were_learned_from(text):
    config = DataConfig(tokenizer="characters", min_frequency=1)
    tokenizer = Tokenizer.train([text], config, seed=1)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@settings(deadline=None, max_examples=100)
@given(text=texts.filter(str.strip))
def test_words_bring_back_the_text_they_were_learned_from_but_for_runs_of_spaces(text):
    config = DataConfig(tokenizer="words", min_frequency=1)
    tokenizer = Tokenizer.train([text], config, seed=1)
    assert tokenizer.decode(tokenizer.encode(text)) == " ".join(text.split())


@thoroughly
@given(text=texts.filter(str.strip))
def test_symbols_bring_back_the_text_they_were_learned_from_but_for_runs_of_spaces(text):
    tokenizer = Tokenizer.train([text], DataConfig(tokenizer="symbols"), seed=1)
    assert tokenizer.decode(tokenizer.encode(text)) == " ".join(text.split())


@pytest.mark.parametrize("kind", [*SUBWORDS, "words", "characters", "symbols"])
@settings(deadline=None, max_examples=60)
@given(batch=st.lists(texts, max_size=5))
def test_a_batch_is_encoded_and_decoded_text_by_text(kind, batch):
    tokenizer = trained(kind)
    rows = tokenizer.encode_batch(batch)
    assert rows == [tokenizer.encode(text) for text in batch]
    assert tokenizer.decode_batch(rows) == [tokenizer.decode(ids) for ids in rows]


@pytest.mark.parametrize("kind", [*SUBWORDS, "words", "characters", "symbols"])
@thoroughly
@given(text=texts)
def test_every_word_of_the_text_has_its_pieces(kind, text):
    tokenizer = trained(kind)
    ids = tokenizer.encode(text, "tgt")
    spans = tokenizer.word_spans(ids)
    n_words = sum(map(bool, tokenizer.decode(ids).split(" ")))
    assert len(spans) == len(ids)
    assert spans == sorted(spans)
    assert set(spans) == (set(range(n_words)) or ({-1} if ids else set()))


def multi30k(part: str, lang: str) -> list[str]:
    path = MULTI30K / f"{part}.lc.norm.tok.{lang}.gz"
    if not path.exists():
        pytest.skip(f"{path} is absent")
    return gzip.decompress(path.read_bytes()).decode("utf-8").removesuffix("\n").split("\n")


@pytest.mark.slow
@pytest.mark.parametrize("kind", SUBWORDS)
@pytest.mark.parametrize("joint_vocab", [True, False])
def test_pre_tokenised_multi30k_goes_through_unchanged(kind, joint_vocab):
    corpus = list(zip(multi30k("train", "en"), multi30k("train", "de"), strict=True))
    config = DataConfig(tokenizer=kind, joint_vocab=joint_vocab)
    tokenizer = Tokenizer.train(corpus, config, seed=1)
    assert 4000 <= tokenizer.src_vocab_size <= 8000
    for part in ("train", "val", "test_2016_flickr"):
        for side, lang in (("src", "en"), ("tgt", "de")):
            lines = multi30k(part, lang)
            rows = tokenizer.encode_batch(lines, side)
            assert tokenizer.decode_batch(rows, side) == lines
            assert all(UNK_ID not in row for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "surely"), [("bpe", 1e-12), ("unigram", 1e6)])
def test_sampling_without_randomness_is_sentencepieces_own_cut_of_multi30k(kind, surely):
    lines = multi30k("train", "de")[:5000]
    tokenizer = Tokenizer.train(lines, DataConfig(tokenizer=kind), seed=1)
    assert tokenizer.sample_batch(lines, alpha=surely, seed=1) == tokenizer.encode_batch(lines)
