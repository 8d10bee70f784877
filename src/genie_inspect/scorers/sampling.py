"""Which of the population's answers an answer is rated against, where it is not rated against all of them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from genie_inspect.engines.embedders import Embedder
from genie_inspect.measures.sampling import strata
from genie_inspect.prompting.answers import normalised
from genie_inspect.signature import digest

if TYPE_CHECKING:
    from genie_inspect.engines.embedders import Vectors

KEPT = 256  # questions whose answers' vectors stay in memory


@dataclass(frozen=True, slots=True)
class Draw:
    """Places among the other answers."""

    same: list[int]  # equal answers, which are interchangeable without a call
    # of each the first is drawn, and the second for when the first's rating is lost; the first stratum is the nearest
    strata: list[list[int]]

    @property
    def first(self) -> list[int]:
        return [*self.same, *(part[0] for part in self.strata)]


class Sampler:
    """Draws by what is asked alone, so that a rerun asks the same."""

    def __init__(self, ratings: int, embedder: Embedder, seed: int = 0, *, seconds: bool = True) -> None:
        self.ratings, self.embedder, self.seed, self.seconds = ratings, embedder, seed, seconds
        self.signature = f"{ratings}({embedder.identity})"
        # a question's answers come back with every document
        self._prepared = lru_cache(maxsize=KEPT)(self._prepare)

    def _prepare(self, others: tuple[str, ...]) -> "tuple[tuple[str, ...], Vectors, str]":
        """The answers as they count for equality, their vectors, and a digest of them in any order."""
        texts = tuple(map(normalised, others))
        return texts, self.embedder.embed(list(texts)), digest(*sorted(texts))

    def draw(self, question: str, answer: str, others: Sequence[str]) -> Draw:
        """One answer from each stratum of similarity as the embedder predicts it."""
        (texts, vectors, content), own = self._prepared(tuple(others)), normalised(answer)
        (target,) = self.embedder.embed([own])
        predicted = vectors @ target
        apart = [place for place, text in enumerate(texts) if text != own]
        parts = strata(predicted[apart], self.ratings)
        chance = random.Random(digest(question, own, content, str(self.seed)))  # noqa: S311  # no secret
        drawn = [[apart[place] for place in part] for part in parts]
        for part in drawn:
            for place in range(min(len(part), 2)):
                other = chance.randrange(place, len(part))
                part[place], part[other] = part[other], part[place]
        same = [place for place, text in enumerate(texts) if text == own]
        return Draw(same, drawn if self.seconds else [part[:1] for part in drawn])
