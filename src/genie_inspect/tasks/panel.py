"""The panel: the holistic measures by name, and several of them as one score."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.graders.close_reader import Approach
from genie_inspect.graders.cost import Cost, tokens
from genie_inspect.graders.equivalence import EMBEDDING, GRADER, SAME
from genie_inspect.graders.instrument import OFFLINE
from genie_inspect.graders.quality import CHAT, PROTOCOLS
from genie_inspect.populations.population import Population
from genie_inspect.prompting.templates import Templates, wordings
from genie_inspect.scorers import (
    close_reading,
    compression,
    cosine,
    creativity_index,
    expression_novelty,
    litbench,
    partition,
)
from genie_inspect.signature import signature

Documents = Mapping[str, int]  # how many new ones by prompt
NONE, ALL, CHEAP = "none", "all", "cheap"
EQUIVALENCE, PREFERENCE, READING = "equivalence", "preference", "reading"


@dataclass(frozen=True, slots=True)
class Member:
    scorer: Callable[..., Scorer]
    options: tuple[str, ...]  # those of the panel's that the scorer takes
    keys: Sequence[str]
    # whom: an `equivalence`, which need be no model, or a `preference` judge or the `reading` grader, who cost
    asks: str = ""
    # by the protocol, the first unless one is named, and the user's folder of templates: how is asked
    wordings: Mapping[str, Callable[[str | None], Any]] = field(default_factory=dict)
    # by the wording, a prompt and the lengths of its documents: what is asked of so many new ones
    cost: Callable[[Any, str, list[int], int], Cost] | None = None


MEMBERS: Mapping[str, Member] = {
    "cosine": Member(cosine.cosine, ("population", "embedder"), cosine.KEYS),
    "compression": Member(compression.compression, ("population",), compression.KEYS),
    "creativity_index": Member(creativity_index.creativity_index, ("population",), creativity_index.KEYS),
    "expression_novelty": Member(expression_novelty.expression_novelty, ("population",), expression_novelty.KEYS),
    "partition": Member(
        partition.partition,
        # no embedder: the embedding equivalence has a measured threshold for the static one only
        ("population", "equivalence", "templates"),
        partition.KEYS,
        EQUIVALENCE,
        {"": SAME.template},
        partition.cost,
    ),
    "litbench": Member(
        litbench.litbench,
        ("population", "templates", "protocol"),
        litbench.KEYS,
        PREFERENCE,
        {name: protocol.pricing for name, protocol in PROTOCOLS.items()},
        litbench.cost,
    ),
    "close_reading": Member(
        close_reading.close_reading,
        ("templates",),
        close_reading.KEYS,
        READING,
        {"": lambda templates: Approach(templates=templates)},
        close_reading.cost,
    ),
}
MEASURES = tuple(MEMBERS)
# a measure and how it asks, by how an option names both
WITH_PROTOCOL: Mapping[str, tuple[str, str]] = {
    f"{name}/{protocol}": (name, protocol)
    for name, member in MEMBERS.items()
    for protocol in member.wordings
    if protocol
}
ACCEPTED = (
    f"{NONE}, or {CHEAP} (those that ask no model), {ALL} and names out of {', '.join(MEASURES)} with commas between; "
    f"or, once, {', '.join(WITH_PROTOCOL)}"
)
KEYS: Mapping[str, Sequence[str]] = {name: member.keys for name, member in MEMBERS.items()}


@dataclass(frozen=True, slots=True)
class Panel:
    """Which measures are taken, and what they ask."""

    names: tuple[str, ...]
    equivalence: str
    protocol: str = CHAT.name

    def asks(self, whom: str) -> bool:
        """Whether a measure that is taken asks an `equivalence`, a `preference` judge or the `reading` grader."""
        return any(MEMBERS[name].asks == whom for name in self.names)

    @property
    def asks_equivalence(self) -> str:
        """The equivalence, empty when no measure is taken that tells what is the same."""
        return self.equivalence if self.asks(EQUIVALENCE) else ""

    @property
    def keys(self) -> dict[str, Sequence[str]]:
        return {name: KEYS[name] for name in self.names}

    def scorers(self, population: str, embedder: str = "static", templates: Templates = None) -> dict[str, Scorer]:
        # a jury of wordings is Genie's alone: the others ask in the first
        given = {"population": population, "embedder": embedder, "templates": wordings(templates)[0]}
        given |= {"equivalence": self.equivalence, "protocol": self.protocol}
        return {
            name: MEMBERS[name].scorer(**{option: given[option] for option in MEMBERS[name].options})
            for name in self.names
        }

    def costs(self, population: Population, templates: Templates = None) -> dict[str, Callable[[Documents], Cost]]:
        """What each measure that asks a model asks of new documents; of `partition` the most that it may ask."""
        # an equivalence that is told without a model costs nothing
        free = "" if self.equivalence == GRADER else EQUIVALENCE
        costs: dict[str, Callable[[Documents], Cost]] = {}
        for name in self.names:
            member = MEMBERS[name]
            if member.cost and member.asks != free:
                first = next(iter(member.wordings))
                protocol = self.protocol if self.protocol in member.wordings else first
                row = name if protocol == first else f"{name}/{protocol}"
                wording = member.wordings[protocol](wordings(templates)[0])
                costs[row] = partial(_cost_over, population, partial(member.cost, wording))
        return costs


def _cost_over(population: Population, cost: Callable[[str, list[int], int], Cost], documents: Documents) -> Cost:
    """What new documents cost together; a prompt without documents of the population costs nothing."""
    total = Cost()
    for prompt, count in documents.items():
        if lengths := [tokens(document.text) for document in population.documents(prompt)]:
            total += cost(prompt, lengths, count)
    return total


def chosen_panel(panel: str | Sequence[str], judge: str = OFFLINE) -> Panel:
    """The panel that an option stands for."""
    given = [name.strip() for name in (panel.split(",") if isinstance(panel, str) else panel) if name.strip()]
    protocols = {WITH_PROTOCOL[name][1] for name in given if name in WITH_PROTOCOL}
    names = [WITH_PROTOCOL[name][0] if name in WITH_PROTOCOL else name for name in given]
    groups = {
        NONE: (),
        ALL: MEASURES,
        CHEAP: tuple(name for name, member in MEMBERS.items() if member.asks in ("", EQUIVALENCE)),
    }
    for name in names:
        if name not in (*groups, *MEASURES) or (name == NONE and len(names) > 1) or len(protocols) > 1:
            raise UnknownChoiceError("panel", ",".join(given), ACCEPTED)
    taken = tuple(dict.fromkeys(measure for name in names for measure in groups.get(name, (name,))))
    # who asks for "cheap" wants no model asked, unless a measure that can ask one is named beside it
    by_name = [name for name in names if name == ALL or (name in MEMBERS and MEMBERS[name].asks == EQUIVALENCE)]
    asks_no_model = judge == OFFLINE or (CHEAP in names and not by_name)
    return Panel(taken, EMBEDDING if asks_no_model else GRADER, *protocols)


def combined(scorers: Mapping[str, Scorer]) -> Scorer:
    """Several measures as one score: the keys of all, NaN for those of a measure that could not be taken."""

    async def score(state: TaskState, target: Target) -> Score:
        scores = {name: await scorer(state, target) for name, scorer in scorers.items()}
        return merged({name: score for name, score in scores.items() if score is not None})

    return score


def merged(scores: Mapping[str, Score]) -> Score:
    """One score out of those of several measures; with a reason when none of them could be taken."""
    value: dict[str, float] = {}
    parts = {name: score.metadata or {} for name, score in scores.items()}
    for name, score in scores.items():
        # an unscored measure has one NaN for all its keys; in a joint score every key must stand
        values = score.value if isinstance(score.value, dict) else {}
        value |= {key: float(values.get(key, math.nan)) for key in KEYS[name]}
    # a signature's facts are parted by bars
    facts = {name: str(part.get("signature", "none")).replace("|", ",") for name, part in parts.items()}
    metadata = {"signature": signature("novelty_panel", version="1-A", **facts), **parts}
    explanation = "\n\n".join(f"**{name.replace('_', ' ')}**\n\n{score.explanation}" for name, score in scores.items())
    measured = not all(map(math.isnan, value.values()))
    # a reason would mark the whole score as unscored, the measures that were taken among them
    reason = None if measured else next((score.reason for score in scores.values() if score.reason), None)
    answer = next((score.answer for score in scores.values() if score.answer), None)
    return Score(value=dict(value), answer=answer, explanation=explanation, reason=reason, metadata=metadata)
