import subprocess
import sys

import numpy as np
import pytest

from dragoman.config import Config
from dragoman.errors import BundleError, InputTooLongError
from dragoman.reference import Transformer
from dragoman.reference.decoder_only import DecoderOnly
from dragoman.reference.encoder_only import EncoderOnly, pool
from dragoman.reference.initialize import initialize, parameter_shapes

CLOSE = {"rtol": 0, "atol": 1e-12}


@pytest.fixture
def model(config, make_params):
    return Transformer(config, make_params(config))


@pytest.fixture
def paper_model(make_config, make_params):
    config = make_config()
    return Transformer(config, make_params(config))


def test_logits_have_one_row_for_each_target_position(model, batch):
    assert model(batch["src_ids"], batch["tgt_in"]).shape == (2, 7, 13)


def test_padding_and_batch_mates_change_nothing(model, batch):
    src_ids, tgt_in = batch["src_ids"], batch["tgt_in"]
    together = model(src_ids, tgt_in)[1, :4]
    alone = model(src_ids[1:, :3], tgt_in[1:, :4])[0]
    np.testing.assert_allclose(together, alone, **CLOSE)


@pytest.mark.parametrize("cut", [1, 3, 6])
def test_a_position_never_sees_its_future(model, batch, cut):
    changed = batch["tgt_in"].copy()
    changed[0, cut:] = changed[0, cut:] % 12 + 1
    before, after = (model(batch["src_ids"], tgt)[0] for tgt in (batch["tgt_in"], changed))
    np.testing.assert_allclose(before[:cut], after[:cut], **CLOSE)
    assert not np.allclose(before[cut:], after[cut:])  # control: the change was felt


def test_the_source_is_felt_everywhere(model, batch):
    changed = batch["src_ids"].copy()
    changed[0, 0] = 10
    before, after = (model(src, batch["tgt_in"])[0] for src in (batch["src_ids"], changed))
    assert (np.abs(before - after).max(axis=-1) > 1e-6).all()


def test_recorded_weights_are_shares_of_what_may_be_seen(model, batch):
    record: dict[str, np.ndarray] = {}
    model(batch["src_ids"], batch["tgt_in"], record=record)
    config = model.config
    encoder = [f"encoder.{i}.self" for i in range(config.encoder_layers)]
    decoder = [f"decoder.{i}.{k}" for i in range(config.decoder_layers) for k in ("self", "cross")]
    assert list(record) == encoder + decoder
    for name, weights in record.items():
        lengths = {"self": (7, 7) if name.startswith("decoder") else (5, 5), "cross": (7, 5)}
        assert weights.shape == (2, 3, *lengths[name.split(".")[-1]])
        np.testing.assert_allclose(weights[0].sum(axis=-1), 1, **CLOSE)  # the unpadded sentence
    np.testing.assert_array_equal(record["decoder.0.cross"][1, ..., 3:], 0)
    np.testing.assert_array_equal(np.triu(record["decoder.0.self"][0, 0], 1), 0)


def test_a_window_hides_what_is_far(make_config, make_params, batch):
    config = make_config(window=1)
    record: dict[str, np.ndarray] = {}
    Transformer(config, make_params(config))(batch["src_ids"], batch["tgt_in"], record=record)
    weights = record["encoder.0.self"][0, 0]
    assert (np.abs(np.subtract.outer(range(5), range(5)))[weights > 0] <= 1).all()
    assert (record["decoder.0.cross"][0] > 0).all()  # control: cross-attention is not windowed


def test_greedy_takes_the_likeliest_piece_each_time(model, batch):
    src_ids = batch["src_ids"]
    written = model.greedy(src_ids, bos_id=1, eos_id=2, max_len=6)
    for row, ids in enumerate(written):
        src = src_ids[row : row + 1][:, src_ids[row] != 0]
        whole = [1, *ids] if len(ids) == 6 else [1, *ids, 2]
        likeliest = model(src, np.array([whole]))[0].argmax(axis=-1).tolist()
        assert likeliest[: len(whole) - 1] == whole[1:]


def test_greedy_stops_at_the_end_of_each_sentence_and_at_the_longest_length(paper_model):
    src_ids = np.arange(3, 13)[:, None] * np.array([1, 1, 1])
    first = [ids[0] for ids in paper_model.greedy(src_ids, bos_id=1, eos_id=99, max_len=1)]
    assert len(set(first)) > 1  # control: not all sentences begin alike
    written = paper_model.greedy(src_ids, bos_id=1, eos_id=first[0], max_len=4)
    for piece, ids in zip(first, written, strict=True):
        assert ids[:1] == ([] if piece == first[0] else [piece])
        assert len(ids) <= 4


def test_a_source_of_padding_alone_gives_numbers(paper_model):
    logits = paper_model(np.array([[0, 0]]), np.array([[1, 4]]))
    assert np.isfinite(logits).all()


def test_lengths_of_one_work(model):
    assert model(np.array([[4]]), np.array([[1]])).shape == (1, 1, 13)


def test_lengths_past_anything_seen_work_unless_positions_are_learned(model):
    src_ids = np.full((1, 40), 4)
    if model.config.positions == "learned":
        with pytest.raises(InputTooLongError, match="40 tokens"):
            model(src_ids, np.array([[1]]))
    else:
        assert np.isfinite(model(src_ids, np.array([[1]]))).all()


def test_float32_weights_give_float32_logits_and_nearly_the_same_numbers(model, batch):
    single = {name: value.astype(np.float32) for name, value in model.params.items()}
    record: dict[str, np.ndarray] = {}
    twin = Transformer(model.config, single)
    logits = twin(batch["src_ids"], batch["tgt_in"], record=record)
    assert logits.dtype == np.float32
    assert all(weights.dtype == np.float32 for weights in record.values())
    exact = model(batch["src_ids"], batch["tgt_in"])
    np.testing.assert_allclose(logits, exact, rtol=1e-4, atol=1e-4)


def write(path, config, weights):
    from dragoman.bundle import write_bundle

    whole = Config(model=config)
    write_bundle(path, config=whole, weights=weights, save_tokenizer=lambda _: None, record={})


def test_a_bundle_loads_into_the_twin(model, batch, tmp_path):
    write(tmp_path / "bundle", model.config, model.params)
    loaded = Transformer.load(tmp_path / "bundle")
    assert loaded.config == model.config
    np.testing.assert_allclose(
        loaded(batch["src_ids"], batch["tgt_in"]),
        model(batch["src_ids"], batch["tgt_in"]),
        rtol=1e-4,
        atol=1e-4,
    )


def test_a_bundle_of_another_kind_of_model_is_refused(paper_model, tmp_path):
    weights = dict(paper_model.params) | {"classifier.bias": np.zeros(3)}
    del weights["decoder.layers.1.cross_attention.qkv.bias"]
    write(tmp_path / "bundle", paper_model.config, weights)
    with pytest.raises(BundleError, match=r"decoder\.layers\.1\.cross_.*classifier\.bias"):
        Transformer.load(str(tmp_path / "bundle"))


def test_initial_parameters_have_the_promised_spread(make_config):
    config = make_config(d_model=300, d_ff=500, vocab_size=400, n_heads=3, activation="swiglu")
    params = initialize(config, seed=3)
    assert {name: value.shape for name, value in params.items()} == parameter_shapes(config)
    table = params["embedding.weight"]
    assert (table[config.pad_id] == 0).all()
    assert table[1:].std() == pytest.approx(300**-0.5, rel=0.02)
    for name, n_rows in {"self_attention.qkv": 300, "feed_forward.w1": 500}.items():
        bound = np.sqrt(6 / (300 + n_rows))
        largest = np.abs(params[f"encoder.layers.0.{name}.weight"]).max()
        assert 0.99 * bound < largest <= bound
    assert (params["encoder.layers.0.self_attention_norm.weight"] == 1).all()
    assert (params["decoder.layers.1.cross_attention.out.bias"] == 0).all()


def test_the_same_seed_gives_the_same_parameters_and_another_seed_others(make_config):
    name = "decoder.layers.0.feed_forward.w1.weight"
    one, same, other = (initialize(make_config(), seed)[name] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


@pytest.mark.parametrize("pooling", ["first", "mean", "max"])
def test_pooling_looks_at_real_positions_alone(pooling):
    states = np.array([[[1.0, -2.0], [5.0, -8.0], [99.0, 99.0]], [[7.0, 7.0]] * 3])
    is_real = np.array([[True, True, False], [False, False, False]])
    hand = {"first": [1, -2], "mean": [3, -5], "max": [5, -2]}[pooling]
    np.testing.assert_array_equal(pool(states, is_real, pooling), [hand, [0, 0]])


@pytest.mark.parametrize("pooling", ["first", "mean", "max"])
def test_the_encoder_alone_reads_sentences_of_any_padding(make_config, make_params, pooling):
    config = make_config()
    classifier = {"classifier.weight": np.ones((4, 12)), "classifier.bias": np.arange(4.0)}
    model = EncoderOnly(config, make_params(config) | classifier, pooling=pooling)
    padded, bare = np.array([[4, 5, 6, 0, 0]]), np.array([[4, 5, 6]])
    np.testing.assert_allclose(model(padded), model(bare), **CLOSE)
    np.testing.assert_allclose(
        model(bare), model.embed(bare).sum(axis=1)[:, None] + np.arange(4), **CLOSE
    )


def test_the_decoder_alone_goes_on_with_the_likeliest_token(make_config, make_params):
    config = make_config()
    model = DecoderOnly(config, make_params(config))
    written = model.greedy([1, 4], eos_id=2, max_len=6)
    assert written[:2] == [1, 4]
    likeliest = model(np.array([written]))[0].argmax(axis=-1).tolist()
    assert likeliest[1:-1] == written[2:]
    assert len(written) == 6 or likeliest[-1] == 2


def test_the_twin_needs_no_torch():
    script = (
        "import pkgutil, sys, dragoman.reference as twin\n"
        "for module in pkgutil.iter_modules(twin.__path__):\n"
        "    __import__(f'dragoman.reference.{module.name}')\n"
        "print('dragoman.reference.gradients' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]
