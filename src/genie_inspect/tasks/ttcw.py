"""The Torrance Test of Creative Writing against reference stories."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.solver import generate
from inspect_ai.viewer import ViewerConfig

from genie_inspect.errors import GenieError

if TYPE_CHECKING:
    from genie_inspect.graders.rubrics import Analyse, Rubric
    from genie_inspect.tasks.novelty_measures import Asks, CostLine

TOKENS_A_WORD = 1.3  # of English prose, by the bundled tokenizer
TO_BE_DRAWN = "A story from the plot of the reference, which the grader draws first: {title}"
TO_BE_WRITTEN = "A story from this plot: {plot}"


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
    from genie_inspect.graders.rubrics import load_rubric
    from genie_inspect.scorers.ttcw import ttcw as ttcw_scorer
    from genie_inspect.solvers.plot_prompt import plot_prompt
    from genie_inspect.solvers.requirements import announce_cost, require_grader
    from genie_inspect.tasks.novelty import package
    from genie_inspect.versions import TASKS

    with refusals():
        tests = load_rubric(rubric)
        scorer = ttcw_scorer(rubric, levels, cutoff, analyse, reference, templates, cache)
        line = cost_line(stories, rubric, levels, analyse, reference, words, templates)
    return Task(
        dataset=MemoryDataset(list(line.samples), name="ttcw"),
        setup=[require_grader("ttcw"), announce_cost(line), plot_prompt(templates)],
        solver=generate(),
        scorer=scorer,
        viewer=rubric_view(tests, [tests.name]),
        headline_metric=HeadlineMetric(scorer="ttcw", metric="mean"),
        # every sample names all of them
        metadata={"references": (line.samples[0].metadata or {})["references"], **package()},
        version=TASKS["ttcw"],
    )


def cost_line(
    stories: str = "bundled",
    rubric: str = "ttcw",
    levels: int = 5,
    analyse: "Analyse" = True,
    reference: bool = True,
    words: int | None = None,
    templates: str | None = None,
) -> "CostLine":
    """The samples of the task with these options, and what the critic is asked of stories as long as they should be."""
    from genie_inspect.graders.cost import Cost, tokens
    from genie_inspect.graders.critic import critique_cost
    from genie_inspect.graders.rubrics import Instructions, load_rubric
    from genie_inspect.solvers.plot_prompt import plot_cost
    from genie_inspect.tasks.novelty_measures import CostLine

    samples, tests = _samples(stories, words, texts=reference), load_rubric(rubric).tests
    instructions = Instructions.load(levels, analyse=analyse, reference=reference, folder=templates)

    def critique(sample: Sample) -> Cost:
        beside = tokens(str(sample.target)) if reference else None
        return critique_cost(instructions, tests, (sample.metadata or {})["words"] * TOKENS_A_WORD, beside)

    def plot(sample: Sample) -> Cost:
        return Cost() if (sample.metadata or {})["plot"] else plot_cost(tokens(str(sample.target)), templates)

    def each(cost: Callable[[Sample], Cost]) -> "Asks":
        return lambda taken, epochs: sum(map(cost, taken), Cost()) * epochs

    # the scorer alone, on an old log, draws no plot
    drawn = {"plots": each(plot)} if any(plot(sample).calls for sample in samples) else {}
    return CostLine("ttcw", samples, 1, drawn | {"ttcw": each(critique)})


def _samples(stories: str, words: int | None, *, texts: bool) -> list[Sample]:
    from genie_inspect.options import check_count
    from genie_inspect.populations.stories import reference_stories, stories_digest
    from genie_inspect.tasks.novelty import sample_id

    references = reference_stories(stories, texts=texts)
    if words is not None:
        check_count("words", words)
    digest, samples = stories_digest(references), []
    for story in references:
        if not (length := words or story.words):
            raise GenieError(f"{story.title!r} has no text to take the length from: give words=1500, or what you want")
        # what the list of samples shows; the set-up puts the real request in its place
        text = TO_BE_WRITTEN.format(plot=story.plot) if story.plot else TO_BE_DRAWN.format(title=story.title)
        facts = {"title": story.title, "plot": story.plot, "words": length, "references": digest}
        samples.append(Sample(id=sample_id(story.title), input=text, target=story.story, metadata=facts))
    return samples


def rubric_view(rubric: "Rubric", prefixes: Sequence[str]) -> ViewerConfig:
    """Inspect View with a column for the total, each dimension and each test; of ways after the first the total alone.

    A way is a scorer, whose keys begin with its prefix.
    """
    from genie_inspect.graders.rubrics import TOTAL, renamed
    from genie_inspect.tasks.novelty import UNIT, score_view

    shown, folded = {}, {}
    ranges: dict[str, tuple[float, float]] = {}
    for number, prefix in enumerate(prefixes):
        keyed = renamed(rubric, prefix)
        # as Inspect numbers scorers of one name
        scorer = f"ttcw{number or ''}"
        shown[scorer] = keyed.keys[:1] if number else keyed.keys
        folded[scorer] = keyed.keys[1:] if number else ()
        # tests pass or fail, dimensions are shares, the total counts tests
        ranges |= dict.fromkeys(keyed.keys, UNIT) | {keyed.key(TOTAL): (0.0, float(len(rubric.tests)))}
    return score_view("Tests passed", shown, ranges, folded, prefix=f"{rubric.name}_")
