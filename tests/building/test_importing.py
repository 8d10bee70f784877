import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.scripted import saying

from genie_inspect.building.importing import Import, import_population
from genie_inspect.building.inspection import faults
from genie_inspect.errors import MissingExtraError, PopulationError, UnwritableError
from genie_inspect.graders.grader import RefusedError
from genie_inspect.populations.population import Population
from genie_inspect.populations.prompts import TableError
from genie_inspect.populations.schema import Question, question_id, write_rows
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
        "answer stands twice": 1,
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


def test_a_population_of_answers_alone_says_so_to_what_compares_documents(tmp_path: Path) -> None:
    _, population = imported(table(tmp_path / "study.csv"), tmp_path, preset="genie-study")
    assert population.answers_alone
    with pytest.raises(PopulationError, match=r"cosine compares with documents, .* made-1@.* has only answers"):
        population.require_documents("cosine")
    with pytest.raises(RefusedError, match="judge=embedded compares with documents"):
        genie(str(population.folder), judge="embedded")


def test_two_tables_with_other_answers_are_two_populations_where_there_are_no_documents(tmp_path: Path) -> None:
    names = []
    for answer in ("a king", "a queen"):
        rows = [(1, "Who rules?", answer, "agent", CASTLE, "m")]
        (tmp_path / answer).mkdir()
        _, population = imported(table(tmp_path / "t.csv", rows=rows), tmp_path / answer, preset="genie-study")
        names.append(population.name)
    assert names[0] != names[1]


def test_documents_come_from_json_lines_by_a_mapping(tmp_path: Path) -> None:
    rows = [{"ask": CASTLE, "story": "It fell.", "by": "m1"}, {"ask": CASTLE, "story": "It stood.", "by": None}]
    source = tmp_path / "stories.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done, population = imported(str(source), tmp_path, mapping=("prompt=ask", "text=story", "model=by"))
    assert done["documents"] == 2
    assert [(d.text, d.model) for d in population.documents(CASTLE)] == [("It fell.", "m1"), ("It stood.", "")]


def test_the_manifest_names_the_models_that_the_table_names_and_none_for_the_others(tmp_path: Path) -> None:
    rows = [{"prompt": CASTLE, "text": f"It fell {by}.", "model": by} for by in ("m2", "", "m1")]
    _, population = imported(lines(tmp_path / "t.jsonl", *rows), tmp_path)
    assert population.manifest.source_models == ("m1", "m2")


def lines(path: Path, *rows: dict[str, str]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_columns_that_bear_a_fields_name_need_no_mapping(tmp_path: Path) -> None:
    source = lines(tmp_path / "t.jsonl", {"prompt": CASTLE, "text": "It fell.", "by": "m", "question": "Really?"})
    done, population = imported(source, tmp_path, mapping=("model=by",))
    assert [(d.text, d.model) for d in population.documents(CASTLE)] == [("It fell.", "m")]
    # a question without a feature is none of ours
    assert (done["questions"], done["note"]) == (0, "")
    assert done["columns"] == {"model": "by", "prompt": "prompt", "text": "text"}


def test_answers_in_columns_of_those_names_are_read_with_their_questions(tmp_path: Path) -> None:
    row = {"prompt": CASTLE, "text": "It fell.", "question": "Who rules?", "feature": "agent", "answer": "nobody"}
    done, _ = imported(lines(tmp_path / "t.jsonl", row), tmp_path)
    assert (done["documents"], done["questions"], done["answers"]) == (1, 1, 1)


@pytest.mark.parametrize(("column", "mapping"), [("document", ()), ("story", ("document=story",))])
def test_a_text_that_is_called_document_is_read_with_a_word_about_it(
    column: str, mapping: tuple[str, ...], tmp_path: Path
) -> None:
    source = lines(tmp_path / "t.jsonl", {"prompt": CASTLE, column: "It fell."})
    done, population = imported(source, tmp_path, mapping=mapping)
    assert [d.text for d in population.documents(CASTLE)] == ["It fell."]
    assert done["note"].startswith(f"column '{column}' is read as text")


def test_with_a_text_beside_it_document_is_an_id(tmp_path: Path) -> None:
    rows = (
        {"prompt": CASTLE, "text": "It fell.", "document": "7"},
        {"prompt": CASTLE, "text": "It fell.", "document": "8"},
    )
    done, _ = imported(lines(tmp_path / "t.jsonl", *rows), tmp_path)
    assert (done["columns"]["document"], done["note"]) == ("document", "")


def test_what_is_missing_is_named_with_what_the_table_has_and_what_documents_need(tmp_path: Path) -> None:
    source = lines(tmp_path / "t.jsonl", {"ask": CASTLE, "story": "It fell."})
    with pytest.raises(PopulationError) as caught:
        imported(source, tmp_path)
    assert (
        "t.jsonl is mapped to prompt and text: it has ask, story. Use --map prompt=COLUMN --map text=COLUMN; "
        in str(caught.value)
    )


def test_documents_that_are_refusals_are_left_out_and_counted(tmp_path: Path) -> None:
    texts = [
        "It fell.",
        "I'm sorry, but I can't help with that.",
        "“I can’t help with that,” it said.",
        "I won't write this.",
    ]
    source = tmp_path / "stories.jsonl"
    source.write_text("".join(json.dumps({"prompt": CASTLE, "story": text}) + "\n" for text in texts))
    done, population = imported(str(source), tmp_path, mapping=("prompt=prompt", "text=story"))
    assert [document.text for document in population.documents(CASTLE)] == [texts[0], texts[2]]
    assert (done["documents"], done["dropped"]) == (2, {"refusal": 2})
    assert "| Not used | 2 refusal |" in (population.folder / "README.md").read_text()


def test_answers_about_a_refusal_are_left_out_with_it(tmp_path: Path) -> None:
    rows = [
        {"prompt": CASTLE, "story": story, "question": "Who rules?", "feature": "agent", "answer": answer}
        for story, answer in (
            ("It fell.", "a king"),
            ("I can't write this.", "None"),
            ("I can't write this.", "nobody"),
        )
    ]
    source = tmp_path / "stories.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = ("prompt=prompt", "text=story", "question=question", "feature=feature", "answer=answer")
    done, population = imported(str(source), tmp_path, mapping=columns)
    assert (done["documents"], done["answers"], done["dropped"]) == (1, 1, {"refusal": 2})
    assert faults(population.folder) == []


@pytest.mark.parametrize(
    "phrase",
    [
        "The time period is not specified",
        "Location not mentioned",
        "Setting is unspecified",
        "unspecified time",
        "Does not apply",
        "None",
        "[not said]",
    ],
)
def test_an_imported_answer_that_says_nothing_is_none(phrase: str, tmp_path: Path) -> None:
    rows = [
        (1, "Where is it?", phrase, "setting", CASTLE, "m1"),
        (2, "Where is it?", "none of them", "setting", CASTLE, "m1"),
    ]
    done, population = imported(table(tmp_path / "t.csv", rows=rows), tmp_path, preset="genie-study")
    assert sorted(population.answers("genie-study").values(), key=str) == [None, "none of them"]
    assert done["unspecified"] == 1


def test_questions_of_a_file_are_asked_of_documents_that_came_without(tmp_path: Path) -> None:
    source = tmp_path / "stories.jsonl"
    source.write_text(json.dumps({"prompt": CASTLE, "story": "It fell."}))
    asked = [
        Question(id=question_id(prompt, "Why?"), prompt=prompt, feature="plot", text="Why?")
        for prompt in (CASTLE, "Write about nobody.")
    ]
    write_rows(tmp_path / "questions.jsonl", asked)
    mapping = ("prompt=prompt", "text=story")
    done, population = imported(str(source), tmp_path, mapping=mapping, questions=tmp_path / "questions.jsonl")
    assert (done["questions"], population.questions(CASTLE), faults(population.folder)) == (1, asked[:1], [])


def test_an_output_that_is_taken_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "made").write_text("mine")
    with pytest.raises(UnwritableError, match="made is a file, expected a new or empty folder"):
        imported("nowhere.csv", tmp_path, preset="genie-study")
    assert (tmp_path / "made").read_text() == "mine"


def test_one_document_id_under_two_prompts_is_two_documents(tmp_path: Path) -> None:
    rows = [(1, "Who?", "a", "agent", "One.", "m"), (1, "Who?", "b", "agent", "Two.", "m")]
    _, population = imported(table(tmp_path / "t.csv", rows=rows), tmp_path, preset="genie-study")
    assert len({document for document, _ in population.answers("genie-study")}) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mapping": ("prompt=Promt",)}, r"map prompt=Promt: .* has no such column, it has DocID, Question"),
        ({"mapping": ("prompts=Prompt",)}, "map is 'prompts=Prompt', expected FIELD=COLUMN"),
        (
            {"mapping": ("prompt=Prompt",)},
            "no column of .* is mapped to text: it has DocID, .*documents need prompt and text",
        ),
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
    rows = [(1, "Who?", "", "agent", CASTLE, "m")]
    with pytest.raises(PopulationError, match=r"could be used: .*'no answer': 1"):
        imported(table(tmp_path / "t.csv", rows=rows), tmp_path, preset="genie-study")


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    order = Import(
        source=table(tmp_path / "t.csv"),
        output=tmp_path / "made",
        name="a",
        licence="MIT",
        preset="genie-study",
        dry_run=True,
    )
    assert import_population(order)["answers"] == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_a_writer_is_scored_against_recorded_answers_and_the_score_says_by_whom(tmp_path: Path) -> None:
    from tests.scripted import evaluated, grading

    _, population = imported(table(tmp_path / "study.csv"), tmp_path, preset="genie-study")
    grader = grading(answer=lambda document, question: "a king", rating=lambda one, other: 4 if one == other else 1)
    log = evaluated(genie(str(population.folder)), saying("A castle rose."), grader, tmp_path, (CASTLE,))
    score = (log.samples or [])[0].scores["genie"]  # type: ignore[index]  # scored, else the line fails
    # "Who rules?": king against king, 4; "Why leave?": king against 7 and greed, 1 and 1
    assert isinstance(score.value, dict)
    assert (score.value["agent"], score.value["plot"]) == (0.0, 1.0)
    assert "recorded answers alone, by genie-study" in str(score.explanation)


def test_the_card_of_documents_alone_names_the_panel_and_of_questions_the_grader(tmp_path: Path) -> None:
    _, alone = imported(lines(tmp_path / "t.jsonl", {"prompt": CASTLE, "text": "It fell."}), tmp_path / "a")
    row = {"prompt": CASTLE, "text": "It fell.", "question": "Who rules?", "feature": "agent"}
    _, asked = imported(lines(tmp_path / "q.jsonl", row), tmp_path / "b")
    cards = [(population.folder / "README.md").read_text(encoding="utf-8") for population in (alone, asked)]
    assert ["-T panel=cheap" in card for card in cards] == [True, False]
    assert ["--model-role grader=" in card for card in cards] == [False, True]


RAIN = "Write about rain."
TEXTS = [{"prompt": RAIN, "text": "It rained until the mill stood in water."}, {"prompt": RAIN, "text": "No sun."}]


def json_lines(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("columns", [(), ("prompt", "text", "question", "feature")])
def test_rows_of_questions_among_texts_are_refused_with_where_they_go(columns: tuple[str, ...], tmp_path: Path) -> None:
    rows = [*TEXTS, {"prompt": RAIN, "question": "What happens?", "feature": "plot"}]
    source = str(json_lines(tmp_path / "texts.jsonl", rows))
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
    done, population = imported(
        str(json_lines(tmp_path / "texts.jsonl", TEXTS)),
        tmp_path,
        features=str(features),
        questions=json_lines(tmp_path / "questions.jsonl", questions + elsewhere),
    )
    assert [feature.definition for feature in population.features] == ["plot", "story time"]
    assert [question.text for question in population.questions(RAIN)] == ["When is it?"]
    assert done["dropped"] == {"question to a prompt without texts": 1}
    assert faults(population.folder) == []


def test_questions_of_which_none_is_of_a_prompt_of_the_texts_are_refused(tmp_path: Path) -> None:
    questions = [{"prompt": "Write about snow.", "feature": "plot", "text": "What happens?"}]
    with pytest.raises(PopulationError, match=r"none of the 1 questions .*'Write about snow\.'.*'Write about rain\.'"):
        imported(
            str(json_lines(tmp_path / "texts.jsonl", TEXTS)),
            tmp_path,
            questions=json_lines(tmp_path / "questions.jsonl", questions),
        )


def test_parquet_without_its_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtraError, match="needs the extra hub: pip install"):
        imported(str(tmp_path / "t.parquet"), tmp_path, preset="genie-study")


@pytest.mark.parametrize("source", ["nowhere.csv", "nowhere"])
def test_a_source_that_is_not_there_is_refused_with_what_would_work(source: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"expected a \.jsonl, \.csv or \.parquet file, or the id of a hub dataset"):
        imported(source, tmp_path, preset="genie-study")


def test_a_hub_id_without_network_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unreachable:
        """Stands where the library `datasets` would, which the tests do not install."""

        @staticmethod
        def load_dataset(*_: object, **__: object) -> None:
            raise ConnectionError("Couldn't reach\nthe Hub")

    monkeypatch.setitem(sys.modules, "datasets", Unreachable)
    with pytest.raises(
        TableError, match=r"dataset some/one cannot be loaded: Couldn't reach the Hub\. Without network"
    ):
        imported("some/one", tmp_path, preset="genie-study")
