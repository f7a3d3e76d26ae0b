import itertools
import re
from datetime import date, timedelta

import pytest

from dragoman.corpus.dates import FORMS, ordinal, written
from dragoman.errors import DataError

DAY = date(2026, 11, 15)  # a Sunday


def test_the_forms_of_one_day_are_as_people_write_them():
    english = [written(DAY, "en", i) for i in range(len(FORMS["en"]))]
    german = [written(DAY, "de", i) for i in range(len(FORMS["de"]))]
    assert "Sunday, November 15, 2026" in english
    assert "the 15th of November 2026" in english
    assert "15-Nov-2026" in english
    assert "Sonntag, der 15. November 2026" in german
    assert "15.11.2026" in german
    assert "am Sonntag, dem 15. November 2026" in german


def test_no_text_stands_for_two_days():
    days = [date(2026, 1, 1) + timedelta(i) for i in range(365)]
    meaning: dict[str, date] = {}
    for day, (language, forms) in itertools.product(days, FORMS.items()):
        for i in range(len(forms)):
            assert meaning.setdefault(written(day, language, i), day) == day


def test_the_day_of_the_week_is_that_of_the_calendar():
    moon_landing = date(1969, 7, 20)
    assert written(moon_landing, "en", 6).startswith("Sunday")
    assert written(moon_landing, "de", 4).startswith("Sonntag")


def test_ordinals_follow_the_last_digit_but_for_the_teens():
    endings = {n: re.sub(r"\d", "", ordinal(n)) for n in range(1, 32)}
    assert {n for n, end in endings.items() if end == "st"} == {1, 21, 31}
    assert {n for n, end in endings.items() if end == "nd"} == {2, 22}
    assert {n for n, end in endings.items() if end == "rd"} == {3, 23}


def test_a_form_that_does_not_exist_is_refused():
    with pytest.raises(DataError, match="there are 12"):
        written(DAY, "en", 12)
