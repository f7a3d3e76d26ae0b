"""What a config accepts, converts and refuses when it is made."""

import dataclasses
import math

import numpy as np
import pytest

from dragoman.config import TABLES, Config, DataConfig, DecodeConfig, ModelConfig, TrainConfig
from dragoman.config_checks import coerce, hints_of, is_optional
from dragoman.errors import ConfigError
from dragoman.presets import MODEL_PRESETS


def faults_of(table: type, **values: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        table(**values)
    return str(caught.value).split("\n")


def test_the_defaults_are_the_papers_base_model():
    model = ModelConfig()
    assert (model.d_model, model.d_ff, model.n_heads, model.n_layers) == (512, 2048, 8, 6)
    assert (model.norm, model.tie, model.positions) == ("post", "all", "sinusoidal")
    assert model.head_sizes == (64, 64)
    train = TrainConfig()
    assert (train.betas, train.eps, train.warmup_steps) == ((0.9, 0.98), 1e-9, 4000)
    assert (train.label_smoothing, train.schedule) == (0.1, "noam")
    decode = DecodeConfig()
    assert (decode.beam, decode.length_penalty, decode.max_extra) == (4, 0.6, 50)


@pytest.mark.parametrize("name", MODEL_PRESETS)
def test_every_preset_makes_a_model(name):
    assert ModelConfig(**MODEL_PRESETS[name]).d_model in (128, 256, 512, 1024)


@pytest.mark.parametrize("table", TABLES.values())
def test_every_key_says_what_it_means(table):
    for field in dataclasses.fields(table):
        assert field.metadata["doc"], field.name


@pytest.mark.parametrize("table", TABLES.values())
def test_a_key_that_may_be_unset_is_unset_by_default(table):
    # TOML cannot write None, so that an unset key must come back as unset by being absent.
    for field in dataclasses.fields(table):
        if is_optional(hints_of(table)[field.name]):
            assert field.default is None, field.name


@pytest.mark.parametrize("table", TABLES.values())
def test_the_default_of_every_key_has_its_declared_type(table):
    for key, hint in hints_of(table).items():
        value = getattr(table(), key)
        assert coerce(value, hint) == value


def test_a_config_cannot_be_changed_after_it_was_made():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().model.d_model = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("table", "values", "message"),
    [
        (ModelConfig, {"d_model": 0}, "model.d_model = 0: must be at least 1"),
        (ModelConfig, {"d_model": "512"}, "model.d_model = '512': must be a whole number"),
        (ModelConfig, {"d_model": 512.0}, "model.d_model = 512.0: must be a whole number"),
        (ModelConfig, {"d_model": True}, "model.d_model = true: must be a whole number"),
        (ModelConfig, {"d_model": None}, "model.d_model = None: must be a whole number"),
        (ModelConfig, {"dropout": 1.0}, "model.dropout = 1.0: must be at least 0 and below 1"),
        (ModelConfig, {"dropout": math.nan}, "model.dropout = nan: must be a finite number"),
        (ModelConfig, {"dropout": False}, "model.dropout = false: must be a number"),
        (ModelConfig, {"norm": "prae"}, "must be one of post, pre; did you mean pre?"),
        (ModelConfig, {"norm": 3}, "model.norm = 3: must be one of post, pre"),
        (ModelConfig, {"n_heads": 7}, "must be a divisor of d_model (512), or set d_k and d_v"),
        (ModelConfig, {"n_heads": 7, "d_k": 4}, "must be a divisor of d_model"),
        (ModelConfig, {"d_model": 15, "n_heads": 3}, "must be even for sinusoidal positions"),
        (ModelConfig, {"positions": "rotary", "d_k": 3}, "must be even for rotary positions"),
        (ModelConfig, {"src_vocab_size": 9}, "must be 'decoder' or 'none' where src_vocab_size"),
        (ModelConfig, {"pad_id": 37_000}, "model.pad_id = 37000: must be below 37000"),
        (ModelConfig, {"window": 0}, "model.window = 0: must be at least 1"),
        (DataConfig, {"lowercase": "yes"}, "data.lowercase = 'yes': must be true or false"),
        (DataConfig, {"lowercase": 1}, "data.lowercase = 1: must be true or false"),
        (DataConfig, {"src_lang": 4}, "data.src_lang = 4: must be a string"),
        (DataConfig, {"vocab_size": 7}, "data.vocab_size = 7: must be at least 8"),
        (DataConfig, {"max_length_ratio": 0.5}, "must be at least 1"),
        (DataConfig, {"placeholders": "<x>"}, "must be a list of strings"),
        (DataConfig, {"placeholders": ["<x>", 3]}, "must be a list of strings"),
        (DataConfig, {"placeholders": ["<x>", "<x>"]}, "must be strings, each once, none empty"),
        (TrainConfig, {"betas": (0.9,)}, "train.betas = [0.9]: must be a list of 2 numbers"),
        (TrainConfig, {"betas": (0.9, 1.0)}, "must be in [0, 1)"),
        (TrainConfig, {"learning_rate": 0}, "train.learning_rate = 0.0: must be above 0"),
        (TrainConfig, {"learning_rate": math.inf}, "must be a finite number"),
        (TrainConfig, {"eps": 10**400}, "must be a finite number"),
        (TrainConfig, {"seed": -1}, "train.seed = -1: must be at least 0"),
        (TrainConfig, {"seed": 2**63}, "must be below 2^63"),
        (DecodeConfig, {"n_best": 5}, "decode.n_best = 5: must be at most the beam (4)"),
    ],
)
def test_an_impossible_value_is_refused_with_what_is_allowed(table, values, message):
    (fault,) = faults_of(table, **values)
    assert message in fault


def test_all_faults_of_a_table_are_reported_together():
    faults = faults_of(ModelConfig, d_ff=0, dropout=2, norm="mid", n_heads=7, pad_id=99_999)
    keys = [fault.split(" ")[0] for fault in faults]
    assert sorted(keys) == [
        f"model.{key}" for key in ("d_ff", "dropout", "n_heads", "norm", "pad_id")
    ]


def test_a_refused_key_does_not_make_another_look_wrong():
    # With the default 512, 7 heads would be a fault of their own; the width is still unknown here.
    assert faults_of(ModelConfig, d_model="x", n_heads=7) == [
        "model.d_model = 'x': must be a whole number"
    ]


def test_numbers_of_numpy_and_lists_become_plain_values():
    config = TrainConfig(steps=np.int64(7), clip_norm=np.float32(0.5), betas=[0, 0.5])
    assert (type(config.steps), type(config.clip_norm)) == (int, float)
    assert config.betas == (0.0, 0.5)
    assert config == TrainConfig(steps=7, clip_norm=0.5, betas=(0.0, 0.5))


def test_free_head_sizes_allow_any_number_of_heads():
    assert ModelConfig(n_heads=7, d_k=6, d_v=5).head_sizes == (6, 5)


def test_layers_may_differ_between_encoder_and_decoder():
    config = ModelConfig(n_layers=3, n_decoder_layers=1)
    assert (config.encoder_layers, config.decoder_layers) == (3, 1)
