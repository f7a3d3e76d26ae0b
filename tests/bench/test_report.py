"""Tables for readers: dashes for what there is not, and why, below."""

from dragoman.bench.report import case_rows, case_title, curve_rows, markdown, notes

TRAIN = {
    "preset": "tiny",
    "order": "like lengths",
    "batches": 4,
    "target_tokens": 15842,
    "padding": 0.016,
    "results": [
        {
            "peer": "dragoman",
            "tokens_per_second": 4321.0,
            "ms_per_sentence": 3.2,
            "memory_mb": {"growth": 210.4, "peak": 480.1},
        },
        {
            "peer": "Eole",
            "tokens_per_second": 1730.0,
            "ms_per_sentence": 8.0,
            "ratio": {"median": 2.498, "low": 2.3, "high": 2.6},
            "memory_mb": {"growth": 400.0, "peak": 700.0},
        },
        {"peer": "JoeyNMT", "note": "not installed"},
    ],
}


def test_a_case_of_training_is_told_by_its_text():
    assert case_title(TRAIN) == (
        "tiny, like lengths: 15,842 target tokens in 4 batches, 2% padding"
    )


def test_rows_have_speed_ratio_and_memory_or_dashes():
    header, ours, eole, joey = case_rows(TRAIN)
    assert header == ("", "tokens/s", "ours / theirs", "memory, MB")
    assert ours == ("dragoman", "4,321", "–", "210 (480)")
    assert eole == ("Eole", "1,730", "2.50× (2.30–2.60)", "400 (700)")
    assert joey == ("JoeyNMT", "–", "–", "–")
    assert notes([TRAIN]) == ["JoeyNMT: not installed"]


def test_one_sentence_at_a_time_is_told_in_milliseconds():
    case = {"preset": "tiny", "case": "batch 1, greedy", "batch_size": 1, "sentences": 20}
    case |= {"tokens": 20, "results": TRAIN["results"]}
    assert case_title(case) == "tiny, batch 1, greedy: 20 sentences of 20 tokens"
    assert [row[1] for row in case_rows(case)] == ["ms/sentence", "3.20", "8.00", "–"]


def test_translations_that_were_compared_have_a_column():
    results = [TRAIN["results"][0], {**TRAIN["results"][1], "same_as_ours": 0.985}]
    case = {"case": "batch 32, beam 5", "batch_size": 32, "sentences": 200, "results": results}
    assert case_title(case) == "batch 32, beam 5: 200 sentences"
    assert [row[-1] for row in case_rows(case)] == ["the same", "–", "98.5%"]


def test_exponents_stand_beside_their_range():
    fit = {"all": {"exponent": 1.234}, "upper half": {"exponent": 1.9}}
    curve = {"kind": "train", "axis": "length", "values": [8, 256]}
    rows = curve_rows([{**curve, "time_growth": fit, "memory_growth": {}}])
    assert rows[1] == ("train, length", "8–256", "x^1.23", "x^1.90", "–", "–")


def test_markdown_is_a_table_whose_numbers_stand_to_the_right():
    lines = markdown(case_rows(TRAIN)).split("\n")
    assert lines[1] == "|---|---:|---:|---:|"
    assert len(lines) == 5
