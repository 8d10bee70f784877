"""Who says whether two texts are the same, and the classes that come of it."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from anyio import to_thread
from inspect_ai.model import GenerateConfig, Model

from genie_inspect.engines.classifiers import (
    PUBLISHED_CLASSIFIER,
    PUBLISHED_REWARD,
    ClassifierEquivalence,
    EmbeddedEquivalence,
    LocalEquivalence,
    RewardModel,
)
from genie_inspect.engines.embedders import Embedder, static_token_count
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.grader import ROLE, Request, ask, bound_when_scored, judging_model
from genie_inspect.graders.merging import numbered_tokens
from genie_inspect.graders.quality import QUALITY, GraderQuality, RewardQuality
from genie_inspect.graders.readable import InstructedAsker, until_complete
from genie_inspect.measures.partition import partition
from genie_inspect.prompting.forms import sameness_form
from genie_inspect.prompting.replies import numbered_sameness
from genie_inspect.prompting.templates import Instruction, Template, numbered
from genie_inspect.signature import digest

SAME = Instruction("same_list", frozenset({"count", "data"}))
CHUNK = 10  # documents are long
TOKENS_A_VERDICT = 12  # a number, a word and the punctuation of JSON
SPARE_TOKENS = 100  # for models that begin with a sentence


class Equivalence(Protocol):
    @property
    def signature(self) -> str: ...

    async def same(self, prompt: str, founders: Sequence[str], text: str) -> Sequence[bool | None]:
        """For each founder in order whether the text is the same; may end after the first yes; None: could not tell."""


class ComputedEquivalence:
    """An equivalence that is computed without a chat model, in a thread of its own."""

    def __init__(self, engine: LocalEquivalence) -> None:
        self.engine = engine

    @property
    def signature(self) -> str:
        return self.engine.name

    async def same(self, prompt: str, founders: Sequence[str], text: str) -> Sequence[bool | None]:
        return await to_thread.run_sync(self.engine.same, founders, text)


def _asked(count: int) -> Request:
    config = GenerateConfig(temperature=0.0, max_tokens=SPARE_TOKENS + TOKENS_A_VERDICT * count)
    return config, sameness_form(count)


class GraderEquivalence(InstructedAsker):
    """Asks a chat model which of many texts are functionally equivalent to one, at most ten per call."""

    instruction = SAME
    facts = f"chunk={CHUNK},"
    # two counts, so that what depends on the count is in the digest too
    requests = _asked(1), _asked(2)

    async def same(self, prompt: str, founders: Sequence[str], text: str) -> Sequence[bool | None]:
        """For each founder in order whether the text is the same; None where no reply of the grader had a verdict."""
        order = list(range(len(founders)))
        # graders favour places in a list; shuffled by what is asked, no class gains by it and a rerun asks the same
        random.Random(digest(prompt, text, *founders)).shuffle(order)  # noqa: S311  # no secret

        async def ask_missing(missing: Sequence[int], settings: GenerateConfig) -> dict[int, bool]:
            verdicts: dict[int, bool] = {}
            for start in range(0, len(missing), CHUNK):
                part = missing[start : start + CHUNK]
                request = _request(self.template, prompt, text, [founders[place] for place in part])
                config, form = _asked(len(part))
                said = numbered_sameness(await ask(self.model, request, config.merge(settings), form), len(part))
                verdicts |= {part[number - 1]: verdict for number, verdict in said.items()}
            return verdicts

        same = await until_complete(order, ask_missing, self.repeats)
        return [same.get(place) for place in range(len(founders))]


def _request(template: Template, prompt: str, text: str, others: Sequence[str]) -> str:
    data = {"request": prompt, "reply": text, "other_replies": numbered(others)}
    return template.request(data, count=len(others))


def comparing_cost(template: Template, prompt: str, text: float, others: Sequence[float]) -> Cost:
    """What a grader is asked to compare a text with others, by the tokens of these texts."""
    chunks = [others[start : start + CHUNK] for start in range(0, len(others), CHUNK)]
    requests = [_request(template, prompt, "", [""] * len(chunk)) for chunk in chunks]
    replies = sum(numbered_tokens(len(chunk)) + len(chunk) for chunk in chunks)
    return Cost(len(chunks), sum(map(static_token_count, requests)) + len(chunks) * text + sum(others), replies)


def partition_cost(template: Template, prompt: str, lengths: Sequence[float]) -> Cost:
    """At most what a grader is asked to partition texts of so many tokens: as if each were a class of its own."""
    costs = (comparing_cost(template, prompt, lengths[place], lengths[:place]) for place in range(len(lengths)))
    return sum(costs, Cost())


async def classes_of(texts: Sequence[str], prompt: str, equivalence: Equivalence) -> tuple[list[str], list[int | None]]:
    """The greedy partition of the texts: the first member of each class, and each text's class."""
    founders: list[str] = []
    return founders, [await class_of(text, prompt, founders, equivalence) for text in texts]


async def class_of(text: str, prompt: str, founders: list[str], equivalence: Equivalence) -> int | None:
    """The class that a text joins, or that it founds, then among the founders; None when that cannot be decided."""
    # the same words are the same without asking
    if text in founders:
        return founders.index(text)
    verdicts = await equivalence.same(prompt, founders, text) if founders else ()
    # of all founders it is known at once, or of those up to the first that is the same
    by_founder = dict(zip(founders, verdicts, strict=False))
    (label,) = partition([text], lambda founder, _: by_founder[founder], founders)
    return label


GRADER, EMBEDDING, CLASSIFIER, REWARD = "grader", "embedding", "classifier", "reward"
NO_GRADER = f"""\
{{option}} asks a model, and no grader is named: it must not be the model under evaluation by accident.
Two ways out:
  --model-role {ROLE}=<provider/model>   any model of your choice
  {{other}}"""
OTHERS = {
    "equivalence=grader": "equivalence=classifier (published, an extra) or embedding (a smoke test): "
    "-T novelty_partition, -S a scorer; in a panel -T panel=cheap",
    "quality=grader": "quality=reward (published, an extra): -T for a task",
}


def _kind(option: str, plain: tuple[str, ...], with_model: str, choice: str) -> str:
    kind, slash, model = choice.partition("/")
    # "classifier/" names no model: a typing mistake, not the published one
    if choice in plain or (kind == with_model and bool(slash) == bool(model)):
        return kind
    accepted = f"{', '.join(plain)}, {with_model} or {with_model}/<hub id or folder>"
    raise UnknownChoiceError(option, choice, accepted)


equivalence_kind = partial(_kind, "equivalence", (GRADER, EMBEDDING), CLASSIFIER)
quality_kind = partial(_kind, "quality", (GRADER,), REWARD)


def chosen_equivalence(
    equivalence: str, embedder: Embedder, threshold: float | None, templates: Path | str | None = None
) -> Callable[[], Equivalence]:
    """Gives the equivalence when a sample is scored, for the grader's role is bound so late."""
    if equivalence_kind(equivalence) == GRADER:
        if threshold is not None:
            raise UnknownChoiceError(
                "threshold", threshold, "none with equivalence=grader, which says same or different"
            )
        return bound_when_scored(equivalence_grader, partial(GraderEquivalence, template=SAME.template(templates)))
    if equivalence == EMBEDDING:
        computed = ComputedEquivalence(EmbeddedEquivalence(embedder, threshold))
    else:
        _, _, model = equivalence.partition("/")
        chosen = {} if threshold is None else {"threshold": threshold}
        computed = ComputedEquivalence(ClassifierEquivalence(model or PUBLISHED_CLASSIFIER, **chosen))
    return lambda: computed


def chosen_quality(quality: str, templates: Path | str | None = None) -> Callable[[], GraderQuality | RewardQuality]:
    if quality_kind(quality) == GRADER:
        return bound_when_scored(quality_grader, partial(GraderQuality, template=QUALITY.template(templates)))
    _, _, model = quality.partition("/")
    computed = RewardQuality(RewardModel(model or PUBLISHED_REWARD))
    return lambda: computed


def _grader(option: str) -> Model:
    return judging_model((ROLE,), option, NO_GRADER.format(option=option, other=OTHERS[option]))


equivalence_grader = partial(_grader, "equivalence=grader")
quality_grader = partial(_grader, "quality=grader")
