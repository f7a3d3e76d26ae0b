"""The others are what they should be: with our weights they find what we find."""

from dataclasses import replace
from itertools import pairwise, product

import pytest
import torch
from torch.testing import assert_close

from dragoman.batches.batch import make_batch, pad_sources
from dragoman.bench.ctranslate2 import CTranslate2
from dragoman.bench.eole import Eole
from dragoman.bench.joeynmt import JoeyNMT
from dragoman.bench.marian import Marian
from dragoman.bench.ours import Dragoman
from dragoman.bench.peer import all_peers, choose_peers, is_plain, version_of
from dragoman.bench.torch_nn import TorchNN, UsualTransformer, cut, search
from dragoman.config import ModelConfig
from dragoman.errors import ConfigError
from dragoman.model.transformer import Transformer
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

SHAPE = ModelConfig(d_model=16, n_heads=2, n_layers=2, d_ff=24, vocab_size=37)
PAIRS = [([5, 6, 7], [8, 9]), ([10, 11, 12, 13, 14], [15, 16, 17, 18]), ([19], [20])]
SOURCES = [pad_sources([src for src, _ in PAIRS])]
ALL = [Dragoman(), TorchNN(), Marian(), JoeyNMT(), Eole(), CTranslate2("float32")]
TAKE_WEIGHTS = [TorchNN(), Marian(), CTranslate2("float32")]


def skip_unless_there(peer):
    if not peer.is_installed():
        pytest.skip(f"{peer.package} is not installed")


def some_weights(shape):
    """Weights that say different things for different sources, norms and biases included."""
    torch.manual_seed(3)
    found = Transformer(shape).state_dict()
    found = {name: w + 0.3 * torch.randn_like(w) for name, w in found.items()}
    found["embedding.weight"][PAD_ID] = 0.0
    return found


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_usual_transformer_with_our_weights_gives_our_logits(norm):
    shape = replace(SHAPE, norm=norm)
    weights = some_weights(shape)
    ours, theirs = Transformer(shape).eval(), UsualTransformer(shape).eval()
    ours.load_state_dict(weights)
    theirs.take(weights)
    batch = make_batch(PAIRS)
    real = batch.tgt_in != PAD_ID
    with torch.no_grad():
        expected = ours(batch.src_ids, batch.tgt_in)[real]
        assert_close(theirs(batch.src_ids, batch.tgt_in)[real], expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("peer", TAKE_WEIGHTS, ids=lambda peer: peer.name)
def test_with_our_weights_others_find_our_translations(peer):
    skip_unless_there(peer)
    weights, options = some_weights(SHAPE), {"beam": 1, "is_forced": False}
    ours = Dragoman().decoder(SHAPE, weights)(SOURCES, max_tokens=12, **options)
    theirs = peer.decoder(SHAPE, weights)(SOURCES, max_tokens=11, **options)
    assert len({tuple(ids) for ids in ours}) > 1
    assert theirs == [ids[:-1] for ids in ours]  # at the limit our search puts EOS


class Bigrams:
    """Stands for the usual model: what may follow depends on the last token alone."""

    def __init__(self):
        self.logits = torch.randn(7, 7, generator=torch.Generator().manual_seed(5)) * 3

    def encode(self, src_ids):
        return src_ids[:, :, None].float()

    def next_logits(self, tgt_ids, memory, src_ids):
        return self.logits[tgt_ids[:, -1]]

    def log_prob(self, ids):
        steps = self.logits.log_softmax(-1)
        return float(sum(steps[a, b] for a, b in pairwise([BOS_ID, *ids])))


@pytest.mark.parametrize("n_tokens", [1, 2, 3])
def test_a_simple_beam_as_wide_as_the_space_finds_the_best_sentence(n_tokens):
    model, sources = Bigrams(), torch.tensor([[5, 2], [6, 2]])
    free = [token for token in range(7) if token not in (PAD_ID, BOS_ID, EOS_ID)]
    best = max(product(free, repeat=n_tokens), key=model.log_prob)
    found = search(model, sources, beam=16, max_tokens=n_tokens, is_forced=True)
    assert found.tolist() == [list(best)] * 2


def test_a_simple_beam_ends_where_ending_is_best():
    model = Bigrams()
    model.logits[:, EOS_ID] += 4
    sentences = [(*begin, EOS_ID) for n in range(4) for begin in product(range(3, 7), repeat=n)]
    best = max(sentences, key=model.log_prob)
    found = search(model, torch.tensor([[5, 2]]), beam=16, max_tokens=8, is_forced=False)
    assert cut(found[0].tolist()) == list(best)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in what others write
@pytest.mark.parametrize("peer", ALL, ids=lambda peer: peer.name)
@pytest.mark.parametrize("beam", [1, 3])
def test_everybody_decodes_as_many_tokens_as_are_asked_for(peer, beam):
    skip_unless_there(peer)
    torch.manual_seed(1)
    found = peer.decoder(SHAPE)(SOURCES * 2, beam=beam, max_tokens=17, is_forced=True)
    assert [len(ids) for ids in found] == [17] * 6


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in what others write
@pytest.mark.parametrize("peer", ALL, ids=lambda peer: peer.name)
def test_everybody_who_trains_takes_a_step(peer):
    skip_unless_there(peer)
    step = peer.train_step(SHAPE, [make_batch(PAIRS), make_batch(PAIRS[:1])])
    if isinstance(peer, CTranslate2):
        assert step is None
    else:
        step()


def test_training_by_the_usual_step_changes_the_weights(monkeypatch):
    made = []
    init = UsualTransformer.__init__
    monkeypatch.setattr(
        UsualTransformer,
        "__init__",
        lambda self, config: (init(self, config), made.append(self))[0],
    )
    step = TorchNN().train_step(SHAPE, [make_batch(PAIRS)])
    before = made[0].embedding.weight.detach().clone()
    step()
    assert not torch.equal(made[0].embedding.weight, before)


def test_the_usual_model_has_our_sizes_and_the_last_norms_of_its_two_stacks():
    def count(model):
        return sum(p.numel() for p in model.parameters())

    assert count(UsualTransformer(SHAPE)) == count(Transformer(SHAPE)) + 4 * SHAPE.d_model


@pytest.mark.parametrize("peer", [JoeyNMT(), Eole()], ids=lambda peer: peer.name)
def test_who_cannot_take_our_weights_says_so(peer):
    assert peer.decoder(SHAPE, {}) is None


@pytest.mark.parametrize(
    "change", [{"activation": "gelu"}, {"positions": "rotary"}, {"tie": "none"}, {"window": 3}]
)
def test_a_model_beyond_the_paper_is_taken_over_by_nobody_else(change):
    shape = ModelConfig(d_model=16, n_heads=2, n_layers=1, d_ff=8, vocab_size=11, **change)
    assert not is_plain(shape)
    assert TorchNN().decoder(shape, {}) is None


def test_ourselves_come_first_and_names_are_different():
    names = [peer.name for peer in all_peers()]
    assert names[0] == "dragoman"
    assert len(set(names)) == len(names)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"no peer is called Moses; there are: dragoman, torch"):
        choose_peers(["Moses"])


def test_who_is_not_installed_has_no_version(few_installed):
    versions = {peer.name: version_of(peer) for peer in all_peers()}
    assert versions["torch.nn.Transformer"].startswith("2.")
    assert versions["Eole"] is versions["CTranslate2 int8"] is None
