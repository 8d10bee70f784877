"""What a study of a measure is made of, as it stands in its file: originals, their edits and paraphrases."""

from typing import Annotated, Final, Literal

from pydantic import Field, RootModel, model_validator

from genie_inspect.populations.schema import Name, NonEmpty, Row
from genie_inspect.signature import digest

ORIGINAL: Final = "original"
EDIT: Final = "edit"
PARAPHRASE: Final = "paraphrase"


class Original(Row):
    """A text that others were made of."""

    kind: Literal["original"]
    id: NonEmpty
    prompt: NonEmpty
    text: NonEmpty
    writer: str = ""
    """Who wrote it, as `provider/model` where a model did."""


class Edit(Row):
    """An original in which one feature has another value."""

    kind: Literal["edit"]
    id: NonEmpty
    original: NonEmpty
    """The id of the text that it was made of."""
    feature: Name
    alternatives: tuple[NonEmpty, ...] = ()
    """The values that were proposed, without sight of any population."""
    alternative: NonEmpty
    """The one of them that was drawn."""
    text: NonEmpty
    writer: str = ""

    @model_validator(mode="after")
    def _drawn(self) -> "Edit":
        if self.alternatives and self.alternative not in self.alternatives:
            raise ValueError(f"alternative {self.alternative!r} is none of the alternatives")
        return self


class Paraphrase(Row):
    """An original in other words, with every feature as it was."""

    kind: Literal["paraphrase"]
    id: NonEmpty
    original: NonEmpty
    text: NonEmpty
    writer: str = ""


StudyText = Original | Edit | Paraphrase
Changed = Edit | Paraphrase


class StudyRow(RootModel[Annotated[StudyText, Field(discriminator="kind")]]):
    """One line of a file of interventions."""


class LeftOut(Row):
    """An edit or paraphrase that is no good, and why."""

    id: NonEmpty
    reason: NonEmpty


def intervention_id(original: str, kind: str, feature: str, text: str) -> str:
    """The stable id of an edit or, with an empty feature, of a paraphrase."""
    return "i-" + digest(original, kind, feature, text)


def drawn(alternatives: tuple[str, ...], original: str, feature: str, seed: int) -> str:
    """One of the alternatives by chance, the same for the same seed on every machine and in every order of work."""
    return alternatives[int(digest(str(seed), original, feature), 16) % len(alternatives)]
