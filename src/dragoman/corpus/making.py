"""Built-in corpora written to text files, whole or not at all."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from dragoman.atomic import replacing
from dragoman.errors import DataError

if TYPE_CHECKING:
    from dragoman.corpus.tasks import Example, Split, TaskInfo

_PROGRESS_EVERY = 1000


def write_task(
    name: str,
    out_dir: Path,
    *,
    sizes: Mapping[Split, int],
    seed: int = 1,
    options: Mapping[str, Any] | None = None,
    replace: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> dict[Path, int]:
    """The files written for a task, with their numbers of lines.

    For each split with a size above 0: ``train.de`` and ``train.en`` (the suffixes are the task's
    own), and where the task gives them ``train.align`` (word alignments as ``0-0 1-2``, source word
    first) and ``train.de.trees``, ``train.en.trees`` (one bracketed tree a line). The files get
    their names when all of them are complete.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_task("copy", Path(folder), sizes={"train": 3, "test": 2})
    ...     sorted((path.stem, n) for path, n in files.items())
    [('test', 2), ('test', 2), ('train', 3), ('train', 3)]
    """
    from dragoman.corpus.tasks import generate

    info = _task_info(name)
    wanted = {split: n for split, n in sizes.items() if n > 0}
    if not replace:
        _check_free(info, out_dir, wanted)
    out_dir.mkdir(parents=True, exist_ok=True)
    done = 0
    written: dict[Path, int] = {}
    with ExitStack() as renames:  # every `replacing` gives its file the name when all went well
        for split, n in wanted.items():
            writer = _SplitWriter(out_dir, split, info, renames)
            for example in generate(name, n, split=split, seed=seed, **(options or {})):
                writer.write(example)
                done += 1
                if on_progress and done % _PROGRESS_EVERY == 0:
                    on_progress(done)
            written.update(writer.close())
    return written


class _SplitWriter:
    """The files of one split, opened when the first example shows which there are."""

    def __init__(self, out_dir: Path, split: str, info: TaskInfo, renames: ExitStack) -> None:
        self.names = {
            "src": f"{split}.{info.src_suffix}",
            "tgt": f"{split}.{info.tgt_suffix}",
            "align": f"{split}.align",
            "src_trees": f"{split}.{info.src_suffix}.trees",
            "tgt_trees": f"{split}.{info.tgt_suffix}.trees",
        }
        self.out_dir = out_dir
        self.renames = renames
        self.files: dict[Path, TextIO] = {}
        self.n_lines = 0

    def write(self, example: Example) -> None:
        for part, line in _lines(example):
            path = self.out_dir / self.names[part]
            if path not in self.files:
                temporary = self.renames.enter_context(replacing(path))
                file = temporary.open("w", encoding="utf-8", newline="\n")
                self.files[path] = self.renames.enter_context(file)
            self.files[path].write(line + "\n")
        self.n_lines += 1

    def close(self) -> dict[Path, int]:
        for file in self.files.values():
            file.close()
        return dict.fromkeys(self.files, self.n_lines)


def _lines(example: Example) -> Iterator[tuple[str, str]]:
    """The parts of an example, each as a line of its own file."""
    yield "src", example.src
    yield "tgt", example.tgt
    if example.alignment is not None:
        yield "align", " ".join(f"{src}-{tgt}" for src, tgt in example.alignment)
    if example.src_tree is not None:
        yield "src_trees", example.src_tree
    if example.tgt_tree is not None:
        yield "tgt_trees", example.tgt_tree


def _task_info(name: str) -> TaskInfo:
    from dragoman.corpus.tasks import TASKS

    if name in TASKS:
        return TASKS[name]
    near = difflib.get_close_matches(name, TASKS, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    raise DataError(f"no task is called {name!r}.{guess}\n  There are: {', '.join(TASKS)}.")


def _check_free(info: TaskInfo, out_dir: Path, sizes: Mapping[Split, int]) -> None:
    suffixes = (info.src_suffix, info.tgt_suffix)
    paths = [out_dir / f"{split}.{suffix}" for split in sizes for suffix in suffixes]
    if there := [str(path) for path in paths if path.exists()]:
        raise DataError(
            f"already there: {', '.join(there)}\n"
            "  Choose another folder with --out, or replace the files with --force."
        )
