"""``bench decode``: forced lengths that are checked, and real translations that are compared."""

from pathlib import Path

import pytest
import torch

from dragoman.bench import decoding
from dragoman.bench.contest import Outcome
from dragoman.bench.decoding import CASES, SENTENCES, DecodeCase, measure_decoding, measure_real
from dragoman.bench.ours import Dragoman
from dragoman.bench.text import Text
from dragoman.bench.torch_nn import TorchNN
from dragoman.bench.worker import Memory
from dragoman.bundle import write_bundle
from dragoman.config import Config, DataConfig, ModelConfig
from dragoman.errors import DataError
from dragoman.model.transformer import Transformer
from dragoman.presets import MODEL_PRESETS
from dragoman.tokenize.tokenizer import Tokenizer

TEXT = Text("made up", 30, [([5] * n, [6]) for n in (2, 3, 7, 9) * 10])


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    pairs = [("1 2 3", "3 2 1"), ("2 3", "3 2")]
    tokenizer = Tokenizer.train(pairs, DataConfig(tokenizer="symbols"), seed=1)
    shape = ModelConfig(d_model=16, n_heads=2, n_layers=1, d_ff=8, vocab_size=7)
    torch.manual_seed(1)
    write_bundle(
        tmp_path / "mine",
        config=Config(model=shape, data=tokenizer.config),
        weights={name: w.numpy() for name, w in Transformer(shape).state_dict().items()},
        save_tokenizer=tokenizer.save,
        record={},
    )
    return tmp_path / "mine"


def test_three_ways_are_measured_with_the_same_number_of_tokens(inline_workers, monkeypatch):
    peers = [Dragoman(), TorchNN()]
    options = {"preset": "tiny", "n_sentences": 10, "n_tokens": 3, "repeats": 1}
    cases = list(measure_decoding(TEXT, peers, **options))
    assert [case["case"] for case in cases] == [case.name for case in CASES]
    assert [case["sentences"] for case in cases] == [10, 10, 1]
    for case in cases:
        ours, theirs = case["results"]
        assert ours["tokens_per_second"] == case["sentences"] * 3  # in one second
        assert theirs["ms_per_sentence"] == 3000 / case["sentences"]
        assert theirs["ratio"]["median"] == 3.0


def test_who_stops_early_has_no_result(monkeypatch):
    def hold(entries, **options):
        good, short = Outcome((1.0,), Memory(1, 2), n_tokens=30), Outcome((0.1,), n_tokens=29)
        return {"dragoman": good, "torch.nn.Transformer": short}

    monkeypatch.setattr(decoding, "hold", hold)
    monkeypatch.setattr(decoding, "CASES", CASES[:1])
    options = {"preset": "tiny", "n_sentences": 10, "n_tokens": 3}
    [case] = measure_decoding(TEXT, [Dragoman(), TorchNN()], **options)
    assert case["results"][1]["note"] == "decoded 29 tokens, not 30"
    assert "ratio" not in case["results"][1]


def test_one_sentence_at_a_time_takes_a_tenth_of_them():
    assert DecodeCase(1, 1, share=0.1).name == "batch 1, greedy"
    assert DecodeCase(32, 5).name == "batch 32, beam 5"
    assert CASES[-1].share == 0.1


def test_every_preset_has_a_number_of_sentences():
    assert set(SENTENCES) == set(MODEL_PRESETS)


def test_real_translations_are_compared_with_ours(inline_workers, few_installed, bundle):
    texts = ["1 2 3", "", "3 1", "2 2 2 1"]
    cases = list(measure_real(bundle, texts, [Dragoman(), TorchNN()], repeats=1))
    assert [case["sentences"] for case in cases] == [3, 3, 1]  # the empty line is no work
    results = {result["peer"]: result for result in cases[0]["results"]}
    assert "same_as_ours" not in results["dragoman"]
    assert 0 <= results["torch.nn.Transformer"]["same_as_ours"] <= 1
    assert results["torch.nn.Transformer"]["ratio"]["median"] == 3.0
    assert results["text to text, --engine torch"]["tokens_per_second"] > 0
    assert results["text to text, --engine torch --int8"]["ratio"]["median"] == 2.0
    assert results["text to text, --engine ctranslate2"]["note"] == "not installed"


def test_the_share_of_equal_translations_is_counted_without_end_tokens(monkeypatch, bundle):
    def hold(entries, **options):
        ours = Outcome((1.0,), Memory(1, 2), found=((5, 6, 2), (5, 2)))
        theirs = Outcome((1.0,), Memory(1, 2), found=((5, 6), (6,)))
        return {"dragoman": ours, "torch.nn.Transformer": theirs}

    monkeypatch.setattr(decoding, "hold", hold)
    monkeypatch.setattr(decoding, "CASES", CASES[:1])
    [case] = measure_real(bundle, ["1 2", "3"], [Dragoman(), TorchNN()])
    assert case["results"][1]["same_as_ours"] == 0.5
    assert case["results"][1]["tokens_per_second"] == 5  # both ends counted


def test_nothing_to_translate_is_an_error(bundle):
    with pytest.raises(DataError, match="no sentence to translate"):
        next(measure_real(bundle, ["", "  "], [Dragoman()]))
