"""More to learn from the same pairs: a first model's translations of them, both ways.

The first model learns both directions at once: where source and target share a vocabulary, a pair
turned round is a pair (Ding et al., 2021). It then translates every source forward and every target
back, and the run, which begins with the first model's weights, learns from the corpus and from
these translations together (Nguyen et al., 2020).

Everything is a file of the run: ``first/`` is a run like any other, ``translations/`` a corpus of
JSONL files. What is there already is not made again, so that a run that was killed goes on.
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
TRANSLATIONS = "translations"
SHARD_PAIRS = 2000  # pairs that one file of translations is for


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
    train, share = setup.config.train, setup.config.train.diversify
    minutes = None if train.minutes is None else train.minutes * share / (1 + share)
    own = replace(
        train, steps=max(1, round(train.steps * share)), minutes=minutes, epochs=None, diversify=0.0
    )
    both = replace(
        setup, config=replace(setup.config, train=own), train=BothDirections(setup.train)
    )
    return _prepared(both, exclude=BothDirections(setup.valid))


def diversified_setup(setup: Setup, folder: Path) -> Setup:
    """What the run itself is trained with: its corpus and the translations in a folder."""
    translations = CorpusSource(corpus=(str(folder),))
    more = replace(setup, train=Together(setup.train, translations))
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


def translate_corpus(
    translator: Translator,
    setup: Setup,
    folder: Path,
    *,
    world: World,
    stop: StopRequest,
    reporter: Reporter,
) -> bool:
    """Write the translations of all training pairs, both ways; False if asked to stop before.

    Each process takes its share of the files. The time that they took all together is kept beside
    the translations, since a run that is resumed has to know it.
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
        rows = _both_ways(translator, shard)
        atomic.write_text(_seconds_path(folder, number), f"{time.monotonic() - started:.3f}\n")
        atomic.write_text(_shard_path(folder, number), "".join(rows))
        if world.is_first:
            reporter.message(
                f"translated {n_done:,} pairs both ways, of {len(setup.train_store):,}"
            )
    n_asked = world.sum([float(stop.asked)])[0]  # waits for the others, too
    return n_asked == 0


def translation_seconds(folder: Path, world: World) -> float:
    """The time that translating took, the files shared out among the processes."""
    return sum(float(path.read_text()) for path in folder.glob("*.seconds")) / world.size


def _both_ways(translator: Translator, pairs: Sequence[Pair]) -> Iterator[str]:
    """Each source with its translation, and each target with its own, as lines of JSON."""
    forward = translator.translate([pair.src for pair in pairs])
    backward = translator.translate([pair.tgt for pair in pairs])
    for pair, there, back in zip(pairs, forward, backward, strict=True):
        for src, tgt in ((pair.src, there.text), (back.text, pair.tgt)):
            yield json.dumps({"src": src, "tgt": tgt}, ensure_ascii=False) + "\n"


def _shard_path(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.jsonl"


def _seconds_path(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.seconds"
