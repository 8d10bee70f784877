"""Which numbers of a log's scorers a study asks about, and which of them are scores of a feature."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from genie_inspect.logs.measures import GENIE, Bounds, keys_to_test, measure_of
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.signatures import one_signature
from genie_inspect.reports.sensitivity.pairs import LENGTH


@dataclass(frozen=True, slots=True)
class StudyKey:
    """One number that a scorer gives every text."""

    scorer: str
    name: str
    feature: str
    """Of which feature it is the score; empty where it is of the text as a whole."""
    tested: bool
    """Whether it answers its measure's question; the others are shown without tests."""
    ends: Bounds | None = None
    """Lowest and highest value that there can be, where they are known."""

    @property
    def is_length(self) -> bool:
        """Whether it is how long a text is, which every study has for reference."""
        return self.scorer == LENGTH


WORDS = StudyKey(LENGTH, "words", "", tested=True)
"""What a count of words would show of the same texts."""


def keys_of(log: ScoredLog, scorer: str, edited: Collection[str]) -> Iterator[StudyKey]:
    """A scorer's keys. Those that are named like an edited feature are scores of it; all of Genie's are of features.

    Args:
        log: A study's.
        scorer: One of its scorers.
        edited: The features that were edited.

    Raises:
        LogError: If its scores do not compare.
    """
    by_genie = measure_of(one_signature([log], scorer)) == GENIE
    names = _names(log, scorer)
    headlines = keys_to_test(log.declared(scorer), names)
    for name in names:
        feature = name if by_genie or name in edited else ""
        yield StudyKey(scorer, name, feature, bool(feature) or name in headlines, log.known_range(scorer, name))


def _names(log: ScoredLog, scorer: str) -> Sequence[str]:
    """Every key that any of the texts has, originals or not."""
    documents = (*log.documents, *log.changed)
    values = (document.scores[scorer].values for document in documents if scorer in document.scores)
    return tuple(dict.fromkeys(key for row in values for key in row))
