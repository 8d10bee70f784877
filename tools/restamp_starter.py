"""Write the starter population again after one of its files, or the reading template, was changed on purpose.

    python tools/restamp_starter.py

Gives every document and question the id of its text, carries answers, readings and ratings over to the new ids, puts
the bundled grader's current signature on the recorded answers, and renews counts and digests.
"""

import json
from pathlib import Path
from typing import Any

from inspect_ai.model import get_model

from genie_inspect.files.writing import write_lines
from genie_inspect.judges.grader_reader import GraderReader
from genie_inspect.populations.catalogue import BUNDLED
from genie_inspect.populations.files import parsed, rows
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, MANIFEST, QUESTIONS
from genie_inspect.populations.schema import Answer, Document, Manifest, Question, document_id, question_id
from genie_inspect.populations.writing import write_population
from genie_inspect.providers.record import RATINGS, READINGS, STORIES

SECOND = "second_ratings.jsonl"


def renamed(path: Path, renames: dict[str, str], fields: tuple[str, ...]) -> None:
    """Carry the ids in some fields of a JSON Lines file over to the new ones."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line.update({field: renames.get(line[field], line[field]) for field in fields})
    write_lines(path, (json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def main() -> None:
    """Restamp the files where they stand."""
    folder = BUNDLED["starter"]
    manifest = parsed((folder / MANIFEST).read_text(encoding="utf-8"), Manifest, MANIFEST)
    renames: dict[str, str] = {}

    def stamped(row: Any, new: str) -> Any:
        renames[row.id] = new
        return row.model_copy(update={"id": new})

    documents = [stamped(row, document_id(row.prompt, row.text)) for row in rows(folder / DOCUMENTS, Document)]
    questions = [stamped(row, question_id(row.prompt, row.text)) for row in rows(folder / QUESTIONS, Question)]
    stories = [json.loads(line) for line in (folder / STORIES).read_text(encoding="utf-8").splitlines()]
    renames |= {story["id"]: document_id(story["prompt"], story["text"]) for story in stories}
    for name, fields in {
        STORIES: ("id",),
        READINGS: ("document", "question"),
        RATINGS: ("question",),
        SECOND: ("question",),
    }.items():
        renamed(folder / name, renames, fields)
    reader = GraderReader(get_model("bundled/grader")).signature
    answers = [
        row.model_copy(update={"document": renames[row.document], "question": renames[row.question], "reader": reader})
        for row in rows(folder / ANSWERS, Answer)
    ]
    written = write_population(
        folder,
        name=manifest.name,
        version=manifest.version,
        licence=manifest.licence,
        description=manifest.description,
        features=manifest.features,
        source_models=manifest.source_models,
        documents=documents,
        questions=questions,
        answers=answers,
    )
    print(f"{folder}: {written.name}, read by {reader}")


if __name__ == "__main__":
    main()
