"""What a population is made of, as it stands in its files."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from genie_inspect.signature import digest

FORMAT = 1  # of the files; a population of another format is refused
# spaces at the ends stay: ids are digests of the text as it is
NonEmpty = Annotated[str, StringConstraints(strip_whitespace=False, min_length=1, pattern=r"\S")]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]


class Row(BaseModel):
    """One line of a file: unknown fields are errors, so that a misspelt one is not lost in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Feature(Row):
    """One aspect of writing along which novelty is measured; its name is the scorer's key."""

    name: Name
    definition: NonEmpty = Field(default_factory=lambda data: data.get("name", "").replace("_", " "))
    """What belongs to it, for whoever maps questions or writes them; without one the words of the name."""
    words: tuple[str, ...] = ()
    """Generic words of the feature; the embedded reader looks for them beside the question's own. With pronouns of the
    first and of the third person among them, it goes by the document's pronouns."""


class Document(Row):
    """One text that somebody or some model wrote for a prompt."""

    id: NonEmpty
    prompt: NonEmpty
    text: NonEmpty
    model: str = ""
    """Who wrote it, as `provider/model` where a model did."""
    cut_words: Annotated[int, Field(ge=1)] | None = Field(default=None, exclude_if=lambda words: words is None)
    """How many words a model has cut from its end; None where it is as long as it came."""


class Question(Row):
    """One question that can be asked of any document of its prompt, about exactly one feature."""

    id: NonEmpty
    prompt: NonEmpty
    feature: Name
    text: NonEmpty


class AnswerRow(Row):
    """What one reader answered to one question about one document."""

    document: NonEmpty
    question: NonEmpty
    reader: NonEmpty
    """The reader's signature: answers of different readers do not compare."""
    text: NonEmpty | None
    """None: the document does not say."""


class Counts(Row):
    """How much a population holds."""

    prompts: int
    documents: int
    questions: int
    answers: int


def _differing(features: tuple[Feature, ...]) -> tuple[Feature, ...]:
    names = [feature.name for feature in features]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two features are named {name!r}")
    return features


Features = Annotated[tuple[Feature, ...], Field(min_length=1), AfterValidator(_differing)]


class FeatureFile(Row):
    """A file of features, which every command takes in place of a population's."""

    features: Features


class Manifest(Row):
    """The face of a population: `population.json`."""

    format: int = FORMAT
    name: NonEmpty
    version: NonEmpty
    licence: NonEmpty
    description: str = ""
    features: Features
    source_models: tuple[str, ...] = ()
    counts: Counts
    digest: str
    """Identity of what is measured against: features, documents and questions. Answers are in it only where there are
    no documents."""
    files: dict[str, str]
    """SHA-256 of each file, so that a changed or cut one is noticed."""


def document_id(prompt: str, text: str) -> str:
    """The stable id of a document: the same text for the same prompt has the same id everywhere."""
    # with the prompt, because the same words may answer two prompts
    return "d-" + digest(prompt, text)


def question_id(prompt: str, text: str) -> str:
    """The stable id of a question."""
    return "q-" + digest(prompt, text)
