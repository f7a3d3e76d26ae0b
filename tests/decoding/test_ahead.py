"""Many greedy steps in one call, against the same steps one by one."""

import pytest
import torch

from dragoman.batches.batch import pad_sources
from dragoman.decoding import ahead, greedy
from dragoman.decoding.ahead import run_ahead, say_ahead
from dragoman.decoding.greedy import greedy_search
from dragoman.model.int8 import quantize
from dragoman.model.scripted import compiled


@pytest.fixture
def calls(monkeypatch):
    """How many steps each call took; None where it was left to single steps."""
    taken = []

    def counted(*args, **options):
        said = say_ahead(*args, **options)
        taken.append(None if said is None else said.ids.size(0))
        return said

    monkeypatch.setattr(greedy, "say_ahead", counted)
    return taken


def singly(monkeypatch, *args, **options):
    with monkeypatch.context() as patch:
        patch.setattr(greedy, "say_ahead", lambda *args, **options: None)
        return greedy_search(*args, **options)


def test_it_is_compiled():
    assert compiled(run_ahead) is not None


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
@pytest.mark.parametrize("n_sentences", [1, 3, 40])
@pytest.mark.parametrize(
    "options",
    [
        {"max_extra": 6},
        {"max_extra": 60},  # long enough to go in circles, and to be looked at
        {"max_extra": 30, "min_len": 25},
        {"max_extra": 9, "max_len": 4},
    ],
    ids=str,
)
def test_what_is_said_is_what_single_steps_say(
    make_model, sources, monkeypatch, calls, n_sentences, options, positions
):
    model, src_ids = make_model(positions=positions), pad_sources(sources(n_sentences))
    found = greedy_search(model, src_ids, **options)
    expected = singly(monkeypatch, model, src_ids, **options)
    assert [(h.ids, h.ending) for h in found] == [(h.ids, h.ending) for h in expected]
    assert [h.log_prob for h in found] == pytest.approx([h.log_prob for h in expected], abs=1e-9)
    assert max(n or 0 for n in calls) > (n_sentences > 1)  # control: it was used


def test_prefixes_go_step_by_step_and_the_rest_ahead(make_model, sources, monkeypatch, calls):
    model, src_ids = make_model(), pad_sources(sources(3))
    options = {"max_extra": 9, "prefixes": [[7, 8], [], [9]]}
    found = greedy_search(model, src_ids, **options)
    assert [h.ids for h in found] == [h.ids for h in singly(monkeypatch, model, src_ids, **options)]
    assert calls[:2] == [None, None]
    assert any(calls[2:])


def test_a_vocabulary_in_blocks_that_do_not_divide_it(make_model, sources, monkeypatch, calls):
    model = make_model(vocab_size=1009)
    src_ids = pad_sources(sources(8))
    found = greedy_search(model, src_ids, max_extra=6)
    assert [h.ids for h in found] == [
        h.ids for h in singly(monkeypatch, model, src_ids, max_extra=6)
    ]
    assert any(calls)


def test_what_it_does_not_know_goes_step_by_step(make_model, sources, calls, monkeypatch):
    src_ids = pad_sources(sources(2))
    greedy_search(make_model().requires_grad_(True), src_ids, max_extra=4)  # weights that change
    greedy_search(quantize(make_model(double=False)), src_ids, max_extra=4)  # another product
    monkeypatch.setattr(ahead, "compiled", lambda function: None)  # no TorchScript
    greedy_search(make_model(), src_ids, max_extra=4)
    assert calls
    assert set(calls) == {None}


def test_rows_that_have_ended_leave_as_they_do_step_by_step(make_model, sources, monkeypatch):
    """The steps of a batch end where a quarter of it has, so that the others go on without it."""
    model, src_ids = make_model(), pad_sources(sources(40))
    sizes = []

    def counted(scorer, ids, cache, **options):
        sizes.append(ids.numel())
        return say_ahead(scorer, ids, cache, **options)

    monkeypatch.setattr(greedy, "say_ahead", counted)
    greedy_search(model, src_ids, max_extra=20)
    assert sizes[0] == 40
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 30
    assert torch.is_inference_mode_enabled() is False
