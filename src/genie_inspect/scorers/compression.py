"""The scorer `compression`: how much a document adds to a population that is compressed together with it."""

import math
from typing import TYPE_CHECKING

from anyio import to_thread
from inspect_ai.scorer import Metric, SampleScore, Scorer, metric, scorer

from genie_inspect.scorers.stderr import originals, per_key

if TYPE_CHECKING:
    from genie_inspect.scorers.assessment import Compared
    from genie_inspect.scorers.outcome import Measurement

KEYS = ("compression_novelty",)
ALONE = "what one document adds to the others needs two documents in the population"


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

    The metric `compression_ratio` is beside it: the ratio of all generations of the run under gzip.

    Args:
        population: `starter` or the folder of a population with documents, which are taken in the order of their ids.
        codec: `gzip` (level 9; sees the last 32 KB, some ten stories), `xz` or `zstd` (see the whole population).

    Raises:
        RefusedError: If the population cannot be opened or has only answers, or the codec is unknown.

    Source: Shaib et al. 2024 (arXiv 2403.00553). Deviation: compressed once; see measures.compression.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.measures.compression import CompressedMembers, codec_version
    from genie_inspect.scorers.outcome import Measurement, Warm, nothing, panel_scorer, reference
    from genie_inspect.signature import signature

    with refusals():
        opened = reference(population, "compression")
        version = codec_version(codec)
    facts = {"signature": signature("compression", version="2-A", codec=version, population=opened.name)}
    warm: Warm[CompressedMembers] = Warm()

    async def added(text: str, prompt: str, others: "Compared") -> "Measurement":
        # a population document that is scored is compared with the others alone: another population
        texts = [document.text for document in others.documents]
        compressed = await warm.get(
            (prompt, others.left_out), lambda: to_thread.run_sync(CompressedMembers, texts, codec)
        )
        if math.isnan(compressed.members):
            return nothing(ALONE)
        falls_by = await to_thread.run_sync(compressed.added, text)
        return Measurement(
            {"compression_novelty": falls_by - compressed.members},
            f"The compression ratio ({codec}) falls by {falls_by:.4f} with the document in the place of one of the "
            f"population's, and by {compressed.members:.4f} with that one itself (means over those that make way).",
            {"added": falls_by, "members": compressed.members},
        )

    return panel_scorer(opened, KEYS, facts, added)
