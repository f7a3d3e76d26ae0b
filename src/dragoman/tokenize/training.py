"""Piece models learned from a corpus: SentencePiece, or counted words, characters, symbols."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Iterable, Sequence

from dragoman.config import DataConfig
from dragoman.errors import TokenizerError
from dragoman.tokenize.characters import Characters
from dragoman.tokenize.pieces import PieceModel, VocabularyModel
from dragoman.tokenize.preparation import Preparation
from dragoman.tokenize.subword_training import NO_TEXT, train_subwords
from dragoman.tokenize.symbols import Symbols
from dragoman.tokenize.vocabulary import Vocabulary
from dragoman.tokenize.words import Words

_log = logging.getLogger(__name__)

# Enough for any vocabulary, and unigram training takes 25 bytes of memory a character.
SAMPLED_PAIRS = 300_000
SAMPLED_CHARACTERS = 20_000_000

Texts = Sequence[str]


def learn_pieces(
    pairs: Iterable[Texts], config: DataConfig, *, seed: int
) -> tuple[PieceModel, PieceModel]:
    """The piece models of source and target, learned from (source, target) pairs.

    With a joint vocabulary both sides number their pieces alike.

    >>> src, tgt = learn_pieces([("1 2", "2 1")], DataConfig(tokenizer="symbols"), seed=1)
    >>> src.encode_batch(["2 1"]), tgt.decode_batch([[4, 5]])
    ([[5, 4]], ['1 2'])
    """
    preparation = Preparation(config.lowercase, config.placeholders)
    prepared = (preparation.apply((pair[0], pair[1])) for pair in pairs)
    if config.tokenizer not in ("bpe", "unigram"):
        return _count_pieces(prepared, config)
    sample = sample_pairs(prepared, seed=seed)
    src_texts, tgt_texts = [src for src, _ in sample], [tgt for _, tgt in sample]
    if config.joint_vocab:
        joint = train_subwords(src_texts + tgt_texts, config)
        return joint, joint
    return train_subwords(src_texts, config), train_subwords(tgt_texts, config)


def sample_pairs(pairs: Iterable[Texts], *, seed: int) -> list[Texts]:
    """All pairs of a small corpus, a random sample of a large one (reservoir sampling).

    >>> sample_pairs([("a", "b"), ("c", "d")], seed=1)
    [('a', 'b'), ('c', 'd')]
    """
    generator = random.Random(seed)
    sample: list[Texts] = []
    n_seen = 0
    for n_seen, pair in enumerate(pairs, start=1):
        if len(sample) < SAMPLED_PAIRS:
            sample.append(pair)
        else:
            place = generator.randrange(n_seen)
            if place < SAMPLED_PAIRS:
                sample[place] = pair
    n_characters = sum(len(src) + len(tgt) for src, tgt in sample)
    if n_characters > SAMPLED_CHARACTERS:
        keep = max(1, len(sample) * SAMPLED_CHARACTERS // n_characters)
        sample = generator.sample(sample, keep)
    if len(sample) < n_seen:
        _log.info("the vocabulary is learned from %d of %d pairs", len(sample), n_seen)
    return sample


def vocabulary_model(
    config: DataConfig, vocabulary: Vocabulary, *, lang: str | None
) -> VocabularyModel:
    """The words, characters or symbols of one side, over this vocabulary.

    >>> config = DataConfig(tokenizer="characters")
    >>> vocabulary_model(config, Vocabulary(["a"]), lang=None).encode_batch(["aa"])
    [[4, 4]]
    """
    if config.tokenizer == "words":
        return Words(vocabulary, lang, placeholders=config.placeholders)
    if config.tokenizer == "characters":
        return Characters(vocabulary, config.placeholders)
    return Symbols(vocabulary, config.placeholders)


def _count_pieces(
    pairs: Iterable[Texts], config: DataConfig
) -> tuple[VocabularyModel, VocabularyModel]:
    """Models over the pieces seen often enough on their side, or on both if joint."""
    langs = (config.src_lang, config.tgt_lang)
    src_cutter, tgt_cutter = (vocabulary_model(config, Vocabulary([]), lang=lang) for lang in langs)
    src_counts: Counter[str] = Counter()
    tgt_counts = src_counts if config.joint_vocab else Counter()
    for src, tgt in pairs:
        src_counts.update(src_cutter.cut(src))
        tgt_counts.update(tgt_cutter.cut(tgt))
    src_vocabulary = _vocabulary(src_counts, config, always=src_cutter.always)
    tgt_vocabulary = (
        src_vocabulary
        if config.joint_vocab
        else _vocabulary(tgt_counts, config, always=tgt_cutter.always)
    )
    return (
        vocabulary_model(config, src_vocabulary, lang=config.src_lang),
        vocabulary_model(config, tgt_vocabulary, lang=config.tgt_lang),
    )


def _vocabulary(counts: Counter[str], config: DataConfig, *, always: Texts) -> Vocabulary:
    if not counts:
        raise TokenizerError(NO_TEXT)
    if config.tokenizer == "symbols":  # an algorithm needs every one of its symbols
        return Vocabulary.from_counts(counts, always=always)
    vocabulary = Vocabulary.from_counts(
        counts,
        min_frequency=config.min_frequency,
        max_size=config.vocab_size,
        always=always,
    )
    known = sum(count for piece, count in counts.items() if piece in vocabulary)
    _log.info(
        "%d of %d different %s are in the vocabulary and cover %.2f %% of the text",
        sum(piece in vocabulary for piece in counts),
        len(counts),
        config.tokenizer,
        100 * known / counts.total(),
    )
    return vocabulary
