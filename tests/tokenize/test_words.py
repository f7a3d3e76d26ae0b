import logging
import pickle
import sys

import pytest

from dragoman.errors import MissingExtraError, TokenizerError
from dragoman.tokenize.vocabulary import Vocabulary
from dragoman.tokenize.words import GLUE, Words


def words(lang="en", **options):
    return Words(Vocabulary([]), lang, **options)


def test_what_is_glued_to_the_word_before_is_marked():
    assert words().cut("Don't stop, (please)!") == [
        "Do", "￭n't", "stop", "￭,", "(", "￭please", "￭)", "￭!",
    ]  # fmt: skip


def test_pre_tokenised_text_is_cut_at_its_spaces_and_comes_back():
    text = "a dog 's bone , and ( two ) cats ."
    assert words().join(words().cut(text)) == text


def test_the_rules_are_those_of_the_language():
    assert words("de").cut("z.B. so") == ["z.B.", "so"]
    assert words("xx").cut("z.B. so") != ["z.B.", "so"]


@pytest.mark.parametrize("text", [GLUE, f"{GLUE}a", f"a{GLUE}{GLUE} b", f"a {GLUE}, {GLUE * 3}"])
def test_a_literal_mark_comes_back(text):
    assert words().join(words().cut(text)) == text


def test_a_placeholder_stays_whole_and_keeps_its_spaces():
    model = words(placeholders=["<NAME>"])
    assert model.cut("Dear <NAME>, a<NAME> b") == [
        "Dear", "<NAME>", "￭,", "a", "￭<NAME>", "b",
    ]  # fmt: skip


def test_a_placeholder_is_always_in_the_vocabulary(trained):
    tokenizer = trained(tokenizer="words", placeholders=("<NAME>",), src_lang="de", tgt_lang="en")
    assert tokenizer.pieces("<NAME>") == ["<NAME>"]


def test_a_rare_word_is_unknown(trained):
    tokenizer = trained(tokenizer="words", min_frequency=2, src_lang="de", tgt_lang="en")
    ids = tokenizer.encode("Ein Mann liest.", "src")
    assert tokenizer.decode(ids, "src") == "⁇ Mann liest."  # "Ein" is seen once, "ein" twice


def test_a_region_does_not_matter():
    assert words("de-AT").cut("z.B. so") == words("de").cut("z.B. so")


def test_an_unknown_language_uses_the_multilingual_rules_and_says_so(caplog):
    with caplog.at_level(logging.WARNING, logger="dragoman"):
        assert words("qq").cut("a b") == ["a", "b"]
    assert "'qq'" in caplog.text


def test_a_language_that_needs_more_than_spacy_says_what(monkeypatch):
    import spacy

    def refuse(code):
        raise ImportError("install sudachipy")

    monkeypatch.setattr(spacy, "blank", refuse)
    with pytest.raises(TokenizerError, match=r"'nl'.*sudachipy"):
        words("nl").cut("a")


def test_a_missing_spacy_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"dragoman\[spacy\]"):
        words("sv").cut("a")


def test_it_travels_to_another_process_without_spacys_tables():
    model = Words(Vocabulary(["a"]), "en", placeholders=["<N>"])
    model.cut("load spaCy")
    sent = pickle.dumps(model)
    assert len(sent) < 1000
    assert pickle.loads(sent).cut("it's<N>") == model.cut("it's<N>")
