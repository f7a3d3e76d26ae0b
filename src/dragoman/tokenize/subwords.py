"""Subwords by SentencePiece (section 5.1): BPE or unigram pieces, cut, joined and sampled.

SentencePiece writes a space as ``▁`` and would turn a literal ``▁`` into a space, so the literal
one is escaped before and unescaped after. With that, and without any normalization, text comes
back exactly as it went in.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

from dragoman.config import DataConfig
from dragoman.errors import TokenizerError
from dragoman.tokenize.pieces import UNKNOWN_SURFACE, PieceModel
from dragoman.tokenize.preparation import Placeholders
from dragoman.tokenize.sampling import BpeDropout, UnigramSampling, WordSampler
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID, SPECIAL_PIECES, UNK_ID

SPACE = "▁"
ESCAPE = "\x10"  # "data link escape": made for this, and absent from any real text
_ESCAPED = {SPACE: ESCAPE + "_", ESCAPE: ESCAPE * 2}
_UNESCAPED = {escaped: literal for literal, escaped in _ESCAPED.items()}
_NEEDS_ESCAPE = re.compile(f"[{SPACE}{ESCAPE}]")
_WORD = re.compile(f"{SPACE}[^{SPACE}]*|[^{SPACE}]+")
_IS_ESCAPED = re.compile(f"{ESCAPE}[_{ESCAPE}]")


def escape(text: str) -> str:
    r"""The text with ``▁`` written so that SentencePiece leaves it alone.

    >>> escape("a ▁ b"), unescape(escape("▁\x10_"))
    ('a \x10_ b', '▁\x10_')
    """
    return _NEEDS_ESCAPE.sub(lambda match: _ESCAPED[match[0]], text)


def unescape(text: str) -> str:
    """The text that ``escape`` was given."""
    if ESCAPE not in text:
        return text
    return _IS_ESCAPED.sub(lambda match: _UNESCAPED[match[0]], text)


def marked(placeholders: Sequence[str]) -> list[str]:
    """The placeholders as SentencePiece spells them.

    >>> marked(["<NAME>", "New York"])
    ['<NAME>', 'New▁York']
    """
    return [escape(string).replace(" ", SPACE) for string in dict.fromkeys(placeholders)]


class Subwords(PieceModel):
    """The pieces of one SentencePiece model, held as the bytes of its ``.model`` file.

    ``config`` tells BPE from unigram and names the placeholders; ``name`` is for errors.
    """

    suffix = ".model"

    def __init__(
        self, model: bytes, config: DataConfig, *, name: str = "the SentencePiece model"
    ) -> None:
        import sentencepiece

        self._model = model
        self._config = config
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
            n_pieces = self._processor.GetPieceSize()
        except (RuntimeError, ValueError) as error:
            raise TokenizerError(f"{name}: this SentencePiece model is damaged ({error})") from None
        numbers = [self._processor.PieceToId(piece) for piece in SPECIAL_PIECES]
        if numbers != [PAD_ID, BOS_ID, EOS_ID, UNK_ID]:
            raise TokenizerError(
                f"{name}: this SentencePiece model does not begin with {', '.join(SPECIAL_PIECES)};"
                " train the tokenizer anew"
            )
        self._pieces: list[str] = [self._processor.IdToPiece(i) for i in range(n_pieces)]
        self._placeholders = Placeholders(marked(config.placeholders))
        self._samplers: dict[float, WordSampler] = {}

    def __len__(self) -> int:
        return len(self._pieces)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        with _garbage_collection_paused():
            ids: list[list[int]] = self._processor.Encode(list(_escaped(texts)))
        return ids

    def sample_batch(self, texts: Sequence[str], *, alpha: float, seed: int) -> list[list[int]]:
        if alpha not in self._samplers:
            self._samplers = {alpha: self._make_sampler(alpha)}
        sampler = self._samplers[alpha]
        generator = Random(seed)
        return [self._sample(text, sampler, generator) for text in _escaped(texts)]

    def decode_batch(self, rows: Sequence[list[int]]) -> list[str]:
        try:
            texts: list[str] = self._processor.Decode(list(rows)) if rows else []
        except IndexError:
            raise TokenizerError(
                f"there are ids outside a vocabulary of {len(self)} pieces"
            ) from None
        return [unescape(text) for text in texts]

    def piece(self, number: int) -> str:
        if not 0 <= number < len(self):
            raise TokenizerError(
                f"there is no piece {number} in a vocabulary of {len(self)} pieces"
            )
        return self._pieces[number]

    def surface(self, number: int) -> str:
        return UNKNOWN_SURFACE if number == UNK_ID else self.piece(number).replace(SPACE, " ")

    def to_bytes(self) -> bytes:
        return self._model

    def __reduce__(self) -> tuple[Any, ...]:
        return Subwords, (self._model, self._config)

    def _make_sampler(self, alpha: float) -> WordSampler:
        processor = self._processor
        reserved = set(marked(self._config.placeholders))
        ids = {
            piece: number
            for number, piece in enumerate(self._pieces)
            if number > UNK_ID and not processor.IsByte(number) and piece not in reserved
        }
        scores = {piece: processor.GetScore(number) for piece, number in ids.items()}
        bytes_of_model = [f"<0x{byte:02X}>" for byte in range(256)]
        byte_ids = [processor.PieceToId(piece) for piece in bytes_of_model]
        has_bytes = processor.IsByte(byte_ids[0])
        kind = BpeDropout if self._config.tokenizer == "bpe" else UnigramSampling
        return kind(ids, scores, byte_ids=byte_ids if has_bytes else (), alpha=alpha)

    def _sample(self, text: str, sampler: WordSampler, generator: Random) -> list[int]:
        if not text:
            return []
        ids: list[int] = []
        for part, is_placeholder in self._placeholders.split(SPACE + text.replace(" ", SPACE)):
            if is_placeholder:
                ids.append(self._processor.PieceToId(part))
            else:
                for word in _WORD.findall(part):
                    ids.extend(sampler.draw(word, generator))
        return ids


@contextmanager
def _garbage_collection_paused() -> Iterator[None]:
    """Spare Python looking for garbage among 100,000 new lists, a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _escaped(texts: Sequence[str]) -> Sequence[str]:
    """The texts escaped; one look at all of them together tells that none needs it."""
    everything = "".join(texts)
    if SPACE in everything or ESCAPE in everything:
        return [escape(text) for text in texts]
    return texts
