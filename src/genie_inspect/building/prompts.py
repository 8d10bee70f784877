"""A file of prompts from pairs of concepts: asked for in rounds, until enough of them are sound."""

import random
import re
from collections import Counter
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genie_inspect.building.interviewing import Interviewer, Progress, no_progress
from genie_inspect.engines.embedders import Embedder, cosine_distances
from genie_inspect.engines.embedders import embedder as chosen_embedder
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.writing import clear_left
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.populations.prompts import SourceError, write_prompts
from genie_inspect.prompting.answers import normalised
from genie_inspect.prompting.replies import numbered_answers
from genie_inspect.prompting.texts import has_word

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Vector = NDArray[float64]


# least distance of a pair's concepts by the static embedder: the study's 25 pairs have 0.81 to 1.11, a castle and a
# fortress 0.42, a robot and an android 0.77
APART = 0.8
PAIRS_APART = 0.4  # of two pairs: of the study's 300 twos of pairs all but two have more
LONGEST = 60  # characters of a concept
MOST_WORDS = 6
DIGITS = 4  # of a distance
NO_PAIR, TWICE, TAKEN = "no two concepts", "proposed before", "a concept of another pair"
UNKNOWN, NEAR = "no word that the embedder knows", "concepts near each other"
NEAR_PAIR, LEFT = "near another pair", "more than were needed"
_ARTICLE = re.compile(r"^(?:an?|the) ")


class PairChooser:
    """Takes pairs one after another, as long as they are far from those that were taken before."""

    def __init__(self, embedder: Embedder, apart: float = APART, pairs_apart: float = PAIRS_APART) -> None:
        self.embedder, self.apart, self.pairs_apart = embedder, apart, pairs_apart
        self.taken: dict[tuple[str, str], float] = {}  # pairs, and how far apart their concepts are
        self.dropped: Counter[str] = Counter()  # proposals that were not taken, by reason
        self._proposed: set[frozenset[str]] = set()
        self._vectors: list[Vector] = []

    def take(self, proposals: Sequence[str], most: int) -> None:
        pairs = [pair for text in proposals if (pair := concepts(text))]
        self.dropped.update([NO_PAIR] * (len(proposals) - len(pairs)))
        vectors = self.embedder.embed([concept for pair in pairs for concept in pair])
        for pair, first, second in zip(pairs, vectors[::2], vectors[1::2], strict=True):
            reason = LEFT if len(self.taken) >= most else self._fault(pair, first, second)
            if reason:
                self.dropped[reason] += 1
            else:
                self.taken[pair] = round(float(cosine_distances(first, [second])[0]), DIGITS)
                self._vectors.append(first + second)

    def _fault(self, pair: tuple[str, str], first: "Vector", second: "Vector") -> str:
        key = frozenset(map(_plain, pair))
        if key in self._proposed:
            return TWICE
        self._proposed.add(key)
        # the study's 25 pairs have no concept twice
        if any(_plain(concept) in key for other in self.taken for concept in other):
            return TAKEN
        if not (first.any() and second.any() and (first + second).any()):
            return UNKNOWN
        if cosine_distances(first, [second])[0] < self.apart:
            return NEAR
        return NEAR_PAIR if (cosine_distances(first + second, self._vectors) < self.pairs_apart).any() else ""


def concepts(text: str) -> tuple[str, str] | None:
    """The two concepts of a line such as "a castle; a spaceship"; None where it does not hold two short ones."""
    parts = [" ".join(part.split()).strip(" .") for part in text.split(";")]
    # what is longer, or would steer a terminal, is no name of a thing
    are_sound = all(
        has_word(part) and part.isprintable() and len(part) <= LONGEST and len(part.split()) <= MOST_WORDS
        for part in parts
    )
    return (parts[0], parts[1]) if len(parts) == 2 and are_sound else None


def _plain(concept: str) -> str:
    """The concept as it counts for equality, without its article."""
    return _ARTICLE.sub("", normalised(concept))


WORDING = "Write a story about {first} and {second}."  # the study's
BLANKS = ("first", "second")
PAIRS_A_REQUEST = 20
ROUNDS = 6
SPARE = 2  # pairs that are asked for, by pairs that are still wanted: the seed has something to choose from
LETTERS = "abcdefghijklmnoprstuvw"
TEMPERATURE = 1.0  # requests shall differ


def check_pairs(domain: str, wording: str) -> None:
    if not domain.strip():
        raise UnknownChoiceError("domain", domain, 'a few words, such as "life at sea"')
    if any(wording.count(f"{{{blank}}}") != 1 for blank in BLANKS) or len(wording.splitlines()) != 1:
        raise UnknownChoiceError("wording", wording, "one line with {first} and {second}, each once")


async def write_pairs(
    output: Path,
    model: RecordedModel,
    work: Path,
    progress: Progress = no_progress,
    *,
    domain: str,
    count: int = 25,
    seed: int = 0,
    apart: float = APART,
    pairs_apart: float = PAIRS_APART,
    wording: str = WORDING,
    embedder: str = "static",
    templates: Path | None = None,
) -> dict[str, Any]:
    """Write a file of so many prompts about things of a domain, with each pair's concepts and their distance.

    Which pairs are taken depends on what the model replies and on the seed alone.
    """
    interviewer = Interviewer(model, templates)
    chooser = PairChooser(chosen_embedder(embedder), apart, pairs_apart)
    taken = chooser.taken

    async def reply(name: str, known: list[str]) -> list[str]:
        # letters keep a model from naming the same few pairs in every reply
        letters = sorted(random.Random(name).sample(LETTERS, 5))  # noqa: S311  # a sample, no secret
        data = {"domain": domain, "count": PAIRS_A_REQUEST, "letters": letters, "taken": known}
        return await interviewer.list_items(
            "pair_concepts", PAIRS_A_REQUEST, data, None, numbered_answers, temperature=TEMPERATURE
        )

    rounds = 0
    for rounds in range(1, ROUNDS + 1):
        requests = ceil(SPARE * (count - len(taken)) / PAIRS_A_REQUEST)
        known = ["; ".join(pair) for pair in taken]
        replies = await gathered(*(reply(f"{seed} {rounds} {place}", known) for place in range(requests)))
        proposals = [text for texts in replies for text in texts]
        # of several that are near each other the first is taken: the seed says which one that is
        random.Random(f"{seed} {rounds}").shuffle(proposals)  # noqa: S311  # a sample, no secret
        chooser.take(proposals, count)
        progress("finding pairs", len(taken), count)
        # a model that has been asked three times for a list and gave none will not give one
        if len(taken) == count or not proposals:
            break
    dropped = dict(chooser.dropped.most_common())
    if len(taken) < count:
        left_out = ", ".join(f"{count} {reason}" for reason, count in dropped.items())
        raise SourceError(
            f"found {len(taken)} of {count} pairs in {rounds} of {ROUNDS} rounds "
            f"({left_out or 'no reply held a list of pairs'}). Ask for fewer (--count), allow smaller distances "
            f"(--apart below {apart:g}, --pairs-apart below {pairs_apart:g}), or name a wider domain or another model"
        )

    def row(pair: tuple[str, str], distance: float) -> dict[str, Any]:
        concept_of = dict(zip(BLANKS, pair, strict=True))
        # both at once, because a concept may hold the other's blank
        prompt = re.sub(r"\{(first|second)\}", lambda blank: concept_of[blank[1]], wording)
        return {"prompt": prompt, **concept_of, "distance": distance}

    write_prompts(output, (row(*each) for each in taken.items()))
    clear_left(work)
    return {
        "prompts": len(taken),
        "rounds": rounds,
        "proposed": len(taken) + chooser.dropped.total(),
        "dropped": dropped,
        "least_distance": min(taken.values()),
        "unreadable_replies": interviewer.unreadable,
    }
