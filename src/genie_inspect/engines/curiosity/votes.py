"""A rater's verdict on a story with the texts that it rests on, and what a curiosity model is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ExplainedVote:
    """What one rater said of one story on one test."""

    story: str
    """The story's id."""
    plot: str
    """What several stories may be written from."""
    text: str
    """The story itself."""
    test: str
    question: str
    """The test in words."""
    rater: str
    verdict: bool
    explanation: str | None = None


class FittedCuriosity(Protocol):
    """A curiosity model that has learned from votes."""

    def probabilities(self, votes: Sequence[ExplainedVote]) -> Values:
        """Probability of a yes for each vote, 0 to 1; its verdict is not looked at."""
        ...

    def save(self, folder: Path) -> None:
        """Write weights into a folder that exists: no text, no vote."""
        ...


class CuriosityModel(Protocol):
    """A curiosity model that has not learned yet."""

    @property
    def name(self) -> str:
        """What it reads texts with."""
        ...

    def settings_used(self) -> dict[str, int | float]:
        """Every setting by its name."""
        ...

    def fit(self, votes: Sequence[ExplainedVote]) -> FittedCuriosity:
        """A model that has learned from these votes alone."""
        ...
