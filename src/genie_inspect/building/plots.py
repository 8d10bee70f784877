"""Plots of one sentence, drawn from stories: what the task `ttcw` has others written from."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genie_inspect.asking.gathering import gathered
from genie_inspect.building.stand_ins.recorded_model import RecordedModel
from genie_inspect.building.work import Progress, no_progress
from genie_inspect.engines.sources.reference_stories import ReferenceStory, ReferenceStoryError, reference_stories
from genie_inspect.files.folders import clear_left
from genie_inspect.files.writing import write_lines
from genie_inspect.measures.length import word_count
from genie_inspect.prompting.templates import load_template
from genie_inspect.solvers.plot_prompt import drawn_plot

ASKED = (25, 50)
"""Words of a plot, as they are asked for."""


def own_stories(source: Path) -> list[ReferenceStory]:
    """The stories of a JSON Lines file as `ttcw` takes it, or of a folder of text files, each titled by its name.

    Raises:
        ReferenceStoryError: If the source cannot be read, holds no story, or one has no text.
    """
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
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Write the stories with their plots to a new file; a story that has one keeps it.

    Raises:
        GraderFailedError: If the grader cannot be reached, or draws none; running again goes on from there.
        UnwritableError: If the file cannot be written.
    """
    template = load_template("draw_plot", {"data"}, templates)
    done = 0

    async def plotted(story: ReferenceStory) -> ReferenceStory:
        nonlocal done
        complete = story if story.plot else replace(story, plot=await drawn_plot(model, template, story.story))
        done += 1
        progress("drawing plots", done, len(stories))
        return complete

    complete = await gathered(*map(plotted, stories))
    rows = ({"title": story.title, "plot": story.plot, "story": story.story} for story in complete)
    write_lines(output, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows), new=True)
    clear_left(work)
    drawn = [after.plot for before, after in zip(stories, complete, strict=True) if not before.plot]
    unlike = sum(not ASKED[0] <= word_count(plot) <= ASKED[1] for plot in drawn)
    return {
        "stories": len(complete),
        "drawn": len(drawn),
        "had_a_plot": len(complete) - len(drawn),
        "outside_of_25_to_50_words": unlike,
    }
