"""Regular inflection of German and English words; what is irregular is passed in.

>>> german_present("lesen", "liest")
('lese', 'liest', 'liest', 'lesen', 'lest', 'lesen')
>>> english_ing("write", "+"), english_s("watch"), english_past("try", "+")
('writing', 'watches', 'tried')
"""

from __future__ import annotations

_VOWELS = "aeiouäöü"
# Adjective endings by case, columns m f n plural.
_WEAK = ("e e e en", "en e e en", "en en en en", "en en en en")
_STRONG = ("er e es e", "en e es e", "em er em en", "en er en er")
_MIXED = ("er e es en", "en e es en", "en en en en", "en en en en")


def _table(rows: tuple[str, ...]) -> dict[tuple[int, str], str]:
    return {
        (case, gender): ending
        for case, row in enumerate(rows)
        for gender, ending in zip("mfnp", row.split(), strict=True)
    }


# Endings of an adjective after der, after nothing, after ein; key: (case, gender or p).
WEAK, STRONG, MIXED = _table(_WEAK), _table(_STRONG), _table(_MIXED)

# Definite article; endings of dieser, jeder, welcher; endings of ein, kein, mein.
DEFINITE = _table(("der die das die", "den die das die", "dem der dem den", "des der des der"))
DIESER = _table(("er e es e", "en e es e", "em er em en", "es er es er"))
EIN = _table(("- e - e", "en e - e", "em er em en", "es er es er"))
EIN = {key: ending.strip("-") for key, ending in EIN.items()}
# Relative pronoun: the article but for the genitives and the dative plural.
RELATIVE = {**DEFINITE, (2, "p"): "denen"}

HABEN = ("habe", "hast", "hat", "haben", "habt", "haben")
SEIN = ("bin", "bist", "ist", "sind", "seid", "sind")
WAR = ("war", "warst", "war", "waren", "wart", "waren")
WERDEN = ("werde", "wirst", "wird", "werden", "werdet", "werden")
_PRESENT = {
    "haben": HABEN,
    "mögen": ("mag", "magst", "mag", "mögen", "mögt", "mögen"),
    "wissen": ("weiß", "weißt", "weiß", "wissen", "wisst", "wissen"),
    "laden": ("lade", "lädst", "lädt", "laden", "ladet", "laden"),
    "streicheln": (
        *("streichle", "streichelst", "streichelt"),
        *("streicheln", "streichelt", "streicheln"),
    ),
}


def german_noun_forms(
    noun: str, gender: str, plural: str, genitive: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The four cases of the singular and of the plural.

    >>> german_noun_forms("Kind", "n", "Kinder", "Kindes")
    (('Kind', 'Kind', 'Kind', 'Kindes'), ('Kinder', 'Kinder', 'Kindern', 'Kinder'))
    """
    if genitive == "-":
        genitive = noun if gender == "f" else noun + "s"
    is_weak = gender == "m" and not genitive.endswith("s")
    singular = (noun, genitive, genitive, genitive) if is_weak else (noun, noun, noun, genitive)
    if plural == "-":
        return singular, ()
    dative = plural if plural[-1] in "ns" else plural + "n"
    return singular, (plural, plural, dative, plural)


def german_present(infinitive: str, third: str) -> tuple[str, ...]:
    """Six persons of the present, from the infinitive and the third person singular."""
    if infinitive in _PRESENT:
        return _PRESENT[infinitive]
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    root = third[:-1]
    if third.endswith("tt") or (third.endswith("t") and root[-1] in "äö"):
        root = third
    second = root + ("t" if root[-1] in "sßzx" else "st")
    linking = "e" if _needs_e(stem) else ""
    return (stem + "e", second, third, infinitive, f"{stem}{linking}t", infinitive)


def german_imperative(infinitive: str, third: str) -> str:
    """The imperative for du: iss, lies, gib; mach, warte, fahr.

    >>> german_imperative("lesen", "liest"), german_imperative("warten", "wartet")
    ('lies', 'warte')
    """
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    root = third[:-1]
    # a changed vowel is kept only where e became i: lies, but fahr
    if root not in (stem, stem + "e") and not set("äö") & (set(root) - set(stem)):
        return root
    return stem + "e" if _needs_e(stem) or stem.endswith(("ig", "er")) else stem


def _needs_e(stem: str) -> bool:
    """wart-e-t, find-e-t, zeichn-e-t; the ending alone could not be spoken."""
    if stem[-1] in "td" or stem.endswith("chn"):
        return True
    return stem[-1] in "nm" and stem[-2] not in _VOWELS and stem[-2] not in "lrhnm"


def english_plural(noun: str, irregular: str) -> str:
    """The plural of a noun; "+" asks for the regular one."""
    return noun + "s" if irregular == "+" else irregular


def english_s(verb: str) -> str:
    """The third person singular of the present."""
    if verb == "have":
        return "has"
    if verb.endswith(("s", "sh", "ch", "x", "o", "z")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + "s"


def english_past(verb: str, irregular: str) -> str:
    """The simple past; "+" asks for the regular one."""
    if irregular != "+":
        return irregular
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ied"
    if verb in _DOUBLING:
        return verb + verb[-1] + "ed"
    return verb + "ed"


def english_ing(verb: str, irregular: str) -> str:
    """The present participle; "+" asks for the regular one."""
    if irregular != "+":
        return irregular
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + "ing"


_DOUBLING = frozenset({"hug", "plan", "shop", "stop"})
