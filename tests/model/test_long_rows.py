"""Matrices laid out for decoding: the same numbers, another order in memory."""

import torch

from dragoman.model.long_rows import long_rows
from dragoman.model.transformer import Transformer


def test_shapes_and_numbers_stay(make_config, make_ids):
    model = Transformer(make_config()).eval()
    src_ids, tgt_ids = make_ids(4, 3), make_ids(5, 2, seed=3)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    logits = model(src_ids, tgt_ids)
    turned = long_rows(model)
    after = turned.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert turned.decoder.layers[0].feed_forward.w1.weight.t().is_contiguous()
    torch.testing.assert_close(turned(src_ids, tgt_ids), logits, rtol=0, atol=1e-5)


def test_weights_can_be_loaded_into_it(make_config):
    source, target = Transformer(make_config()), long_rows(Transformer(make_config()))
    target.load_state_dict(source.state_dict())
    assert torch.equal(
        target.encoder.layers[0].feed_forward.w2.weight,
        source.encoder.layers[0].feed_forward.w2.weight,
    )
