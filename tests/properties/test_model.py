"""What must hold for any model and any batch: who may change an output, and who may not.

Models are drawn from every option; weights are moved from their start, so that nothing hides
behind a zero. float64, 1e-10.
"""

from functools import partial

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import ModelConfig
from dragoman.model.packing import Packing
from dragoman.model.transformer import Transformer

assert_close = partial(torch.testing.assert_close, rtol=0, atol=1e-10)
seeded = settings(deadline=None, max_examples=25, derandomize=True)

VOCAB = 13
configs = st.builds(
    ModelConfig,
    d_model=st.just(12),
    n_heads=st.sampled_from([1, 3]),
    n_encoder_layers=st.integers(1, 2),
    n_decoder_layers=st.integers(1, 2),
    d_ff=st.just(11),
    d_k=st.sampled_from([None, 2, 6]),
    d_v=st.sampled_from([None, 5]),
    vocab_size=st.just(VOCAB),
    dropout=st.just(0.0),
    norm=st.sampled_from(["post", "pre"]),
    activation=st.sampled_from(["relu", "gelu", "swiglu"]),
    positions=st.sampled_from(["sinusoidal", "learned", "rotary"]),
    tie=st.sampled_from(["all", "decoder", "none"]),
    window=st.sampled_from([None, 1, 3]),
    max_positions=st.just(12),
)
tokens = st.integers(4, VOCAB - 1)
sentences = st.lists(tokens, min_size=1, max_size=8)
pairs = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=4)


def make_model(config):
    model = Transformer(config).double().eval().requires_grad_(False)
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        noise = torch.empty_like(parameter).normal_(std=0.4, generator=generator)
        parameter.copy_((parameter.ndim == 1) * 0.3 + noise)
    return model


def padded(rows, extra=0):
    width = max(map(len, rows)) + extra
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def another_token(ids):
    """Each real token replaced by the one after it."""
    return 4 + (ids - 3) % (VOCAB - 4)


@seeded
@given(configs, pairs, st.integers(0, 3))
def test_padding_and_batch_mates_change_nothing(config, pairs, extra):
    model = make_model(config)
    sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
    together = model(padded(sources, extra), padded(targets, extra))
    for row, (source, target) in enumerate(pairs):
        alone = model(torch.tensor([source]), torch.tensor([target]))[0]
        assert_close(together[row, : len(target)], alone)


@seeded
@given(configs, sentences, st.lists(tokens, min_size=2, max_size=8), st.data())
def test_the_future_changes_nothing_past(config, source, target, data):
    cut = data.draw(st.integers(1, len(target) - 1))
    model = make_model(config)
    src_ids, tgt_ids = torch.tensor([source]), torch.tensor([target])
    changed = tgt_ids.clone()
    changed[:, cut:] = another_token(tgt_ids[:, cut:])
    before, after = model(src_ids, tgt_ids), model(src_ids, changed)
    assert_close(before[:, :cut], after[:, :cut])
    assert not torch.allclose(before[:, cut], after[:, cut])  # control: the change was felt


@seeded
@given(configs, sentences, sentences, st.data())
def test_every_source_token_is_heard(config, source, target, data):
    place = data.draw(st.integers(0, len(source) - 1))
    model = make_model(config)
    src_ids, tgt_ids = torch.tensor([source]), torch.tensor([target])
    changed = src_ids.clone()
    changed[0, place] = another_token(src_ids[0, place])
    difference = model(src_ids, tgt_ids) - model(changed, tgt_ids)
    assert (difference.abs().amax(-1) > 1e-12).all()


@seeded
@given(configs, pairs)
def test_hidden_states_of_training_are_those_of_forward(config, pairs):
    model = make_model(config)
    src_ids, tgt_ids = (padded([pair[side] for pair in pairs]) for side in (0, 1))
    hidden = model.hidden(src_ids, tgt_ids, Packing.of(src_ids, 0), Packing.of(tgt_ids, 0))
    assert_close(model.logits(hidden), model(src_ids, tgt_ids)[tgt_ids != 0])


@seeded
@given(configs, st.lists(sentences, min_size=1, max_size=3), st.integers(1, 3), st.data())
def test_cached_decoding_equals_the_full_pass_whatever_the_beam_does(
    config, sources, n_beams, data
):
    model = make_model(config)
    src_ids = padded(sources)
    source_of = torch.arange(len(sources)).repeat_interleave(n_beams)  # (R,)
    history = torch.empty(len(source_of), 0, dtype=torch.long)
    cache = model.start(src_ids, n_beams=n_beams, capacity=4)
    for _ in range(4):
        rows = len(source_of)
        new = torch.tensor(data.draw(st.lists(tokens, min_size=rows, max_size=rows)))
        history = torch.cat((history, new[:, None]), dim=1)
        assert_close(model.step(new, cache), model(src_ids[source_of], history)[:, -1])
        # Each beam goes on from a beam of its own sentence, and a sentence may leave.
        drawn = data.draw(st.lists(st.integers(0, n_beams - 1), min_size=rows, max_size=rows))
        chosen = torch.arange(rows) // n_beams * n_beams + torch.tensor(drawn)
        cache.reorder(chosen)
        history = history[chosen]
        if rows > n_beams and data.draw(st.booleans()):
            cache.keep(torch.arange(1, rows // n_beams))
            history, source_of = history[n_beams:], source_of[n_beams:]
