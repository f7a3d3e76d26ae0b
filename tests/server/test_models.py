"""The served bundles: names, languages, loading."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dragoman.errors import BundleError
from dragoman.server import models as models_module
from dragoman.server.app import create_app
from dragoman.server.models import Models, Wanted, load_models
from dragoman.server.problems import Problem


def test_a_bundle_is_loaded_with_the_languages_of_the_command_line(bundle, translator):
    models = load_models([Wanted.parse(f"{bundle}=en-de"), Wanted(bundle)])
    first, second = models.all
    assert (first.name, second.name) == ("deen", "deen-2")
    assert (first.languages.source, first.languages.target) == ("en", "de")
    assert (second.languages.source, second.languages.target) == ("src", "tgt")
    assert second.languages.note
    text = "Ein Hund."
    expected = translator.translate([text])[0].text
    assert first.translator.translate([text])[0].text == expected


def test_a_folder_with_an_equals_sign_in_its_name_is_a_folder(bundle, tmp_path):
    folder = tmp_path / "lr=en-de"
    folder.symlink_to(bundle, target_is_directory=True)
    assert Wanted.parse(str(folder)) == Wanted(folder)


def test_the_engine_is_passed_on(bundle, translator, monkeypatch):
    asked = []

    def load(path, **options):
        asked.append(options)
        return translator

    monkeypatch.setattr(models_module, "load", load)
    assert load_models([Wanted(bundle)]).all[0].describe()["engine"] == "torch"
    models = load_models([Wanted(bundle)], engine="ctranslate2", int8=True)
    assert asked[1] == {"device": None, "engine": "ctranslate2", "int8": True, "shortlist": False}
    assert models.all[0].describe()["engine"] == "ctranslate2 int8"


def test_the_engine_ctranslate2_serves_every_route(bundle):
    pytest.importorskip("ctranslate2", reason="ctranslate2 is not installed")
    models = load_models([Wanted.parse(f"{bundle}=de-en")], engine="ctranslate2")
    text = "Die Katze schläft nicht."
    expected = models.all[0].translator.translate([text])[0].text
    with TestClient(create_app(models)) as client:
        found = client.post("/api/translate", json={"text": text, "alignments": True}).json()
        assert found["translations"][0]["text"] == expected
        assert found["translations"][0]["alignment"]
        stream = client.get("/api/stream", params={"text": text}).text
        assert "event: token" in stream
        assert "event: done" in stream
        fields = {"q": f"<b>{text}</b>", "source": "de", "target": "en", "format": "html"}
        assert client.post("/translate", json=fields).json()["translatedText"].startswith("<b>")


def test_a_name_that_is_not_served_is_a_404_that_lists_the_others(made):
    with pytest.raises(Problem, match="deen, ende") as problem:
        made.models.named("enfr")
    assert problem.value.status == 404
    assert made.models.named(None).name == "deen"


def test_a_pair_is_found_with_or_without_its_region(made):
    models = made.models
    assert models.between("de", "en").name == "deen"
    assert models.between("EN-gb", "de_AT").name == "ende"
    assert models.between("de", "de") is None
    assert (models.code("DE"), models.code("de-CH"), models.code("fr")) == ("de", "de", None)


def test_there_must_be_something_to_serve():
    with pytest.raises(BundleError, match="nothing to serve"):
        Models([])


def test_a_bundle_that_is_not_there_is_named():
    with pytest.raises(BundleError, match="no/such"):
        load_models([Wanted(Path("no/such"))])
