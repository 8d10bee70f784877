import csv
from pathlib import Path

import pytest
from tests.pairs import FOX_EDIT, GREY, OWL_EDIT, pairs

from genie_inspect.building.interventions.checking import Checked
from genie_inspect.building.interventions.people import CRITERIA, people_figures, read_table, write_tables
from genie_inspect.errors import InterventionsError


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
