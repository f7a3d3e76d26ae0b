"""What the server counts, in the text form that Prometheus reads."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """The counters of one server.

    >>> metrics = Metrics()
    >>> metrics.answered("/health", "GET", 200, seconds=0.01)
    >>> b'dragoman_requests_total{method="GET",route="/health",status="200"} 1.0' in metrics.text()
    True
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "dragoman_requests", "Answers given.", ("route", "method", "status"), registry=registry
        )
        self._seconds = Histogram(
            "dragoman_request_seconds",
            "Time to answer.",
            ("route",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._dropped = Counter(
            "dragoman_dropped_requests",
            "Requests given up: full (refused), left (by the client), late (out of time).",
            ("reason",),
            registry=registry,
        )
        for reason in ("full", "left", "late"):
            self._dropped.labels(reason)
        self._sentences = Counter(
            "dragoman_sentences", "Texts translated.", ("model",), registry=registry
        )
        self._tokens = Counter(
            "dragoman_output_tokens", "Pieces of translations.", ("model",), registry=registry
        )
        self._batches = Histogram(
            "dragoman_batch_sentences",
            "Texts translated together.",
            ("model",),
            buckets=_SENTENCES,
            registry=registry,
        )
        self._batch_seconds = Histogram(
            "dragoman_batch_seconds",
            "Time of a batch.",
            ("model",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._waiting = Gauge(
            "dragoman_waiting_sentences",
            "Texts accepted and not yet answered.",
            ("model",),
            registry=registry,
        )

    def answered(self, route: str, method: str, status: int, *, seconds: float) -> None:
        """Count an answer."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def dropped(self, reason: str) -> None:
        """Count a request that was given up."""
        self._dropped.labels(reason).inc()

    def translated(self, model: str, *, n_texts: int, n_tokens: int, seconds: float) -> None:
        """Count a batch."""
        self._sentences.labels(model).inc(n_texts)
        self._tokens.labels(model).inc(n_tokens)
        self._batches.labels(model).observe(n_texts)
        self._batch_seconds.labels(model).observe(seconds)

    def waiting(self, model: str, n_texts: int) -> None:
        """Note how many texts wait for a model."""
        self._waiting.labels(model).set(n_texts)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)
