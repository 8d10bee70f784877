"""The scorer `genie`: novelty by feature against a population."""

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.measures.genie import MIN_COVERAGE
from genie_inspect.scorers.stderr import per_key

# of stories the plot comes first, and so is the headline: a mean over features would hide what is measured here
RANGES = {"plot": (0, 1), "*": (0, 1)}


@scorer(
    metrics=per_key(RANGES),
    headline="*",  # every feature is a question of its own
    ranges=RANGES,
    meaning=(
        "0: the population's documents give the same answers. 1: none of them answers anything like it. Higher is more "
        "unlike the population, which is not the same as better."
    ),
)
def genie(
    population: str = "starter",
    judge: str = "list",
    embedder: str = "static",
    templates: str | None = None,
    cache: bool = True,
    min_coverage: float = MIN_COVERAGE,
    answer_length: str = "concise",
) -> Scorer:
    """Novelty of a document along each feature of a population, 0 (as the others) to 1 (unlike all of them).

    Keys are the population's features (agent, perspective, plot, setting, social_atmosphere, style in the starter
    population); NaN where nothing could be measured.

    Args:
        population: `starter` or the folder of a population.
        judge: `list` (50 answers a call; `list/10`: 10), `pairwise`, `logit` (all ask the grader role), `vectors`
            (the grader reads, vectors judge: a screen, no verdict; `vectors/<file>` names a fit by `genie
            calibrate`) or `embedded` (no model: a smoke test).
        embedder: For `vectors` and `embedded`: static, openai/<model> or sentence-transformers/<id or folder>.
        templates: A folder of your own instruction templates.
        cache: Whether answers and ratings that a model once gave are looked up and kept; false asks anew.
        min_coverage: Least share of a question's ratings, of those due, with which it is used: 0 (one will do) to 1.
        answer_length: How long the reader's answers are: `concise`, `sentence` or `free`. Longer answers make other
            levels, and scores of two lengths do not compare (`genie lengths` holds them side by side on purpose).

    Raises:
        RefusedError: If the population cannot be opened or has only documents, or an option has a value that is not
            accepted.

    Source: Genie (arXiv 2606.12790). Deviations: the list judge rates many answers in one call (`judge=pairwise` is the
    study's own protocol), and a question of whose ratings more than half were lost is not used.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.graders.instrument import Instrument
    from genie_inspect.scorers.feature_measure import FeatureMeasure, suited

    with refusals():
        instrument = Instrument(judge, embedder, templates, cache, min_coverage, answer_length)
        measure = FeatureMeasure(suited(population, instrument), instrument)

    async def score(state: TaskState, target: Target) -> Score:
        return await measure.score(state)

    return score
