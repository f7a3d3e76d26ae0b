"""Language codes as corpora write them: ``en``, ``en-US``, ``en_us``.

A file that offers several languages is asked for two of them. An exact match is preferred; failing
that, ``en`` takes ``en-US``. The other way round is refused, since a user who asks for ``pt-BR``
should not be given ``pt`` unawares.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=1024)
def normalize_language(code: str) -> str:
    """The code in one spelling: lower case, with hyphens.

    >>> normalize_language("pt_BR.UTF-8")
    'pt-br'
    """
    return code.strip().split(".")[0].replace("_", "-").lower()


@lru_cache(maxsize=1024)  # asked for every unit of a memory, about the same few codes
def is_language(wanted: str, offered: str) -> bool:
    """Whether text in the offered language serves a user who wants another code for it.

    >>> is_language("en", "en-US"), is_language("en-GB", "en_gb"), is_language("en-GB", "en")
    (True, True, False)
    """
    wanted, offered = normalize_language(wanted), normalize_language(offered)
    return offered == wanted or offered.startswith(wanted + "-")


def find_language(wanted: str, offered: Iterable[str]) -> str | None:
    """The offered code that fits best, as it is written there, or None.

    >>> find_language("en", ["de", "en-US", "EN"])
    'EN'
    >>> find_language("fr", ["de", "en-US"]) is None
    True
    """
    fitting = [code for code in offered if is_language(wanted, code)]
    exact = [c for c in fitting if normalize_language(c) == normalize_language(wanted)]
    return next(iter(exact or fitting), None)
