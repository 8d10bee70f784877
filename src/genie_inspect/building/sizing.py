"""How many documents a population needs, from the spread of similarities that was measured."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from genie_inspect.errors import GenieError
from genie_inspect.logs.evidence import together
from genie_inspect.logs.reading import read_logs
from genie_inspect.logs.signatures import one_signature
from genie_inspect.statistics.descriptive.spread import Spread
from genie_inspect.statistics.power import minimum_population

SCORER = "genie"


class SizeError(GenieError):
    """No spread of similarities can be had from what was named; the message says what would work."""


@dataclass(frozen=True, slots=True)
class FeatureSize:
    """The spread of one feature, and the documents that it asks for."""

    feature: str
    variance: float
    sd: float
    """Of similarities, 0 to 1, within questions; NaN where no question has two."""
    degrees: int
    """Of freedom: the similarities that it was measured on, less the answers that were compared."""
    needed: int | None
    """Answers to a question that bring the margin; None without a spread."""


def sizes(spreads: Mapping[str, Spread], margin: float, confidence: float) -> list[FeatureSize]:
    """A row a feature, from standard deviations that are not rounded.

    Args:
        spreads: By feature.
        margin: Half width of the two-sided interval of a question's mean similarity, above 0.
        confidence: Of that interval, between 0 and 1.

    Raises:
        ValueError: If one of the two is out of range.

    Source: Genie (arXiv 2606.12790), table 6. It does not say over what the variance is taken: here over the
    similarities of one answer to the population's, pooled over answers and questions, which is what the margin is of.
    """
    return [
        FeatureSize(
            feature,
            spread.variance,
            spread.sd,
            spread.degrees,
            None if math.isnan(spread.sd) else minimum_population(spread.sd, margin, confidence),
        )
        for feature, spread in spreads.items()
    ]


def logged_spreads(paths: Iterable[str], signature: str = "") -> tuple[dict[str, Spread], str]:
    """The spread by feature in scores by `genie`, over all documents of the logs; and their signature.

    Args:
        paths: Log files or folders.
        signature: Only logs with a score under a signature that holds these words.

    Raises:
        SizeError: If no score says how far its similarities lie apart.
        LogError: If a log cannot be read, or their signatures differ.
    """
    logs = read_logs(paths, signature=signature)
    found = one_signature(logs, SCORER)
    parts = [
        document.scores[SCORER].evidence for log in logs for document in log.documents if SCORER in document.scores
    ]
    spreads = dict(together(parts).spread)
    if not spreads:
        raise SizeError(
            f"{', '.join(log.file for log in logs[:3])}: no score by {SCORER} says how far similarities lie apart; "
            "score again: inspect score LOG --scorer genie_inspect/genie"
        )
    return spreads, found
