import json
import pickle

import numpy as np
import pytest

from dragoman.config import DataConfig
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID

KINDS = ["bpe", "unigram", "words", "characters", "symbols"]
TEXTS = [
    "Ein Hund rennt.",
    "Die Katze liest ein Buch, und schläft",
    "",
    "unbekanntes 漢字",
    " a  b ",
]

every_kind = pytest.mark.parametrize("kind", KINDS)
joint_or_separate = pytest.mark.parametrize("joint_vocab", [True, False])


@every_kind
@joint_or_separate
def test_a_loaded_tokenizer_does_all_that_the_saved_one_did(trained, tmp_path, kind, joint_vocab):
    options = {"src_lang": "de", "tgt_lang": "en", "placeholders": ("<N>",), "lowercase": True}
    before = trained(tokenizer=kind, joint_vocab=joint_vocab, **options)
    before.save(tmp_path / "tokenizer")
    after = Tokenizer.load(tmp_path / "tokenizer")
    assert after.config == before.config
    assert after.to_config() == before.to_config()
    assert after.fingerprint() == before.fingerprint()
    assert after.is_joint is before.is_joint is joint_vocab
    assert (after.src_vocab_size, after.tgt_vocab_size) == (
        before.src_vocab_size,
        before.tgt_vocab_size,
    )
    for side in ("src", "tgt"):
        rows = before.encode_batch(TEXTS, side)
        assert after.encode_batch(TEXTS, side) == rows
        assert after.decode_batch(rows, side) == before.decode_batch(rows, side)
        assert [after.word_spans(r, side) for r in rows] == [
            before.word_spans(r, side) for r in rows
        ]
        assert [after.pieces(t, side) for t in TEXTS] == [before.pieces(t, side) for t in TEXTS]
        drawn = before.sample_batch(TEXTS, side, alpha=0.2, seed=3)
        assert after.sample_batch(TEXTS, side, alpha=0.2, seed=3) == drawn


@every_kind
def test_one_text_is_encoded_as_in_a_batch(trained, kind):
    tokenizer = trained(tokenizer=kind)
    assert [tokenizer.encode(text) for text in TEXTS] == tokenizer.encode_batch(TEXTS)
    assert tokenizer.encode_batch([]) == []
    assert tokenizer.decode_batch([]) == []


@every_kind
def test_decoding_skips_padding_and_the_ends(trained, kind):
    tokenizer = trained(tokenizer=kind)
    ids = tokenizer.encode("Ein Hund", "tgt")
    wrapped = [BOS_ID, *ids, EOS_ID, PAD_ID, PAD_ID]
    assert tokenizer.decode(wrapped) == tokenizer.decode(ids)
    assert tokenizer.decode([PAD_ID, BOS_ID, EOS_ID]) == ""


@every_kind
def test_arrays_decode_as_lists_do(trained, kind):
    tokenizer = trained(tokenizer=kind)
    rows = tokenizer.encode_batch(["Die Katze", "Die Katze"])
    assert tokenizer.decode_batch(np.array(rows, dtype=np.uint16)) == tokenizer.decode_batch(rows)
    assert tokenizer.word_spans(np.array(rows[0])) == tokenizer.word_spans(rows[0])


@every_kind
def test_unknown_is_shown_as_two_question_marks(trained, kind):
    tokenizer = trained(tokenizer=kind)
    assert tokenizer.decode([UNK_ID]) == "⁇"
    assert tokenizer.piece(UNK_ID) == "<unk>"


@every_kind
def test_lower_case_comes_back_lower(trained, kind):
    tokenizer = trained(tokenizer=kind, lowercase=True, min_frequency=1)
    assert tokenizer.decode(tokenizer.encode("Ein HUND rennt", "src"), "src").startswith("ein hund")


@every_kind
def test_a_joint_vocabulary_numbers_both_sides_alike(trained, kind):
    tokenizer = trained(tokenizer=kind, joint_vocab=True, min_frequency=1)
    assert tokenizer.encode("cat Garten", "src") == tokenizer.encode("cat Garten", "tgt")
    assert UNK_ID not in tokenizer.encode("cat Garten")


def test_separate_vocabularies_know_their_own_side_only(trained):
    tokenizer = trained(tokenizer="symbols", joint_vocab=False)
    assert tokenizer.encode("The Die", "src") == [UNK_ID, tokenizer.encode("Die", "src")[0]]
    assert tokenizer.encode("The Die", "tgt")[1] == UNK_ID
    assert not tokenizer.is_joint


def test_plain_texts_give_one_vocabulary_for_both_sides():
    config = DataConfig(tokenizer="characters", joint_vocab=False, min_frequency=1)
    tokenizer = Tokenizer.train(iter(["ab", "ba"]), config, seed=1)
    assert tokenizer.is_joint
    assert tokenizer.encode("ab", "src") == tokenizer.encode("ab", "tgt")


def test_pairs_may_carry_more_than_their_two_sides():
    corpus = [("1 2", "2 1", "file", 1)]
    tokenizer = Tokenizer.train(corpus, DataConfig(tokenizer="symbols"), seed=1)
    assert tokenizer.tgt_vocab_size == 6


@every_kind
def test_the_fingerprint_tells_tokenizers_apart(trained, pairs, kind):
    one = trained(tokenizer=kind)
    again = Tokenizer.train(pairs, DataConfig(tokenizer=kind), seed=1)
    other = trained(tokenizer=kind, lowercase=True)
    assert one.fingerprint() == again.fingerprint() != other.fingerprint()


def test_the_fingerprint_sees_a_single_piece_of_equal_length():
    config = DataConfig(tokenizer="symbols")
    prints = {Tokenizer.train([(f"1 {n}", "1")], config, seed=1).fingerprint() for n in "234"}
    assert len(prints) == 3


@every_kind
@joint_or_separate
def test_the_folder_holds_readable_settings_and_no_more_files_than_needed(
    trained, tmp_path, kind, joint_vocab
):
    trained(tokenizer=kind, joint_vocab=joint_vocab).save(tmp_path)
    suffix = ".model" if kind in ("bpe", "unigram") else ".json"
    stems = ["joint"] if joint_vocab else ["source", "target"]
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"tokenizer.json", *(stem + suffix for stem in stems)}
    assert json.loads((tmp_path / "tokenizer.json").read_text())["tokenizer"] == kind


def test_the_settled_keys_make_a_config_again(trained):
    settled = trained(tokenizer="bpe", placeholders=("<N>",), src_lang="de").to_config()
    assert None not in settled.values()
    assert DataConfig(**settled).src_lang == "de"


@every_kind
def test_it_travels_to_another_process(trained, kind):
    tokenizer = trained(tokenizer=kind)
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy.encode_batch(TEXTS) == tokenizer.encode_batch(TEXTS)
    assert copy.fingerprint() == tokenizer.fingerprint()


@every_kind
def test_half_a_surrogate_pair_does_no_harm(trained, kind):
    tokenizer = trained(tokenizer=kind)
    assert tokenizer.encode("Die \ud800 Katze") == tokenizer.encode("Die \ufffd Katze")


def test_a_wrong_side_is_refused(trained):
    with pytest.raises(ValueError, match="must be 'src' or 'tgt'"):
        trained(tokenizer="symbols").encode("1", "source")


@every_kind
def test_words_of_pieces_are_counted_by_spaces(trained, kind):
    tokenizer = trained(tokenizer=kind, min_frequency=1, tgt_lang="en")
    text = "A woman reads a book, and a man cooks."
    ids = tokenizer.encode(text, "tgt")
    spans = tokenizer.word_spans([BOS_ID, *ids, EOS_ID])
    assert spans[0] == spans[-1] == -1
    words = text.split(" ")
    for index, word in enumerate(words):
        own = [number for number, span in zip(ids, spans[1:-1], strict=True) if span == index]
        assert tokenizer.decode(own).strip() == word
    assert max(spans) == len(words) - 1
