import json

from dragoman.batches.loader import Position
from dragoman.training.state import TrainState, Validated


def state_of(*found):
    return TrainState(validations=[Validated(*one) for one in found])


def test_the_state_survives_json():
    state = TrainState(
        step=7,
        samples=9,
        tokens=2**60,
        seconds=0.1 + 0.2,
        total_steps=50,
        warmup_steps=3,
        review_step=13,
        position=Position(epoch=1, batch=3),
        validations=[Validated(5, 1 / 3, None), Validated(6, 1e-300, 27.5)],
        metrics_bytes=77,
        scaler={"scale": 2.0**20, "_growth_tracker": 5},
    )
    assert TrainState.from_dict(json.loads(json.dumps(state.to_dict()))) == state
    assert TrainState.from_dict(state.to_dict()) != TrainState()  # control


def test_states_do_not_share_their_lists():
    TrainState().validations.append(Validated(1, 1.0))
    assert TrainState().validations == []


def test_without_bleu_the_lowest_loss_is_best():
    state = state_of((10, 3.0), (20, 2.0), (30, 2.5))
    assert state.best.step == 20
    assert state.best_steps(2) == [20, 30]
    assert state.validations_without_progress == 1


def test_with_bleu_the_highest_is_best_and_loss_decides_between_equals():
    state = state_of((10, 2.0, 30.0), (20, 2.5, 31.0), (30, 2.4, 31.0), (40, 1.0, 5.0))
    assert state.best.step == 30
    assert state.best_steps(3) == [30, 20, 10]
    assert state.validations_without_progress == 1


def test_of_equals_the_earliest_is_best():
    state = state_of((10, 2.0), (20, 2.0), (30, 2.0))
    assert state.best.step == 10
    assert state.best_steps(1) == [10]
    assert state.validations_without_progress == 2


def test_before_any_validation_nothing_is_best():
    assert TrainState().best is None
    assert TrainState().best_steps(3) == []
    assert TrainState().validations_without_progress == 0
