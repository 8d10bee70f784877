"""What a population's yardstick will ask the grader: each document's answers rated against those of the others.

Counted as for new documents (see `estimate`), and here nothing is drawn: the answers are those on record. What nobody
has read counts as an answer of its own, of usual length.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add

from genie_inspect.asking.cost import tokens
from genie_inspect.costs.estimate import Known, TaskCost, counted_answer, most_read, request_tokens, task_cost
from genie_inspect.costs.request_tokens import RequestTokens
from genie_inspect.judges.instrument import Instrument
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Question


def yardstick_cost(population: Population, instrument: Instrument, known: Known | None = None) -> TaskCost:
    """What it costs to compare each document of a population with the others.

    Args:
        population: Whose documents.
        instrument: One whose judge asks a grader.
        known: Who reads and judges, to look up what they have said before.
    """
    known = known or Known()
    costs, record = request_tokens(population, instrument, known), most_read(population, known.reader)
    nothing_new = dict.fromkeys(population.prompts, 0)
    total = task_cost(population, nothing_new, instrument, known)  # what is left to read
    for prompt in population.prompts:
        documents = population.documents(prompt)
        total = replace(total, documents=total.documents + len(documents))
        for question in population.questions(prompt):
            answers = [counted_answer(record, document, question) for document in documents]
            given = [answer for answer in answers if answer is not None]
            total += _rating(question, given, instrument.judge, costs, known)
    return total


def _rating(
    question: Question, given: Sequence[tuple[str, int]], mode: str, costs: RequestTokens, known: Known
) -> TaskCost:
    """What it costs to rate the answers to one question against each other.

    Args:
        question: The question.
        given: One a document: as it counts for equality, and its tokens.
        mode: The judge's.
        costs: Of requests.
        known: Who judges.
    """
    counts, lengths, asked = Counter(key for key, _ in given), dict(given), tokens(question.text)
    parts = []
    for target, count in counts.items():
        rated = known.rated(question.text, target)
        # of a document's own answer only what others gave too is compared with it
        others = [key for key in counts if (key != target or count > 1) and key not in rated]
        # what is not kept is judged for each document anew
        times = 1 if known.keeps else count
        cost = costs.rating(mode, asked, lengths[target], [lengths[key] for key in others])
        parts.append(TaskCost(judged=len(others) * times, rating=cost * times))
    return reduce(add, parts, TaskCost(pairs=len(given) * (len(given) - 1)))
