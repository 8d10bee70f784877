"""How a text fares against the documents of its prompt before a preference judge: the scorer `litbench`."""

import math
import random
from collections.abc import Mapping, Sequence
from statistics import fmean

from genie_inspect.graders.cost import Cost, tokens
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.quality import PreferenceJudge, Wording, preference_cost
from genie_inspect.inspect_private import unlogged
from genie_inspect.measures.likert import order_bias, win_rate
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document
from genie_inspect.scorers.assessment import Compared
from genie_inspect.scorers.outcome import Measurement
from genie_inspect.signature import digest

NOT_JUDGED = "no pair was judged in both orders"
KEYS = ("litbench_win_rate", "litbench_order_bias")


async def contest(
    judge: PreferenceJudge, opponents: int | None, text: str, prompt: str, others: Compared
) -> Measurement:
    """How a text fares against the documents, each met in both orders."""
    met = drawn(others.documents, opponents, text)
    orders = [(text, document.text) for document in met] + [(document.text, text) for document in met]
    # each call holds two whole stories: a hundred of them would be a log of megabytes
    with unlogged():
        verdicts = await gathered(*(judge.verdict(prompt, first, second) for first, second in orders))
    return measurement(met, verdicts[: len(met)], verdicts[len(met) :])


def cost(wording: Wording, population: Population, documents: Mapping[str, int]) -> Cost:
    """What the judge is asked of new documents that meet all of the population's."""
    total = Cost()
    for prompt, count in documents.items():
        lengths = [tokens(document.text) for document in population.documents(prompt)]
        # each opponent in both orders, beside a document of mean length
        verdict = preference_cost(wording, prompt, 2 * fmean(lengths)) if lengths else Cost()
        total += verdict * (2 * len(lengths) * count)
    return total


def drawn(documents: Sequence[Document], most: int | None, text: str) -> Sequence[Document]:
    """So many of the documents, by a seed drawn from the text; all when there are no more."""
    if most is None or most >= len(documents):
        return documents
    # seeded by the text: a rerun meets the same opponents, and other texts meet others
    return random.Random(digest(text)).sample(documents, most)  # noqa: S311  # no secret


def measurement(
    met: Sequence[Document], shown_first: Sequence[float | None], shown_second: Sequence[float | None]
) -> Measurement:
    """Win rate and order bias over the opponents that were judged in both orders."""
    pairs = [
        (document, first, second)
        for document, first, second in zip(met, shown_first, shown_second, strict=True)
        # a pair judged in one order alone would bring the judge's preference for a place into the win rate
        if first is not None and second is not None
    ]
    firsts, seconds = [first for _, first, _ in pairs], [second for _, _, second in pairs]
    value = {"litbench_win_rate": win_rate(firsts, seconds), "litbench_order_bias": order_bias(firsts, seconds)}
    missing = len(met) - len(pairs)
    metadata = {
        "compared": len(pairs),
        "unreadable": missing,
        # in both orders: a loss in one may be the place's
        "lost_to": [document.id for document, first, second in pairs if first == 0 and second == 1],
    }
    if math.isnan(value["litbench_win_rate"]):
        return Measurement(value, f"Not measured: {NOT_JUDGED}.", metadata, reason=NOT_JUDGED)
    notes = (
        f"Win rate {value['litbench_win_rate']:.2f} against {len(pairs)} documents, each in both orders; order bias "
    )
    notes += f"{value['litbench_order_bias']:+.2f} (0 = none, 1 = always the story that stands first)."
    if missing:
        notes += f" {missing} more were not judged in both orders: unreadable replies."
    return Measurement(value, notes, metadata)
