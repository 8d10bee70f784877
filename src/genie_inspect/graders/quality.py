"""Judges of whole texts: how good one is, how coherent, and which of two is preferred."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anyio import to_thread
from inspect_ai.model import GenerateConfig, Model

from genie_inspect.engines.classifiers import PUBLISHED_REWARD, CoherenceRewards, RewardModel
from genie_inspect.engines.embedders import static_token_count
from genie_inspect.errors import UnknownChoiceError, UnreadableReplyError
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.grader import PREFERENCE_ROLE, ROLE, gathered, judging_model, unmet
from genie_inspect.graders.readable import REPEATS, Asker, InstructedAsker
from genie_inspect.measures.partition import reward_level
from genie_inspect.prompting.replies import (
    preferred,
    preferred_at_once,
    preferred_for_a_reason,
    quality_level,
    rating_between,
)
from genie_inspect.prompting.templates import Instruction, Recording, Template

QUALITY = Instruction("rate_quality")
CONFIG = GenerateConfig(temperature=0.0, max_tokens=200)
TOKENS_A_LEVEL = 30  # a reason in one sentence, and a number


class RewardQuality:
    """Levels of a reward model's rewards; the published thresholds are those of the published model."""

    def __init__(self, model: RewardModel) -> None:
        self.model = model

    @property
    def signature(self) -> str:
        # rewards have no common scale: the same thresholds cut another model's rewards at other qualities
        foreign = "" if self.model.model.partition("@")[0] == PUBLISHED_REWARD else ",thresholds of another model"
        return self.model.name.removesuffix(")") + foreign + ")"

    async def levels(self, prompt: str, replies: Sequence[str]) -> list[float]:
        """The level of each reply, 1 (of no use) to 10."""
        rewards = await to_thread.run_sync(self.model.rewards, prompt, replies)
        # levels, not rewards: utility is a mean, and only levels have equal steps
        return [float(reward_level(reward)) for reward in rewards]


class GraderQuality(InstructedAsker):
    instruction = QUALITY
    requests = ((CONFIG, None),)

    async def levels(self, prompt: str, replies: Sequence[str]) -> list[float]:
        """The level of each reply, 1 (of no use) to 10; NaN where no level could be had."""

        async def level(reply: str) -> float:
            with suppress(UnreadableReplyError):
                return await self.read_of(self.template.request({"request": prompt, "reply": reply}), quality_level)
            # not level 1: a grader that says nothing has not found the reply useless
            return math.nan

        return await gathered(*map(level, replies))


def quality_cost(template: Template, prompt: str, length: float) -> Cost:
    request = template.request({"request": prompt, "reply": ""})
    return Cost(1, static_token_count(request) + length, TOKENS_A_LEVEL)


def _not_on_record(record: Recording, data: dict[str, Any]) -> str:
    raise unmet("bundled/grader has no rating of coherence on record: build with --coherence none, or name another")


COHERENCE = Instruction(
    "coherence",
    keys=frozenset({"document"}),
    rehearsed=lambda data: "It holds together.\nRating: 4",
    recorded=_not_on_record,
)
REWARD = "reward/"  # and the model
LOWEST, HIGHEST = 1, 5
COHERENCE_CONFIG = GenerateConfig(temperature=0.0, max_tokens=150)  # a reason of one sentence, then the rating


class GraderCoherence(InstructedAsker):
    """The grader's rating from 1 (cannot be followed) to 5 (connected from beginning to end), with its reason first."""

    instruction = COHERENCE
    requests = ((COHERENCE_CONFIG, None),)

    async def rate(self, prompt: str, document: str) -> float:
        # without the prompt: whether a document does its task is another question than whether it hangs together
        request = self.template.request({"document": document})
        return await self.read_of(request, partial(rating_between, lowest=LOWEST, highest=HIGHEST))


class RewardCoherence:
    """A reward model's coherence, 0 to about 4.5; 2 and more was kept in the study."""

    def __init__(self, rewards: CoherenceRewards) -> None:
        self.rewards = rewards

    @property
    def signature(self) -> str:
        return self.rewards.name

    async def rate(self, prompt: str, document: str) -> float:
        # in a thread: a forward pass blocks, and other samples go on meanwhile
        return await to_thread.run_sync(self.rewards.coherence, prompt, document)


CoherenceRater = GraderCoherence | RewardCoherence


def rewarded(choice: str) -> RewardCoherence | None:
    """The rater that `reward/<hub id or folder>` stands for; None for any other choice."""
    model = choice.removeprefix(REWARD)
    # "reward/" alone names no model: there is no published one that it could stand for
    return RewardCoherence(CoherenceRewards(model)) if choice.startswith(REWARD) and model else None


@dataclass(frozen=True, slots=True)
class PreferenceProtocol:
    name: str
    said: str
    instruction: Instruction
    read: Callable[[str], float]  # by the reply, 1 when the first story is better, 0 when the second is, 0.5 for a tie
    most_tokens: int
    usual_tokens: int
    repeats: int = 0  # how often an unreadable reply is asked for again

    def request(self, template: Template, prompt: str, first: str, second: str) -> str:
        stories = {"story_a": first, "story_b": second}
        if "data" in self.instruction.blanks:
            return template.request({"prompt": prompt, **stories})
        # unfenced, and without the writing prompt: as weights were trained, which a fence would be foreign to
        return template.fill(**stories)

    def pricing(self, templates: Path | str | None = None) -> Callable[[str, float], Cost]:
        """Gives the cost of a verdict by the writing prompt and the tokens of both stories together."""
        template = self.instruction.template(templates)
        return lambda prompt, lengths: Cost(
            1, static_token_count(self.request(template, prompt, "", "")) + lengths, self.usual_tokens
        )


_TRAINED = partial(Instruction, blanks=frozenset({"story_a", "story_b"}))
# a reason in one or two sentences, and a label
CHAT = PreferenceProtocol("chat", "preferring, in both orders", Instruction("prefer"), preferred, 300, 50, REPEATS)
GENERATIVE = PreferenceProtocol(
    "generative", "preferring as GenRM", _TRAINED("prefer_generative"), preferred_at_once, 16, 4
)
GENERATIVE_COT = PreferenceProtocol(
    "generative_cot", "preferring as GenRM-CoT", _TRAINED("prefer_generative_cot"), preferred_for_a_reason, 1024, 300
)
PROTOCOLS = {protocol.name: protocol for protocol in (CHAT, GENERATIVE, GENERATIVE_COT)}


def protocol_of(name: str) -> PreferenceProtocol:
    if name not in PROTOCOLS:
        raise UnknownChoiceError("protocol", name, f"one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


NO_JUDGE = f"""\
litbench asks a model which of two stories is better, and none is named: it must not be the model under evaluation by
accident. Three ways out:
  --model-role {PREFERENCE_ROLE}=<provider/model>   a preference judge of its own
  --model-role {ROLE}=<provider/model>       the grader judges preferences too
  -T panel=cheap                         the panel without litbench: asks no model"""


preference_model = partial(judging_model, (PREFERENCE_ROLE, ROLE), "litbench", NO_JUDGE)


class PreferenceJudge(Asker[Template]):
    """Asks a model for the better of two stories; unreadable replies are asked for again."""

    name = "preference"

    def __init__(self, model: Model, protocol: PreferenceProtocol = CHAT, template: Template | None = None) -> None:
        super().__init__(model, template or protocol.instruction.template())
        self.protocol, self.repeats = protocol, protocol.repeats
        self.requests = [(GenerateConfig(temperature=0.0, max_tokens=protocol.most_tokens), None)]
        # nothing of the first, so that its scores compare with those of before
        self.facts = "" if protocol is CHAT else f"protocol={protocol.name},"

    async def verdict(self, prompt: str, first: str, second: str) -> float | None:
        """1 when the first story is better, 0 when the second is, 0.5 for a tie; None where no reply says so."""
        request = self.protocol.request(self.template, prompt, first, second)
        with suppress(UnreadableReplyError):
            return await self.read_of(request, self.protocol.read)
        # not a tie: a judge that says nothing has not found the stories equal
        return None
