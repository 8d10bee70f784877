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
    # each shuffled: its first is rated, its second if the first's rating is lost; the nearest answer is the first one's
    strata: list[list[int]]

    @property
    def first(self) -> list[int]:
        return [*self.same, *(part[0] for part in self.strata)]


class Sampler:
    """Draws by what is asked alone, so that a rerun asks the same."""

    def __init__(self, ratings: int, embedder: Embedder, seed: int = 0, *, seconds: bool = True) -> None:
        self.ratings, self.embedder, self.seed, self.seconds = ratings, embedder, seed, seconds
        self.signature = f"{ratings}({embedder.identity})"
        self._vectors = lru_cache(maxsize=KEPT)(lambda texts: embedder.embed(list(texts)))

    def draw(self, question: str, answer: str, others: Sequence[str]) -> Draw:
        """One answer from each stratum of similarity as the embedder predicts it."""
        texts, own = tuple(map(normalised, others)), normalised(answer)
        vectors: Vectors = self._vectors(texts)
        (target,) = self._vectors((own,))
        predicted = vectors @ target
        apart = [place for place, text in enumerate(texts) if text != own]
        parts = strata([float(predicted[place]) for place in apart], self.ratings)
        shuffle = random.Random(digest(question, own, *sorted(texts), str(self.seed))).shuffle  # noqa: S311  # no secret
        drawn = [[apart[place] for place in part] for part in parts]
        for part in drawn:
            shuffle(part)
        same = [place for place, text in enumerate(texts) if text == own]
        return Draw(same, drawn if self.seconds else [part[:1] for part in drawn])
