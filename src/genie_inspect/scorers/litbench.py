"""The scorer `litbench`: how often a preference judge prefers a document to the population's."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import per_key

if TYPE_CHECKING:
    from genie_inspect.graders.cost import Cost
    from genie_inspect.populations.schema import Document
    from genie_inspect.scorers.assessment import Compared

NOT_JUDGED = "no pair was judged in both orders"
KEYS = ("litbench_win_rate", "litbench_order_bias")
RANGES = {"litbench_win_rate": (0, 1), "litbench_order_bias": (-1, 1)}


@scorer(
    metrics=per_key(RANGES),
    headline="litbench_win_rate",
    ranges=RANGES,
    meaning=(
        "0: never preferred to the population's documents. 1: always. Higher is liked more often: no novelty by itself."
    ),
)
def litbench(
    population: str = "starter", opponents: int | None = None, templates: str | None = None, protocol: str = "chat"
) -> Scorer:
    """Win rate of a document against the population's for its prompt, by a preference judge in both orders.

    Keys: `litbench_win_rate`, 0 (loses to all) to 1 (beats all), ties as half; `litbench_order_bias`, -1 to 1, how
    much more often the story that comes first is preferred, which says how far the judge can be trusted. The judge
    is the model in the role `preference`, else the grader.

    Args:
        population: `starter` or the folder of a population with documents.
        opponents: How many documents it meets, drawn by its text; all unless given. Two calls each.
        templates: A folder of your own instruction templates.
        protocol: How the judge is asked: `chat`, any model by our instruction; `generative` and `generative_cot`,
            weights trained as LitBench's GenRM and GenRM-CoT, in their form: the verdict alone, or after reasoning.

    Raises:
        RefusedError: If the population cannot be opened or has only answers, opponents is below 1, or there is no such
            protocol.

    Source: LitBench (Fein et al. 2025, arXiv 2507.00769). Deviation: win rate against a population; `chat` is ours, and
        what is kept of the other two is in `panel_judges.protocols`.
    """
    from genie_inspect.errors import check_count
    from genie_inspect.graders.grader import bound_when_scored, gathered, refusals
    from genie_inspect.graders.quality import PreferenceJudge, preference_model, protocol_of
    from genie_inspect.inspect_private import unlogged
    from genie_inspect.measures.likert import order_bias, win_rate
    from genie_inspect.scorers.outcome import Measurement, reference, scored
    from genie_inspect.signature import digest, signature

    with refusals():
        if opponents is not None:
            check_count("opponents", opponents)
        opened = reference(population, "litbench")
        chosen = protocol_of(protocol)
        template = chosen.instruction.template(templates)
    judge_by = bound_when_scored(preference_model, partial(PreferenceJudge, protocol=chosen, template=template))

    async def score(state: TaskState, target: Target) -> Score:
        judge = judge_by()
        # how many opponents are met is part of what the number means
        drawn_from = "all" if opponents is None else str(opponents)
        facts = {
            "signature": signature(
                "litbench", version="1-A", judge=judge.signature, opponents=drawn_from, population=opened.name
            )
        }

        async def contest(text: str, prompt: str, others: "Compared") -> Measurement:
            """How a text fares against the documents, each met in both orders."""
            met: Sequence[Document] = others.documents
            if opponents is not None and opponents < len(met):
                # seeded by the text: a rerun meets the same opponents, and other texts meet others
                met = random.Random(digest(text)).sample(met, opponents)  # noqa: S311  # no secret
            orders = [(text, document.text) for document in met] + [(document.text, text) for document in met]
            # each call holds two whole stories: a hundred of them would be a log of megabytes
            with unlogged():
                verdicts = await gathered(*(judge.verdict(prompt, first, second) for first, second in orders))
            pairs = [
                (document, first, second)
                for document, first, second in zip(met, verdicts[: len(met)], verdicts[len(met) :], strict=True)
                # a pair judged in one order alone would bring the judge's preference for a place into the win rate
                if first is not None and second is not None
            ]
            both = [first for _, first, _ in pairs], [second for _, _, second in pairs]
            rate, bias = win_rate(*both), order_bias(*both)
            value = {"litbench_win_rate": rate, "litbench_order_bias": bias}
            missing = len(met) - len(pairs)
            metadata = {
                "compared": len(pairs),
                "unreadable": missing,
                # in both orders: a loss in one may be the place's
                "lost_to": [document.id for document, first, second in pairs if first == 0 and second == 1],
            }
            if not pairs:
                return Measurement(value, f"Not measured: {NOT_JUDGED}.", metadata, reason=NOT_JUDGED)
            notes = (
                f"Win rate {rate:.2f} against {len(pairs)} documents, each in both orders; order bias {bias:+.2f} "
                "(0 = none, 1 = always the story that comes first)."
            )
            if missing:
                notes += f" {missing} more were not judged in both orders: unreadable replies."
            return Measurement(value, notes, metadata)

        return await scored(state, opened, KEYS, facts, contest)

    return score


def cost(pricing: "Callable[[str, float], Cost]", prompt: str, lengths: Sequence[int], count: int) -> "Cost":
    """What the judge is asked of new documents of mean length, each with all of the population's in both orders."""
    return pricing(prompt, 2 * fmean(lengths)) * (2 * len(lengths) * count)
