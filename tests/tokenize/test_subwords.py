import io
import json
import pickle
import subprocess
import sys
import threading

import pytest

from dragoman.config import DataConfig
from dragoman.errors import TokenizerError
from dragoman.tokenize.subwords import Subwords, escape, unescape
from dragoman.tokenize.vocabulary import SPECIAL_PIECES, UNK_ID

KINDS = ["bpe", "unigram"]
SENTENCES = ["Ein Hund schläft im Garten.", "Die Frau kocht, während der Mann liest."] * 20


@pytest.mark.parametrize("text", ["▁", "\x10", "\x10_", "a▁b\x10", "\x10\x10_▁_", "plain"])
def test_an_escaped_text_has_no_mark_and_comes_back(text):
    assert "▁" not in escape(text)
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text",
    [" ", "  a", "a  ", "a   b", "▁", "a▁ b", "漢字", "e\u0301", "ﬁ", "\t", "\x00", "a\nb", "😀"],
)
def test_classic_traps_come_back(trained, kind, text):
    tokenizer = trained(tokenizer=kind)
    ids = tokenizer.encode(text)
    assert UNK_ID not in ids
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize("kind", KINDS)
def test_text_spelled_like_a_special_piece_stays_text(trained, kind):
    tokenizer = trained(tokenizer=kind)
    for special in SPECIAL_PIECES:
        ids = tokenizer.encode(special)
        assert min(ids) > UNK_ID
        assert tokenizer.decode(ids) == special


def test_the_numbers_are_those_of_sentencepiece_itself(trained):
    import sentencepiece

    model = trained(tokenizer="unigram").src_model
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.to_bytes())
    assert model.encode_batch(SENTENCES) == [theirs.encode(text) for text in SENTENCES]


def test_without_bytes_an_unknown_character_is_unknown(trained):
    tokenizer = trained(tokenizer="unigram", byte_fallback=False)
    ids = tokenizer.encode("Ein 漢 Hund")
    assert ids.count(UNK_ID) == 1
    assert tokenizer.decode(ids) == "Ein ⁇ Hund"


@pytest.mark.parametrize("kind", KINDS)
def test_a_placeholder_is_one_piece_even_with_a_space(trained, kind):
    tokenizer = trained(tokenizer=kind, placeholders=("<NAME>", "New York", "50 %▁"))
    for placeholder in ("<NAME>", "New York", "50 %▁"):
        text = f"in {placeholder}, ja"
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert "<NAME>" in tokenizer.pieces("an<NAME>!")
    assert "New▁York" in tokenizer.pieces("in New York, ja")


@pytest.mark.parametrize("kind", KINDS)
class TestSampling:
    def test_the_same_seed_gives_the_same_pieces_and_another_seed_others(self, trained, kind):
        tokenizer = trained(tokenizer=kind)
        first = tokenizer.sample_batch(SENTENCES, alpha=0.3, seed=7)
        assert tokenizer.sample_batch(SENTENCES, alpha=0.3, seed=7) == first
        assert tokenizer.sample_batch(SENTENCES, alpha=0.3, seed=8) != first

    def test_it_varies_the_pieces_and_keeps_the_text(self, trained, kind):
        tokenizer = trained(tokenizer=kind)
        sampled = tokenizer.sample_batch(SENTENCES, alpha=0.3, seed=1)
        assert sampled != tokenizer.encode_batch(SENTENCES)
        assert sampled[0] != sampled[2] or sampled[1] != sampled[3]  # one text, cut twice
        assert tokenizer.decode_batch(sampled) == SENTENCES

    def test_zero_is_off(self, trained, kind):
        tokenizer = trained(tokenizer=kind)
        assert tokenizer.sample_batch(SENTENCES, alpha=0, seed=1) == tokenizer.encode_batch(
            SENTENCES
        )

    def test_threads_do_not_disturb_each_other(self, trained, kind):
        tokenizer = trained(tokenizer=kind)
        alone = {s: tokenizer.sample_batch(SENTENCES, alpha=0.3, seed=s) for s in range(6)}
        found = {}

        def work(seed):
            found[seed] = tokenizer.sample_batch(SENTENCES, alpha=0.3, seed=seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in alone]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == alone

    def test_without_any_randomness_it_is_plain_encoding(self, trained, kind):
        tokenizer = trained(tokenizer=kind, placeholders=("<N>", "New York"))
        texts = [*SENTENCES, "", "  a ", "漢字 <N>x New Yorker", "▁\x10"]
        surely = {"bpe": 1e-12, "unigram": 1e6}[kind]
        drawn = tokenizer.sample_batch(texts, alpha=surely, seed=1)
        assert drawn == tokenizer.encode_batch(texts)

    def test_a_placeholder_is_never_cut(self, trained, kind):
        tokenizer = trained(tokenizer=kind, placeholders=("<NAME>", "New York"))
        texts = ["in New York bei <NAME>!"] * 50
        one_piece = {tokenizer.piece(i): i for i in range(tokenizer.src_vocab_size)}
        for ids in tokenizer.sample_batch(texts, alpha=0.5, seed=1):
            assert one_piece["<NAME>"] in ids
            assert one_piece["New▁York"] in ids

    def test_unknown_characters_in_a_row_are_one_unknown(self, trained, kind):
        tokenizer = trained(tokenizer=kind, byte_fallback=False)
        (ids,) = tokenizer.sample_batch(["漢字 漢"], alpha=0.1, seed=1)
        assert ids == tokenizer.encode("漢字 漢")
        assert ids.count(UNK_ID) == 2

    def test_another_process_draws_the_same(self, trained, kind, tmp_path):
        tokenizer = trained(tokenizer=kind)
        tokenizer.save(tmp_path)
        script = (
            "import sys, json\n"
            "from dragoman.tokenize.tokenizer import Tokenizer\n"
            "texts = json.load(sys.stdin)\n"
            "drawn = Tokenizer.load(sys.argv[1]).sample_batch(texts, alpha=0.3, seed=5)\n"
            "json.dump(drawn, sys.stdout)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            input=json.dumps(SENTENCES),
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout) == tokenizer.sample_batch(SENTENCES, alpha=0.3, seed=5)


def test_it_travels_to_another_process(trained):
    model = trained(tokenizer="bpe").src_model
    assert pickle.loads(pickle.dumps(model)).encode_batch(SENTENCES) == model.encode_batch(
        SENTENCES
    )


def test_ids_outside_the_vocabulary_are_refused(trained):
    tokenizer = trained(tokenizer="bpe")
    with pytest.raises(TokenizerError, match="outside a vocabulary"):
        tokenizer.decode([tokenizer.tgt_vocab_size])
    with pytest.raises(TokenizerError, match="no piece -1"):
        tokenizer.piece(-1)


@pytest.mark.parametrize("cut", [0, 1, 100, 1000])
def test_a_damaged_model_is_named(trained, cut):
    damaged = trained(tokenizer="bpe").src_model.to_bytes()[:cut]
    with pytest.raises(TokenizerError, match=r"joint\.model: this SentencePiece model"):
        Subwords(damaged, DataConfig(tokenizer="bpe"), name="joint.model")


def test_a_model_with_other_special_numbers_is_refused():
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(SENTENCES), model_writer=written, vocab_size=30, minloglevel=3
    )
    with pytest.raises(TokenizerError, match="x.model.* does not begin with <pad>"):
        Subwords(written.getvalue(), DataConfig(), name="x.model")
