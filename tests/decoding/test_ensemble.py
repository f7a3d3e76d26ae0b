"""Models that vote."""

import pytest
import torch

from dragoman.batches.batch import pad_sources
from dragoman.decoding.beam_search import beam_search
from dragoman.decoding.ensemble import Ensemble, log_mean
from dragoman.decoding.scoring import score_ids


def test_the_vote_is_the_mean_of_probabilities():
    first, second = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.1, 0.1, 0.8])
    voted = log_mean([first.log() + 7, second.log() - 3]).exp()  # logits may be off by a constant
    torch.testing.assert_close(voted, torch.tensor([0.3, 0.2, 0.5]))


def test_a_model_with_itself_changes_nothing(make_model, sources):
    model, src_ids = make_model(), pad_sources(sources(12))
    alone = beam_search(model, src_ids, n_best=3, max_extra=8)
    twice = beam_search(Ensemble((model, model)), src_ids, n_best=3, max_extra=8)
    for one, other in zip(alone, twice, strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-9)


def test_scores_of_an_ensemble_are_those_of_its_forced_decoding(make_model, sources):
    models = make_model(seed=1), make_model(seed=2, d_model=18, n_layers=1)
    rows = sources(6)
    found = beam_search(Ensemble(models), pad_sources(rows), max_extra=8)
    forced = score_ids(models, [(row, h.ids) for row, (h,) in zip(rows, found, strict=True)])
    assert [h.log_prob for (h,) in found] == pytest.approx([s.log_prob for s in forced])
    first = beam_search(models[0], pad_sources(rows), max_extra=8)
    assert [h.ids for (h,) in found] != [h.ids for (h,) in first]  # control: the second was heard
