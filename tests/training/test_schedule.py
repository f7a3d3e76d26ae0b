import math

import pytest

from dragoman.config import TrainConfig
from dragoman.reference.schedule import noam
from dragoman.training.schedule import learning_rate, peak_rate

ALL = ["noam", "inverse_sqrt", "cosine", "linear", "exponential", "constant"]
FALLING = ["cosine", "linear", "exponential"]


def rates(steps, *, total_steps=1000, d_model=64, **options):
    config = TrainConfig(**options)
    return [learning_rate(s, config, d_model=d_model, total_steps=total_steps) for s in steps]


@pytest.mark.parametrize(("d_model", "warmup", "factor"), [(512, 4000, 1.0), (64, 7, 2.5)])
def test_noam_equals_the_papers_formula(d_model, warmup, factor):
    steps = [1, 2, 3, warmup - 1, warmup, warmup + 1, 2 * warmup, 100_000]
    ours = rates(steps, schedule="noam", warmup_steps=warmup, learning_rate=factor, d_model=d_model)
    formula = [factor * d_model**-0.5 * min(s**-0.5, s * warmup**-1.5) for s in steps]
    assert ours == pytest.approx(formula, rel=1e-12)
    twin = [noam(s, d_model=d_model, warmup_steps=warmup, factor=factor) for s in steps]
    assert ours == pytest.approx(twin, rel=1e-12)


@pytest.mark.parametrize("schedule", ["noam", *ALL[1:5]])
def test_the_rate_peaks_where_the_warm_up_ends(schedule):
    found = rates(range(1, 1001), schedule=schedule, warmup_steps=100)
    assert (
        max(found)
        == found[99]
        == pytest.approx(peak_rate(TrainConfig(schedule=schedule, warmup_steps=100), 64))
    )
    assert found[98] < found[99] > found[100]


@pytest.mark.parametrize("schedule", ALL[1:])
def test_a_given_learning_rate_is_the_peak(schedule):
    found = rates(range(1, 1001), schedule=schedule, warmup_steps=100, learning_rate=0.003)
    assert max(found) == pytest.approx(0.003)


def test_inverse_sqrt_is_noam_given_by_its_peak():
    paper = rates(range(1, 1001), schedule="noam", warmup_steps=100)
    same = rates(range(1, 1001), schedule="inverse_sqrt", warmup_steps=100, learning_rate=1 / 80)
    assert same == pytest.approx(paper, rel=1e-12)  # (64 · 100)^-½ = 1/80


@pytest.mark.parametrize("last", [0.0, 0.1])
@pytest.mark.parametrize(
    ("schedule", "middle"),
    [
        ("cosine", lambda last: (1 + last) / 2),
        ("linear", lambda last: (1 + last) / 2),
        ("exponential", lambda last: math.sqrt(last or 0.01)),
    ],
)
def test_the_fall_ends_at_its_share_of_the_peak(schedule, middle, last):
    found = rates(
        [100, 550, 1000],
        schedule=schedule,
        warmup_steps=100,
        learning_rate=2.0,
        final_learning_rate=last,
    )
    end = 0.01 if schedule == "exponential" and last == 0 else last
    assert found == pytest.approx([2, 2 * middle(last), 2 * end], abs=1e-12)


def test_cosine_and_linear_differ_between_their_ends():
    cosine, linear = (
        rates([325], schedule=name, warmup_steps=100, learning_rate=1.0)[0]
        for name in ("cosine", "linear")
    )
    assert cosine == pytest.approx((1 + math.cos(math.pi / 4)) / 2)
    assert linear == pytest.approx(0.75)


def test_constant_stays_at_the_peak():
    found = rates([50, 100, 101, 5000], schedule="constant", warmup_steps=100, learning_rate=1.0)
    assert found == [0.5, 1, 1, 1]


@pytest.mark.parametrize("schedule", ALL)
def test_without_warm_up_the_first_step_has_nearly_the_peak(schedule):
    found = rates(range(1, 1001), schedule=schedule, warmup_steps=0, learning_rate=1.0)
    peak = peak_rate(TrainConfig(schedule=schedule, warmup_steps=0, learning_rate=1.0), 64)
    assert found[0] == max(found) == pytest.approx(peak, rel=0.01)


@pytest.mark.parametrize("schedule", FALLING)
def test_past_the_last_step_the_rate_stays_where_it_ended(schedule):
    options = {"schedule": schedule, "warmup_steps": 10, "final_learning_rate": 0.2}
    end, past, far = rates([1000, 1001, 10**9], **options)
    assert end == past == far > 0


@pytest.mark.parametrize("schedule", ALL)
@pytest.mark.parametrize("total_steps", [1, 99, 100, 101])
def test_a_run_no_longer_than_its_warm_up_has_a_rate_at_every_step(schedule, total_steps):
    found = rates(range(1, 103), schedule=schedule, warmup_steps=100, total_steps=total_steps)
    assert all(math.isfinite(rate) and rate >= 0 for rate in found)
    assert found[:99] == sorted(found[:99])


def test_the_peak_without_a_wish_is_the_papers():
    for schedule in ("cosine", "inverse_sqrt"):
        assert peak_rate(TrainConfig(schedule=schedule), 512) == pytest.approx(6.9877e-4, rel=1e-4)
    assert peak_rate(TrainConfig(schedule="noam"), 512) == pytest.approx(6.9877e-4, rel=1e-4)
