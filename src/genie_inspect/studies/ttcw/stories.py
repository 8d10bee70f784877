"""Stories of the Torrance Test: `genie ttcw words` counts theirs, `genie ttcw extract-plots` finds what each is of."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import click

from genie_inspect.agreement.votes import prompt_of, writer_of
from genie_inspect.building.interviewing import Progress
from genie_inspect.cli.options import DRY_RUN, FILE, GRADER, TEMPLATES, Answer, answering, option, output_option
from genie_inspect.cli.running import asked, told_by
from genie_inspect.files.tables import Table
from genie_inspect.files.writing import check_absent, clear_left, write_lines
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.logs.files import each_log, log_header, samples
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.stories import ReferenceStory, ReferenceStoryError, existing_stories, reference_stories
from genie_inspect.samples import StoryFacts, document_of
from genie_inspect.solvers.generations import draw_plot, drawn_plot

REFERENCE = "reference"  # who wrote what others are held against, where no id says it


@dataclass(frozen=True, slots=True)
class StoryWords:
    plot: str
    writer: str
    words: int
    is_reference: bool = False


def story_words(paths: Iterable[Path], references: Sequence[ReferenceStory] = ()) -> list[StoryWords]:
    words: list[StoryWords] = []
    logs = []
    for path in paths:
        if path.suffix not in (".json", ".jsonl"):
            logs.append(path)
            continue
        for story in existing_stories(path, references, compared=False):
            words += _of_story(story.id, story.text, story.reference, story.reference_name)
    words += chain.from_iterable(each_log(logs, _of_log))
    # a reference that several stories share counts once
    shared = dict.fromkeys(story for story in words if story.is_reference)
    return [*(story for story in words if not story.is_reference), *shared]


def _of_log(file: str) -> list[StoryWords]:
    model = log_header(file).eval.model
    words: list[StoryWords] = []
    for sample in samples(file):
        story = StoryFacts.of(sample.metadata)
        name = story.id if story else f"{sample.id}_{model}"
        target = sample.target if isinstance(sample.target, str) else "\n".join(sample.target)
        words += _of_story(name, document_of(sample), target, story.reference if story else "")
    return words


def _of_story(name: str, text: str, reference: str, reference_name: str) -> Iterator[StoryWords]:
    yield StoryWords(prompt_of(name), writer_of(name), word_count(text))
    if reference:
        writer = writer_of(reference_name) or REFERENCE
        yield StoryWords(prompt_of(name), writer, word_count(reference), is_reference=True)


@click.command()
@click.argument("stories", nargs=-1, required=True, type=FILE)
@option("--references", help="File of references, as for ttcw_stories. Default: none.")
@answering()
def words(stories: tuple[Path, ...], references: str | None) -> Answer:
    """Count the words of stories by plot and writer.

    The stories are in files for ttcw_stories or in logs.

    \b
    Example: genie ttcw words stories.jsonl
    """
    rows = story_words(stories, reference_stories(references) if references else ())
    writers = list(dict.fromkeys(row.writer for row in rows))

    def means(name: str, own: Sequence[StoryWords]) -> list[str]:
        counts = [[row.words for row in own if row.writer == writer] for writer in writers]
        return [name, *(f"{sum(words) / len(words):.0f}" if words else "" for words in counts)]

    plots = dict.fromkeys(row.plot for row in rows)
    cells = [means(plot, [row for row in rows if row.plot == plot]) for plot in plots]
    caption = "several stories of one writer and plot: their mean"
    table = Table("Words", ("plot", *writers), [*cells, None, means("mean", rows)], caption=caption, look="folded")
    return Answer(rows, [table])


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
        raise ReferenceStoryError(f"{source} has no file *.txt, expected one story per file; or give a JSON Lines file")
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
@output_option(help="File to write.")
@GRADER
@TEMPLATES
@DRY_RUN
@answering()
def extract_plots(stories: Path, output: Path, grader: str, templates: Path | None, dry_run: bool) -> dict[str, Any]:
    """Extract the plot of each story, in one sentence, for models to write from.

    STORIES is a JSON Lines file with title and story, or a folder of text files. A plot that a story has is kept. A
    killed run continues. Read the plots: a model wrote them.

    \b
    Example: genie ttcw extract-plots my-stories/ -o references.jsonl --grader openai/gpt-4o
             inspect eval genie_inspect/ttcw -T stories=references.jsonl --model ... --model-role grader=...
    """
    own = own_stories(stories)
    check_absent(output)
    work = partial(draw_plots, own, templates)
    return asked(work, grader, output, dry_run=dry_run, called="file", rehearsed=("stories",), keep_cut=False)
