"""Where translations go wrong: by length, by rare words, by kinds of mistakes, line by line."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.evaluation.mistakes import KINDS, KINDS_BY_SOURCE, Line
from dragoman.evaluation.scores import ScoreSettings, make_metrics
from dragoman.evaluation.text_words import is_word, word_texts

LENGTHS = (5, 10, 15, 20, 30, 50)  # the longest sentence of each bucket but the last
FREQUENCIES = ((1, "once"), (4, "2–4 times"), (19, "5–19 times"), (None, "20 times or more"))
N_WORST = 30
N_EXAMPLES = 5


@dataclass(frozen=True)
class LengthBucket:
    """How well sentences of similar length are translated."""

    label: str
    sentences: int
    bleu: float
    chrf: float
    length_ratio: float  # words of the output for each word of the reference


@dataclass(frozen=True)
class WordRecall:
    """How many words of the references, by how often they occur there, the output has."""

    label: str
    words: int
    found: int


@dataclass(frozen=True)
class Finding:
    """A kind of mistake, how many lines have it, and some of them."""

    title: str
    meaning: str
    count: int
    examples: tuple[Line, ...]


@dataclass(frozen=True)
class ErrorAnalysis:
    """Everything an error report tells about one system beyond its scores."""

    lengths: tuple[LengthBucket, ...]
    by_source: bool  # whether length is that of the source; of the reference otherwise
    recalls: tuple[WordRecall, ...]
    copied_words: int | None  # of the output, found in the source and in no reference
    output_words: int
    findings: tuple[Finding, ...]
    worst: tuple[Line, ...]


def analyze_errors(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    sources: Sequence[str] | None = None,
    settings: ScoreSettings | None = None,
) -> ErrorAnalysis:
    """What can be said about the mistakes of one system; without sources, what needs none.

    >>> found = analyze_errors(["the the cat", ""], [["the dog", "a house"]])
    >>> [(finding.title, finding.count) for finding in found.findings if finding.count]
    [('Empty', 1), ('Repeated', 1)]
    >>> [line.number for line in found.worst]
    [2, 1]
    """
    chrf = make_metrics(settings=settings)["chrf"]
    lines = [
        Line(i + 1, sources[i] if sources else None, hyp, ref, chrf.sentence_score(hyp, refs).score)
        for i, (hyp, ref, refs) in enumerate(
            zip(hypotheses, references[0], zip(*references, strict=True), strict=True)
        )
    ]
    words = [[w for w in word_texts(hyp) if is_word(w)] for hyp in hypotheses]
    return ErrorAnalysis(
        lengths=_by_length(lines, references, settings),
        by_source=sources is not None,
        recalls=_recalls(lines),
        copied_words=_copied(words, references, sources) if sources else None,
        output_words=sum(map(len, words)),
        findings=_findings(lines, with_source=sources is not None),
        worst=_worst(lines, references),
    )


def _by_length(
    lines: Sequence[Line], references: Sequence[Sequence[str]], settings: ScoreSettings | None
) -> tuple[LengthBucket, ...]:
    """Scores of the sentences of each range of lengths that has any."""
    members: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        length = len(word_texts(line.ref if line.src is None else line.src))
        members[sum(length > limit for limit in LENGTHS)].append(line)
    metrics = make_metrics(settings=settings)
    buckets = []
    for bucket, inside in sorted(members.items()):
        hyps = [line.hyp for line in inside]
        refs = [[texts[line.number - 1] for line in inside] for texts in references]
        n_hyp, n_ref = (sum(len(word_texts(text)) for text in side) for side in (hyps, refs[0]))
        buckets.append(
            LengthBucket(
                label=_length_label(bucket),
                sentences=len(inside),
                bleu=metrics["bleu"].corpus_score(hyps, refs).score,
                chrf=metrics["chrf"].corpus_score(hyps, refs).score,
                length_ratio=n_hyp / max(1, n_ref),
            )
        )
    return tuple(buckets)


def _length_label(bucket: int) -> str:
    if bucket == len(LENGTHS):
        return f"{LENGTHS[-1] + 1} or more"
    return f"{LENGTHS[bucket - 1] + 1 if bucket else 0}–{LENGTHS[bucket]}"


def _recalls(lines: Sequence[Line]) -> tuple[WordRecall, ...]:
    """How many words of each frequency the outputs have; as often as the reference has them."""
    wanted = [Counter(filter(is_word, word_texts(line.ref))) for line in lines]
    frequency: Counter[str] = Counter()
    for counts in wanted:
        frequency.update(counts)
    words, found = [0] * len(FREQUENCIES), [0] * len(FREQUENCIES)
    for line, counts in zip(lines, wanted, strict=True):
        given = Counter(word_texts(line.hyp))
        for word, n in counts.items():
            bucket = sum(limit is not None and frequency[word] > limit for limit, _ in FREQUENCIES)
            words[bucket] += n
            found[bucket] += min(n, given[word])
    labels = (label for _, label in FREQUENCIES)
    return tuple(map(WordRecall, labels, words, found))


def _copied(
    outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]], sources: Sequence[str]
) -> int:
    """Words of the outputs that stand in the source and in no reference."""
    n_copied = 0
    for words, src, *refs in zip(outputs, sources, *references, strict=True):
        copies = set(word_texts(src)) - {word for ref in refs for word in word_texts(ref)}
        n_copied += sum(word in copies for word in words)
    return n_copied


def _worst(lines: Sequence[Line], references: Sequence[Sequence[str]]) -> tuple[Line, ...]:
    """The lines of least chrF, of those that are not right; two empty lines have a chrF of 0."""
    wrong = [
        line
        for line, *refs in zip(lines, *references, strict=True)
        if line.chrf < 100 and line.hyp.strip() not in [ref.strip() for ref in refs]
    ]
    return tuple(sorted(wrong, key=lambda line: line.chrf)[:N_WORST])


def _findings(lines: Sequence[Line], *, with_source: bool) -> tuple[Finding, ...]:
    findings = []
    for title, meaning, applies in (*KINDS, *(KINDS_BY_SOURCE if with_source else ())):
        inside = [line for line in lines if applies(line)]
        findings.append(Finding(title, meaning, len(inside), tuple(inside[:N_EXAMPLES])))
    return tuple(findings)
