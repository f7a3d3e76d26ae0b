"""Files, presets, flags and --set: who wins, what is refused, and that writing is reading."""

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import Config, DataConfig, DecodeConfig, ModelConfig, TrainConfig
from dragoman.config_loading import (
    LoadedConfig,
    config_from_dict,
    config_from_toml,
    config_to_dict,
    config_to_toml,
    load_config,
    with_defaults,
)
from dragoman.errors import ConfigError


def write(folder: Path, text: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return path


def complaint(*args: object, **kwargs: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(*args, **kwargs)  # type: ignore[arg-type]
    return str(caught.value)


# --- who wins ------------------------------------------------------------------------------------


def test_nothing_given_is_the_defaults():
    assert load_config() == LoadedConfig(Config(), frozenset(), None)


def test_each_source_wins_over_those_before_it(tmp_path):
    path = write(tmp_path, "[model]\nd_ff = 300\ndropout = 0.2\n[train]\nsteps = 5\nseed = 3\n")
    loaded = load_config(
        path,
        preset="tiny",
        flags={"train.steps": 6, "model.dropout": 0.3},
        overrides=["model.dropout=0.4"],
    )
    model, train = loaded.config.model, loaded.config.train
    assert model.tie == "all"  # default
    assert (model.d_model, model.n_heads) == (128, 4)  # preset
    assert (model.d_ff, train.seed) == (300, 3)  # file over preset
    assert train.steps == 6  # flag over file
    assert model.dropout == 0.4  # --set over flag


def test_a_flag_that_was_not_given_changes_nothing(tmp_path):
    path = write(tmp_path, "[train]\nsteps = 5\n")
    loaded = load_config(path, flags={"train.steps": None, "train.seed": 0})
    assert (loaded.config.train.steps, loaded.config.train.seed) == (5, 0)
    assert loaded.given == {"train.steps", "train.seed"}


def test_the_last_of_two_settings_of_one_key_wins():
    assert load_config(overrides=["train.steps=1", "train.steps=2"]).config.train.steps == 2


def test_a_file_may_name_its_preset_and_the_command_line_another(tmp_path):
    path = write(tmp_path, '[model]\npreset = "small"\nd_ff = 99\n')
    assert load_config(path).config.model == ModelConfig(
        n_layers=3, d_model=256, d_ff=99, n_heads=4, dropout=0.1
    )
    assert load_config(path, preset="tiny").config.model.d_model == 128
    assert load_config(path, overrides=["model.preset=big"]).preset == "big"


def test_what_somebody_chose_is_known_and_a_preset_is_a_choice():
    loaded = load_config(preset="tiny", overrides=["decode.beam=5"])
    shape = {"n_layers", "d_model", "d_ff", "n_heads", "dropout"}
    assert loaded.given == {f"model.{key}" for key in shape} | {"decode.beam"}


def test_defaults_for_a_corpus_fill_only_what_nobody_chose():
    loaded = load_config(overrides=["model.d_ff=512", "model.window=none"])
    config = with_defaults(
        loaded, {"model.d_ff": 1, "model.d_model": 64, "model.window": 3, "train.steps": 9}
    )
    assert config.model == ModelConfig(d_ff=512, d_model=64)
    assert config.train == TrainConfig(steps=9)


def test_defaults_that_do_not_fit_what_was_chosen_are_refused():
    loaded = load_config(overrides=["model.n_heads=5", "model.d_model=100"])
    with pytest.raises(ConfigError, match="default for this corpus: train.steps = 0"):
        with_defaults(loaded, {"train.steps": 0})


# --- values of --set -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "table", "key", "value"),
    [
        ("model.norm=pre", "model", "norm", "pre"),
        ('model.norm="pre"', "model", "norm", "pre"),
        ("model.tie=none", "model", "tie", "none"),
        ("train.betas=[0.9, 0.98]", "train", "betas", (0.9, 0.98)),
        ("data.vocab_size=8_000", "data", "vocab_size", 8000),
        ("data.vocab_size=none", "data", "vocab_size", None),
        ("data.lowercase=true", "data", "lowercase", True),
        ("data.src_lang=no", "data", "src_lang", "no"),
        ("data.src_lang=true", "data", "src_lang", "true"),
        ("data.src_lang=1", "data", "src_lang", "1"),
        ("data.src_lang=a=b", "data", "src_lang", "a=b"),
        ('data.placeholders=["<a>"]', "data", "placeholders", ("<a>",)),
        ("train.clip_norm=1", "train", "clip_norm", 1.0),
        ("train.clip_norm=.5", "train", "clip_norm", 0.5),
        ("train.learning_rate=3e-4", "train", "learning_rate", 3e-4),
        (" train.steps = 7 ", "train", "steps", 7),
    ],
)
def test_a_set_value_is_toml_or_a_bare_word(text, table, key, value):
    config = load_config(overrides=[text]).config
    found = getattr(getattr(config, table), key)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train.steps", "must be table.key=value; for example train.steps=1000"),
        ("=3", "must be table.key=value"),
        ("", "must be table.key=value"),
        ("train.=3", "must be table.key=value"),
        ("steps=3", "must be table.key=value; steps belongs to [train], as train.steps"),
        ("trian.steps=3", "no such table; did you mean train? Known: model, data, train, decode"),
        ("train.step=3", "train.step: no such key; did you mean steps? Known: batch_tokens, "),
        ("train.dropout=0.3", "train.dropout: dropout is a key of [model], not of [train]"),
        ("train.steps=ten", "train.steps = 'ten': must be a whole number"),
        ("train.steps=none", "train.steps = 'none': must be a whole number"),
        ("train.steps=1e3", "train.steps = 1000.0: must be a whole number"),
        ("train.steps=1\nseed=2", "train.steps = '1\\nseed=2': must be a whole number"),
        ("data.lowercase=yes", "data.lowercase = 'yes': must be true or false"),
        ("model.norm=mid", "model.norm = 'mid': must be one of post, pre"),
        ("model.preset=larg", "model.preset = 'larg': no such preset"),
        ("model.a.b=3", "model.a.b: no such key"),
    ],
)
def test_a_wrong_set_is_refused_with_what_would_be_right(text, message):
    found = complaint(overrides=[text])
    assert found.startswith("--set")
    assert message in found


# --- faults of files -----------------------------------------------------------------------------


def test_every_fault_of_file_and_command_line_is_reported_at_once(tmp_path):
    path = write(
        tmp_path,
        "[model]\nd_modle = 3\ndropout = 2\n\n[trian]\nsteps = 3\n\n[data]\nlowercase = 'no'\n",
    )
    lines = complaint(path, overrides=["decode.beam=0"], flags={"train.steps": -1}).split("\n  ")
    assert lines[0] == "6 faults in the configuration:"
    assert sorted(line[:44] for line in lines[1:]) == sorted(
        line[:44]
        for line in [
            f"{path}:2: model.d_modle: no such key",
            f"{path}:3: model.dropout = 2",
            f"{path}:5: [trian]: no such table",
            f"{path}:9: data.lowercase = 'no'",
            "--set: decode.beam = 0: must be at least 1",
            "command line: train.steps = -1: must be at least 1",
        ]
    )


def test_a_fault_names_file_and_line(tmp_path):
    path = write(tmp_path, '# a comment\n[model]\n\nnorm = "middle"  # nonsense\n')
    assert complaint(path) == f"{path}:4: model.norm = 'middle': must be one of post, pre"


def test_a_fault_between_a_file_and_a_default_says_so(tmp_path):
    path = write(tmp_path, "[model]\nd_model = 100\n")
    assert complaint(path).startswith(
        "default: model.n_heads = 8: must be a divisor of d_model (100)"
    )


def test_a_key_outside_its_table_is_told_where_it_belongs(tmp_path):
    path = write(tmp_path, "d_model = 100\n")
    assert complaint(path) == f"{path}:1: [d_model]: d_model belongs to [model], as model.d_model"


@pytest.mark.parametrize("text", ["model = 3\n", "[[model]]\nd_model = 4\n"])
def test_a_table_that_is_none_is_refused(tmp_path, text):
    assert "model: must be a table, written [model]" in complaint(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "place"), [("[model]\nd_model 512\n", ":2:9: "), ("[model]\nx = [1,", ":2: ")]
)
def test_what_is_not_toml_is_refused_with_line_and_column(tmp_path, text, place):
    path = write(tmp_path, text)
    assert complaint(path).startswith(f"{path}{place}not TOML: ")


def test_a_file_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_bytes(b"[data]\nsrc_lang = '\xe4'\n")
    assert complaint(path) == f"{path}:2: not UTF-8 (byte 19)"


def test_a_missing_file_is_named_with_the_nearest(tmp_path):
    write(tmp_path, "")
    path = tmp_path / "recipes.toml"
    found = complaint(path)
    assert str(path) in found
    assert "did you mean recipe.toml?" in found


def test_a_folder_is_not_a_config_file(tmp_path):
    assert "is a folder, not a config file" in complaint(tmp_path)


def test_a_byte_order_mark_and_windows_line_ends_are_no_faults(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_bytes(b"\xef\xbb\xbf[train]\r\nsteps = 5\r\n")
    assert load_config(path).config.train.steps == 5


def test_a_preset_inside_a_dict_or_a_written_config_is_refused():
    with pytest.raises(ConfigError, match="model.preset: not allowed here"):
        config_from_dict({"model": {"preset": "tiny"}})


def test_an_unknown_preset_is_refused_with_the_nearest():
    assert complaint(preset="bass") == (
        "--preset: model.preset = 'bass': no such preset; did you mean base?"
        " Known: tiny, small, base, big"
    )


# --- writing is reading --------------------------------------------------------------------------


def optional(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | strategy


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, exclude_max=True)


CONFIGS = st.builds(
    Config,
    model=st.builds(
        ModelConfig,
        d_model=st.integers(1, 64).map(lambda n: 2 * n),
        n_heads=st.integers(1, 9),
        d_k=st.integers(1, 40).map(lambda n: 2 * n),
        d_v=st.integers(1, 40),
        n_encoder_layers=optional(st.integers(1, 9)),
        dropout=numbers(0, 1),
        feed_forward_dropout=optional(numbers(0, 1)),
        norm=st.sampled_from(["post", "pre"]),
        positions=st.sampled_from(["sinusoidal", "learned", "rotary"]),
        tie=st.sampled_from(["decoder", "none"]),
        src_vocab_size=optional(st.integers(1, 10**12)),
        window=optional(st.integers(1, 99)),
    ),
    data=st.builds(
        DataConfig,
        tokenizer=st.sampled_from(["bpe", "unigram", "words", "characters", "symbols"]),
        vocab_size=optional(st.integers(8, 10**6)),
        joint_vocab=st.booleans(),
        placeholders=st.lists(st.text(min_size=1), unique=True).map(tuple),
        src_lang=optional(st.text()),
    ),
    train=st.builds(
        TrainConfig,
        learning_rate=optional(st.floats(1e-300, 1e300)),
        betas=st.tuples(numbers(0, 1), numbers(0, 1)),
        eps=st.floats(min_value=0, exclude_min=True, max_value=1),
        minutes=optional(st.floats(0.1, 1e6)),
        seed=st.integers(0, 2**63 - 1),
    ),
    decode=st.builds(DecodeConfig, beam=st.integers(1, 99), length_penalty=st.floats(0, 9)),
)


@settings(deadline=None, max_examples=150)
@given(CONFIGS)
def test_what_is_written_loads_to_the_same_config(config):
    assert config_from_toml(config_to_toml(config), "written.toml") == config
    assert config_from_dict(config_to_dict(config)) == config


def test_a_written_file_loads_as_a_config_file_with_every_key_chosen(tmp_path):
    config = dataclasses.replace(Config(), decode=DecodeConfig(beam=7))
    loaded = load_config(write(tmp_path, config_to_toml(config)))
    assert loaded.config == config
    assert "train.steps" in loaded.given
    assert "model.window" not in loaded.given  # unset, and so not written


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=30), st.text(max_size=30))
def test_any_set_string_gives_a_config_or_a_complaint(key, value):
    for text in (f"{key}={value}", f"model.{key}={value}", f"model.norm={value}", key):
        complaint = ""
        try:
            assert isinstance(load_config(overrides=[text]).config, Config)
        except ConfigError as error:
            complaint = str(error)
        assert complaint == "" or complaint.startswith("--set")
