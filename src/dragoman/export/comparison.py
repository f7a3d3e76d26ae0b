"""Whether an exported model says what ours says: 100 sentences, token by token, with their scores.

Both models translate greedily, so that what is compared is what they compute and not how they
search; then each scores our translation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.bundle import Bundle
from dragoman.corpus.files import without_compression
from dragoman.corpus.reading import KINDS, open_corpus
from dragoman.corpus.tasks import TASKS, generate
from dragoman.decoding.engine import Engine
from dragoman.decoding.settings import SearchSettings
from dragoman.errors import DragomanError, ExportError
from dragoman.tokenize.tokenizer import Tokenizer
from dragoman.tokenize.vocabulary import SPECIAL_PIECES

N_SENTENCES = 100
AT_ONCE = 20  # sentences of a batch
MUST_EQUAL = 0.99  # of an export that rounds nothing
PIECES_A_WORD = 2.0  # a tokenizer that cuts words finer than this was made for another language


@dataclass(frozen=True)
class Comparison:
    """How near an exported model comes to ours.

    >>> Comparison("the grammar", 100, 99, 1e-5).summary
    '99 of 100 sentences (the grammar) equal in every token; scores differ by at most 1e-05'
    """

    texts: str  # where the sentences came from
    sentences: int
    equal_tokens: int  # sentences whose translations are equal in every token
    largest_score_difference: float  # between the log-probabilities of our translations
    largest_logit_difference: float | None = None  # where logits can be seen

    @property
    def summary(self) -> str:
        """The result in one line."""
        found = f"{self.equal_tokens} of {self.sentences} sentences ({self.texts}) equal in every"
        text = f"{found} token; scores differ by at most {self.largest_score_difference:.2g}"
        if self.largest_logit_difference is not None:
            text += f", logits by {self.largest_logit_difference:.2g}"
        return text

    def require_equal(self) -> None:
        """Raise unless the translations are the same, as those of an exact export must be."""
        if self.equal_tokens < MUST_EQUAL * self.sentences:
            raise ExportError(
                f"the exported model is not the model: {self.summary}.\n"
                "  Nothing was written. Please report this with the bundle's config.toml."
            )

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def compare(
    ours: Engine, theirs: Engine, sources: Sequence[list[int]], *, texts: str
) -> Comparison:
    """The greedy translations of both, and what each thinks of ours."""
    settings = _greedy(ours, theirs)
    equal, largest = 0, 0.0
    for start in range(0, len(sources), AT_ONCE):
        some = sources[start : start + AT_ONCE]
        keys = [(start + i,) for i in range(len(some))]
        mine = [each[0] for each in ours.search(some, settings, prefixes=None, keys=keys)]
        other = [each[0] for each in theirs.search(some, settings, prefixes=None, keys=keys)]
        equal += sum(a.ids == b.ids for a, b in zip(mine, other, strict=True))
        pairs = [(source, found.ids) for source, found in zip(some, mine, strict=True)]
        scores = theirs.score(pairs, batch_tokens=4096)
        differences = [abs(s.log_prob - h.log_prob) for s, h in zip(scores, mine, strict=True)]
        largest = max(largest, *differences)
    return Comparison(texts, len(sources), equal, largest)


def _greedy(*engines: Engine) -> SearchSettings:
    """The likeliest token at every step, as far as every engine can go."""
    ends = [engine.max_positions for engine in engines if engine.max_positions is not None]
    max_len = min(ends, default=None)
    return SearchSettings(beam=1, n_best=1, length_penalty=0.6, max_extra=50, max_len=max_len)


# --- sentences -----------------------------------------------------------------------------------


def pick_sources(bundle: Bundle, tokenizer: Tokenizer) -> tuple[list[list[int]], str]:
    """Ids of sentences that suit a model, and where they came from.

    Its own validation files where they are still there; else the built-in task it was trained on;
    else the built-in grammar where the tokenizer knows its words; else pieces by chance.
    """
    config = bundle.config
    longest = config.data.max_length
    if config.model.positions == "learned":
        longest = min(longest, config.model.max_positions // 2)
    candidates: list[tuple[Callable[[], list[str]], str]] = [
        (partial(_validation_texts, bundle), "its validation files"),
        (partial(_task_texts, bundle), "its task"),
        (partial(_grammar_texts, tokenizer), "the built-in grammar"),
    ]
    for find, name in candidates:
        texts = find()
        ids = tokenizer.encode_batch(texts, "src") if texts else []
        fitting = [each for each in ids if 0 < len(each) < longest]
        if fitting:
            return fitting[:N_SENTENCES], name
    return _random_sources(tokenizer, longest), "pieces by chance"


def _validation_texts(bundle: Bundle) -> list[str]:
    """Sources of the files that the record names, where they can be read."""
    files = bundle.record.get("data", {}).get("validation", {}).get("files", [])
    paths = [Path(file["path"]) for file in files]
    corpora = [path for path in paths if without_compression(path).suffix in KINDS]
    texts = [path for path in paths if path not in corpora]
    half = len(texts) // 2  # the record names all sources, then all targets
    data = bundle.config.data
    try:
        pairs = open_corpus(
            texts[:half],
            texts[half:],
            [str(path) for path in corpora],
            src_lang=data.src_lang,
            tgt_lang=data.tgt_lang,
        )
        found = (pair.src for pair in pairs if pair.src.strip())
        return list(islice(found, 2 * N_SENTENCES))
    except (DragomanError, OSError):
        return []


def _task_texts(bundle: Bundle) -> list[str]:
    """Sources of the built-in task that the record names, if it names one."""
    task = bundle.record.get("task")
    if task not in TASKS:
        return []
    try:
        return [each.src for each in generate(task, N_SENTENCES, split="valid")]
    except DragomanError:  # so many different ones do not exist
        return []


def _grammar_texts(tokenizer: Tokenizer) -> list[str]:
    """Sentences of the built-in grammar, if the tokenizer has seen its language."""
    if tokenizer.config.tokenizer == "symbols":
        return []
    language = tokenizer.config.src_lang
    for task in sorted(("grammar", "grammar_en_de"), key=lambda t: TASKS[t].src_suffix != language):
        texts = [each.src for each in generate(task, N_SENTENCES, split="test")]
        n_words = sum(len(text.split()) for text in texts)
        n_pieces = sum(len(ids) for ids in tokenizer.encode_batch(texts, "src"))
        if texts and n_pieces < PIECES_A_WORD * n_words:
            return texts
    return []


def _random_sources(tokenizer: Tokenizer, longest: int) -> list[list[int]]:
    rng = np.random.default_rng(1)
    first, n_pieces = len(SPECIAL_PIECES), tokenizer.src_vocab_size
    lengths = rng.integers(1, max(2, min(longest, 21)), N_SENTENCES)
    return [rng.integers(first, max(first + 1, n_pieces), length).tolist() for length in lengths]
