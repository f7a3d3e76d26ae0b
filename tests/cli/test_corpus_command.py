"""``dragoman corpus``: results on stdout, exit codes, and every bad input of the issue."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dragoman.cli.corpus import _key_value, app
from dragoman.errors import DataError

BOMB = '<!DOCTYPE x [\n<!ENTITY a "aa">\n<!ENTITY b "&a;&a;">]>\n<tmx><body/></tmx>'
TMX = (
    '<tmx><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>a</seg></tuv>'
    '<tuv xml:lang="de"><seg>b</seg></tuv></tu></body></tmx>'
)


def run(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, Path]:
    de, en = tmp_path / "t.de", tmp_path / "t.en"
    de.write_text("ein Hund\nzwei Katzen\nOK\n", encoding="utf-8")
    en.write_text("a dog\ntwo cats\nOK\n", encoding="utf-8")
    return de, en


def test_check_reports_on_stdout_and_exits_with_0_for_notes(corpus: tuple[Path, Path]) -> None:
    done = run("check", "--src", corpus[0], "--tgt", corpus[1])
    assert done.exit_code == 0
    assert done.stdout.startswith("3 pairs read\nnote: 1 copied")
    assert f"{corpus[0]}:3" in done.stdout
    assert done.stderr == ""


def test_check_json_is_one_object(corpus: tuple[Path, Path]) -> None:
    done = run("check", "--src", corpus[0], "--tgt", corpus[1], "--json")
    report = json.loads(done.stdout)
    assert (report["pairs"], report["ok"]) == (3, True)
    assert report["findings"][0]["kind"] == "copied"


def test_check_finds_overlap_with_validation_and_test(corpus: tuple[Path, Path]) -> None:
    de, en = corpus
    args = ["--valid-src", de, "--valid-tgt", en, "--test-src", de, "--test-tgt", en, "--json"]
    report = json.loads(run("check", "--src", de, "--tgt", en, *args).stdout)
    counts = {finding["kind"]: finding["count"] for finding in report["findings"]}
    assert counts["valid_overlap"] == counts["test_overlap"] == 3


def bad_inputs(folder: Path) -> dict[str, tuple[list[str], str]]:
    """Name -> (arguments, what the message must name)."""

    def write(name: str, data: bytes) -> str:
        (folder / name).write_bytes(data)
        return str(folder / name)

    text = b"".join(b"Satz %d\n" % i for i in range(2000))
    de = write("good.de", text)
    short = write("short.de", text.replace(b"Satz 1000\n", b""))
    latin = write("latin.de", text.replace(b"Satz 9\n", b"B\xe4r\n"))
    packed = gzip.compress(text)
    cut = write("cut.de.gz", packed[: len(packed) // 2])
    bomb = write("bomb.tmx", BOMB.encode())
    tmx = write("m.tmx", TMX.encode())
    po = write("bad.po", b'msgid "a"\nmsgstr "b\n')
    return {
        "line missing": (["--src", short, "--tgt", de], "good.de goes on to line 2,000"),
        "latin-1": (["--src", latin, "--tgt", de], f"{latin}:10: byte 2 of the line is 0xe4"),
        "truncated gz": (["--src", cut, "--tgt", de], f"{cut}:"),
        "no such language": (
            ["--corpus", tmx, "--src-lang", "en", "--tgt-lang", "fr"],
            f"{tmx}: no unit has both 'en' and 'fr'",
        ),
        "billion laughs": (["--corpus", bomb], f"{bomb}:2: declares the entity"),
        "PO syntax": (["--corpus", po], f"{po}:2: syntax error"),
    }


BAD = ["line missing", "latin-1", "truncated gz", "no such language", "billion laughs", "PO syntax"]


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gives_exit_code_2_and_one_message_with_its_place(
    tmp_path: Path, name: str
) -> None:
    args, message = bad_inputs(tmp_path)[name]
    done = run("check", *args)
    assert done.exit_code == 2
    assert message in done.stdout
    assert message in done.stderr
    assert done.stderr.startswith("data error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", BAD)
def test_bad_input_keeps_json_whole(tmp_path: Path, name: str) -> None:
    args, message = bad_inputs(tmp_path)[name]
    done = run("check", *args, "--json")
    assert done.exit_code == 2
    report = json.loads(done.stdout)
    assert report["ok"] is False
    assert message in report["findings"][0]["examples"][0]["text"]


@pytest.mark.parametrize("name", BAD)
def test_stats_of_bad_input_raise_the_error_itself(tmp_path: Path, name: str) -> None:
    args, message = bad_inputs(tmp_path)[name]
    done = run("stats", *args)
    assert isinstance(done.exception, DataError)
    assert message in str(done.exception)
    assert done.stdout == ""


def test_stats_count_on_stdout(corpus: tuple[Path, Path]) -> None:
    done = run("stats", "--src", corpus[0], "--tgt", corpus[1])
    assert done.exit_code == 0
    assert done.stdout.startswith("3 pairs, 0 of them exact duplicates\n")
    assert (
        json.loads(run("stats", "--src", corpus[0], "--tgt", corpus[1], "--json").stdout)["src"][
            "words"
        ]
        == 5
    )


@pytest.mark.parametrize("command", ["check", "stats"])
def test_without_a_corpus_the_options_are_named(command: str) -> None:
    done = run(command)
    assert isinstance(done.exception, DataError)
    assert "--src and --tgt, or --corpus" in str(done.exception)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("n=3", 3), ("p=0.5", 0.5), ("on=true", True), ("off=false", False), ("w=a=b", "a=b")],
)
def test_options_of_a_task_have_types(text: str, expected: object) -> None:
    assert _key_value(text)[1] == expected
    assert type(_key_value(text)[1]) is type(expected)


def test_an_option_without_a_value_is_refused() -> None:
    with pytest.raises(DataError, match="KEY=VALUE"):
        _key_value("max_length")


def test_make_writes_the_files_it_lists(tmp_path: Path) -> None:
    done = run("make", "copy", "--out", tmp_path, "--pairs", 5, "--valid", 2, "--test", 0, "--json")
    assert done.exit_code == 0, done.exception
    made = json.loads(done.stdout)
    assert sorted(made["files"].values()) == [2, 2, 5, 5]
    for name, n_lines in made["files"].items():
        assert len(Path(name).read_text(encoding="utf-8").splitlines()) == n_lines


def test_make_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    for folder, seed in (("a", 3), ("b", 3), ("c", 4)):
        run("make", "copy", "--out", tmp_path / folder, "--pairs", 20, "--seed", seed)
    texts = [
        sorted((path.name, path.read_bytes()) for path in (tmp_path / folder).iterdir())
        for folder in "abc"
    ]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("command", ["check", "stats", "make"])
def test_help_is_there_for_every_option(command: str) -> None:
    done = run(command, "--help")
    assert done.exit_code == 0
    assert "Examples:" in done.stdout
