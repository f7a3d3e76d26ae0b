"""``dragoman info``: the paper's parameter counts, one JSON object, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest

from dragoman.bundle import write_bundle
from dragoman.cli.main import main
from dragoman.config import Config, ModelConfig, TrainConfig

MODEL = ModelConfig(d_model=4, n_heads=2, d_ff=6, n_layers=1, vocab_size=7)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    write_bundle(
        tmp_path / "mine",
        config=Config(model=MODEL, train=TrainConfig(batch_tokens=100)),
        weights={"w": np.ones(3, np.float32)},
        save_tokenizer=lambda folder: None,
        record={},
    )
    return tmp_path / "mine"


def info(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, object]:
    assert main(["info", *args, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    facts = json.loads(out)
    assert isinstance(facts, dict)
    return facts


def test_base_with_37000_pieces_has_63_million_parameters(capsys):
    facts = info(capsys, "base", "--vocab", "37000")
    assert facts["params"] == 63_082_496
    assert sum(facts["params_by_part"].values()) == facts["params"]
    assert facts["flops_per_token"] > 2 * (facts["params"] - 20_000_000)
    assert facts["training_flops_per_token"] == 3 * facts["flops_per_token"]
    assert facts["memory"]["weights"] == 4 * facts["params"]
    assert facts["config"]["model"]["vocab_size"] == 37_000


@pytest.mark.parametrize(
    ("sets", "printed"),
    [
        ([], 65),
        (["model.d_k=16", "model.d_v=64"], 58),
        (["model.d_k=32", "model.d_v=64"], 60),
        (["model.n_layers=2"], 36),
        (["model.n_layers=4"], 50),
        (["model.n_layers=8"], 80),
        (["model.d_model=256", "model.d_k=32", "model.d_v=32"], 28),
        (["model.d_model=1024", "model.d_k=128", "model.d_v=128"], 168),
        (["model.d_ff=1024"], 53),
        (["model.d_ff=4096"], 90),
    ],
)
def test_the_rows_of_table_3_come_out_as_printed(capsys, sets, printed):
    options = [part for text in sets for part in ("--set", text)]
    params = info(capsys, "base", "--vocab", "40960", *options)["params"]
    assert params / 1e6 == pytest.approx(printed, abs=0.6)


def test_big_has_214_million_parameters(capsys):
    assert info(capsys, "big", "--vocab", "37000")["params"] / 1e6 == pytest.approx(214, abs=0.5)


def test_the_report_for_readers_has_the_same_numbers(capsys):
    assert main(["info", "base", "--vocab", "37000"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("base: 63.1 M parameters\n")
    assert "63,082,496" in out
    assert "decoder.cross_attention" in out


def test_a_bundle_is_described_by_its_own_config(capsys, bundle):
    facts = info(capsys, str(bundle))
    assert facts["config"]["model"]["d_model"] == 4
    assert facts["config"]["train"]["batch_tokens"] == 100


def test_the_command_line_wins_over_the_bundle(capsys, bundle):
    small = info(capsys, str(bundle))
    large = info(capsys, str(bundle), "--set", "model.n_layers=3", "--vocab", "9")
    assert large["params"] > small["params"]
    assert large["config"]["model"] == small["config"]["model"] | {"n_layers": 3, "vocab_size": 9}


def test_longer_sentences_cost_more_for_each_token(capsys):
    short = info(capsys, "tiny", "--length", "10")["flops_per_token"]
    assert info(capsys, "tiny", "--length", "500")["flops_per_token"] > short


def test_a_preset_wins_over_a_folder_of_its_name_and_a_path_is_never_a_preset(
    capsys, bundle, monkeypatch
):
    bundle.rename(bundle.with_name("tiny"))
    monkeypatch.chdir(bundle.parent)
    assert info(capsys, "tiny")["config"]["model"]["d_model"] == 128
    assert info(capsys, "./tiny")["config"]["model"]["d_model"] == 4


def test_a_name_that_is_neither_is_refused_with_the_nearest_preset(capsys):
    assert main(["info", "bse"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "no such preset; did you mean base? Known: tiny, small, base, big" in err
    assert "a run or bundle is one with config.toml" in err


def test_a_folder_that_is_no_bundle_is_refused_with_what_is_missing(capsys, tmp_path):
    assert main(["info", str(tmp_path)]) == 2
    assert "is not a whole bundle: config.toml, tokenizer, " in capsys.readouterr().err


def test_all_faults_of_the_command_line_are_told_at_once(capsys):
    assert main(["info", "base", "--vocab", "0", "--set", "model.norm=mid"]) == 2
    err = capsys.readouterr().err
    assert "config error: 2 faults in the configuration:" in err
    assert "command line: model.vocab_size = 0: must be at least 1" in err
    assert "--set: model.norm = 'mid': must be one of post, pre" in err
