"""What a population holds, counted prompt by prompt: for its card, for `check` and for `show`."""

import math
import statistics
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from genie_inspect.populations.population import Population
from genie_inspect.prompting.texts import refuses
from genie_inspect.scripts import words
from genie_inspect.statistics.effect import margin, minimum_population

SIZE = 5  # words: five in a row are seldom shared by chance
THRESHOLD = 0.8


def shingles(text: str, size: int = SIZE) -> "array[int]":
    """Sorted numbers that stand for the distinct runs of `size` words; a shorter text is one run.

    The numbers differ from process to process; what is equal does not.
    """
    found = words(text.casefold())
    # numbers take a fraction of the memory of words
    runs = {hash(tuple(found[start : start + size])) for start in range(max(1, len(found) - size + 1))}
    return array("q", sorted(runs))


class NearDuplicates:
    """Finds for each text of a group an earlier one that it nearly repeats.

    The threshold is the Jaccard similarity of shingles from which they are near-duplicates, above 0 and at most 1.

    >>> seen = NearDuplicates()
    >>> [seen.twin(text) for text in ("It was late and she slept.", "A ship.", "it was late, and she slept")]
    [None, None, 0]
    """

    def __init__(self, threshold: float = THRESHOLD, size: int = SIZE) -> None:
        self.threshold = threshold
        self.size = size
        self._shingles: dict[int, array[int]] = {}
        self._numbers_with: defaultdict[int, list[int]] = defaultdict(list)
        self._count = 0

    def twin(self, text: str) -> int | None:
        """Number, from 0, of the first earlier text that this one nearly repeats; None, and kept, if there is none."""
        runs = shingles(text, self.size)
        number, self._count = self._count, self._count + 1
        prefix = runs[: len(runs) - math.ceil(self.threshold * len(runs)) + 1]
        for candidate in sorted({earlier for shingle in prefix for earlier in self._numbers_with.get(shingle, ())}):
            other = self._shingles[candidate]
            shortest, longest = sorted((len(runs), len(other)))
            # sets whose sizes differ more than that cannot be so alike
            if shortest >= self.threshold * longest:
                shared = len(set(runs).intersection(other))
                if shared / (shortest + longest - shared) >= self.threshold:
                    return candidate
        self._shingles[number] = runs
        for shingle in prefix:
            self._numbers_with[shingle].append(number)
        return None


SPREAD = 0.28  # of the similarities to one document; the study found 0.26 to 0.30 by feature (arXiv 2606.12790)
MARGIN, CONFIDENCE = 0.1, 0.98


@dataclass(slots=True)
class Survey:
    """The counts; everything is over the whole population."""

    documents_of: Counter[str] = field(default_factory=Counter)  # by model
    documents_by_prompt: "array[int]" = field(default_factory=lambda: array("l"))
    words: "array[int]" = field(default_factory=lambda: array("l"))
    cut_words: "array[int]" = field(default_factory=lambda: array("l"))  # of each document that a model has cut
    questions_of: Counter[str] = field(default_factory=Counter)  # by feature
    prompts_with: Counter[str] = field(default_factory=Counter)  # prompts that have a question, by feature
    answered: Counter[str] = field(default_factory=Counter)  # answers by reader that say something
    unspecified: Counter[str] = field(default_factory=Counter)  # answers by reader that say that the document does not
    expected_answers: int = 0  # that one reader gives when it reads everything
    refusals: list[str] = field(default_factory=list)  # ids of documents that are refusals in words
    near_duplicates: int = 0
    # by feature, for each question: documents that answer it, documents that could
    answering: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def power(self, feature: str, spread: float = SPREAD) -> tuple[int, float, int | None]:
        """How precise the novelty of one question of a feature is.

        The median, over the feature's questions, of the documents that answer it; the half width of the 98% interval
        at that number, NaN for none; and the documents a prompt for a half width of 0.1, None where none answers.
        """
        pairs = self.answering.get(feature, [])
        answering = int(statistics.median([answer for answer, _ in pairs])) if pairs else 0
        if not answering:
            return 0, math.nan, None
        # a question that only some documents answer needs more documents for as many answers
        share = sum(answer for answer, _ in pairs) / sum(possible for _, possible in pairs)
        needed = math.ceil(minimum_population(spread, MARGIN, CONFIDENCE) / share)
        return answering, margin(spread, answering, CONFIDENCE), needed


def survey(population: Population, done: Callable[[int], None] = lambda _: None) -> Survey:
    totals = Survey()
    for number, prompt in enumerate(population.prompts, start=1):
        documents, questions = population.documents(prompt), population.questions(prompt)
        totals.documents_by_prompt.append(len(documents))
        seen = NearDuplicates()
        for document in documents:
            totals.documents_of[document.model] += 1
            totals.words.append(len(document.text.split()))
            if document.cut_words is not None:
                totals.cut_words.append(document.cut_words)
            if refuses(document.text):
                totals.refusals.append(document.id)
            totals.near_duplicates += seen.twin(document.text) is not None
        totals.questions_of.update(question.feature for question in questions)
        totals.prompts_with.update({question.feature for question in questions})
        by_reader = {reader: population.answers(reader, prompt) for reader in population.readers}
        for reader, answers in by_reader.items():
            count = sum(text is not None for text in answers.values())
            totals.answered[reader] += count
            totals.unspecified[reader] += len(answers) - count
        # the reader that read most says best how many documents answer
        fullest = max(by_reader.values(), key=len, default={})
        possible = len({document for document, _ in fullest} if population.answers_alone else documents)
        totals.expected_answers += possible * len(questions)
        saying = Counter(question for (_, question), text in fullest.items() if text is not None)
        for question in questions:
            # where nobody has read the documents yet, all of them may answer
            answering = saying[question.id] if fullest else possible
            totals.answering.setdefault(question.feature, []).append((answering, possible))
        done(number)
    return totals
