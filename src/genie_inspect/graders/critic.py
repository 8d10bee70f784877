"""The critic: compares two stories on one aspect at a time, in both orders; or says of one story whether it passes."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.errors import GraderFailedError, UnreadableReplyError
from genie_inspect.graders.cache import VERDICTS, Memo, Verdict
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.grader import answered, gathered, held_to
from genie_inspect.graders.protocols import UNREADABLE
from genie_inspect.graders.readable import ANEW, Asker, asked_twice, labelled, until_read
from genie_inspect.graders.rubrics import TOTAL, Instructions, Rubric, Test
from genie_inspect.measures.likert import orders_agree, pass_share, passed, passes, position_bias, test_score
from genie_inspect.prompting.templates import without_echo
from genie_inspect.signature import digest

ANALYSIS, LABEL = 200, 3  # tokens of a reply that analyses in 150 words, and of a bare label


def orders_of(candidate: str, reference: str | None) -> dict[str, tuple[str, ...]]:
    """The stories in each order in which they are shown, by its name."""
    if reference is None:
        return {"alone": (candidate,)}
    return {"reference first": (reference, candidate), "candidate first": (candidate, reference)}


def request_parts(instructions: Instructions, stories: Sequence[str], test: Test) -> tuple[str, str]:
    """The part of the request that all tests share, and the part that names this test."""
    names = ("story",) if len(stories) == 1 else ("story_a", "story_b")
    # by neutral names: "reference" and "candidate" would tell the critic which one is to be the better
    shown = instructions.stories.request(dict(zip(names, stories, strict=True)))
    aspect = {"aspect": test.name, "question": test.question}
    return shown, instructions.test.request(aspect, scale=instructions.scale.fill().strip())


def critique_cost(instructions: Instructions, tests: Sequence[Test], length: float, reference: float | None) -> Cost:
    """What a critic without earlier verdicts is asked of a story, by its tokens and the reference's."""
    reply = ANALYSIS if instructions.analyses else LABEL
    orders = orders_of("", None if reference is None else "")
    requests = [request_parts(instructions, stories, test) for stories in orders.values() for test in tests]
    words = sum(static_token_count(part) for parts in requests for part in parts)
    return Cost(len(requests), words + len(requests) * (length + (reference or 0)), len(requests) * reply)


MOST_TOKENS = 2048  # room for a model that thinks aloud; the analysis itself is asked for in 150 words
UNFINISHED = {"max_tokens": "reply cut off", "content_filter": "refusal"}


class NoVerdictError(UnreadableReplyError):
    def __init__(self, fault: str, reply: str) -> None:
        super().__init__(fault)
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Opinion:
    # points of story A over story B; of a story alone 1 = yes, 0 = no; None when there is no verdict
    points: int | None
    reply: str = ""
    fault: str = ""  # why there is no verdict
    failed: bool = False  # the grader itself failed: nothing is known about the stories


@dataclass(frozen=True)
class Judgement:
    test: Test
    opinions: tuple[Opinion, ...]  # with a reference: reference first, candidate first; without: the candidate alone

    @cached_property
    def points(self) -> tuple[int, ...]:
        """The readable verdicts, in the order of the opinions."""
        return tuple(opinion.points for opinion in self.opinions if opinion.points is not None)

    @property
    def is_judged(self) -> bool:
        return len(self.points) == len(self.opinions)

    @property
    def verdicts(self) -> tuple[int, int] | None:
        """Points of story A over story B, reference first and candidate first; None when there are not both."""
        return (self.points[0], self.points[1]) if len(self.points) == 2 else None

    @property
    def score(self) -> int | None:
        """How much better the candidate is than the reference, over both orders; None when there are not both."""
        # one order alone would hold the critic's preference for a place
        return test_score(*self.verdicts) if self.verdicts else None

    @property
    def agree(self) -> bool:
        """Whether both orders name the same story; also when there is nothing to disagree on."""
        return self.verdicts is None or orders_agree(*self.verdicts)

    @property
    def faults(self) -> list[str]:
        return [opinion.fault for opinion in self.opinions if opinion.fault]


class Critic(Asker[Instructions]):
    """Asks a chat model; the stories stand first in the request and the aspect last, so that prefixes are shared."""

    name = "critic"

    def __init__(self, model: Model, instructions: Instructions, memo: Memo | None = None) -> None:
        super().__init__(model, instructions)
        self.memo = memo or Memo()
        self.requests = asked_twice(MOST_TOKENS, instructions.form)

    async def compare(self, candidate: str, reference: str | None, tests: Sequence[Test]) -> list[Judgement]:
        """One judgement per test, in order: 28 requests for 14 tests with a reference, 14 without."""
        orders = orders_of(candidate, reference)
        # the first test that nothing is on record of goes ahead: it puts the stories into the provider's prefix cache
        touched = {key for stories in orders.values() for key in self.memo.found(VERDICTS, *self._place(stories))}
        first = next((test for test in tests if test.digest not in touched), tests[0])
        ahead = await self._compare(orders, first)
        # a grader that fails on both orders of the first test will hardly answer the other 26 requests
        if all(opinion.failed for opinion in ahead.opinions):
            raise GraderFailedError(ahead.opinions[0].fault)
        others = await gathered(*(self._compare(orders, test) for test in tests if test is not first))
        by_test = {judgement.test.id: judgement for judgement in (ahead, *others)}
        return [by_test[test.id] for test in tests]

    async def _compare(self, orders: Mapping[str, Sequence[str]], test: Test) -> Judgement:
        opinions = (self._opinion(stories, test, order) for order, stories in orders.items())
        return Judgement(test, tuple(await gathered(*opinions)))

    def _place(self, stories: Sequence[str]) -> tuple[str, str, str]:
        first, second = (*map(digest, stories), "")[:2]
        return self.signature, first, second

    async def _opinion(self, stories: Sequence[str], test: Test, order: str) -> Opinion:
        request = request_parts(self.template, stories, test)

        async def attempt(settings: GenerateConfig) -> Verdict:
            async with labelled(f"test {test.id}", test.name, order):
                return await self._attempt(request, settings)

        place = self._place(stories)
        try:
            async with self.memo.on_record(VERDICTS, *place, key=test.digest) as verdicts:
                if test.digest not in verdicts:
                    verdicts[test.digest] = await until_read(attempt, self.repeats)
                    self.memo.keep(VERDICTS, place, {test.digest: verdicts[test.digest]})
                return Opinion(*verdicts[test.digest])
        except NoVerdictError as error:
            return Opinion(None, error.reply, str(error))
        except GraderFailedError as error:
            return Opinion(None, fault=str(error), failed=True)

    async def _attempt(self, request: tuple[str, str], settings: GenerateConfig) -> Verdict:
        config, form = self.requests[settings == ANEW]
        output = await answered(self.model, request, held_to(config, form, self.model).merge(settings))
        # a reply that repeats the request holds its labels, none of which is a verdict
        reply = without_echo(output.completion, "\n".join(request)).strip()
        if output.stop_reason in UNFINISHED:
            # whatever label stands there is not the last word
            raise NoVerdictError(UNFINISHED[output.stop_reason], reply)
        try:
            return Verdict(self.template.read(reply), reply)
        except UnreadableReplyError as error:
            raise NoVerdictError(UNREADABLE, reply) from error


@dataclass(frozen=True)
class Critique:
    rubric: Rubric
    judgements: tuple[Judgement, ...]  # one a test, in the rubric's order
    cutoff: int | None  # from which score on a test passes; None where the candidate stands alone and passes on a yes

    @property
    def is_alone(self) -> bool:
        return self.cutoff is None

    def result(self, judgement: Judgement) -> float:
        """1 = pass, 0 = fail, NaN = not judged."""
        if self.cutoff is None:
            return float(judgement.points[0]) if judgement.is_judged else math.nan
        return math.nan if judgement.score is None else float(passes(judgement.score, self.cutoff))

    @cached_property
    def value(self) -> dict[str, float]:
        """Every key of the rubric: how many tests are passed, the share of each dimension, each test."""
        results = {judgement.test.id: self.result(judgement) for judgement in self.judgements}
        shares = {
            dimension: pass_share([results[test.id] for test in self.rubric.tests if test.dimension == dimension])
            for dimension in self.rubric.dimensions
        }
        parts = {TOTAL: passed(results.values()), **shares, **results}
        return {self.rubric.key(part): value for part, value in parts.items()}

    @cached_property
    def judged(self) -> list[Judgement]:
        return [judgement for judgement in self.judgements if judgement.is_judged]

    @property
    def disagreeing(self) -> list[Judgement]:
        return [judgement for judgement in self.judged if not judgement.agree]

    @property
    def position_bias(self) -> float:
        """Mean points that a story gets for standing first; NaN when nothing was judged."""
        return position_bias(judgement.verdicts for judgement in self.judged if judgement.verdicts)

    @property
    def won_by_place(self) -> tuple[int, int]:
        """In how many tests whichever story stood first won both times, and whichever stood second."""
        verdicts = [judgement.verdicts for judgement in self.judged if judgement.verdicts]
        # points are of story A over story B, so that two of one sign favour a place and not a story
        return sum(min(pair) > 0 for pair in verdicts), sum(max(pair) < 0 for pair in verdicts)

    @property
    def ratings(self) -> dict[str, int | None]:
        """How many verdicts could be read, and the lowest and highest: where those are one, the critic tells nothing.

        Verdicts are points of story A over story B; of a candidate alone 1 = yes, 0 = no.
        """
        points = [verdict for judgement in self.judgements for verdict in judgement.points]
        return {"count": len(points), "lowest": min(points, default=None), "highest": max(points, default=None)}

    @property
    def faults(self) -> dict[str, int]:
        return dict(Counter(fault for judgement in self.judgements for fault in judgement.faults))
