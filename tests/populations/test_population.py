import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.populations.conftest import CASTLE, OWL, Make
from tests.scripted import FEATURES, FOX, small_population
from tests.scripted import OWL as SCRIPTED_OWL

from genie_inspect.errors import PopulationError
from genie_inspect.populations.population import (
    ANSWERS,
    BUNDLED,
    DOCUMENTS,
    MANIFEST,
    QUESTIONS,
    Population,
    open_population,
    read_features,
    write_features,
)
from genie_inspect.populations.schema import AnswerRow, Document, Feature, Question, Row


def test_what_was_written_is_read_back(make: Make) -> None:
    opened = Population(make().folder)
    assert opened.prompts == [CASTLE, OWL]
    assert [d.text for d in opened.documents(CASTLE)] == ["It fell.\n\u2028The “end”.", "It stood."]
    assert [q.id for q in opened.questions(OWL)] == ["q3"]
    assert [(feature.name, feature.words) for feature in opened.features] == [("plot", ("ending",)), ("style", ())]
    manifest = opened.manifest
    assert opened.name == f"small-2@{manifest.digest}"
    assert (manifest.licence, manifest.source_models) == ("CC0-1.0", ("somebody/model",))
    assert manifest.counts.model_dump() == {"prompts": 2, "documents": 3, "questions": 3, "answers": 3}
    # answers are kept by reader
    assert opened.readers == ["grader(a)", "grader(b)"]
    assert opened.answers("grader(a)") == {("d1", "q1"): "it falls", ("d3", "q1"): None}
    assert opened.answers("grader(b)") == {("d1", "q1"): "collapse"}
    assert opened.answers("somebody else") == {}
    # spaces around a prompt hide nothing of it, and an unknown one has nothing
    spaced = f"\n {CASTLE} \n"
    assert (opened.documents(spaced), opened.questions(spaced)) == (opened.documents(CASTLE), opened.questions(CASTLE))
    assert opened.answers("grader(b)", spaced) == {("d1", "q1"): "collapse"}
    assert (opened.documents("Another prompt."), opened.questions("Another prompt.")) == ([], [])


def test_the_digest_is_that_of_the_content_wherever_it_stands_and_whoever_has_read_it(
    make: Make, tmp_path: Path
) -> None:
    digest = make(tmp_path / "a").manifest.digest
    assert make(tmp_path / "b", name="other").manifest.digest == digest
    assert make(tmp_path / "c", answers=[]).manifest.digest == digest
    other_content: dict[str, list[Any]] = {
        "documents": [document("d1")],
        "questions": [question("q1", "plot")],
        "features": [Feature(name="plot", definition="Another."), Feature(name="style", definition="How it is told.")],
    }
    for name, rows in other_content.items():
        assert make(tmp_path / name, **{"answers": [], name: rows}).manifest.digest != digest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.unlink(), "does not exist"),
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), r"is not the file that population\.json describes"),
        (lambda path: path.write_bytes(path.read_bytes()[:-3] + b"x" + path.read_bytes()[-2:]), "changed or cut"),
    ],
    ids=["missing", "cut", "one letter changed"],
)
@pytest.mark.parametrize("name", [DOCUMENTS, QUESTIONS, ANSWERS])
def test_a_file_that_is_not_what_it_was_is_named(
    name: str, change: Callable[[Path], object], message: str, make: Make
) -> None:
    folder = make().folder
    change(folder / name)
    with pytest.raises(PopulationError, match=rf"{name} .*{message}"):
        Population(folder)


COUNTS = {"prompts": 2, "documents": 3, "questions": 3, "answers": 3}
WRONG_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "another format": ({"format": 2}, r"field format: 2, expected 1"),
    "a misspelt field": ({"licence ": "MIT"}, r"field licence : Extra inputs"),
    "a name of the wrong type": ({"name": 3}, r"field name: .*got '3'"),
    "a count that is no number": ({"counts": {"prompts": "many"}}, r"field counts\.prompts: "),
    "a count too high": ({"counts": COUNTS | {"questions": 4}}, r"field counts\.questions: 4, expected 3"),
    "a count too low": ({"counts": COUNTS | {"documents": 2}}, r"field counts\.documents: 2, expected 3"),
    "a file too few": ({"files": {}}, r"field files: documents\.jsonl is not listed"),
    "another digest": ({"digest": "0" * 12}, r"field digest: '000000000000', expected"),
    "another feature": ({"features": [{"name": "plot", "definition": "Other."}]}, r"field digest"),
    "one feature twice": ({"features": [{"name": "plot", "definition": "x"}] * 2}, r"two features are named 'plot'"),
}


@pytest.mark.parametrize(("fields", "message"), WRONG_FIELDS.values(), ids=WRONG_FIELDS.keys())
def test_a_wrong_manifest_is_named_with_its_field(fields: dict[str, Any], message: str, make: Make) -> None:
    folder = make().folder
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | fields))
    with pytest.raises(PopulationError, match=rf"population\.json.*{message}"):
        Population(folder)


def document(name: str, prompt: str = CASTLE) -> Document:
    return Document(id=name, prompt=prompt, text="t")


def question(name: str, feature: str, text: str = "How?") -> Question:
    return Question(id=name, prompt=CASTLE, feature=feature, text=text)


def answer(document: str, question: str, text: str = "t") -> AnswerRow:
    return AnswerRow(document=document, question=question, reader="r", text=text)


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("documents", [document("d1"), document("d1", OWL)], "line 2, field id: 'd1' appears twice"),
        ("questions", [question("q1", "plot", text) for text in "ab"], "line 2, field id: 'q1' appears twice"),
        (
            "questions",
            [question("q1", "rhythm")],
            r"line 1, field feature: 'rhythm', expected one of \['plot', 'style'",
        ),
        ("answers", [answer("d1", "q9")], "line 1, field question: 'q9' is not a question"),
        ("answers", [answer("d9", "q1")], "line 1, field document: 'd9' is not a document"),
        ("answers", [answer("d1", "q3")], "line 1, field question: 'q3' is of another prompt"),
        ("answers", [answer("d1", "q1", text) for text in "ab"], "line 2, field question: 'q1' is answered twice"),
    ],
)
def test_rows_that_do_not_hold_together_are_named(name: str, rows: list[Row], message: str, make: Make) -> None:
    with pytest.raises(PopulationError, match=rf"{name}\.jsonl, {message}"):
        make(**{name: rows})


def test_a_write_that_dies_or_holds_a_fault_leaves_what_stood_there(make: Make) -> None:
    whole = make()
    folder = whole.folder
    files = sorted(path.name for path in folder.iterdir())

    def dying() -> Iterator[Question]:
        yield question("q1", "plot")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(documents=[document("d7")], questions=dying())
    with pytest.raises(PopulationError, match="'d9' is not a document"):
        make(answers=[answer("d9", "q1")])
    assert Population(folder).name == whole.name
    assert (sorted(path.name for path in folder.iterdir()), list(folder.parent.iterdir())) == (files, [folder])


def test_documents_alone_have_prompts_and_are_refused_by_what_asks_questions(make: Make) -> None:
    assert make(documents=[]).answers("grader(b)") == {("d1", "q1"): "collapse"}, "or answers alone"
    population = make(questions=[], answers=[])
    assert (population.prompts, population.manifest.counts.prompts) == ([CASTLE, OWL], 2)
    with pytest.raises(PopulationError, match=r"genie asks questions, and population .* has only documents"):
        population.require_questions("genie")


def test_a_population_opens_by_the_name_that_ships_and_by_its_path_and_by_no_other(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in BUNDLED:
        assert open_population(name).manifest.name == name
    make(tmp_path / "starter")
    monkeypatch.chdir(tmp_path)
    assert open_population("./starter").manifest.name == open_population(tmp_path / "starter").manifest.name == "small"
    assert open_population("starter").manifest.name == "starter"
    for name in ("startre", "", "none"):
        with pytest.raises(PopulationError, match=f"population is '{name}', expected abstracts, starter or a folder"):
            open_population(name)
    # once, until one of its files changes
    folder = make().folder
    first = open_population(folder)
    assert open_population(str(folder)) is open_population(folder) is first
    documents = folder / "documents.jsonl"
    documents.write_bytes(documents.read_bytes())
    assert open_population(folder) is not first


def test_features_come_from_a_file_a_population_or_a_bundled_one(tmp_path: Path) -> None:
    write_features(tmp_path / "features.json", FEATURES)
    assert read_features(tmp_path / "features.json") == FEATURES
    (tmp_path / "features.jsonl").write_text("".join(feature.model_dump_json() + "\n" for feature in FEATURES))
    assert read_features(tmp_path / "features.jsonl") == FEATURES
    assert read_features(small_population(tmp_path / "p").folder) == FEATURES
    assert [feature.name for feature in read_features("abstracts")][:2] == ["problem", "approach"]
    with pytest.raises(PopulationError, match="features are 'nowhere', expected abstracts, starter, a population's"):
        read_features("nowhere")


PLOT, MY_PLOT = '{"name": "plot", "definition": "What happens."}', '{"name": "My Plot", "definition": "x"}'


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        *(
            ("f.json", text, "")
            for text in ("{}", '{"features": []}', "[1]", "no json", f'{{"features": [{MY_PLOT}]}}')
        ),
        ("f.json", f'{{"features": [{PLOT}, {PLOT}]}}', ", field features: .*two features are named 'plot'"),
        ("f.jsonl", f"{PLOT}\n{MY_PLOT}\n", ", line 2, field name"),
        ("f.jsonl", f"{PLOT}\n{PLOT}\n", ".*two features are named 'plot'"),
        ("f.jsonl", "", ""),
    ],
)
def test_a_file_that_holds_no_features_is_refused(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(PopulationError, match=rf"f\.jsonl?{message}"):
        read_features(tmp_path / name)


CHANGED = "was changed while the population was in use"


def in_place(folder: Path) -> None:
    """Other documents of the same length, and the time of writing put back."""
    path = folder / DOCUMENTS
    before = path.stat()
    with path.open("r+b") as file:
        content = file.read()
        file.seek(0)
        file.write(content.replace(b"owl", b"cow"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def test_what_was_read_before_a_change_stays_what_it_was_and_the_rest_is_refused(tmp_path: Path) -> None:
    population = small_population(tmp_path / "p")
    before = population.documents(SCRIPTED_OWL)
    text = (tmp_path / "p" / DOCUMENTS).read_text()
    swapped = text.replace(SCRIPTED_OWL, "@").replace(FOX, SCRIPTED_OWL).replace("@", FOX)
    (tmp_path / "p" / DOCUMENTS).write_text(swapped)
    (tmp_path / "p" / ANSWERS).write_text('{"document": "d", "question": "q", "reader": "r", "text": "a"}\n')
    assert population.documents(SCRIPTED_OWL) == before
    with pytest.raises(PopulationError, match=CHANGED):
        population.documents(FOX)
    with pytest.raises(PopulationError, match=CHANGED):
        assert population.readers


def test_a_change_while_a_file_is_read_is_an_error_and_a_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    population = small_population(tmp_path / "p")
    with pytest.raises(PopulationError, match=CHANGED), population._files[DOCUMENTS].open():
        in_place(population.folder)
    with pytest.raises(PopulationError, match=rf"{DOCUMENTS} {CHANGED}"):
        population.documents(SCRIPTED_OWL)
    shutil.rmtree(tmp_path / "p")
    with pytest.raises(PopulationError, match="cannot be read any more"):
        population.documents(SCRIPTED_OWL)


def test_the_same_bytes_in_another_file_are_no_change(tmp_path: Path) -> None:
    population = Population(small_population(tmp_path / "p").folder)
    shutil.copy(tmp_path / "p" / DOCUMENTS, tmp_path / "copy")
    (tmp_path / "copy").replace(tmp_path / "p" / DOCUMENTS)
    assert len(population.documents(SCRIPTED_OWL)) == 3
    (tmp_path / "p" / DOCUMENTS).touch()
    assert len(population.documents(FOX)) == 2
