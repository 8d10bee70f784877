"""The Torrance Test of Creative Writing against reference stories."""

from typing import TYPE_CHECKING

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import HeadlineMetric
from inspect_ai.solver import generate

if TYPE_CHECKING:
    from genie_inspect.graders.rubrics import Analyse


@task
def ttcw(
    stories: str = "bundled",
    rubric: str = "ttcw",
    levels: int = 5,
    cutoff: int | None = None,
    analyse: "Analyse" = True,
    reference: bool = True,
    words: int | None = None,
    templates: str | None = None,
    cache: bool = True,
) -> Task:
    """Stories from one-sentence plots, each held against the fine story that the plot was drawn from.

    Args:
        stories: `bundled` (two short stories of ours), a local JSON Lines file (title, plot, story; without a plot the
            grader draws it), or a hub id.
        rubric: As for the scorer `ttcw`.
        levels: As for the scorer `ttcw`.
        cutoff: As for the scorer `ttcw`.
        analyse: As for the scorer `ttcw`.
        reference: As for the scorer `ttcw`; without a reference, plots are enough.
        words: How long the stories should be; the reference's own length unless given.
        templates: A folder of your own instruction templates.
        cache: As for the scorer `ttcw`.

    Raises:
        RefusedError: If an option or a file cannot be used; before anything is generated.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.graders.rubrics import TOTAL, load_rubric
    from genie_inspect.scorers.ttcw import ttcw as ttcw_scorer
    from genie_inspect.signature import TASKS
    from genie_inspect.solvers.generations import plot_prompt
    from genie_inspect.solvers.requirements import announce_cost, require_grader
    from genie_inspect.tasks.critiques import plots, plots_line, rubric_view
    from genie_inspect.tasks.novelty import package, shown_score

    with refusals():
        tests = load_rubric(rubric)
        scorer = ttcw_scorer(rubric, levels, cutoff, analyse, reference, templates, cache)
        samples = plots(stories, words, reference)
        line = plots_line(samples, rubric, levels, analyse, reference, templates)
    return Task(
        dataset=MemoryDataset(samples, name="ttcw"),
        setup=[require_grader("ttcw"), announce_cost(line), plot_prompt(templates)],
        solver=generate(),
        scorer=scorer,
        viewer=rubric_view(tests, [tests.name]),
        headline_metric=HeadlineMetric(scorer="ttcw", metric="mean"),
        tags=[shown_score(tests.key(TOTAL))],
        # every sample names all of them
        metadata={"references": (samples[0].metadata or {})["references"], **package()},
        version=TASKS["ttcw"],
    )
