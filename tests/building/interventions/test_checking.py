from pathlib import Path

import pytest
from tests.building.interventions.scripts import editing
from tests.pairs import GREY, OWL_AGAIN, OWL_EDIT, pairs
from tests.scripted import FEATURES, Script, small_population

from genie_inspect.building.interventions.checking import Checked, Checker, Limits, faults
from genie_inspect.building.interventions.instructions import Editor
from genie_inspect.interventions.collection import Interventions
from genie_inspect.judges.instrument import Instrument

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
