"""Pages: what is a sentence, and where the tags go."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.decoding.translation import Translation
from dragoman.server.html_scan import scan
from dragoman.server.html_text import read_page, sentences, write_page


def same(text):
    """A translation that changes nothing."""
    words = text.split()
    links = tuple((i, i) for i in range(len(words)))
    return Translation(" ".join(words), 0.0, 0.0, alignment=links)


def backwards(text):
    """A translation that turns the order of words around."""
    words = text.split()
    links = tuple((len(words) - 1 - i, i) for i in range(len(words)))
    return Translation(" ".join(reversed(words)), 0.0, 0.0, alignment=links)


def unaligned(text):
    return Translation(text.upper(), 0.0, 0.0)


def translated(html, how):
    page = read_page(html)
    return write_page(page, [how(text) for text in sentences(page)])


@pytest.mark.parametrize(
    "html",
    [
        "<p>A <b>dog</b> runs.</p>",
        "<P CLASS='x'>A <a href='?a&amp;b'>big <i>brown</i> dog</a>, runs &amp; sleeps<br>now</P>",
        "<b>all of it</b>.",
        "x <img src=a> y <!-- a comment --> z",
        "un <b>closed",
        "<ul><li>one</li> <li> two </li></ul>\n",
        "He said “<em>hello</em>”, twice",
        "<script>if (a<b) x('<b>')</script>hi <code>ls -l</code> there",
        "see <code>x</code>.",
        "<!DOCTYPE html><html><head><title>A dog</title><style>b > i {}</style></head></html>",
        "<p></p>", "", "   ", "<br/>", "<p>…</p>", "<a href='>'>dog</a>",
        "one <em><strong>two</strong> three</em> four",
    ],
)  # fmt: skip
def test_a_translation_that_changes_nothing_changes_no_page(html):
    assert translated(html, same) == html


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("A <b>dog</b> runs", "runs <b>dog</b> A"),
        ("A <i>big <b>brown</b></i> dog", "dog <i><b>brown</b> big</i> A"),
        ("<b>A dog runs</b>", "<b>runs dog A</b>"),
        ("“<em>hello</em>”, twice", "twice “<em>hello</em>”,"),
        ("A <img> dog", "<img> dog A"),
        ("<a>one</a> <b>two</b>", "<b>two</b> <a>one</a>"),
        ("<p>one two</p><p>three four</p>", "<p>two one</p><p>four three</p>"),
        # What is not translated stays before the word that followed it.
        ('keep <i translate="no">the name</i> here', '<i translate="no">the name</i> here keep'),
    ],
)  # fmt: skip
def test_tags_go_where_their_words_go(html, expected):
    assert translated(html, backwards) == expected


def test_a_tag_takes_the_run_with_most_of_its_words_and_no_far_one():
    page = read_page("der <b>alte Mann</b> geht")
    links = ((0, 0), (1, 1), (2, 2), (3, 3), (2, 4))
    made = Translation("the old man goes on", 0.0, 0.0, alignment=links)
    assert write_page(page, [made]) == "the <b>old man</b> goes on"


def test_words_that_left_no_trace_leave_their_tags():
    page = read_page("der <b>doch</b> geht")
    made = Translation("he goes", 0.0, 0.0, alignment=((0, 0), (2, 1)))
    assert write_page(page, [made]) == "he <b></b>goes"


def test_without_an_alignment_words_are_taken_in_order():
    assert translated("one <b>two</b> three", unaligned) == "ONE <b>TWO</b> THREE"


def test_text_is_escaped_again():
    assert translated("<p>a &lt;b&gt; &amp; c</p>", same) == "<p>a &lt;b&gt; &amp; c</p>"
    page = read_page("<p>hello</p>")
    evil = Translation("<script>alert(1)</script>", 0.0, 0.0)
    assert write_page(page, [evil]) == "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"


MARKUP = st.lists(
    st.sampled_from(["<b>", "</b>", "<i>", "</i>", "<p>", "</p>", "<br>", "<!-- x -->", "dog", " ",
                     "cat.", "<a href='x'>", "</a>", "“", "&amp;", "<", ">", "<code>x</code>"]),
    max_size=25,
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(MARKUP)
def test_every_tag_of_any_page_is_kept_once(parts):
    html = "".join(parts)
    tags = sorted(token.raw for token in scan(html) if token.kind != "text")
    for how in (same, backwards, unaligned):
        made = translated(html, how)
        assert sorted(token.raw for token in scan(made) if token.kind != "text") == tags


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="<>/!-?ab \"'=&;"))
def test_the_scanner_loses_nothing(html):
    assert "".join(token.raw for token in scan(html)) == html


@pytest.mark.parametrize(
    "html",
    ["<a " * 7000, "<!" * 9000, "<!--" * 5000, "<a b='" * 3000, "<b>x " * 4000,
     "<b>x </b>" * 2200, "<b>" * 3000 + "x" + "</b>" * 3000, "<b>" * 100 + "x " * 9000],
)  # fmt: skip
def test_pages_that_would_take_a_naive_parser_minutes_are_done_at_once(html):
    made = translated(html, same)
    assert made.count("<b>") == html.count("<b>")
