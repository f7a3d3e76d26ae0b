import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.corpus.numbers import LIMIT, from_words, in_words
from dragoman.errors import DataError

GOLDEN = [
    (0, "zero", "null"),
    (1, "one", "eins"),
    (12, "twelve", "zwölf"),
    (16, "sixteen", "sechzehn"),
    (17, "seventeen", "siebzehn"),
    (21, "twenty-one", "einundzwanzig"),
    (30, "thirty", "dreißig"),
    (66, "sixty-six", "sechsundsechzig"),
    (77, "seventy-seven", "siebenundsiebzig"),
    (100, "one hundred", "einhundert"),
    (101, "one hundred one", "einhunderteins"),
    (111, "one hundred eleven", "einhundertelf"),
    (1_000, "one thousand", "eintausend"),
    (1_001, "one thousand one", "eintausendeins"),
    (1_984, "one thousand nine hundred eighty-four", "eintausendneunhundertvierundachtzig"),
    (21_000, "twenty-one thousand", "einundzwanzigtausend"),
    (101_101, "one hundred one thousand one hundred one", "einhunderteintausendeinhunderteins"),
    (1_000_000, "one million", "eine Million"),
    (2_000_001, "two million one", "zwei Millionen eins"),
    (21_000_000, "twenty-one million", "einundzwanzig Millionen"),
]


@pytest.mark.parametrize(("number", "english", "german"), GOLDEN)
def test_a_number_is_spelled_as_a_speaker_would(number, english, german):
    assert in_words(number, "en") == english
    assert in_words(number, "de") == german


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_number_below_ten_thousand_reads_back(language):
    spelled = [in_words(number, language) for number in range(10_000)]
    assert len(set(spelled)) == 10_000
    assert [from_words(text, language) for text in spelled] == list(range(10_000))


@settings(deadline=None, max_examples=200)
@given(st.integers(0, LIMIT - 1), st.sampled_from(["en", "de"]))
def test_words_read_back_as_the_same_number(number, language):
    assert from_words(in_words(number, language), language) == number


@pytest.mark.parametrize("number", [-1, LIMIT])
def test_a_number_out_of_range_is_refused(number):
    with pytest.raises(DataError, match="numbers go from 0 to"):
        in_words(number)


@pytest.mark.parametrize(
    ("text", "language"),
    [("five twenty", "en"), ("hundred", "en"), ("", "en"), ("", "de"), ("zweiund", "de"),
     ("einetausend", "de"), ("fünfzig eins", "de"), ("sieben Million", "de")],
)  # fmt: skip
def test_what_is_no_number_is_refused(text, language):
    with pytest.raises(DataError, match="is not a number"):
        from_words(text, language)
