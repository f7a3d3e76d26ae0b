"""Our scores are sacreBLEU's: the numbers and signatures of its command, to the last digit."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.errors import ConfigError, DataError
from dragoman.evaluation.scores import ScoreSettings, bleu_score, make_metrics, score_corpus

REFERENCES = [
    "A man in an orange hat is starring at something.",
    "A Boston Terrier is running on lush green grass, in front of a white fence.",
    "Five people wearing winter jackets & helmets stand in the snow.",
    "Straße, Köln: 3,5 km — « vite ! »",
    "東京 は 日本 の 首都 です 。",
    "",
    "People are fixing the roof of a house.",
]
OTHERS = [line.replace("is", "was").upper() for line in REFERENCES]


def distorted(lines, seed=1):
    """Lines with words dropped, doubled and swapped."""
    rng = random.Random(seed)
    out = []
    for line in lines:
        words = [w for w in line.split() for _ in range(rng.choice([0, 1, 1, 1, 1, 2]))]
        if len(words) > 2 and rng.random() < 0.5:
            words[0], words[2] = words[2].lower(), words[0]
        out.append(" ".join(words))
    return out


def command(folder: Path, hypotheses, references, *options):
    """What ``sacrebleu`` prints for these texts, by metric."""
    names = []
    for i, lines in enumerate(references):
        (folder / f"ref{i}").write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")
        names.append(str(folder / f"ref{i}"))
    (folder / "hyp").write_text("".join(f"{x}\n" for x in hypotheses), encoding="utf-8")
    metrics = ["-m", "bleu", "chrf", "ter", "-w", "12", "-f", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "sacrebleu", *names, "-i", str(folder / "hyp"), *metrics, *options],
        capture_output=True,
        text=True,
        check=True,
    )
    by_name = {"BLEU": "bleu", "chrF2": "chrf", "TER": "ter"}
    return {by_name[found["name"]]: found for found in json.loads(done.stdout)}


@pytest.mark.parametrize(
    ("n_refs", "settings", "options"),
    [
        (1, ScoreSettings(), ()),
        (2, ScoreSettings(), ()),
        (1, ScoreSettings(tokenize="none"), ("-tok", "none")),
        (1, ScoreSettings(tokenize="intl"), ("-tok", "intl")),
        (1, ScoreSettings(tokenize="char"), ("-tok", "char")),
        (1, ScoreSettings(tokenize="zh"), ("-tok", "zh")),
        (2, ScoreSettings(lowercase=True), ("-lc", "--chrf-lowercase")),
    ],
)
def test_scores_equal_those_of_the_sacrebleu_command(tmp_path, n_refs, settings, options):
    references = [REFERENCES, OTHERS][:n_refs]
    hypotheses = distorted(REFERENCES)
    ours = score_corpus(hypotheses, references, settings=settings)
    theirs = command(tmp_path, hypotheses, references, *options)
    for name, found in theirs.items():
        assert round(getattr(ours, name), 12) == found["score"]
        assert ours.signatures[name] == found["signature"]
    assert ours.bleu_detail == theirs["bleu"]["verbose_score"]
    assert 0 < ours.bleu < 100  # control: there is something to tell apart
    assert ours.ter > 0


def test_scores_on_real_language_equal_those_of_the_command(tmp_path):
    folder = Path(__file__).parents[3] / "shared" / "data" / "multi30k"
    if not folder.is_dir():
        pytest.skip(f"Multi30k is not at {folder}")
    from dragoman.corpus.files import read_lines

    references = list(read_lines(folder / "val.de.gz"))[:300]
    hypotheses = distorted(references)
    ours = score_corpus(hypotheses, [references])
    for name, found in command(tmp_path, hypotheses, [references]).items():
        assert round(getattr(ours, name), 12) == found["score"]


def test_the_tokenization_changes_bleu_and_nothing_else():
    hypotheses = distorted(REFERENCES)
    plain = score_corpus(hypotheses, [REFERENCES])
    none = score_corpus(hypotheses, [REFERENCES], settings=ScoreSettings(tokenize="none"))
    assert plain.bleu != none.bleu
    assert (plain.chrf, plain.ter) == (none.chrf, none.ter)
    assert "tok:none" in none.signatures["bleu"]


def test_lower_case_forgives_case_in_bleu_and_chrf():
    hypotheses = [line.lower() for line in REFERENCES]
    assert score_corpus(hypotheses, [REFERENCES]).bleu < 99
    forgiving = score_corpus(hypotheses, [REFERENCES], settings=ScoreSettings(lowercase=True))
    assert forgiving.bleu == pytest.approx(100)
    assert forgiving.chrf == pytest.approx(100)


def test_the_validation_score_is_plain_bleu():
    hypotheses = distorted(REFERENCES)
    assert bleu_score(hypotheses, REFERENCES) == score_corpus(hypotheses, [REFERENCES]).bleu


def test_nothing_to_score_is_said():
    with pytest.raises(DataError, match="nothing to score"):
        score_corpus([], [[]])


def test_an_unknown_tokenization_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="--tokenize intel: .*did you mean intl?"):
        ScoreSettings(tokenize="intel")


def test_every_known_tokenization_is_one_of_sacrebleu():
    from sacrebleu.metrics.bleu import BLEU

    from dragoman.evaluation import scores

    ours = {*scores.TOKENIZATIONS, *scores.TOKENIZATIONS_BY_MODEL}
    assert ours <= set(BLEU.TOKENIZERS)


def test_a_tokenization_whose_package_is_missing_says_how_to_get_it(monkeypatch):
    import sacrebleu.tokenizers.tokenizer_ja_mecab as japanese

    monkeypatch.setattr(japanese, "MeCab", None)
    with pytest.raises(ConfigError, match=r"ja-mecab cannot be used here: .*sacrebleu\[ja\]"):
        make_metrics(settings=ScoreSettings(tokenize="ja-mecab"))
