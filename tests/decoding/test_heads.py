"""Heads switched off, for a whole model and row by row."""

import pytest
import torch

from dragoman.decoding.greedy import greedy
from dragoman.decoding.heads import (
    EachWithout,
    attention_names,
    check_heads,
    private_copy,
    without_heads,
)
from dragoman.model.attention import Probe
from dragoman.model.int8 import quantize


def every_head(model):
    return [(n, h) for n in attention_names(model.config) for h in range(model.config.n_heads)]


def test_names_are_those_under_which_a_probe_sees(make_model):
    model = make_model(n_encoder_layers=1, n_decoder_layers=3)
    probe = Probe()
    model(torch.tensor([[5, 2]]), torch.tensor([[1, 6]]), probe=probe)
    assert attention_names(model.config) == list(probe.weights)


def test_no_heads_off_is_the_model_itself(make_model):
    model = make_model()
    assert without_heads(model, []) is model


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_each_row_is_read_as_by_a_model_without_its_heads(make_model, norm):
    model = make_model(norm=norm, d_v=5)  # heads whose values are not as wide as their keys
    heads = every_head(model)
    rows = [[], *([head] for head in heads), heads[3:6]]
    src_ids = torch.tensor([[5, 6, 7, 2]]).expand(len(rows), -1)
    tgt_ids = torch.tensor([[1, 8, 9]]).expand(len(rows), -1)
    together = EachWithout(model, rows).model(src_ids, tgt_ids)
    for logits, off in zip(together, rows, strict=True):
        alone = without_heads(model, off)(src_ids[:1], tgt_ids[:1])[0]
        torch.testing.assert_close(logits, alone, rtol=0, atol=1e-10)
    changes = (together - together[:1]).abs().amax((1, 2))[1:]
    assert bool((changes > 1e-6).all())  # control: every head matters


def test_each_row_is_translated_as_by_a_model_without_its_heads(make_model):
    """Rows end at different lengths, so that gates have to leave the batch with them."""
    model = make_model(seed=9)
    rows = [[head] for head in every_head(model)]
    src_ids = torch.tensor([[5, 6, 7, 2]]).expand(len(rows), -1).contiguous()
    together = greedy(EachWithout(model, rows), src_ids, max_extra=8)
    alone = [greedy(without_heads(model, off), src_ids[:1], max_extra=8)[0] for off in rows]
    assert together == alone
    assert len({len(ids) for ids in together}) > 2  # control


def test_a_copy_shares_its_weights_and_nothing_else(make_model):
    model = make_model()
    copy = private_copy(model)
    mine, its = dict(model.named_parameters()), dict(copy.named_parameters())
    assert all(mine[name] is its[name] for name in mine)
    assert not {id(m) for m in model.modules()} & {id(m) for m in copy.modules()}


def test_heads_are_named_once_and_in_order(make_model):
    config = make_model().config
    twice = [("encoder.1.self", 2), ("decoder.0.cross", 1), ("encoder.1.self", 2)]
    assert check_heads(twice, config) == (("decoder.0.cross", 1), ("encoder.1.self", 2))


def test_rows_of_their_own_are_for_greedy_search_alone(make_model):
    with pytest.raises(ValueError, match="one hypothesis"):
        EachWithout(make_model(), [[]]).start(torch.tensor([[5, 2]]), n_beams=2, capacity=3)


@pytest.mark.parametrize("narrow", [1, 256])  # integers in the layers, or in the output alone
def test_heads_of_an_int8_model_are_switched_off_too(make_model, monkeypatch, narrow):
    monkeypatch.setattr("dragoman.model.int8.NARROW", narrow)
    model, ids = quantize(make_model(double=False)), torch.tensor([[5, 6, 7, 2]])
    probe = Probe(head_gates={"decoder.0.cross": torch.tensor([1.0, 0.0, 1.0])})
    expected = model(ids, ids, probe=probe)
    found = without_heads(model, [("decoder.0.cross", 1)])(ids, ids, probe=Probe())
    torch.testing.assert_close(found, expected)
    assert not torch.allclose(model(ids, ids, probe=Probe()), expected)  # control
