"""The recorded close reading, and `bundled/grader` that reads it out."""

import math
from pathlib import Path

import pytest
from inspect_ai import eval as evaluate
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import get_model
from tests.scripted import scores

from genie_inspect.graders.close_reader import ASPECTS, Approach, reading_of
from genie_inspect.populations.schema import rows
from genie_inspect.prompting.forms import Quote
from genie_inspect.providers.replay import MARKS, RecordedMarks, graded, starter_record
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts

RECORD = starter_record()
STORIES = {story.id: story.text for story in RECORD.stories}


@pytest.mark.parametrize(("file", "stories"), [(MARKS, 32), ("second_marks.jsonl", 8)])
def test_every_recorded_mark_counts_when_it_is_read(file: str, stories: int) -> None:
    recorded = list(rows(RECORD.folder / file, RecordedMarks))
    assert len(recorded) == stories * len(ASPECTS)
    assert {row.aspect for row in recorded} == set(ASPECTS)
    for row in recorded:
        quotes = [Quote(mark.expression, mark.reason) for mark in row.marks]
        reading = reading_of(row.aspect, quotes, STORIES[row.document])
        assert (len(reading.marks), dict(reading.dropped), reading.reason) == (len(quotes), {}, "")


def test_the_bundled_grader_marks_the_storytellers_documents(tmp_path: Path) -> None:
    (log,) = evaluate(
        synthetic_prompts(panel="close_reading", judge="none"),
        model="bundled/inventive",
        model_roles={"grader": get_model("bundled/grader")},
        epochs=2,
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    marked = [(score.metadata or {})["marked"] for score in scores(log, "close_reading")]
    assert [sum(each[aspect] for each in marked) for aspect in ("novel", "awkward")] == [36, 7]
    values = [score.value for score in scores(log, "close_reading")]
    assert not any(
        math.isnan(float(str(value))) for each in values if isinstance(each, dict) for value in each.values()
    )


def test_what_is_not_on_record_is_named() -> None:
    approach = Approach.load()
    with pytest.raises(PrerequisiteError, match="no record of a close reading of the document 'A text'"):
        graded(RECORD, approach.request("novel", "A text"))
    with pytest.raises(PrerequisiteError, match="can answer nothing else, got a request about aspect, examples, text"):
        graded(RECORD, approach.instructions["novel"].request("A text", [{"text": "It.", "marks": []}]))
