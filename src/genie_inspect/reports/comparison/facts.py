"""What stands beside a run's differences: how many documents, how long, how coherent, and why some have no score."""

import math
from collections.abc import Sequence

from genie_inspect.logs.files import LogError
from genie_inspect.logs.lengths import lengths_of
from genie_inspect.logs.measures import COHERENCE
from genie_inspect.logs.results import results_of
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.signatures import one_signature
from genie_inspect.reports.comparison.baselines import CONFORMATIVE
from genie_inspect.reports.comparison.compared import Facts
from genie_inspect.reports.comparison.selection import Selection


def unlike_coherence(runs: Sequence[ScoredLog], selection: Selection) -> str:
    """Why the runs' coherence does not compare; empty where it does.

    Raises:
        LogError: If it does not, and the selection goes by it.
    """
    try:
        one_signature(runs, COHERENCE)
    except LogError as error:
        if selection.min_coherence is not None:
            raise
        return str(error)
    return ""


def facts_of(run: ScoredLog, left_out: int, scorers: Sequence[str], *, rated: bool) -> Facts:
    """The facts of one run.

    Args:
        run: With the documents that the selection keeps.
        left_out: How many it does not.
        scorers: Those that are compared.
        rated: Whether the runs' coherence compares.
    """
    measures = {scorer: results_of(run, scorer) for scorer in scorers}
    results = measures[scorers[0]]
    lengths = lengths_of([document for document in run.documents if not document.why_unscored(scorers[0])])
    # its score has one key
    coherence = results_of(run, COHERENCE).cells.values() if rated else ()
    responses = [document.responses for document in run.documents if document.responses]
    return Facts(
        label=run.label,
        file=run.file,
        model=run.model,
        strategy=CONFORMATIVE if run.model.startswith(f"{CONFORMATIVE}/") else run.strategy,
        documents=results.documents,
        scored=results.scored,
        words=lengths.words,
        population_words=lengths.population,
        coherence=next((interval.mean for interval in coherence), math.nan),
        refusals=results.refusals,
        left_out=left_out,
        unscored=results.unscored,
        fewer_responses=(sum(parsed < wanted for parsed, wanted in responses), len(responses)),
        cut=sum(document.is_cut for document in run.documents),
        measures=measures,
    )
