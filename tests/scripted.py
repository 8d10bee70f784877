"""Scripted models, and a small population for them: what tests of several rooms share."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelName,
    ModelOutput,
    ModelUsage,
    StopReason,
    get_model,
)
from inspect_ai.scorer import Score, Scorer
from inspect_ai.solver import Solver, TaskState, generate
from inspect_ai.tool import ToolChoice, ToolInfo

from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import AnswerRow, Document, Feature, Question, document_id, question_id
from genie_inspect.populations.writing import write_population
from genie_inspect.prompting.templates import unfenced

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as readers and judges see it."""

    text: str
    feature: str = "plot"


def output(text: str, stop_reason: StopReason = "stop") -> ModelOutput:
    """A model's output that carries its own usage, so that nobody looks for a tokenizer."""
    made = ModelOutput.from_content("mockllm/model", text, stop_reason)
    made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return made


@dataclass
class Script:
    """A model that replies by a function of the request; it keeps what it was asked."""

    reply: Callable[[str], str | ModelOutput]
    requests: list[str] = field(default_factory=list)
    configs: list[GenerateConfig] = field(default_factory=list)

    def __call__(
        self, messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """What mockllm calls for each request."""
        self.requests.append(messages[-1].text)
        self.configs.append(config)
        said = self.reply(messages[-1].text)
        return said if isinstance(said, ModelOutput) else output(said)

    @property
    def data(self) -> list[Data]:
        return [unfenced(request) for request in self.requests]

    def model(self, **config: Any) -> Model:
        """The script as a model of Inspect, in a role with these settings."""
        return get_model("mockllm/model", custom_outputs=self, memoize=False, config=GenerateConfig(**config))


def saying(*replies: str) -> Script:
    """A model that gives these replies in turn, and the last one ever after."""
    left = list(replies)
    return Script(lambda request: left.pop(0) if len(left) > 1 else left[0])


def numbered(values: Mapping[str, object] | Mapping[int, object]) -> str:
    return "{" + ", ".join(f'"{number}": "{value}"' for number, value in values.items()) + "}"


def grading(
    answer: Callable[[str, str], str] = lambda document, question: f"{question} {document}"[:60],
    rating: Callable[[str, str], int] = lambda answer, other: 4 if answer == other else 1,
) -> Script:
    """A grader that reads and rates as it should, by a function of document and question and one of two answers."""

    def reply(request: str) -> str:
        data = unfenced(request)
        if "questions" in data:
            return numbered({number: answer(data["document"], asked) for number, asked in data["questions"].items()})
        if "sheet" in data:
            return sheet_of(data, rating)
        if "others" in data:
            return numbered({number: rating(data["answer"], other) for number, other in data["others"].items()})
        return f"They differ in what they say.\nRating: {rating(data['answer'], data['other'])}"

    return Script(reply)


def sheet_of(data: Data, rating: Callable[[str, str], int]) -> str:
    return "\n".join(
        f"{number}| " + " ".join(str(rating(answer, other)) for other in others)
        for number, (_, answer, others) in data["sheet"].items()
    )


def written(text: str, prompt: str = "Write.", scores: Mapping[str, Score] | None = None, **metadata: Any) -> TaskState:
    """A sample whose model wrote a text, as a scorer gets it, with what other scorers said of it."""
    state = TaskState(ModelName("mockllm/model"), 1, 1, prompt, [], output=output(text), metadata=metadata)
    state.scores = dict(scores or {})
    return state


OWL, FOX = "Write about an owl.", "Write about a fox."
DOCUMENTS = {
    OWL: ("Grey owl over barns.", "White owl in snow.", "Old owl on a clock."),
    FOX: ("Red fox at dawn.", "Lame fox by rail."),
}
QUESTIONS = {
    OWL: (("plot", "What happens?"), ("plot", "How does it end?"), ("style", "What is the tone?")),
    FOX: (("plot", "What is lost?"),),
}
FEATURES = (
    Feature(name="plot", definition="What happens.", words=("happens", "ending")),
    Feature(name="style", definition="How it is told.", words=("tone", "words")),
)


def small_population(
    folder: Path,
    documents: Mapping[str, Iterable[str]] = DOCUMENTS,
    questions: Mapping[str, tuple[tuple[str, str], ...]] = QUESTIONS,
    answers: Iterable[AnswerRow] = (),
) -> Population:
    """A population of two prompts and two features."""
    return write_population(
        folder,
        name="small",
        version="1",
        licence="MIT",
        features=FEATURES,
        documents=(
            Document(id=document_id(prompt, text), prompt=prompt, text=text)
            for prompt, texts in documents.items()
            for text in texts
        ),
        questions=[
            Question(id=question_id(prompt, text), prompt=prompt, feature=feature, text=text)
            for prompt, asked in questions.items()
            for feature, text in asked
        ],
        answers=answers,
    )


def evaluated(
    scorer: Scorer | list[Scorer],
    writer: Script,
    grader: Script | Model | list[Model] | None,
    folder: Path,
    prompts: Sequence[str | Sample] = (OWL,),
    solver: Solver | None = None,
    **options: Any,
) -> EvalLog:
    """The finished log of an evaluation in which the writer writes, and the grader reads and rates."""
    dataset = [
        one if isinstance(one, Sample) else Sample(input=one, id=number) for number, one in enumerate(prompts, 1)
    ]
    task = Task(dataset=dataset, solver=solver or generate(), scorer=scorer)
    model = grader.model() if isinstance(grader, Script) else grader
    roles = {"grader": model} if model else {}
    settings: dict[str, Any] = {"model_roles": roles, "log_dir": str(folder / "logs"), "display": "none"}
    (log,) = evaluate(task, model=writer.model(), **({"log_realtime": False} | settings | options))
    assert log.status == "success", log.error
    return log


def scored(
    scorer: Scorer, writer: Script, grader: Script | Model | list[Model] | None, folder: Path, **options: Any
) -> Score:
    """The score of an evaluation of one document, as `evaluated` makes it."""
    (sample,) = evaluated(scorer, writer, grader, folder, **options).samples or []
    (score,) = (sample.scores or {}).values()
    return score


def scores(log: EvalLog, scorer: str = "genie") -> list[Score]:
    return [sample.scores[scorer] for sample in log.samples or [] if sample.scores]


def answers_alone(folder: Path, answers: Mapping[str, Sequence[str]]) -> Population:
    """A population without documents: by reader the answers of d-0, d-1 and so on to the small one's first question."""
    full = small_population(folder.parent / "full")
    question = full.questions(OWL)[0]
    return write_population(
        folder,
        name="alone",
        version="1",
        licence="MIT",
        features=full.features,
        documents=[],
        questions=[question],
        answers=[
            AnswerRow(document=f"d-{number}", question=question.id, reader=reader, text=text)
            for reader, texts in answers.items()
            for number, text in enumerate(texts)
        ],
    )


def values(score: Score) -> dict[str, float]:
    assert isinstance(score.value, dict)
    return {key: float(str(value)) for key, value in score.value.items()}


def metadata(score: Score) -> dict[str, Any]:
    assert score.metadata is not None
    return score.metadata


def is_unscored(score: Score) -> bool:
    return bool(values(score)) and all(map(math.isnan, values(score).values()))
