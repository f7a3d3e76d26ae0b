"""Which languages a bundle speaks: from its configuration, its record, or the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.config import Config
from dragoman.corpus.files import without_compression
from dragoman.corpus.languages import normalize_language
from dragoman.corpus.tasks import TASKS
from dragoman.errors import ConfigError

_NAMES = """
af Afrikaans, am Amharic, ar Arabic, az Azerbaijani, be Belarusian, bg Bulgarian, bn Bengali, br
Breton, bs Bosnian, ca Catalan, cs Czech, cy Welsh, da Danish, de German, el Greek, en English, eo
Esperanto, es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fo Faroese, fr French, fy
Frisian, ga Irish, gd Gaelic, gl Galician, gu Gujarati, ha Hausa, he Hebrew, hi Hindi, hr
Croatian, ht Haitian, hu Hungarian, hy Armenian, id Indonesian, ig Igbo, is Icelandic, it Italian,
ja Japanese, jv Javanese, ka Georgian, kk Kazakh, km Khmer, kn Kannada, ko Korean, ku Kurdish, ky
Kyrgyz, la Latin, lb Luxembourgish, lo Lao, lt Lithuanian, lv Latvian, mg Malagasy, mk Macedonian,
ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, nb Norwegian Bokmål, ne
Nepali, nl Dutch, nn Norwegian Nynorsk, no Norwegian, oc Occitan, or Odia, pa Punjabi, pl Polish,
ps Pashto, pt Portuguese, qu Quechua, ro Romanian, ru Russian, rw Kinyarwanda, sa Sanskrit, sd
Sindhi, si Sinhala, sk Slovak, sl Slovenian, so Somali, sq Albanian, sr Serbian, sv Swedish, sw
Swahili, ta Tamil, te Telugu, tg Tajik, th Thai, tk Turkmen, tl Tagalog, tr Turkish, tt Tatar, ug
Uyghur, uk Ukrainian, ur Urdu, uz Uzbek, vi Vietnamese, xh Xhosa, yi Yiddish, yo Yoruba, zh
Chinese, zu Zulu
"""
NAMES: dict[str, str] = dict(
    entry.strip().split(" ", 1) for entry in _NAMES.replace("\n", " ").split(",")
)
UNKNOWN = ("src", "tgt")


@dataclass(frozen=True)
class LanguagePair:
    """The codes of a bundle's languages, and how sure they are."""

    source: str
    target: str
    note: str = ""  # what the user should know; empty where the codes are certain


def language_name(code: str) -> str:
    """The English name of a language, with its region or script if the code has one.

    >>> language_name("de"), language_name("pt-BR"), language_name("src")
    ('German', 'Portuguese (BR)', 'src')
    """
    base, _, rest = code.partition("-")
    name = NAMES.get(base.lower(), code)
    return f"{name} ({rest})" if rest and name != code else name


def base_language(code: str) -> str:
    """The language without its region or script, in lower case.

    >>> base_language("pt_BR")
    'pt'
    """
    return normalize_language(code).partition("-")[0]


def parse_codes(text: str) -> tuple[str, str]:
    """The two codes of ``en-de``, or of ``pt-BR:en`` where one has a hyphen.

    >>> parse_codes("en-de"), parse_codes("pt-BR:en")
    (('en', 'de'), ('pt-BR', 'en'))
    """
    codes = text.split(":") if ":" in text else text.split("-")
    are_codes = all(code.replace("-", "").replace("_", "").isalnum() for code in codes)
    if len(codes) != 2 or not are_codes:
        raise ConfigError(
            f"{text!r} names no two languages. Write RUN=en-de for English to German, or"
            " RUN=pt-BR:en where a code has a hyphen."
        )
    return codes[0], codes[1]


def bundle_languages(config: Config, record: Mapping[str, Any]) -> LanguagePair:
    """What a bundle says of its languages, and a guess, said to be one, where it says nothing."""
    if config.data.src_lang and config.data.tgt_lang:
        return LanguagePair(config.data.src_lang, config.data.tgt_lang)
    if (task := TASKS.get(str(record.get("task")))) is not None:
        return LanguagePair(task.src_suffix, task.tgt_suffix)
    data = record.get("data")
    files = data.get("files") if isinstance(data, dict) else None
    if isinstance(files, list) and files:
        paths = [str(file.get("path", "")) for file in files if isinstance(file, dict)]
        suffixes = file_languages(paths)
        if len(suffixes) == 2:
            return LanguagePair(*suffixes)
    elif isinstance(files, list) and config.data.tokenizer == TASKS["grammar"].tokenizer:
        return LanguagePair("de", "en", "taken for the built-in German-English grammar")
    return LanguagePair(*UNKNOWN, "its languages are not recorded")


def file_languages(paths: Iterable[str]) -> list[str]:
    """The languages that file names end with, each once.

    >>> file_languages(["a/train.lc.norm.tok.en.gz", "train.de", "more.en", "notes.txt"])
    ['en', 'de']
    """
    suffixes = [without_compression(Path(path)).suffix[1:].lower() for path in paths]
    return list(dict.fromkeys(suffix for suffix in suffixes if suffix in NAMES))
