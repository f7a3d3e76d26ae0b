"""Curves, their exponents and their picture; points grow along one axis at a time."""

from dataclasses import replace

import pytest

from dragoman.bench import contest
from dragoman.bench.contest import Outcome
from dragoman.bench.scaling import AXES, START, Setup, make_curve, measure_scaling
from dragoman.bench.scaling_picture import LABELS, draw_scaling
from dragoman.bench.worker import Memory
from dragoman.errors import ConfigError

LITTLE = Setup(length=4, batch=2, vocabulary=50, d_model=32, layers=1)


def test_a_point_has_the_sizes_it_says():
    setup = Setup(length=5, batch=3, vocabulary=70, d_model=64, layers=2)
    work = setup.work("decode")
    [batch] = work.batches
    assert [(len(src), len(tgt)) for src, tgt in batch] == [(5, 5)] * 3
    assert work.max_tokens == 6  # EOS included
    assert (work.shape.d_model, work.shape.n_heads, work.shape.d_ff) == (64, 2, 128)
    assert (work.shape.n_layers, work.shape.vocab_size) == (2, 70)


def test_along_an_axis_nothing_else_changes(monkeypatch):
    asked = []

    def fake_hold(entries, **options):
        asked.extend(work for _, work in entries.values())
        return {name: Outcome((1.0,), Memory(1, 2)) for name in entries}

    monkeypatch.setattr("dragoman.bench.scaling.hold", fake_hold)
    measure_scaling(kinds=["train"], axes=["layers"], points=3, start=LITTLE)
    assert [work.shape.n_layers for work in asked] == [1, 2, 4]
    assert len({replace(work.shape, n_layers=1) for work in asked}) == 1
    assert len({str(work.batches) for work in asked}) == 1


def test_known_exponents_are_reported_with_their_range():
    values = (8, 16, 32, 64)
    outcomes = [Outcome((x**2 / 1000,), Memory(100, 100 + 3 * x)) for x in values]
    found = make_curve("train", "length", values=values, outcomes=outcomes).to_dict()
    assert found["time_growth"]["all"] == {"exponent": 2.0, "explained": 1.0, "from": 8, "to": 64}
    assert found["time_growth"]["upper half"]["from"] == 32
    assert found["memory_growth"]["all"]["exponent"] == 1.0
    assert found["memory_mb"] == [24.0, 48.0, 96.0, 192.0]


def test_a_point_that_failed_is_left_out_of_the_fit():
    values = (8, 16, 32, 64)
    outcomes = [Outcome((x / 1000,), Memory(0, x)) for x in values]
    outcomes[-1] = Outcome(note="failed: no memory")
    found = make_curve("train", "length", values=values, outcomes=outcomes).to_dict()
    assert found["seconds"][-1] == 0
    assert found["time_growth"]["all"]["exponent"] == 1.0
    assert found["time_growth"]["all"]["to"] == 32
    assert "upper half" not in found["time_growth"]  # one point is no curve


def test_points_are_run_and_each_has_a_time(inline_workers):
    curves = measure_scaling(axes=["batch"], points=2, start=LITTLE, repeats=1)
    assert [(curve.kind, curve.axis) for curve in curves] == [
        ("train", "batch"),
        ("decode", "batch"),
    ]
    assert {curve.values for curve in curves} == {(1, 2)}
    assert {curve.seconds for curve in curves} == {(1.0, 1.0)}


def test_an_unknown_axis_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"no axis is called width; there are: length, batch"):
        measure_scaling(axes=["width"])


def test_every_axis_is_a_size_and_has_a_label():
    assert set(AXES) == set(LABELS) == set(vars(START))


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_picture_is_drawn(tmp_path, suffix):
    outcomes = [Outcome((x**1.5,), Memory(100, 100 + x)) for x in (8, 16, 32)]
    curves = [
        make_curve("train", "length", values=(8, 16, 32), outcomes=outcomes),
        make_curve("decode", "length", values=(8, 16, 32), outcomes=[Outcome(note="failed")] * 3),
        make_curve("decode", "layers", values=(1, 2), outcomes=outcomes[:2]),
    ]
    draw_scaling(curves, tmp_path / f"scaling.{suffix}")
    assert (tmp_path / f"scaling.{suffix}").stat().st_size > 10_000


def test_workers_are_those_of_the_contest(inline_workers):
    assert contest.Worker.__name__ == "InlineWorker"  # or the tests above would start processes
