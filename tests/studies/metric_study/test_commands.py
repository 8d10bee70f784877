"""`genie edits`, as a user calls it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from inspect_ai.model import Model
from tests.building.scripts import write_log
from tests.pairs import pairs
from tests.scripted import DOCUMENTS, FOX, OWL, Script, small_population
from tests.studies.metric_study.test_writing import ASKED, DOCUMENT, editing

from genie_inspect.building.interviewing import no_progress
from genie_inspect.cli import main, running
from genie_inspect.errors import GenieError, GraderFailedError
from genie_inspect.populations.interventions import Interventions
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import AnswerRow
from genie_inspect.studies.metric_study.checking import CHECKS
from genie_inspect.studies.metric_study.writing import REJECTED, Material, materials


def genie(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["edits", *map(str, arguments)])


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Any model that a command names is this one."""
    script = editing()

    def named(name: str) -> Model:
        return script.model()

    monkeypatch.setattr(running, "get_model", named)
    return script


def write(folder: Path, *options: object) -> Result:
    small_population(folder / "p") if not (folder / "p").exists() else None
    features = ("--features", folder / "p")
    return genie("write", folder / "p", "-o", folder / "out", "--editor", "openai/x", *features, *options, "--json")


def test_a_folder_holds_originals_edits_and_paraphrases_by_as_many_calls_as_a_dry_run_counts(
    model: Script, tmp_path: Path
) -> None:
    options = ("--paraphrases", 1, "--per-prompt", 1)
    planned = json.loads(write(tmp_path, *options, "--dry-run").stdout)
    assert model.requests == []
    assert not (tmp_path / "out").exists()
    result = write(tmp_path, *options)
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert (said["originals"], said["edits"], said["paraphrases"]) == (2, {"plot": 2, "style": 2}, 2)
    study = Interventions(tmp_path / "out")
    assert [text.kind for text in study.texts()] == ["original", "edit", "edit", "paraphrase"] * 2
    assert (tmp_path / "out" / REJECTED).read_text() == ""
    assert planned["calls_needed"] == said["calls"] == len(model.requests)


@pytest.mark.usefixtures("model")
def test_a_run_that_was_killed_goes_on_without_asking_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, count = editing(), 0

    def failing(request: str) -> str:
        nonlocal count
        count += 1
        if count > 12:
            raise GraderFailedError("the server is gone")
        return str(script.reply(request))

    monkeypatch.setattr(running, "get_model", lambda name: Script(failing).model())
    stopped = write(tmp_path)
    assert stopped.exit_code == 1
    assert "the server is gone" in stopped.output
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(running, "get_model", lambda name: script.model())
    made = json.loads(write(tmp_path).stdout)
    assert made["replies_on_record"] == 12
    assert len(script.requests) == made["calls"] == 53


@pytest.mark.parametrize(
    ("editor", "fault"),
    [
        ("bundled/grader", "--editor bundled/grader only replays recorded texts. Name a model that can edit"),
        ("nobody/x", "--editor: 'nobody/x' is not a model of Inspect"),
    ],
)
def test_who_cannot_edit_is_named_with_the_option(tmp_path: Path, editor: str, fault: str) -> None:
    small_population(tmp_path / "p")
    result = genie("write", tmp_path / "p", "-o", tmp_path / "out", "--editor", editor)
    assert result.exit_code
    assert fault in result.output
    assert not (tmp_path / "out.work").exists()


def check(folder: Path, *options: object) -> Result:
    small_population(folder / "p") if not (folder / "p").exists() else None
    return genie("check", folder / "pairs", "--population", folder / "p", *options)


@pytest.mark.usefixtures("model")
def test_a_check_leaves_the_texts_with_what_was_seen_and_what_is_left_out(tmp_path: Path) -> None:
    pairs(tmp_path / "pairs")
    result = check(tmp_path, "-o", tmp_path / "checked", "--grader", "openai/x", "--json")
    assert result.exit_code == 0, result.output
    rows = {row["feature"]: row for row in json.loads(result.stdout)["checks"]}
    # a reader whose answers quote the text finds every answer another
    assert (rows["plot"]["texts"], rows["plot"]["effect"], rows["plot"]["invasiveness"]) == (1, 1, 1)
    assert (rows["plot"]["left_out"], rows["paraphrase"]["left_out"]) == (1, 1)
    assert rows["paraphrase"]["valid"] is None
    checked = Interventions(tmp_path / "checked")
    assert set(checked.left_out) == {"i-owl", "i-again", "i-fox"}
    assert list(checked.texts()) == []
    assert len((tmp_path / "checked" / CHECKS).read_text().splitlines()) == 3


@pytest.mark.usefixtures("model")
def test_people_fill_tables_of_their_own_and_are_held_against_the_check(tmp_path: Path) -> None:
    pairs(tmp_path / "pairs")
    check(tmp_path, "-o", tmp_path / "checked", "--grader", "openai/x", "--most-invasive", 1, "--most-paraphrased", 1)
    (tmp_path / "ann.csv").write_text("id,valid,effective,invasive\ni-owl,yes,yes,no\n")
    (tmp_path / "bob.csv").write_text("id,valid,effective,invasive\ni-owl,yes,no,no\n")
    tables = ("--from", tmp_path / "ann.csv", "--from", tmp_path / "bob.csv")
    result = genie("check", tmp_path / "checked", *tables, "--json")
    rows = {(row["feature"], row["criterion"]): row for row in json.loads(result.stdout)["figures"]}
    assert (rows["plot", "valid"]["kappa"], rows["plot", "valid"]["agreement"]) == (1, 1)
    # one says yes and one no: no majority for an effect that the check saw
    assert (rows["plot", "effective"]["kappa"], rows["plot", "effective"]["agreement"]) == (-1, 0)
    table = genie("check", tmp_path / "checked", *tables)
    assert "2 people" in table.output
    assert "as the check" in table.output


def test_one_way_of_checking_is_asked_for_at_a_time(tmp_path: Path) -> None:
    pairs(tmp_path / "pairs")
    for options in ((), ("--grader", "openai/x"), ("--to", tmp_path / "a.csv", "--from", tmp_path / "a.csv")):
        result = check(tmp_path, *options)
        assert result.exit_code == 2
        assert "give one of --grader MODEL with --output FOLDER, --to TABLE, and --from TABLE" in result.output


@pytest.mark.usefixtures("model")
def test_questions_of_other_prompts_check_nothing(tmp_path: Path) -> None:
    pairs(tmp_path / "pairs")
    result = genie("check", tmp_path / "pairs", "-o", tmp_path / "out", "--grader", "openai/x")
    assert result.exit_code == 1
    assert "has no question for any prompt of" in result.output


def taken(folder: Path, source: object, asks: Population | None = None, limit: int | None = None) -> list[Material]:
    return materials([str(source)], asks, limit, folder, no_progress)


def test_a_population_gives_its_documents_with_its_questions(tmp_path: Path) -> None:
    population = small_population(tmp_path / "p")
    found = taken(tmp_path, tmp_path / "p")
    assert sorted(document.text for document, *_ in found) == sorted(DOCUMENTS[OWL] + DOCUMENTS[FOX])
    _, questions, answers = found[0]
    assert [question.text for question in questions] == [q.text for q in population.questions(OWL)]
    assert answers == {}
    # a limit takes the first documents of each prompt by their ids
    every = [document.id for document, *_ in found]
    assert [document.id for document, *_ in taken(tmp_path, tmp_path / "p", limit=1)] == [
        min(every[:3]),
        min(every[3:]),
    ]


def test_of_several_readers_the_first_one_s_answers_count(tmp_path: Path) -> None:
    given = [
        AnswerRow(document=DOCUMENT.id, question=ASKED[place].id, reader=reader, text=f"{reader} says")
        for reader, place in (("first", 0), ("second", 0), ("second", 1))
    ]
    small_population(tmp_path / "p", answers=given)
    found = {document.id: answers for document, _, answers in taken(tmp_path, tmp_path / "p")}
    assert found[DOCUMENT.id] == {ASKED[0].id: "first says", ASKED[1].id: "second says"}


def test_documents_of_logs_need_a_population_whose_questions_are_asked(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.eval", "a/one", {OWL: ["An owl went out at night and came home again."]})
    with pytest.raises(GenieError, match="documents of logs need --population"):
        taken(tmp_path, log)
    ((document, questions, answers),) = taken(tmp_path, log, small_population(tmp_path / "p"))
    assert document.text == "An owl went out at night and came home again."
    assert [question.prompt for question in questions] == [OWL] * 3
    assert answers == {}
