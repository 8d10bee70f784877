import csv
from collections import Counter
from pathlib import Path

import pytest
from tests.pairs import FOX_EDIT, GREY, OWL_AGAIN, OWL_EDIT, TEXTS, pairs
from tests.scripted import FEATURES, Script, small_population
from tests.studies.metric_study.scripts import editing

from genie_inspect.errors import InterventionsError
from genie_inspect.graders.instrument import Instrument
from genie_inspect.populations.interventions import Interventions, Paraphrase
from genie_inspect.studies.metric_study.checking import (
    CRITERIA,
    PAIRS_AT_ONCE,
    Checked,
    Checker,
    Limits,
    faults,
    people_figures,
    read_table,
    write_tables,
)
from genie_inspect.studies.metric_study.writing import Editor

ANSWERS = {
    (GREY, "What happens?"): "it sits",
    (GREY, "How does it end?"): "calm",
    (GREY, "What is the tone?"): "plain",
    (OWL_EDIT, "What happens?"): "it burns",
    (OWL_EDIT, "How does it end?"): "calm",
    (OWL_EDIT, "What is the tone?"): "grim",
}


def by_table(document: str, question: str) -> str:
    return ANSWERS.get((document, question), ANSWERS.get((GREY, question), "the same"))


async def checked(script: Script, folder: Path, study: Interventions | None = None) -> dict[str, Checked]:
    model = script.model()
    population = small_population(folder / "population")
    reader, judge = Instrument("list", cache=False).reader_and_judge(model, FEATURES)
    checker = Checker(population, reader, judge, Editor(model), {f.name: f.definition for f in FEATURES})
    return {row.id: row for row in await checker.check(study or pairs(folder / "pairs"))}


async def test_an_edit_is_valid_effective_and_invasive_by_what_is_read(tmp_path: Path) -> None:
    script = editing(answer=by_table)
    rows = await checked(script, tmp_path)
    edit = rows["i-owl"]
    # one of two answers about the plot is another, and the one about style
    assert (edit.kind, edit.feature, edit.valid, edit.effect, edit.invasiveness) == ("edit", "plot", True, 0.5, 1.0)
    assert (round(edit.words_changed, 3), round(edit.length_ratio, 3)) == (0.286, 1.0)
    question = next(data for data in script.data if data.get("value") == "a fire")
    assert question == {"text": OWL_EDIT, "feature": "plot", "definition": "What happens.", "value": "a fire"}


async def test_a_paraphrase_has_all_its_answers_held_against_the_originals(tmp_path: Path) -> None:
    ANSWERS[OWL_AGAIN, "What is the tone?"] = "solemn"
    again = (await checked(editing(answer=by_table), tmp_path))["i-again"]
    del ANSWERS[OWL_AGAIN, "What is the tone?"]
    assert (again.valid, again.effect) == (None, None)
    assert again.invasiveness == pytest.approx(1 / 3)


async def test_equal_answers_are_not_asked_about_and_silence_on_both_sides_is_no_change(tmp_path: Path) -> None:
    script = editing(answer=lambda document, question: "[not said]" if "tone" in question else "The  same.")
    rows = await checked(script, tmp_path)
    assert rows["i-owl"].effect == 0
    assert rows["i-owl"].invasiveness == 0
    assert not any("others" in data for data in script.data)


async def test_an_original_is_read_once_however_many_texts_are_checked_against_it(tmp_path: Path) -> None:
    again = [
        Paraphrase(kind="paraphrase", id=f"i-{number}", original="d-owl", text=f"{OWL_AGAIN} {number}.")
        for number in range(PAIRS_AT_ONCE + 1)
    ]
    script = editing(answer=by_table)
    rows = await checked(script, tmp_path, pairs(tmp_path / "many", (TEXTS[0], *again)))
    assert list(rows) == [text.id for text in again]
    read = Counter(data["document"] for data in script.data if "questions" in data)
    assert read == Counter([GREY, *(text.text for text in again)])


async def test_what_a_text_says_and_its_original_did_not_is_another_answer(tmp_path: Path) -> None:
    said = {(OWL_EDIT, "What is the tone?"): "grim"}
    script = editing(answer=lambda d, q: said.get((d, q), "[not said]" if "tone" in q else "same"))
    assert (await checked(script, tmp_path))["i-owl"].invasiveness == 1


async def test_what_could_not_be_read_counts_on_neither_side(tmp_path: Path) -> None:
    script = editing(answer=lambda d, q: "" if d == OWL_EDIT and "tone" in q else "same")
    row = (await checked(script, tmp_path))["i-owl"]
    assert row.invasiveness is None
    assert row.effect == 0


async def test_a_verdict_on_the_value_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    assert (await checked(editing(value=lambda data: "maybe"), tmp_path))["i-owl"].valid is None
    assert (await checked(editing(value=lambda data: "no"), tmp_path / "b"))["i-owl"].valid is False


def row(**changes: object) -> Checked:
    values = {
        "id": "i",
        "kind": "edit",
        "feature": "plot",
        "valid": True,
        "effect": 0.5,
        "invasiveness": 0.0,
        "words_changed": 0.2,
        "length_ratio": 1.0,
    }
    return Checked.model_validate(values | changes)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"valid": None, "effect": None, "invasiveness": None}, ""),
        ({"valid": False}, "the new value is not there"),
        ({"effect": 0.0}, "no answer about the feature changed"),
        ({"invasiveness": 0.5}, ""),
        ({"invasiveness": 0.51}, "51% of the answers about other features changed, more than 50%"),
        ({"words_changed": 0.0}, "it says what its original says, word for word"),
        ({"kind": "paraphrase", "feature": "", "effect": None, "invasiveness": 0.25}, ""),
        (
            {"kind": "paraphrase", "feature": "", "effect": None, "invasiveness": 0.3},
            "30% of the answers about any feature changed, more than 25%",
        ),
    ],
)
def test_what_is_no_good_is_left_out_with_the_first_reason(changes: dict[str, object], reason: str) -> None:
    assert [left.reason for left in faults([row(**changes)], Limits())] == ([reason] if reason else [])


def filled(path: Path, **cells: tuple[str, str, str]) -> Path:
    """A table with what a person wrote for each edit, `i_owl` for i-owl."""
    rows = [(name.replace("_", "-"), *said) for name, said in cells.items()]
    path.write_text("\n".join([",".join(("id", *CRITERIA)), *map(",".join, rows)]) + "\n")
    return path


def test_people_see_both_texts_feature_and_value_in_an_order_that_the_seed_shuffles(tmp_path: Path) -> None:
    study = pairs(tmp_path / "pairs")
    assert write_tables(tmp_path / "ann.csv", study) == 2
    with (tmp_path / "ann.csv").open(newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"i-owl", "i-fox"}
    shown = {name: rows["i-owl"][name] for name in ("original", "edited", "feature", "value", *CRITERIA)}
    expected = {"original": GREY, "edited": OWL_EDIT, "feature": "plot", "value": "a fire"}
    assert shown == expected | dict.fromkeys(CRITERIA, "")
    assert rows["i-fox"]["edited"] == FOX_EDIT
    assert "invasive" in (tmp_path / "ann.md").read_text()
    orders = set()
    for seed in range(8):
        write_tables(tmp_path / f"{seed}.csv", study, seed)
        written = (tmp_path / f"{seed}.csv").read_text()
        orders.add(written.find("i-owl") < written.find("i-fox"))
    assert len(orders) == 2


def test_a_table_of_no_edits_and_one_that_stands_there_are_refused(tmp_path: Path) -> None:
    from tests.pairs import TEXTS

    with pytest.raises(InterventionsError, match="has no edit that people could check"):
        write_tables(tmp_path / "t.csv", pairs(tmp_path / "a", (TEXTS[0], TEXTS[2])))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"i_owl": ("perhaps", "", "")}, "row 2, column valid: 'perhaps', expected yes, no or nothing"),
        ({"i_cat": ("yes", "", "")}, "row 2: id 'i-cat' is no edit of"),
    ],
)
def test_a_cell_that_is_neither_yes_nor_no_is_named(
    cells: dict[str, tuple[str, str, str]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InterventionsError, match=message):
        read_table(filled(tmp_path / "t.csv", **cells), pairs(tmp_path / "pairs"))


def test_a_row_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = filled(tmp_path / "t.csv", i_owl=("yes", "", ""))
    path.write_text(path.read_text() + "i-owl,no,,\n")
    with pytest.raises(InterventionsError, match="row 3: id 'i-owl' stands twice"):
        read_table(path, pairs(tmp_path / "pairs"))


def test_people_agree_by_criterion_and_with_the_check(tmp_path: Path) -> None:
    study = pairs(tmp_path / "pairs")
    ann = read_table(filled(tmp_path / "a.csv", i_owl=("yes", "No", "1"), i_fox=("n", "", "")), study)
    bob = read_table(filled(tmp_path / "b.csv", i_owl=("yes", "yes", "no")), study)
    cat = read_table(filled(tmp_path / "c.csv", i_owl=("y", "yes", "no")), study)
    assert ann == {"i-owl": {"valid": True, "effective": False, "invasive": True}, "i-fox": {"valid": False}}
    check = Checked(
        id="i-owl",
        kind="edit",
        feature="plot",
        valid=False,
        effect=0.5,
        invasiveness=0.6,
        words_changed=0.1,
        length_ratio=1,
    )
    figures = {(row.feature, row.criterion): row for row in people_figures([ann, bob, cat], study, [check], 0.5)}
    valid, effective, invasive = (figures["plot", criterion] for criterion in CRITERIA)
    assert (valid.edits, valid.good, valid.kappa, valid.agreement) == (1, 1.0, 1.0, 0.0)
    # two of three say so: observed agreement 1/3, by chance 1/2
    assert (effective.good, effective.agreement) == (1.0, 1.0)
    assert effective.kappa == pytest.approx(-1 / 3)
    # most say that it is not invasive, which is good; the check says it is
    assert (invasive.good, invasive.agreement) == (1.0, 0.0)
    assert invasive.kappa == pytest.approx(-1 / 3)
    alone = figures["style", "valid"]
    assert (alone.edits, alone.good) == (1, 0.0)
    assert alone.kappa != alone.kappa
    assert alone.agreement != alone.agreement


def test_a_split_vote_is_good_for_no_criterion(tmp_path: Path) -> None:
    study = pairs(tmp_path / "pairs")
    ann = read_table(filled(tmp_path / "a.csv", i_owl=("yes", "yes", "yes")), study)
    bob = read_table(filled(tmp_path / "b.csv", i_owl=("no", "no", "no")), study)
    assert [row.good for row in people_figures([ann, bob], study, [], 0.5)][:3] == [0.0, 0.0, 0.0]
