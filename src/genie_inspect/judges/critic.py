"""The critic: compares two stories on one aspect at a time, in both orders."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.asking.gathering import gathered
from genie_inspect.asking.grader import answered, held_to
from genie_inspect.errors import GraderFailedError, UnknownChoiceError, UnreadableReplyError
from genie_inspect.judges.protocols import UNREADABLE
from genie_inspect.judges.rubrics import Test
from genie_inspect.measures.likert import orders_agree, test_score
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.forms import Form, label_form
from genie_inspect.prompting.replies import LEVELS, verdict
from genie_inspect.prompting.templates import Template, load_template
from genie_inspect.signature import digest

MOST_TOKENS = 2048  # room for a model that thinks aloud; the analysis itself is asked for in 150 words
FIRST = GenerateConfig(temperature=0.0, max_tokens=MOST_TOKENS)
# asked the same again at temperature 0, most providers reply the same
AGAIN = GenerateConfig(temperature=0.7, max_tokens=MOST_TOKENS)
UNFINISHED = {"max_tokens": "reply cut off", "content_filter": "refusal"}


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the critic said once."""

    points: int | None
    """Points of story A over story B; None when there is no verdict."""
    reply: str = ""
    fault: str = ""
    """Why there is no verdict."""
    failed: bool = False
    """The grader itself failed: nothing is known about the stories."""


@dataclass(frozen=True)
class Comparison:
    """What the critic said about one test, with either story first; or of the candidate alone."""

    test: Test
    opinions: tuple[Opinion, ...]
    """With a reference: reference first, candidate first. Without: the candidate alone."""

    @cached_property
    def verdicts(self) -> tuple[int, int] | None:
        """Points of story A over story B, reference first and candidate first; None when one is missing.

        Without a reference the candidate is story A, and its one verdict stands for both orders.
        """
        points = [opinion.points for opinion in self.opinions if opinion.points is not None]
        if len(points) < len(self.opinions):
            return None
        return (points[0], points[1]) if len(points) == 2 else (-points[0], points[0])

    @property
    def score(self) -> int | None:
        """How much better the candidate is, over both orders; None when it was not judged."""
        return test_score(*self.verdicts) if self.verdicts else None

    @property
    def agree(self) -> bool:
        """Whether both orders name the same story; also when there is nothing to disagree on."""
        return self.verdicts is None or orders_agree(*self.verdicts)

    @property
    def faults(self) -> list[str]:
        """Why verdicts are missing."""
        return [opinion.fault for opinion in self.opinions if opinion.fault]


@dataclass(frozen=True)
class Instructions:
    """What a critic is told, and which labels it chooses from."""

    stories: Template
    """The part that holds the stories: shared by all tests."""
    test: Template
    """The part that names the aspect."""
    scale: Template
    levels: int
    form: Form

    @classmethod
    def load(
        cls, levels: int = 5, *, analyse: bool = True, reference: bool = True, folder: Path | str | None = None
    ) -> Self:
        """The instructions for one way of comparing.

        Args:
            levels: How many labels there are to choose from: 3, 5 or 7.
            analyse: Whether the critic analyses before it chooses.
            reference: Whether the candidate is compared with a reference story, or with the standard of one.
            folder: A folder with templates of the user's own.

        Raises:
            UnknownChoiceError: If there is no scale with so many levels.
            TemplateError: If a template of the user's has other blanks than ours.
        """
        if levels not in LEVELS:
            raise UnknownChoiceError("levels", levels, "one of " + ", ".join(map(str, LEVELS)))
        return cls(
            load_template("critic_pair" if reference else "critic_alone", {"data"}, folder),
            load_template("critic_analyse" if analyse else "critic_label", {"scale", "data"}, folder),
            load_template(f"scale_{levels}", set(), folder),
            levels,
            label_form(levels, analysed=analyse),
        )

    @property
    def digest(self) -> str:
        """Twelve hex digits of the texts."""
        return digest(self.stories.text, self.test.text, self.scale.text)


class Critic:
    """Asks a chat model; the stories stand first in the request and the aspect last, so that prefixes are shared.

    Args:
        model: Who judges.
        instructions: What it is told.
        repeats: How often a reply without a label is asked for again.
    """

    def __init__(self, model: Model, instructions: Instructions, repeats: int = 2) -> None:
        self.model = model
        self.instructions = instructions
        self.repeats = repeats

    @property
    def signature(self) -> str:
        """`critic(<model>,template=<digest>)`."""
        return f"critic({self.model},template={self.instructions.digest})"

    async def compare(self, candidate: str, reference: str | None, tests: Sequence[Test]) -> list[Comparison]:
        """One comparison a test, in order: 28 requests for 14 tests with a reference, 14 without.

        The first test goes ahead and the others follow together: its requests put the stories into the provider's
        prefix cache, and a grader that fails on it is not asked the others.

        Raises:
            GraderFailedError: If the grader fails on the whole first test.
        """
        starts = self._starts(candidate, reference)
        first = await self._compare(starts, tests[0])
        if all(opinion.failed for opinion in first.opinions):
            raise GraderFailedError(first.opinions[0].fault)
        return [first, *await gathered(*(self._compare(starts, test) for test in tests[1:]))]

    def _starts(self, candidate: str, reference: str | None) -> list[str]:
        """What all tests share: the stories, reference first and candidate first; or the candidate alone."""
        if reference is None:
            pairs = [{"story_a": candidate}]
        else:
            pairs = [{"story_a": reference, "story_b": candidate}, {"story_a": candidate, "story_b": reference}]
        return [self.instructions.stories.fill(data=fenced(pair)) for pair in pairs]

    async def _compare(self, starts: Sequence[str], test: Test) -> Comparison:
        aspect = fenced({"aspect": test.name, "question": test.question})
        request = self.instructions.test.fill(scale=self.instructions.scale.fill().strip(), data=aspect)
        return Comparison(test, tuple(await gathered(*(self._opinion(start, request) for start in starts))))

    async def _opinion(self, start: str, request: str) -> Opinion:
        opinion = await self._asked(start, request, FIRST)
        for _ in range(self.repeats):
            if opinion.points is not None or opinion.failed:
                break
            opinion = await self._asked(start, request, AGAIN)
        return opinion

    async def _asked(self, start: str, request: str, config: GenerateConfig) -> Opinion:
        try:
            held = config.merge(held_to(self.instructions.form, self.model))
            output = await answered(self.model, (start, request), held)
        except GraderFailedError as error:
            return Opinion(None, fault=str(error), failed=True)
        if output.stop_reason in UNFINISHED:
            # whatever label stands there is not the last word
            return Opinion(None, output.completion, UNFINISHED[output.stop_reason])
        try:
            return Opinion(verdict(output.completion, self.instructions.levels), output.completion)
        except UnreadableReplyError:
            return Opinion(None, output.completion, UNREADABLE)
