"""LibreTranslate's routes: its fields, its answers, its errors."""

import pytest
from starlette.testclient import TestClient

from dragoman.server.limits import Limits

GERMAN = "Die Katze schläft nicht, und der Mann liest ein Buch."
ENGLISH = "The cat does not sleep, and the man reads a book."
DE_EN = {"source": "de", "target": "en"}


@pytest.mark.parametrize("form", ["json", "data", "multipart", "query"])
def test_a_text_comes_as_json_as_a_form_or_in_the_query(client, translator, form):
    fields = {"q": GERMAN, **DE_EN}
    if form == "multipart":
        sent = {"files": {name: (None, value) for name, value in fields.items()}}
    else:
        sent = {"params" if form == "query" else form: fields}
    found = client.post("/translate", **sent)
    assert found.status_code == 200
    assert found.json() == {"translatedText": translator.translate([GERMAN])[0].text}


def test_a_list_gives_a_list(client, translator):
    found = client.post("/translate", json={"q": [GERMAN, "Ein Hund."], **DE_EN}).json()
    assert found == {
        "translatedText": [t.text for t in translator.translate([GERMAN, "Ein Hund."])]
    }


def test_the_source_is_found_out(client, translator, other):
    found = client.post("/translate", json={"q": GERMAN, "source": "auto", "target": "en"}).json()
    assert found["translatedText"] == translator.translate([GERMAN])[0].text
    assert found["detectedLanguage"]["language"] == "de"
    assert 50 < found["detectedLanguage"]["confidence"] <= 100
    back = client.post("/translate", json={"q": ENGLISH, "source": "auto", "target": "de"}).json()
    assert back["translatedText"] == other.translate([ENGLISH])[0].text


def test_a_text_that_is_in_the_wanted_language_already_stays(client, translator):
    body = {"q": [GERMAN, ENGLISH], "source": "auto", "target": "en"}
    found = client.post("/translate", json=body).json()
    assert found["translatedText"] == [translator.translate([GERMAN])[0].text, ENGLISH]
    assert [each["language"] for each in found["detectedLanguage"]] == ["de", "en"]


def test_alternatives_are_the_rest_of_the_beam(client, translator):
    found = client.post("/translate", json={"q": GERMAN, **DE_EN, "alternatives": 2}).json()
    (expected,) = translator.translate([GERMAN], n_best=3)
    assert found["translatedText"] == expected.text
    assert found["alternatives"] == [
        text for text in dict.fromkeys(a.text for a in expected.alternatives)
        if text != expected.text
    ]  # fmt: skip
    assert found["alternatives"]
    listed = client.post("/translate", json={"q": [GERMAN], **DE_EN, "alternatives": 2}).json()
    assert listed["alternatives"] == [found["alternatives"]]
    none = client.post("/translate", data={"q": GERMAN, **DE_EN, "alternatives": "0"}).json()
    assert "alternatives" not in none


def test_lines_are_translated_one_by_one_and_signs_alone_stay(client, translator):
    text = f"{GERMAN}\r\n\n  Ein Hund.\n😀 …"
    found = client.post("/translate", json={"q": text, **DE_EN}).json()["translatedText"]
    first, second = (t.text for t in translator.translate([GERMAN, "Ein Hund."]))
    assert found == f"{first}\n\n  {second}\n😀 …"


def test_html_keeps_every_tag_once(client):
    html = '<p>Die <b>Katze</b> schläft <a href="x?a=1&amp;b=2">nicht</a>.</p><hr><!-- c -->'
    found = client.post("/translate", json={"q": html, **DE_EN, "format": "html"}).json()
    for tag in ("<p>", "<b>", "</b>", '<a href="x?a=1&amp;b=2">', "</a>", "</p><hr><!-- c -->"):
        assert found["translatedText"].count(tag) == 1
    assert "Katze" not in found["translatedText"]


def test_a_code_with_a_region_is_served_by_its_language(client):
    found = client.post("/translate", json={"q": GERMAN, "source": "de-AT", "target": "EN"})
    assert found.status_code == 200


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"source": "de", "target": "en"}, "Invalid request: missing q parameter"),
        ({"q": [], **DE_EN}, "Invalid request: missing q parameter"),
        ({"q": "a", "target": "en"}, "Invalid request: missing source parameter"),
        ({"q": "a", "source": "de"}, "Invalid request: missing target parameter"),
        ({"q": "a", "source": "zz", "target": "en"}, "zz is not supported"),
        ({"q": "a", "source": "de", "target": "zz"}, "zz is not supported"),
        ({"q": "a", **DE_EN, "format": "xml"}, "xml format is not supported"),
        ({"q": "a", **DE_EN, "alternatives": "abc"},
         "Invalid request: alternatives parameter is not a number"),
        ({"q": "a", **DE_EN, "alternatives": 99},
         "Invalid request: alternatives parameter must be <= 31"),
    ],
)  # fmt: skip
def test_errors_have_the_words_that_clients_know(client, fields, error):
    found = client.post("/translate", json=fields)
    assert (found.status_code, found.json()) == (400, {"error": error})


def test_a_pair_that_is_not_served_is_named(make_app, translator):
    with TestClient(make_app(translators=(translator,)).app) as client:
        found = client.post("/translate", json={"q": "a dog", "source": "en", "target": "de"})
    assert found.status_code == 400
    expected = "German (de) is not available as a target language from English (en)"
    assert found.json() == {"error": expected}


def test_a_text_in_too_many_lines_is_refused(make_app):
    with TestClient(make_app(limits=Limits(texts=3, waiting=3)).app) as client:
        found = client.post("/translate", json={"q": "a\nb\nc\nd", **DE_EN})
    assert found.status_code == 400
    assert "lines" in found.json()["error"]


def test_languages_are_listed_with_their_targets(client):
    assert client.get("/languages").json() == [
        {"code": "en", "name": "English", "targets": ["de"]},
        {"code": "de", "name": "German", "targets": ["en"]},
    ]


def test_detection_is_among_the_served_languages(client):
    found = client.post("/detect", data={"q": GERMAN}).json()
    assert [each["language"] for each in found] == ["de", "en"]
    assert found[0]["confidence"] > found[1]["confidence"]
    assert client.post("/detect", json={"q": [ENGLISH, ENGLISH]}).json()[0]["language"] == "en"


def test_the_settings_of_the_frontend_are_there(client):
    found = client.get("/frontend/settings").json()
    assert found["charLimit"] == 20_000
    assert found["keyRequired"] is False
    assert found["language"]["source"] == {"code": "de", "name": "German"}
