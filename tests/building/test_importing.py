import csv
import json
from pathlib import Path
from typing import Any

import pytest

from genie_inspect.building.importing import Import, import_population
from genie_inspect.building.inspection import faults
from genie_inspect.errors import PopulationError
from genie_inspect.graders.grader import RefusedError
from genie_inspect.populations.population import Population
from genie_inspect.scorers.genie import genie

CASTLE = "Write a story about a castle and a spaceship."
COLUMNS = ("DocID", "Question", "Answer", "Feature", "Prompt", "Model")
# the study's released columns with the faults that such tables have
STUDY = [
    (1, "Who rules?", "", "Character", CASTLE, "m1"),  # the first answer of a reply is missing
    (1, "Where is it?", "Not specified.", "setting", CASTLE, "m1"),
    (1, "Why leave?", "7.0", "Plot", CASTLE, "m1"),  # a number that became a float
    (2, "Who rules?", "a king", "Characters", CASTLE, "m2"),
    (2, "Where is it?", "NOT  SPECIFIED", "Setting", CASTLE, "m2"),
    (2, "", "an answer to nothing", "Plot", CASTLE, "m2"),
    (2, "Why leave?", "greed", "storyline", CASTLE, "m2"),
    (2, "Why leave?", "Greed.", "Plot", CASTLE, "m2"),  # the same again
    ("3.0", "Why leave?", "love", "plot", CASTLE, "m2"),
    (3, "Why leave?", "money", "plot", CASTLE, "m2"),  # contradicts the row above
    (3, "Who rules?", "n/a", "agent", CASTLE, "m2"),
    (3, "Which smell?", "tar", "Smell", CASTLE, "m2"),  # of no feature
    (3, "How is it told?", "Not-specified!", "Tone / style", CASTLE, "m2"),  # of one feature in two words
]


def table(path: Path, columns: tuple[str, ...] = COLUMNS, rows: list[tuple[Any, ...]] = STUDY) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    return str(path)


def imported(source: str, folder: Path, **options: Any) -> tuple[dict[str, Any], Population]:
    done = import_population(Import(source=source, output=folder / "made", name="made", licence="MIT", **options))
    return done, Population(folder / "made")


def test_the_study_s_layout_imports_with_its_faults_counted(tmp_path: Path) -> None:
    done, population = imported(table(tmp_path / "study.csv"), tmp_path, preset="genie-study")
    asked = {question.text: question for question in population.questions(CASTLE)}
    assert {text: question.feature for text, question in asked.items()} == {
        "Who rules?": "agent",
        "Where is it?": "setting",
        "Why leave?": "plot",
        "How is it told?": "style",
    }
    assert population.answers("genie-study") == {
        ("1", asked["Where is it?"].id): None,
        ("1", asked["Why leave?"].id): "7",
        ("2", asked["Who rules?"].id): "a king",
        ("2", asked["Where is it?"].id): None,
        ("2", asked["Why leave?"].id): "greed",
        ("3", asked["Who rules?"].id): None,
        ("3", asked["How is it told?"].id): None,
    }
    assert done["dropped"] == {
        "answer to an unknown question": 2,
        "no answer": 1,
        "answer appears twice": 1,
        "unknown feature 'Smell'": 1,
        "answers that contradict each other, neither taken": 1,
    }
    assert done["renamed_features"] == {
        "Character = agent": 1,
        "Characters = agent": 1,
        "Plot = plot": 2,
        "Setting = setting": 1,
        "storyline = plot": 1,
        "Tone / style = style": 1,
    }
    # three documents, four questions each, seven answers
    assert (done["documents"], done["documents_answered"], done["missing_answers"]) == (0, 3, 5)
    order = Import(str(tmp_path / "study.csv"), tmp_path / "dry", "made", "MIT", preset="genie-study", dry_run=True)
    assert import_population(order) == done | {"population": ""}
    assert not (tmp_path / "dry").exists()
    # what compares documents says that there are none
    assert population.answers_alone
    with pytest.raises(PopulationError, match=r"cosine compares with documents, .* made-1@.* has only answers"):
        population.require_documents("cosine")
    with pytest.raises(RefusedError, match="judge=offline compares with documents"):
        genie(str(population.folder), judge="offline")


def lines(path: Path, *rows: dict[str, str]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_columns_that_bear_a_fields_name_need_no_mapping(tmp_path: Path) -> None:
    source = lines(tmp_path / "t.jsonl", {"prompt": CASTLE, "text": "It fell.", "by": "m", "question": "Really?"})
    done, population = imported(source, tmp_path, mapping=("model=by",))
    assert [(d.text, d.model) for d in population.documents(CASTLE)] == [("It fell.", "m")]
    # a question without a feature is none of ours
    assert (done["questions"], done["note"]) == (0, "")
    assert done["columns"] == {"model": "by", "prompt": "prompt", "text": "text"}


@pytest.mark.parametrize(("column", "mapping"), [("document", ()), ("story", ("document=story",))])
def test_a_text_that_is_called_document_is_read_with_a_word_about_it(
    column: str, mapping: tuple[str, ...], tmp_path: Path
) -> None:
    source = lines(tmp_path / "t.jsonl", {"prompt": CASTLE, column: "It fell."})
    done, population = imported(source, tmp_path, mapping=mapping)
    assert [d.text for d in population.documents(CASTLE)] == ["It fell."]
    assert done["note"].startswith(f"column '{column}' is read as text")


def test_documents_that_are_refusals_are_left_out_and_counted_with_the_answers_about_them(tmp_path: Path) -> None:
    texts = ["It fell.", "I'm sorry, but I can't help with that.", "“I can’t help with that,” it said."]
    texts.append("I won't write this.")
    rows = [
        {"ask": CASTLE, "story": text, "by": by, "question": "Who rules?", "feature": "agent", "answer": "a king"}
        for text, by in zip(texts, ("m2", "m2", "m1", ""), strict=True)
    ]
    source, mapping = lines(tmp_path / "t.jsonl", *rows), ("prompt=ask", "text=story", "model=by")
    done, population = imported(source, tmp_path, mapping=mapping)
    assert [(d.text, d.model) for d in population.documents(CASTLE)] == [(texts[0], "m2"), (texts[2], "m1")]
    assert (done["documents"], done["answers"], done["dropped"]) == (2, 2, {"refusal": 2})
    assert population.manifest.source_models == ("m1", "m2")
    assert not faults(population.folder)
    assert "| Not used | 2 refusal |" in (population.folder / "README.md").read_text()


def test_one_document_id_under_two_prompts_is_two_documents(tmp_path: Path) -> None:
    rows = [(1, "Who?", "a", "agent", "One.", "m"), (1, "Who?", "b", "agent", "Two.", "m")]
    _, population = imported(table(tmp_path / "t.csv", rows=rows), tmp_path, preset="genie-study")
    assert len({document for document, _ in population.answers("genie-study")}) == 2
    # without documents the answers are what a population is known by
    source = table(tmp_path / "u.csv", rows=[rows[0], (1, "Who?", "c", "agent", "Two.", "m")])
    assert imported(source, tmp_path / "other", preset="genie-study")[1].name != population.name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mapping": ("prompt=Promt",)}, r"map prompt=Promt: .* has no such column, it has DocID, Question"),
        ({"mapping": ("prompts=Prompt",)}, "map is 'prompts=Prompt', expected FIELD=COLUMN"),
        ({"mapping": ("prompt=Prompt",)}, "no column of .* is mapped to text: it has DocID, .*need prompt and text"),
        ({}, r"study\.csv is mapped to prompt and text: .* Use --map prompt=COLUMN --map text=COLUMN; documents"),
        ({"preset": "study"}, "preset is 'study', expected genie-study or a JSON file"),
        ({"preset": "genie-study", "features": "nowhere"}, "features are 'nowhere'"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused_and_nothing_written(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(PopulationError, match=message):
        imported(table(tmp_path / "study.csv"), tmp_path, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["study.csv"]


def test_a_table_of_nothing_usable_says_why(tmp_path: Path) -> None:
    rows = [(1, "Who?", "", "agent", CASTLE, "m"), (1, "Who?", "", "", CASTLE, "m")]
    with pytest.raises(PopulationError, match=r"could be used: .*'no answer': 2, 'no feature': 1"):
        imported(table(tmp_path / "t.csv", rows=rows), tmp_path, preset="genie-study")


RAIN = "Write about rain."
TEXTS = [{"prompt": RAIN, "text": "It rained until the mill stood in water."}, {"prompt": RAIN, "text": "No sun."}]


@pytest.mark.parametrize("columns", [(), ("prompt", "text", "question", "feature")])
def test_rows_of_questions_among_texts_are_refused_with_where_they_go(columns: tuple[str, ...], tmp_path: Path) -> None:
    rows = [*TEXTS, {"prompt": RAIN, "question": "What happens?", "feature": "plot"}]
    source = lines(tmp_path / "texts.jsonl", *rows)
    if columns:
        source = table(tmp_path / "texts.csv", columns, [tuple(row.get(name, "") for name in columns) for row in rows])
    with pytest.raises(PopulationError, match=r'1 of 3 rows are a question without a text.*--questions FILE.*"prompt"'):
        imported(source, tmp_path)
    assert not (tmp_path / "made").exists()


def test_questions_of_ones_own_and_features_without_definitions_make_a_population(tmp_path: Path) -> None:
    features = tmp_path / "features.json"
    features.write_text('{"features": [{"name": "plot"}, {"name": "story_time"}]}', encoding="utf-8")
    questions = [{"prompt": RAIN, "feature": "story_time", "text": "When is it?"}]
    elsewhere = [{"prompt": "Write about snow.", "feature": "plot", "text": "What happens?"}]
    own = Path(lines(tmp_path / "questions.jsonl", *questions, *elsewhere))
    source = lines(tmp_path / "texts.jsonl", *TEXTS)
    done, population = imported(source, tmp_path, features=str(features), questions=own)
    assert [feature.definition for feature in population.features] == ["plot", "story time"]
    assert [question.text for question in population.questions(RAIN)] == ["When is it?"]
    assert done["dropped"] == {"question to a prompt without texts": 1}
    assert not faults(population.folder)
    other = Path(lines(tmp_path / "other.jsonl", *elsewhere))
    with pytest.raises(PopulationError, match=r"none of the 1 questions .*'Write about snow\.'.*'Write about rain\.'"):
        imported(source, tmp_path / "none", features=str(features), questions=other)
