"""Which of the served languages a text is in, and how sure that is."""

import pytest

from dragoman.server.detection import Detector, load_rank


@pytest.fixture(scope="module")
def rank():
    return load_rank()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ein kleiner Junge spielt im Garten mit seinem Hund.", "de"),
        ("A small boy plays with his dog in the garden.", "en"),
        ("Un petit garçon joue avec son chien dans le jardin.", "fr"),
    ],
)
def test_sentences_are_told_apart(rank, text, language):
    first, second, third = Detector(["de", "en", "fr"], rank=rank).detect(text)
    assert first.language == language
    assert first.confidence > 80 > second.confidence >= third.confidence


def test_a_language_that_is_not_served_gives_a_low_confidence(rank):
    best = Detector(["de", "en"], rank=rank).detect("Un petit garçon joue avec son chien.")[0]
    assert best.confidence < 20


def test_one_language_alone_is_no_certainty(rank):
    detector = Detector(["en"], rank=rank)
    assert detector.detect("Ein kleiner Junge spielt im Garten.")[0].confidence < 20
    assert detector.detect("A small boy plays in the garden.")[0].confidence > 80


def test_a_region_is_detected_by_its_language(rank):
    found = Detector(["pt-BR", "zh-Hans"], rank=rank).detect("O menino brinca com o cachorro.")
    assert found[0].language == "pt-BR"
    assert found[0].confidence > 50


@pytest.mark.parametrize("text", ["", "  ", "123 456", "😀", "…!?"])
def test_a_text_without_letters_is_in_no_language(rank, text):
    assert [each.confidence for each in Detector(["de", "en"], rank=rank).detect(text)] == [0, 0]


def test_codes_that_are_no_language_come_last(rank):
    found = Detector(["src", "en"], rank=rank).detect("A small boy plays in the garden.")
    assert [each.language for each in found] == ["en", "src"]
    assert found[1].confidence == 0
