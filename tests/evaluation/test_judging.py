import gzip
import json

import pytest

from dragoman.corpus.plain_text import LineCountError
from dragoman.errors import DataError
from dragoman.evaluation.judging import Output, judge, read_aligned

REF = ["a dog runs in the park", "two cats sleep"]
KEYS = {"bleu", "chrf", "ter", "signature", "sentences", "seconds", "tokens_per_second"}


def test_the_promised_keys_are_there_and_are_json():
    found = judge([Output("mine", REF, seconds=2.0, n_pieces=50)], [REF]).to_dict()
    assert set(found) >= KEYS | {"exact_match", "token_accuracy", "system", "systems"}
    assert found["tokens_per_second"] == 25.0
    assert found["signature"] == found["signatures"]["bleu"]
    assert "significance" not in found
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_an_output_from_a_file_has_no_time():
    found = judge([Output("mine", REF)], [REF]).to_dict()
    assert (found["seconds"], found["tokens_per_second"], found["sentences"]) == (None, None, 2)


def test_the_first_system_is_on_top_and_the_others_are_compared_with_it():
    found = judge([Output("a", REF), Output("b", ["a cat", "two cats"])], [REF]).to_dict()
    assert found["system"] == "a"
    assert [system["system"] for system in found["systems"]] == ["a", "b"]
    assert found["bleu"] == found["systems"][0]["bleu"] > found["systems"][1]["bleu"]
    compared = found["significance"]["comparisons"]["bleu"]
    assert compared[0]["p_value"] is None
    assert 0 < compared[1]["p_value"] <= 1
    json.dumps(found, allow_nan=False)


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_files_are_read_in_step_compressed_or_not(tmp_path):
    ref = write(tmp_path / "a.en", "one", "", "three")
    hyp = tmp_path / "b.en.gz"
    hyp.write_bytes(gzip.compress(b"eins\nzwei\ndrei\n"))
    assert read_aligned([ref, hyp]) == [["one", "", "three"], ["eins", "zwei", "drei"]]
    assert read_aligned([ref, hyp], limit=2) == [["one", ""], ["eins", "zwei"]]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_line_without_partner_is_named_with_both_files(tmp_path, swapped):
    paths = [write(tmp_path / "t.de", "ein", "zwei"), write(tmp_path / "t.en", "one")]
    with pytest.raises(LineCountError, match=r"t\.en ends at line 1 but t\.de goes on to line 2"):
        read_aligned(paths[::-1] if swapped else paths)


def test_empty_files_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"t\.de is empty"):
        read_aligned([write(tmp_path / "t.de"), write(tmp_path / "t.en")])
