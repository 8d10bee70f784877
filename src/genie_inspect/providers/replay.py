"""What the `bundled/...` models reply: recorded stories, readings, marks and ratings, read out."""

import json
from collections.abc import Iterable
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from genie_inspect.asking.prerequisites import unmet
from genie_inspect.engines.embedders.choices import static_token_count
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.inspect_private import run_has_begun, sample_epoch
from genie_inspect.prompting.answers import NOT_SPECIFIED
from genie_inspect.prompting.fence import unfenced
from genie_inspect.prompting.readings import ATTEMPT, NO, YES
from genie_inspect.providers.record import Record, short, starter_record, storytellers

GRADER = "grader"


class BundledAPI(ModelAPI):
    """Replays what is on record: `conventional`, `inventive` and `researcher` write, `grader` reads and judges."""

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
        """The recorded reply to the last user message."""
        request = next((m.text for m in reversed(input) if isinstance(m, ChatMessageUser)), "")
        reply = graded(self.record, request) if self.model_name == GRADER else self._story(request)
        output = ModelOutput.from_content(self.model_name, reply)
        input_tokens = sum(static_token_count(message.text) for message in input)
        output_tokens = static_token_count(reply)
        # without usage Inspect downloads a tokenizer to count
        output.usage = ModelUsage(
            input_tokens=input_tokens, output_tokens=output_tokens, total_tokens=input_tokens + output_tokens
        )
        return output

    def prompt_in(self, request: str) -> str:
        """The prompt that a request is about: a strategy writes around it.

        Raises:
            PrerequisiteError: If it has no story for that.
        """
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
        """A storyteller's reply to a prompt, or to what a strategy makes of one."""
        prompt, data = self.prompt_in(request), _request_data(request)
        stories = self.record.stories_of(self.model_name, prompt)
        if "stage" in data:
            return NO_PLAN
        if "answers" in data:
            return json.dumps({"responses": [{"text": t, "probability": 1 / len(stories)} for t in stories]})
        # negative sampling shows the earlier stories: another one is told
        if remaining := [story for story in stories if story not in data.get("earlier", ())]:
            # epochs count from 1; more epochs than stories begin again
            return remaining[(sample_epoch() - 1) % len(remaining)]
        raise unmet(
            f"bundled/{self.model_name} has {len(stories)} stories on record for {short(prompt)} and told them all"
        )

    def max_connections(self) -> int:
        """Replies come at once; this many samples run side by side."""
        return 100


def check_recorded(prompts: Iterable[str]) -> None:
    """End a run whose writer is a bundled storyteller without a story for one of its prompts, before it begins.

    A sample of it would end with a long traceback above the same line.

    Raises:
        PrerequisiteError: If it is so.
    """
    writer = get_model().api if run_has_begun() else None
    if isinstance(writer, BundledAPI):
        for prompt in prompts:
            writer.prompt_in(prompt)


# what a strategy gets to hear: a record can be read out, and neither planned nor written anew
NO_PLAN = "Whatever the recorded story does: it is read out as it was written, and not planned."


def _request_data(request: str) -> dict[str, Any]:
    """The data of a strategy's request; empty for a plain prompt."""
    try:
        return unfenced(request)
    except UnreadableReplyError:
        return {}


def graded(record: Record, request: str) -> str:
    """The recorded answers, marks or ratings that a request asks for, in the form that it asks for.

    Raises:
        PrerequisiteError: If the request is none of ours, or asks for what is not on record.
    """
    try:
        data = unfenced(request)
    except UnreadableReplyError as error:
        raise unmet(f"bundled/grader answers reading and rating requests only: {error}") from error
    try:
        # the keys of the fenced data say which template the request was filled from
        if {"document", "questions"} <= data.keys():
            return json.dumps(_read(record, data["document"], data["questions"]), ensure_ascii=False)
        if "sentences" in data:
            return json.dumps({"cut": []})  # the recorded stories hold nothing but story
        if {"question", "answer", "others"} <= data.keys():
            ratings = _rated(record, data["question"], data["answer"], data["others"])
            return " ".join(f"{number}:{rating}" for number, rating in ratings.items())
        if data.keys() == {"aspect", "text"}:
            return json.dumps(
                [mark.model_dump() for mark in record.marks(data["text"], data["aspect"])], ensure_ascii=False
            )
        if {"question", "answer", "other"} <= data.keys():
            rating = record.rating(data["question"], data["answer"], data["other"])
            return f"The rating of this pair is on record.\nRating: {rating}"
        if data.keys() == {"text", "feature", "definition", "value"}:
            return json.dumps({"1": YES if record.has_value(data["text"], data["value"]) else NO})
    except KeyError as error:
        raise unmet(NOT_ON_RECORD.format(missing=error.args[0])) from error
    if data.keys() == {"document"}:
        raise unmet("bundled/grader has no rating of coherence on record: build with --coherence none, or name another")
    raise unmet(NOTHING_ELSE.format(keys=", ".join(sorted(data))))


NOTHING_ELSE = (
    "bundled/grader has its readings and ratings on record and can answer nothing else, got a request about {keys}: "
    "name a real grader, or questions that are on record (a population is built with --questions starter)"
)


NOT_ON_RECORD = """\
bundled/grader has no record of {missing}: it knows the starter population and the bundled storytellers' documents.
For any other text name a real grader, --model-role grader=<provider/model>, or use judge=embedded."""


def _read(record: Record, document: str, questions: dict[str, str]) -> dict[str, str]:
    answers = {number: record.answer(document, question) or NOT_SPECIFIED for number, question in questions.items()}
    return {ATTEMPT: YES, **answers}


def _rated(record: Record, question: str, answer: str, others: dict[str, str]) -> dict[str, str]:
    return {number: str(record.rating(question, answer, other)) for number, other in others.items()}
