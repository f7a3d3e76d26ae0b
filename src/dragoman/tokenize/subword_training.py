"""SentencePiece models learned from text (section 5.1), of a size that fits the text.

The same texts give the same bytes on any machine: the number of threads is fixed, because unigram
training adds up in another order, and so to other pieces, with another number of them.
"""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from dragoman.config import DataConfig
from dragoman.errors import TokenizerError
from dragoman.tokenize.pieces import UNKNOWN_SURFACE
from dragoman.tokenize.subwords import Subwords, escape, marked
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID, SPECIAL_PIECES, UNK_ID

_log = logging.getLogger(__name__)

NO_TEXT = "the corpus has no text to learn a vocabulary from"
LARGEST_CHOSEN_VOCABULARY = 32_000
# SentencePiece's BPE gives up on words of 2^16 characters, and its reader drops long lines.
LONGEST_TEXT = 1_000
N_THREADS = 16
N_BYTES = 256

Texts = Sequence[str]


def choose_vocab_size(n_characters: int) -> int:
    """The number of pieces for a corpus of so many characters, when the user names none.

    Fifty times the cube root: about 8,000 for the 3.8 million characters of Multi30k (both
    sides), a few hundred for a toy, and never more than 32,000. Small corpora want few pieces, each
    seen often; the best size grows much slower than the corpus.

    >>> choose_vocab_size(3_800_000), choose_vocab_size(30_000), choose_vocab_size(10**10)
    (7800, 1552, 32000)
    """
    rounded = round(50 * n_characters ** (1 / 3)) // 8 * 8  # whole rows of a GPU's tiles
    return min(LARGEST_CHOSEN_VOCABULARY, rounded)


def train_subwords(texts: Texts, config: DataConfig) -> Subwords:
    """The SentencePiece model of these texts, as large as asked for or as the texts allow.

    >>> config = DataConfig(tokenizer="bpe", vocab_size=20, byte_fallback=False)
    >>> len(train_subwords(["a cab is a cab", "a bad cab is bad"], config))
    20
    """
    texts = [escape(text) for text in texts]
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    if not any(map(str.strip, counts)):
        raise TokenizerError(NO_TEXT)
    n_reserved = len(SPECIAL_PIECES) + len(set(config.placeholders))
    n_reserved += N_BYTES if config.byte_fallback else 0
    if config.vocab_size is None:
        size = max(choose_vocab_size(counts.total()), n_reserved + 2 * len(counts))
        size = min(size, LARGEST_CHOSEN_VOCABULARY)
    else:
        size = config.vocab_size
        _refuse_too_small(size, n_reserved, config.byte_fallback)
    texts = _without_rare_characters(texts, counts, at_most=(size - n_reserved) // 2)
    return Subwords(_train_sentencepiece(texts, config, size), config)


def _refuse_too_small(size: int, n_reserved: int, has_bytes: bool) -> None:
    smallest = n_reserved + 16
    if size < smallest:
        raise TokenizerError(
            f"data.vocab_size = {size}: too small, for {n_reserved} pieces are taken by special"
            f" pieces, {'bytes, ' if has_bytes else ''}and placeholders.\n  Set it to at least"
            f" {smallest}, or leave it unset"
            f"{'; data.byte_fallback = false saves 256 pieces' if has_bytes else ''}."
        )


def _without_rare_characters(texts: Texts, counts: Counter[str], *, at_most: int) -> Texts:
    """The texts with the rarest characters blanked, so that half the pieces can be longer ones.

    A vocabulary must hold every character of its training text. In Chinese or Japanese they could
    fill it all; a character left out is spelled in bytes, or unknown without byte fallback.
    """
    by_frequency = sorted(counts.keys() - {" "}, key=lambda c: (-counts[c], c))
    rare = by_frequency[at_most - 1 :]  # one piece is the space
    if not rare:
        return texts
    _log.warning(
        "%d of %d characters are too rare for the vocabulary; a larger data.vocab_size keeps them",
        len(rare),
        len(counts),
    )
    blanked = str.maketrans(dict.fromkeys(rare, " "))
    return [text.translate(blanked) for text in texts]


def _train_sentencepiece(texts: Texts, config: DataConfig, size: int) -> bytes:
    """The bytes of a model of ``size`` pieces, or of as many as the texts have."""
    try:
        return _call_sentencepiece(texts, config, size)
    except RuntimeError as error:
        possible = re.search(r"too high .*<= (\d+)", str(error))
        if possible is None:
            raise TokenizerError(_explain(error)) from None
    largest = int(possible[1])
    say = _log.info if config.vocab_size is None else _log.warning
    say("the corpus has only %d different pieces; data.vocab_size = %d is lowered", largest, size)
    try:
        return _call_sentencepiece(texts, config, largest)
    except RuntimeError as error:
        raise TokenizerError(_explain(error)) from None


def _call_sentencepiece(texts: Texts, config: DataConfig, size: int) -> bytes:
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=_chunks(texts),
        model_writer=written,
        model_type=config.tokenizer,
        vocab_size=size,
        pad_id=PAD_ID,
        bos_id=BOS_ID,
        eos_id=EOS_ID,
        unk_id=UNK_ID,
        unk_surface=UNKNOWN_SURFACE,
        user_defined_symbols=marked(config.placeholders),
        byte_fallback=config.byte_fallback,
        character_coverage=1.0,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        max_sentence_length=LONGEST_TEXT * 4 + 4,
        num_threads=N_THREADS,
        minloglevel=3,
    )
    return written.getvalue()


def _chunks(texts: Texts) -> Iterator[str]:
    """The different texts, long ones in several parts, so that none is dropped for its length.

    Unigram training looks at every repeated stretch of text character by character: with a line
    that is there a thousand times, or one that repeats itself, it would never end.
    """
    starts = ((text, start) for text in texts for start in range(0, len(text), LONGEST_TEXT))
    return iter(dict.fromkeys(text[start : start + LONGEST_TEXT] for text, start in starts))


def _explain(error: RuntimeError) -> str:
    reason = str(error).strip().splitlines()[-1] if str(error).strip() else "no reason given"
    if "sentences_.empty()" in reason:
        return NO_TEXT
    return (
        f"SentencePiece cannot learn a vocabulary from this corpus: {reason}\n"
        "  Check the corpus with `dragoman corpus check`, or set data.tokenizer = 'characters'"
    )
