"""One way into every format: what a user names on the command line becomes pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.corpus.files import COMPRESSIONS, check_is_file, without_compression
from dragoman.corpus.pair import Pair
from dragoman.corpus.plain_text import check_sides, read_pairs
from dragoman.errors import DataError

HUGGING_FACE = "hf:"
KINDS = {
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".tmx": "tmx",
    ".po": "po",
    ".xliff": "xliff",
    ".xlf": "xliff",
    ".xlf2": "xliff",
}
_KNOWN = f"{' '.join(KINDS)} (also with {' '.join(COMPRESSIONS)}), a folder of such files, hf:NAME"


@dataclass(frozen=True, slots=True)
class CorpusSource:
    """Where the pairs of a corpus come from: two sides of text files, and files that hold both.

    >>> source = CorpusSource(src=(Path("train.de"),), tgt=(Path("train.en"),))
    >>> source.is_empty
    False
    """

    src: tuple[Path, ...] = ()
    tgt: tuple[Path, ...] = ()
    corpus: tuple[str, ...] = ()
    src_lang: str | None = None
    tgt_lang: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was named at all."""
        return not (self.src or self.tgt or self.corpus)

    def check(self) -> None:
        """Nothing, or an error where what was named cannot be a corpus, before any reading."""
        if self.is_empty:
            raise DataError("no corpus was named\n  Give --src and --tgt, or --corpus.")
        check_sides(self.src, self.tgt)

    def pairs(self) -> Iterator[Pair]:
        """The pairs, read anew at every call."""
        return open_corpus(
            self.src, self.tgt, self.corpus, src_lang=self.src_lang, tgt_lang=self.tgt_lang
        )

    def files(self) -> list[Path]:
        """The files behind the pairs, in the order of reading."""
        return corpus_files(self.src, self.tgt, self.corpus)


def open_corpus(
    src_files: Sequence[Path],
    tgt_files: Sequence[Path],
    corpus: Sequence[str] = (),
    *,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
) -> Iterator[Pair]:
    r"""The pairs of aligned text files, then those of each corpus file, folder or data set.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.tsv")
    ...     _ = path.write_text("ein Hund\ta dog\n")
    ...     [pair[:2] for pair in open_corpus([], [], [str(path)])]
    [('ein Hund', 'a dog')]
    """
    CorpusSource(tuple(src_files), tuple(tgt_files), tuple(corpus)).check()
    yield from read_pairs(src_files, tgt_files)
    for name in corpus:
        if name.startswith(HUGGING_FACE):
            from dragoman.corpus.huggingface import read_dataset

            yield from read_dataset(
                name.removeprefix(HUGGING_FACE), src_lang=src_lang, tgt_lang=tgt_lang
            )
        else:
            yield from _read_path(Path(name), src_lang=src_lang, tgt_lang=tgt_lang)


def corpus_files(
    src_files: Sequence[Path], tgt_files: Sequence[Path], corpus: Sequence[str] = ()
) -> list[Path]:
    """Every file that ``open_corpus`` would read; a Hugging Face data set has none of its own.

    >>> corpus_files([Path("a.de")], [Path("a.en")], ["hf:wmt14"])
    [PosixPath('a.de'), PosixPath('a.en')]
    """
    files = [*src_files, *tgt_files]
    for name in corpus:
        if not name.startswith(HUGGING_FACE):
            files.extend(_files_under(Path(name)))
    return files


def _read_path(path: Path, *, src_lang: str | None, tgt_lang: str | None) -> Iterator[Pair]:
    """The pairs of a file or of a folder, by the suffix of each file."""
    from dragoman.corpus import po, tables, tmx, xliff

    readers = {
        "tsv": tables.read_tsv,
        "jsonl": tables.read_jsonl,
        "tmx": tmx.read_tmx,
        "xliff": xliff.read_xliff,
    }
    files = _files_under(path)
    catalogues = [file for file in files if _kind(file) == "po"]
    for file in files:
        if (kind := _kind(file)) in readers:
            yield from readers[kind](file, src_lang=src_lang, tgt_lang=tgt_lang)
    if catalogues:  # together, because one language is chosen among them
        yield from po.read_po(catalogues, src_lang=src_lang, tgt_lang=tgt_lang)


def _kind(path: Path) -> str | None:
    return KINDS.get(without_compression(path).suffix.lower())


def _files_under(path: Path) -> list[Path]:
    """The file itself, or all files of a known kind under a folder, sorted."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if _kind(file) and file.is_file())
        if not files:
            raise DataError(
                f"{path}: the folder holds no corpus of a known kind\n  Known are {_KNOWN}.\n"
                "  Two aligned text files are given by --src and --tgt."
            )
        return files
    check_is_file(path)
    if _kind(path) is None:
        raise DataError(
            f"{path}: do not know how to read a file of this name\n  Known are {_KNOWN}.\n"
            "  Two aligned text files are given by --src and --tgt."
        )
    return [path]
