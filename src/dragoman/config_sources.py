"""Where the values of a configuration are written: a TOML file, or ``--set table.key=value``.

Each value is kept with its place (``recipe.toml:7``), so that a fault found later can name it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.config import TABLES
from dragoman.config_checks import (
    did_you_mean,
    hints_of,
    is_optional,
    no_such,
    takes_text,
    without_none,
)
from dragoman.errors import ConfigError

PRESET_KEY = "model.preset"  # may stand in a file or a --set, and is not a field of ModelConfig


@dataclass(frozen=True)
class Setting:
    """One value somebody wrote, and where (``recipe.toml:7``, ``--set``, ``command line``)."""

    key: str
    value: Any
    origin: str


def from_file(path: Path, faults: list[str]) -> list[Setting]:
    """What a TOML file sets; what is wrong with its tables is added to the faults."""
    text = _read(path)
    return from_tables(
        parse_toml(text, str(path)), faults, lines=Lines(str(path), text), presets=True
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 (byte {error.start})") from None
    except IsADirectoryError:
        raise ConfigError(
            f"{path} is a folder, not a config file; that of a run is its config.toml"
        ) from None
    except OSError as error:
        near = did_you_mean(path.name, [f.name for f in path.parent.glob("*.toml")])
        raise ConfigError(f"cannot read the config file {path}: {error.strerror}{near}") from None


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """The tables of a TOML text; what is not TOML is refused with name, line and column."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).partition(" (at ")
        numbers = re.findall(r"\d+", place) or [str(text.count("\n") + 1)]
        raise ConfigError(f"{name}:{':'.join(numbers)}: not TOML: {what}") from None


class Lines:
    """Where a key stands in a TOML text: ``name:line``, or the name alone where it is not seen."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines: dict[str, int] = {}
        table = ""
        for number, line in enumerate(text.split("\n"), start=1):
            if header := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
                table = header[1] + "."
                self.lines.setdefault(header[1], number)
            elif key := re.match(r"\s*([\w.-]+)\s*=", line):
                self.lines.setdefault(table + key[1], number)

    def __call__(self, key: str) -> str:
        return f"{self.name}:{self.lines[key]}" if key in self.lines else self.name


def from_tables(
    tables: Mapping[str, Any], faults: list[str], *, lines: Lines, presets: bool = False
) -> list[Setting]:
    """What these tables set; ``presets`` allows a preset's name among the keys of a model."""
    settings = []
    for table, values in tables.items():
        if table not in TABLES:
            faults.append(at(lines(table), f"[{table}]: {no_such_table(table)}"))
        elif not isinstance(values, Mapping):
            faults.append(at(lines(table), f"{table}: must be a table, written [{table}]"))
        else:
            for key, value in values.items():
                setting = Setting(f"{table}.{key}", value, lines(f"{table}.{key}"))
                if setting.key == PRESET_KEY and not presets:
                    faults.append(at(setting.origin, f"{PRESET_KEY}: not allowed here"))
                else:
                    settings.append(setting)
    return settings


def from_override(text: str, faults: list[str]) -> Setting | None:
    """The setting of ``table.key=value``; the value is TOML, or a bare word where text is meant."""
    key, equals, value = (part.strip() for part in text.partition("="))
    table, dot, name = key.partition(".")
    if not (equals and name):
        hint = no_such_table(table) if equals and not dot else "for example train.steps=1000"
        faults.append(f"--set {text}: must be table.key=value; {hint}")
        return None
    if table not in TABLES:
        faults.append(f"--set {text}: {no_such_table(table)}")
        return None
    hint = hints_of(TABLES[table]).get(name, str)
    return Setting(key, _override_value(value, hint), "--set")


def _override_value(text: str, hint: Any) -> Any:
    if text == "none" and is_optional(hint):
        return None
    try:
        # One line is one value: a line break cannot smuggle in a second key.
        value = tomllib.loads(f"value = {text.replace(chr(10), ' ')}")["value"]
    except tomllib.TOMLDecodeError:
        return _number(text) if without_none(hint) is float else text
    return value if isinstance(value, str) or not takes_text(hint) else text


def _number(text: str) -> float | str:
    """A number that TOML writes otherwise (``.3``), or the text, for the check to refuse."""
    try:
        return float(text)
    except ValueError:
        return text


def no_such_table(word: str) -> str:
    """Why this is not a table: a table misspelled, or a key without its table."""
    homes = [table for table in TABLES if word in hints_of(TABLES[table])]
    if homes:
        return f"{word} belongs to [{homes[0]}], as {homes[0]}.{word}"
    return no_such("table", word, known=TABLES)


def at(origin: str, fault: str) -> str:
    """The fault behind the place it comes from."""
    return f"{origin}: {fault}" if origin else fault
