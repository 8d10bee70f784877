"""The scorer `litbench`: how often a preference judge prefers a document to the population's."""

from functools import partial

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import per_key

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
    much more often the story that stands first is preferred, which says how far the judge can be trusted. The judge
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
        what is kept of the other two stands in `panel_judges.protocols`.
    """
    from genie_inspect.graders.grader import bound_when_scored, refusals
    from genie_inspect.graders.quality import PreferenceJudge, preference_model, protocol_of
    from genie_inspect.options import check_count
    from genie_inspect.scorers.contest import KEYS, contest
    from genie_inspect.scorers.outcome import reference, scored
    from genie_inspect.signature import signature

    with refusals():
        if opponents is not None:
            check_count("opponents", opponents)
        opened = reference(population, "litbench")
        wording = protocol_of(protocol).wording(templates)
    judge_by = bound_when_scored(preference_model, partial(PreferenceJudge, wording=wording))

    async def score(state: TaskState, target: Target) -> Score:
        judge = judge_by()
        # how many opponents are met is part of what the number means
        drawn_from = "all" if opponents is None else str(opponents)
        facts = {
            "signature": signature(
                "litbench", version="1-A", judge=judge.signature, opponents=drawn_from, population=opened.name
            )
        }
        return await scored(state, opened, KEYS, facts, partial(contest, judge, opponents))

    return score
