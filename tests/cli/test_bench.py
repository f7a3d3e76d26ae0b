"""``dragoman bench``: one JSON object or tables, missing peers named, faults refused."""

import json

import pytest

from dragoman.bench.contest import NOT_INSTALLED, Outcome
from dragoman.bench.worker import Memory
from dragoman.cli.main import main
from dragoman.runs.sources import TaskSource

SECONDS = {"dragoman": (1.0, 2.0), "torch.nn.Transformer": (3.0, 4.0)}  # ratios 3 and 2


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Options that name a small text, and a cache of its own."""
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    pairs = list(TaskSource("grammar", 40, "train", 1).pairs())
    (tmp_path / "s.de").write_text("".join(f"{pair.src}\n" for pair in pairs), encoding="utf-8")
    (tmp_path / "s.en").write_text("".join(f"{pair.tgt}\n" for pair in pairs), encoding="utf-8")
    named = ["--src", str(tmp_path / "s.de"), "--tgt", str(tmp_path / "s.en"), "--vocab", "300"]
    return ["--presets", "tiny", "--repeats", "2", *named]


@pytest.fixture
def held(monkeypatch):
    """No process is started; what would have been asked for is remembered, with its options."""
    asked = []

    def hold(entries, **options):
        asked.append((entries, options))
        found = {}
        for name, (_, work) in entries.items():
            n_tokens = work.max_tokens * sum(map(len, work.batches))
            if name in SECONDS or name.isdigit():
                seconds = SECONDS.get(name, (1.0, 1.0))
                found[name] = Outcome(seconds, Memory(100, 130), n_tokens)
            else:
                found[name] = Outcome(note=NOT_INSTALLED)
        return found

    for module in ("training", "decoding", "scaling"):
        monkeypatch.setattr(f"dragoman.bench.{module}.hold", hold)
    return asked


def bench(capsys, *args):
    assert main(["bench", *args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_train_prints_one_object_with_every_case(capsys, held, files):
    found = bench(capsys, "train", *files, "--batch-tokens", "60", "--batches", "2")
    assert found["what"] == "train"
    assert found["text"] == "s.de"
    assert found["precision"] == "float32"
    assert found["repeats"] == 2
    assert [case["order"] for case in found["cases"]] == ["like lengths", "random order"]
    ours, theirs, *missing = found["cases"][0]["results"]
    assert ours["seconds"] == {"median": 1.5, "low": 1.0, "high": 2.0}
    assert theirs["ratio"] == {"median": 2.5, "low": 2.0, "high": 3.0}
    assert theirs["memory_mb"] == {"growth": 30.0, "peak": 130.0}
    assert {result["note"] for result in missing} == {NOT_INSTALLED}
    assert set(found["versions"]) == {result["peer"] for result in found["cases"][0]["results"]}


def test_decode_prints_one_object_with_every_case(capsys, held, files):
    found = bench(capsys, "decode", *files, "--sentences", "4", "--tokens", "5", "--threads", "1")
    assert found["what"] == "decode"
    assert found["threads"] == 1
    assert [(case["batch_size"], case["beam"]) for case in found["cases"]] == [
        (32, 1),
        (32, 5),
        (1, 1),
    ]
    assert found["cases"][0]["results"][1]["ratio"]["median"] == 2.5
    assert all(options["threads"] == 1 for _, options in held)


@pytest.mark.parametrize("options", [["--json"], []], ids=["json", "tables"])
def test_what_was_measured_before_ctrl_c_is_told(capsys, held, files, monkeypatch, options):
    from dragoman.bench import decoding

    measure, n_measured = decoding.hold, iter(range(9))

    def hold(entries, **options):
        if next(n_measured) == 1:
            raise KeyboardInterrupt
        return measure(entries, **options)

    monkeypatch.setattr(decoding, "hold", hold)
    assert main(["bench", "decode", *files, "--sentences", "4", *options]) == 130
    out = capsys.readouterr().out
    if options:
        assert [case["case"] for case in json.loads(out)["cases"]] == ["batch 32, greedy"]
    else:
        assert "tiny, batch 32, greedy: 4 sentences" in out


def test_scaling_prints_curves_and_draws_them(capsys, held, tmp_path):
    picture = tmp_path / "scaling.png"
    options = ["--axis", "batch", "--axis", "layers", "--points", "3", "-o", str(picture)]
    found = bench(capsys, "scaling", *options)
    assert [(curve["kind"], curve["axis"]) for curve in found["curves"]] == [
        ("train", "batch"),
        ("train", "layers"),
        ("decode", "batch"),
        ("decode", "layers"),
    ]
    assert found["curves"][0]["values"] == [1, 2, 4]
    assert found["curves"][0]["time_growth"]["all"]["exponent"] == 0.0
    assert picture.stat().st_size > 10_000


def test_tables_name_who_is_missing(capsys, held, files):
    assert main(["bench", "train", *files, "--batch-tokens", "60", "--batches", "2"]) == 0
    out = capsys.readouterr().out
    assert "2.50× (2.00–3.00)" in out
    assert "– Eole: not installed" in out


def test_scaling_without_json_is_a_table_of_exponents(capsys, held):
    assert main(["bench", "scaling", "--axis", "length", "--kind", "decode", "--points", "2"]) == 0
    out = capsys.readouterr().out
    assert "decode, length" in out
    assert "8–16" in out


def test_only_the_peers_that_were_named_take_part(capsys, held, files):
    options = ["--peer", "torch.nn.Transformer", "--peer", "dragoman"]
    found = bench(capsys, "decode", *files, "--sentences", "2", *options)
    assert list(found["versions"]) == ["dragoman", "torch.nn.Transformer"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["train", "--presets", "tinny"], "tiny"),
        (["train", "--peer", "Moses"], "no peer is called Moses"),
        (["decode", "--real", "no/run"], "--real needs lines to translate"),
        (["scaling", "--axis", "width"], "no axis is called width"),
        (["scaling", "-o", "growth.txt"], "growth.txt: a picture ends with"),
        (["train", "--src", "only.de"], "one side is missing"),
    ],
)
def test_what_cannot_be_measured_is_refused(capsys, held, args, message):
    assert main(["bench", *args]) == 2
    assert message in capsys.readouterr().err
    assert not held


@pytest.mark.slow
def test_a_real_measurement_with_real_processes(capsys, files):
    peers = ["--peer", "dragoman", "--peer", "torch.nn.Transformer"]
    found = bench(capsys, "decode", *files, "--sentences", "3", "--threads", "1", *peers)
    for case in found["cases"]:
        ours, theirs = case["results"]
        assert ours["tokens_per_second"] > 0
        assert theirs["ratio"]["low"] <= theirs["ratio"]["median"] <= theirs["ratio"]["high"]
        assert 0 < ours["memory_mb"]["growth"] < ours["memory_mb"]["peak"]
