"""the embedding judge: the grader reads, and how alike two answers are is told by their vectors. A screen, no verdict.

One call a document, the reading, and none for a pair: the cosine of two answers' vectors is turned into the rating that
pairs with such a cosine got, by a line that was fitted to ratings on record, feature by feature (`vector_fit.py`).
"""

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from anyio import to_thread
from pydantic import AfterValidator, Field

from genie_inspect.engines.embedders import Embedder, blindness
from genie_inspect.errors import FitError
from genie_inspect.files.json_lines import json_row
from genie_inspect.files.writing import DATA
from genie_inspect.graders.merging import Mode
from genie_inspect.graders.protocols import Answer, AskedQuestion, Judge, Rated
from genie_inspect.graders.reader import READ
from genie_inspect.measures.genie import HIGHEST, LOWEST
from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.prompting.answers import normalised
from genie_inspect.signature import digest

SHIPPED = DATA / "embedding_fit.json"
Finite = Annotated[float, Field(allow_inf_nan=False)]
Rating = Annotated[float, Field(ge=LOWEST, le=HIGHEST)]
Correlation = Annotated[float, Field(ge=-1, le=1)]


def _rising(knots: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    if any(left[0] >= right[0] or left[1] > right[1] for left, right in pairwise(knots)):
        raise ValueError("expected cosines that rise and ratings that do not fall")
    return knots


class FeatureFit(Row):
    """The line from cosine to rating for one feature, and how it ranks answers of prompts that it was not fitted to."""

    pairs: int  # rated ones that it was fitted to
    # cosine and rating at each bend
    knots: Annotated[tuple[tuple[Finite, Rating], ...], Field(min_length=1), AfterValidator(_rising)]
    answers: int  # whose novelty was compared, prompts held out and equal answers left out
    # of the answers' novelty with that by the ratings themselves; None where it is not defined
    spearman: Correlation | None
    kendall: Correlation | None  # tau-b


class VectorFit(Row):
    embedder: NonEmpty  # its identity
    population: NonEmpty  # name of the one whose answers were rated
    raters: tuple[NonEmpty, ...]  # of whose ratings the mean counts
    features: dict[NonEmpty, FeatureFit]  # one with too few pairs is absent
    pooled: FeatureFit  # over all features, for those that are absent

    @property
    def digest(self) -> str:
        return digest(self.model_dump_json())

    def rating(self, feature: str, cosine: float) -> float:
        """The rating, 1 to 4, of two answers to a question on a feature, by the cosine of their vectors."""
        from genie_inspect.statistics.descriptive import height

        return height(self.features.get(feature, self.pooled).knots, cosine)


@lru_cache(maxsize=1)
def shipped_fit() -> VectorFit:
    return read_fit(SHIPPED)


def read_fit(path: Path) -> VectorFit:
    try:
        content = path.read_bytes()
    except OSError as error:
        what = f"fit {path} cannot be read: {error.strerror or error}"
        raise FitError(f"{what}, expected what genie calibrate --fit-embedding wrote") from error
    return json_row(content, VectorFit, f"fit {path}", FitError)


def shown(value: float | None) -> str:
    return "not defined" if value is None or math.isnan(value) else f"{value:.2f}"


NO_VECTOR = "no vector"


class EmbeddingJudge:
    def __init__(self, embedder: Embedder, fit: VectorFit, features: Collection[str] = ()) -> None:
        self.embedder, self.fit = embedder, fit
        self.pooled = sorted(set(features) - fit.features.keys())

    @property
    def signature(self) -> str:
        """`embedding(<embedder's identity>,fit=<digest>,spearman=0.53,kendall=0.39)`, if needed with `pooled=a+b`."""
        known = f"spearman={shown(self.fit.pooled.spearman)},kendall={shown(self.fit.pooled.kendall)}"
        pooled = f",pooled={'+'.join(self.pooled)}" if self.pooled else ""
        return f"embedding({self.embedder.identity},fit={self.fit.digest},{known}{pooled})"

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        """Ratings on a continuous scale from 1 to 4; equal answers are 4, and what has no vector has none."""
        equal = [normalised(other.text) == normalised(answer.text) for other in others]
        texts = list(dict.fromkeys([answer.text, *(other.text for other in others)]))
        # in a thread: embedding blocks, and other samples go on meanwhile
        rows = await to_thread.run_sync(self.embedder.embed, [] if all(equal) else texts)
        vectors = {
            text: row
            for text, row in zip(texts, rows, strict=False)
            if row.any() and not blindness(self.embedder, text)
        }

        def rating(other: str) -> float | None:
            if not {answer.text, other} <= vectors.keys():
                return None
            return self.fit.rating(question.feature, float(vectors[answer.text] @ vectors[other]))

        ratings = [
            float(HIGHEST) if is_equal else rating(other.text) for other, is_equal in zip(others, equal, strict=True)
        ]
        return Rated(tuple(ratings), {place: NO_VECTOR for place, rating in enumerate(ratings) if rating is None})


def embedding_judge(embedder: Embedder, file: str = "", features: Collection[str] = ()) -> Judge:
    fit = read_fit(Path(file)) if file else shipped_fit()
    if fit.embedder != embedder.identity:
        which = f"fit {file}" if file else "the fit that ships"
        raise FitError(
            f"embedder is {embedder.name!r} ({embedder.identity}) and {which} was measured with {fit.embedder}. "
            f"Fit this embedder with genie calibrate --ratings ratings.jsonl --embedder {embedder.name} "
            "--fit-embedding fit.json, and use judge=embedding/fit.json"
        )
    return EmbeddingJudge(embedder, fit, features)


VECTORS = Mode(
    "embedding",
    embedding_judge,
    READ,  # of the grader nothing but its reading is asked, and so by that instruction
    lambda count, as_json: 0,
    asks_pairs=False,
)
