"""A configuration from where it was written: defaults < preset < config file < flags and ``--set``.

Every fault of the file and of the command line is reported at once, each with the place it comes
from, the values or keys allowed there, and the nearest one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dragoman.config import TABLES, Config
from dragoman.config_checks import hints_of, no_such
from dragoman.config_sources import (
    PRESET_KEY,
    Lines,
    Setting,
    at,
    from_file,
    from_override,
    from_tables,
    parse_toml,
)
from dragoman.errors import ConfigError
from dragoman.presets import MODEL_PRESETS


@dataclass(frozen=True)
class LoadedConfig:
    """A config, and which of its keys somebody chose (``"model.d_model"``).

    What nobody chose is still open: training fits it to the corpus by ``with_defaults``.
    """

    config: Config
    given: frozenset[str]
    preset: str | None = None


def load_config(
    path: Path | None = None,
    *,
    preset: str | None = None,
    overrides: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
) -> LoadedConfig:
    """The config that a file, a preset, flags and ``--set`` strings make together.

    ``flags`` maps ``"table.key"`` to a value, where None means that the flag was not given. A
    ``--set`` is heard last. ``model.preset`` in the file or a ``--set`` names a preset too.

    >>> loaded = load_config(preset="tiny", overrides=["model.norm=pre"], flags={"train.steps": 9})
    >>> loaded.config.model.d_model, loaded.config.model.norm, loaded.config.train.steps
    (128, 'pre', 9)
    >>> "model.norm" in loaded.given, "model.tie" in loaded.given
    (True, False)
    """
    faults: list[str] = []
    settings = from_file(path, faults) if path is not None else []
    if preset is not None:
        settings.append(Setting(PRESET_KEY, preset, "--preset"))
    given_flags = {key: value for key, value in (flags or {}).items() if value is not None}
    settings += [Setting(key, value, "command line") for key, value in given_flags.items()]
    settings += [s for text in overrides if (s := from_override(text, faults)) is not None]
    chosen = [s.value for s in settings if s.key == PRESET_KEY]
    wanted = chosen[-1] if chosen else None
    settings = _preset_settings(wanted) + settings
    config = _build(settings, faults)
    known = {f"{table}.{key}" for table in TABLES for key in hints_of(TABLES[table])}
    return LoadedConfig(config, frozenset(s.key for s in settings if s.key in known), wanted)


def with_defaults(loaded: LoadedConfig, defaults: Mapping[str, Any]) -> Config:
    """The config with these values for the keys that nobody chose.

    >>> loaded = load_config(overrides=["model.d_ff=512"])
    >>> model = with_defaults(loaded, {"model.d_ff": 256, "model.d_model": 128}).model
    >>> model.d_ff, model.d_model
    (512, 128)
    """
    chosen = config_to_dict(loaded.config)
    settings = [
        Setting(key, value, "default for this corpus")
        for key, value in defaults.items()
        if key not in loaded.given
    ]
    for key in sorted(loaded.given):
        table, _, name = key.partition(".")
        if name in chosen[table]:  # chosen, and not chosen to be unset
            settings.append(Setting(key, chosen[table][name], "chosen"))
    return _build(settings, [])


def config_to_dict(config: Config) -> dict[str, dict[str, Any]]:
    """The four tables as plain dicts and lists; what is unset is left out.

    >>> config_to_dict(Config())["decode"]
    {'beam': 4, 'length_penalty': 0.6, 'max_extra': 50, 'n_best': 1}
    """
    return {
        table: {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in values.items()
            if value is not None
        }
        for table, values in asdict(config).items()
    }


def config_from_dict(tables: Mapping[str, Any]) -> Config:
    """The config that ``config_to_dict`` wrote; an unknown key or a wrong value is refused.

    >>> config_from_dict({"model": {"d_model": 256}}).model.d_model
    256
    """
    faults: list[str] = []
    return _build(from_tables(tables, faults, lines=Lines("", "")), faults)


def config_to_toml(config: Config) -> str:
    """The config as TOML text, which loads to the same config.

    >>> print(config_to_toml(Config()).partition("[decode]")[2].strip())
    beam = 4
    length_penalty = 0.6
    max_extra = 50
    n_best = 1
    """
    import tomli_w

    return tomli_w.dumps(config_to_dict(config))


def config_from_toml(text: str, name: str) -> Config:
    """The config of a TOML text; faults are told with its name and line.

    >>> config_from_toml("[decode]\\nbeam = 0", "mine.toml")
    Traceback (most recent call last):
    dragoman.errors.ConfigError: mine.toml:2: decode.beam = 0: must be at least 1
    """
    faults: list[str] = []
    return _build(from_tables(parse_toml(text, name), faults, lines=Lines(name, text)), faults)


def _preset_settings(wanted: Any) -> list[Setting]:
    """What the chosen preset sets; an unknown name is left for ``_build`` to refuse."""
    preset = MODEL_PRESETS.get(wanted, {}) if isinstance(wanted, str) else {}
    return [Setting(f"model.{key}", value, f"preset {wanted}") for key, value in preset.items()]


def _build(settings: Sequence[Setting], faults: list[str]) -> Config:
    """The config of these settings, later ones winning; raises with all faults together."""
    tables: dict[str, dict[str, Any]] = {table: {} for table in TABLES}
    origins: dict[str, str] = {}
    for setting in settings:
        table, _, key = setting.key.partition(".")
        fault = _fault_of_key(setting, table, key)
        if fault:
            faults.append(at(setting.origin, fault))
        elif setting.key != PRESET_KEY:
            tables[table][key] = setting.value
            origins[setting.key] = setting.origin
    built = {table: _build_table(table, tables[table], origins, faults) for table in TABLES}
    if faults:
        title = "" if len(faults) == 1 else f"{len(faults)} faults in the configuration:\n  "
        raise ConfigError(title + "\n  ".join(faults))
    return Config(**built)


def _build_table(
    table: str, values: dict[str, Any], origins: Mapping[str, str], faults: list[str]
) -> Any:
    try:
        return TABLES[table](**values)
    except ConfigError as error:
        for line in str(error).split("\n"):
            faults.append(at(origins.get(line.split(" ", 1)[0], "default"), line))
        return None


def _fault_of_key(setting: Setting, table: str, key: str) -> str | None:
    """Why this cannot be set at all, if so."""
    if setting.key == PRESET_KEY:
        known = isinstance(setting.value, str) and setting.value in MODEL_PRESETS
        fault = no_such("preset", setting.value, known=MODEL_PRESETS)
        return None if known else f"{setting.key} = {setting.value!r}: {fault}"
    keys = hints_of(TABLES[table])
    if key in keys:
        return None
    homes = [home for home in TABLES if key in hints_of(TABLES[home])]
    if homes:
        return f"{setting.key}: {key} is a key of [{homes[0]}], not of [{table}]"
    return f"{setting.key}: {no_such('key', key, known=keys)}"
