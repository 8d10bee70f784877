"""The Torrance Test of Creative Writing on stories that exist, in one or several setups."""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import HeadlineMetric

NAME = "ttcw_stories"


@task
def ttcw_stories(
    stories: str | None = None,
    references: str | None = None,
    setups: str | list[str] = "published",
    rubric: str = "ttcw",
    cutoff: int | None = None,
    templates: str | None = None,
    cache: bool = True,
) -> Task:
    """Stories that exist, each held against its reference story, and alone: nothing is written.

    Any `--model` will do, for instance `mockllm/model`. The keys of the first setup begin with the rubric's name, those
    of another with that and its own: `ttcw_total`, `ttcw_baseline_total`.

    Args:
        stories: A JSON Lines file, one line per story: story (its id, the plot and the writer: `3_GPT4`), text,
            reference (a text, or the id of a story of the file); or the list of Salesforce/creativity_eval.
        references: A file as `ttcw` takes it, for stories that name no reference: matched by title.
        setups: How the grader is asked: `published` (both, baseline), `all`, or some of both, baseline, reference_only,
            analysis_only, rate_first, levels_3, levels_7.
        rubric: As for the scorer `ttcw`.
        cutoff: As for the scorer `ttcw`, with 5 levels; other scales have their own.
        templates: A folder of your own instruction templates.
        cache: As for the scorer `ttcw`.

    Raises:
        RefusedError: If an option or a file cannot be used; before anything is asked.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.graders.rubrics import TOTAL, load_rubric, setups_of
    from genie_inspect.scorers.ttcw import ttcw as ttcw_scorer
    from genie_inspect.signature import TASKS
    from genie_inspect.solvers.generations import recorded
    from genie_inspect.solvers.requirements import announce_cost, require_grader
    from genie_inspect.tasks.critiques import rubric_view, setups_line, written_stories
    from genie_inspect.tasks.novelty import package, shown_score

    with refusals():
        chosen, tests = setups_of(setups), load_rubric(rubric)
        samples = written_stories(stories, references, setups)
        line = setups_line(samples, setups, rubric, templates)
        # the keys of the first setup begin as everywhere
        prefixes = [tests.name, *(f"{tests.name}_{setup.name}" for setup in chosen[1:])]
        # the cutoff is one of five levels; others have their own, and a story alone has none
        cutoffs = [cutoff if setup.reference and setup.levels == 5 else None for setup in chosen]
        scorers = [
            ttcw_scorer(rubric, setup.levels, least, setup.analyse, setup.reference, templates, cache, prefix)
            for setup, least, prefix in zip(chosen, cutoffs, prefixes, strict=True)
        ]
    return Task(
        dataset=MemoryDataset(samples, name=NAME),
        setup=[require_grader("ttcw"), announce_cost(line)],
        solver=recorded(),
        scorer=scorers,
        viewer=rubric_view(tests, prefixes),
        headline_metric=HeadlineMetric(scorer="ttcw", metric="mean"),
        tags=[shown_score(tests.key(TOTAL))],
        # every sample names all of them
        metadata={"references": (samples[0].metadata or {})["references"], **package()},
        version=TASKS[NAME],
    )
