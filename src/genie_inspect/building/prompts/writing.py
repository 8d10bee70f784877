"""A file of prompts from pairs of concepts: asked for in rounds, until enough of them are sound."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any

from genie_inspect.asking.gathering import gathered
from genie_inspect.building.interviewing import Interviewer, interview_templates
from genie_inspect.building.prompts.pairs import APART, PAIRS_APART, Pair, PairChooser
from genie_inspect.building.stand_ins.recorded_model import RecordedModel
from genie_inspect.building.work import Progress, no_progress
from genie_inspect.engines.embedders.choices import embedder as chosen_embedder
from genie_inspect.engines.sources.prompts import PromptSourceError, write_prompts
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.folders import clear_left
from genie_inspect.prompting.replies import numbered_answers

WORDING = "Write a story about {first} and {second}."
"""The study's."""
BLANKS = ("{first}", "{second}")
PAIRS_A_REQUEST = 20
ROUNDS = 6
SPARE = 2  # pairs that are asked for, by pairs that are still wanted: the seed has something to choose from
LETTERS = "abcdefghijklmnoprstuvw"
LETTERS_A_REQUEST = 5
TEMPERATURE = 1.0  # requests shall differ


@dataclass(frozen=True, slots=True)
class Order:
    """The pairs that are wanted, and what makes them sound.

    Raises:
        UnknownChoiceError: If there is no domain, or the wording lacks a blank.
    """

    domain: str
    count: int = 25
    seed: int = 0
    apart: float = APART
    """Least distance of a pair's two concepts."""
    pairs_apart: float = PAIRS_APART
    """Least distance of two pairs."""
    wording: str = WORDING
    embedder: str = "static"
    templates: Path | None = None

    def __post_init__(self) -> None:
        if not self.domain.strip():
            raise UnknownChoiceError("domain", self.domain, 'a few words, such as "life at sea"')
        if any(self.wording.count(blank) != 1 for blank in BLANKS) or len(self.wording.splitlines()) != 1:
            raise UnknownChoiceError("wording", self.wording, f"one line with {' and '.join(BLANKS)}, each once")

    def prompt(self, pair: Pair) -> str:
        """The wording with a pair's concepts in it, whatever these hold."""
        return re.sub(r"\{(first|second)\}", lambda blank: str(getattr(pair, blank[1])), self.wording)


async def write_pairs(
    order: Order, output: Path, model: RecordedModel, work: Path, progress: Progress = no_progress
) -> dict[str, Any]:
    """Write a file of as many prompts as were ordered, with each pair's concepts and their distance.

    Which pairs are taken depends on what the model replies and on the seed alone.

    Raises:
        PromptSourceError: If there are too few sound pairs after six rounds, or none can be read.
        GraderFailedError: If the model cannot be reached; running again goes on from there.
        UnwritableError: If the file cannot be written.
    """
    interviewer = Interviewer(model, interview_templates(order.templates))
    chooser = PairChooser(chosen_embedder(order.embedder), order.apart, order.pairs_apart)
    rounds = 0
    for rounds in range(1, ROUNDS + 1):
        proposals = await _proposed(order, rounds, chooser.taken, interviewer)
        # of several that are near each other the first is taken: the seed says which one that is
        random.Random(f"{order.seed} {rounds}").shuffle(proposals)  # noqa: S311  # a sample, no secret
        chooser.take(proposals, order.count)
        progress("finding pairs", len(chooser.taken), order.count)
        # a model that has been asked three times for a list and gave none will not give one
        if len(chooser.taken) == order.count or not proposals:
            break
    dropped = dict(chooser.dropped.most_common())
    if len(chooser.taken) < order.count:
        raise _too_few(order, len(chooser.taken), rounds, dropped)
    write_prompts(output, ({"prompt": order.prompt(pair), **asdict(pair)} for pair in chooser.taken))
    clear_left(work)
    return {
        "prompts": len(chooser.taken),
        "rounds": rounds,
        "proposed": len(chooser.taken) + chooser.dropped.total(),
        "dropped": dropped,
        "least_distance": min(pair.distance for pair in chooser.taken),
        "unreadable_replies": interviewer.unreadable,
    }


async def _proposed(order: Order, number: int, taken: Sequence[Pair], interviewer: Interviewer) -> list[str]:
    """What a round's requests bring, in their order."""
    requests = ceil(SPARE * (order.count - len(taken)) / PAIRS_A_REQUEST)
    known = [f"{pair.first}; {pair.second}" for pair in taken]

    async def reply(place: int) -> list[str]:
        # letters keep a model from naming the same few pairs in every reply
        drawn = random.Random(f"{order.seed} {number} {place}").sample(LETTERS, LETTERS_A_REQUEST)  # noqa: S311
        data = {"domain": order.domain, "count": PAIRS_A_REQUEST, "letters": sorted(drawn), "taken": known}
        return await interviewer.list_items(
            "pair_concepts", PAIRS_A_REQUEST, data, None, numbered_answers, temperature=TEMPERATURE
        )

    return [text for texts in await gathered(*map(reply, range(requests))) for text in texts]


def _too_few(order: Order, taken: int, rounds: int, dropped: Mapping[str, int]) -> PromptSourceError:
    """The error that says how many there are, why there are no more, and what would help."""
    left_out = ", ".join(f"{count} {reason}" for reason, count in dropped.items()) or "no reply held a list of pairs"
    return PromptSourceError(
        f"found {taken} of {order.count} pairs in {rounds} of {ROUNDS} rounds ({left_out}): ask for fewer (--count), "
        f"let them be nearer (--apart below {order.apart:g}, --pairs-apart below {order.pairs_apart:g}), name a wider "
        "domain or another model"
    )
