"""How a translation is written on a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragoman.decoding.translation import Translation


def render(translation: Translation, number: int, *, n_best: int, scores: bool) -> str:
    r"""The line of a translation, or the lines of its n best, each with its line end.

    Columns stand between tabs: the line number and the score with n_best > 1, the score with
    ``scores``, the text, the word links where the translation has them. A tab inside a text that
    has company becomes a space.

    >>> from dragoman.decoding.translation import Translation
    >>> best = Translation("A dog", score=-0.25, log_prob=-1.0, alignment=((0, 0), (1, 1)))
    >>> render(best, 7, n_best=1, scores=True)
    '-0.2500\tA dog\t0-0 1-1\n'
    """
    if n_best == 1:
        return _line(translation, [f"{translation.score:.4f}"] if scores else [])
    return "".join(_line(each, [str(number), f"{each.score:.4f}"]) for each in translation.n_best)


def _line(translation: Translation, before: list[str]) -> str:
    after = []
    if translation.alignment is not None:
        after = [" ".join(f"{src}-{tgt}" for src, tgt in translation.alignment)]
    text = translation.text
    if before or after:
        text = text.replace("\t", " ")
    return "\t".join([*before, text, *after]) + "\n"
