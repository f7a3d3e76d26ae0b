from functools import partial

import pytest
import torch
from torch.testing import assert_close as assert_near

from dragoman.errors import InputTooLongError
from dragoman.model.attention import Probe
from dragoman.model.decoder_only import DecoderOnly

assert_close = partial(assert_near, rtol=0, atol=1e-10)


@pytest.mark.parametrize("cut", [1, 3, 6])
def test_a_position_never_sees_its_future(any_config, make_ids, shake, cut):
    model = shake(DecoderOnly(any_config))
    ids = make_ids(7, 7)
    changed = ids.clone()
    changed[:, cut:] = 4 + (ids[:, cut:] - 3) % 9
    before, after = model(ids), model(changed)
    assert before.shape == (2, 7, 13)
    assert_close(before[:, :cut], after[:, :cut])
    assert not torch.isclose(before[:, cut:], after[:, cut:]).any(-1).all()  # control: it was felt


def test_padding_and_batch_mates_change_nothing(any_config, make_ids, shake):
    model = shake(DecoderOnly(any_config))
    ids = make_ids(7, 4, 1)
    together = model(ids)
    for row, length in enumerate((7, 4, 1)):
        assert_close(together[row, :length], model(ids[row : row + 1, :length])[0])


def test_decoding_step_by_step_equals_the_full_pass(any_config, make_ids, shake):
    model = shake(DecoderOnly(any_config))
    ids = make_ids(7, 7)
    with torch.no_grad():
        expected = model(ids)
        cache = model.start(1, n_beams=2, capacity=7)
        for t in range(7):
            if t == 3:  # the beams change places in the cache and so do the ids
                cache.reorder(torch.tensor([1, 0]))
                ids, expected = ids.flip(0), expected.flip(0)
            assert_close(model.step(ids[:, t], cache), expected[:, t])


def test_the_state_dict_has_the_promised_names(any_config):
    names = set(DecoderOnly(any_config).state_dict())
    expected = {"embedding.weight"}
    if any_config.positions == "learned":
        expected |= {"positions.weight"}
    if any_config.tie == "none":
        expected |= {"output.weight"}
    if any_config.norm == "pre":
        expected |= {"decoder.final_norm.weight", "decoder.final_norm.bias"}
    blocks = ["self_attention.qkv", "self_attention.out", "self_attention_norm"]
    blocks += ["feed_forward.w1", "feed_forward.w2", "feed_forward_norm"]
    for i in range(any_config.decoder_layers):
        for block in blocks:
            expected |= {f"decoder.layers.{i}.{block}.{kind}" for kind in ("weight", "bias")}
    assert names == expected


@pytest.mark.parametrize(("tie", "is_tied"), [("all", True), ("decoder", True), ("none", False)])
def test_the_output_is_tied_unless_untied(make_config, tie, is_tied):
    model = DecoderOnly(make_config(tie=tie))
    assert (model.output_weight is model.embedding.weight) == is_tied


def test_a_probe_sees_every_layer_and_changes_nothing(any_config, make_ids, shake):
    model = shake(DecoderOnly(any_config))
    probe, ids = Probe(), make_ids(7, 4)
    assert_close(model(ids, probe=probe), model(ids))
    assert set(probe.weights) == {f"decoder.{i}.self" for i in range(any_config.decoder_layers)}


def test_dropout_is_on_in_training_alone(make_config, make_ids):
    model = DecoderOnly(make_config(dropout=0.3)).train()
    ids = make_ids(5, 3)
    torch.manual_seed(1)
    assert not torch.allclose(model(ids), model(ids))
    model.eval()
    assert torch.equal(model(ids), model(ids))


def test_learned_positions_end_with_a_clear_message(make_config, make_ids):
    model = DecoderOnly(make_config(positions="learned", max_positions=3)).eval()
    with pytest.raises(InputTooLongError, match="4 tokens"):
        model(make_ids(4))
    with torch.no_grad():
        cache = model.start(1, capacity=9)
        for _ in range(3):
            model.step(torch.tensor([5]), cache)
        with pytest.raises(InputTooLongError, match="4 tokens"):
            model.step(torch.tensor([5]), cache)
