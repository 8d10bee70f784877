"""Write the bundled populations again after one of their files, or the reader's signature, was changed on purpose.

    python tools/restamp_starter.py

One run does all of them, and a second one changes nothing. Gives every document and question the id of its text,
carries answers, readings and ratings over to the new ids, puts the bundled grader's current signature on the recorded
answers, and renews counts and digests. Reference scores are of one instrument and one population: where either has
changed, make them with `genie population reference-scores starter --grader bundled/grader -o FILE`, and put FILE there.
"""

import json
from pathlib import Path
from typing import Any

from inspect_ai.model import get_model

from genie_inspect.files.writing import write_lines
from genie_inspect.graders.reader import GraderReader
from genie_inspect.populations.population import ANSWERS, BUNDLED, DOCUMENTS, MANIFEST, QUESTIONS
from genie_inspect.populations.schema import (
    AnswerRow,
    Document,
    Manifest,
    Question,
    document_id,
    parsed,
    question_id,
    rows,
)
from genie_inspect.populations.writing import seal_population, write_population
from genie_inspect.providers.replay import RATINGS, READINGS, STORIES

CARRIED = {
    STORIES: ("id",),
    READINGS: ("document", "question"),
    RATINGS: ("question",),
    "second_ratings.jsonl": ("question",),
    "third_ratings.jsonl": ("question",),
}
"""The fields that hold ids, by file."""


def renamed(path: Path, renames: dict[str, str], fields: tuple[str, ...]) -> None:
    """Carry the ids in some fields of a JSON Lines file over to the new ones."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line.update({field: renames.get(line[field], line[field]) for field in fields})
    write_lines(path, (json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def facts(folder: Path) -> dict[str, Any]:
    """What a manifest says that its files do not."""
    manifest = parsed((folder / MANIFEST).read_text(encoding="utf-8"), Manifest, MANIFEST)
    names = ("name", "version", "licence", "description", "features", "source_models")
    return {name: getattr(manifest, name) for name in names}


def restamped(folder: Path) -> str:
    """Restamp one population where it stands; what was done, in a line."""
    renames: dict[str, str] = {}

    def stamped(row: Any, new: str) -> Any:
        renames[row.id] = new
        return row.model_copy(update={"id": new})

    documents = [stamped(row, document_id(row.prompt, row.text)) for row in rows(folder / DOCUMENTS, Document)]
    questions = [stamped(row, question_id(row.prompt, row.text)) for row in rows(folder / QUESTIONS, Question)]
    stories = [json.loads(line) for line in (folder / STORIES).read_text(encoding="utf-8").splitlines()]
    renames |= {story["id"]: document_id(story["prompt"], story["text"]) for story in stories}
    for name, fields in CARRIED.items():
        if (folder / name).is_file():  # of a population that nobody has read there is no reading to carry over
            renamed(folder / name, renames, fields)
    reader = GraderReader(get_model("bundled/grader")).signature
    answers = [
        row.model_copy(update={"document": renames[row.document], "question": renames[row.question], "reader": reader})
        for row in rows(folder / ANSWERS, AnswerRow)
    ]
    written = write_population(folder, documents=documents, questions=questions, answers=answers, **facts(folder))
    return f"{written.name}: {f'read by {reader}' if answers else 'not read'}"


def main() -> None:
    """Restamp every bundled population where it stands."""
    for folder in BUNDLED.values():
        # a changed file is not the one that the manifest describes, and the reader asked below opens all of them
        seal_population(folder, **facts(folder))
    for folder in BUNDLED.values():
        print(restamped(folder))


if __name__ == "__main__":
    main()
