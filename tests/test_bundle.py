"""A bundle is read as it was written, is never half there, and says what is wrong with it."""

import errno
import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from dragoman.bundle import Bundle, is_bundle, read_bundle, read_config, write_bundle
from dragoman.config import Config, DecodeConfig, ModelConfig
from dragoman.errors import BundleError

CONFIG = Config(model=ModelConfig(d_model=4, n_heads=2, d_ff=6, n_layers=1, vocab_size=7))
SHAPES = {"embedding.weight": (7, 4), "encoder.layers.0.self_attention_norm.bias": (4,)}


def weights(seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}


def save_tokenizer(folder: Path, pieces: str = "a b c") -> None:
    (folder / "pieces.txt").write_text(pieces, encoding="utf-8")


def write(folder: Path, **changes: object) -> None:
    parts = {
        "config": CONFIG,
        "weights": weights(),
        "save_tokenizer": save_tokenizer,
        "record": {"seed": 1, "note": "Grüße"},
    }
    write_bundle(folder, **(parts | changes))  # type: ignore[arg-type]


def same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[k], right[k]) for k in left)


def complaint(folder: Path) -> str:
    with pytest.raises(BundleError) as caught:
        read_bundle(folder)
    return str(caught.value)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A whole bundle that is also a run."""
    folder = tmp_path / "runs" / "ende"
    write(folder)
    (folder / "checkpoints").mkdir()
    (folder / "metrics.jsonl").write_text('{"step": 1}\n', encoding="utf-8")
    return folder


def test_what_is_written_is_what_is_read(run):
    bundle = read_bundle(run)
    assert isinstance(bundle, Bundle)
    assert bundle.config == CONFIG == read_config(run)
    assert same(bundle.weights, weights())
    assert bundle.record == {"seed": 1, "note": "Grüße"}
    assert bundle.path == run
    assert (bundle.tokenizer_dir / "pieces.txt").read_text(encoding="utf-8") == "a b c"


def test_a_bundle_can_be_moved_by_copying_it(run, tmp_path):
    os.rename(run, tmp_path / "elsewhere")
    assert same(read_bundle(tmp_path / "elsewhere").weights, weights())


def test_a_bundle_has_the_four_promised_parts_and_nothing_else(tmp_path):
    write(tmp_path / "b")
    assert sorted(os.listdir(tmp_path / "b")) == [
        "config.toml",
        "model.safetensors",
        "record.json",
        "tokenizer",
    ]
    assert os.listdir(tmp_path) == ["b"]


def test_weights_are_stored_in_float32_whatever_their_layout(tmp_path):
    crooked = np.arange(12, dtype=np.float64).reshape(3, 4).T[::-1]
    write(tmp_path / "b", weights={"w": crooked})
    found = read_bundle(tmp_path / "b").weights["w"]
    assert found.dtype == np.float32
    assert np.array_equal(found, crooked)


def test_a_weight_of_integers_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(BundleError, match="the weight w is int64"):
        write(tmp_path / "b", weights={"w": np.arange(3)})
    assert os.listdir(tmp_path) == []


def test_writing_into_a_run_replaces_the_model_and_keeps_the_rest(run):
    write(run, weights=weights(2), record={"seed": 2})
    bundle = read_bundle(run)
    assert same(bundle.weights, weights(2))
    assert not same(bundle.weights, weights(1))  # control
    assert bundle.record == {"seed": 2}
    assert (run / "metrics.jsonl").exists()
    assert not [name for name in os.listdir(run) if name.startswith(".")]


def test_another_model_with_another_tokenizer_takes_the_place_of_the_first(run):
    config = replace(CONFIG, model=replace(CONFIG.model, d_ff=8))
    write(run, config=config, save_tokenizer=lambda folder: save_tokenizer(folder, "x y"))
    bundle = read_bundle(run)
    assert bundle.config == config
    assert (bundle.tokenizer_dir / "pieces.txt").read_text(encoding="utf-8") == "x y"


@pytest.mark.parametrize("stage", ["tokenizer", "weights", "record"])
def test_a_write_that_fails_leaves_the_old_bundle(run, stage):
    def fail(folder: Path) -> None:
        raise OSError("disk full")

    bad = {
        "tokenizer": {"save_tokenizer": fail},
        "weights": {"weights": {"w": np.arange(3)}},
        "record": {"record": {"loss": float("nan")}},
    }
    with pytest.raises((OSError, BundleError, ValueError)):
        write(run, **bad[stage])
    assert same(read_bundle(run).weights, weights())
    assert not [name for name in os.listdir(run) if name.startswith(".")]


def test_a_disk_without_room_leaves_the_old_bundle_and_says_why(run):
    resource = pytest.importorskip("resource", reason="needs limits on file sizes")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError) as caught:
            write(run, weights={"w": np.ones((300, 300))})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.errno == errno.EFBIG
    assert same(read_bundle(run).weights, weights())
    assert not [name for name in os.listdir(run) if name.startswith(".")]


def test_a_reader_between_two_renames_gets_the_old_model_the_new_one_or_an_error(run, monkeypatch):
    new_config = replace(CONFIG, model=replace(CONFIG.model, d_ff=8))
    pairs = [(CONFIG, "a b c", weights(1)), (new_config, "x y", weights(2))]
    seen: list[str] = []

    def look() -> None:
        try:
            bundle = read_bundle(run)
        except BundleError:
            seen.append("error")
            return
        pieces = (bundle.tokenizer_dir / "pieces.txt").read_text(encoding="utf-8")
        matching = [
            c == bundle.config and p == pieces and same(w, bundle.weights) for c, p, w in pairs
        ]
        seen.append(["old", "new"][matching.index(True)])

    for name in ("rename", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda a, b, real=real: (look(), real(a, b), look()))
    write(
        run,
        config=new_config,
        weights=weights(2),
        save_tokenizer=lambda folder: save_tokenizer(folder, "x y"),
    )
    assert seen[0] == "old"
    assert seen[-1] == "new"
    assert "error" in seen  # control: there was something to protect from


def test_while_a_run_trains_a_reader_never_meets_an_error(run, monkeypatch):
    seen: list[bool] = []

    def look() -> None:
        found = read_bundle(run).weights
        seen.append(same(found, weights(1)) or same(found, weights(2)))

    for name in ("rename", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda a, b, real=real: (look(), real(a, b), look()))
    write(run, weights=weights(2))
    assert all(seen)
    assert len(seen) >= 6  # control: three renames at least were looked at


def test_decoding_and_dropout_may_be_changed_by_hand_but_not_the_shape(run):
    config = replace(CONFIG, decode=DecodeConfig(beam=9), model=replace(CONFIG.model, dropout=0.5))
    text = (run / "config.toml").read_text(encoding="utf-8")
    changed = text.replace("beam = 4", "beam = 9").replace("\ndropout = 0.1", "\ndropout = 0.5")
    (run / "config.toml").write_text(changed, encoding="utf-8")
    assert read_bundle(run).config == config
    (run / "config.toml").write_text(text.replace("d_ff = 6", "d_ff = 8"), encoding="utf-8")
    assert "was made with another [model] table than" in complaint(run)


def test_a_changed_tokenizer_is_noticed(run):
    save_tokenizer(run / "tokenizer", "a b d")
    assert "was made with another tokenizer than" in complaint(run)


def test_weights_without_notes_are_taken_as_they_are(run):
    save_file(weights(3), run / "model.safetensors")
    assert same(read_bundle(run).weights, weights(3))


def test_a_folder_that_is_not_there_is_named(tmp_path):
    assert complaint(tmp_path / "no") == f"no such bundle or run: {tmp_path / 'no'}"


def test_a_file_in_place_of_a_folder_is_named(run):
    assert "is a file; give the folder that holds" in complaint(run / "model.safetensors")
    with pytest.raises(BundleError, match="is a file; a bundle is a folder"):
        write(run / "record.json")


@pytest.mark.parametrize("part", ["config.toml", "model.safetensors", "record.json"])
def test_a_missing_part_is_told_beside_what_is_there(run, part):
    (run / part).unlink()
    found = complaint(run)
    assert f"is not a whole bundle: {part} missing" in found
    assert "checkpoints/" in found
    assert "dragoman train --resume" in found


def test_a_damaged_weights_file_is_named(run):
    path = run / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    assert f"{path} is damaged" in complaint(run)


@pytest.mark.parametrize("text", ["{", "[1]", "\ufeff"])
def test_a_damaged_record_is_named(run, text):
    (run / "record.json").write_text(text, encoding="utf-8")
    assert f"{run / 'record.json'} is damaged" in complaint(run)


def test_a_config_from_a_newer_version_is_named_with_its_line(run):
    path = run / "config.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text("[model]\nfuture_key = 3" + text.partition("[model]")[2], encoding="utf-8")
    found = complaint(run)
    assert f"{path}:2: model.future_key: no such key" in found
    assert "newer version" in found


def test_a_pickle_in_place_of_the_weights_is_never_executed(run, tmp_path):
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "exploded"),)

    (run / "model.safetensors").write_bytes(pickle.dumps(Bomb()))
    complaint(run)
    assert not (tmp_path / "exploded").exists()


def test_a_bundle_is_known_by_its_config(run, tmp_path):
    assert is_bundle(run)
    assert not is_bundle(tmp_path)


def test_a_bundle_is_read_without_torch(run):
    code = (
        "import sys; from pathlib import Path; from dragoman.bundle import read_bundle;"
        f"read_bundle(Path({str(run)!r})); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_record_is_plain_json(run):
    assert json.loads((run / "record.json").read_text(encoding="utf-8"))["note"] == "Grüße"


def test_all_parts_may_be_read_by_the_same_people(run):
    modes = {(run / part).stat().st_mode for part in ("config.toml", "model.safetensors")}
    assert len(modes) == 1
    assert (run / "record.json").stat().st_mode in modes
