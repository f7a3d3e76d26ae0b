import builtins
import json
import logging

import pytest

from dragoman.training.metrics import METRICS, TENSORBOARD, MetricsLog, read_metrics


def write(run_dir, steps, *, from_byte=0, from_step=0, loss=1.0):
    """Log these steps and give the length of the file after each."""
    log = MetricsLog(run_dir, from_byte=from_byte, from_step=from_step)
    lengths = {}
    for step in steps:
        log.write({"step": step, "loss": loss})
        lengths[step] = log.n_bytes
    log.close()
    return lengths


def test_each_line_is_one_object(tmp_path):
    log = MetricsLog(tmp_path, from_byte=0, from_step=0)
    log.write({"step": 1, "loss": 0.5})
    log.write({"step": 2, "val_bleu": 30.0, "note": "Straße"})
    assert read_metrics(tmp_path) == [  # readable while the run goes on
        {"step": 1, "loss": 0.5},
        {"step": 2, "val_bleu": 30.0, "note": "Straße"},
    ]
    assert log.n_bytes == (tmp_path / METRICS).stat().st_size
    log.close()


def test_a_resumed_run_doubles_no_line(tmp_path):
    lengths = write(tmp_path, [10, 20, 30])
    write(tmp_path, [20, 30, 40], from_byte=lengths[10], from_step=10, loss=2.0)
    found = [(line["step"], line["loss"]) for line in read_metrics(tmp_path)]
    assert found == [(10, 1.0), (20, 2.0), (30, 2.0), (40, 2.0)]


def test_a_resumed_run_goes_on_after_a_half_written_line(tmp_path):
    lengths = write(tmp_path, [10, 20])
    with (tmp_path / METRICS).open("ab") as file:
        file.write(b'{"step": 30, "lo')
    write(tmp_path, [30], from_byte=lengths[20], from_step=20)
    assert [line["step"] for line in read_metrics(tmp_path)] == [10, 20, 30]


def test_a_new_run_begins_with_an_empty_file(tmp_path):
    write(tmp_path, [10])
    write(tmp_path, [1])
    assert [line["step"] for line in read_metrics(tmp_path)] == [1]


@pytest.mark.parametrize("lost", ["all", "some"])
def test_a_file_that_has_lost_lines_is_not_filled_up_with_nothing(tmp_path, lost):
    lengths = write(tmp_path, [10, 20, 30])
    if lost == "all":
        (tmp_path / METRICS).unlink()
    else:
        (tmp_path / METRICS).write_bytes((tmp_path / METRICS).read_bytes()[: lengths[10]])
    write(tmp_path, [40], from_byte=lengths[30], from_step=30)
    assert [line["step"] for line in read_metrics(tmp_path)][-1] == 40
    assert b"\0" not in (tmp_path / METRICS).read_bytes()


def test_a_half_written_last_line_is_left_out(tmp_path):
    write(tmp_path, [10, 20])
    with (tmp_path / METRICS).open("ab") as file:
        file.write(b'{"step": 30}')  # it looks whole, but its end is missing
    assert [line["step"] for line in read_metrics(tmp_path)] == [10, 20]


def test_an_empty_file_has_no_lines(tmp_path):
    write(tmp_path, [])
    assert read_metrics(tmp_path) == []


def test_tensorboard_shows_each_step_once_after_a_resume(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    lengths = write(tmp_path, [10, 20, 30])
    write(tmp_path, [20, 30, 40], from_byte=lengths[10], from_step=10, loss=2.0)
    board = EventAccumulator(str(tmp_path / TENSORBOARD)).Reload()
    assert board.Tags()["scalars"] == ["loss"]
    found = [(event.step, event.value) for event in board.Scalars("loss")]
    assert found == [(10, 1.0), (20, 2.0), (30, 2.0), (40, 2.0)]


def test_without_tensorboard_the_lines_are_written_all_the_same(tmp_path, monkeypatch, caplog):
    real = builtins.__import__

    def without(name, *args, **options):
        if name.startswith("torch.utils.tensorboard"):
            raise ImportError("no module named tensorboard")
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with caplog.at_level(logging.WARNING):
        write(tmp_path, [10])
    assert "no TensorBoard files are written" in caplog.text
    assert json.loads((tmp_path / METRICS).read_text(encoding="utf-8"))["step"] == 10
    assert not (tmp_path / TENSORBOARD).exists()
