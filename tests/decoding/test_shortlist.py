import numpy as np
import pytest
import torch

from dragoman.batches.store_writer import write_store
from dragoman.config import ModelConfig
from dragoman.decoding.engine import TorchEngine
from dragoman.decoding.sampling import Sampling
from dragoman.decoding.settings import SearchSettings
from dragoman.decoding.shortlist import FILE, Shortlist
from dragoman.decoding.shortlist_building import N_EACH, build_shortlist
from dragoman.errors import BundleError
from dragoman.model.transformer import Transformer

V = 700  # more than the search sorts as it is
SOURCES = [[5, 6, 7], [8], [9, 10, 5, 6], [11, 12]]


def some_list(*, n_each=9, n_frequent=3, seed=1):
    random = np.random.default_rng(seed)
    return Shortlist(
        frequent=random.integers(4, V, n_frequent),
        offsets=np.arange(V + 1) * n_each,
        pieces=random.integers(4, V, V * n_each),
        n_targets=V,
    )


EVERYTHING = Shortlist(
    frequent=np.arange(V), offsets=np.zeros(V + 1, np.int64), pieces=np.zeros(0, np.int64),
    n_targets=V,
)  # fmt: skip


@pytest.fixture(scope="module")
def models():
    shape = ModelConfig(d_model=16, n_heads=2, n_layers=2, d_ff=32, vocab_size=V)
    made = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        model = Transformer(shape).double().eval().requires_grad_(False)
        for p in model.parameters():
            p.mul_(3.0)  # so that chances differ
        made.append(model)
    return made


def search(models, shortlist, sources=SOURCES, prefixes=None, **options):
    settings = SearchSettings(
        **({"beam": 3, "n_best": 2} | options), length_penalty=0.6, max_extra=5
    )
    engine = TorchEngine(models, shortlist)
    keys = [(source[0],) for source in sources]
    return engine.search(sources, settings, prefixes=prefixes, keys=keys)


WAYS = {
    "beam": {},
    "greedy": {"beam": 1, "n_best": 1},
    "sampling": {"sampling": Sampling(temperature=0.8)},
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("n_models", [1, 2])
def test_a_list_of_everything_changes_nothing(models, way, n_models):
    found = search(models[:n_models], EVERYTHING, **way)
    expected = search(models[:n_models], None, **way)
    for one, other in zip(found, expected, strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-9)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_only_candidates_of_the_own_source_are_said_whatever_stands_beside_it(models, way):
    shortlist = some_list()
    together = search(models[:1], shortlist, **way)
    for source, ranked in zip(SOURCES, together, strict=True):
        allowed = set(shortlist.candidates(source).tolist())
        assert all(set(h.ids) <= allowed for h in ranked)
        [alone] = search(models[:1], shortlist, [source], **way)
        assert [h.ids for h in alone] == [h.ids for h in ranked]
        assert [h.score for h in alone] == pytest.approx([h.score for h in ranked], abs=1e-9)


def test_a_prefix_may_have_other_pieces_than_the_list(models):
    shortlist = some_list()
    foreign = next(i for i in range(4, V) if i not in shortlist.candidates(SOURCES[1]))
    found = search(models[:1], shortlist, SOURCES[:2], prefixes=[[], [foreign, 4]])
    assert all(h.ids[:2] == (foreign, 4) for h in found[1])
    [beside] = search(models[:1], shortlist, SOURCES[:1])
    assert [h.ids for h in found[0]] == [h.ids for h in beside]


def test_what_translates_a_piece_is_on_its_list_and_what_stands_beside_it_is_not(tmp_path):
    random = np.random.default_rng(1)
    pairs = []
    for _ in range(4000):
        source = random.integers(4, 1500, 6)
        pairs.append((source, (source + 1500)[::-1]))
    store = write_store(tmp_path / "store", pairs, vocab_size=3000)
    shortlist = build_shortlist(store)
    for piece in range(4, 1500):
        own = shortlist.pieces[shortlist.offsets[piece] : shortlist.offsets[piece + 1]]
        assert own[0] == piece + 1500
        assert len(own) <= N_EACH
    counts = np.bincount(np.concatenate([tgt for _, tgt in pairs]), minlength=3000)
    assert counts[shortlist.frequent].min() >= np.sort(counts)[-len(shortlist.frequent)]
    assert shortlist.candidates([]).tolist()[:4] == [0, 1, 2, 3]


def test_a_saved_list_is_read_back(tmp_path):
    made = some_list()
    made.save(tmp_path)
    found = Shortlist.load(tmp_path, n_sources=V, n_targets=V)
    assert found.candidates([5, 77]).tolist() == made.candidates([5, 77]).tolist()


def test_a_bundle_without_a_list_or_with_another_s_says_so(tmp_path):
    with pytest.raises(BundleError, match="no shortlist"):
        Shortlist.load(tmp_path, n_sources=V, n_targets=V)
    some_list().save(tmp_path)
    with pytest.raises(BundleError, match="belongs to another model"):
        Shortlist.load(tmp_path, n_sources=V, n_targets=V + 1)
    (tmp_path / FILE).write_bytes(b"nothing")
    with pytest.raises(BundleError, match="damaged"):
        Shortlist.load(tmp_path, n_sources=V, n_targets=V)
