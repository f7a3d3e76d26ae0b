"""Which sentences are compared, and what the comparison counts."""

import json

import pytest

from dragoman.bundle import read_bundle
from dragoman.config import DataConfig
from dragoman.corpus.tasks import generate
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.scoring import PairScore
from dragoman.export.comparison import Comparison, ExportError, compare, pick_sources
from dragoman.tokenize.tokenizer import Tokenizer


class Fixed:
    """An engine that says what it is told to."""

    max_positions = None

    def __init__(self, said, log_prob=-1.0):
        self.said, self.log_prob = said, log_prob

    def search(self, sources, settings, *, prefixes, keys):
        return [[Hypothesis(self.said(source), self.log_prob, self.log_prob)] for source in sources]

    def score(self, pairs, *, batch_tokens):
        return [PairScore((self.log_prob,)) for _ in pairs]


def test_equal_tokens_and_the_largest_difference_are_counted():
    sources = [[4], [5], [6], [7]]
    ours = Fixed(lambda source: (source[0], 9))
    theirs = Fixed(lambda source: (source[0], 9 if source[0] < 7 else 8), log_prob=-1.25)
    found = compare(ours, theirs, sources, texts="these")
    assert found == Comparison("these", 4, 3, 0.25)
    with pytest.raises(ExportError, match="3 of 4 sentences"):
        found.require_equal()
    Comparison("these", 100, 99, 0.0).require_equal()


def test_validation_files_are_read_again_where_they_are(make_bundle, tmp_path, tokenizer):
    (tmp_path / "valid.src").write_text("1 2\n\n3 4 5\n")
    (tmp_path / "valid.tgt").write_text("2 1\n\n5 4 3\n")
    files = [{"path": str(tmp_path / f"valid.{side}")} for side in ("src", "tgt")]
    bundle = make_bundle(record={"data": {"validation": {"files": files}}})
    sources, texts = pick_sources(bundle, tokenizer)
    assert sources == tokenizer.encode_batch(["1 2", "3 4 5"])
    assert texts == "its validation files"


def test_a_table_of_pairs_is_read_again_too(make_bundle, tmp_path, tokenizer):
    (tmp_path / "valid.tsv").write_text("1 2\t2 1\n")
    files = [{"path": str(tmp_path / "valid.tsv")}]
    bundle = make_bundle(record={"data": {"validation": {"files": files}}})
    assert pick_sources(bundle, tokenizer)[0] == tokenizer.encode_batch(["1 2"])


@pytest.mark.parametrize(
    "record", [{}, {"data": {"validation": {"files": [{"path": "gone.de"}, {"path": "gone.en"}]}}}]
)
def test_pieces_are_drawn_where_there_are_no_files(make_bundle, tokenizer, record):
    bundle = make_bundle(record=record)
    sources, texts = pick_sources(bundle, tokenizer)
    assert (len(sources), texts) == (20, "pieces by chance")
    assert sources == pick_sources(bundle, tokenizer)[0]  # the same ones again
    assert all(4 <= number < tokenizer.src_vocab_size for ids in sources for number in ids)


def test_the_task_that_the_record_names_is_taken(make_bundle, tokenizer):
    sources, texts = pick_sources(make_bundle(record={"task": "reverse"}), tokenizer)
    assert texts == "its task"
    expected = [each.src for each in generate("reverse", 20, split="valid")]
    assert sources == tokenizer.encode_batch(expected)


@pytest.mark.parametrize(
    ("task", "data"),
    [
        ("grammar", {"vocab_size": 3000}),
        ("grammar_en_de", {"vocab_size": 800, "joint_vocab": False}),
        ("grammar_en_de", {"vocab_size": 3000, "src_lang": "en"}),
    ],
)
def test_the_grammar_is_taken_by_a_tokenizer_that_knows_it(make_bundle, task, data):
    pairs = [(each.src, each.tgt) for each in generate(task, 1500)]
    learned = Tokenizer.train(pairs, DataConfig(tokenizer="bpe", **data), seed=1)
    sources, texts = pick_sources(make_bundle(), learned)
    assert texts == "the built-in grammar"
    first = next(generate(task, 1, split="test")).src
    assert learned.decode(sources[0], "src") == first


def test_a_comparison_says_itself_in_json():
    found = Comparison("these", 4, 3, 0.25)
    assert json.loads(json.dumps(found.to_dict())) == {
        "texts": "these",
        "sentences": 4,
        "equal_tokens": 3,
        "largest_score_difference": 0.25,
    }


def test_learned_positions_bound_the_sentences(make_bundle, tokenizer):
    bundle = make_bundle(positions="learned", max_positions=10)
    sources, _ = pick_sources(read_bundle(bundle.path), tokenizer)
    assert max(map(len, sources)) < 5
