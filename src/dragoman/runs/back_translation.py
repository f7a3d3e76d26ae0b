"""More to learn from the same pairs: every target once more, with a source that a model made of it.

A first model learns both directions at once: where source and target share a vocabulary, a pair
turned round is a pair (Ding et al., 2021). It then translates every target back, and the run, which
begins with the first model's weights, learns from the corpus and from these pairs together. Their
targets are real, so that what the first model gets wrong is only a reason to read with care
(Sennrich et al., 2016, who have it for targets without a source; Nguyen et al., 2020, for those of
the corpus itself).

Everything is a file of the run: ``first/`` is a run like any other, ``back_translations/`` a corpus
of JSONL files. What is there already is not made again, so that a run that was killed goes on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from pathlib import Path

from dragoman import atomic
from dragoman.batches.prepare import prepare
from dragoman.corpus.clean import Tally, clean
from dragoman.corpus.hashes import hash_set
from dragoman.corpus.pair import Pair
from dragoman.corpus.reading import CorpusSource
from dragoman.decoding.translator import Translator
from dragoman.runs.cache import cache_dir
from dragoman.runs.record import data_record
from dragoman.runs.setup import Setup
from dragoman.runs.sources import Source
from dragoman.training.distributed import World
from dragoman.training.interrupt import StopRequest
from dragoman.training.reporting import Reporter

FIRST = "first"
BACK_TRANSLATIONS = "back_translations"
SHARD_PAIRS = 2000  # pairs of one file of back-translations


@dataclass(frozen=True)
class BothDirections:
    """The pairs of a source, and each of them turned round.

    >>> from dragoman.runs.sources import TaskSource
    >>> source = BothDirections(TaskSource("reverse", 1, "train", 1))
    >>> there, back = source.pairs()
    >>> (there.src, there.tgt) == (back.tgt, back.src)
    True
    """

    source: Source

    def pairs(self) -> Iterator[Pair]:
        yield from self.source.pairs()
        for pair in self.source.pairs():
            yield pair._replace(src=pair.tgt, tgt=pair.src)

    def files(self) -> Sequence[Path]:
        return self.source.files()


@dataclass(frozen=True)
class Together:
    """The pairs of one source, then those of another."""

    one: Source
    other: Source

    def pairs(self) -> Iterable[Pair]:
        return chain(self.one.pairs(), self.other.pairs())

    def files(self) -> Sequence[Path]:
        return [*self.one.files(), *self.other.files()]


def first_setup(setup: Setup) -> Setup:
    """What the first model is trained with: both directions, and its share of steps or minutes."""
    train, share = setup.config.train, setup.config.train.back_translation
    minutes = None if train.minutes is None else train.minutes * share / (1 + share)
    own = replace(
        train,
        steps=max(1, round(train.steps * share)),
        minutes=minutes,
        epochs=None,
        back_translation=0.0,
    )
    both = replace(
        setup, config=replace(setup.config, train=own), train=BothDirections(setup.train)
    )
    return _prepared(both, exclude=BothDirections(setup.valid))


def setup_with(setup: Setup, folder: Path) -> Setup:
    """What the run itself is trained with: its corpus and the back-translations in a folder."""
    back_translations = CorpusSource(corpus=(str(folder),))
    more = replace(setup, train=Together(setup.train, back_translations))
    return _prepared(more, exclude=setup.valid)


def _prepared(setup: Setup, *, exclude: Source) -> Setup:
    """The same with the store of its own training pairs."""
    store = prepare(
        setup.train,
        setup.tokenizer,
        setup.config.data,
        cache_dir=cache_dir() / "prepared",
        exclude=[exclude],
    )
    held_out = setup.data["validation"]["held_out_of_training_files"]
    data = data_record(store, setup.valid_store, held_out=held_out)
    return replace(setup, train_store=store, data=data)


def translate_back(
    translator: Translator,
    setup: Setup,
    folder: Path,
    *,
    world: World,
    stop: StopRequest,
    reporter: Reporter,
) -> bool:
    """Write every training target with its translation into a folder; False if asked to stop.

    Each process takes its share of the files. The time that they took all together is kept beside
    them, since a run that is resumed has to know it.
    """
    folder.mkdir(exist_ok=True)
    left_out = hash_set(setup.valid.pairs())
    pairs = clean(setup.train.pairs(), setup.config.data, tally=Tally(), exclude=left_out)
    n_done = 0
    for number in count():
        shard = list(islice(pairs, SHARD_PAIRS))
        n_done += len(shard)
        if not shard:
            break
        if number % world.size != world.rank or _shard_path(folder, number).exists():
            continue
        if stop.asked:
            break
        started = time.monotonic()
        rows = _turned_back(translator, shard)
        atomic.write_text(_seconds_path(folder, number), f"{time.monotonic() - started:.3f}\n")
        atomic.write_text(_shard_path(folder, number), "".join(rows))
        if world.is_first:
            reporter.message(f"translated back {n_done:,} of {len(setup.train_store):,} targets")
    n_asked = world.sum([float(stop.asked)])[0]  # waits for the others, too
    return n_asked == 0


def translation_seconds(folder: Path, world: World) -> float:
    """The time that translating took, the files shared out among the processes."""
    return sum(float(path.read_text()) for path in folder.glob("*.seconds")) / world.size


def _turned_back(translator: Translator, pairs: Sequence[Pair]) -> list[str]:
    """Each target with the source that the model makes of it, as a line of JSON."""
    made = translator.translate([pair.tgt for pair in pairs])
    return [
        json.dumps({"src": source.text, "tgt": pair.tgt}, ensure_ascii=False) + "\n"
        for source, pair in zip(made, pairs, strict=True)
    ]


def _shard_path(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.jsonl"


def _seconds_path(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.seconds"
