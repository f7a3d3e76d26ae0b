"""The Translator: one line in, one line out, whatever stands beside it."""

import dataclasses

import pytest

from dragoman.config import Config, DataConfig, DecodeConfig
from dragoman.decoding.sampling import Sampling
from dragoman.decoding.translator import Translator
from dragoman.errors import ConfigError
from dragoman.model.transformer import Transformer

TEXTS = [
    "Ein Hund rennt über die Wiese.",
    "",
    "Die Katze",
    "  \t ",
    "Zwei Hunde schlafen im Garten.",
    "Der Mann liest",
    "x",
]
LONG = "Ein Hund rennt über die Wiese. Die Katze schläft, und eine Frau liest ein Buch im Garten."


def test_every_line_has_a_translation_in_order(translator):
    together = translator.translate(TEXTS)
    assert len(together) == len(TEXTS)
    for text, found in zip(TEXTS, together, strict=True):
        alone = translator.translate([text])[0]
        assert (alone.text, alone.ids) == (found.text, found.ids)
        assert alone.score == pytest.approx(found.score, abs=1e-5)
    lengths = {len(found.ids) for found in together}
    assert len(lengths) > 3  # control: they say different things


@pytest.mark.parametrize("batch_tokens", [1, 100, 100_000])
@pytest.mark.parametrize("options", [{}, {"beam": 1}, {"sampling": Sampling(seed=5)}])
def test_the_size_of_batches_changes_nothing(translator, batch_tokens, options):
    texts = TEXTS * 3
    expected = [t.ids for t in translator.translate(texts, **options)]
    found = translator.translate(texts, batch_tokens=batch_tokens, **options)
    assert [t.ids for t in found] == expected


@pytest.mark.parametrize("text", ["", " ", "\t", "\u3000 ", "\n"])
def test_an_empty_line_stays_empty_and_never_meets_the_model(translator, text):
    refuses = dataclasses.replace(translator, models=())
    found = refuses._jobs([text], None)
    assert found == []
    translation = translator.translate([text], n_best=3)[0]
    assert (translation.text, translation.ids, translation.alternatives) == ("", (), ())


def test_no_lines_are_no_translations(translator):
    assert translator.translate([]) == []


def test_one_string_is_not_taken_for_a_list(translator):
    with pytest.raises(TypeError, match="list of strings"):
        translator.translate("Ein Hund")


def test_scores_equal_forced_decoding(translator):
    texts = [text for text in TEXTS if text.strip()]
    for text, translation in zip(texts, translator.translate(texts, n_best=2), strict=True):
        for each in translation.n_best:
            # by ids: the text may be cut in other pieces than those the model chose
            src = translator.tokenizer.encode(text)
            forced = score_of(translator, src, each.ids)
            assert each.log_prob == pytest.approx(forced, abs=1e-4)


def score_of(translator, src, ids):
    from dragoman.decoding.scoring import score_ids

    return score_ids(translator.models, [(src, ids)])[0].log_prob


def test_a_long_line_is_translated_in_parts_and_says_so(translator):
    found = translator.translate([LONG, "Die Katze"])
    assert "split" in found[0].notes
    assert "split" not in found[1].notes
    parts = [segment.text for segment, _ in translator._parts(LONG, [0] * 99)]
    assert len(parts) > 1
    assert " ".join(parts) == LONG  # nothing was cut
    texts = [t.text for t in translator.translate(parts)]
    assert found[0].text == " ".join(text for text in texts if text)


def test_links_of_a_long_line_count_all_its_words(translator):
    found = translator.translate([LONG], alignments=True)[0]
    n_words = len(LONG.split())
    assert all(0 <= src < n_words for src, _ in found.alignment)
    assert max(src for src, _ in found.alignment) > n_words // 2
    assert [tgt for _, tgt in found.alignment] == list(range(len(found.text.split())))


def test_learned_positions_limit_source_and_target(tokenizer, shape):
    learned = dataclasses.replace(shape, positions="learned", max_positions=12)
    config = Config(model=learned, data=DataConfig(), decode=DecodeConfig(max_extra=50))
    translator = Translator((Transformer(learned).eval(),), tokenizer, config)
    assert translator.max_pieces == 11
    found = translator.translate([LONG, "Ein Hund"], beam=3)
    assert "split" in found[0].notes
    assert len(found[1].ids) <= 11


def test_the_n_best_are_sorted(translator):
    for translation in translator.translate(TEXTS, n_best=4):
        scores = [each.score for each in translation.n_best]
        assert scores == sorted(scores, reverse=True)


def test_prefixes_begin_the_translations(translator):
    prefixes = ["A dog", None, "The", None, "", "Two dogs", None]
    found = translator.translate(TEXTS, prefixes=prefixes)
    for prefix, translation in zip(prefixes, found, strict=True):
        assert translation.text.startswith(prefix or "")
    with pytest.raises(ConfigError, match="1 prefixes for 7 texts"):
        translator.translate(TEXTS, prefixes=["A"])


def test_samples_depend_on_seed_and_line_number_alone(translator):
    drawn = Sampling(seed=5)
    whole = translator.translate(TEXTS, sampling=drawn, n_best=3)
    tail = translator.translate(TEXTS[4:], sampling=drawn, n_best=3, first_line=5)
    assert [t.ids for t in whole[4:]] == [t.ids for t in tail]
    other = translator.translate(TEXTS, sampling=Sampling(seed=6), n_best=3)
    assert [t.ids for t in whole] != [t.ids for t in other]


@pytest.mark.parametrize("chunk_lines", [1, 3, 100])
def test_a_stream_gives_what_a_list_gives(translator, chunk_lines):
    options = {"sampling": Sampling(seed=5), "prefixes": ["A", "B", None, None, "C", None, None]}
    expected = [t.ids for t in translator.translate(TEXTS, **options)]
    stream = translator.translate_stream(iter(TEXTS), chunk_lines=chunk_lines, **options)
    assert [t.ids for t in stream] == expected


def test_a_stream_reads_no_further_than_it_must(translator):
    read = []

    def lines():
        for text in TEXTS:
            read.append(text)
            yield text

    next(translator.translate_stream(lines(), chunk_lines=2))
    assert len(read) == 2


def test_progress_ends_at_all_lines(translator):
    told = []
    translator.translate(TEXTS, batch_tokens=100, on_progress=lambda n, of: told.append((n, of)))
    assert told == sorted(told)
    assert told[-1] == (7, 7)
    assert len(told) > 1


def test_pairs_are_scored_as_text(translator):
    scores = translator.score([("Ein Hund", "A dog"), ("Die Katze", "")])
    src, tgt = translator.tokenizer.encode("Ein Hund"), translator.tokenizer.encode("A dog", "tgt")
    assert scores[0].log_prob == pytest.approx(score_of(translator, src, tgt), abs=1e-5)
    assert scores[0].n_tokens == len(tgt) + 1
    assert scores[1].n_tokens == 1
