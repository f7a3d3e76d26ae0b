from functools import partial

import pytest
import torch
from torch.testing import assert_close as assert_near

from dragoman.errors import InputTooLongError
from dragoman.model.attention import Probe
from dragoman.model.encoder_only import EncoderOnly, pool
from dragoman.model.transformer import Transformer

assert_close = partial(assert_near, rtol=0, atol=1e-10)
POOLINGS = ["first", "mean", "max"]

# Two sentences of three and one tokens, two features; 99 stands on padding.
STATES = torch.tensor(
    [[[1.0, -4.0], [2.0, -6.0], [6.0, -8.0]], [[5.0, -7.0], [99.0, 99.0], [99.0, 99.0]]]
)
IS_REAL = torch.tensor([[True, True, True], [True, False, False]])


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ("first", [[1.0, -4.0], [5.0, -7.0]]),
        ("mean", [[3.0, -6.0], [5.0, -7.0]]),
        ("max", [[6.0, -4.0], [5.0, -7.0]]),
    ],
)
def test_pooling_agrees_with_hand_arithmetic(pooling, expected):
    assert pool(STATES, IS_REAL, pooling).tolist() == expected


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_sentence_without_tokens_gives_zeros(pooling):
    assert pool(STATES, torch.zeros_like(IS_REAL), pooling).tolist() == [[0, 0], [0, 0]]


def test_an_unknown_pooling_is_refused():
    with pytest.raises(ValueError, match="'last': must be 'first', 'mean' or 'max'"):
        pool(STATES, IS_REAL, "last")


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_sentence_embedding_is_the_pool_of_its_states(make_config, make_ids, shake, pooling):
    model = shake(EncoderOnly(make_config(), pooling=pooling))
    ids = make_ids(5, 3)
    alone = model.states(ids[1:, :3])[0]
    expected = {"first": alone[0], "mean": alone.mean(0), "max": alone.amax(0)}[pooling]
    assert_close(model.embed(ids)[1], expected)
    assert torch.equal(model(ids), model.embed(ids))  # without a classifier


@pytest.mark.parametrize("pooling", POOLINGS)
def test_padding_and_batch_mates_change_nothing(any_config, make_ids, shake, pooling):
    model = shake(EncoderOnly(any_config, n_classes=4, pooling=pooling))
    ids = make_ids(5, 3, 1)
    together = model(ids)
    for row, length in enumerate((5, 3, 1)):
        assert_close(together[row], model(ids[row : row + 1, :length])[0])
    assert_close(model(make_ids(5, 3, 1) * torch.tensor([[1], [1], [0]]))[:2], together[:2])


def test_states_are_those_of_the_transformers_encoder(any_config, make_ids, shake):
    whole = shake(Transformer(any_config))
    model = EncoderOnly(any_config).double()
    names = {"src_embedding.weight": "embedding.weight", "src_positions.weight": "positions.weight"}
    state = {names.get(name, name): value for name, value in whole.state_dict().items()}
    model.load_state_dict({name: state[name] for name in model.state_dict()})
    ids = make_ids(5, 3)
    assert_close(model.eval().states(ids), whole.encode(ids))


def test_a_classifier_gives_one_logit_a_class(make_config, make_ids, shake):
    model = shake(EncoderOnly(make_config(), n_classes=4))
    ids = make_ids(5, 3)
    assert model(ids).shape == (2, 4)
    expected = model.embed(ids) @ model.classifier.weight.T + model.classifier.bias
    assert_close(model(ids), expected)


def test_a_text_of_nothing_but_padding_gives_the_classifiers_bias(make_config, make_ids, shake):
    model = shake(EncoderOnly(make_config(), n_classes=4))
    assert_close(model(make_ids(5, 0))[1], model.classifier.bias)


def test_the_state_dict_has_the_promised_names(any_config):
    names = set(EncoderOnly(any_config, n_classes=4).state_dict())
    expected = {"embedding.weight", "classifier.weight", "classifier.bias"}
    if any_config.positions == "learned":
        expected |= {"positions.weight"}
    assert {name for name in names if not name.startswith("encoder.")} == expected
    whole = set(Transformer(any_config).encoder.state_dict(prefix="encoder."))
    assert {name for name in names if name.startswith("encoder.")} == whole


def test_the_source_vocabulary_is_the_one_that_counts(make_config):
    model = EncoderOnly(make_config(tie="none", src_vocab_size=17))
    assert model.embedding.weight.shape == (17, 12)


def test_a_probe_sees_every_layer(make_config, make_ids, shake):
    model = shake(EncoderOnly(make_config()))
    probe, ids = Probe(), make_ids(5, 3)
    assert_close(model.states(ids, probe=probe), model.states(ids))
    assert list(probe.weights) == ["encoder.0.self", "encoder.1.self"]


def test_dropout_is_on_in_training_alone(make_config, make_ids):
    model = EncoderOnly(make_config(dropout=0.3)).train()
    ids = make_ids(5, 3)
    torch.manual_seed(1)
    assert not torch.allclose(model(ids), model(ids))
    model.eval()
    assert torch.equal(model(ids), model(ids))


def test_learned_positions_end_with_a_clear_message(make_config, make_ids):
    model = EncoderOnly(make_config(positions="learned", max_positions=3))
    with pytest.raises(InputTooLongError, match="4 tokens"):
        model(make_ids(4))
