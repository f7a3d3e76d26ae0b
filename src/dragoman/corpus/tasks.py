"""Built-in corpora that need no download, each a stream of examples fixed by name, seed and slice.

A sample belongs to one slice by a hash of itself, so that train, valid and test never overlap,
whatever the seed and however many are drawn. Examples of the algorithmic tasks that are held out as
``unseen`` are just another such slice; the grammar keeps whole combinations of words for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from hashlib import blake2b
from random import Random
from typing import Literal, get_args

from dragoman.corpus import dates, grammar, numbers
from dragoman.corpus.grammar_trees import Example
from dragoman.errors import ConfigError, DataError

__all__ = ["Example", "Split", "TASKS", "TaskInfo", "generate"]

Split = Literal["train", "valid", "test", "unseen"]
Value = int | str | bool
Options = Mapping[str, Value]
Stream = Callable[[Random, str, Options], Iterator[Example]]  # endless, of one slice
_SPLITS: tuple[str, ...] = get_args(Split)
_GIVE_UP = 5_000  # draws in a row without a new source: the space is exhausted


@dataclass(frozen=True)
class TaskInfo:
    """What a task is, the suffixes of its files, the tokenizer that suits it, and its options.

    >>> TASKS["grammar"].src_suffix, TASKS["grammar"].tokenizer
    ('de', 'unigram')
    """

    name: str
    description: str
    src_suffix: str
    tgt_suffix: str
    tokenizer: str
    options: Options = field(default_factory=dict)  # each with its default


def _symbols(name: str, description: str, **more: Value) -> TaskInfo:
    options: dict[str, Value] = {"vocab": 10, "min_length": 1, "max_length": 10}
    return TaskInfo(name, description, "src", "tgt", "symbols", options | more)


_NUMBERS: dict[str, Value] = {"language": "en", "max_value": 999_999}
TASKS: dict[str, TaskInfo] = {
    info.name: info
    for info in (
        _symbols("copy", "a sequence of symbols, the same again", min_length=10),
        _symbols("reverse", "a sequence of symbols, backwards"),
        _symbols("sort", "a sequence of symbols in any order, in rising order"),
        TaskInfo("numbers", "digits to words", "digits", "words", "characters", _NUMBERS),
        TaskInfo("words_to_numbers", "words to digits", "words", "digits", "characters", _NUMBERS),
        TaskInfo("dates", "dates as people write them to ISO 8601", "text", "iso", "characters",
                 {"language": "both"}),
        TaskInfo("grammar", "German sentences to English", "de", "en", "unigram",
                 {"tokenized": True}),
        TaskInfo("grammar_en_de", "English sentences to German", "en", "de", "unigram",
                 {"tokenized": True}),
    )
}  # fmt: skip


def generate(
    name: str, n: int, *, split: Split = "train", seed: int = 1, **options: Value
) -> Iterator[Example]:
    """Exactly ``n`` examples of a task; the same ones for the same arguments.

    Training examples may repeat; those of the other slices have distinct sources, and asking for
    more than there are raises ``DataError``. Options are those of ``TASKS[name].options``: for the
    symbol tasks ``vocab`` (symbols 1 to vocab), ``min_length``, ``max_length``; for numbers
    ``language`` (en, de) and ``max_value``; for dates ``language`` (en, de, both); for the grammar
    ``tokenized``.

    >>> [example.src for example in generate("copy", 2, min_length=3, max_length=3)]
    ['6 8 9', '2 1 5']
    >>> next(generate("sort", 1, split="test")).tgt
    '1 2 3 5 5 7 8'
    """
    info = _info(name)
    settings = _settings(info, options)
    if split not in _SPLITS:
        raise ConfigError(f"split = {split!r}: must be one of {', '.join(_SPLITS)}")
    if n < 0:
        raise ConfigError(f"n = {n}: must be at least 0")
    rng = Random(f"{name} {seed} {split} {sorted(settings.items())}")
    stream = _SOURCES[name](rng, split, settings)
    what = f"{name} ({split})"
    return _take(stream, n, what) if split == "train" else _take_distinct(stream, n, what)


def _info(name: str) -> TaskInfo:
    if name not in TASKS:
        near = get_close_matches(name, TASKS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"no task named {name!r}: tasks are {', '.join(TASKS)}.{hint}")
    return TASKS[name]


def _settings(info: TaskInfo, options: Options) -> dict[str, Value]:
    """The options with defaults filled in; all faults are reported at once."""
    allowed = ", ".join(info.options)
    faults = []
    for key, value in options.items():
        if key not in info.options:
            faults.append(f"{info.name}: no option {key!r}; it has {allowed}")
        elif type(value) is not type(info.options[key]):
            kind = type(info.options[key]).__name__
            faults.append(f"{info.name}: {key} = {value!r}: must be of type {kind}")
    if not faults:
        settings = {**info.options, **options}
        faults = [f"{info.name}: {fault}" for fault in _impossible(info, settings)]
    if faults:
        raise ConfigError("\n".join(faults))
    return settings


def _impossible(info: TaskInfo, settings: dict[str, Value]) -> Iterator[str]:
    for key, least in (("vocab", 1), ("min_length", 1), ("max_value", 0)):
        if key in settings and int(settings[key]) < least:
            yield f"{key} = {settings[key]}: must be at least {least}"
    if "min_length" in settings and int(settings["max_length"]) < int(settings["min_length"]):
        low, high = settings["min_length"], settings["max_length"]
        yield f"max_length = {high}: must be at least min_length ({low})"
    if "max_value" in settings and int(settings["max_value"]) >= numbers.LIMIT:
        yield f"max_value = {settings['max_value']}: must be below {numbers.LIMIT}"
    languages = ("en", "de", "both") if info.name == "dates" else ("en", "de")
    if settings.get("language", "en") not in languages:
        yield f"language = {settings['language']!r}: must be one of {', '.join(languages)}"


def _take(stream: Iterator[Example], n: int, what: str) -> Iterator[Example]:
    for _ in range(n):
        example = next(stream, None)
        if example is None:
            raise _exhausted(what, 0, n)
        yield example


def _take_distinct(stream: Iterator[Example], n: int, what: str) -> Iterator[Example]:
    seen: set[str] = set()
    misses = 0
    while len(seen) < n:
        example = next(stream, None)
        if example is not None and example.src not in seen:
            seen.add(example.src)
            misses = 0
            yield example
            continue
        misses += 1
        if example is None or misses > _GIVE_UP:
            raise _exhausted(what, len(seen), n)


def _exhausted(what: str, found: int, n: int) -> DataError:
    return DataError(
        f"{what} holds no more than {found:,} distinct sources, and {n:,} were asked for.\n"
        "  Ask for fewer, or widen the task (longer sequences, more symbols)."
    )


def split_of(text: str) -> str:
    """The slice a source text belongs to: 4 % each of valid, test and unseen, the rest train.

    >>> split_of("3 1 2")
    'train'
    """
    share = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") % 25
    return _SPLITS[share + 1] if share < 3 else "train"


# --- the tasks ------------------------------------------------------------------------------


def _sequences(
    arrange: Callable[[Random, list[int]], list[int]], answer: Callable[[list[int]], list[int]]
) -> Stream:
    """A stream of symbol sequences, each drawn, arranged and answered."""

    def stream(rng: Random, split: str, options: Options) -> Iterator[Example]:
        vocab = int(options["vocab"])
        low, high = int(options["min_length"]), int(options["max_length"])
        symbols = [str(i) for i in range(vocab + 1)]
        lengths, possible = range(low, high + 1), range(1, vocab + 1)
        misses = 0
        while misses < _GIVE_UP:
            drawn = arrange(rng, rng.choices(possible, k=rng.choice(lengths)))
            source = " ".join([symbols[i] for i in drawn])
            if split_of(source) == split:
                misses = 0
                yield Example(source, " ".join([symbols[i] for i in answer(drawn)]))
            else:
                misses += 1

    return stream


def _as_drawn(rng: Random, drawn: list[int]) -> list[int]:
    del rng
    return drawn


def _in_some_order(rng: Random, drawn: list[int]) -> list[int]:
    """Now and then already sorted, reversed, or with few different elements."""
    chance = rng.random()
    if chance < 0.1:
        return sorted(drawn, reverse=True)
    if chance < 0.15:
        return sorted(drawn)
    if chance < 0.35:
        few = drawn[: max(1, len(drawn) // 3)]
        return [rng.choice(few) for _ in drawn]
    return drawn


def _numbers(rng: Random, split: str, options: Options) -> Iterator[Example]:
    highest = int(options["max_value"])
    language: numbers.Language = "de" if options["language"] == "de" else "en"
    digits = len(str(highest))
    misses = 0
    while misses < _GIVE_UP:
        # a length first, so that short numbers are not drowned by long ones
        number = rng.randrange(min(10 ** rng.randint(1, digits), highest + 1))
        if split_of(str(number)) == split:
            misses = 0
            yield Example(str(number), numbers.in_words(number, language))
        else:
            misses += 1


def _words_to_numbers(rng: Random, split: str, options: Options) -> Iterator[Example]:
    for example in _numbers(rng, split, options):
        yield Example(example.tgt, example.src)


def _dates(rng: Random, split: str, options: Options) -> Iterator[Example]:
    days = (dates.LAST - dates.FIRST).days
    chosen = options["language"]
    languages: list[dates.Language] = ["en", "de"]
    if chosen != "both":
        languages = ["de" if chosen == "de" else "en"]
    while True:
        day = dates.FIRST + timedelta(rng.randint(0, days))
        language = rng.choice(languages)
        text = dates.written(day, language, rng.randrange(len(dates.FORMS[language])))
        # the day decides, so that no test day was seen in another form
        if split_of(day.isoformat()) == split:
            yield Example(text, day.isoformat())


def _grammar(to_german: bool) -> Stream:
    def stream(rng: Random, split: str, options: Options) -> Iterator[Example]:
        tokenized = bool(options["tokenized"])
        return grammar.generate(rng, split, to_german=to_german, tokenized=tokenized)

    return stream


_SOURCES: dict[str, Stream] = {
    "copy": _sequences(_as_drawn, list),
    "reverse": _sequences(_as_drawn, lambda drawn: drawn[::-1]),
    "sort": _sequences(_in_some_order, sorted),
    "numbers": _numbers,
    "words_to_numbers": _words_to_numbers,
    "dates": _dates,
    "grammar": _grammar(to_german=False),
    "grammar_en_de": _grammar(to_german=True),
}
