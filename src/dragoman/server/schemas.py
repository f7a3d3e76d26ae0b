"""What goes in and out of ``/api``: the fields of requests and their types; translations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError
from pydantic import StrictFloat as Number  # a whole number is one too

from dragoman.decoding.translation import Translation
from dragoman.server.problems import Problem

B = TypeVar("B", bound="Body")
Beam = Annotated[StrictInt, Field(ge=1)]
Alpha = Annotated[Number, Field(ge=0, le=10)]


class Body(BaseModel):
    """A JSON object without other keys than these."""

    model_config = ConfigDict(extra="forbid")


class TranslateBody(Body):
    """What to translate, and how."""

    text: StrictStr | Annotated[list[StrictStr], Field(min_length=1)] = Field(
        description="One text, or several."
    )
    model: StrictStr | None = Field(None, description="A name of /api/models; the first.")
    beam: Beam | None = Field(None, description="Hypotheses kept at each step.")
    n_best: Beam | None = Field(None, description="Translations of each text.")
    length_penalty: Alpha | None = Field(None, description="Alpha of ((5 + length) / 6)^alpha.")
    prefix: StrictStr | None = Field(None, description="What translations must begin with.")
    alignments: StrictBool = Field(False, description="Whether to say which words belong together.")


class ExplainBody(Body):
    """A sentence to look at, and what to change in the model."""

    text: StrictStr = Field(description="One sentence.")
    model: StrictStr | None = Field(None, description="A name of /api/models; the first.")
    beam: Beam | None = Field(None, description="Hypotheses kept at each step.")
    length_penalty: Alpha | None = Field(None, description="Alpha of ((5 + length) / 6)^alpha.")
    prefix: StrictStr | None = Field(None, description="What the translation must begin with.")
    prefix_ids: list[Annotated[StrictInt, Field(ge=0)]] | None = Field(
        None, description="The same as ids, in place of text."
    )
    heads_off: list[tuple[StrictStr, Annotated[StrictInt, Field(ge=0)]]] = Field(
        default_factory=list, description='Heads to switch off: [["decoder.2.cross", 0], …].'
    )


class StreamBody(Body):
    """A text whose translation is told piece by piece."""

    text: StrictStr = Field(description="The text.")
    model: StrictStr | None = Field(None, description="A name of /api/models; the first.")
    prefix: StrictStr | None = Field(None, description="What the translation must begin with.")


class ErrorAnswer(BaseModel):
    """What went wrong."""

    error: str


def translation_json(translation: Translation) -> dict[str, Any]:
    """A translation as the API gives it.

    >>> translation_json(Translation("A dog", score=-0.5, log_prob=-1.0, alignment=((1, 0),)))
    {'text': 'A dog', 'score': -0.5, 'log_prob': -1.0, 'tokens': [], 'alignment': [[1, 0]], \
'alternatives': [], 'notes': []}
    """
    links = translation.alignment
    return {
        "text": translation.text,
        "score": translation.score,
        "log_prob": translation.log_prob,
        "tokens": list(translation.tokens),
        "alignment": None if links is None else [list(link) for link in links],
        "alternatives": [
            {"text": other.text, "score": other.score, "log_prob": other.log_prob}
            for other in translation.alternatives
        ],
        "notes": list(translation.notes),
    }


def validate(form: type[B], data: Mapping[str, Any]) -> B:
    """The data as a body of this form; every fault is named in the problem otherwise.

    >>> validate(StreamBody, {"text": "Ein Hund"}).text
    'Ein Hund'
    >>> validate(StreamBody, {"text": 1, "tex": "Ein Hund"})
    Traceback (most recent call last):
    dragoman.server.problems.Problem: text: Input should be a valid string; tex: Extra inputs are \
not permitted
    """
    try:
        return form.model_validate(data)
    except ValidationError as error:
        faults = [f"{_place(fault['loc'])}: {fault['msg']}" for fault in error.errors()[:5]]
        raise Problem(400, "; ".join(faults)) from None


def _place(place: tuple[int | str, ...]) -> str:
    """Where a fault is: the keys, without the names of types between them."""
    keys = [str(key)[:40] for key in place if isinstance(key, int) or key.isidentifier()]
    return ".".join(keys) or "body"
