"""What the `bundled/...` models reply: recorded stories, readings, marks and ratings, read out."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, ModelAPI, ModelOutput, get_model
from inspect_ai.tool import ToolChoice, ToolInfo

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.files.json_lines import RowT
from genie_inspect.graders import close_reader, instrument, quality  # noqa: F401  # whose instructions it answers
from genie_inspect.graders.grader import unmet
from genie_inspect.graders.protocols import READ_ANEW
from genie_inspect.graders.stand_ins import usage
from genie_inspect.inspect_private import run_has_begun, sample_epoch
from genie_inspect.measures.genie import HIGHEST
from genie_inspect.populations.interventions import FOLDER, INTERVENTIONS, Edit, Interventions, StudyText
from genie_inspect.populations.population import BUNDLED, Population
from genie_inspect.populations.schema import NonEmpty, Row, rows
from genie_inspect.prompting.answers import normalised
from genie_inspect.prompting.templates import instruction_of, unfenced
from genie_inspect.signature import digest

K = TypeVar("K")
V = TypeVar("V")
STORIES, READINGS, RATINGS, MARKS = "storytellers.jsonl", "readings.jsonl", "ratings.jsonl", "marks.jsonl"


class Story(Row):
    id: NonEmpty
    storyteller: NonEmpty
    prompt: NonEmpty
    epoch: int
    text: NonEmpty


class RecordedAnswer(Row):
    document: NonEmpty
    question: NonEmpty
    text: NonEmpty | None


class RecordedRatings(Row):
    question: NonEmpty
    answer: NonEmpty
    ratings: dict[str, int]


class RecordedCheck(Row):
    id: NonEmpty
    valid: bool  # whether an edit has its new value, as somebody who did not write it reads it


class RecordedMark(Row):
    expression: NonEmpty
    reason: NonEmpty


class RecordedMarks(Row):
    document: NonEmpty
    aspect: NonEmpty
    marks: tuple[RecordedMark, ...]


class Record:
    """The recorded reading of the starter population and of the bundled storytellers' documents."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.population = Population(folder)
        self.stories = list(rows(folder / STORIES, Story))

    def stories_of(self, storyteller: str, prompt: str) -> list[str]:
        by_epoch = sorted(self.stories, key=lambda story: story.epoch)
        return [story.text for story in by_epoch if (story.storyteller, story.prompt) == (storyteller, prompt)]

    def answer(self, document: str, question: str) -> str | None:
        """None where the document does not say. Read anew: the answer of the metric study's reader."""
        place = digest(document), question
        answers = self._study_answers if READ_ANEW.get() and place in self._study_answers else self._answers
        return on_record(answers, place, "an answer to {} in the document {}", question, document)

    def rating(self, question: str, answer: str, other: str) -> int:
        """The recorded rating of a pair, in either order: each stands in the record in one of them."""
        pair = frozenset((normalised(answer), normalised(other)))
        # equal answers need no reading: two documents of the population may give one
        if len(pair) == 1:
            return HIGHEST
        return on_record(self._ratings, (question, pair), "a rating of {} and {} for {}", answer, other, question)

    def marks(self, text: str, aspect: str) -> list[dict[str, str]]:
        missing = "a close reading of the document {} for what is " + aspect
        return [mark.model_dump() for mark in on_record(self._marks, (digest(text), aspect), missing, text)]

    def has_value(self, text: str, value: str) -> bool:
        return on_record(self._checks, (digest(text), value), "whether the text {} has the value {}", text, value)

    @cached_property
    def _checks(self) -> dict[tuple[str, str], bool]:
        edits = {text.id: text for text in self._study_texts() if isinstance(text, Edit)}
        checks = self._rows(RecordedCheck, f"{FOLDER}/validity.jsonl")
        return {(digest(edits[row.id].text), edits[row.id].alternative): row.valid for row in checks}

    @cached_property
    def _marks(self) -> dict[tuple[str, str], tuple[RecordedMark, ...]]:
        texts = {story.id: digest(story.text) for story in self.stories}
        return {(texts[row.document], row.aspect): row.marks for row in rows(self.folder / MARKS, RecordedMarks)}

    def missing_of(self, population: Population, reader: str, *, pairs: bool) -> str:
        """What it takes to compare a population's documents with each other and is not on record; empty if nothing."""
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
        population = self.population
        texts = {document.id: document.text for p in population.prompts for document in population.documents(p)}
        texts |= {story.id: story.text for story in self.stories}
        # the population's own answers are the readings of its documents, also of those that the study reads anew
        own = [population.answers(reader) for reader in population.readers]
        return self._study_answers | self._by_text(READINGS, texts, *own)

    @cached_property
    def _study_answers(self) -> dict[tuple[str, str], str | None]:
        """Of the metric study's reader, about originals and what was made of them."""
        return self._by_text(f"{FOLDER}/{READINGS}", {text.id: text.text for text in self._study_texts()})

    def _by_text(
        self, name: str, texts: Mapping[str, str], *others: Mapping[tuple[str, str], str | None]
    ) -> dict[tuple[str, str], str | None]:
        """The answers in a file and others, by digest and question: a reader sees a document's text and not its id."""
        answers = {(row.document, row.question): row.text for row in self._rows(RecordedAnswer, name)}
        for other in others:
            answers |= other
        return {(digest(texts[where]), self._question[question]): text for (where, question), text in answers.items()}

    @cached_property
    def _ratings(self) -> dict[tuple[str, frozenset[str]], int]:
        return {
            # a pair without order, in the form that is compared: case and outer marks do not matter
            (self._question[row.question], frozenset((normalised(row.answer), normalised(other)))): rating
            # last, because it counts: a pair that the study's raters met again has the rating that it had
            for row in self._rows(RecordedRatings, f"{FOLDER}/{RATINGS}", RATINGS)
            for other, rating in row.ratings.items()
        }

    @cached_property
    def _question(self) -> dict[str, str]:
        groups = (self.population.questions(prompt) for prompt in self.population.prompts)
        return {question.id: question.text for group in groups for question in group}

    def _study_texts(self) -> list[StudyText]:
        """Originals, edits and paraphrases on record; none where the population has none."""
        file = self.folder / FOLDER / INTERVENTIONS
        study = Interventions(file) if file.is_file() else None
        return [*study.originals.values(), *study.every] if study else []

    def _rows(self, form: type[RowT], *names: str) -> Iterator[RowT]:
        """The rows of those of the record's files that there are: a population need not have all."""
        return (row for name in names if (self.folder / name).is_file() for row in rows(self.folder / name, form))


@lru_cache(maxsize=1)
def starter_record() -> Record:
    return Record(BUNDLED["starter"])


@lru_cache(maxsize=1)
def storytellers() -> dict[str, Record]:
    # the starter first: of one name in two populations the later would win
    examples = (Record(folder) for name, folder in BUNDLED.items() if name != "starter")
    return {story.storyteller: record for record in (starter_record(), *examples) for story in record.stories}


def on_record(record: Mapping[K, V], place: K, missing: str, *texts: str) -> V:
    try:
        return record[place]
    except KeyError:
        raise KeyError(missing.format(*map(short, texts))) from None


def short(text: str) -> str:
    # `repr` keeps line breaks and control characters off the terminal
    return repr(text if len(text) <= 100 else text[:97] + "...")


GRADER = "grader"


class BundledAPI(ModelAPI):
    """Replays what is on record: `ordinary`, `inventive` and `researcher` write, `grader` reads and judges."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  # Inspect's own signature
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        # the grader reads the starter's record; each storyteller has its own
        self.record = storytellers().get(model_name, starter_record())
        names = sorted(storytellers().keys() | {GRADER})
        if model_name not in names:
            raise unmet(f"model is 'bundled/{model_name}', expected one of bundled/{', bundled/'.join(names)}")
        if model_args:
            raise unmet(f"bundled models take no arguments, got {sorted(model_args)}")

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  # Inspect's own name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        request = next((m.text for m in reversed(input) if isinstance(m, ChatMessageUser)), "")
        reply = graded(self.record, request) if self.model_name == GRADER else self._story(request)
        output = ModelOutput.from_content(self.model_name, reply)
        # without usage Inspect downloads a tokenizer to count
        output.usage = usage(sum(static_token_count(message.text) for message in input), static_token_count(reply))
        return output

    def prompt_in(self, request: str) -> str:
        if self.model_name == GRADER:
            raise unmet("bundled/grader reads and judges and writes nothing: name a model that writes")
        population = self.record.population
        prompts = [prompt for prompt in population.prompts if prompt in request]
        if not prompts:
            raise unmet(
                f"bundled/{self.model_name} has no story on record for {short(request)}; it knows the prompts of "
                f"population={population.manifest.name}, such as {population.prompts[0]!r}"
            )
        return prompts[0]

    def _story(self, request: str) -> str:
        prompt, data = self.prompt_in(request), {}
        with suppress(UnreadableReplyError):  # a plain prompt has none
            data = unfenced(request)
        stories = self.record.stories_of(self.model_name, prompt)
        if "stage" in data:
            # a record can be read out, and neither planned nor written anew
            return "Whatever the recorded story does: it is read out as it was written, and not planned."
        if "answers" in data:
            return json.dumps({"responses": [{"text": t, "probability": 1 / len(stories)} for t in stories]})
        # negative sampling shows the earlier stories: another one is told
        if remaining := [story for story in stories if story not in data.get("earlier", ())]:
            # epochs count from 1; more epochs than stories begin again
            return remaining[(sample_epoch() - 1) % len(remaining)]
        raise unmet(
            f"bundled/{self.model_name} has {len(stories)} recorded stories for {short(prompt)}, and all were used"
        )

    def max_connections(self) -> int:
        return 100  # replies come at once


def check_recorded(prompts: Iterable[str]) -> None:
    """End a run whose writer is a bundled storyteller without a story for one of its prompts, before it begins."""
    writer = get_model().api if run_has_begun() else None
    if isinstance(writer, BundledAPI):
        for prompt in prompts:
            writer.prompt_in(prompt)


def graded(record: Record, request: str) -> str:
    """The recorded answers, marks or ratings that a request asks for, in the form that it asks for."""
    try:
        data = unfenced(request)
    except UnreadableReplyError as error:
        raise unmet(f"bundled/grader answers reading and rating requests only: {error}") from error
    instruction = instruction_of(data)
    if instruction and instruction.recorded and instruction.keys == data.keys():
        try:
            return instruction.recorded(record, data)
        except KeyError as error:
            raise unmet(
                f"bundled/grader has no record of {error.args[0]}: it knows the starter population and the bundled "
                "storytellers' documents.\nFor other texts name a real grader (--model-role grader=<provider/model>), "
                "or use judge=offline."
            ) from error
    raise unmet(
        "bundled/grader only replays recorded answers and ratings, got a request about "
        f"{', '.join(sorted(data))}. Name a real grader, or recorded questions (build with --questions starter)"
    )
