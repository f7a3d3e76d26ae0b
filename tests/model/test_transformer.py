import copy
from functools import partial

import pytest
import torch
from torch.testing import assert_close as assert_near

from dragoman.errors import InputTooLongError
from dragoman.model.attention import Probe
from dragoman.model.packing import Packing
from dragoman.model.transformer import PACK_FROM, Transformer

assert_close = partial(assert_near, rtol=0, atol=1e-10)

# Lengths of the source and of the target: no padding, little (not packed), much (packed).
PADDINGS = {
    "none": ((5, 5), (7, 7)),
    "little": ((5, 4), (7, 6)),
    "much": ((5, 2), (3, 7)),
    "much in the source": ((1, 5), (7, 7)),
    "much in the target": ((5, 4), (7, 1)),
}


def layer_names(stack, layers, attentions):
    blocks = [f"{a}_attention.{m}" for a in attentions for m in ("qkv", "out")]
    blocks += [f"{a}_attention_norm" for a in attentions]
    blocks += ["feed_forward.w1", "feed_forward.w2", "feed_forward_norm"]
    return {
        f"{stack}.layers.{i}.{block}.{kind}"
        for i in range(layers)
        for block in blocks
        for kind in ("weight", "bias")
    }


def test_the_state_dict_has_the_promised_names(any_config):
    expected = layer_names("encoder", any_config.encoder_layers, ["self"])
    expected |= layer_names("decoder", any_config.decoder_layers, ["self", "cross"])
    expected |= {
        "all": {"embedding.weight"},
        "decoder": {"src_embedding.weight", "tgt_embedding.weight"},
        "none": {"src_embedding.weight", "tgt_embedding.weight", "output.weight"},
    }[any_config.tie]
    if any_config.positions == "learned":
        expected |= {"src_positions.weight", "tgt_positions.weight"}
    if any_config.norm == "pre":
        expected |= {
            f"{s}.final_norm.{k}" for s in ("encoder", "decoder") for k in ("weight", "bias")
        }
    assert set(Transformer(any_config).state_dict()) == expected


def test_the_state_dict_has_the_promised_shapes(make_config):
    config = make_config(
        tie="none",
        src_vocab_size=17,
        positions="learned",
        max_positions=9,
        norm="pre",
        d_k=6,
        d_v=5,
    )
    state = Transformer(config).state_dict()
    attention = {
        "qkv.weight": (51, 12),
        "qkv.bias": (51,),
        "out.weight": (12, 15),
        "out.bias": (12,),
    }
    shapes = {f"decoder.layers.1.cross_attention.{name}": size for name, size in attention.items()}
    shapes |= {f"encoder.layers.0.self_attention.{name}": size for name, size in attention.items()}
    shapes |= {
        "src_embedding.weight": (17, 12),
        "tgt_embedding.weight": (13, 12),
        "output.weight": (13, 12),
        "src_positions.weight": (9, 12),
        "tgt_positions.weight": (9, 12),
        "encoder.layers.0.feed_forward.w1.weight": (11, 12),
        "encoder.layers.0.feed_forward.w2.weight": (12, 11),
        "decoder.layers.1.cross_attention_norm.weight": (12,),
        "decoder.final_norm.bias": (12,),
    }
    assert {name: tuple(state[name].shape) for name in shapes} == shapes


def test_logits_have_the_promised_shape(any_config, make_ids):
    model = Transformer(any_config)
    assert model(make_ids(5, 3), make_ids(7, 6)).shape == (2, 7, 13)


@pytest.mark.parametrize(("tie", "weight"), [("all", "embedding"), ("decoder", "tgt_embedding")])
def test_a_tied_output_is_the_embedding_itself(make_config, tie, weight):
    model = Transformer(make_config(tie=tie))
    assert model.output_weight is getattr(model, weight).weight


def test_an_untied_output_is_a_matrix_of_its_own(make_config):
    model = Transformer(make_config(tie="none"))
    assert model.output_weight is model.output.weight


def test_forward_is_encode_then_decode(any_config, make_ids, shake):
    model = shake(Transformer(any_config))
    src_ids, tgt_ids = make_ids(5, 3), make_ids(7, 4)
    memory = model.encode(src_ids)
    assert memory.shape == (2, 5, 12)
    assert torch.equal(model(src_ids, tgt_ids), model.decode(tgt_ids, memory, src_ids))


def test_the_paddings_of_these_tests_stand_on_both_sides_of_the_threshold(make_ids):
    def share(*lengths):
        return Packing.of(make_ids(*lengths), 0).padding

    for side in (0, 1):
        assert share(*PADDINGS["little"][side]) < PACK_FROM < share(*PADDINGS["much"][side])


@pytest.mark.parametrize("lengths", PADDINGS.values(), ids=PADDINGS.keys())
def test_hidden_states_are_those_of_forward_at_the_real_tokens(
    any_config, make_ids, shake, gradients, lengths
):
    model = shake(Transformer(any_config)).train()  # dropout is 0
    src_ids, tgt_ids = make_ids(*lengths[0]), make_ids(*lengths[1], seed=1)
    hidden = model.hidden(src_ids, tgt_ids, Packing.of(src_ids, 0), Packing.of(tgt_ids, 0))
    assert hidden.shape == (sum(lengths[1]), 12)
    logits, expected = model.logits(hidden), model(src_ids, tgt_ids)[tgt_ids != 0]
    assert_close(logits, expected)
    expected_gradients = gradients(model, expected)
    for name, gradient in gradients(model, logits).items():
        assert_close(gradient, expected_gradients[name], msg=lambda m, name=name: f"{name}: {m}")


def test_a_probe_changes_nothing_and_sees_all_attention(any_config, make_ids, shake):
    model = shake(Transformer(any_config))
    src_ids, tgt_ids = make_ids(5, 3), make_ids(7, 4)
    probe = Probe()
    assert_close(model(src_ids, tgt_ids, probe=probe), model(src_ids, tgt_ids))
    expected = {f"encoder.{i}.self": (2, 3, 5, 5) for i in range(any_config.encoder_layers)}
    for i in range(any_config.decoder_layers):
        expected |= {f"decoder.{i}.self": (2, 3, 7, 7), f"decoder.{i}.cross": (2, 3, 7, 5)}
    assert {name: tuple(w.shape) for name, w in probe.weights.items()} == expected


def test_switching_off_every_cross_head_makes_the_model_deaf_to_its_source(
    make_config, make_ids, shake
):
    model = shake(Transformer(make_config()))
    tgt_ids = make_ids(7, 7)
    gates = {f"decoder.{i}.cross": torch.zeros(3) for i in range(2)}

    def logits(seed, head_gates):
        return model(make_ids(5, 5, seed=seed), tgt_ids, probe=Probe(head_gates=head_gates))

    assert_close(logits(1, gates), logits(2, gates))
    assert not torch.allclose(logits(1, {}), logits(2, {}))  # control: with heads it hears


def test_a_window_hides_what_is_far(make_config, make_ids, shake):
    model = shake(Transformer(make_config(window=1, n_layers=1)))
    ids = make_ids(5)
    changed = ids.clone()
    changed[0, 4] = 4 + (ids[0, 4] - 3) % 9
    before, after = model.encode(ids), model.encode(changed)
    assert_close(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3], after[:, 3])  # control: the neighbour sees it


def test_single_tokens_work(any_config, make_ids, shake):
    model = shake(Transformer(any_config))
    src_ids, tgt_ids = make_ids(1), make_ids(1, seed=1)
    logits = model(src_ids, tgt_ids)
    assert logits.shape == (1, 1, 13)
    assert logits.isfinite().all()
    assert_close(model.logits(model.hidden(src_ids, tgt_ids, None, None)), logits[0])


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_lengths_past_anything_seen_work(make_config, make_ids, shake, positions):
    model = shake(Transformer(make_config(positions=positions, n_layers=1)))
    with torch.no_grad():
        logits = model(make_ids(3000, 2), make_ids(9, 3))
        assert logits.isfinite().all()
        # the second sentence is the same with and without its 2,998 positions of padding
        alone = model(make_ids(3000, 2)[1:, :2], make_ids(9, 3)[1:, :3])
    assert_close(logits[1:, :3], alone)


@pytest.mark.parametrize("side", ["source", "target"])
def test_learned_positions_end_with_a_clear_message(make_config, make_ids, side):
    model = Transformer(make_config(positions="learned", max_positions=9))
    src_ids, tgt_ids = make_ids(9), make_ids(9)
    assert model(src_ids, tgt_ids).shape == (1, 9, 13)
    long = make_ids(10)
    pair = (long, tgt_ids) if side == "source" else (src_ids, long)
    with pytest.raises(InputTooLongError, match=r"10 tokens.*learned positions up to 9"):
        model(*pair)
    with pytest.raises(InputTooLongError, match=r"10 tokens.*learned positions up to 9"):
        model.hidden(*pair, None, None)


def test_learned_positions_end_with_the_same_message_step_by_step(make_config, make_ids):
    model = Transformer(make_config(positions="learned", max_positions=3)).eval()
    with torch.no_grad():
        cache = model.start(make_ids(3), n_beams=1, capacity=9)
        for _ in range(3):
            model.step(torch.tensor([5]), cache)
        with pytest.raises(InputTooLongError, match=r"4 tokens.*learned positions up to 3"):
            model.step(torch.tensor([5]), cache)


def test_a_source_of_nothing_but_padding_is_a_memory_of_nothing(
    any_config, make_ids, shake, gradients
):
    model = shake(Transformer(any_config))
    src_ids, tgt_ids = make_ids(5, 0), make_ids(7, 7)
    logits = model(src_ids, tgt_ids)
    assert logits.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in gradients(model, logits).values())
    gates = {f"decoder.{i}.cross": torch.zeros(3) for i in range(any_config.decoder_layers)}
    deaf = model(make_ids(5, 5), tgt_ids, probe=Probe(head_gates=gates))
    assert_close(logits[1], deaf[1])
    hidden = model.hidden(src_ids, tgt_ids, Packing.of(src_ids, 0), None)
    assert_close(model.logits(hidden), logits.flatten(0, 1))
    with torch.no_grad():
        cache = model.start(src_ids, n_beams=1, capacity=7)
        assert_close(model.step(tgt_ids[:, 0], cache), logits[:, 0])


def test_an_empty_batch_and_an_empty_target_give_empty_logits(any_config, make_ids):
    model = Transformer(any_config)
    ids = make_ids(5, 5)
    assert model(ids[:0], ids[:0]).shape == (0, 5, 13)
    assert model(ids, ids[:, :0]).shape == (2, 0, 13)
    assert model.hidden(ids[:0], ids[:0], None, None).shape == (0, 12)


def test_another_pad_id_is_obeyed(make_config, make_ids, shake):
    model = shake(Transformer(make_config(pad_id=3)))
    src_ids, tgt_ids = make_ids(5, 3), make_ids(7, 4)
    src_ids[src_ids == 0] = tgt_ids[tgt_ids == 0] = 3
    alone = model(src_ids[1:, :3], tgt_ids[1:, :4])
    assert_close(model(src_ids, tgt_ids)[1:, :4], alone)


def test_dropout_is_on_in_training_alone_and_follows_the_seed(make_config, make_ids, shake):
    model = shake(Transformer(make_config(dropout=0.3)))
    src_ids, tgt_ids = make_ids(5, 3), make_ids(7, 4)
    expected = model(src_ids, tgt_ids)
    assert torch.equal(model(src_ids, tgt_ids), expected)
    model.train()
    torch.manual_seed(1)
    first, second = model(src_ids, tgt_ids), model(src_ids, tgt_ids)
    torch.manual_seed(1)
    assert torch.equal(model(src_ids, tgt_ids), first)
    assert not torch.allclose(first, second)
    assert not torch.allclose(first, expected)


def test_a_table_made_for_inference_serves_training_too(make_config, make_ids):
    model = Transformer(make_config(d_model=222))  # a width no other test uses: no table yet
    ids = make_ids(5, 2)
    with torch.inference_mode():
        model(ids, ids)
    for padded in (ids, ids[:, :2]):
        model.hidden(padded, padded, *[Packing.of(padded, 0)] * 2).sum().backward()
    assert model.embedding.weight.grad.isfinite().all()


def test_exporting_a_model_leaves_it_as_it_was(make_config, make_ids):
    model = Transformer(make_config(d_model=234, n_layers=1)).eval()  # no other test's width
    src_ids, tgt_ids = make_ids(5, 3), make_ids(7, 4)
    exported = torch.export.export(model, (src_ids, tgt_ids)).module()
    logits = model(src_ids, tgt_ids)
    assert type(logits) is torch.Tensor
    assert_near(exported(src_ids, tgt_ids), logits)


def test_few_rows_take_the_output_matrix_the_other_way_round_and_follow_its_changes(make_config):
    model = Transformer(make_config()).eval()
    hidden = torch.randn(3, model.config.d_model)
    for _ in range(2):
        with torch.inference_mode():
            found = model.logits(hidden)
        assert_close(found, hidden @ model.output_weight.t(), atol=1e-5)
        with torch.no_grad():
            model.output_weight.mul_(2.0)


def test_a_copy_of_a_model_that_has_decoded_follows_its_own_weights(make_config):
    model = Transformer(make_config()).eval()
    hidden = torch.randn(3, model.config.d_model)
    with torch.inference_mode():
        model.logits(hidden)
    other = copy.deepcopy(model)
    other.load_state_dict({k: v + 1 for k, v in model.state_dict().items()})
    with torch.inference_mode():
        found = other.logits(hidden)
    assert_close(found, hidden @ other.output_weight.t(), atol=1e-5)
