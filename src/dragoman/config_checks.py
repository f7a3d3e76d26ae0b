"""What makes a value of the configuration possible: its type, its range, its fellows.

A table collects all its faults before it complains, and a key that was refused once is not used to
judge another, so that one mistake gives one line.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable
from dataclasses import field, fields
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from dragoman.errors import ConfigError

T = TypeVar("T")


def setting(default: T, doc: str) -> T:
    """A dataclass field with its default and the line that docs and errors can show."""
    made: T = field(default=default, metadata={"doc": doc})
    return made


class Faults:
    """What is wrong with one table: a line for each fault, and the keys they are about."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.lines: list[str] = []
        self.keys: set[str] = set()

    def add(self, key: str, value: object, allowed: str) -> None:
        self.lines.append(f"{self.table}.{key} = {show(value)}: must be {allowed}")
        self.keys.add(key)

    def unless(self, condition: bool, key: str, value: object, allowed: str) -> None:
        if not condition:
            self.add(key, value, allowed)

    def sound(self, *keys: str) -> bool:
        """Whether none of these keys has been refused, so that they can judge another."""
        return self.keys.isdisjoint(keys)

    def raise_if_any(self) -> None:
        if self.lines:
            raise ConfigError("\n".join(self.lines))


def settle(config: Any, table: str) -> Faults:
    """The faults of type of a config, whose values are brought to their declared types.

    A whole number serves as a float and a list as a tuple; nothing else is converted.
    """
    faults = Faults(table)
    for key, hint in hints_of(config.__class__).items():
        value = getattr(config, key)
        try:
            # The config is frozen for its users, and this is still its making.
            object.__setattr__(config, key, coerce(value, hint))
        except (TypeError, ValueError) as error:
            faults.add(key, value, str(error))
    return faults


def check_ranges(
    faults: Faults,
    config: object,
    *,
    positive: str = "",
    not_negative: str = "",
    above_zero: str = "",
    share: str = "",
) -> None:
    """Add the faults against the everyday rules; each names its keys, parted by spaces."""
    rules: list[tuple[str, Callable[[float], bool], str]] = [
        (positive, lambda v: v >= 1, "at least 1"),
        (not_negative, lambda v: v >= 0, "at least 0"),
        (above_zero, lambda v: v > 0, "above 0"),
        (share, lambda v: 0 <= v < 1, "at least 0 and below 1"),
    ]
    for keys, holds, allowed in rules:
        for key in keys.split():
            value = getattr(config, key)
            if value is not None and faults.sound(key):
                faults.unless(holds(value), key, value, allowed)


@cache
def hints_of(table: Any) -> dict[str, Any]:
    """The declared type of every key of a table, in their order."""
    hints = get_type_hints(table)
    return {f.name: hints[f.name] for f in fields(table)}


def is_optional(hint: Any) -> bool:
    """Whether a key may be left unset."""
    return get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)


def without_none(hint: Any) -> Any:
    """The type of a key that is set."""
    if not is_optional(hint):
        return hint
    return next(option for option in get_args(hint) if option is not NoneType)


def takes_text(hint: Any) -> bool:
    """Whether a bare word is a value of this type."""
    hint = without_none(hint)
    return hint is str or get_origin(hint) is Literal


def coerce(value: Any, hint: Any) -> Any:
    """The value in its declared type; the error says what it must be.

    >>> coerce([0.9, 0.98], tuple[float, float]), coerce(1, float | None)
    ((0.9, 0.98), 1.0)
    >>> coerce(True, int)
    Traceback (most recent call last):
    TypeError: a whole number
    """
    if value is None and is_optional(hint):
        return None
    hint = without_none(hint)
    origin = get_origin(hint)
    if origin is Literal:
        return _choice(value, get_args(hint))
    if origin is tuple:
        return _tuple(value, get_args(hint))
    return _plain(value, hint)


def _plain(value: Any, hint: Any) -> Any:
    is_bool = isinstance(value, bool)  # which Python counts among the integers, and we do not
    if (hint is bool and is_bool) or (hint is str and isinstance(value, str)):
        return value
    if hint is int and isinstance(value, Integral) and not is_bool:
        return int(value)
    if hint is float and isinstance(value, Real) and not is_bool:
        return _finite(value)
    names = {bool: "true or false", str: "a string", int: "a whole number", float: "a number"}
    raise TypeError(names[hint])


def _finite(value: Any) -> float:
    try:
        number = float(value)
    except OverflowError:  # an integer beyond all floats
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("a finite number")
    return number


def _choice(value: Any, allowed: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    message = "one of " + ", ".join(allowed)
    raise ValueError(message + did_you_mean(value, allowed))


def _tuple(value: Any, items: tuple[Any, ...]) -> tuple[Any, ...]:
    repeated = items[-1] is Ellipsis
    name = {str: "strings", float: "numbers"}[items[0]]
    wanted = f"a list of {name}" if repeated else f"a list of {len(items)} {name}"
    if not isinstance(value, list | tuple) or (not repeated and len(value) != len(items)):
        raise TypeError(wanted)
    try:
        return tuple(coerce(item, items[0]) for item in value)
    except (TypeError, ValueError):
        raise TypeError(wanted) from None


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """``"; did you mean …?"`` with the known word most like this one, or nothing.

    >>> did_you_mean("d_modle", ["d_model", "d_ff"])
    '; did you mean d_model?'
    """
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def no_such(kind: str, word: object, *, known: Iterable[str]) -> str:
    """That a name is not known, the nearest one, and all there are.

    >>> no_such("table", "modle", known=["model", "data"])
    'no such table; did you mean model? Known: model, data'
    """
    known = list(known)
    return f"no such {kind}{did_you_mean(word, known) or '.'} Known: {', '.join(known)}"


def show(value: object) -> str:
    """A value as TOML would write it, near enough to be recognized.

    >>> show(True), show("post"), show((0.9, 0.98))
    ('true', "'post'", '[0.9, 0.98]')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(show(item) for item in value) + "]"
    return repr(value)
