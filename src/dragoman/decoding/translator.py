"""The Translator: text in, translations out; what ``dragoman.load`` returns.

Lines become jobs (a line too long for the model becomes several), jobs become batches of like
length, each batch is searched at once, and the translations are put back in the order of the lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from dragoman.batches.bucketing import Indices, plan_by_length
from dragoman.config import Config
from dragoman.cores import two_at_once
from dragoman.corpus.pair import one_line
from dragoman.decoding.alignment import AlignmentChoice, align
from dragoman.decoding.engine import Engine, TorchEngine
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.sampling import Sampling
from dragoman.decoding.scoring import PairScore
from dragoman.decoding.segmenting import Segment, split_text
from dragoman.decoding.settings import OnProgress, SearchSettings, TranslateOptions
from dragoman.decoding.translation import (
    NOTHING,
    Links,
    Translation,
    join,
    make_translation,
    with_alternatives,
)
from dragoman.errors import ConfigError
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer

if TYPE_CHECKING:
    from dragoman.decoding.explanation import Explanation
    from dragoman.decoding.heads import Head

CHUNK_LINES = 2048  # lines of a stream that are sorted and translated together
# A short sentence takes room for max_extra more tokens, and so counts as at least this many.
LEAST_LENGTH = 16


@dataclass(frozen=True)
class Job:
    """A part of a line, as the model takes it."""

    line: int  # index of the line
    part: int  # which part of it
    first_word: int  # number of the line's word that it begins with
    ids: list[int]
    prefix: list[int]


@dataclass(frozen=True)
class Translator:
    """Translates and scores with one model, or with several as an ensemble.

    >>> from dragoman.config import DataConfig, ModelConfig
    >>> tokenizer = Tokenizer.train([("1 2", "2 1")], DataConfig(tokenizer="symbols"), seed=1)
    >>> shape = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=6)
    >>> translator = Translator((Transformer(shape).eval(),), tokenizer, Config(model=shape))
    >>> first, second = translator.translate(["1 2 1", ""], beam=2)
    >>> isinstance(first.text, str), second.text
    (True, '')
    """

    models: Sequence[Transformer]
    tokenizer: Tokenizer
    config: Config
    path: Path | None = None
    alignment: AlignmentChoice | None = None  # which attention aligns words; None: the default
    engine: Engine | None = None  # who searches; None: our own search, with the models

    @property
    def model(self) -> Transformer:
        """The model, or the first of an ensemble."""
        return self.models[0]

    @property
    def max_pieces(self) -> int:
        """The longest line, in pieces, that is translated whole: no longer one was trained on."""
        longest = self.config.data.max_length
        known = self._max_positions
        return longest if known is None else max(1, min(longest, known - 1))  # EOS has a position

    @property
    def _max_positions(self) -> int | None:
        return self._engine.max_positions

    @property
    def _engine(self) -> Engine:
        return self.engine or TorchEngine(self.models)

    def translate(
        self,
        texts: Sequence[str],
        *,
        beam: int | None = None,
        n_best: int | None = None,
        length_penalty: float | None = None,
        max_extra: int | None = None,
        batch_tokens: int = 4096,
        prefixes: Sequence[str | None] | None = None,
        sampling: Sampling | None = None,
        alignments: bool = False,
        first_line: int = 1,
        on_progress: OnProgress | None = None,
    ) -> list[Translation]:
        """The translation of each text, in order.

        What is not given comes from the bundle's ``[decode]`` table. ``batch_tokens`` limits the
        source tokens of a batch, counted once for each hypothesis of the beam. ``prefixes`` are
        beginnings that translations must have. ``sampling`` draws ``n_best`` translations in place
        of searching; ``first_line`` is the number of the first text, by which draws are told apart.
        An empty text stays empty; a text longer than ``max_pieces`` is translated in parts, and its
        translation says so. No result depends on the texts beside it.
        """
        if isinstance(texts, str):
            raise TypeError("texts must be a list of strings, not one string")
        settings = SearchSettings.resolve(
            self.config.decode,
            beam=beam,
            n_best=n_best,
            length_penalty=length_penalty,
            max_extra=max_extra,
            max_len=self._max_positions,
            sampling=sampling,
        )
        jobs = self._jobs(texts, prefixes)
        found: dict[int, Translation] = {}
        widths = np.maximum([len(job.ids) + 1 for job in jobs], LEAST_LENGTH) * settings.rows
        plan = plan_by_length(widths, batch_tokens) if jobs else []

        def translate_batch(indices: Indices) -> list[Translation]:
            batch = [jobs[i] for i in indices]
            return self._translate_batch(batch, settings, first_line, alignments)

        each = two_at_once if self._engine.takes_two else map
        for indices, translations in zip(plan, each(translate_batch, plan), strict=True):
            found.update(zip(indices.tolist(), translations, strict=True))
            if on_progress is not None:
                on_progress(len(found) * len(texts) // len(jobs), len(texts))
        nothing = replace(NOTHING, alignment=()) if alignments else NOTHING
        return _by_line(jobs, found, [nothing] * len(texts))

    def translate_stream(
        self,
        lines: Iterable[str],
        *,
        chunk_lines: int = CHUNK_LINES,
        **options: Unpack[TranslateOptions],
    ) -> Iterator[Translation]:
        """The translation of each line, in order, of an input that need not fit in memory.

        Options are those of ``translate``, one prefix a line if any.
        """
        first_line = options.pop("first_line", 1)
        prefixes = options.pop("prefixes", None)
        lines = iter(lines)
        n_done = 0
        while chunk := list(islice(lines, chunk_lines)):
            options["first_line"] = first_line + n_done
            if prefixes is not None:
                options["prefixes"] = prefixes[n_done : n_done + len(chunk)]
            yield from self.translate(chunk, **options)
            n_done += len(chunk)

    def score(
        self, pairs: Sequence[tuple[str, str]], *, batch_tokens: int = 4096
    ) -> list[PairScore]:
        """How likely the model finds each target, given its source."""
        src = self.tokenizer.encode_batch([src for src, _ in pairs], "src")
        tgt = self.tokenizer.encode_batch([tgt for _, tgt in pairs], "tgt")
        return self._engine.score(list(zip(src, tgt, strict=True)), batch_tokens=batch_tokens)

    def explain(
        self,
        text: str,
        *,
        beam: int | None = None,
        length_penalty: float | None = None,
        prefix: str | None = None,
        prefix_ids: Sequence[int] | None = None,
        heads_off: Sequence[Head] = (),
        effects: bool = False,
    ) -> Explanation:
        """What the model does with one sentence: attention, alternatives, beam and flow.

        ``prefix``, or ``prefix_ids``, is what the translation must begin with. ``heads_off`` are
        heads to do without, such as ``("decoder.2.cross", 0)``. ``effects`` adds what each head is
        worth and how every alternative goes on, which takes longer. The sentence is never split.
        """
        from dragoman.decoding.explaining import Question, explain

        question = Question.of(
            self, text, prefix=prefix, prefix_ids=prefix_ids, heads_off=heads_off
        )
        settings = SearchSettings.resolve(
            self.config.decode,
            beam=beam,
            length_penalty=length_penalty,
            max_len=self._max_positions,
        )
        return explain(self, question, settings, effects=effects)

    # --- lines and jobs --------------------------------------------------------------------------

    def _jobs(self, texts: Sequence[str], prefixes: Sequence[str | None] | None) -> list[Job]:
        """What the model has to translate; lines of spaces give it nothing to do."""
        if prefixes is not None and len(prefixes) != len(texts):
            raise ConfigError(f"{len(prefixes):,} prefixes for {len(texts):,} texts")
        lines = [one_line(text) for text in texts]
        numbers = [number for number, line in enumerate(lines) if line.strip()]
        encoded = self.tokenizer.encode_batch([lines[number] for number in numbers], "src")
        jobs = []
        for number, ids in zip(numbers, encoded, strict=True):
            if not ids:  # characters that no tokenizer speaks of, such as a lone joiner
                continue
            prefix = (prefixes[number] or "") if prefixes is not None else ""
            prefix_ids = self.tokenizer.encode(prefix, "tgt") if prefix.strip() else []
            for part, (segment, segment_ids) in enumerate(self._parts(lines[number], ids)):
                first = prefix_ids if part == 0 else []
                jobs.append(Job(number, part, segment.first_word, segment_ids, first))
        return jobs

    def _parts(self, line: str, ids: list[int]) -> list[tuple[Segment, list[int]]]:
        """The line as one part, or as many as are needed for each to fit."""
        if len(ids) <= self.max_pieces:
            return [(Segment(line), ids)]
        encode, most = self.tokenizer.encode, self.max_pieces
        segments = split_text(line, lambda part: len(encode(part, "src")) <= most)
        return [(segment, encode(segment.text, "src")) for segment in segments]

    def _translate_batch(
        self, batch: Sequence[Job], settings: SearchSettings, first_line: int, alignments: bool
    ) -> list[Translation]:
        """The translation of each job, with its alternatives."""
        prefixes = [job.prefix for job in batch]
        found = self._engine.search(
            [job.ids for job in batch],
            settings,
            prefixes=prefixes if any(prefixes) else None,
            keys=[(first_line + job.line, job.part) for job in batch],
        )
        links = self._align(batch, found) if alignments else None
        # All at once: a tokenizer takes longer to begin than to decode a sentence.
        texts = iter(self.tokenizer.decode_batch([h.ids for ranked in found for h in ranked]))

        def make(hypothesis: Hypothesis) -> Translation:
            alignment = None if links is None else next(links)
            return make_translation(hypothesis, self.tokenizer, alignment, text=next(texts))

        return [with_alternatives([make(h) for h in ranked]) for ranked in found]

    def _align(
        self, batch: Sequence[Job], found: Sequence[Sequence[Hypothesis]]
    ) -> Iterator[Links]:
        """The word alignment of every hypothesis, one after the other."""
        choice = self.alignment or AlignmentChoice.default(self.model.config)
        pairs = [(job.ids, h.ids) for job, ranked in zip(batch, found, strict=True) for h in ranked]
        return iter(align(self.model, self.tokenizer, pairs, choice=choice))


def _by_line(
    jobs: Sequence[Job], found: dict[int, Translation], empty: list[Translation]
) -> list[Translation]:
    """The translations of jobs as translations of lines; ``empty`` are those without a job."""
    parts: dict[int, list[int]] = {}
    for index, job in enumerate(jobs):
        parts.setdefault(job.line, []).append(index)
    translations = list(empty)
    for line, indices in parts.items():
        of_parts = [found[i] for i in indices]
        first_words = [jobs[i].first_word for i in indices]
        translations[line] = of_parts[0] if len(indices) == 1 else join(of_parts, first_words)
    return translations
