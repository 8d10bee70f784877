"""What the TTCW tasks are made of: stories to be written or that exist, what the critic is asked of them, columns."""

from collections.abc import Callable, Sequence
from pathlib import Path

from inspect_ai.dataset import Sample
from inspect_ai.viewer import ViewerConfig

from genie_inspect.agreement.votes import prompt_of
from genie_inspect.errors import GenieError, UnknownChoiceError, check_count
from genie_inspect.graders.cost import Cost, tokens
from genie_inspect.graders.critic import critique_cost
from genie_inspect.graders.rubrics import TOTAL, Analyse, Instructions, Rubric, load_rubric, renamed, setups_of
from genie_inspect.populations.stories import existing_stories, reference_stories, stories_digest
from genie_inspect.samples import PROMPT_KEY, StoryFacts
from genie_inspect.signature import digest
from genie_inspect.solvers.generations import DOCUMENT, plot_cost
from genie_inspect.tasks.novelty import UNIT, sample_id, score_view
from genie_inspect.tasks.novelty_measures import Asks, CostLine

TOKENS_A_WORD = 1.3  # of English prose, by the bundled tokenizer
TO_BE_DRAWN = "A story from the plot of the reference, which the grader draws first: {title}"
TO_BE_WRITTEN = "A story from this plot: {plot}"


def plots(stories: str, words: int | None, reference: bool) -> list[Sample]:
    """A sample a reference story: its plot, which is to be written anew; the target is the story."""
    references = reference_stories(stories, texts=reference)
    if words is not None:
        check_count("words", words)
    known, samples = stories_digest(references), []
    for story in references:
        if not (length := words or story.words):
            raise GenieError(f"{story.title!r} has no text to take the length from: give words=1500, or what you want")
        # what the list of samples shows; the set-up puts the real request in its place
        text = TO_BE_WRITTEN.format(plot=story.plot) if story.plot else TO_BE_DRAWN.format(title=story.title)
        facts = {"title": story.title, "plot": story.plot, "words": length, "references": known}
        samples.append(Sample(id=sample_id(story.title), input=text, target=story.story, metadata=facts))
    return samples


def plots_line(
    samples: list[Sample], rubric: str, levels: int, analyse: Analyse, reference: bool, templates: str | None
) -> CostLine:
    """What the critic is asked of stories as long as they should be, and the grader of those without a plot."""
    tests = load_rubric(rubric).tests
    how = Instructions.load(levels, analyse=analyse, reference=reference, folder=templates)

    def critique(sample: Sample) -> Cost:
        beside = tokens(str(sample.target)) if reference else None
        return critique_cost(how, tests, (sample.metadata or {})["words"] * TOKENS_A_WORD, beside)

    def plot(sample: Sample) -> Cost:
        return Cost() if (sample.metadata or {})["plot"] else plot_cost(tokens(str(sample.target)), templates)

    # the scorer alone, on an old log, draws no plot
    drawn = {"plots": _each(plot)} if any(plot(sample).calls for sample in samples) else {}
    return CostLine("ttcw", samples, 1, drawn | {"ttcw": _each(critique)})


def written_stories(stories: str | None, references: str | None, setups: str | list[str]) -> list[Sample]:
    """A sample a story that exists; the target is the reference story that it is held against."""
    if not isinstance(stories, str):
        raise UnknownChoiceError("stories", stories, "a file of stories")
    fine = reference_stories(references) if references else []
    existing = existing_stories(Path(stories), fine, compared=any(setup.reference for setup in setups_of(setups)))
    known = digest(*(part for story in existing for part in (story.id, story.text, story.reference)))
    samples = []
    for story in existing:
        facts = StoryFacts(story.id, story.reference_name, len(story.reference.split()))
        # stories from one plot are ranked together, and are one prompt for intervals
        prompt = story.plot or f"A story from plot {prompt_of(story.id)}"
        metadata = {PROMPT_KEY: prompt, DOCUMENT: story.text, "references": known, **facts.as_metadata()}
        samples.append(Sample(id=story.id, input=prompt, target=story.reference, metadata=metadata))
    return samples


def setups_line(samples: list[Sample], setups: str | list[str], rubric: str, templates: str | None) -> CostLine:
    """What the critic is asked of each story in each setup."""
    tests = load_rubric(rubric).tests
    asks: dict[str, Asks] = {}
    for setup in setups_of(setups):
        how = Instructions.load(setup.levels, analyse=setup.analyse, reference=setup.reference, folder=templates)

        def critique(sample: Sample, how: Instructions = how, compared: bool = setup.reference) -> Cost:
            beside = tokens(str(sample.target)) if compared else None
            return critique_cost(how, tests, tokens((sample.metadata or {})[DOCUMENT]), beside)

        asks[f"ttcw {setup.name}"] = _each(critique)
    return CostLine("ttcw_stories", samples, 1, asks)


def _each(cost: Callable[[Sample], Cost]) -> Asks:
    return lambda taken, epochs: sum(map(cost, taken), Cost()) * epochs


def rubric_view(rubric: Rubric, prefixes: Sequence[str]) -> ViewerConfig:
    """Inspect View with a column for the total, each dimension and each test; later setups: the total alone.

    A setup is a scorer, whose keys begin with its prefix.
    """
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
