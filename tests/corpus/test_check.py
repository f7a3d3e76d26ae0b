"""The report on a corpus: each kind of trouble, with its places."""

import gzip
import json
from pathlib import Path

import pytest

from dragoman.corpus import check as check_module
from dragoman.corpus.check import CheckSettings, check_corpus
from dragoman.corpus.reading import CorpusSource
from dragoman.corpus.report import KINDS, Report

MULTI30K = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "multi30k"


def corpus(folder: Path, *texts: tuple[str, str], name: str = "t") -> CorpusSource:
    sides = []
    for suffix, side in (("de", 0), ("en", 1)):
        path = folder / f"{name}.{suffix}"
        path.write_bytes("".join(text[side] + "\n" for text in texts).encode())
        sides.append(path)
    return CorpusSource((sides[0],), (sides[1],))


def found(report: Report) -> dict[str, int]:
    return {finding.kind: finding.count for finding in report.findings}


def multi30k(name: str) -> CorpusSource:
    if not MULTI30K.is_dir():
        pytest.skip("Multi30k is not at hand")
    return CorpusSource((MULTI30K / f"{name}.de.gz",), (MULTI30K / f"{name}.en.gz",))


def test_a_corpus_in_order_has_no_findings(tmp_path: Path) -> None:
    report = check_corpus(corpus(tmp_path, ("ein Hund", "a dog"), ("zwei", "two")))
    assert (report.pairs, report.findings, report.is_usable) == (2, (), True)
    assert list(report.lines()) == ["2 pairs read", "nothing to complain about"]


@pytest.mark.parametrize(
    ("src", "tgt", "kind"),
    [
        ("", "a dog", "empty_side"),
        ("ein Hund", "\t ", "empty_side"),
        ("", "", "both_empty"),
        ("OK", "OK", "copied"),
        ("ein\x07Hund", "a dog", "control_characters"),
        ("ein Hund", "a d\ufffdg", "replacement_character"),
        ("H" * 1001, "d" * 900, "too_long"),
        ("Hund", "d" * 91, "length_ratio"),
        ("eins", "one", "duplicate"),
    ],
)
def test_each_kind_is_found_at_its_place(tmp_path: Path, src: str, tgt: str, kind: str) -> None:
    source = corpus(tmp_path, ("eins", "one"), (src, tgt), ("drei", "three"))
    report = check_corpus(source)
    assert found(report) == {kind: 1}
    assert report.findings[0].examples[0].place == f"{source.src[0]}:2"
    assert report.is_usable


def test_only_the_first_places_are_named_and_all_are_counted(tmp_path: Path) -> None:
    source = corpus(tmp_path, *[(f"OK {i}", f"OK {i}") for i in range(9)])
    report = check_corpus(source, settings=CheckSettings(n_examples=2))
    assert (found(report), len(report.findings[0].examples)) == ({"copied": 9}, 2)
    assert list(report.lines())[-1] == "  … and 7 more"


def test_overlap_is_told_apart_for_pairs_and_sources(tmp_path: Path) -> None:
    train = corpus(tmp_path, ("a", "A"), ("b", "B"), ("c", "C"))
    valid = corpus(tmp_path, ("x", "X"), ("b", "B"), ("c", "other"), name="valid")
    test = corpus(tmp_path, ("a", "A"), ("y", "Y"), name="test")
    report = check_corpus(train, valid, tests=[test])
    assert found(report) == {"valid_overlap": 1, "test_overlap": 1, "valid_source_overlap": 1}
    assert report.findings[0].examples[0].place == f"{valid.src[0]}:2"


def test_different_line_counts_are_an_error_and_the_rest_is_reported(tmp_path: Path) -> None:
    source = corpus(tmp_path, ("", "one"), ("zwei", "two"))
    source.tgt[0].write_text("one\ntwo\nthree\n", encoding="utf-8")
    report = check_corpus(source)
    assert found(report) == {"line_counts": 1, "empty_side": 1}
    assert not report.is_usable
    assert report.findings[0].examples[0].place == f"{source.tgt[0]}:3"
    assert "t.de ends at line 2 but t.en goes on to line 3" in "\n".join(report.lines())


def test_bad_encoding_is_an_error_with_its_line(tmp_path: Path) -> None:
    source = corpus(tmp_path, ("eins", "one"), ("zwei", "two"))
    source.src[0].write_bytes(b"eins\nB\xe4r\n")
    report = check_corpus(source)
    assert (found(report), report.pairs) == ({"bad_encoding": 1}, 1)
    assert report.findings[0].examples[0].place == f"{source.src[0]}:2"


def test_a_truncated_gz_is_an_error_with_its_last_line(tmp_path: Path) -> None:
    source = corpus(tmp_path, *[(f"Satz {i}", f"sentence {i}") for i in range(3000)])
    path = tmp_path / "t.de.gz"
    data = gzip.compress(source.src[0].read_bytes())
    path.write_bytes(data[: len(data) // 2])
    report = check_corpus(CorpusSource((path,), source.tgt))
    assert "unreadable" in found(report)
    assert report.findings[0].examples[0].place.startswith(f"{path}:")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    report = check_corpus(CorpusSource((tmp_path / "no.de",), (tmp_path / "no.en",)))
    assert found(report) == {"unreadable": 1}
    assert "no such file" in "\n".join(report.lines())


def test_an_empty_corpus_is_an_error(tmp_path: Path) -> None:
    report = check_corpus(corpus(tmp_path))
    assert (found(report), report.is_usable) == ({"no_pairs": 1}, False)


def test_the_findings_do_not_depend_on_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [(f"s{i % 7}", f"t{i % 5}") for i in range(100)] + [("OK", "OK"), ("", "x")]
    source = corpus(tmp_path, *texts)
    whole = check_corpus(source, source)
    monkeypatch.setattr(check_module, "CHUNK", 3)
    assert check_corpus(source, source) == whole
    assert found(whole)["duplicate"] == 100 - 35


def test_the_report_is_json(tmp_path: Path) -> None:
    report = check_corpus(corpus(tmp_path, ("OK", "OK")))
    read = json.loads(json.dumps(report.to_dict()))
    assert read["ok"] is True
    assert read["findings"][0]["kind"] == "copied"
    assert read["findings"][0]["examples"][0]["text"] == '"OK" | "OK"'


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[int] = []
    check_corpus(corpus(tmp_path, ("a", "A"), ("b", "B")), on_progress=told.append)
    assert told == [2]


def test_real_text_is_free_of_errors_and_alarms() -> None:
    report = check_corpus(multi30k("train"), multi30k("val"), tests=[multi30k("test_2016_flickr")])
    assert report.pairs == 29_000
    assert report.is_usable
    assert report.count("misaligned") == 0
    assert report.count("duplicate") == 3


def test_a_line_lost_in_the_middle_is_found_though_the_counts_agree(tmp_path: Path) -> None:
    train = multi30k("train")
    lines = gzip.decompress(train.tgt[0].read_bytes()).split(b"\n")
    del lines[14_500]
    path = tmp_path / "train.en"
    path.write_bytes(b"\n".join(lines) + b"A dog.\n")
    report = check_corpus(CorpusSource(train.src, (path,)))
    (finding,) = (f for f in report.findings if f.kind == "misaligned")
    line = int(finding.examples[0].place.rpartition(":")[2])
    assert abs(line - 14_501) <= 100
    assert "1 line earlier; the target side seems to lack 1 here" in finding.examples[0].text


def test_every_kind_has_a_severity_and_a_meaning() -> None:
    assert all(severity in ("error", "warning", "note") for severity, _ in KINDS.values())
    assert all(meaning for _, meaning in KINDS.values())
