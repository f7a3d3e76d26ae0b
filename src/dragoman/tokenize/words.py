"""Words by spaCy's rules for the language, with a mark on what is glued to the word before.

``Hello, world`` is cut into ``Hello`` ``￭,`` ``world``: the mark says that no space stands before
the comma, so that joining gives back the very text. A literal mark in the text is doubled. Runs of
whitespace count as one space; nothing else of the text is changed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from typing import Any

from dragoman.errors import MissingExtraError, TokenizerError
from dragoman.tokenize.pieces import VocabularyModel
from dragoman.tokenize.preparation import Placeholders
from dragoman.tokenize.vocabulary import Vocabulary

GLUE = "￭"
_log = logging.getLogger(__name__)


class Words(VocabularyModel):
    """Words and punctuation marks as pieces; words outside the vocabulary are unknown.

    >>> words = Words(Vocabulary(["Hello", "world", "￭,"]), "en")
    >>> words.cut("Hello, world")
    ['Hello', '￭,', 'world']
    >>> words.decode_batch(words.encode_batch(["Hello, world", "Hello dragon"]))
    ['Hello, world', 'Hello ⁇']
    """

    def __init__(
        self, vocabulary: Vocabulary, lang: str | None = None, *, placeholders: Sequence[str] = ()
    ) -> None:
        super().__init__(vocabulary)
        self._lang = lang
        escaped = [string.replace(GLUE, GLUE * 2) for string in placeholders]
        self.always = tuple(glue + string for string in escaped for glue in ("", GLUE))
        self._placeholders = Placeholders(placeholders)

    def cut(self, text: str) -> list[str]:
        text = " ".join(text.split())
        pieces: list[str] = []
        is_glued = False
        for part, is_placeholder in self._placeholders.split(text):
            for token in [part] if is_placeholder else self._spacy_tokens(part):
                word = token.removesuffix(" ")
                if word:
                    escaped = word.replace(GLUE, GLUE * 2)
                    pieces.append(GLUE + escaped if is_glued else escaped)
                is_glued = word == token
        return pieces

    def join(self, pieces: Sequence[str]) -> str:
        return "".join(map(_with_space, pieces)).removeprefix(" ")

    def surface(self, number: int) -> str:
        return _with_space(self._shown(number))

    def _spacy_tokens(self, text: str) -> list[str]:
        return [token.text_with_ws for token in _load_spacy(self._lang)(text)]


def _with_space(piece: str) -> str:
    """What the piece adds to a text: an odd number of leading marks glues it to what is before."""
    n_marks = len(piece) - len(piece.lstrip(GLUE))
    if n_marks % 2 == 1:
        return piece[1:].replace(GLUE * 2, GLUE)
    return " " + piece.replace(GLUE * 2, GLUE)


def spacy_version() -> str:
    """The installed version of spaCy, whose rules may change from one to the next.

    >>> spacy_version()[0].isdigit()
    True
    """
    try:
        import spacy
    except ImportError:
        raise MissingExtraError("spacy", "spacy", "Cutting text into words") from None
    return str(spacy.about.__version__)


@cache
def _load_spacy(lang: str | None) -> Any:
    """spaCy's rule-based tokenizer of a language; the multilingual one for an unknown language."""
    spacy_version()  # says what to install where spaCy is missing
    import spacy

    code = (lang or "xx").replace("_", "-").split("-")[0].lower()
    try:
        spacy.util.get_lang_class(code)
    except ImportError:
        _log.warning("spaCy has no rules for the language %r: using its multilingual ones", lang)
        code = "xx"
    try:
        return spacy.blank(code).tokenizer
    except ImportError as error:
        raise TokenizerError(
            f"spaCy cannot cut text of the language {lang!r} into words: {error}\n"
            "  Install what it asks for, or use subwords: --set data.tokenizer=unigram"
        ) from None
