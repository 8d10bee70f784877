"""The scorer `compression`: how much a document adds to a population that is compressed together with it."""

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import originals, per_key


@metric(scores="unreduced")
def compression_ratio(codec: str = "gzip") -> Metric:
    """Compression ratio of all generations of a run together, in the order of their texts; higher = more redundant.

    Args:
        codec: gzip, xz or zstd.
    """

    def ratio(scores: list[SampleScore]) -> float:
        # here and not outside: the scorer's decorator makes the metric when it is registered
        from genie_inspect.measures import compression as measures

        # sorted: samples finish in any order, and a compressor's ratio depends on it
        texts = sorted(score.score.answer or "" for score in originals(scores))
        return measures.compression_ratio(texts, codec)

    return ratio


@scorer(
    metrics=[per_key({}), compression_ratio()],
    headline="compression_novelty",
    meaning=(
        "0: it adds as much to the population as one of the population's own documents does. Above 0: it adds more. "
        "Higher is more that is new."
    ),
)
def compression(population: str = "starter", codec: str = "gzip") -> Scorer:
    """How much more a document adds to the population for a prompt than one of the population's own documents does.

    Key: `compression_novelty`, 0 = as much as one of them; higher = more that is new. One document of the population
    after another makes way (8 at most). The value is what the compression ratio falls by with the new document in its
    place, less what it falls by with the one that made way, as means; the metadata has both, as `added` and `members`.
    A population of one document gives no score. Values spread less the more documents there are (the starter's stories
    under gzip: standard deviation 0.04 against two, 0.007 against 22): compare within one population.

    Beside it stands the metric `compression_ratio`, the ratio of all generations of the run under gzip.

    Args:
        population: `starter` or the folder of a population with documents, which are taken in the order of their ids.
        codec: `gzip` (level 9; sees the last 32 KB, some ten stories), `xz` or `zstd` (see the whole population).

    Raises:
        RefusedError: If the population cannot be opened or has only answers, or the codec is unknown.

    Source: Shaib et al. 2024 (arXiv 2403.00553). Deviation: compressed once; see measures.compression.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.measures.compression import codec_version
    from genie_inspect.scorers.added_information import KEYS, Added
    from genie_inspect.scorers.outcome import reference, scored
    from genie_inspect.signature import signature

    with refusals():
        opened = reference(population, "compression")
        version = codec_version(codec)
    facts = {"signature": signature("compression", version="2-A", codec=version, population=opened.name)}
    measure = Added(codec)

    async def score(state: TaskState, target: Target) -> Score:
        return await scored(state, opened, KEYS, facts, measure)

    return score
