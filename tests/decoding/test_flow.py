"""The way through the model: every station, its shape, and the size of the vectors there."""

import pytest
import torch

from dragoman.decoding.flow import trace_flow


@pytest.fixture
def ids():
    return torch.tensor([[5, 6, 7, 8, 2]]), torch.tensor([[1, 9, 10]])


@pytest.mark.parametrize("tie", ["all", "decoder", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_station_is_there_in_order_with_its_shape(make_model, ids, norm, positions, tie):
    model = make_model(norm=norm, positions=positions, tie=tie)
    flow = trace_flow(model, *ids)
    last = {"encoder": ["encoder.norm"], "decoder": ["decoder.norm"]} if norm == "pre" else {}
    expected = ["embedding", "positions"]
    for layer in range(2):
        expected += [f"encoder.{layer}.self", f"encoder.{layer}.feed_forward"]
    expected += [*last.get("encoder", []), "decoder.embedding", "decoder.positions"]
    for layer in range(2):
        expected += [f"decoder.{layer}.{part}" for part in ("self", "cross", "feed_forward")]
    expected += [*last.get("decoder", []), "logits"]
    assert [step.name for step in flow] == expected
    sizes = {"(S, D)": (5, 12), "(T, D)": (3, 12), "(T, V)": (3, 13)}
    assert all(step.shape == sizes[step.letters] for step in flow)
    assert all(step.what.endswith(".") and step.title for step in flow)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_sizes_are_those_of_the_states_of_the_model(make_model, ids, norm):
    model = make_model(norm=norm)
    src_ids, tgt_ids = ids
    at = {step.name: step.norm for step in trace_flow(model, src_ids, tgt_ids)}

    def size(x):
        return float(x.norm(dim=-1).mean())

    memory = model.encode(src_ids)
    end = "encoder.norm" if norm == "pre" else "encoder.1.feed_forward"
    assert at[end] == pytest.approx(size(memory))
    assert at["logits"] == pytest.approx(size(model(src_ids, tgt_ids)))
    embedded = model.src_embedding(src_ids)
    assert at["embedding"] == pytest.approx(size(embedded))
    with_places = embedded + model.src_positions(5, embedded)
    assert at["positions"] == pytest.approx(size(with_places))


def test_the_state_after_a_part_is_the_sum_so_far_in_pre_norm(make_model, ids):
    from dragoman.model.attention import View

    model = make_model(norm="pre")
    src_ids, tgt_ids = ids
    layer = model.encoder.layers[0]
    embedded = model.src_embedding(src_ids)
    x = embedded + model.src_positions(5, embedded)
    x = x + layer.self_attention(layer.self_attention_norm(x), None, View())
    after_self = float(x.norm(dim=-1).mean())
    x = x + layer.feed_forward(layer.feed_forward_norm(x))
    at = {step.name: step.norm for step in trace_flow(model, src_ids, tgt_ids)}
    assert at["encoder.0.self"] == pytest.approx(after_self)
    assert at["encoder.0.feed_forward"] == pytest.approx(float(x.norm(dim=-1).mean()))
