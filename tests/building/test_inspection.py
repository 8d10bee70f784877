import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.building.scripts import population_of, read_by
from tests.scripted import FOX, OWL, small_population

from genie_inspect.building.inspection import faults, inspected
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, QUESTIONS
from genie_inspect.populations.schema import AnswerRow, Document, Question
from genie_inspect.populations.survey import survey

Change = Callable[[list[dict[str, object]]], object]


def changed(folder: Path, file: str, change: Change) -> list[str]:
    """The kinds of faults after the rows of a file were changed by hand, digests and counts apart."""
    rows = [json.loads(line) for line in (folder / file).read_text().splitlines()]
    change(rows)
    (folder / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [kind for kind in faults(folder) if not kind.startswith(("digest", "count"))]


UNREADABLE = ["unreadable row in documents.jsonl", "answer about an unknown document"]
OTHER_PROMPT = "answer to a question of another prompt"
ELSEWHERE = {"id": "x-new", "prompt": "Else."}


@pytest.mark.parametrize(
    ("file", "change", "kinds"),
    [
        (DOCUMENTS, lambda rows: rows[0].update(text=" "), UNREADABLE),
        (DOCUMENTS, lambda rows: rows.append(rows[0]), ["document id appears twice"]),
        (DOCUMENTS, lambda rows: rows.append(rows[0] | ELSEWHERE), ["document whose prompt has no questions"]),
        (QUESTIONS, lambda rows: rows[0].update(feature="smell"), ["question of an unknown feature"]),
        (QUESTIONS, lambda rows: rows.append(rows[0]), ["question id appears twice"]),
        (QUESTIONS, lambda rows: rows.append(rows[0] | ELSEWHERE), ["prompt without documents"]),
        (ANSWERS, lambda rows: rows[0].update(document="d-nobody"), ["answer about an unknown document"]),
        (ANSWERS, lambda rows: rows[0].update(question="q-nothing"), ["answer to an unknown question"]),
        (ANSWERS, lambda rows: rows[0].update(question=rows[-1]["question"]), [OTHER_PROMPT]),
        (ANSWERS, lambda rows: rows.append({**rows[0], "text": "other"}), ["answer appears twice"]),
        (ANSWERS, lambda rows: rows[0].pop("reader"), ["unreadable row in answers.jsonl"]),
    ],
)
def test_each_fault_is_found_and_named(file: str, change: Change, kinds: list[str], tmp_path: Path) -> None:
    assert changed(read_by(tmp_path / "p", {"r": lambda document: "a bird"}).folder, file, change) == kinds


def test_all_faults_are_found_and_not_the_first_alone(tmp_path: Path) -> None:
    folder = read_by(tmp_path / "p", {"r": lambda document: "a bird"}).folder
    changed(folder, DOCUMENTS, lambda rows: rows.append(rows[0]))
    changed(folder, QUESTIONS, lambda rows: rows[0].update(feature="smell"))
    (folder / ANSWERS).unlink()
    assert {kind: count for kind, (count, _) in faults(folder).items()} == {
        "digest differs from population.json": 2,
        "missing file": 1,
        "question of an unknown feature": 1,
        "document id appears twice": 1,
        "count differs from population.json": 2,  # a document too many, and no answers
    }


def test_power_is_that_of_the_documents_that_answer(tmp_path: Path) -> None:
    texts = [f"Text number {number} of a long series of texts." for number in range(12)]
    documents = [Document(id=f"d{n}", prompt=OWL, text=text) for n, text in enumerate(texts)]
    questions = [Question(id="q", prompt=OWL, feature="plot", text="What?")]
    answers = (
        AnswerRow(document=d.id, question="q", reader="r", text="so" if n % 2 else None)
        for n, d in enumerate(documents)
    )
    population = population_of(tmp_path / "p", documents, questions, answers)
    documents_answering, half_width, needed = survey(population).power("plot", 0.28)
    # 6 of 12 answer: 2.3263 * 0.28 / sqrt(6) = 0.2659; (2.3263 * 2.8)^2 = 42.4, at half of them answering 43 / 0.5 = 86
    assert (documents_answering, round(half_width, 4), needed) == (6, 0.2659, 86)
    assert str(survey(population).power("style")) == "(0, nan, None)"


def test_documents_that_are_refusals_are_named(tmp_path: Path) -> None:
    refusal = "I'm sorry, but I can't help with that."
    population = small_population(tmp_path / "p", {OWL: ("Grey owl over barns.", refusal), FOX: (refusal,)})
    ids = [population.documents(OWL)[1].id, population.documents(FOX)[0].id]
    # the same words for another prompt are no near-duplicate
    assert (survey(population).refusals, survey(population).near_duplicates) == (ids, 0)
    assert f"refusals: 2: {', '.join(ids)}" in inspected(population.folder)[2]
