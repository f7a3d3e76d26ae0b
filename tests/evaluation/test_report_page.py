"""The error report as a browser reads it: well formed, escaped, without need of a network."""

import re
from html.parser import HTMLParser

import pytest

from dragoman.evaluation.judging import Output, error_report, judge
from dragoman.evaluation.report_page import escape

SRC = ["<script>alert('src')</script>", "ein Hund", "שלום עולם", "x\x1b[31m"]
REF = ["a </td></table><img src=x onerror=y>", 'a "dog" & cat', "hello world", "y"]
HYP = ["<script>alert(1)</script> a", "", "hello word", "a dog a dog \u202e y"]
VOID = {"meta", "img", "br", "link"}


class Reader(HTMLParser):
    """Follows the tags of a page and fails where one does not fit."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def report(*outputs, sources=SRC, references=(REF,)):
    return error_report(judge(list(outputs), references), references, sources=sources)


@pytest.fixture(scope="module")
def page() -> str:
    return report(Output("runs/<mine>", HYP))


def test_every_tag_is_closed_in_its_place(page):
    tags = {tag for tag, _ in read(page).tags}
    assert {"html", "main", "table", "caption", "del", "ins", "details"} <= tags


def test_text_of_the_corpus_is_shown_and_never_run(page):
    reader = read(page)
    assert not {"script", "img"} & {tag for tag, _ in reader.tags}
    shown = "".join(reader.text)
    for text in (SRC[0], "</td></table>", 'a "dog" & cat', "runs/<mine>", "x␛[31m"):
        assert text in shown


def test_nothing_is_fetched(page):
    reader = read(page)
    assert not {"link", "iframe", "audio", "video"} & {tag for tag, _ in reader.tags}
    links = [attrs["href"] for tag, attrs in reader.tags if tag == "a"]
    assert links == ["#system-1"]
    assert not re.search(r"url\(|@import|https?:", page)
    policy = [a.get("content") for t, a in reader.tags if t == "meta" and "http-equiv" in a]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_each_sentence_runs_in_its_own_direction(page):
    sentences = [attrs for tag, attrs in read(page).tags if tag == "div" and "dir" in attrs]
    assert len(sentences) >= 3 * 4
    assert all(attrs["dir"] == "auto" for attrs in sentences)


def test_light_and_dark_follow_the_reader(page):
    assert "prefers-color-scheme: dark" in page


def test_differences_are_marked(page):
    assert "<del>word</del>" in page
    assert "<ins>world</ins>" in page


def test_scores_and_signature_are_in_the_summary(page):
    scores = judge([Output("m", HYP)], [REF]).systems[0].scores
    shown = "".join(read(page).text)
    assert f"{scores.bleu:.2f}" in shown
    assert f"{scores.ter:.2f}" in shown
    for signature in scores.signatures.values():
        assert signature in shown


def test_several_systems_have_a_section_each_and_p_values():
    page = report(Output("first", HYP), Output("second", REF))
    ids = [attrs["id"] for tag, attrs in read(page).tags if "id" in attrs]
    assert ids == ["system-1", "system-2"]
    assert "p = " in page
    assert "bs:1000" in page
    assert "Every output equals its reference." in page


def test_without_sources_there_is_no_column_for_them():
    page = report(Output("mine", HYP), sources=None)
    assert "Source" not in "".join(read(page).text)
    assert "by the number of words in the reference" in page


def test_every_control_character_becomes_visible():
    controls = "".join(map(chr, [*range(9), *range(11, 32), *range(127, 160)]))
    shown = escape(controls)
    assert len(shown) == len(controls)
    assert shown.isprintable()
    assert escape("a\tb\nc") == "a\tb\nc"
