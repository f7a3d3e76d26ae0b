from __future__ import annotations

import pytest

from dragoman import bundle
from dragoman.config_loading import load_config
from dragoman.corpus.reading import CorpusSource
from dragoman.errors import BundleError, ConfigError
from dragoman.runs.setup import TrainRequest, claim, set_up, write_settings
from dragoman.training.distributed import World

SYMBOLS = ["data.tokenizer=symbols", "model.d_model=8", "model.n_heads=2", "model.d_ff=8"]


class Listener:
    """A reporter that remembers what it was told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def message(self, text):
        self.said.append(text)

    def prepared(self, n_done, n_pairs):
        self.n_prepared = (n_done, n_pairs)

    def progress(self, progress): ...
    def validated(self, step, validation, *, is_best): ...


def request(corpus, out, *overrides, **more) -> TrainRequest:
    loaded = load_config(overrides=[*SYMBOLS, *overrides])
    return TrainRequest(out=out, loaded=loaded, train=corpus, **more)


def test_the_vocabulary_of_the_model_is_that_of_the_tokenizer(corpus, tmp_path):
    setup = set_up(request(corpus, tmp_path / "run"), World(), Listener())
    assert setup.config.model.vocab_size == setup.tokenizer.tgt_vocab_size
    assert setup.config.model.src_vocab_size is None


def test_separate_vocabularies_are_not_tied_to_the_source(corpus, tmp_path):
    wanted = request(corpus, tmp_path / "run", "data.joint_vocab=false")
    setup = set_up(wanted, World(), Listener())
    assert setup.config.model.tie == "decoder"
    assert setup.config.model.src_vocab_size == setup.tokenizer.src_vocab_size


def test_what_is_held_out_and_what_is_dropped_is_said_and_recorded(corpus, tmp_path):
    listener = Listener()
    setup = set_up(request(corpus, tmp_path / "run"), World(), listener)
    assert any("10 pairs are held out" in line for line in listener.said)
    assert setup.data["sentences"] == {"kept": 190, "dropped": {}}
    assert listener.n_prepared == (190, 190)
    assert setup.data["validation"]["held_out_of_training_files"] == 10
    assert len(setup.valid_pairs) == len(setup.valid_store) == 10


def test_a_second_run_finds_tokenizer_and_corpus_prepared(corpus, tmp_path, cache):
    first = set_up(request(corpus, tmp_path / "one"), World(), Listener())
    made = {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}
    second = set_up(request(corpus, tmp_path / "two"), World(), Listener())
    assert made == {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}
    assert first.tokenizer.fingerprint() == second.tokenizer.fingerprint()


def test_a_changed_corpus_is_prepared_anew(corpus, tmp_path):
    first = set_up(request(corpus, tmp_path / "one"), World(), Listener())
    with open(corpus.corpus[0], "a", encoding="utf-8") as file:
        file.write("new y\tnew y\n")
    second = set_up(request(corpus, tmp_path / "two"), World(), Listener())
    assert len(second.train_store) + len(second.valid_store) == 201
    assert first.tokenizer.fingerprint() != second.tokenizer.fingerprint()


def test_a_resumed_run_keeps_its_settings_and_may_be_told_to_go_on_longer(corpus, tmp_path):
    out = tmp_path / "run"
    write_settings(out, set_up(request(corpus, out, "train.steps=5"), World(), Listener()))
    longer = request(corpus, out, "train.steps=9", resume=True)
    assert set_up(longer, World(), Listener()).config.train.steps == 9
    same = request(corpus, out, resume=True)
    assert set_up(same, World(), Listener()).config.train.steps == 5


def test_a_resumed_run_refuses_to_become_another_one(corpus, tmp_path):
    out = tmp_path / "run"
    write_settings(out, set_up(request(corpus, out), World(), Listener()))
    other = request(corpus, out, "train.seed=9", "model.d_ff=16", resume=True)
    with pytest.raises(ConfigError) as caught:
        set_up(other, World(), Listener())
    assert "model.d_ff = 16: the run has 8" in str(caught.value)
    assert "train.seed = 9" in str(caught.value)


def test_epochs_end_the_schedule_where_they_end(corpus, tmp_path):
    wanted = request(corpus, tmp_path / "r", "train.epochs=3", "train.batch_tokens=250")
    setup = set_up(wanted, World(), Listener())
    # 190 pairs of 5 tokens a side, 50 pairs a batch: 4 batches an epoch
    assert setup.config.train.steps == 12


def test_a_folder_that_holds_something_else_is_not_taken(corpus, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(BundleError, match="not empty"):
        claim(request(corpus, tmp_path))
    with pytest.raises(BundleError, match="no run to resume"):
        claim(request(corpus, tmp_path, resume=True))
    with pytest.raises(BundleError, match="is a file"):
        claim(request(corpus, tmp_path / "mine.txt"))


def test_settings_are_in_the_folder_before_the_first_step(corpus, tmp_path):
    out = tmp_path / "run"
    setup = set_up(request(corpus, out), World(), Listener())
    write_settings(out, setup)
    assert bundle.read_config(out) == setup.config
    assert (out / "tokenizer" / "tokenizer.json").is_file()


def test_what_a_check_of_the_corpus_warns_of_is_said_before_training(tmp_path):
    path = tmp_path / "corpus.tsv"
    rows = [f"{n} x\t{n} x\n" for n in range(100)] + ["\tnothing\n"]
    path.write_text("".join(rows), encoding="utf-8")
    listener = Listener()
    wanted = request(CorpusSource(corpus=(str(path),)), tmp_path / "run")
    setup = set_up(wanted, World(), listener)
    assert [line for line in listener.said if "one side is empty" in line and ":101" in line]
    assert setup.data["sentences"]["dropped"] == {"empty": 1}
