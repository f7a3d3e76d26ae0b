"""``dragoman score``: a line a pair, totals on stderr, one JSON object on request."""

import json
import math
from pathlib import Path

import pytest
import torch

from dragoman.cli import score as command
from dragoman.cli.main import main
from dragoman.decoding import loading
from dragoman.decoding.scoring import PairScore


class Stand:
    """Gives each target token a log-probability of minus the number of source words."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def score(self, pairs, *, batch_tokens):
        self.sizes.append(len(pairs))
        return [
            PairScore((-1.0 * len(src.split()),) * (len(tgt.split()) + 1)) for src, tgt in pairs
        ]


@pytest.fixture
def stand(tmp_path, monkeypatch):
    (tmp_path / "a.de").write_text("ein Hund\nzwei\ndrei\n", encoding="utf-8")
    (tmp_path / "a.en").write_text("a dog\ntwo\n\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    stand = Stand()
    monkeypatch.setattr(loading, "load", lambda path, device: stand)
    return stand


ARGS = ["score", "run", "--src", "a.de", "--tgt", "a.en"]


def test_each_pair_has_its_line_and_the_totals_are_on_stderr(capsys, stand):
    assert main(ARGS) == 0
    out, err = capsys.readouterr()
    lines = [line.split("\t") for line in out.splitlines()]
    assert [float(log_prob) for log_prob, _ in lines] == [-6.0, -2.0, -1.0]
    assert [float(ppl) for _, ppl in lines] == pytest.approx([math.e**2, math.e, math.e], rel=1e-5)
    assert err == "3 sentences, 6 tokens: log-probability -9.0000, perplexity 4.48169\n"


def test_json_has_the_totals_and_the_pairs(capsys, stand):
    assert main([*ARGS, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found = json.loads(out)
    assert (found["log_prob"], found["tokens"], found["sentences"]) == (-9.0, 6, 3)
    assert found["perplexity"] == pytest.approx(math.exp(1.5))
    assert [pair["tokens"] for pair in found["pairs"]] == [3, 2, 1]
    assert found["pairs"][0] == {"log_prob": -6.0, "perplexity": math.exp(2), "tokens": 3}


def test_a_perplexity_past_all_numbers_is_null_in_json(capsys, stand):
    Path("a.de").write_text("w " * 800 + "\n\n\n", encoding="utf-8")
    assert main([*ARGS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"][0]["perplexity"] is None


def test_a_large_file_is_scored_in_parts_in_order(capsys, stand, monkeypatch):
    whole = main(ARGS), capsys.readouterr()
    monkeypatch.setattr(command, "AT_A_TIME", 2)
    assert (main(ARGS), capsys.readouterr()) == whole
    assert stand.sizes == [3, 2, 1]


def test_a_missing_line_is_named(capsys, stand):
    Path("a.en").write_text("a dog\n", encoding="utf-8")
    assert main(ARGS) == 2
    assert "a.en ends at line 1 but a.de goes on to line 3" in capsys.readouterr().err


def test_empty_files_are_refused(capsys, stand):
    Path("a.de").write_text("")
    Path("a.en").write_text("")
    assert main(ARGS) == 2
    assert "a.de is empty" in capsys.readouterr().err


def test_a_real_bundle_scores_as_its_loss_says(capsys, tmp_path):
    from dragoman.batches.batch import make_batch
    from dragoman.bundle import write_bundle
    from dragoman.config import Config, DataConfig, ModelConfig
    from dragoman.model.transformer import Transformer
    from dragoman.tokenize.tokenizer import Tokenizer

    pairs = [("1 2 3", "3 2 1"), ("2 3", "3 2"), ("1", "")]
    tokenizer = Tokenizer.train(pairs, DataConfig(tokenizer="symbols"), seed=1)
    shape = ModelConfig(
        d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=tokenizer.tgt_vocab_size
    )
    torch.manual_seed(1)
    model = Transformer(shape).eval()
    write_bundle(
        tmp_path / "run",
        config=Config(model=shape),
        weights={name: weight.numpy() for name, weight in model.state_dict().items()},
        save_tokenizer=tokenizer.save,
        record={},
    )
    for side, name in enumerate(("a.src", "a.tgt")):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in pairs))
    files = ["--src", str(tmp_path / "a.src"), "--tgt", str(tmp_path / "a.tgt")]
    assert main(["score", str(tmp_path / "run"), *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)

    for (src, tgt), pair in zip(pairs, found["pairs"], strict=True):
        batch = make_batch([(tokenizer.encode(src, "src"), tokenizer.encode(tgt, "tgt"))])
        log_probs = model(batch.src_ids, batch.tgt_in).log_softmax(-1)  # (1, T, V)
        gold = log_probs.gather(2, batch.tgt_out[..., None]).sum().item()
        assert pair["log_prob"] == pytest.approx(gold, rel=1e-5)
        assert pair["tokens"] == len(tgt.split()) + 1
    assert found["log_prob"] == pytest.approx(sum(p["log_prob"] for p in found["pairs"]))
