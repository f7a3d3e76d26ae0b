"""Which of the served languages a text is in.

``py3langid`` weighs some 140 languages; the answer is always one that is served. The confidence is
the chance of that language against the other served ones *and* against the likeliest one that is
not served: French given to a server of German and English comes out as one of these, with a low
confidence. Its limits: a word or two is too little to be sure of, and close relatives (Danish and
Norwegian) are told apart by whole sentences only. A language that ``py3langid`` does not know, or a
code that is none (``src``), is only ever the last choice, with confidence 0.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dragoman.errors import MissingExtraError
from dragoman.server.languages import base_language

SAMPLE_CHARS = 2000  # of a text; more would not change the answer
Rank = Callable[[str], list[tuple[str, float]]]
"""Every language that a model knows with its probability."""


@dataclass(frozen=True)
class Detected:
    """A language and how likely it is, from 0 to 100."""

    language: str
    confidence: int

    def to_dict(self) -> dict[str, str | int]:
        """As LibreTranslate writes it."""
        return {"confidence": self.confidence, "language": self.language}


class Detector:
    """Tells the served languages apart.

    >>> detector = Detector(["de", "en"], rank=lambda text: [("en", 0.6), ("fr", 0.3), ("de", 0.1)])
    >>> detector.detect("A dog runs.")
    [Detected(language='en', confidence=60), Detected(language='de', confidence=10)]
    >>> Detector(["src"], rank=lambda text: [("en", 1.0)]).detect("A dog runs.")
    [Detected(language='src', confidence=0)]
    """

    def __init__(self, languages: Iterable[str], *, rank: Rank | None = None) -> None:
        self.languages = tuple(dict.fromkeys(languages))
        self._rank = rank
        self._lock = threading.Lock()

    def detect(self, text: str) -> list[Detected]:
        """The served languages, likeliest first."""
        sample = text[:SAMPLE_CHARS]
        if not any(character.isalpha() for character in sample):
            return [Detected(code, 0) for code in self.languages]
        chances = dict(self._model()(sample))
        served = {code: chances.get(base_language(code), 0.0) for code in self.languages}
        bases = {base_language(code) for code in self.languages}
        rival = max((p for code, p in chances.items() if code not in bases), default=0.0)
        total = sum({base_language(code): p for code, p in served.items()}.values()) + rival
        found = [
            Detected(code, round(100 * p / total) if total else 0) for code, p in served.items()
        ]
        return sorted(found, key=lambda each: -served[each.language])

    def _model(self) -> Rank:
        """The model of languages, read when it is first needed."""
        with self._lock:
            if self._rank is None:
                self._rank = load_rank()
            return self._rank


def load_rank() -> Rank:
    """The model of ``py3langid``, with probabilities that add up to 1."""
    try:
        from py3langid.langid import (  # type: ignore[import-untyped]
            MODEL_FILE,
            LanguageIdentifier,
        )
    except ImportError:
        raise MissingExtraError("py3langid", "serve", "Finding out a language") from None
    rank: Rank = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True).rank
    return rank
