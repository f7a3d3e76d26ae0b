"""A contestant in a process of its own: it works when told, tells its memory, and may fail."""

import io
import json

import pytest

from dragoman.bench.work import Work
from dragoman.bench.worker import Memory, Worker, WorkerError, serve
from dragoman.config import ModelConfig

SHAPE = ModelConfig(d_model=16, n_heads=2, n_layers=1, d_ff=8, vocab_size=20)
BATCHES = [[([5, 6], [7]), ([8], [9, 10])]]


def talk(tmp_path, work, *, peer="dragoman", questions=("end",)):
    """What a worker answers, served within this process."""
    order = tmp_path / "order"
    who = json.dumps({"peer": peer, "threads": 1})
    order.write_text(f"{who}\n{work.to_json()}\n", encoding="utf-8")
    answers = io.StringIO()
    serve(order, io.StringIO("".join(f"{q}\n" for q in questions)), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_a_worker_decodes_as_often_as_it_is_asked(tmp_path):
    work = Work("decode", SHAPE, BATCHES, max_tokens=7)
    ready, first, second, found, end = talk(
        tmp_path, work, questions=["run", "run", "found", "end"]
    )
    assert ready == {"ready": True}
    assert first["tokens"] == second["tokens"] == 14
    assert first["seconds"] > 0
    assert [len(ids) for ids in found["found"]] == [7, 7]
    assert 0 < end["before_mb"] <= end["peak_mb"]


def test_a_worker_that_cannot_do_the_work_says_so_and_ends(tmp_path):
    answers = talk(tmp_path, Work("train", SHAPE, BATCHES), peer="CTranslate2 float32")
    assert answers == [{"ready": False}]


def test_training_gives_no_tokens(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr("dragoman.bench.ours.keep_large_blocks", lambda **how: kept.append(how))
    _, run, _ = talk(tmp_path, Work("train", SHAPE, BATCHES), questions=["run", "end"])
    assert run["tokens"] is None
    assert kept  # as `dragoman train` keeps memory between steps


def test_memory_that_did_not_grow_is_no_less_than_nothing():
    assert Memory(before_mb=100, peak_mb=130).growth_mb == 30
    assert Memory(before_mb=100, peak_mb=99).growth_mb == 0


@pytest.mark.slow
def test_a_worker_of_its_own_process_answers_and_ends():
    with Worker("dragoman", Work("decode", SHAPE, BATCHES, max_tokens=5), threads=1) as worker:
        assert worker.is_ready()
        assert worker.run() > 0
        assert worker.n_tokens == 10
        assert [len(ids) for ids in worker.found()] == [5, 5]
        memory = worker.finish()
        assert memory.peak_mb > memory.before_mb > 50  # PyTorch alone takes that
        assert worker._process.wait(timeout=60) == 0


@pytest.mark.slow
def test_a_worker_that_fails_is_quoted():
    bad = Work("train", SHAPE, [[([5], [99])]])  # beyond the vocabulary
    with Worker("dragoman", bad, threads=1) as worker:
        assert worker.is_ready()
        with pytest.raises(WorkerError, match=r"^dragoman: \w+Error: .*out of"):
            worker.run()


@pytest.mark.slow
def test_a_process_is_not_left_behind_when_the_parent_gives_up():
    worker = Worker("dragoman", Work("decode", SHAPE, BATCHES), threads=1)
    with pytest.raises(KeyboardInterrupt), worker:
        raise KeyboardInterrupt
    assert worker._process.poll() is not None
