"""What tests of building share: logs of a few documents, and a grader that does all that building asks of one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ModelOutput, StopReason
from tests.scripted import FEATURES as SMALL
from tests.scripted import Data, Script, numbered, output, small_population

from genie_inspect.building.populating import Built, build
from genie_inspect.graders.stand_ins import RecordedModel, ReplyRecord
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import AnswerRow, Document, Feature, Question
from genie_inspect.populations.writing import write_population
from genie_inspect.prompting.templates import unfenced

OWL, FOX = "Write about an owl.", "Write about a fox."
FEATURES = (Feature(name="plot", definition="What happens."), Feature(name="place", definition="Where it happens."))
STORIES = {
    "a/one": {OWL: ["The owl left the barn at dusk and found the moon.", "An owl kept the clock of a small town."]},
    "b/two": {
        OWL: ["Snow fell on the white owl until nobody saw her."],
        FOX: ["A red fox waited by the rails for the last train."],
    },
}


def write_log(
    path: Path,
    model: str,
    told: Mapping[str, Sequence[str]],
    stop_reason: StopReason = "stop",
    metadata: dict[str, Any] | None = None,
) -> str:
    """A finished log in which a model told these documents for these prompts."""
    samples = [
        EvalSample(
            id=prompt,
            epoch=epoch,
            input=prompt,
            target="",
            output=ModelOutput.from_content(model, text, stop_reason),
            metadata=metadata or {},
        )
        for prompt, texts in told.items()
        for epoch, text in enumerate(texts, start=1)
    ]
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="stories",
        dataset=EvalDataset(samples=len(told), sample_ids=list(told)),
        model=model,
        config=EvalConfig(epochs=max(map(len, told.values()), default=1)),
    )
    write_eval_log(EvalLog(eval=spec, status="success", samples=samples), str(path))
    return str(path)


def story_logs(folder: Path) -> list[str]:
    return [write_log(folder / f"{model[0]}.eval", model, told) for model, told in STORIES.items()]


def population_of(
    folder: Path, documents: Iterable[Document], questions: Iterable[Question], answers: Iterable[AnswerRow] = ()
) -> Population:
    facts = {"name": "small", "version": "1", "licence": "MIT"}
    return write_population(folder, **facts, features=SMALL, documents=documents, questions=questions, answers=answers)


def read_by(folder: Path, readers: Mapping[str, Callable[[Document], str | None]]) -> Population:
    """The small population with what readers answered to all questions about each document; None where they did not."""
    made = small_population(folder)
    answers = [
        AnswerRow(document=document.id, question=question.id, reader=reader, text=text)
        for reader, answer in readers.items()
        for prompt in made.prompts
        for document in made.documents(prompt)
        for question in made.questions(prompt)
        if (text := answer(document)) is not None
    ]
    return small_population(folder, answers=answers)


def otherwise(script: Script, reply: Callable[[Data], str | ModelOutput | None]) -> Script:
    """A grader with a reply of its own to some data, who else replies as the script does."""

    def either(request: str) -> str | ModelOutput:
        special = reply(unfenced(request))
        return script.reply(request) if special is None else special

    return Script(either)


def out_of_order() -> ModelOutput:
    """What a model gives that fails."""
    failed = output("")
    failed.error = "out of order"
    return failed


def willing(
    rating: Callable[[str], int] = lambda document: 4,
    verdict: Callable[[str], str] = lambda question: "keep",
    feature: Callable[[str], str] = lambda question: "place" if question.startswith("Where") else "plot",
    answer: Callable[[str, str], str] = lambda document, question: document.split()[1],
) -> Script:
    """A grader that rates coherence, writes, filters and maps questions, and reads."""

    def reply(request: str) -> str:
        data = unfenced(request)
        if "document" in data and "questions" in data:
            return numbered({number: answer(data["document"], asked) for number, asked in data["questions"].items()})
        if "document" in data:
            return f"I read it.\nRating: {rating(data['document'])}"
        if "questions" in data:
            sort = feature if "features" in data else verdict
            return numbered({number: sort(asked) for number, asked in data["questions"].items()})
        return numbered(written(data))

    return Script(reply)


def written(data: Data) -> dict[str, str]:
    """Two aspects of a prompt, two questions of an aspect, one question of a feature that has none."""
    if "aspect" in data:
        return {str(n): f"What does {data['aspect'].split(':')[0]} do in part {n}?" for n in (1, 2)}
    if "feature" in data:
        return {"1": f"Where is {data['prompt'].split()[-1].strip('.')} found?"} if data["feature"] == "place" else {}
    return {"1": "hunger: what is eaten", "2": "night: its light; its sound"}


async def built(folder: Path, script: Script, logs: Sequence[str], **options: Any) -> tuple[Built, Population]:
    facts: dict[str, Any] = {"name": "owls", "licence": "MIT", "features": FEATURES, "least": 1}
    model, output = recorded(script, folder / "work"), folder / "owls"
    return await build(output, model, folder / "work", logs=logs, **facts, **options), Population(output)


def recorded(script: Script, folder: Path) -> RecordedModel:
    folder.mkdir(parents=True, exist_ok=True)
    return RecordedModel(script.model(), ReplyRecord(folder / "replies.sqlite"))
