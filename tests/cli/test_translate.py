"""``dragoman translate``: line in, line out, from files and pipes, in shards, and continued."""

import gzip
import io
import json
import os
import sys

import pytest
import torch

import dragoman
from dragoman.bundle import write_bundle
from dragoman.cli import translate_input
from dragoman.cli.main import main
from dragoman.cli.translate_input import in_chunks, stdin_chunks
from dragoman.cli.translate_progress import Meter
from dragoman.cli.translate_resume import Partial
from dragoman.config import Config, DataConfig, DecodeConfig, ModelConfig
from dragoman.errors import DataError
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer

LINES = ["1 2 3", "", "2 2", "4 1 3 2 1", "   ", "3", "2 4 4 4", "1", "4 4 1"]


def make_bundle(folder, seed):
    data = DataConfig(tokenizer="symbols", max_length=12)
    tokenizer = Tokenizer.train([("1 2 3 4", "4 3 2 1")], data, seed=1)
    shape = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=8, vocab_size=8, tie="none")
    torch.manual_seed(seed)
    model = Transformer(shape)
    weights = {name: w.numpy() * 2 for name, w in model.state_dict().items()}
    config = Config(model=shape, data=data, decode=DecodeConfig(max_extra=4))
    write_bundle(folder, config=config, weights=weights, save_tokenizer=tokenizer.save, record={})
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_bundle(tmp_path_factory.mktemp("runs") / "one", seed=1)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("".join(line + "\n" for line in LINES), encoding="utf-8")
    return path


@pytest.fixture
def expected(run):
    return [t.text for t in dragoman.load(run).translate(LINES)]


@pytest.fixture
def stdin(monkeypatch):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))

    return give


def lines_of(capsys):
    out, err = capsys.readouterr()
    assert out.endswith("\n")
    return out[:-1].split("\n"), err


def test_a_file_is_translated_line_by_line(run, source, expected, capsys):
    assert main(["translate", str(run), str(source)]) == 0
    lines, _ = lines_of(capsys)
    assert lines == expected
    assert lines[1] == lines[4] == ""  # empty stays empty
    assert len(set(lines)) > 3  # control


def test_stdin_is_translated_line_by_line(run, expected, stdin, capsys):
    stdin("\n".join(LINES).encode())  # without a line end at the end
    assert main(["translate", str(run)]) == 0
    assert lines_of(capsys)[0] == expected


def test_a_compressed_file_is_read(run, source, expected, tmp_path, capsys):
    path = tmp_path / "in.txt.gz"
    path.write_bytes(gzip.compress(source.read_bytes()))
    assert main(["translate", str(run), str(path)]) == 0
    assert lines_of(capsys)[0] == expected


def test_an_output_file_appears_whole_and_leaves_no_litter(run, source, expected, tmp_path, capsys):
    out = tmp_path / "out.txt"
    assert main(["translate", str(run), str(source), "-o", str(out)]) == 0
    assert out.read_text().split("\n")[:-1] == expected
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.txt", "out.txt"]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("n", [1, 2, 4, 20])
def test_shards_join_to_the_whole(run, source, expected, capsys, n):
    found = ""
    for i in range(1, n + 1):
        assert main(["translate", str(run), str(source), "--shard", f"{i}/{n}"]) == 0
        found += capsys.readouterr().out
    assert found.split("\n")[:-1] == expected


def test_shards_of_samples_join_to_the_whole(run, source, capsys):
    options = ["--sample", "--seed", "5", "--n-best", "2"]
    assert main(["translate", str(run), str(source), *options]) == 0
    whole = capsys.readouterr().out
    found = ""
    for i in (1, 2, 3):
        assert main(["translate", str(run), str(source), "--shard", f"{i}/3", *options]) == 0
        found += capsys.readouterr().out
    assert found == whole


@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "a/b", "-1/2", "1/0"])
def test_a_wrong_shard_is_refused(run, source, capsys, shard):
    assert main(["translate", str(run), str(source), f"--shard={shard}"]) == 2
    assert "must be I/N" in capsys.readouterr().err


def test_shards_of_stdin_are_refused(run, capsys):
    assert main(["translate", str(run), "--shard", "1/2"]) == 2
    assert "--shard needs a file" in capsys.readouterr().err


def test_n_best_is_one_line_for_each_with_number_and_score(run, source, capsys):
    assert main(["translate", str(run), str(source), "--n-best", "3"]) == 0
    rows = [line.split("\t") for line in lines_of(capsys)[0]]
    assert [int(row[0]) for row in rows] == [
        *[1] * 3, 2, *[3] * 3, *[4] * 3, 5, *[6] * 3, *[7] * 3, *[8] * 3, *[9] * 3
    ]  # fmt: skip
    first = [float(row[1]) for row in rows[:3]]
    assert first == sorted(first, reverse=True)
    assert all(len(row) == 3 for row in rows)


def test_scores_and_alignments_are_columns(run, source, expected, capsys):
    assert main(["translate", str(run), str(source), "--scores", "--alignments"]) == 0
    rows = [line.split("\t") for line in lines_of(capsys)[0]]
    assert [row[1] for row in rows] == expected
    for text, (score, translation, links) in zip(LINES, rows, strict=True):
        assert float(score) <= 0
        pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert [tgt for _, tgt in pairs] == list(range(len(translation.split())))
        assert all(src < len(text.split()) for src, _ in pairs)


def test_json_is_one_object_and_nothing_else(run, source, expected, capsys):
    assert main(["translate", str(run), str(source), "--json", "--n-best", "2"]) == 0
    found = json.loads(capsys.readouterr().out)["translations"]
    assert [t["text"] for t in found] == expected
    assert len(found[0]["alternatives"]) == 1
    assert set(found[0]) >= {"text", "score", "log_prob", "tokens", "alignment", "notes"}


def test_a_prefix_begins_every_translation(run, source, capsys):
    assert main(["translate", str(run), str(source), "--prefix", "4 4 4"]) == 0
    lines, _ = lines_of(capsys)
    assert all(
        line.startswith("4 4 4") for line, text in zip(lines, LINES, strict=True) if text.strip()
    )


def test_sampling_repeats_by_its_seed(run, source, capsys):
    outputs = []
    for seed in ("1", "1", "2"):
        assert main(["translate", str(run), str(source), "--sample", "--seed", seed]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]


def test_an_ensemble_votes(run, source, expected, tmp_path, capsys):
    assert main(["translate", str(run), str(source), "--ensemble", str(run)]) == 0
    assert lines_of(capsys)[0] == expected
    other = make_bundle(tmp_path / "two", seed=2)
    assert main(["translate", str(run), str(source), "--ensemble", str(other)]) == 0
    assert lines_of(capsys)[0] != expected  # control


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--top-k", "3"], "--top-k: only with --sample"),
        (["--sample", "--temperature", "0"], "sampling.temperature = 0"),
        (["--beam", "2", "--n-best", "3"], "at most the beam"),
        (["--json", "-o", "x"], "--json prints on stdout"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run, source, capsys, options, message):
    assert main(["translate", str(run), str(source), *options]) == 2
    out, err = capsys.readouterr()
    assert (out, message in err) == ("", True)


def test_what_wants_a_second_look_is_named_on_stderr(run, tmp_path, capsys):
    path = tmp_path / "long.txt"
    path.write_text("1 2\n" + "1 2 3 4 " * 5 + "\n")
    assert main(["translate", str(run), str(path)]) == 0
    assert (
        "1 line longer than the model can take and translated in parts: 2"
        in capsys.readouterr().err
    )


def test_a_bad_byte_in_a_file_is_told_before_any_work(run, tmp_path, capsys):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"1 2\n3 \xff\n")
    assert main(["translate", str(run), str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "bad.txt:2" in err


def test_a_bad_byte_on_stdin_is_told_with_its_line_after_the_good_ones(
    run, stdin, expected, capsys
):
    stdin(b"1 2 3\n\n3 \xff\n4\n")
    assert main(["translate", str(run)]) == 2
    out, err = capsys.readouterr()
    assert out.split("\n")[:-1] == expected[:2]
    assert "stdin:3: byte 3 of the line is 0xff" in err


# --- stopped and continued -----------------------------------------------------------------------


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(translate_input.in_chunks, "__defaults__", (2,))


def stop_after(monkeypatch, n_chunks):
    """Let the command die when so many chunks are written."""
    append, written = Partial.append, []

    def dying(self, text, n_lines):
        if len(written) == n_chunks:
            with self.path.open("a") as file:
                file.write("half a li")  # the chunk that was being written
            raise OSError(28, "No space left on device")
        written.append(n_lines)
        append(self, text, n_lines)

    monkeypatch.setattr(Partial, "append", dying)


@pytest.mark.parametrize("options", [[], ["--n-best", "2"], ["--sample", "--shard", "1/1"]])
def test_a_stopped_translation_goes_on_where_it_was(
    run, source, tmp_path, small_chunks, capsys, options
):
    out, whole = tmp_path / "out.txt", tmp_path / "whole.txt"
    assert main(["translate", str(run), str(source), "-o", str(whole), *options]) == 0
    with pytest.MonkeyPatch.context() as patch:
        stop_after(patch, 2)
        assert main(["translate", str(run), str(source), "-o", str(out), *options]) == 1
    assert not out.exists()
    assert "4 lines are kept" in capsys.readouterr().err
    assert main(["translate", str(run), str(source), "-o", str(out), *options]) == 0
    assert "going on after line 4" in capsys.readouterr().err
    assert out.read_text() == whole.read_text()
    assert not list(tmp_path.glob("*.part*"))


@pytest.mark.parametrize("change", ["input", "model", "setting"])
def test_what_has_changed_is_not_mixed_with_what_was_there(
    run, source, tmp_path, small_chunks, capsys, change
):
    out, model = tmp_path / "out.txt", str(run)
    with pytest.MonkeyPatch.context() as patch:
        stop_after(patch, 2)
        assert main(["translate", model, str(source), "-o", str(out)]) == 1
    options = []
    if change == "input":
        source.write_text(source.read_text() + "1 1\n")
    elif change == "model":
        model = str(make_bundle(tmp_path / "other", seed=2))
    else:
        options = ["--beam", "2"]
    capsys.readouterr()
    assert main(["translate", model, str(source), "-o", str(out), *options]) == 0
    assert "going on" not in capsys.readouterr().err
    assert main(["translate", model, str(source), *options]) == 0
    assert out.read_text() == capsys.readouterr().out


def test_an_output_in_a_folder_that_is_not_there_is_told_first(run, source, tmp_path, capsys):
    assert main(["translate", str(run), str(source), "-o", str(tmp_path / "no" / "out")]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert main(["translate", str(run), str(source), "-o", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err


# --- reading and telling -------------------------------------------------------------------------


def test_lines_before_an_error_are_given_before_it():
    def lines():
        yield "a"
        raise DataError("x:2")

    chunks = in_chunks(lines(), size=5)
    assert next(chunks) == ["a"]
    with pytest.raises(DataError):
        next(chunks)


def test_a_line_is_given_as_soon_as_it_has_come():
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as stream:
        chunks = stdin_chunks(stream)
        os.write(writer, "ein Hü".encode() + b"")
        os.write(writer, b"nd\n")
        assert next(chunks) == ["ein Hünd"]  # and nobody waits for more
        os.write(writer, b"\xe2\x80\xa8\r\nzwei\n\nd")
        assert next(chunks) == ["\u2028", "zwei", ""]
        os.close(writer)
        assert list(chunks) == [["d"]]


def test_a_mark_at_the_start_of_stdin_is_no_text():
    assert list(stdin_chunks(io.BytesIO(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n"))) == [["a", "\ufeffb"]]


def test_progress_is_told_now_and_then_where_nobody_watches(capsys, monkeypatch):
    from dragoman.cli import translate_progress

    monkeypatch.setattr(translate_progress, "PLAIN_EVERY", 0.0)
    meter = Meter(total=10, n_done=4)
    meter.within_chunk(1, 2)
    meter.chunk_done(2)
    meter.close()
    err = capsys.readouterr().err.splitlines()
    assert [line.split("|")[0].strip() for line in err] == [
        "line  5/10  50.0%",
        "line  6/10  60.0%",
    ]


def test_nothing_is_told_of_an_input_without_end(capsys):
    meter = Meter(total=None)
    meter.chunk_done(2)
    assert capsys.readouterr().err == ""
