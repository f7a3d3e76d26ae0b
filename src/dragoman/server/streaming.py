"""A translation as it is found, piece by piece, as server-sent events.

What has been told is never taken back, so the search is greedy. A text that is too long for the
model is told part by part. ``token`` events carry a piece, the text so far and the log-probability
of the piece; one ``done`` event carries the whole translation, or one ``error`` event the reason.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor

from dragoman.corpus.pair import one_line
from dragoman.decoding.segmenting import Segment, split_text
from dragoman.decoding.translation import Translation, join
from dragoman.decoding.translator import Translator
from dragoman.errors import DragomanError
from dragoman.model.cache import DecoderCache
from dragoman.model.transformer import Transformer
from dragoman.server.models import Model
from dragoman.server.problems import Problem
from dragoman.server.schemas import translation_json
from dragoman.server.service import Service

Heard = Callable[[int, float], None]
"""Called with each piece's id and log-probability."""
Event = dict[str, Any]


class Listener:
    """A model that says aloud which tokens it is given to go on from.

    It stands in the place of the model; each token that a search has chosen comes by here.
    """

    def __init__(self, model: Transformer, heard: Heard) -> None:
        self._model, self._heard = model, heard
        self._log_probs: Tensor | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def start(self, src_ids: Tensor, *, n_beams: int, capacity: int) -> DecoderCache:
        self._log_probs = None
        return self._model.start(src_ids, n_beams=n_beams, capacity=capacity)

    def step(self, ids: Tensor, cache: DecoderCache) -> Tensor:
        if self._log_probs is not None:
            self._heard(int(ids[0]), float(self._log_probs[0, ids[0]]))
        logits = self._model.step(ids, cache)
        self._log_probs = torch.log_softmax(logits, dim=-1)
        return logits


def translate_aloud(
    translator: Translator, text: str, *, prefix: str | None, tell: Callable[[Event], None]
) -> Translation:
    """The greedy translation; ``tell`` is called with every piece before it is complete."""
    parts = _parts(translator, one_line(text))
    done: list[Translation] = []
    for segment in parts:
        first = prefix if not done else None
        done.append(_translate_part(translator, segment.text, first, done, tell))
    if len(done) == 1:
        return done[0]
    return join(done, [segment.first_word for segment in parts])


def _parts(translator: Translator, line: str) -> list[Segment]:
    """The line as the model takes it: whole, or in parts."""

    def fits(part: str) -> bool:
        return len(translator.tokenizer.encode(part, "src")) <= translator.max_pieces

    return [Segment(line)] if fits(line) else split_text(line, fits)


def _translate_part(
    translator: Translator,
    text: str,
    prefix: str | None,
    done: list[Translation],
    tell: Callable[[Event], None],
) -> Translation:
    before = " ".join(each.text for each in done if each.text)
    ids: list[int] = []

    def heard(number: int, log_prob: float) -> None:
        ids.append(number)
        text_so_far = one_line(translator.tokenizer.decode(ids))
        tell(
            {
                "piece": translator.tokenizer.piece(number),
                "text": " ".join(part for part in (before, text_so_far) if part),
                "log_prob": log_prob,
            }
        )

    if translator.engine is not None or len(translator.models) != 1:
        # Another engine gives no piece before it has them all.
        (found,) = translator.translate([text], beam=1, prefixes=[prefix])
        for number in found.ids:
            heard(number, 0.0)
        return found
    listening = replace(translator, models=(cast(Transformer, Listener(translator.model, heard)),))
    return listening.translate([text], beam=1, prefixes=[prefix])[0]


# --- server-sent events --------------------------------------------------------------------------


class _Gone(Exception):
    """The client has left; stops the search."""


def stream(
    service: Service, model: Model, text: str, *, prefix: str | None
) -> AsyncIterator[bytes]:
    """The events of one translation. Takes its place in the queue now, and may be refused."""
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    gone = threading.Event()

    def tell(event: Event) -> None:
        if gone.is_set():
            raise _Gone
        loop.call_soon_threadsafe(events.put_nowait, event)

    def end(_: Future[Translation]) -> None:
        if not gone.is_set():
            loop.call_soon_threadsafe(events.put_nowait, None)

    def work() -> Translation:
        return translate_aloud(model.translator, text, prefix=prefix, tell=tell)

    future = service.enter(model.batcher.run, work)
    future.add_done_callback(end)
    return _events(service, future, events, gone)


async def _events(
    service: Service,
    future: Future[Translation],
    events: asyncio.Queue[Event | None],
    gone: threading.Event,
) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + service.limits.seconds
    reason = "left"
    try:
        while True:
            async with asyncio.timeout_at(deadline):
                event = await events.get()
            if event is None:
                break
            yield sse("token", event)
        yield sse("done", translation_json(future.result()))
    except TimeoutError:
        reason = "late"
        yield sse("error", {"error": f"no answer within {service.limits.seconds:g} s"})
    except (DragomanError, Problem) as error:
        yield sse("error", {"error": str(error)})
    finally:
        if not future.done():
            service.metrics.dropped(reason)
        gone.set()
        future.cancel()


def sse(event: str, data: Event) -> bytes:
    r"""One event in the form of the standard.

    >>> sse("token", {"piece": "a\nb"})
    b'event: token\ndata: {"piece": "a\\nb"}\n\n'
    """
    return f"event: {event}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
