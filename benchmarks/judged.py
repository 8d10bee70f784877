"""What benchmarks/judging.py judges, and by whom: no script of its own."""

import itertools
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Logprob,
    Logprobs,
    Model,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    modelapi,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.graders import logit_judge
from genie_inspect.graders.grader import Room, gathered
from genie_inspect.graders.pairwise_judge import STUDY
from genie_inspect.graders.protocols import UNREADABLE, Answer, AskedQuestion, Rated, Reading
from genie_inspect.graders.stand_ins import rehearsed
from genie_inspect.inspect_private import unlogged
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import AnswerRow, Document, Question
from genie_inspect.populations.writing import write_population
from genie_inspect.prompting.answers import normalised
from genie_inspect.prompting.replies import pair_rating
from genie_inspect.prompting.templates import OPEN, fenced, load_template, unfenced
from genie_inspect.providers.replay import starter_record
from genie_inspect.scorers.assessor import Assessor
from genie_inspect.scorers.explanation import evidence, explained

PROMPT = "Write a story."
QUESTIONS, POPULATION = 17, 50


class Published:
    """The study's protocol: one call a pair, asked once, each call in the log; the words are our pairwise judge's."""

    signature = "published"

    def __init__(self, model: Model) -> None:
        self.model = model
        self.template = load_template("rate_pair", {"data"})

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        """One rating an other answer."""

        async def ask(other: Answer) -> float | None:
            data = fenced({"question": question.text, "answer": answer.text, "other": other.text})
            config = GenerateConfig(temperature=0.7, top_p=0.9, max_tokens=64)
            output = await self.model.generate(self.template.fill(data=data), config=config)
            try:
                return float(pair_rating(output.completion)) or None
            except UnreadableReplyError:
                return None

        ratings = await gathered(*(ask(other) for other in others))
        return Rated(tuple(ratings), {i: UNREADABLE for i, rating in enumerate(ratings) if rating is None})


class Alone:
    """As many calls as `pairwise` makes and nothing around them: what Inspect's own `generate` takes of a pair."""

    signature = "alone"

    def __init__(self, model: Model) -> None:
        self.model = model
        self.room = Room(model)

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        """A rating of 1 an other answer, whatever is said."""

        async def ask(other: Answer) -> ModelOutput:
            return await self.model.generate(other.text, config=STUDY)

        with unlogged():
            await self.room.each(ask, others)
        return Rated((1.0,) * len(others))


CALLS = [0]
SENT: deque[tuple[str, str]] = deque(maxlen=POPULATION * QUESTIONS)  # the last requests and replies
logit_judge.LOGPROBS |= {"atonce"}  # the provider below returns them


@modelapi(name="atonce")
class _AtOnce(ModelAPI):
    """A provider that answers at once, so that what is measured is the harness; it counts its calls."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  # the base class's name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """One rating for everything."""
        CALLS[0] += 1
        request = input[-1].text
        text = rehearsed(unfenced(request)) if OPEN in request else "Rating: 1"
        SENT.append((request, text))
        output = ModelOutput.from_content("atonce", text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        if config.logprobs:
            top = TopLogprob(token="1", logprob=0.0, bytes=None)
            output.choices[0].logprobs = Logprobs(content=[Logprob(token="1", logprob=0.0, top_logprobs=[top])])
        return output


class Recorded:
    """A reader that answers from a table and asks nobody, so that every call is a judge's."""

    signature = "recorded"

    def __init__(self, answers: Mapping[str, Sequence[str]]) -> None:
        self.answers = answers

    async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        """The document's answers, one a question."""
        return Reading(tuple(Answer(text) for text in self.answers[document]))


def distinct_answers() -> dict[str, list[str]]:
    """The starter population's answers by feature, none equal to another."""
    population = starter_record().population
    features = {q.id: q.feature for prompt in population.prompts for q in population.questions(prompt)}
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for reader in population.readers:
        for (_, question), text in population.answers(reader).items():
            if text:
                found[features[question]].setdefault(normalised(text), text)
    return {feature: list(texts.values()) for feature, texts in found.items()}


def setting(folder: Path, documents: int, size: int = POPULATION) -> tuple[Population, Recorded]:
    """A population whose answers to 17 questions are all distinct, and documents to compare with it."""
    starter, pool = starter_record().population, distinct_answers()
    asked: dict[str, Question] = {}
    for question in itertools.chain.from_iterable(starter.questions(prompt) for prompt in starter.prompts):
        asked.setdefault(question.text, question.model_copy(update={"prompt": PROMPT}))
    questions = list(asked.values())[:QUESTIONS]
    stories = [Document(id=f"d-{i}", prompt=PROMPT, text=f"Story {i}.") for i in range(size)]

    def answer(feature: str, place: int) -> str:
        again, place = divmod(place, len(pool[feature]))
        return pool[feature][place] + f" {again}" * (again > 0)

    population = write_population(
        folder / "population",
        name="distinct",
        version="1",
        licence="MIT",
        features=starter.features,
        documents=stories,
        questions=questions,
        answers=[
            AnswerRow(document=story.id, question=question.id, reader="recorded", text=answer(question.feature, i))
            for i, story in enumerate(stories)
            for question in questions
        ],
    )
    own = {
        f"Document {i}.": [pool[q.feature][POPULATION + i % (len(pool[q.feature]) - POPULATION)] for q in questions]
        for i in range(documents)
    }
    return population, Recorded(own)


@solver
def told() -> Solver:
    """Takes the input as the document: nothing is generated."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("told", state.input_text)
        return state

    return solve


@scorer(metrics={"*": [mean()]})
def rating(assessor: Assessor, features: Sequence[str]) -> Scorer:
    """As the scorer `genie`, with a reader that asks nobody."""

    async def score(state: TaskState, target: Target) -> Score:
        found = await assessor.assess(state.output.completion, PROMPT)
        return Score(
            value=dict(found.novelty),
            explanation=explained(found),
            metadata=evidence(found),
        )

    return score
