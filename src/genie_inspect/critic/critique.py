"""All tests of one story: what passes, and how far the critic can be trusted."""

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from genie_inspect.critic.critic import Judgement
from genie_inspect.critic.rubrics import TOTAL, Rubric
from genie_inspect.measures.likert import pass_share, passed, passes, position_bias


@dataclass(frozen=True)
class Critique:
    """The critic's judgements of one story by all tests of a rubric."""

    rubric: Rubric
    judgements: tuple[Judgement, ...]
    """One a test, in the rubric's order."""
    cutoff: int | None
    """From which score on a test passes; None where the candidate stands alone and passes on a yes."""

    @property
    def is_alone(self) -> bool:
        """Whether the candidate was judged without a reference."""
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
        value = {self.rubric.key(TOTAL): passed(results.values())}
        for dimension in self.rubric.dimensions:
            results_of_dimension = [results[test.id] for test in self.rubric.tests if test.dimension == dimension]
            value[self.rubric.key(dimension)] = pass_share(results_of_dimension)
        return value | {self.rubric.key(test): result for test, result in results.items()}

    @cached_property
    def judged(self) -> list[Judgement]:
        """The judgements that have their verdicts."""
        return [judgement for judgement in self.judgements if judgement.is_judged]

    @property
    def disagreeing(self) -> list[Judgement]:
        """The judged judgements whose two orders name different stories."""
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
        """How many verdicts are missing, by reason."""
        return dict(Counter(fault for judgement in self.judgements for fault in judgement.faults))
