import math
from functools import partial

import pytest
import torch
from torch import nn

from dragoman.model.attention import (
    MultiHeadAttention,
    Probe,
    View,
    fused_attention,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from dragoman.model.masks import causal_mask, decoder_mask, encoder_mask
from dragoman.model.packing import Packing
from dragoman.model.rotary import Rotation

assert_close = partial(torch.testing.assert_close, rtol=0, atol=1e-10)

IDS = torch.tensor([[7, 8, 9, 4, 5], [7, 8, 0, 0, 0]])
NOTHING = torch.tensor([True, False]).view(2, 1, 1, 1)  # the second sentence sees nothing
SELF_MASKS = {
    "none": None,
    "padding": encoder_mask(IDS, 0),
    "causal": causal_mask(5),
    "decoder": decoder_mask(IDS, 0),
    "window": encoder_mask(IDS, 0, window=1),  # hides everything from some queries of padding
    "nothing": NOTHING,
    "per head": torch.arange(3 * 25).view(1, 3, 5, 5) % 4 != 0,
}


@pytest.fixture
def attention(make_config, shake):
    return shake(MultiHeadAttention(make_config(), name="self"))


def test_attention_agrees_with_hand_arithmetic():
    # q·k0 / sqrt(4) = ln 3 and q·k1 = 0, so the weights are 3/4 and 1/4
    q = torch.ones(1, 1, 1, 4)
    k = torch.stack([torch.full((4,), math.log(3) / 2), torch.zeros(4)]).view(1, 1, 2, 4)
    v = torch.tensor([8.0, 0.0]).view(1, 1, 2, 1)
    out, weights = scaled_dot_product_attention(q, k, v, mask=None)
    torch.testing.assert_close(weights.flatten(), torch.tensor([0.75, 0.25]))
    assert out.item() == pytest.approx(6.0)
    assert fused_attention(q, k, v).item() == pytest.approx(6.0)


def test_a_hidden_key_gets_no_weight_and_the_others_share_it():
    q, k = torch.zeros(1, 1, 1, 4), torch.zeros(1, 1, 3, 4)
    v = torch.tensor([1.0, 3.0, 50.0]).view(1, 1, 3, 1)
    out, weights = scaled_dot_product_attention(q, k, v, torch.tensor([True, True, False]))
    assert weights.flatten().tolist() == [0.5, 0.5, 0.0]
    assert out.item() == 2.0


def test_large_scores_stay_finite():
    q = torch.full((1, 1, 1, 4), 1e4)
    k = torch.cat((q, -q), dim=2)
    out, weights = scaled_dot_product_attention(q, k, torch.ones(1, 1, 2, 4))
    assert weights.flatten().tolist() == [1.0, 0.0]
    assert out.isfinite().all()


@pytest.mark.parametrize("mask", SELF_MASKS.values(), ids=SELF_MASKS.keys())
@pytest.mark.parametrize("d_v", [4, 6])
def test_the_fused_path_equals_the_explaining_path(random, mask, d_v):
    inputs = [random(2, 3, 5, d, seed=i).requires_grad_() for i, d in enumerate((4, 4, d_v))]
    explained, _ = scaled_dot_product_attention(*inputs, mask)
    fused = fused_attention(*inputs, mask)
    assert_close(fused, explained)
    weights = random(2, 3, 5, d_v, seed=9)
    for ours, theirs in zip(
        torch.autograd.grad((fused * weights).sum(), inputs),
        torch.autograd.grad((explained * weights).sum(), inputs),
        strict=True,
    ):
        assert_close(ours, theirs)


def test_the_promised_causal_mask_equals_the_made_one(attention, random, gradients):
    x = random(2, 5, 12)
    promised = attention(x, None, View(causal=True))
    made = attention(x, None, View(mask=causal_mask(5)))
    explained = attention(x, None, View(causal=True, probe=Probe()))
    assert_close(promised, made)
    assert_close(explained, made)
    assert not torch.allclose(attention(x, None, View()), made)  # control: the mask is felt
    promised_grads, made_grads = gradients(attention, promised), gradients(attention, made)
    for name, grad in made_grads.items():
        assert_close(promised_grads[name], grad)


@pytest.mark.parametrize("mask", SELF_MASKS.values(), ids=SELF_MASKS.keys())
def test_a_probe_changes_nothing_and_sees_weights_that_sum_to_one(
    attention, random, gradients, mask
):
    x = random(2, 5, 12)
    probe = Probe()
    watched = attention(x, None, View(mask=mask, probe=probe))
    unwatched = attention(x, None, View(mask=mask))
    assert_close(watched, unwatched)
    weights = probe.weights["self"]
    assert weights.shape == (2, 3, 5, 5)
    sees = torch.ones(2, 3, 5, 5, dtype=torch.bool) if mask is None else mask.expand(2, 3, 5, 5)
    assert (weights[~sees] == 0).all()
    assert_close(weights.sum(-1), sees.any(-1).double())
    watched_grads, unwatched_grads = gradients(attention, watched), gradients(attention, unwatched)
    for name, grad in unwatched_grads.items():
        assert_close(watched_grads[name], grad)


@pytest.mark.parametrize("probe", [None, Probe()], ids=["fused", "explaining"])
def test_a_query_with_nothing_to_attend_gives_zeros_and_zero_gradients(attention, random, probe):
    q, k, v = (random(2, 3, 5, 4, seed=i).requires_grad_() for i in range(3))
    out = attention.attend(q, k, v, View(mask=NOTHING, probe=probe))
    assert (out[1] == 0).all()
    assert (out[0] != 0).any()  # control: the other sentence sees something
    for grad in torch.autograd.grad(out.square().sum() + out.sum(), (q, k, v)):
        assert grad.isfinite().all()
        assert (grad[1] == 0).all()
        assert (grad[0] != 0).any()


def test_nothing_to_attend_leaves_the_bias_of_the_output_alone(attention, random):
    out = attention(random(2, 5, 12), None, View(mask=NOTHING))
    assert_close(out[1], attention.out.bias.expand(5, 12))


def test_head_gates_of_one_change_nothing(attention, random):
    x = random(2, 5, 12)
    gated = attention(x, None, View(probe=Probe(head_gates={"self": torch.ones(3)})))
    assert_close(gated, attention(x, None, View()))


def test_a_head_gate_of_zero_takes_away_that_heads_contribution(attention, random):
    x = random(2, 5, 12)
    probe = Probe(head_gates={"self": torch.tensor([1.0, 0.0, 1.0])})
    gated = attention(x, None, View(probe=probe))
    q, k, v = attention.project(x, View())
    weights = torch.softmax(q[:, 1] @ k[:, 1].transpose(1, 2) / 2, dim=-1)  # √4 = 2
    lost = weights @ v[:, 1] @ attention.out.weight[:, 4:8].T  # head 1 owns columns 4 to 7
    assert lost.abs().max() > 0.1
    assert_close(gated + lost, attention(x, None, View()))


def test_a_gate_of_another_layer_is_left_alone(attention, random):
    x = random(2, 5, 12)
    probe = Probe(head_gates={"another": torch.zeros(3)})
    assert_close(attention(x, None, View(probe=probe)), attention(x, None, View()))


def test_heads_are_contiguous_slices_of_the_width(random):
    x = random(2, 5, 12)
    heads = split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 4)
    assert torch.equal(heads[:, 1], x[:, :, 4:8])
    assert torch.equal(merge_heads(heads), x)


def test_free_head_sizes_agree_with_one_head_after_another(make_config, shake, random):
    module = shake(MultiHeadAttention(make_config(d_k=6, d_v=5), name="self"))
    x, memory = random(2, 5, 12), random(2, 7, 12, seed=1)
    assert module.qkv.weight.shape == (2 * 18 + 15, 12)
    assert module.out.weight.shape == (12, 15)
    expected = module.out.bias.expand(2, 5, 12)
    for h in range(3):
        rows = [
            slice(6 * h, 6 * h + 6),
            slice(18 + 6 * h, 24 + 6 * h),
            slice(36 + 5 * h, 41 + 5 * h),
        ]
        q, k, v = (
            source @ module.qkv.weight[r].T + module.qkv.bias[r]
            for source, r in zip((x, memory, memory), rows, strict=True)
        )
        weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(6), dim=-1)
        expected = expected + weights @ v @ module.out.weight[:, 5 * h : 5 * h + 5].T
    assert_close(module(x, memory, View()), expected)


@pytest.mark.parametrize("kind", ["self", "masked", "cross"])
@pytest.mark.parametrize("watched", [False, True])
def test_many_heads_equal_those_of_pytorch(attention, random, kind, watched):
    oracle = nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64)
    oracle.load_state_dict(
        {
            "in_proj_weight": attention.qkv.weight,
            "in_proj_bias": attention.qkv.bias,
            "out_proj.weight": attention.out.weight,
            "out_proj.bias": attention.out.bias,
        }
    )
    x = random(2, 5, 12)
    memory = random(2, 7, 12, seed=1) if kind == "cross" else None
    mask = {"self": None, "masked": decoder_mask(IDS, 0), "cross": torch.ones(2, 1, 1, 7) > 0}[kind]
    if kind == "cross":
        mask[1, ..., 4:] = False
    keys = x if memory is None else memory
    n_keys = keys.size(1)
    hidden = None if mask is None else ~mask.expand(2, 3, 5, n_keys).reshape(6, 5, n_keys)
    expected, expected_weights = oracle(
        x, keys, keys, attn_mask=hidden, average_attn_weights=False, need_weights=True
    )
    probe = Probe() if watched else None
    assert_close(attention(x, memory, View(mask=mask, probe=probe)), expected)
    if probe is not None:
        assert_close(probe.weights["self"], expected_weights)


def test_packed_tokens_attend_as_in_the_rectangle(attention, random, make_ids):
    src_ids, tgt_ids = make_ids(7, 3), make_ids(5, 1)
    memory, x = random(2, 7, 12), random(2, 5, 12, seed=1)
    keys, queries = Packing.of(src_ids, 0), Packing.of(tgt_ids, 0)
    mask = encoder_mask(src_ids, 0)
    packed = attention(
        queries.pack(x), keys.pack(memory), View(mask=mask, queries=queries, keys=keys)
    )
    assert_close(packed, queries.pack(attention(x, memory, View(mask=mask))))


def test_rotation_turns_queries_and_keys_but_not_values(attention, random):
    x = random(2, 5, 12)
    turn = Rotation.at(torch.arange(5), 4, torch.float64)
    q, k, v = attention.project(x, View())
    expected = attention.out(merge_heads(scaled_dot_product_attention(turn(q), turn(k), v)[0]))
    assert_close(attention(x, None, View(rotation=turn)), expected)
    assert not torch.allclose(attention(x, None, View()), expected)


def test_dropout_falls_on_the_weights_in_training_alone(make_config, shake, random):
    module = shake(MultiHeadAttention(make_config(attention_dropout=0.5), name="self"))
    x = random(2, 5, 12)
    expected = module(x, None, View())
    module.train()
    probe = Probe()
    torch.manual_seed(1)
    dropped = module(x, None, View(probe=probe))
    torch.manual_seed(1)
    assert torch.equal(module(x, None, View()), dropped)  # with and without a probe alike
    assert not torch.allclose(dropped, expected)
    assert_close(probe.weights["self"].sum(-1), torch.ones(2, 3, 5, dtype=torch.float64))
    assert torch.equal(module.eval()(x, None, View()), expected)


def test_one_query_and_one_key_give_the_value_itself(attention, random):
    x, memory = random(1, 1, 12), random(1, 1, 12, seed=1)
    _, _, v = attention.project(memory, View())
    assert_close(attention(x, memory, View()), attention.out(merge_heads(v)))
