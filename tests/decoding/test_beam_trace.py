"""The tree of a search: what was kept, pruned and finished, and the way to the translation."""

from collections import Counter
from itertools import pairwise

import pytest
import torch

from dragoman.decoding.beam_search import beam_search
from dragoman.decoding.beam_trace import BeamTrace
from dragoman.decoding.length_penalty import length_penalty
from dragoman.tokenize.vocabulary import EOS_ID

TEXT = "Ein Hund rennt über die Wiese."


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_the_best_path_is_the_translation(translator, beam):
    explanation = translator.explain(TEXT, beam=beam)
    path = [node for node in explanation.beam.nodes if node.best]
    assert tuple(node.piece for node in path) == ("<s>", *explanation.target.pieces)
    assert [node.step for node in path] == list(range(len(path)))
    assert all(b.parent == a.id for a, b in pairwise(path))
    assert path[-1].state == "finished"
    assert path[-1].log_prob == pytest.approx(explanation.log_prob)
    assert path[-1].score == pytest.approx(explanation.score)
    assert path[-1].text == explanation.target.text


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_no_step_keeps_more_than_the_beam_nor_proposes_more_than_twice_it(translator, beam):
    nodes = translator.explain(TEXT, beam=beam).beam.nodes
    kept = Counter(node.step for node in nodes if node.state == "kept")
    proposed = Counter(node.step for node in nodes if node.step)
    assert max(kept.values()) <= beam
    assert max(proposed.values()) <= 2 * beam
    assert kept[1] == beam


def test_what_the_last_step_held_was_gone_on_with_by_nobody(translator):
    texts = ["Die Katze", "x", "Der Mann liest", "Im Garten", TEXT, "Zwei Hunde schlafen"]
    found = [translator.explain(text, beam=1) for text in texts]
    trees = [explanation.beam.nodes for explanation in found if not explanation.notes]
    assert trees  # control: some ended by themselves, not for lack of room
    for nodes in trees:
        last = [node for node in nodes if node.step == nodes[-1].step]
        assert [node.state for node in last] == ["finished", "pruned"]


def test_only_kept_nodes_have_children_and_numbers_lead_to_parents(translator):
    nodes = translator.explain(TEXT, beam=3).beam.nodes
    assert [node.id for node in nodes] == list(range(len(nodes)))
    assert nodes[0].parent == -1
    for node in nodes[1:]:
        parent = nodes[node.parent]
        assert parent.state == "kept"
        assert parent.step == node.step - 1
        assert node.log_prob <= parent.log_prob


def test_finished_nodes_are_those_that_the_search_could_give_back(translator):
    explanation = translator.explain(TEXT, beam=3)
    nodes = explanation.beam.nodes
    finished = sorted((node for node in nodes if node.state == "finished"), key=lambda n: -n.score)
    assert all(node.piece == "</s>" for node in finished)
    best = [each.score for each in explanation.n_best]
    assert [node.score for node in finished][: len(best)] == pytest.approx(best)


def test_the_trace_agrees_with_the_chances_of_a_table(toy):
    """Every sum of log-probabilities is worked out again from the table."""
    scorer, trace = toy(9, seed=3), BeamTrace()
    source = (5, 6, EOS_ID)
    found = beam_search(
        scorer, torch.tensor([source]), beam_size=2, n_best=2, max_extra=3, on_step=trace
    )
    assert len(trace.seen) > 5
    for node in trace.seen[1:]:
        said, total = (1,), 0.0
        for token in node.ids:
            total += float(torch.log_softmax(scorer.logits(source, said), -1)[token])
            said = (*said, token)
        assert node.log_prob == pytest.approx(total)
    ends = {node.ids[:-1] for node in trace.seen if node.state == "finished"}
    assert {hypothesis.ids for hypothesis in found[0]} <= ends


def test_looking_on_changes_nothing(toy):
    scorer, src_ids = toy(9, seed=5), torch.tensor([[5, 6, 7, EOS_ID]])
    assert beam_search(scorer, src_ids, on_step=BeamTrace()) == beam_search(scorer, src_ids)


def test_a_forced_prefix_is_a_tree_without_branches(translator):
    explanation = translator.explain(TEXT, beam=3, prefix="A dog")
    nodes = explanation.beam.nodes
    for step in range(1, explanation.n_forced + 1):
        assert [node.best for node in nodes if node.step == step] == [True]


def test_scores_are_divided_by_the_penalty_of_their_length(translator):
    beam = translator.explain(TEXT, beam=2, length_penalty=1.3).beam
    assert beam.length_penalty == 1.3
    for node in beam.nodes[1:]:
        assert node.score == pytest.approx(node.log_prob / length_penalty(float(node.step), 1.3))
