"""Text <-> ids of both sides as one object, which travels in the bundle.

``tokenizer.json`` says how text is prepared and cut; beside it stand ``joint.model``, or
``source.model`` and ``target.model`` (SentencePiece), or the same names with ``.json`` (words,
characters, symbols). Nothing in the folder is code, and nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from dragoman.config import DataConfig
from dragoman.tokenize.loading import FORMAT, read_models, read_settings, settled_config
from dragoman.tokenize.pieces import PieceModel, word_of_each
from dragoman.tokenize.preparation import Preparation
from dragoman.tokenize.training import learn_pieces
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID
from dragoman.tokenize.words import spacy_version

Side = Literal["src", "tgt"]
SETTINGS_FILE = "tokenizer.json"
_UNSPOKEN = (PAD_ID, BOS_ID, EOS_ID)


@dataclass(frozen=True, eq=False)
class Tokenizer:
    """What turns text into ids and ids into text, for source and target.

    Ids come without BOS and EOS, which are the batch's business; decoding skips PAD, BOS and EOS
    and shows UNK as ``⁇``. With ``lowercase`` decoding gives lower case.

    >>> pairs = [("1 2 3", "3 2 1"), ("2 3", "3 2")]
    >>> tokenizer = Tokenizer.train(pairs, DataConfig(tokenizer="symbols"), seed=1)
    >>> tokenizer.encode("3 1")
    [5, 6]
    >>> tokenizer.decode([BOS_ID, 5, 6, EOS_ID, PAD_ID])
    '3 1'
    """

    config: DataConfig
    src_model: PieceModel
    tgt_model: PieceModel
    trained_with: str | None = None

    @classmethod
    def train(
        cls, pairs_or_texts: Iterable[Sequence[str]], config: DataConfig, *, seed: int
    ) -> Tokenizer:
        """A tokenizer learned from (source, target) pairs, or from texts of one language.

        The same corpus, config and seed give the same tokenizer, byte for byte.
        """
        pairs, has_two_sides = _as_pairs(pairs_or_texts)
        if not has_two_sides:
            config = replace(config, joint_vocab=True)
        trained_with = f"spacy {spacy_version()}" if config.tokenizer == "words" else None
        src_model, tgt_model = learn_pieces(pairs, config, seed=seed)
        trained = cls(config, src_model, tgt_model, trained_with)
        return replace(trained, config=settled_config(trained.to_config()))

    @property
    def src_vocab_size(self) -> int:
        """The number of source pieces, special ones included."""
        return len(self.src_model)

    @property
    def tgt_vocab_size(self) -> int:
        """The number of target pieces, special ones included."""
        return len(self.tgt_model)

    @property
    def is_joint(self) -> bool:
        """Whether source and target share one numbering."""
        return self.config.joint_vocab

    def encode(self, text: str, side: Side = "src") -> list[int]:
        """The ids of a text, without BOS and EOS."""
        return self.encode_batch([text], side)[0]

    def encode_batch(self, texts: Sequence[str], side: Side = "src") -> list[list[int]]:
        """The ids of each text; the fast way for many.

        >>> tokenizer = Tokenizer.train(["ab"], DataConfig(tokenizer="characters"), seed=1)
        >>> tokenizer.encode_batch(["a b", ""])
        [[3, 4, 3], []]
        """
        return self._model(side).encode_batch(self._prepared(texts))

    def sample_batch(
        self, texts: Sequence[str], side: Side = "src", *, alpha: float, seed: int
    ) -> list[list[int]]:
        """The ids of one random way to cut each text: a regularizer for training.

        ``alpha`` is the dropout probability of BPE merges (Provilkov et al., 2020), or the
        smoothing of the unigram distribution (Kudo, 2018; the smaller, the more varied); both
        papers use 0.1, and 0 is off. The same seed and texts give the same ids. Words, characters
        and symbols have one way only.
        """
        if alpha == 0:
            return self.encode_batch(texts, side)
        return self._model(side).sample_batch(self._prepared(texts), alpha=alpha, seed=seed)

    def decode(self, ids: Iterable[int], side: Side = "tgt") -> str:
        """The text of ids."""
        return self.decode_batch([ids], side)[0]

    def decode_batch(self, rows: Iterable[Iterable[int]], side: Side = "tgt") -> list[str]:
        """The text of each row of ids."""
        spoken = [[number for number in map(int, ids) if number not in _UNSPOKEN] for ids in rows]
        return self._model(side).decode_batch(spoken)

    def pieces(self, text: str, side: Side = "src") -> list[str]:
        """The pieces of a text as strings.

        >>> tokenizer = Tokenizer.train(["ab", "ba"], DataConfig(tokenizer="characters"), seed=1)
        >>> tokenizer.pieces("a bc")
        ['a', '▁', 'b', '<unk>']
        """
        return [self.piece(number, side) for number in self.encode(text, side)]

    def piece(self, number: int, side: Side = "tgt") -> str:
        """The piece with this id."""
        return self._model(side).piece(int(number))

    def word_spans(self, ids: Iterable[int], side: Side = "tgt") -> list[int]:
        """The index of the word each id belongs to; -1 for PAD, BOS and EOS.

        Words are what stands between spaces in the decoded text. This is how attention between
        pieces becomes an alignment of words.

        >>> tokenizer = Tokenizer.train(["ab ab"], DataConfig(tokenizer="characters"), seed=1)
        >>> tokenizer.word_spans(tokenizer.encode("ab a") + [EOS_ID])
        [0, 0, 1, 1, -1]
        """
        numbers = [int(number) for number in ids]
        model = self._model(side)
        words = iter(word_of_each(model.surface(n) for n in numbers if n not in _UNSPOKEN))
        return [-1 if number in _UNSPOKEN else next(words) for number in numbers]

    def to_config(self) -> dict[str, Any]:
        """The ``[data]`` keys that this tokenizer settles, ready for TOML or JSON.

        >>> tokenizer = Tokenizer.train(["a b"], DataConfig(tokenizer="symbols"), seed=1)
        >>> tokenizer.to_config()
        {'tokenizer': 'symbols', 'joint_vocab': True, 'lowercase': False}
        """
        config = self.config
        settled: dict[str, Any] = {
            "tokenizer": config.tokenizer,
            "joint_vocab": config.joint_vocab,
            "lowercase": config.lowercase,
        }
        if config.placeholders:
            settled["placeholders"] = list(config.placeholders)
        if config.tokenizer in ("bpe", "unigram"):
            settled["byte_fallback"] = config.byte_fallback
        for key in ("src_lang", "tgt_lang"):
            if getattr(config, key) is not None:
                settled[key] = getattr(config, key)
        return settled

    def save(self, folder: Path | str) -> None:
        """Write the files of this tokenizer into a folder, which is made if need be."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self._files().items():
            (folder / name).write_bytes(content)

    @classmethod
    def load(cls, folder: Path | str) -> Tokenizer:
        """The tokenizer in a folder; a ``TokenizerError`` names the file that is at fault."""
        folder = Path(folder)
        config, trained_with = read_settings(folder / SETTINGS_FILE)
        src_model, tgt_model = read_models(folder, config)
        return cls(config, src_model, tgt_model, trained_with)

    def fingerprint(self) -> str:
        """A hash of all that is saved: equal fingerprints cut every text alike."""
        digest = hashlib.sha256()
        for name, content in sorted(self._files().items()):
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)
        return digest.hexdigest()

    def _files(self) -> dict[str, bytes]:
        settings: dict[str, Any] = {"format": FORMAT, **self.to_config()}
        if self.trained_with:
            settings["trained_with"] = self.trained_with
        text = json.dumps(settings, ensure_ascii=False, indent=2) + "\n"
        files = {SETTINGS_FILE: text.encode("utf-8")}
        if self.is_joint:
            return {**files, "joint" + self.src_model.suffix: self.src_model.to_bytes()}
        files["source" + self.src_model.suffix] = self.src_model.to_bytes()
        files["target" + self.tgt_model.suffix] = self.tgt_model.to_bytes()
        return files

    def _model(self, side: Side) -> PieceModel:
        if side not in ("src", "tgt"):
            raise ValueError(f"side = {side!r}: must be 'src' or 'tgt'")
        return self.src_model if side == "src" else self.tgt_model

    def _prepared(self, texts: Sequence[str]) -> Sequence[str]:
        return Preparation(self.config.lowercase, self.config.placeholders).apply(texts)


def _as_pairs(items: Iterable[Sequence[str]]) -> tuple[Iterator[Sequence[str]], bool]:
    """The items as pairs, and whether they have two sides: texts become pairs with one empty."""
    iterator = iter(items)
    first = list(islice(iterator, 1))
    rest = chain(first, iterator)
    if first and isinstance(first[0], str):
        return ((str(text), "") for text in rest), False
    return rest, True
