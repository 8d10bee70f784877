"""Which of a prompt's documents join the population."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from genie_inspect.asking.gathering import gathered
from genie_inspect.building.cleaning import Cleaner
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.panel_judges.coherence import CoherenceRater
from genie_inspect.populations.intake.sampling import stratified
from genie_inspect.populations.intake.shingles import NearDuplicates
from genie_inspect.populations.schema import Document

Filter = Callable[[Sequence[Document]], Awaitable[list[Document]]]
"""Given documents of one prompt, returns those that may join the population."""
RATED, UNRATED = "coherence asked for", "coherence could not be rated, kept"


@dataclass(frozen=True, slots=True)
class Chooser:
    """Takes a seeded sample of a prompt's documents, every model as equally as can be.

    Args:
        size: Most documents a prompt.
        seed: Which ones.
        near_duplicates: Similarity of shingles from which a document repeats another; see NearDuplicates.
        rater: Rates coherence; None takes every text for coherent.
    """

    size: int
    seed: int
    near_duplicates: float
    rater: CoherenceRater | None = None
    least: float = 0.0
    """Coherence from which a document joins, on the rater's own scale."""
    cleaner: Cleaner | None = None
    """Cuts documents where they fall apart; None leaves them whole."""

    async def choose(self, documents: Sequence[Document], counts: Counter[str], attempts: Filter) -> list[Document]:
        """The documents that join, in the order of the sample; what does not is counted by reason.

        No more documents are cleaned, rated for coherence and read than are needed to fill the sample.

        Args:
            documents: All of one prompt.
            counts: Where reasons are counted.
            attempts: Reads coherent documents and leaves out those that are no attempt at the task.

        Raises:
            GraderFailedError: If the model behind the rater or the reader cannot be reached.
        """
        # before the sample is drawn: a near-duplicate must not take a place in it
        seen, seen_cut = NearDuplicates(self.near_duplicates), NearDuplicates(self.near_duplicates)
        distinct = [document for document in documents if seen.twin(document.text) is None]
        counts["near-duplicate"] += len(documents) - len(distinct)
        prompt = documents[0].prompt if documents else ""
        waiting = stratified(distinct, lambda document: document.model, self.seed, prompt)
        chosen: list[Document] = []
        # only as many as are still wanted: rating and reading cost calls
        while waiting and len(chosen) < self.size:
            missing = self.size - len(chosen)
            whole = await self._cleaned(waiting[:missing], counts, seen_cut)
            chosen += await attempts(await self._coherent(whole, counts))
            waiting = waiting[missing:]
        counts["not sampled"] += len(waiting)
        return chosen

    async def _cleaned(
        self, documents: Sequence[Document], counts: Counter[str], seen: NearDuplicates
    ) -> list[Document]:
        """The documents up to where they fall apart; without their broken ends two may be nearly the same."""
        if self.cleaner is None:
            return list(documents)
        cleaned = await self.cleaner.cleaned(documents, counts)
        distinct = [document for document in cleaned if seen.twin(document.text) is None]
        counts["near-duplicate"] += len(cleaned) - len(distinct)
        return distinct

    async def _coherent(self, documents: Sequence[Document], counts: Counter[str]) -> list[Document]:
        if self.rater is None:
            return list(documents)
        ratings = await gathered(*(_rating(self.rater, document) for document in documents))
        # what could not be rated joins, and is counted: a rater's fault is not the document's
        is_coherent = [rating is None or rating >= self.least for rating in ratings]
        counts["incoherent"] += is_coherent.count(False)
        counts[UNRATED] += ratings.count(None)
        counts[RATED] += len(ratings)
        return [document for document, joins in zip(documents, is_coherent, strict=True) if joins]


async def _rating(rater: CoherenceRater, document: Document) -> float | None:
    """The document's coherence; None where the replies could not be read."""
    try:
        return await rater.rate(document.prompt, document.text)
    except UnreadableReplyError:
        return None
