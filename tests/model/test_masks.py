import torch

from dragoman.model.masks import (
    causal_mask,
    decoder_mask,
    encoder_mask,
    padding_mask,
    window_mask,
)

IDS = torch.tensor([[7, 8, 9, 4], [7, 8, 0, 0]])


def as_rows(mask):
    return ["".join("x" if seen else "." for seen in row) for row in mask.tolist()]


def test_padding_mask_shows_the_real_keys_to_every_query():
    mask = padding_mask(IDS, pad_id=0)
    assert mask.shape == (2, 1, 1, 4)
    assert mask.dtype == torch.bool
    assert as_rows(mask[:, 0, 0]) == ["xxxx", "xx.."]


def test_padding_mask_follows_the_pad_id_it_is_given():
    assert as_rows(padding_mask(IDS, pad_id=8)[:, 0, 0]) == ["x.xx", "x.xx"]


def test_causal_mask_shows_a_query_itself_and_its_past():
    mask = causal_mask(4)
    assert mask.shape == (1, 1, 4, 4)
    assert as_rows(mask[0, 0]) == ["x...", "xx..", "xxx.", "xxxx"]


def test_window_mask_shows_both_sides_up_to_the_window():
    assert as_rows(window_mask(5, 2)[0, 0]) == ["xxx..", "xxxx.", "xxxxx", ".xxxx", "..xxx"]


def test_a_window_as_long_as_the_sentence_shows_everything():
    assert window_mask(5, 4).all()
    assert not window_mask(5, 3).all()  # control: one less hides the far corners


def test_encoder_mask_without_a_window_is_the_padding_mask():
    assert torch.equal(encoder_mask(IDS, 0), padding_mask(IDS, 0))


def test_encoder_mask_joins_padding_and_window():
    mask = encoder_mask(IDS, 0, window=1)
    assert mask.shape == (2, 1, 4, 4)
    assert as_rows(mask[0, 0]) == ["xx..", "xxx.", ".xxx", "..xx"]
    assert as_rows(mask[1, 0]) == ["xx..", "xx..", ".x..", "...."]


def test_decoder_mask_joins_padding_and_causality():
    mask = decoder_mask(IDS, 0)
    assert mask.shape == (2, 1, 4, 4)
    assert as_rows(mask[0, 0]) == ["x...", "xx..", "xxx.", "xxxx"]
    assert as_rows(mask[1, 0]) == ["x...", "xx..", "xx..", "xx.."]


def test_decoder_mask_joins_all_three():
    assert as_rows(decoder_mask(IDS, 0, window=1)[0, 0]) == ["x...", "xx..", ".xx.", "..xx"]
    assert as_rows(decoder_mask(IDS, 0, window=1)[1, 0]) == ["x...", "xx..", ".x..", "...."]


def test_masks_of_length_one_show_the_only_key():
    for mask in (causal_mask(1), window_mask(1, 1), decoder_mask(IDS[:1, :1], 0)):
        assert mask.tolist() == [[[[True]]]]
