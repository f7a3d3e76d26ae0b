"""The batcher: what shares a batch, who waits for whom, what is refused and what is dropped."""

import threading
from concurrent.futures import CancelledError

import pytest

from dragoman.errors import ConfigError
from dragoman.server.batcher import Batcher
from dragoman.server.jobs import Closed, Full, Options

TEXTS = [
    "Ein Hund rennt.",
    "Zwei Hunde schlafen im Garten.",
    "Die Katze schläft nicht.",
    "Der Mann liest, während die Frau kocht.",
    "Im Garten rennt eine Katze.",
    "Eine Frau.",
]


class Watched:
    """A translator that remembers which texts it was given together."""

    def __init__(self, translator):
        self._translator = translator
        self.batches = []

    def __getattr__(self, name):
        return getattr(self._translator, name)

    def translate(self, texts, **options):
        self.batches.append(list(texts))
        if "break" in texts:
            raise ConfigError("broken")
        return self._translator.translate(texts, **options)


class Held:
    """A batcher whose thread is kept busy until it is let go."""

    def __init__(self, translator, **options):
        self.watched = Watched(translator)
        self.batcher = Batcher(self.watched, wait=0.0, **options)
        self.batcher.start()
        self._is_busy, self._go = threading.Event(), threading.Event()
        self._blocker = self.batcher.run(self._block)
        assert self._is_busy.wait(10)

    def _block(self):
        self._is_busy.set()
        assert self._go.wait(30)

    def let_go(self):
        self._go.set()
        self._blocker.result(10)


@pytest.fixture
def hold(translator):
    held = []

    def make(**options):
        held.append(Held(translator, **options))
        return held[-1]

    yield make
    for each in held:
        each._go.set()
        each.batcher.close()


def test_requests_that_come_together_are_translated_together(hold, translator):
    held = hold()
    futures = [held.batcher.submit([text], Options()) for text in TEXTS]
    held.let_go()
    found = [future.result(10)[0].text for future in futures]
    assert held.watched.batches == [TEXTS]
    assert found == [translator.translate([text])[0].text for text in TEXTS]


def test_only_requests_with_equal_options_share_a_batch(hold, translator):
    held = hold()
    plain = held.batcher.submit([TEXTS[0]], Options())
    wide = held.batcher.submit([TEXTS[1]], Options(beam=6, n_best=2))
    also = held.batcher.submit([TEXTS[2]], Options())
    held.let_go()
    (best,) = wide.result(10)
    assert len(best.n_best) == 2
    assert (
        best.n_best[1].text == translator.translate([TEXTS[1]], beam=6, n_best=2)[0].n_best[1].text
    )
    assert [plain.result(10)[0].alternatives, also.result(10)[0].alternatives] == [(), ()]
    assert held.watched.batches == [[TEXTS[0], TEXTS[2]], [TEXTS[1]]]


def test_each_request_keeps_its_own_prefix(hold, translator):
    held = hold()
    first = held.batcher.submit([TEXTS[0]], Options(), prefix="The dog")
    second = held.batcher.submit([TEXTS[0]], Options())
    held.let_go()
    assert first.result(10)[0].text.startswith("The dog")
    assert second.result(10)[0].text == translator.translate([TEXTS[0]])[0].text
    assert len(held.watched.batches) == 1


def test_a_large_request_and_a_small_one_take_turns(hold):
    held = hold(batch_tokens=4 * 16 * 4)  # four short texts, at a beam of four
    large = held.batcher.submit(["Eine Frau."] * 9, Options())
    small = held.batcher.submit(["Ein Hund."], Options())
    held.let_go()
    small.result(10)
    large.result(10)
    assert "Ein Hund." in held.watched.batches[0]
    assert [len(batch) for batch in held.watched.batches] == [4, 4, 2]


def test_a_text_larger_than_the_budget_is_translated_alone(hold, translator):
    held = hold(batch_tokens=1)
    future = held.batcher.submit(TEXTS[:2], Options())
    held.let_go()
    assert [t.text for t in future.result(10)] == [t.text for t in translator.translate(TEXTS[:2])]
    assert held.watched.batches == [[TEXTS[0]], [TEXTS[1]]]


def test_one_request_that_fails_fails_alone(hold):
    held = hold()
    good = held.batcher.submit([TEXTS[0]], Options())
    bad = held.batcher.submit(["break"], Options())
    held.let_go()
    assert good.result(10)[0].text
    with pytest.raises(ConfigError, match="broken"):
        bad.result(10)


def test_a_request_that_is_given_up_is_never_translated_and_frees_its_place(hold):
    held = hold(max_waiting=3)
    left = held.batcher.submit(["Die Katze."], Options())
    kept = held.batcher.submit([TEXTS[0]], Options())
    assert held.batcher.n_waiting == 3
    assert left.cancel()
    assert held.batcher.n_waiting == 2
    more = held.batcher.submit([TEXTS[1]], Options())
    held.let_go()
    kept.result(10), more.result(10)
    assert held.watched.batches == [[TEXTS[0], TEXTS[1]]]
    assert held.batcher.n_waiting == 0
    with pytest.raises(CancelledError):
        left.result(0)


def test_a_full_queue_refuses_and_says_when_to_come_again(hold):
    held = hold(max_waiting=3)
    held.batcher.submit(TEXTS[:2], Options())
    with pytest.raises(Full) as full:
        held.batcher.submit(TEXTS[:1], Options())
    assert 1 <= full.value.seconds <= 60
    with pytest.raises(Full):
        held.batcher.run(lambda: None)


def test_options_that_cannot_work_are_refused_at_once(hold):
    held = hold()
    with pytest.raises(ConfigError, match="n_best"):
        held.batcher.submit(TEXTS[:1], Options(beam=2, n_best=3))
    assert held.batcher.n_waiting == 1  # the one that holds


def test_closing_finishes_what_waits_and_refuses_what_comes(hold, translator):
    held = hold()
    waiting = held.batcher.submit(TEXTS[:1], Options())
    closing = threading.Thread(target=held.batcher.close)
    closing.start()
    while not held.batcher._is_closed:
        pass
    with pytest.raises(Closed):
        held.batcher.submit(TEXTS[:1], Options())
    held.let_go()
    closing.join(10)
    assert waiting.result(0)[0].text == translator.translate(TEXTS[:1])[0].text


def test_a_task_that_fails_leaves_the_thread_at_work(hold):
    held = hold()

    def fail():
        raise ZeroDivisionError

    failed = held.batcher.run(fail)
    fine = held.batcher.run(lambda: 7)
    held.let_go()
    with pytest.raises(ZeroDivisionError):
        failed.result(10)
    assert fine.result(10) == 7


def test_no_texts_are_no_work(hold):
    assert hold().batcher.submit([], Options()).result(0) == []
