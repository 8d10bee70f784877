"""What is on record for the bundled models: stories, readings and marks of them, ratings of their answers."""

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path

from genie_inspect.interventions.collection import FOLDER, INTERVENTIONS, Interventions
from genie_inspect.interventions.schema import Changed, Edit
from genie_inspect.measures.genie import HIGHEST
from genie_inspect.populations.catalogue import BUNDLED
from genie_inspect.populations.files import rows
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.prompting.answers import normalised
from genie_inspect.signature import digest

STORIES, READINGS, RATINGS = "storytellers.jsonl", "readings.jsonl", "ratings.jsonl"
MARKS = "marks.jsonl"
VALIDITY = "validity.jsonl"
"""Of the edits that ship; beside it stand the reading of them and of the paraphrases, and ratings of new answers."""


class Story(Row):
    """One story by a bundled storyteller."""

    id: NonEmpty
    storyteller: NonEmpty
    prompt: NonEmpty
    epoch: int
    text: NonEmpty


class RecordedAnswer(Row):
    """The recorded answer of a storyteller's document to one question."""

    document: NonEmpty
    question: NonEmpty
    text: NonEmpty | None


class RecordedRatings(Row):
    """One answer rated against others, for one question."""

    question: NonEmpty
    answer: NonEmpty
    ratings: dict[str, int]


class RecordedCheck(Row):
    """Whether an edit that ships has its new value, as somebody who did not write it reads it."""

    id: NonEmpty
    valid: bool


class RecordedMark(Row):
    """One expression that a close reader quotes, and why."""

    expression: NonEmpty
    reason: NonEmpty


class RecordedMarks(Row):
    """What a close reader quotes from a storyteller's document for one aspect; may be nothing."""

    document: NonEmpty
    aspect: NonEmpty
    marks: tuple[RecordedMark, ...]


class Record:
    """The recorded reading of the starter population and of the bundled storytellers' documents.

    Args:
        folder: The starter population's folder, which holds the record's files too.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.population = Population(folder)
        self.stories = list(rows(folder / STORIES, Story))

    def stories_of(self, storyteller: str, prompt: str) -> list[str]:
        """The storyteller's texts for a prompt, by epoch."""
        stories = [s for s in self.stories if s.storyteller == storyteller and s.prompt == prompt]
        return [story.text for story in sorted(stories, key=lambda story: story.epoch)]

    def answer(self, document: str, question: str) -> str | None:
        """The recorded answer; None where the document does not say.

        Raises:
            KeyError: If there is no reading of this document and question; it says so in words.
        """
        try:
            return self._answers[digest(document), question]
        except KeyError:
            raise KeyError(f"an answer to {short(question)} in the document {short(document)}") from None

    def rating(self, question: str, answer: str, other: str) -> int:
        """The recorded rating of a pair, in either order: each stands in the record in one of them.

        Raises:
            KeyError: If the pair was never rated; it says so in words.
        """
        pair = frozenset((normalised(answer), normalised(other)))
        # equal answers need no reading: two documents of the population may give one
        if len(pair) == 1:
            return HIGHEST
        try:
            return self._ratings[question, pair]
        except KeyError:
            raise KeyError(f"a rating of {short(answer)} and {short(other)} for {short(question)}") from None

    def marks(self, text: str, aspect: str) -> tuple[RecordedMark, ...]:
        """What the close reader quotes from a storyteller's document for an aspect, in the order of the text.

        Raises:
            KeyError: If there is no close reading of this document; it says so in words.
        """
        try:
            return self._marks[digest(text), aspect]
        except KeyError:
            raise KeyError(f"a close reading of the document {short(text)} for what is {aspect}") from None

    def has_value(self, text: str, value: str) -> bool:
        """Whether an edit that ships has the value that it was given.

        Raises:
            KeyError: If the text was never looked at for this value; it says so in words.
        """
        try:
            return self._checks[digest(text), value]
        except KeyError:
            raise KeyError(f"whether the text {short(text)} has the value {short(value)}") from None

    @cached_property
    def _checks(self) -> dict[tuple[str, str], bool]:
        """By text and value, whether it has it."""
        edits = {text.id: text for text in self._study_texts() if isinstance(text, Edit)}
        valid = {row.id: row.valid for file in self._there(f"{FOLDER}/{VALIDITY}") for row in rows(file, RecordedCheck)}
        return {(digest(edits[name].text), edits[name].alternative): said for name, said in valid.items()}

    @cached_property
    def _marks(self) -> dict[tuple[str, str], tuple[RecordedMark, ...]]:
        texts = {story.id: digest(story.text) for story in self.stories}
        return {(texts[row.document], row.aspect): row.marks for row in rows(self.folder / MARKS, RecordedMarks)}

    def missing_of(self, population: Population, reader: str, *, pairs: bool) -> str:
        """What it takes to compare a population's documents with each other and is not on record; empty if nothing.

        Args:
            population: Whose documents.
            reader: The reader whose answers in the population count as read.
            pairs: Whether answers are rated in pairs.
        """
        read = population.answers(reader)
        try:
            for prompt in population.prompts:
                for question in population.questions(prompt):
                    places = [(document, (document.id, question.id)) for document in population.documents(prompt)]
                    answers = {
                        read[place] if place in read else self.answer(document.text, question.text)
                        for document, place in places
                    }
                    for answer, other in combinations(filter(None, answers), 2) if pairs else ():
                        self.rating(question.text, answer, other)
        except KeyError as error:
            return str(error.args[0])
        return ""

    @cached_property
    def _answers(self) -> dict[tuple[str, str], str | None]:
        texts = {document.id: document.text for document in self._documents()}
        texts |= {story.id: story.text for story in self.stories}
        texts |= {text.id: text.text for text in self._study_texts()}
        files = self._there(READINGS, f"{FOLDER}/{READINGS}")
        recorded = {(row.document, row.question): row.text for file in files for row in rows(file, RecordedAnswer)}
        # the population's own answers are the readings of its documents
        for reader in self.population.readers:
            recorded |= self.population.answers(reader)
        # by text, because a reader sees the text of a document and not its id
        return {(digest(texts[where]), self._question[question]): text for (where, question), text in recorded.items()}

    @cached_property
    def _ratings(self) -> dict[tuple[str, frozenset[str]], int]:
        return {
            # a pair without order, in the form that is compared: case and outer marks do not matter
            (self._question[row.question], frozenset((normalised(row.answer), normalised(other)))): rating
            for file in self._there(RATINGS, f"{FOLDER}/{RATINGS}")
            for row in rows(file, RecordedRatings)
            for other, rating in row.ratings.items()
        }

    @cached_property
    def _question(self) -> dict[str, str]:
        groups = (self.population.questions(prompt) for prompt in self.population.prompts)
        return {question.id: question.text for group in groups for question in group}

    def _study_texts(self) -> list[Changed]:
        """The edits and paraphrases on record; none where the population has none."""
        return [text for file in self._there(f"{FOLDER}/{INTERVENTIONS}") for text in Interventions(file).every]

    def _there(self, *names: str) -> list[Path]:
        """Those of the record's files that there are: a population need not have all."""
        return [self.folder / name for name in names if (self.folder / name).is_file()]

    def _documents(self) -> Iterator[Story]:
        for prompt in self.population.prompts:
            for document in self.population.documents(prompt):
                # the same shape serves: the record asks only for id and text
                yield Story(id=document.id, storyteller="-", prompt=prompt, epoch=1, text=document.text)


@lru_cache(maxsize=1)
def starter_record() -> Record:
    """The record that ships with the package."""
    return Record(BUNDLED["starter"])


@lru_cache(maxsize=1)
def storytellers() -> dict[str, Record]:
    """By storyteller, the record that holds its stories, over all bundled populations."""
    # the starter first: of one name in two populations the later would win
    examples = (Record(folder) for name, folder in BUNDLED.items() if name != "starter")
    return {story.storyteller: record for record in (starter_record(), *examples) for story in record.stories}


def short(text: str) -> str:
    """The beginning of a text in quotes, for an error message."""
    # `repr` keeps line breaks and control characters off the terminal
    return repr(text if len(text) <= 100 else text[:97] + "...")
