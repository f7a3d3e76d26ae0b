"""An explanation agrees with all that it explains: twin, scores, search, alignment, W^O."""

import base64
import copy
import dataclasses
import json
import math

import numpy as np
import pytest
import torch

from dragoman.batches.batch import make_batch
from dragoman.config import Config, DataConfig, ModelConfig
from dragoman.decoding import effects
from dragoman.decoding.alignment import AlignmentChoice
from dragoman.decoding.explanation import Side, encode_weights
from dragoman.decoding.scoring import score_ids
from dragoman.decoding.translator import Translator
from dragoman.errors import ConfigError, DataError, InputTooLongError
from dragoman.model.attention import Probe
from dragoman.model.transformer import Transformer
from dragoman.reference import Transformer as Twin
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

TEXT = "Ein Hund rennt über die Wiese."
SHORT = "Die Katze"
TEXTS = [TEXT, SHORT, "x", "Zwei Hunde schlafen im Garten."]


@pytest.fixture(scope="module")
def explained(translator):
    return translator.explain(TEXT, beam=3)


def twin_of(model):
    return Twin(model.config, {name: w.numpy() for name, w in model.state_dict().items()})


# --- attention -----------------------------------------------------------------------------------


def test_every_row_of_every_attention_sums_to_one(explained, shape):
    assert len(explained.attention) == 3 * shape.n_layers
    for name, weights in explained.attention.items():
        queries, keys = explained.axes(name)
        assert weights.shape == (shape.n_heads, len(queries), len(keys))
        np.testing.assert_allclose(weights.sum(-1), 1.0, atol=1e-6)


def test_attention_is_that_of_the_twin(explained, translator):
    src = np.array([[*translator.tokenizer.encode(TEXT), EOS_ID]])
    tgt = np.array([[BOS_ID, *explained.prefix_ids]])
    record = {}
    twin_of(translator.model)(src, tgt, record=record)
    assert set(record) == set(explained.attention)
    for name, weights in record.items():
        np.testing.assert_allclose(explained.attention[name], weights[0], atol=1e-5)


def test_a_decoder_looks_at_nothing_that_comes_later(explained):
    weights = explained.attention["decoder.1.self"]
    assert np.triu(weights, k=1).max() == 0
    assert np.tril(weights, k=-1).max() > 0.01  # control: it does look back
    queries, keys = explained.axes("decoder.1.self")
    assert keys == ("<s>", *queries[:-1])


def test_weights_travel_as_bytes(explained):
    for name, weights in explained.attention.items():
        sent = explained.to_json()["attention"][name]
        read = np.frombuffer(base64.b64decode(sent["data"]), np.uint8).reshape(sent["shape"])
        np.testing.assert_allclose(read / 255, weights, atol=0.5 / 255 + 1e-6)
    assert encode_weights(np.array([[[1.00001]]], np.float32))["data"] == "/w=="


# --- what is said --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("beam", [1, 3])
def test_what_is_explained_is_what_is_translated(translator, text, beam):
    explanation = translator.explain(text, beam=beam)
    translation = translator.translate([text], beam=beam, n_best=beam, alignments=True)[0]
    assert explanation.target.text == translation.text
    assert explanation.prefix_ids == translation.ids
    assert explanation.alignment == translation.alignment
    assert explanation.notes == translation.notes
    assert explanation.score == pytest.approx(translation.score)
    assert [each.text for each in explanation.n_best] == [t.text for t in translation.n_best]


def test_log_probs_are_those_of_forced_decoding(explained, translator):
    src = translator.tokenizer.encode(TEXT)
    score = score_ids(translator.models, [(src, explained.prefix_ids)])[0]
    assert explained.token_log_probs == pytest.approx(score.token_log_probs, abs=1e-5)
    assert explained.log_prob == pytest.approx(score.log_prob, abs=1e-4)
    assert len(explained.token_log_probs) == len(explained.target.pieces)


def test_the_chosen_piece_is_among_the_alternatives_with_its_probability(translator):
    explanation = translator.explain(TEXT, beam=1)
    for t, some in enumerate(explanation.alternatives):
        chances = [each.probability for each in some]
        assert chances == sorted(chances, reverse=True)
        assert len({each.id for each in some}) == len(some) == 8
        assert not {PAD_ID, BOS_ID} & {each.id for each in some}
        # Greedy search takes the likeliest, unless there was no room left but for EOS.
        if t < len(explanation.alternatives) - 1:
            assert some[0].piece == explanation.target.pieces[t]
            assert some[0].probability == pytest.approx(math.exp(explanation.token_log_probs[t]))


def test_alternatives_have_the_text_up_to_them(explained, translator):
    some = explained.alternatives[2]
    for each in some:
        assert each.text == translator.tokenizer.decode([*explained.prefix_ids[:2], each.id])


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        DataConfig(tokenizer="characters"),
        DataConfig(tokenizer="symbols"),
        DataConfig(tokenizer="unigram", vocab_size=300, lowercase=True),
        DataConfig(tokenizer="bpe", vocab_size=400, byte_fallback=True),
    ],
    ids=lambda data: data.tokenizer,
)
@pytest.mark.parametrize("text", ["ab  Ba", "aé b", "a\u00a0b a", "⁇ ﬁ b", "日本 a", "a ▁b"])
def test_every_piece_belongs_to_a_word_that_is_there(data, text):
    pairs = [("ab ba a b", "ba ab b a"), ("aab bba", "bba aab")]
    tokenizer = Tokenizer.train(pairs, data, seed=1)
    size = ModelConfig(
        d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=tokenizer.tgt_vocab_size
    )
    torch.manual_seed(1)
    explanation = Translator((Transformer(size).eval(),), tokenizer, Config(model=size)).explain(
        text, beam=2
    )
    for side in (explanation.source, explanation.target):
        words = {word for word in side.piece_words if word is not None}
        assert words == set(range(len(side.words)))
        assert side.piece_words[-1] is None
        assert len(side.pieces) == len(side.piece_words) == len(side.labels)
    json.dumps(explanation.to_json(), allow_nan=False)


def test_labels_tell_where_a_word_goes_on():
    side = Side("ab c", ("▁a", "b", "▁", "c", "</s>"), ("ab", "c"), (0, 0, 1, 1, None))
    assert side.labels == ("a", "·b", "␣", "·c", "</s>")


@pytest.mark.parametrize("shift", [False, True])
def test_alignment_follows_the_choice_of_the_bundle(translator, shift):
    choice = AlignmentChoice(heads=((0, 1), (1, 0)), shift=shift)
    chosen = dataclasses.replace(translator, alignment=choice)
    explanation = chosen.explain(TEXT)
    assert explanation.alignment == chosen.translate([TEXT], alignments=True)[0].alignment
    names = [("decoder.0.cross", 1), ("decoder.1.cross", 0)]
    assert explanation.model["alignment_heads"] == names


def test_attention_between_words_is_that_of_their_pieces_added_up(translator):
    explanation = translator.explain(TEXT)
    weights = explanation.attention["decoder.0.cross"].mean(0)
    for j, row in enumerate(explanation.word_attention):
        pieces = [t for t, word in enumerate(explanation.target.piece_words) if word == j]
        for i, found in enumerate(row):
            columns = [s for s, word in enumerate(explanation.source.piece_words) if word == i]
            assert found == pytest.approx(weights[pieces][:, columns].sum(), abs=1e-5)


# --- heads ---------------------------------------------------------------------------------------


def zeroed(translator, name, head):
    """The translator with the columns of one head of W^O set to zero in its weights."""
    model = copy.deepcopy(translator.model)
    stack, layer, kind = name.split(".")
    attention = getattr(getattr(model, stack).layers[int(layer)], f"{kind}_attention")
    width = attention.out.weight.size(1) // attention.n_heads
    with torch.no_grad():
        attention.out.weight[:, head * width : (head + 1) * width] = 0
    model.in_one_call = False  # as with a head off, so that the last digits are the same
    return dataclasses.replace(translator, models=(model,))


@pytest.mark.parametrize("name", ["encoder.0.self", "decoder.1.self", "decoder.0.cross"])
@pytest.mark.parametrize("head", [0, 1])
def test_a_head_off_is_its_columns_of_the_output_matrix_set_to_zero(
    translator, explained, name, head
):
    found = translator.explain(TEXT, beam=3, heads_off=[(name, head)])
    expected = zeroed(translator, name, head).explain(TEXT, beam=3)
    assert found.prefix_ids == expected.prefix_ids
    assert found.token_log_probs == pytest.approx(expected.token_log_probs, abs=1e-6)
    assert found.beam == expected.beam
    assert found.heads_off == ((name, head),)
    assert found.log_prob != pytest.approx(explained.log_prob, abs=1e-6)  # control: it matters


def test_a_head_off_is_what_the_gates_of_a_probe_do(translator):
    found = translator.explain(TEXT, heads_off=[("decoder.1.cross", 1), ("encoder.0.self", 0)])
    batch = make_batch([(translator.tokenizer.encode(TEXT), found.prefix_ids)])
    gates = {"decoder.1.cross": torch.tensor([1.0, 0.0]), "encoder.0.self": torch.tensor([0.0, 1])}
    logits = translator.model(batch.src_ids, batch.tgt_in, probe=Probe(head_gates=gates))
    gold = logits.log_softmax(-1)[0].gather(1, batch.tgt_out[0][:, None]).squeeze(1)
    assert found.token_log_probs == pytest.approx(gold.tolist(), abs=1e-5)


def test_gates_of_one_change_nothing(translator, explained):
    batch = make_batch([(translator.tokenizer.encode(TEXT), explained.prefix_ids)])
    probe = Probe(head_gates={name: torch.ones(2) for name in explained.attention})
    logits = translator.model(batch.src_ids, batch.tgt_in, probe=probe)
    gold = logits.log_softmax(-1)[0].gather(1, batch.tgt_out[0][:, None]).squeeze(1)
    assert explained.token_log_probs == pytest.approx(gold.tolist(), abs=1e-6)


def test_the_model_that_others_use_is_left_as_it_was(translator):
    before = {name: w.clone() for name, w in translator.model.state_dict().items()}
    translator.explain(TEXT, heads_off=[("decoder.1.cross", 1)], effects=True)
    after = translator.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    for module in translator.model.modules():
        assert not module._forward_hooks
        assert not module._forward_pre_hooks


# --- what if -------------------------------------------------------------------------------------


def test_effects_of_heads_are_those_of_one_head_off_at_a_time(translator, monkeypatch):
    monkeypatch.setattr(effects, "ROWS_AT_ONCE", 5)  # several batches, the last one smaller
    explanation = translator.explain(SHORT, effects=True)
    src = translator.tokenizer.encode(SHORT)
    assert len(explanation.head_effects) == 3 * 2 * 2
    for effect in explanation.head_effects:
        without = zeroed(translator, effect.name, effect.head)
        forced = score_ids(without.models, [(src, explanation.prefix_ids)])[0]
        assert effect.log_prob == pytest.approx(forced.log_prob - explanation.log_prob, abs=1e-4)
        assert effect.text == without.translate([SHORT], beam=1)[0].text
    assert len({effect.text for effect in explanation.head_effects}) > 3  # control


def test_continuations_are_greedy_translations_from_each_alternative(translator):
    explanation = translator.explain(SHORT, effects=True)
    assert len(explanation.continuations) == len(explanation.alternatives)
    for t in (0, len(explanation.alternatives) - 1):
        for each, text in zip(
            explanation.alternatives[t], explanation.continuations[t], strict=True
        ):
            ids = [*explanation.prefix_ids[:t], each.id]
            assert translator.explain(SHORT, beam=1, prefix_ids=ids).target.text == text


def test_what_takes_longer_is_only_there_on_request(explained):
    assert explained.to_json()["head_effects"] is None
    assert explained.to_json()["continuations"] is None


def test_going_on_from_another_choice_keeps_what_was_before_it(translator, explained):
    t = 2
    other = explained.alternatives[t][1]
    ids = [*explained.prefix_ids[:t], other.id]
    found = translator.explain(TEXT, beam=3, prefix_ids=ids)
    assert list(found.prefix_ids[: t + 1]) == ids
    assert found.n_forced == t + 1
    assert found.target.pieces[t] == other.piece
    assert explained.n_forced == 0


def test_a_prefix_may_end_the_sentence(translator, explained):
    ids = [*explained.prefix_ids[:2], EOS_ID]
    found = translator.explain(TEXT, beam=3, prefix_ids=ids)
    assert found.prefix_ids == explained.prefix_ids[:2]
    assert found.n_forced == len(found.target.pieces) == 3


def test_a_prefix_may_be_text(translator):
    found = translator.explain(TEXT, prefix="A dog")
    assert found.target.text.startswith("A dog")
    assert found.n_forced == len(translator.tokenizer.encode("A dog", "tgt"))


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "  ", "\n", "\u3000"])
def test_an_empty_text_is_refused(translator, text):
    with pytest.raises(DataError, match="nothing to explain"):
        translator.explain(text)


def test_a_text_that_would_have_to_be_split_is_refused(translator):
    with pytest.raises(InputTooLongError, match=r"takes 30 at a time.*\n.*one by one"):
        translator.explain(" ".join([TEXT] * 5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads_off": [("decoder.0.crss", 0)]}, "did you mean decoder.0.cross"),
        ({"heads_off": [("decoder.0.cross", 2)]}, "no head 2: its heads are 0 to 1"),
        ({"heads_off": [("decoder.0.cross", -1)]}, "no head -1"),
        ({"prefix": "A", "prefix_ids": [5]}, "not as both"),
        ({"prefix_ids": [5, 1_000_000]}, r"prefix_ids\[1\] = 1000000"),
        ({"prefix_ids": [-1]}, r"prefix_ids\[0\] = -1"),
        ({"prefix_ids": [BOS_ID]}, "never said"),
        ({"prefix_ids": [EOS_ID, 5]}, "only be the last"),
        ({"beam": 0}, "beam = 0"),
    ],
)
def test_what_cannot_be_asked_is_refused(translator, options, message):
    with pytest.raises(ConfigError, match=message):
        translator.explain(TEXT, **options)


# --- the whole -----------------------------------------------------------------------------------

KEYS = [
    "version",
    "source",
    "target",
    "score",
    "log_prob",
    "notes",
    "alignment",
    "alternatives",
    "prefix_ids",
    "attention",
    "beam",
    "n_best",
    "flow",
    "model",
    "heads_off",
    "head_effects",
    "continuations",
]


def test_the_json_has_the_promised_keys_and_nothing_but_json(translator):
    explanation = translator.explain(TEXT, effects=True, heads_off=[("decoder.0.cross", 1)])
    found = json.loads(json.dumps(explanation.to_json(), allow_nan=False))
    assert list(found) == KEYS
    assert found == explanation.to_json()
    assert set(found["source"]) == {"text", "pieces", "words", "piece_words"}
    assert set(found["target"]) == {*found["source"], "log_probs", "forced"}
    assert set(found["alternatives"][0][0]) == {"piece", "id", "probability", "text"}
    assert set(found["beam"]) == {"size", "length_penalty", "nodes"}
    assert set(found["flow"][0]) == {"name", "title", "shape", "letters", "what", "norm"}
    assert set(found["head_effects"][0]) == {"name", "head", "log_prob", "text"}
    assert found["heads_off"] == [["decoder.0.cross", 1]]
    assert found["model"]["params"] == sum(w.numel() for w in translator.model.parameters())


def test_an_ensemble_speaks_with_one_voice_and_shows_its_first_model(translator):
    other = zeroed(translator, "decoder.0.cross", 0)
    both = dataclasses.replace(translator, models=(translator.model, other.model))
    found = both.explain(TEXT, beam=2, effects=True)
    assert found.prefix_ids == both.translate([TEXT], beam=2)[0].ids
    src = both.tokenizer.encode(TEXT)
    score = score_ids(both.models, [(src, found.prefix_ids)])[0]
    assert found.token_log_probs == pytest.approx(score.token_log_probs, abs=1e-5)
    alone = dataclasses.replace(translator, models=(translator.model,))
    ids = list(found.prefix_ids)
    shown = alone.explain(TEXT, prefix_ids=[*ids, EOS_ID]).attention["decoder.1.cross"]
    np.testing.assert_allclose(found.attention["decoder.1.cross"], shown, atol=1e-6)
