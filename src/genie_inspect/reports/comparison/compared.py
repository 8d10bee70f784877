"""What a comparison is asked for and what it holds: options, facts of runs, a row a key."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from genie_inspect.logs.evidence import NO_SHARE, Share
from genie_inspect.logs.results import Results
from genie_inspect.reports.comparison.pairing import Pairs
from genie_inspect.reports.comparison.selection import Selection
from genie_inspect.statistics.paired.differences import Finding

FAMILIES = {"all": "the tests of all runs", "run": "the tests of each run"}
"""Which tests of one measure are corrected together: where any of the runs may differ, or where each is a question."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a comparison: scorers, correction, margin, selection of documents, equivalence test."""

    scorers: tuple[str, ...] = ()
    """Scorers by name; empty takes all that every log has."""
    correction: str = "holm"
    margin: float | None = None
    selection: Selection = field(default_factory=Selection)
    equivalence: str = "t"
    """Method of `tost`."""
    signature: str = ""
    """Only logs with a score under a signature that holds these words are compared."""
    keys: tuple[str, ...] = ()
    """Keys that are tested, named before anybody looked; empty takes each measure's headline."""
    family: str = "all"
    """A key of FAMILIES."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts and means of one run beside its differences, over the documents that the selection keeps."""

    label: str
    file: str
    model: str
    strategy: str
    """The solvers that wrote; `conformative` where two models decoded as one, which no solver does."""
    documents: int
    scored: int
    """By the first scorer."""
    words: float
    """Mean over the scored documents, as is the next; NaN without any."""
    population_words: float
    coherence: float
    """Mean over prompts; NaN where it was not rated, or not in one way in all runs."""
    refusals: int
    left_out: int
    """By the selection."""
    unscored: Mapping[str, int]
    """By reason."""
    fewer_responses: Share
    """Samples that gave fewer responses than were asked for in one reply, and samples that were asked for several."""
    cut: int
    """Documents that end at the limit of their tokens."""
    measures: Mapping[str, Results]
    """By scorer: what a summary says of the run. Its means are over all prompts of the run, those of a difference over
    the prompts that both runs have."""


@dataclass(frozen=True, slots=True)
class Row:
    """One key of one run against its baseline."""

    run: str
    baseline: str
    scorer: str
    key: str
    tested: bool
    """Whether it is tested; else it is shown without a p-value."""
    paired_by: str
    prompts: int
    """That either run was given: those of them with a score on both sides are the pairs."""
    instances: int | None
    """Pairs of documents behind the pairs of prompts, where it is paired by instance."""
    coverage: tuple[Share, Share]
    """Questions used and asked, over the paired documents: the baseline's, the run's."""
    ratings: tuple[Share, Share]
    """Ratings that count and those that were due, likewise."""
    finding: Finding
    is_unit: bool
    """Whether its values lie from 0 to 1."""
    questions: Share = NO_SHARE
    """Questions that both sides answered, prompt by prompt, over which its means are, and those that were asked; 0 of 0
    where it is not over questions."""
    family: str = ""
    """The run with whose tests alone it is corrected; empty where it is with those of all runs."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that was compared."""

    options: Options
    named: str
    """What the baseline was called."""
    baselines: tuple[str, ...]
    """Their labels."""
    signatures: dict[str, str]
    """By scorer."""
    runs: tuple[Facts, ...]
    rows: tuple[Row, ...]
    pairs: Mapping[str, Pairs]
    """By run: the scores that its rows are made of."""
    base_of: Mapping[str, str]
    """By run: its baseline."""
    strays: dict[str, int]
    """By run: documents that were written after one that the baseline lacks, so that prompts are paired."""
    unmatched: tuple[str, ...]
    """Scorers that compare with population documents of every length, although lengths were to be matched."""
    unlike_coherence: str
    """Why the runs' coherence does not compare; empty where it does."""

    def called(self, *baselines: str) -> str:
        """Baselines by the name that was typed, with their labels where these are others."""
        labels = " and ".join(baselines)
        return labels if self.named in labels else f"{self.named} ({labels})"
