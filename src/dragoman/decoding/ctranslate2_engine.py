"""The engine CTranslate2: its search in C++, by our rules and with our scores.

Its beam search grows beginnings as ours does, by log-probability. What it does otherwise is made
good here:

- Its length penalty is length^alpha. It is switched off; hypotheses are ranked by ours.
- It stops when as many hypotheses are finished as the beam is wide, ours when none can become
  better. For n-best lists, and where a length penalty lets much longer ones win, it is asked to go
  on until there are several times as many (``patience``).
- It has one limit of length for a batch: a sentence that goes past its own is searched again with
  that, and EOS, for which it leaves no room, scored.
- It has no guard against repetition: a hypothesis that goes in circles is cut where ours would have
  to end, and scored anew.
- It does not know that PAD and BOS are never said, and leaves a forced prefix out of the score. The
  first is searched again without them, the second scored anew.

So log-probabilities are always those of forced decoding, and translations those of our search but
for near ties, for those that only a longer search finds, and where something went in circles.
Samples are drawn by its own generator, seeded by our seed and the first line of the batch: the same
again for the same batches, others than ours.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch

from dragoman.batches.batch import pad_sources
from dragoman.decoding.ctranslate2_conversion import NOTE, ctranslate2
from dragoman.decoding.ctranslate2_hypotheses import UNSAID, Found, cut_short, says_unsaid
from dragoman.decoding.engine import Ids
from dragoman.decoding.hypothesis import Hypothesis, no_usable_probabilities
from dragoman.decoding.length_penalty import length_penalty
from dragoman.decoding.rules import make_rules
from dragoman.decoding.sampling import Sampling
from dragoman.decoding.scoring import PairScore
from dragoman.decoding.settings import SearchSettings
from dragoman.errors import BundleError, InputTooLongError
from dragoman.tokenize.vocabulary import EOS_ID

NOBODY = -1e9  # the score, or more, of a place in the beam that no hypothesis has taken


@dataclass(frozen=True)
class _Request:
    """What is to be translated, by whom, and how."""

    translator: Any  # ctranslate2.Translator
    sources: Sequence[Ids]
    prefixes: Sequence[Ids] | None
    options: dict[str, Any]


_DRAWING = Lock()


def open_translator(folder: Path, **options: Any) -> Any:
    """A translator; it would take threads from PyTorch, which shares them with it."""
    n_threads = torch.get_num_threads()
    try:
        return ctranslate2().Translator(str(folder), **options)
    finally:
        torch.set_num_threads(n_threads)


def _workers(n_threads: int) -> dict[str, int]:
    """Two workers, each with half of the threads: what they do is too short to be shared.

    >>> _workers(1), _workers(8)
    ({'inter_threads': 1, 'intra_threads': 1}, {'inter_threads': 2, 'intra_threads': 4})
    """
    inter = min(2, n_threads)
    return {"inter_threads": inter, "intra_threads": n_threads // inter}


@dataclass(frozen=True)
class CTranslate2Engine:
    """A converted model, ready to search; ``open`` makes it."""

    folder: Path
    translator: Any  # ctranslate2.Translator
    options: dict[str, Any]  # that it was opened with
    src_pieces: list[str]
    tgt_pieces: list[str]
    tgt_ids: dict[str, int]
    quantization: str
    max_positions: int | None
    takes_two = True  # each by a worker of its own

    @classmethod
    def open(cls, folder: Path, *, device: torch.device) -> CTranslate2Engine:
        """The model of a folder that ``write_model`` has filled."""
        place = {"device": device.type, "device_index": device.index or 0}
        try:
            note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
            able = ctranslate2().get_supported_compute_types(**place)
            options = {
                **place,
                # It would take int8 for an int16 that it cannot do, and overflow.
                "compute_type": note["quantization"] if note["quantization"] in able else "float32",
                **_workers(torch.get_num_threads()),
            }
            src_pieces, tgt_pieces = (_vocabulary(folder, side) for side in ("source", "target"))
            translator = open_translator(folder, **options)
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            raise BundleError(f"{folder} cannot be used by CTranslate2: {error}") from None
        return cls(
            folder=folder,
            translator=translator,
            options=options,
            src_pieces=src_pieces,
            tgt_pieces=tgt_pieces,
            tgt_ids={piece: number for number, piece in enumerate(tgt_pieces)},
            quantization=note["quantization"],
            max_positions=note["positions"],
        )

    def score(self, pairs: Sequence[tuple[Ids, Ids]], *, batch_tokens: int) -> list[PairScore]:
        """How likely each target is, given its source."""
        longest = max((len(ids) + 1 for pair in pairs for ids in pair), default=0)
        if self.max_positions is not None and longest > self.max_positions:
            raise InputTooLongError(
                f"a sentence of {longest:,} tokens: {self.folder} tells positions apart up to"
                f" {self.max_positions:,}.\n  Score it with --engine torch, or split it."
            )
        scored = self.translator.score_batch(
            [self._source(src) for src, _ in pairs],
            [[self.tgt_pieces[number] for number in tgt] for _, tgt in pairs],
            max_batch_size=batch_tokens,
            batch_type="tokens",
            max_input_length=0,
        )
        return [PairScore(tuple(each.log_probs)) for each in scored]

    def search(
        self,
        sources: Sequence[Ids],
        settings: SearchSettings,
        *,
        prefixes: Sequence[Ids] | None,
        keys: Sequence[tuple[int, ...]],
    ) -> list[list[Hypothesis]]:
        """The translations of each source, best first."""
        # The seed of what is drawn is one for the whole process.
        with _DRAWING if settings.sampling is not None else nullcontext():
            rules = make_rules(
                pad_sources([list(ids) for ids in sources]),
                max_extra=settings.max_extra,
                max_len=settings.max_len,
                prefixes=prefixes,
            )
            limits, src_lengths = rules.limits.tolist(), rules.src_lengths.tolist()
            ask = _Request(
                self._drawing(settings.sampling, keys), sources, prefixes, self._options(settings)
            )
            found = self._run(ask, range(len(sources)), max(limits))
            if settings.rows > 1 and settings.sampling is None:  # who walks alone can be cut
                self._run_again(ask, found, limits)
            cut = [
                [cut_short(each, limit=limit, src_length=src_length) for each in some]
                for some, limit, src_length in zip(found, limits, src_lengths, strict=True)
            ]
            if settings.sampling is None:  # what was cut may have become the same
                cut = [list({each.ids: each for each in reversed(some)}.values()) for some in cut]
            elif settings.sampling.top_k == 1:  # there was nothing to draw: all draws are one
                cut = [some * settings.n_best for some in cut]
            return self._ranked(sources, cut, settings)

    # --- what CTranslate2 is asked ---------------------------------------------------------------

    def _options(self, settings: SearchSettings) -> dict[str, Any]:
        """The keywords of ``translate_batch`` that are the same for all sentences."""
        options: dict[str, Any] = {
            "length_penalty": 0,
            "min_decoding_length": 0,
            "max_input_length": 0,
            "return_scores": True,
            "return_end_token": True,
        }
        drawn = settings.sampling
        if drawn is not None:
            return options | {
                "beam_size": 1,
                "num_hypotheses": 1 if drawn.top_k == 1 else settings.n_best,
                "sampling_topk": drawn.top_k or 0,  # 0: all of the vocabulary
                "sampling_topp": drawn.top_p,
                "sampling_temperature": drawn.temperature,
            }
        times = patience(settings)
        return options | {
            "beam_size": settings.beam,
            "patience": times,
            "num_hypotheses": settings.beam * times,
        }

    def _drawing(self, drawn: Sampling | None, keys: Sequence[tuple[int, ...]]) -> Any:
        """The translator to use; one that draws from its own beginning, where it is to draw."""
        if drawn is None:
            return self.translator
        # Its generator is seeded once, when a translator first draws.
        seed = np.random.SeedSequence([drawn.seed, *keys[0]]).generate_state(1)[0]
        ctranslate2().set_random_seed(int(seed))
        return open_translator(self.folder, **self.options | {"inter_threads": 1})

    def _run(self, ask: _Request, numbers: Sequence[int], limit: int) -> list[list[Found]]:
        """What CTranslate2 finds for some of the sources, within a limit that counts EOS."""
        options = {**ask.options, "max_decoding_length": max(1, limit - 1)}
        found = self._call(ask, numbers, options)
        wrong = [k for k, some in enumerate(found) if any(says_unsaid(f.ids) for f in some)]
        if wrong:
            options["suppress_sequences"] = [[self.tgt_pieces[number]] for number in UNSAID]
            again = self._call(ask, [numbers[k] for k in wrong], options)
            for k, some in zip(wrong, again, strict=True):
                # Without two of its choices the model gives the others more than their own.
                found[k] = [Found(each.ids, None) for each in some]
        return found

    def _run_again(self, ask: _Request, found: list[list[Found]], limits: list[int]) -> None:
        """Put in what is found with their own limits, where sentences went past them."""
        long = [i for i, some in enumerate(found) if any(len(f.ids) >= limits[i] for f in some)]
        for limit in {limits[i] for i in long}:
            group = [i for i in long if limits[i] == limit]
            for i, some in zip(group, self._run(ask, group, limit), strict=True):
                found[i] = some

    def _call(
        self, ask: _Request, numbers: Sequence[int], options: dict[str, Any]
    ) -> list[list[Found]]:
        prefixes = [ask.prefixes[i] if ask.prefixes is not None else () for i in numbers]
        results = ask.translator.translate_batch(
            [self._source(ask.sources[i]) for i in numbers],
            [[self.tgt_pieces[number] for number in prefix] for prefix in prefixes]
            if any(prefixes)
            else None,
            **options,
        )
        return [
            [
                self._read(pieces, None if prefix else score)  # a prefix is not in the score
                for pieces, score in zip(each.hypotheses, each.scores, strict=True)
                if score > NOBODY
            ]
            for each, prefix in zip(results, prefixes, strict=True)
        ]

    def _source(self, ids: Ids) -> list[str]:
        pieces = self.src_pieces
        return [*(pieces[number] for number in ids), pieces[EOS_ID]]

    def _read(self, pieces: Sequence[str], score: float | None) -> Found:
        ids = tuple(self.tgt_ids[piece] for piece in pieces)
        if ids and ids[-1] == EOS_ID:
            return Found(ids[:-1], score)
        return Found(ids, None)  # it had no room for EOS, whose price is not in the score

    # --- what becomes of it ----------------------------------------------------------------------

    def _ranked(
        self, sources: Sequence[Ids], found: list[list[Found]], settings: SearchSettings
    ) -> list[list[Hypothesis]]:
        """The n_best of each source by our score, best first."""
        unknown = [
            (number, each)
            for number, of_one in enumerate(found)
            for each in of_one
            if each.log_prob is None
        ]
        pairs = [(sources[number], each.ids) for number, each in unknown]
        scored = self.score(pairs, batch_tokens=4096) if pairs else []
        log_probs = {
            (number, each.ids): score.log_prob
            for (number, each), score in zip(unknown, scored, strict=True)
        }
        ranked = []
        for number, of_one in enumerate(found):
            hypotheses = []
            for each in of_one:
                known = each.log_prob
                log_prob = log_probs[number, each.ids] if known is None else known
                if not math.isfinite(log_prob):
                    raise no_usable_probabilities()
                penalty = length_penalty(len(each.ids) + 1.0, settings.length_penalty)
                hypotheses.append(Hypothesis(each.ids, log_prob, log_prob / penalty, each.ending))
            hypotheses.sort(key=lambda h: -h.score)
            ranked.append(hypotheses[: settings.n_best])
        return ranked


def _vocabulary(folder: Path, side: str) -> list[str]:
    shared = folder / "shared_vocabulary.json"
    path = shared if shared.is_file() else folder / f"{side}_vocabulary.json"
    pieces: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return pieces


def patience(settings: SearchSettings) -> int:
    """How many times the beam are to be finished before the search stops; greedily one is enough.

    With alpha 1.5 and beam 5, of 1,000 sentences of Multi30k 29 differ from ours when one beam is
    finished, 3 with two, 1 with four, none with six, which takes half as long again as two.

    >>> [patience(SearchSettings(5, 1, alpha, max_extra=50)) for alpha in (0.6, 1.0, 1.5)]
    [1, 2, 6]
    """
    if settings.beam == 1:
        return 1
    if settings.length_penalty >= 1.5:
        return 6
    return 2 if settings.n_best > 1 or settings.length_penalty >= 1 else 1
