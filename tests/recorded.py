"""A small population with a recorded reading in the place of the starter: all that the bundled models then know."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import pytest
from inspect_ai.model import get_model
from tests.scripted import DOCUMENTS, FOX, OWL, QUESTIONS, small_population

from genie_inspect.graders.reader import GraderReader
from genie_inspect.populations.population import BUNDLED, Population
from genie_inspect.populations.schema import AnswerRow, document_id, question_id
from genie_inspect.providers.replay import RATINGS, READINGS, STORIES, starter_record, storytellers

TELLER = "bundled/teller"
TOLD = {OWL: "Grey barn at night.", FOX: "Green fox in the sea."}  # what the one storyteller writes


def answered(text: str, question: str) -> str | None:
    """The first word, and the second for how it ends; a white owl's tone is not said."""
    if question == "What is the tone?" and text.startswith("White"):
        return None
    return text.split()[1 if question == "How does it end?" else 0].strip(".").lower()


def rated(answer: str, other: str) -> int:
    """4 for equal answers, 2 for equal first letters, else 1."""
    return 4 if answer == other else 2 if answer[0] == other[0] else 1


def read_population(folder: Path, reader: str, documents: Mapping[str, Sequence[str]] = DOCUMENTS) -> Population:
    """The small population with the answers of one reader on record."""
    asked = ((prompt, ask) for prompt, questions in QUESTIONS.items() for _, ask in questions)
    answers = [
        AnswerRow(
            document=document_id(prompt, text),
            question=question_id(prompt, ask),
            reader=reader,
            text=answered(text, ask),
        )
        for prompt, ask in asked
        for text in documents[prompt]
    ]
    return small_population(folder, documents, answers=answers)


@contextmanager
def recorded_starter(folder: Path) -> Iterator[Population]:
    """The population, which the name `starter` stands for meanwhile."""
    population = read_population(folder, GraderReader(get_model("bundled/grader")).signature)
    ids = {(prompt, text): question_id(prompt, text) for prompt, asked in QUESTIONS.items() for _, text in asked}
    stories = {prompt: {"id": f"t-{prompt}", "prompt": prompt, "text": text} for prompt, text in TOLD.items()}
    lines(folder / STORIES, [{**story, "storyteller": "teller", "epoch": 1} for story in stories.values()])
    readings: list[dict[str, object]] = [
        {"document": f"t-{prompt}", "question": question, "text": answered(TOLD[prompt], ask)}
        for (prompt, ask), question in ids.items()
    ]
    lines(folder / READINGS, readings)
    lines(folder / RATINGS, ratings(ids))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BUNDLED, "starter", folder)
        starter_record.cache_clear()
        storytellers.cache_clear()
        try:
            yield population
        finally:
            starter_record.cache_clear()
            storytellers.cache_clear()


def ratings(ids: dict[tuple[str, str], str]) -> list[dict[str, object]]:
    """Each pair of different answers, of the population's among each other too, in one direction only."""
    rows: list[dict[str, object]] = []
    for (prompt, ask), question in ids.items():
        answers = dict.fromkeys(answered(text, ask) for text in (TOLD[prompt], *DOCUMENTS[prompt]))
        for answer, other in combinations(filter(None, answers), 2):
            rows.append({"question": question, "answer": answer, "ratings": {other: rated(answer, other)}})
    return rows


def lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
