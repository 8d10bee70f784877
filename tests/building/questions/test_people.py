"""People's word on questions, beside the generator's."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from genie_inspect.building.questions.files import write_record
from genie_inspect.building.questions.people import (
    INSTRUCTIONS,
    judged_questions,
    question_figures,
    read_table,
    write_tables,
)
from genie_inspect.building.questions.writing import Record, Step
from genie_inspect.cli import main
from genie_inspect.errors import PopulationError
from genie_inspect.populations.schema import Feature, question_id
from genie_inspect.statistics.agreement import krippendorff_alpha

FEATURES = [Feature(name="plot", definition="What happens."), Feature(name="social_atmosphere", definition="How.")]
PROMPT = "Write about owls."
VERDICTS = {
    "Is it dark?": ("polar (by rule)", ""),
    "What happens?": ("", "plot"),
    "How does it end?": ("", "plot"),
    "Who speaks to whom?": ("", "social_atmosphere"),
    "What is it?": ("", ""),
    "Why?": ("unreadable reply", ""),
}


def step(text: str, reason: str = "", feature: str = "") -> Step:
    return Step(prompt=PROMPT, source="ending", text=text, kept=not reason, reason=reason, feature=feature)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What `genie questions write` leaves, without the questions themselves."""
    filtered = [step(text, reason) for text, (reason, _) in VERDICTS.items()]
    mapped = [step(text, "" if feature else "no feature", feature) for text, (r, feature) in VERDICTS.items() if not r]
    place = tmp_path / "written"
    place.mkdir()
    write_record(place, Record(filtered, filtered, mapped))
    return place


def table(path: Path, **said: tuple[str, str]) -> Path:
    """A person's table: by the question's place, what is valid and of which feature."""
    rows = [(question_id(PROMPT, list(VERDICTS)[int(place[1:])]), *words) for place, words in said.items()]
    path.write_text("\n".join([",".join(("id", "valid", "feature")), *map(",".join, rows)]) + "\n")
    return path


def test_rejected_questions_are_among_those_that_people_see_and_unread_verdicts_are_not(folder: Path) -> None:
    found = {question.text: (question.valid, question.feature) for question in judged_questions(folder, FEATURES)}
    assert found == {
        "Is it dark?": (False, ""),
        "What happens?": (True, "plot"),
        "How does it end?": (True, "plot"),
        "Who speaks to whom?": (True, "social_atmosphere"),
        "What is it?": (True, "none"),
    }


def test_a_population_has_questions_that_passed() -> None:
    from genie_inspect.populations.features import read_features

    found = judged_questions("starter", read_features("starter"))
    assert len(found) > 50
    assert all(question.valid and question.feature for question in found)


def test_people_see_neither_verdict_nor_feature_in_an_order_that_the_seed_shuffles(
    folder: Path, tmp_path: Path
) -> None:
    judged = judged_questions(folder, FEATURES)
    orders = set()
    for seed in range(6):
        path = tmp_path / f"{seed}.csv"
        assert write_tables(path, judged, FEATURES, seed=seed) == 5
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert {(row["valid"], row["feature"], row["note"]) for row in rows} == {("", "", "")}
        assert {row["question"] for row in rows} == {question.text for question in judged}
        orders.add(tuple(row["id"] for row in rows))
    assert len(orders) > 3
    page = (tmp_path / "0.md").read_text()
    assert page.startswith(INSTRUCTIONS[:20])
    assert "- social_atmosphere: How.\n" in page


def test_so_many_are_drawn_as_are_asked_for(folder: Path, tmp_path: Path) -> None:
    assert write_tables(tmp_path / "t.csv", judged_questions(folder, FEATURES), FEATURES, count=2) == 2


def test_figures_by_hand(folder: Path, tmp_path: Path) -> None:
    judged = judged_questions(folder, FEATURES)
    # ann: valid are 1, 2, 3; bob leaves 4 out and finds 0 valid
    ann = table(
        tmp_path / "ann.csv",
        q0=("no", ""),
        q1=("y", "plot"),
        q2=("yes", "Social  atmosphere"),
        q3=("1", "plot"),
        q4=("n", "none"),
    )
    bob = table(
        tmp_path / "bob.csv", q0=("yes", "plot"), q1=("yes", "plot"), q2=("no", "plot"), q3=("yes", "social_atmosphere")
    )
    votes = [read_table(path, judged, FEATURES) for path in (ann, bob)]
    rows = {(row.what, row.person): row for row in question_figures(votes, judged, FEATURES)}
    # we call 1 to 4 valid: of ann's five 4 is wrong; f1 = 2 * 3 / (4 + 3)
    valid = rows["valid", "ann"]
    assert (valid.questions, valid.accuracy, valid.f1) == pytest.approx((3, 0.8, 6 / 7))
    # of bob's four 0 and 2 are wrong: both 1, 3; we 1, 2, 3, he 0, 1, 3
    assert (rows["valid", "bob"].accuracy, rows["valid", "bob"].f1) == pytest.approx((0.5, 4 / 6))
    units = [[0.0, 1, 1, 1, 0], [1, 1, 0, 1, math.nan]]
    assert valid.alpha == rows["valid", "bob"].alpha == pytest.approx(krippendorff_alpha(units, "nominal"))
    # plot: ann 1, 3; we 1, 2: one of her two, f1 = 2 / 4
    assert (rows["plot", "ann"].questions, rows["plot", "ann"].accuracy, rows["plot", "ann"].f1) == (2, 0.5, 0.5)
    # bob's 0 was not mapped: his plots are 1, 2, as ours
    assert (rows["plot", "bob"].questions, rows["plot", "bob"].accuracy, rows["plot", "bob"].f1) == (2, 1, 1)
    # ann: 1 and 4 alike of four; f1 plot 1/2, atmosphere 0
    overall = rows["all features", "ann"]
    assert (overall.questions, overall.accuracy, overall.f1) == (4, 0.5, 0.25)
    named = [[0.0, 1, 0, 2], [0, 0, 1, math.nan]]
    # nominal units: 1, 2, 3, 4; 0 has bob's word alone, which is in no pair
    assert overall.alpha == pytest.approx(krippendorff_alpha(named, "nominal"))
    assert math.isnan(rows["plot", "ann"].alpha)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q-0,yes,", "row 2: id 'q-0' is of no question"),
        ("{id},perhaps,", "row 2, column valid: 'perhaps', expected yes, no or nothing"),
        ("{id},yes,mood", "row 2, column feature: 'mood', expected one of"),
        ("{id},yes,\n{id},no,", "row 3: id '{id}' stands twice"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(row: str, message: str, folder: Path, tmp_path: Path) -> None:
    judged = judged_questions(folder, FEATURES)
    path = tmp_path / "t.csv"
    path.write_text("id,valid,feature\n" + row.format(id=judged[0].id) + "\n")
    with pytest.raises(PopulationError, match=message.format(id=judged[0].id)):
        read_table(path, judged, FEATURES)


def called(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, ["questions", "review", *map(str, arguments)])


def test_a_blind_table_goes_out_and_comes_back(tmp_path: Path) -> None:
    out = called("starter", "--blind", "--count", 12, "--to", tmp_path / "ann.csv")
    assert "questions: 12" in out.output
    text = (tmp_path / "ann.csv").read_text().replace(",,,\n", ",yes,none,\n")
    (tmp_path / "bob.csv").write_text(text)
    result = called("starter", "--blind", "--from", tmp_path / "ann.csv", "--from", tmp_path / "bob.csv", "--json")
    facts: Any = json.loads(result.output)
    valid = {row["person"]: (row["questions"], row["accuracy"]) for row in facts["figures"] if row["what"] == "valid"}
    assert valid == {"ann": (0, None), "bob": (12, 1.0)}
    shown = called("starter", "--blind", "--from", tmp_path / "bob.csv").output
    assert "1 people" in shown
    assert "accuracy: share of these" in " ".join(shown.split())


@pytest.mark.parametrize("more", [(), ("--to", "a.csv", "--from", "b.csv")])
def test_a_blind_review_goes_out_or_comes_back(more: tuple[str, ...]) -> None:
    assert "give either --to TABLE, or --from TABLE once for each person" in called("starter", "--blind", *more).output


def test_a_correction_has_one_table() -> None:
    result = called("starter", "--from", "a.csv", "--from", "b.csv", "-o", "out.jsonl")
    assert "give either --to TABLE, or --from TABLE with --output FILE" in result.output
