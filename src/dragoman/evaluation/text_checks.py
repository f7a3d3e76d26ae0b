"""Whether text is fit to be scored: BLEU means little on subwords or on text tokenised twice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# Not ! ? ; : which French sets off by a space.
_SPACED_STOP = re.compile(r"(?<=\S) [.,。،](?= |$)")
_STOP = re.compile(r"[.,。،]")
_SUBWORD = re.compile(r"▁|@@(?= |$)")
SUBWORD_SHARE = 0.01  # subwords leave marks everywhere; one odd line among thousands is no sign
TOKENIZED_SHARE = 0.5


def looks_like_subwords(lines: Sequence[str]) -> bool:
    """Whether pieces of a tokenizer show, as SentencePiece or subword-nmt mark them.

    >>> looks_like_subwords(["▁a ▁do g"]), looks_like_subwords(["a do@@ g"])
    (True, True)
    >>> looks_like_subwords(["a dog", "mail me @ home"])
    False
    """
    marked = sum(bool(_SUBWORD.search(line)) for line in lines)
    return marked > 0 and marked >= SUBWORD_SHARE * len(lines)


def looks_tokenized(lines: Sequence[str]) -> bool:
    """Whether most lines with a full stop or comma have a space before it.

    >>> looks_tokenized(["a dog runs ."]), looks_tokenized(["A dog runs.", "no stop"])
    (True, False)
    """
    with_stop = sum(bool(_STOP.search(line)) for line in lines)
    spaced = sum(bool(_SPACED_STOP.search(line)) for line in lines)
    return spaced > 0 and spaced > TOKENIZED_SHARE * with_stop


def check_texts(texts: Mapping[str, Sequence[str]], *, tokenize: str = "13a") -> list[str]:
    """Warnings about the named texts, hypotheses and references together; often none.

    >>> check_texts({"out.de": ["ein Hund ."], "ref.de": ["ein Hund ."]}, tokenize="none")
    []
    >>> print(check_texts({"out.de": ["ein H@@ und"]})[0])
    warning: out.de looks like subwords (▁ or @@), so that the scores count pieces, not words.
      Join the pieces to plain text first; for @@ that is: sed -r 's/(@@ )|(@@ ?$)//g'
    """
    warnings = []
    for name in (name for name, lines in texts.items() if looks_like_subwords(lines)):
        warnings.append(
            f"warning: {name} looks like subwords (▁ or @@), so that the scores count pieces, not"
            " words.\n  Join the pieces to plain text first; for @@ that is:"
            " sed -r 's/(@@ )|(@@ ?$)//g'"
        )
    tokenized = [name for name, lines in texts.items() if looks_tokenized(lines)]
    plain = [name for name, lines in texts.items() if name not in tokenized and _has_stops(lines)]
    if tokenized and plain:
        warnings.append(
            f"warning: {', '.join(tokenized)} looks tokenised (a space before full stops), and"
            f" {', '.join(plain)} does not.\n  Scores compare like with like: bring all to plain"
            " text, or all to the same tokens."
        )
    elif tokenized and tokenize != "none":
        warnings.append(
            f"warning: {', '.join(tokenized)} looks tokenised (a space before full stops), and"
            f" --tokenize {tokenize} cuts it once more:\n  this BLEU is comparable neither with"
            " that of plain text nor with that of tokenised text. Score plain text,\n  or use"
            " --tokenize none to compare with results on the same tokenised references."
        )
    elif plain and tokenize == "none":
        warnings.append(
            f"warning: {', '.join(plain)} looks like plain text, and --tokenize none leaves"
            ' punctuation at the words,\n  so that "dog." and "dog" differ. For a BLEU that others'
            " can compare use --tokenize 13a."
        )
    return warnings


def _has_stops(lines: Sequence[str]) -> bool:
    """Whether most lines have a full stop or comma, so that it can be seen how they stand."""
    return sum(bool(_STOP.search(line)) for line in lines) > len(lines) / 2
