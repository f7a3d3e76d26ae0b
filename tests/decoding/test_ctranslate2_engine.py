"""The engine CTranslate2: the translations, lists, scores and notes of our own search."""

import copy
import dataclasses
import sys

import pytest
import torch

from dragoman.batches.batch import make_batch
from dragoman.decoding.loading import load
from dragoman.decoding.sampling import Sampling
from dragoman.decoding.settings import SearchSettings
from dragoman.errors import BundleError, ConfigError, InputTooLongError, MissingExtraError
from dragoman.model.transformer import Transformer
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

pytest.importorskip("ctranslate2")

PAIRS = [
    ("Ein Hund rennt über die Wiese.", "A dog runs across the meadow."),
    ("Zwei Hunde schlafen im Garten.", "Two dogs sleep in the garden."),
    ("Die Katze schläft nicht.", "The cat does not sleep."),
    ("Der Mann liest, während die Frau kocht.", "The man reads while the woman cooks."),
    ("Im Garten rennt eine Katze.", "A cat runs in the garden."),
]
TEXTS = [
    "Ein Hund rennt über die Wiese.",
    "",
    "Die Katze",
    "  \t ",
    "Zwei Hunde schlafen im Garten.",
    "Der Mann liest",
    "x",
    "Im Garten rennt eine Katze.",
]
LONG = "Ein Hund rennt über die Wiese. Die Katze schläft, und eine Frau liest ein Buch im Garten."


def leaning(translator, to, alpha):
    """The same translator with a lean to one token, so that a search has or has no end."""
    model = copy.deepcopy(translator.model)
    bias = model.decoder.layers[-1].feed_forward_norm.bias
    bias.add_(model.output.weight[to], alpha=alpha)
    return dataclasses.replace(translator, models=(model,))


@pytest.fixture(scope="module")
def trained(translator):
    """A translator that has learned a few sentences by heart: it is sure of some things."""
    torch.manual_seed(1)
    model = Transformer(dataclasses.replace(translator.model.config, d_model=32, d_ff=64))
    encode = translator.tokenizer.encode
    batch = make_batch([(encode(src, "src"), encode(tgt, "tgt")) for src, tgt in PAIRS])
    adam = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(120):
        logits = model(batch.src_ids, batch.tgt_in).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(
            logits, batch.tgt_out.flatten(), ignore_index=PAD_ID, label_smoothing=0.1
        )
        adam.zero_grad()
        loss.backward()
        adam.step()
    model.eval().requires_grad_(False)
    config = dataclasses.replace(translator.config, model=model.config)
    return dataclasses.replace(translator, models=(model,), config=config)


@pytest.fixture
def both(trained, save_bundle):
    """One bundle, loaded for each engine."""
    folder = save_bundle(trained)
    return load(folder), load(folder, engine="ctranslate2")


def assert_same(expected, found):
    for ours, theirs in zip(expected, found, strict=True):
        assert [each.ids for each in theirs.n_best] == [each.ids for each in ours.n_best]
        assert (theirs.text, theirs.notes) == (ours.text, ours.notes)
        for a, b in zip(ours.n_best, theirs.n_best, strict=True):
            assert b.log_prob == pytest.approx(a.log_prob, abs=1e-4)
            assert b.score == pytest.approx(a.score, abs=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        {"beam": 1},
        {"beam": 4},
        {"beam": 4, "length_penalty": 0.0},
        {"beam": 4, "n_best": 4},
        {"beam": 8, "n_best": 2, "length_penalty": 0.2},
        {"beam": 2, "batch_tokens": 1},
        {"beam": 1, "max_extra": 0},
        {"beam": 4, "max_extra": 0},
        {"sampling": Sampling(top_k=1), "n_best": 3},
    ],
    ids=str,
)
def test_it_finds_what_our_search_finds(both, options):
    ours, theirs = both
    expected = ours.translate([*TEXTS, LONG], **options)
    assert_same(expected, theirs.translate([*TEXTS, LONG], **options))
    assert len({each.ids for each in expected}) > 4  # control: they say different things
    assert "split" in expected[-1].notes


@pytest.mark.parametrize("beam", [1, 4])
def test_prefixes_begin_its_translations_and_count(both, beam):
    ours, theirs = both
    prefixes = ["A dog", None, "The", None, "", "Two dogs", None, "A"]
    expected = ours.translate(TEXTS, prefixes=prefixes, beam=beam)
    found = theirs.translate(TEXTS, prefixes=prefixes, beam=beam)
    assert_same(expected, found)
    assert found[0].text.startswith("A dog")


def test_alignments_are_those_of_our_model(both):
    ours, theirs = both
    expected = ours.translate([*TEXTS, LONG], alignments=True)
    found = theirs.translate([*TEXTS, LONG], alignments=True)
    assert [each.alignment for each in found] == [each.alignment for each in expected]
    assert found[0].alignment


def test_it_scores_as_we_do_empty_sides_too(both):
    ours, theirs = both
    pairs = [("Ein Hund", "A dog"), ("", "A dog"), ("Ein Hund", ""), (LONG, "The cat")]
    for a, b in zip(ours.score(pairs), theirs.score(pairs), strict=True):
        assert b.token_log_probs == pytest.approx(a.token_log_probs, abs=1e-4)


def test_a_search_without_an_end_stops_at_the_limit_of_each_sentence(translator, save_bundle):
    folder = save_bundle(leaning(translator, EOS_ID, -1.0))
    ours, theirs = load(folder), load(folder, engine="ctranslate2")
    # One limit for each length of source, in one batch: 2 to 9 tokens.
    options = {"beam": 3, "max_extra": 2, "batch_tokens": 10_000}
    expected = ours.translate(TEXTS, **options)
    found = theirs.translate(TEXTS, **options)
    assert_same(expected, found)
    assert sum("stopped_at_limit" in each.notes for each in found) >= 4


def test_who_goes_in_circles_is_stopped(translator, save_bundle):
    folder = save_bundle(leaning(translator, 20, 3.0))
    ours, theirs = load(folder), load(folder, engine="ctranslate2")
    expected = ours.translate(["Die Katze", "x"], beam=1, max_extra=50)
    found = theirs.translate(["Die Katze", "x"], beam=1, max_extra=50)
    assert_same(expected, found)
    assert "repetition" in found[0].notes
    assert "repetition" in theirs.translate(["Die Katze"], beam=4, max_extra=50)[0].notes


@pytest.mark.parametrize("token", [PAD_ID, BOS_ID])
def test_what_is_never_said_is_never_said(trained, save_bundle, token):
    model = copy.deepcopy(trained.model)
    often = trained.tokenizer.encode("A dog", "tgt")[0]
    model.output.weight[token] = 1.2 * model.output.weight[often]
    folder = save_bundle(dataclasses.replace(trained, models=(model,)))
    ours, theirs = load(folder), load(folder, engine="ctranslate2")
    expected, found = ours.translate(TEXTS, beam=1), theirs.translate(TEXTS, beam=1)
    assert_same(expected, found)  # scores as well: those of the whole vocabulary
    raw = theirs.engine.translator.translate_batch(
        [theirs.engine._source(theirs.tokenizer.encode(text)) for text in TEXTS if text.strip()],
        beam_size=1,
        max_decoding_length=20,
    )
    piece = theirs.engine.tgt_pieces[token]
    assert any(piece in each.hypotheses[0] for each in raw)  # control: it would have been said


def test_samples_are_the_same_again_and_worth_their_log_probability(both):
    _, theirs = both
    draw = {"n_best": 3, "sampling": Sampling(temperature=1.5, top_p=0.95, seed=7)}
    first, again = theirs.translate(TEXTS, **draw), theirs.translate(TEXTS, **draw)
    assert [[e.ids for e in t.n_best] for t in first] == [[e.ids for e in t.n_best] for t in again]
    other = theirs.translate(TEXTS, n_best=3, sampling=Sampling(temperature=1.5, seed=8))
    assert [t.ids for t in other] != [t.ids for t in first]
    src = theirs.tokenizer.encode(TEXTS[0])
    pairs = [(src, each.ids) for each in first[0].n_best]
    scores = theirs.engine.score(pairs, batch_tokens=100)
    for each, score in zip(first[0].n_best, scores, strict=True):
        assert each.log_prob == pytest.approx(score.log_prob, abs=1e-3)


def test_a_beam_wider_than_what_there_is_to_say_gives_no_phantoms(both):
    _, theirs = both
    settings = SearchSettings(beam=40, n_best=40, length_penalty=0.6, max_extra=1)
    src = theirs.tokenizer.encode("x")
    [found] = theirs.engine.search([src], settings, prefixes=None, keys=[(1,)])
    assert len({each.ids for each in found}) == len(found)
    assert all(each.log_prob > -1000 for each in found)


def test_learned_positions_limit_it_as_they_limit_us(tokenizer, shape, save_bundle, translator):
    learned = dataclasses.replace(shape, positions="learned", max_positions=12)
    torch.manual_seed(3)
    model = type(translator.model)(learned).eval().requires_grad_(False)
    config = dataclasses.replace(translator.config, model=learned)
    folder = save_bundle(dataclasses.replace(translator, models=(model,), config=config))
    theirs = load(folder, engine="ctranslate2")
    assert theirs.max_pieces == 11
    found = theirs.translate([LONG, "Ein Hund"], beam=3)
    assert "split" in found[0].notes
    assert len(found[1].ids) <= 11
    with pytest.raises(InputTooLongError, match="up to 12"):
        theirs.score([(LONG, "A dog")])


def test_an_ensemble_and_an_unknown_engine_are_refused(translator, save_bundle):
    folder = save_bundle(translator)
    with pytest.raises(ConfigError, match="ensemble"):
        load(folder, folder, engine="ctranslate2")
    with pytest.raises(ConfigError, match="must be torch or ctranslate2"):
        load(folder, engine="marian")


def test_a_missing_package_is_named_with_the_way_to_get_it(translator, save_bundle, monkeypatch):
    folder = save_bundle(translator)
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'dragoman\[ct2\]'"):
        load(folder, engine="ctranslate2")


def test_a_damaged_conversion_is_named(translator, save_bundle):
    folder = save_bundle(translator)
    load(folder, engine="ctranslate2")
    (folder / "ctranslate2-float32/model.bin").write_bytes(b"?")
    with pytest.raises(BundleError, match="ctranslate2-float32 cannot be used"):
        load(folder, engine="ctranslate2")
