"""The Torrance Test of Creative Writing on stories that exist, in one or several setups."""

from inspect_ai import Task, task


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
    from genie_inspect.graders.rubrics import load_rubric, setups_of
    from genie_inspect.scorers.ttcw import ttcw as ttcw_scorer
    from genie_inspect.solvers.generations import recorded
    from genie_inspect.tasks.critiques import critique_task, setups_line, written_stories

    with refusals():
        chosen, tests = setups_of(setups), load_rubric(rubric)
        line = setups_line(written_stories(stories, references, setups), setups, rubric, templates)
        # the keys of the first setup begin as everywhere
        prefixes = [tests.name, *(f"{tests.name}_{setup.name}" for setup in chosen[1:])]
        scorers = {}
        for setup, prefix in zip(chosen, prefixes, strict=True):
            # the cutoff is one of five levels; others have their own, and a story alone has none
            least = cutoff if setup.reference and setup.levels == 5 else None
            asked = setup.levels, least, setup.analyse, setup.reference
            scorers[prefix] = ttcw_scorer(rubric, *asked, templates, cache, prefix)
    return critique_task(line, tests, recorded(), scorers)
