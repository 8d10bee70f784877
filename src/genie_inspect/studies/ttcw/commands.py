"""The commands `genie ttcw` and `genie plots`."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from genie_inspect.agreement.figures import Ranking
from genie_inspect.agreement.machine_scores import JudgedStory, read_scores
from genie_inspect.agreement.votes import VotedStory, read_votes
from genie_inspect.building.interviewing import Progress
from genie_inspect.cli import VerbGroup, verbs_of
from genie_inspect.cli.agreement import COMPARED
from genie_inspect.cli.options import DRY_RUN, FILE, GRADER, TEMPLATES, Answer, answering, output_option, together
from genie_inspect.cli.running import asked, told_by
from genie_inspect.cli.tables import figure, ranged
from genie_inspect.files.folders import clear_left
from genie_inspect.files.tables import Table
from genie_inspect.files.writing import check_absent, write_lines
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.stories import ReferenceStory, ReferenceStoryError, reference_stories
from genie_inspect.solvers.plot_prompt import draw_plot, drawn_plot
from genie_inspect.studies.ttcw.verdicts import (
    NAMES,
    StoryWords,
    asked_ways,
    cutoff_chart,
    cutoff_curves,
    story_words,
    totals_chart,
    writer_totals,
)

VERBS = {
    "cutoffs": "Count the verdicts of logs under every cutoff; asks nobody.",
    "ways": "Put ways of asking side by side: a row each.",
    "totals": "Show how many tests stories pass, by writer.",
    "words": "Show how long stories are, by plot and writer.",
}


@click.group(cls=VerbGroup, verbs=verbs_of(__name__, VERBS))
def ttcw() -> None:
    """Ablations, word counts and histograms of the Torrance Test, from verdicts that are there.

    \b
    Example: genie ttcw ways logs/ --votes votes.jsonl
             genie ttcw cutoffs logs/ --votes votes.jsonl --picture cutoffs.svg
    """


VOTES = click.option("--votes", type=FILE, help="What people say of the same stories, as for `genie agreement`.")
# a comparison with people: what is beside --votes is given on as it is
compared = together(VOTES, COMPARED)


def read(paths: tuple[Path, ...], votes: Path | None) -> tuple[dict[str, dict[str, JudgedStory]], list[VotedStory]]:
    return read_scores(paths), read_votes(votes, numbers=True) if votes else []


def ranked(rankings: Mapping[str, Ranking]) -> list[str]:
    means = [rankings[name].mean for name in NAMES if name in rankings]
    return [ranged(mean.value, mean.low, mean.high, none="undefined") for mean in means]


@click.command()
@click.argument("logs", nargs=-1, required=True, type=FILE)
@click.option("--cutoff", "cutoffs", multiple=True, type=int, help="Repeatable.  [default: all of the scale up to 0]")
@compared
@answering(picture="a chart")
def cutoffs(logs: tuple[Path, ...], cutoffs: tuple[int, ...], votes: Path | None, **options: Any) -> Answer:
    """How many tests stories pass under every cutoff, from the verdicts that LOGS have; nobody is asked again.

    With --votes also how far each cutoff ranks stories as people do. A run with that cutoff gives the same totals.

    \b
    Example: genie ttcw cutoffs logs/ --votes votes.jsonl --picture cutoffs.svg
    """
    scores, voted = read(logs, votes)
    curves = cutoff_curves(scores, voted, cutoffs, **options)

    def parts() -> Iterator[Table | str]:
        for curve in curves:
            names = NAMES.values() if any(point.rankings for point in curve.points) else ()
            rows = []
            for point in curve.points:
                cutoff = "*" * (point.cutoff == curve.cutoff) + str(point.cutoff)
                rows.append((cutoff, figure(point.total, none=""), *ranked(point.rankings)))
            heads = ("a test passes from", "tests passed, mean", *names)
            caption = f"{curve.stories} stories; *: as the log was scored"
            yield Table(curve.judge, heads, rows, caption=caption, words=0, look="folded")

    return Answer(curves, parts(), lambda: cutoff_chart(curves))


@click.command()
@click.argument("scores", nargs=-1, type=FILE)
@VOTES
@answering(picture="a chart")
def totals(scores: tuple[Path, ...], votes: Path | None) -> Answer:
    """How many tests the stories of each writer pass: by each judge of SCORES (logs or files), and by most people.

    \b
    Example: genie ttcw totals --votes votes.jsonl --picture totals.svg
             genie ttcw totals logs/ --votes votes.jsonl
    """
    rows = writer_totals(*read(scores, votes))

    def parts() -> Iterator[Table | str]:
        every = range(max((total for row in rows for total in row.stories), default=0) + 1)
        cells = []
        for row in rows:
            counts = (str(row.stories.get(total, "")) for total in every)
            cells.append((row.judge, row.writer, str(len(row.totals)), figure(row.mean, none=""), *counts))
        heads = ("judge", "writer", "stories", "mean", *map(str, every))
        caption = "people: tests that most of them let pass"
        yield Table("Stories by number of tests passed", heads, cells, caption=caption, words=2, look="folded")

    value = [{name: getattr(row, name) for name in ("judge", "writer", "mean", "totals")} for row in rows]
    return Answer(value, parts(), lambda: totals_chart(rows))


@click.command()
@click.argument("logs", nargs=-1, required=True, type=FILE)
@compared
@answering()
def ways(logs: tuple[Path, ...], votes: Path | None, **options: Any) -> Answer:
    """One table of all ways in which critics were asked in LOGS: a row each, with the mean of tests passed by writer.

    With --votes also how far each way ranks stories as people do. One run of the task ttcw_stories with ways=all has
    them all: 3, 5 and 7 levels; rate alone, analyse then rate, rate then analyse; with and without a reference.

    \b
    Example: genie ttcw ways logs/ --votes votes.jsonl
    """
    scores, voted = read(logs, votes)
    rows = asked_ways(scores, voted, **options)

    def parts() -> Iterator[Table | str]:
        writers = list(dict.fromkeys(writer for row in rows for writer in row.by_writer))
        names = NAMES.values() if any(row.rankings for row in rows) else ()
        cells = []
        for row in rows:
            means = [row.total, *(row.by_writer.get(writer, math.nan) for writer in writers)]
            judged = f"{row.stories - row.not_judged} of {row.stories}"
            figures = [figure(mean, none="") for mean in means]
            cells.append((row.judge, row.way, row.cutoff, judged, *figures, *ranked(row.rankings)))
        heads = ("judge", "way", "cutoff", "judged", "all", *writers, *names)
        caption = "tests passed, mean over stories: of all, then by writer"
        yield Table("Ways of asking", heads, cells, caption=caption, words=2, look="folded")

    return Answer(rows, parts())


@click.command()
@click.argument("stories", nargs=-1, required=True, type=FILE)
@click.option("--references", help="A file of references, as for the task ttcw_stories.")
@answering()
def words(stories: tuple[Path, ...], references: str | None) -> Answer:
    """How many words STORIES have (files as ttcw_stories takes them, or logs): a row a plot, a column a writer.

    \b
    Example: genie ttcw words stories.jsonl
    """
    rows = story_words(stories, reference_stories(references) if references else ())
    writers = list(dict.fromkeys(row.writer for row in rows))

    def means(name: str, own: Sequence[StoryWords]) -> list[str]:
        counts = [[row.words for row in own if row.writer == writer] for writer in writers]
        return [name, *(f"{sum(words) / len(words):.0f}" if words else "" for words in counts)]

    def parts() -> Iterator[Table | str]:
        plots = dict.fromkeys(row.plot for row in rows)
        cells = [means(plot, [row for row in rows if row.plot == plot]) for plot in plots]
        caption = "several stories of one writer and plot: their mean"
        total = means("mean", rows)
        yield Table("Words", ("plot", *writers), [*cells, None, total], caption=caption, look="folded")

    return Answer(rows, parts())


ASKED = (25, 50)  # words of a plot, as they are asked for


def own_stories(source: Path) -> list[ReferenceStory]:
    """The stories of a JSON Lines file as `ttcw` takes it, or of a folder of text files, each titled by its name."""
    if not source.is_dir():
        return reference_stories(str(source))
    stories = []
    for path in sorted(source.glob("*.txt")):
        try:
            text = path.read_text(encoding="utf-8-sig").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ReferenceStoryError(f"{path} cannot be read as UTF-8 text: {error}") from error
        if not text:
            raise ReferenceStoryError(f"{path} is empty, expected a story")
        stories.append(ReferenceStory(path.stem, "", text))
    if not stories:
        raise ReferenceStoryError(f"{source} holds no file *.txt, expected a story each; or give a JSON Lines file")
    return stories


async def draw_plots(
    stories: Sequence[ReferenceStory],
    templates: Path | None,
    output: Path,
    model: RecordedModel,
    work: Path,
    progress: Progress,
) -> dict[str, Any]:
    """Write the stories with their plots to a new file; a story that has one keeps it."""
    template = draw_plot().template(templates)
    told = told_by(progress, "drawing plots", len(stories))

    async def plot_of(story: ReferenceStory) -> str:
        plot = story.plot or await drawn_plot(model, template, story.story)
        told()
        return plot

    plots = await gathered(*map(plot_of, stories))
    rows = ({"title": s.title, "plot": plot, "story": s.story} for s, plot in zip(stories, plots, strict=True))
    write_lines(output, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows), new=True)
    clear_left(work)
    drawn = [plot for story, plot in zip(stories, plots, strict=True) if not story.plot]
    return {
        "stories": len(stories),
        "drawn": len(drawn),
        "had_a_plot": len(stories) - len(drawn),
        "outside_of_25_to_50_words": sum(not ASKED[0] <= word_count(plot) <= ASKED[1] for plot in drawn),
    }


@click.command()
@click.argument("stories", type=FILE)
@output_option(help="The new file, for -T stories= of the task ttcw.")
@GRADER
@TEMPLATES
@DRY_RUN
@answering()
def plots(stories: Path, output: Path, grader: str, templates: Path | None, dry_run: bool) -> dict[str, Any]:
    """Draw the plot of each of STORIES in one sentence, so that models can write from it beside the story.

    STORIES is a JSON Lines file with title and story, or a folder of text files. A story that has a plot keeps it. A
    run that was killed goes on where it ended; a reply that was cut off is asked for again. Read the plots before you
    use them: they are a model's.

    \b
    Example: genie plots my-stories/ -o references.jsonl --grader openai/gpt-4o
             inspect eval genie_inspect/ttcw -T stories=references.jsonl --model ... --model-role grader=...
    """
    own = own_stories(stories)
    check_absent(output)
    work = partial(draw_plots, own, templates)
    return asked(work, grader, output, dry_run=dry_run, called="file", rehearsed=("stories",), keep_cut=False)
