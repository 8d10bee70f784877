"""The settings of the curiosity model: the study's where it states them, ours where it does not."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.json_lines import first_fault


class CuriositySettings(BaseModel):
    """What both forms of the model have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rater_weight: float = Field(default=1.0, ge=0)
    """The study's lambda: what telling the rater from the explanation weighs beside the cosine. Stated: 1."""


class VectorSettings(CuriositySettings):
    """On sentence vectors. None of these is the study's, which has no such form."""

    ridge: float = Field(default=1.0, gt=0)
    """Penalty of the forward model; vectors have length 1."""
    penalty: float = Field(default=1.0, gt=0)
    """Of the classifier and of the raters' classifier, as `penalty / 2` times the squared weights."""


class LoraSettings(CuriositySettings):
    """On a language model. Stated by the study: rank to warm-up; ours: learning rate, width, clipping and seed."""

    rank: int = Field(default=16, ge=1)
    alpha: int = Field(default=32, ge=1)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    epochs: int = Field(default=3, ge=1)
    batch: int = Field(default=4, ge=1)
    accumulation: int = Field(default=8, ge=1)
    """Batches to a step."""
    length: int = Field(default=4096, ge=64)
    """Tokens; of what is longer the story's end is left out, never the question or the explanation."""
    warmup: float = Field(default=0.1, ge=0, lt=1)
    """Share of the steps in which the rate rises; then it falls as a cosine."""
    learning_rate: float = Field(default=2e-4, gt=0)
    """Not stated; what is common for LoRA."""
    width: int = Field(default=8, ge=2)
    """Of the vectors whose cosine is taken. Not stated: the study speaks of logits, and the cosine of two numbers is
    1 or -1, with no gradient, so that nothing would be learned."""
    clip: float = Field(default=1.0, gt=0)
    """Longest gradient. Not stated."""
    seed: int = Field(default=0, ge=0)
    """Not stated."""


SettingsT = TypeVar("SettingsT", bound=CuriositySettings)


def settings_of(kind: type[SettingsT], pairs: Sequence[str]) -> SettingsT:
    """The settings with some of them as `name=value`.

    Raises:
        UnknownChoiceError: If a pair is none, names no setting, or its value is out of range.
    """
    values = dict(pair.partition("=")[::2] for pair in pairs)
    for name in values:
        if name not in kind.model_fields:
            raise UnknownChoiceError("setting", name, f"one of {', '.join(kind.model_fields)}, as name=value")
    try:
        return kind.model_validate(values)
    except ValidationError as invalid:
        raise UnknownChoiceError("setting", ", ".join(pairs), first_fault(invalid, "a value in range")) from invalid
