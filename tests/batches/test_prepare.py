"""Preparing a corpus: built once, found again, never mixed up, never half there."""

import logging
import os
import subprocess
import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

from dragoman.batches import prepare as prepare_module
from dragoman.batches.loader import Batches, BatchSettings
from dragoman.batches.prepare import describe_files, prepare
from dragoman.config import DataConfig
from dragoman.corpus.pair import Pair
from dragoman.corpus.reading import CorpusSource
from dragoman.errors import DataError
from dragoman.tokenize.tokenizer import Tokenizer

CONFIG = DataConfig(max_length=6, max_length_ratio=1.5)


class Letters:
    """A tokenizer of letters that counts its calls; spaces give no piece."""

    src_vocab_size = tgt_vocab_size = 300

    def __init__(self, shift=0):
        self.shift = shift
        self.calls = 0

    def fingerprint(self):
        return f"letters {self.shift}"

    def encode_batch(self, texts, side):
        self.calls += 1
        return [[ord(c) + self.shift for c in text if c != " "] for text in texts]


@dataclass(frozen=True)
class Lines:
    """A corpus in memory, which describes itself in full."""

    lines: tuple[tuple[str, str], ...]

    def pairs(self):
        return (Pair(*line, "lines", n) for n, line in enumerate(self.lines, start=1))

    def files(self):
        return []


SOURCE = Lines((("ab", "cd"), ("efg", "hi")))


def _pairs(store):
    return [
        tuple(bytes(side.tolist()).decode() for side in store.pair(i)) for i in range(len(store))
    ]


def test_ids_of_the_pairs_are_stored_in_their_order(tmp_path):
    store = prepare(SOURCE, Letters(), CONFIG, cache_dir=tmp_path)
    assert _pairs(store) == [("ab", "cd"), ("efg", "hi")]
    assert store.info.tokenizer == "letters 0"


def test_what_is_dropped_is_counted_by_reason_and_nothing_is_cut_short(tmp_path):
    source = Lines(
        (
            ("ab", "cd"),
            ("ab", ""),  # empty
            ("ab", "cd"),  # duplicate
            ("abcdefg", "abcdef"),  # too_long
            ("abcdef", "abcdef"),  # as long as may be
            ("a\x07b", "cd"),  # control_characters
            ("a", "bcdefg"),  # at the ratio: the one piece counts as four
        )
    )
    store = prepare(source, Letters(), CONFIG, cache_dir=tmp_path)
    assert _pairs(store) == [("ab", "cd"), ("abcdef", "abcdef"), ("a", "bcdefg")]
    assert store.info.dropped == {
        "empty": 1,
        "duplicate": 1,
        "too_long": 1,
        "control_characters": 1,
    }
    assert store.info.n_read == 7


def test_lengths_in_pieces_too_far_apart_are_dropped(tmp_path):
    config = DataConfig(max_length_ratio=1.5)
    source = Lines((("abcd", "abcdef"), ("abcd", "abcdefg")))
    store = prepare(source, Letters(), config, cache_dir=tmp_path)
    assert store.info.dropped == {"length_ratio": 1}
    assert _pairs(store) == [("abcd", "abcdef")]


def test_pairs_of_the_validation_set_are_left_out(tmp_path):
    store = prepare(SOURCE, Letters(), CONFIG, cache_dir=tmp_path, exclude=[Lines((("ab", "cd"),))])
    assert _pairs(store) == [("efg", "hi")]
    assert store.info.dropped == {"in_validation": 1}


def test_a_second_run_reuses_the_store_and_encodes_nothing(tmp_path):
    tokenizer = Letters()
    first = prepare(SOURCE, tokenizer, CONFIG, cache_dir=tmp_path)
    calls = tokenizer.calls
    again = prepare(SOURCE, tokenizer, CONFIG, cache_dir=tmp_path)
    assert tokenizer.calls == calls
    assert (again.folder, again.info) == (first.folder, first.info)


@pytest.mark.parametrize(
    ("source", "tokenizer", "config", "exclude"),
    [
        (Lines((("ab", "cd"), ("efg", "hj"))), Letters(), CONFIG, ()),
        (SOURCE, Letters(shift=1), CONFIG, ()),
        (SOURCE, Letters(), replace(CONFIG, max_length=5), ()),
        (SOURCE, Letters(), replace(CONFIG, max_length_ratio=2.0), ()),
        (SOURCE, Letters(), replace(CONFIG, drop_duplicates=False), ()),
        (SOURCE, Letters(), replace(CONFIG, sampling=0.1), ()),
        (SOURCE, Letters(), CONFIG, (Lines((("x", "y"),)),)),
    ],
    ids=["pairs", "tokenizer", "max_length", "ratio", "duplicates", "sampling", "exclude"],
)
def test_whatever_decides_the_content_makes_another_store(
    tmp_path, source, tokenizer, config, exclude
):
    first = prepare(SOURCE, Letters(), CONFIG, cache_dir=tmp_path)
    other = prepare(source, tokenizer, config, cache_dir=tmp_path, exclude=exclude)
    assert other.folder != first.folder


def test_settings_that_do_not_matter_share_a_store(tmp_path):
    first = prepare(SOURCE, Letters(), replace(CONFIG, sampling=0.1), cache_dir=tmp_path)
    other = prepare(
        SOURCE, Letters(), replace(CONFIG, sampling=0.2, valid_size=9), cache_dir=tmp_path
    )
    assert other.folder == first.folder


def test_a_source_that_does_not_describe_itself_is_never_reused(tmp_path):
    class Anonymous:
        def pairs(self):
            return SOURCE.pairs()

        def files(self):
            return []

    source = Anonymous()
    first = prepare(source, Letters(), CONFIG, cache_dir=tmp_path)
    assert prepare(source, Letters(), CONFIG, cache_dir=tmp_path).folder != first.folder


def test_texts_are_kept_for_sampling(tmp_path):
    source = Lines((("a b", "cd"), ("", "x"), ("efg", "größe")))
    store = prepare(source, Letters(), replace(CONFIG, sampling=0.1), cache_dir=tmp_path)
    assert store.texts(np.array([1, 0])) == (["efg", "a b"], ["größe", "cd"])


@pytest.mark.parametrize("chunk", [1, 2, 1000])
def test_the_size_of_a_chunk_changes_nothing(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(prepare_module, "CHUNK", chunk)
    source = Lines((("ab", "cd"), ("abcdefg", "x"), ("efg", "hi"), ("j", "k")))
    store = prepare(source, Letters(), CONFIG, cache_dir=tmp_path)
    assert _pairs(store) == [("ab", "cd"), ("efg", "hi"), ("j", "k")]


def test_progress_counts_up_to_all_pairs_read(tmp_path, monkeypatch):
    monkeypatch.setattr(prepare_module, "CHUNK", 2)
    lines = tuple((chr(97 + n), "x") for n in range(5))
    seen = []
    prepare(
        Lines(lines),
        Letters(),
        CONFIG,
        cache_dir=tmp_path,
        on_progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(2, None), (4, None), (5, None)]


@pytest.mark.parametrize("name", ["src.ids.bin", "meta.json"])
def test_a_damaged_store_is_made_anew_and_said(tmp_path, caplog, name):
    first = prepare(SOURCE, Letters(), CONFIG, cache_dir=tmp_path)
    path = first.folder / name
    path.write_bytes(path.read_bytes()[:-1])
    with caplog.at_level(logging.WARNING):
        again = prepare(SOURCE, Letters(), CONFIG, cache_dir=tmp_path)
    assert _pairs(again) == [("ab", "cd"), ("efg", "hi")]
    assert "damaged and is made anew" in caplog.text
    assert [folder.name for folder in tmp_path.iterdir()] == [again.folder.name]


def test_a_corpus_of_which_nothing_is_left_says_why(tmp_path):
    with pytest.raises(DataError, match=r"no pair .*too_long 1"):
        prepare(Lines((("abcdefg", "abcdefg"),)), Letters(), CONFIG, cache_dir=tmp_path)
    with pytest.raises(DataError, match="it is empty"):
        prepare(Lines(()), Letters(), CONFIG, cache_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_error_while_reading_leaves_nothing_behind(tmp_path):
    @dataclass(frozen=True)
    class Broken:
        def pairs(self):
            yield Pair("ab", "cd", "f", 1)
            raise DataError("f:2: not UTF-8")

        def files(self):
            return []

    with pytest.raises(DataError, match="f:2"):
        prepare(Broken(), Letters(), CONFIG, cache_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_killed_builders_left_is_cleared_away_after_a_day(tmp_path):
    for name, age in ((".old.tmp", 2 * 24 * 3600), (".new.tmp", 60)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "src.ids.bin").touch()
        when = time.time() - age
        for path in (folder / "src.ids.bin", folder):
            os.utime(path, (when, when))
    prepare(SOURCE, Letters(), CONFIG, cache_dir=tmp_path)
    assert not (tmp_path / ".old.tmp").exists()
    assert (tmp_path / ".new.tmp").exists()  # somebody may be at work on it


def test_files_are_described_by_their_content(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert describe_files([path]) == [{"path": str(path), "bytes": 3, "sha256": sha256}]
    with pytest.raises(DataError, match="gone"):
        describe_files([tmp_path / "gone"])


def test_a_changed_file_is_prepared_anew(tmp_path):
    path = tmp_path / "corpus.tsv"
    path.write_text("ab\tcd\n", encoding="utf-8")
    source = CorpusSource(corpus=(str(path),))
    first = prepare(source, Letters(), CONFIG, cache_dir=tmp_path / "cache")
    path.write_text("ab\tce\n", encoding="utf-8")
    again = prepare(source, Letters(), CONFIG, cache_dir=tmp_path / "cache")
    assert (_pairs(first), _pairs(again)) == ([("ab", "cd")], [("ab", "ce")])
    assert again.info.files[0]["path"] == str(path)


def test_real_files_and_a_real_tokenizer_end_in_batches_of_the_same_text(tmp_path):
    words = ["der", "hund", "die", "katze", "ein", "vogel", "rennt", "schläft", "und", "nicht"]
    rng = np.random.default_rng(3)
    lines = sorted({" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(200)})
    (tmp_path / "t.de").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (tmp_path / "t.xx").write_text("".join(f"{line} .\n" for line in lines), encoding="utf-8")
    source = CorpusSource(src=(tmp_path / "t.de",), tgt=(tmp_path / "t.xx",))
    config = DataConfig(tokenizer="bpe", vocab_size=60, sampling=0.3, byte_fallback=False)
    tokenizer = Tokenizer.train(source.pairs(), config, seed=1)
    store = prepare(source, tokenizer, config, cache_dir=tmp_path / "cache")
    settings = BatchSettings(batch_tokens=200, seed=1, sampling=0.3, tokenizer=tokenizer)
    seen = {}
    with Batches(store, settings) as batches:
        first = next(batches)
        epoch = [first, *(next(batches) for _ in range(batches.n_batches - 1))]
    for batch in epoch:
        sources = tokenizer.decode_batch(batch.src_ids.tolist(), "src")
        targets = tokenizer.decode_batch(batch.tgt_out.tolist(), "tgt")
        seen |= dict(zip(sources, targets, strict=True))
    assert seen == {line: f"{line} ." for line in lines}


PREPARER = """
import sys, pathlib
from dragoman.batches.prepare import prepare
from dragoman.config import DataConfig
from dragoman.corpus.reading import CorpusSource
from dragoman.tokenize.tokenizer import Tokenizer

folder = pathlib.Path(sys.argv[1])
source = CorpusSource(corpus=(str(folder / "corpus.tsv"),))
tokenizer = Tokenizer.load(folder / "tokenizer")
sys.stdin.readline()  # all start together
store = prepare(source, tokenizer, DataConfig(), cache_dir=folder / "cache")
print(len(store), int(store.src_lengths.sum()))
"""


def test_processes_that_prepare_the_same_corpus_at_once_all_get_it_whole(tmp_path):
    rows = [f"{n} {n + 1}\t{n + 1} {n}\n" for n in range(3000)]
    (tmp_path / "corpus.tsv").write_text("".join(rows), encoding="utf-8")
    source = CorpusSource(corpus=(str(tmp_path / "corpus.tsv"),))
    tokenizer = Tokenizer.train(source.pairs(), DataConfig(tokenizer="symbols"), seed=1)
    tokenizer.save(tmp_path / "tokenizer")
    command = [sys.executable, "-c", PREPARER, str(tmp_path)]
    pipe = subprocess.PIPE
    builders = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(4)
    ]
    for builder in builders:
        builder.stdin.write("\n")
        builder.stdin.flush()
    results = [builder.communicate(timeout=120) for builder in builders]
    assert results == [("3000 6000\n", "")] * 4
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_preparing_does_not_import_torch(tmp_path):
    program = "import sys, dragoman.batches.prepare; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "False\n"
