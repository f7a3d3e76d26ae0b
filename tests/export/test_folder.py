"""Where an export may go."""

import numpy as np
import pytest

from dragoman.bundle import read_bundle
from dragoman.errors import BundleError, ConfigError
from dragoman.export.folder import check_place
from dragoman.export.safetensors import export_safetensors


def test_a_folder_of_others_is_replaced_by_force_alone(tmp_path):
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(BundleError, match="--force"):
        check_place(tmp_path)
    check_place(tmp_path, force=True)


def test_an_earlier_export_and_an_empty_folder_are_replaced(tmp_path):
    check_place(tmp_path / "new")
    check_place(tmp_path)
    (tmp_path / "export.json").write_text("{}")
    (tmp_path / "model.bin").write_text("")
    check_place(tmp_path)


def test_a_run_is_not_replaced_even_by_force(make_bundle):
    with pytest.raises(BundleError, match="model of ours"):
        check_place(make_bundle().path, force=True)


def test_a_file_is_no_place(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BundleError, match="is a file"):
        check_place(tmp_path / "file", force=True)


def test_a_bundle_is_taken_out_of_a_run_bit_for_bit(make_bundle, tmp_path):
    bundle = make_bundle(record={"seed": 5})
    (bundle.path / "checkpoints").mkdir()
    done = export_safetensors(bundle.path, tmp_path / "out")
    found = read_bundle(tmp_path / "out")
    assert found.weights.keys() == bundle.weights.keys()
    assert all(np.array_equal(found.weights[name], bundle.weights[name]) for name in found.weights)
    assert (found.config, found.record) == (bundle.config, bundle.record)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "config.toml",
        "model.safetensors",
        "record.json",
        "tokenizer",
    ]
    assert done.comparison is None
    with pytest.raises(BundleError, match="exists"):
        export_safetensors(bundle.path, tmp_path / "out", force=True)
    with pytest.raises(ConfigError, match="float32 alone"):
        export_safetensors(bundle.path, tmp_path / "other", quantization="int8")
