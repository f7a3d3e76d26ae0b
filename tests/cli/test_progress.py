from __future__ import annotations

import pytest

from dragoman.cli.progress import BarReporter, LineReporter, duration, make_reporter
from dragoman.training.reporting import Progress, Sample, Validation

PROGRESS = Progress(
    step=5,
    total_steps=20,
    loss=2.0,
    nll=1.0,
    learning_rate=1e-3,
    grad_norm=0.5,
    tokens_per_second=1234,
    seconds=3,
    seconds_left=90,
)
VALIDATION = Validation(
    val_loss=1.5,
    val_ppl=4.48,
    val_bleu=12.345,
    samples=[Sample(source="[red]ein Hund[/red]", translation="a dog", reference="a dog")],
)


@pytest.mark.parametrize("reporter_class", [LineReporter, BarReporter])
def test_everything_is_told_on_stderr_and_nothing_on_stdout(capsys, reporter_class):
    reporter = reporter_class()
    reporter.message("before the first step")
    reporter.progress(PROGRESS)
    reporter.validated(5, VALIDATION, is_best=True)
    reporter.message("afterwards [link]")
    reporter.close()
    told = capsys.readouterr()
    assert told.out == ""
    for part in ("before the first step", "1,234 tok/s", "BLEU 12.35", "best so far"):
        assert part in told.err
    assert "[red]ein Hund[/red]" in told.err  # text is shown as it is, never as markup
    assert "afterwards [link]" in told.err


def test_without_a_terminal_there_is_no_bar():
    assert type(make_reporter()) is LineReporter


def test_a_validation_without_bleu_does_not_speak_of_it(capsys):
    LineReporter().validated(5, Validation(val_loss=1, val_ppl=2.7, val_bleu=None), is_best=False)
    told = capsys.readouterr().err
    assert "BLEU" not in told
    assert "best" not in told


def test_an_unknown_time_is_a_question_mark():
    assert duration(float("nan")) == duration(float("inf")) == "?"


def test_a_long_preparation_says_how_far_it_is(capsys, monkeypatch):
    clock = iter(range(0, 1000, 20))
    monkeypatch.setattr("dragoman.cli.counter.time.monotonic", lambda: next(clock))
    reporter = LineReporter()
    reporter.prepared(10_000, 50_000)
    reporter.prepared(20_000, 50_000)
    reporter.message("done")
    assert "20,000 of 50,000 pairs prepared" in capsys.readouterr().err
