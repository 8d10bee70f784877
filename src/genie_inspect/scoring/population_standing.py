"""Where a document's novelty falls among that of the population's own documents, each compared with the others."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from genie_inspect.populations.population import Population
from genie_inspect.populations.yardstick import DECIMALS, yardstick_of
from genie_inspect.statistics.descriptive.digits import three_digits
from genie_inspect.statistics.descriptive.standing import Standing, standing


def standing_facts(standings: Mapping[str, Standing]) -> dict[str, Any]:
    """What a score's metadata says of them, by feature: the percentile, and the population's mean and quartiles.

    Empty where there are none.
    """
    rounded = {
        feature: {name: round(value, DECIMALS) for name, value in asdict(standing).items()}
        for feature, standing in standings.items()
    }
    return {"yardstick": rounded} if rounded else {}


class PopulationStanding:
    """Holds novelties against a population's yardstick, where it has one under the same instrument.

    Args:
        population: Whose.
        signature: Of the scores.

    Raises:
        PopulationError: If the yardstick cannot be used.
    """

    def __init__(self, population: Population, signature: str) -> None:
        self._population = population
        measured = yardstick_of(population.folder).under(signature)
        self._novelty = measured.novelty if measured else {}

    def of(self, novelty: Mapping[str, float], prompt: str) -> dict[str, Standing]:
        """By feature, where a novelty stands among the population's documents of the same prompt.

        A feature without a novelty, or without one of theirs, has none.
        """
        standings = {
            feature: standing(three_digits(value), list(self._values(prompt, feature)))
            for feature, value in novelty.items()
        }
        return {feature: found for feature, found in standings.items() if found}

    def _values(self, prompt: str, feature: str) -> Iterator[float]:
        for document in self._population.documents(prompt):
            value = self._novelty.get(document.id, {}).get(feature)
            yield math.nan if value is None else three_digits(value)
