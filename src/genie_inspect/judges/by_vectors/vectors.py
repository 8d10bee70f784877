"""The vectors judge: the grader reads, and how alike two answers are is told by their vectors. A screen, no verdict.

One call a document, the reading, and none for a pair: the cosine of two answers' vectors is turned into the rating that
pairs with such a cosine got, by a line that was fitted to ratings on record, feature by feature (`vector_fit.py`).
"""

from collections.abc import Collection, Sequence

from anyio import to_thread
from inspect_ai.model import Model

from genie_inspect.engines.embedders.choices import Embedder, blindness
from genie_inspect.engines.embedders.choices import embedder as chosen_embedder
from genie_inspect.judges.by_vectors.vector_fit import VectorFit, fit_for, shown
from genie_inspect.judges.grader_reader import READ
from genie_inspect.judges.merging import RatingMemo
from genie_inspect.judges.modes import Mode
from genie_inspect.judges.protocols import Answer, AskedQuestion, Judge, Rated
from genie_inspect.measures.genie import HIGHEST
from genie_inspect.prompting.answers import normalised
from genie_inspect.prompting.templates import Template

NO_VECTOR = "no vector"


class VectorsJudge:
    """Rates two answers by the cosine of their vectors.

    Args:
        embedder: Whose vectors.
        fit: What a cosine is worth, for this embedder.
        features: Those that will be asked about; the signature names the ones that the fit does not know.
    """

    def __init__(self, embedder: Embedder, fit: VectorFit, features: Collection[str] = ()) -> None:
        self.embedder = embedder
        self.fit = fit
        self.pooled = sorted(set(features) - fit.features.keys())

    @property
    def signature(self) -> str:
        """`vectors(<embedder's identity>,fit=<digest>,spearman=0.53,kendall=0.39)`, `pooled=a+b` where there are any.

        The two figures are over all features, prompts held out; `pooled` has the features without a fit of their own.
        """
        known = f"spearman={shown(self.fit.pooled.spearman)},kendall={shown(self.fit.pooled.kendall)}"
        pooled = f",pooled={'+'.join(self.pooled)}" if self.pooled else ""
        return f"vectors({self.embedder.identity},fit={self.fit.digest},{known}{pooled})"

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        """One rating an other answer, on a continuous scale from 1 to 4; equal answers are 4, whatever their vectors.

        An answer that holds little that the embedder knows has no vector, and its pairs no rating.

        Raises:
            EngineFailedError: If the embedder cannot be reached.
        """
        equal = [normalised(other.text) == normalised(answer.text) for other in others]
        texts = list(dict.fromkeys([answer.text, *(other.text for other in others)]))
        # in a thread: embedding blocks, and other samples go on meanwhile
        rows = await to_thread.run_sync(self.embedder.embed, [] if all(equal) else texts)
        vectors = dict(zip(texts, rows, strict=False))
        ratings: list[float | None] = []
        for other, is_equal in zip(others, equal, strict=True):
            if is_equal:
                ratings.append(float(HIGHEST))
            elif all(vectors[text].any() and not blindness(self.embedder, text) for text in (answer.text, other.text)):
                ratings.append(self.fit.rating(question.feature, float(vectors[answer.text] @ vectors[other.text])))
            else:
                ratings.append(None)
        return Rated(tuple(ratings), {place: NO_VECTOR for place, rating in enumerate(ratings) if rating is None})


def vectors_judge(embedder: Embedder, file: str = "", features: Collection[str] = ()) -> Judge:
    """The judge by an embedder and its fit.

    Args:
        embedder: Whose vectors.
        file: The embedder's fit; empty: the one that ships.
        features: As for `VectorsJudge`.

    Raises:
        FitError: If the fit cannot be read, or was measured with another embedder.
    """
    return VectorsJudge(embedder, fit_for(embedder, file), features)


def _plain(model: Model, template: Template, memo: RatingMemo) -> Judge:
    return vectors_judge(chosen_embedder())


# of the grader nothing but its reading is asked, and so by that instruction
VECTORS = Mode("vectors", _plain, READ, lambda count, as_json: 0, by_vectors=vectors_judge)
