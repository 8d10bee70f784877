import os
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.pairs import TEXTS, pairs

from genie_inspect.errors import GenieWarning, InterventionsError
from genie_inspect.populations.interventions import (
    INTERVENTIONS,
    LEFT_OUT,
    Edit,
    Interventions,
    LeftOut,
    drawn,
    intervention_id,
)
from genie_inspect.populations.schema import write_rows


def test_texts_come_with_each_original_before_what_was_made_of_it(tmp_path: Path) -> None:
    last_first = (TEXTS[2], TEXTS[4], TEXTS[1], TEXTS[0], TEXTS[3])
    names = [text.id for text in pairs(tmp_path, last_first).texts()]
    assert names == ["d-owl", "i-again", "i-owl", "d-fox", "i-fox"]
    # an original without edits is no part of a study
    assert [text.id for text in pairs(tmp_path / "some", TEXTS[:4]).texts()] == ["d-owl", "i-owl", "i-again"]


def test_a_file_serves_as_well_as_its_folder(tmp_path: Path) -> None:
    folder = pairs(tmp_path / "mine")
    (tmp_path / "mine" / INTERVENTIONS).rename(tmp_path / "other.jsonl")
    assert Interventions(tmp_path / "other.jsonl").digest == folder.digest
    assert folder.name == f"mine@{folder.digest}"
    assert Interventions(tmp_path / "other.jsonl").name == f"other@{folder.digest}"


def test_a_pipe_or_a_device_in_a_folder_is_refused_before_it_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / INTERVENTIONS)
    with pytest.raises(InterventionsError, match="is not a file, expected one"):
        Interventions(tmp_path)


def test_what_a_check_left_out_is_in_no_study_and_no_digest(tmp_path: Path) -> None:
    before = pairs(tmp_path)
    write_rows(tmp_path / LEFT_OUT, [LeftOut(id="i-owl", reason="the new value is not there")])
    after = Interventions(tmp_path)
    assert [text.id for text in after.texts()] == ["d-owl", "i-again", "d-fox", "i-fox"]
    assert after.left_out == {"i-owl": "the new value is not there"}
    assert after.digest != before.digest
    assert after.digest == pairs(tmp_path / "rest", (TEXTS[0], *TEXTS[2:])).digest


def test_edits_whose_original_is_missing_are_named_and_of_no_use(tmp_path: Path) -> None:
    with pytest.warns(GenieWarning, match=r"without their original, and so left out: 1 \(i-fox\)"):
        study = pairs(tmp_path, TEXTS[:3] + TEXTS[4:])
    assert study.orphans == ("i-fox",)
    assert [text.id for text in study.texts()] == ["d-owl", "i-owl", "i-again"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no original"),
        ('{"kind": "original"}\n', "line 1, field original.id: Field required"),
        ("nonsense\n", "line 1: Invalid JSON"),
        ('{"kind": "poem"}\n', "line 1: Input tag 'poem' found using 'kind' does not match"),
        (2 * (TEXTS[0].model_dump_json() + "\n"), "field id: 'd-owl' appears twice"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_line(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / INTERVENTIONS).write_text(content)
    with pytest.raises(InterventionsError, match=message) as error:
        Interventions(tmp_path)
    assert "\n" not in str(error.value)
    with pytest.raises(InterventionsError, match=r"originals and edits are '.*nowhere', expected starter, a folder"):
        Interventions(tmp_path / "nowhere")


def test_an_edit_has_one_of_the_values_that_were_proposed() -> None:
    values = {"kind": "edit", "id": "i", "original": "d", "feature": "plot", "text": "t", "alternative": "fire"}
    assert Edit.model_validate(values).alternative == "fire"
    with pytest.raises(ValidationError, match="alternative 'fire' is not one of the alternatives"):
        Edit.model_validate({**values, "alternatives": ["flood"]})


def test_the_seed_document_and_feature_draw_the_alternative_and_nothing_else() -> None:
    values = tuple("abcdefgh")
    draws = [[drawn(values, f"d{n}", *of) for n in range(800)] for of in (("plot", 0), ("style", 0), ("plot", 1))]
    assert draws[0] == [drawn(values, f"d{n}", "plot", 0) for n in range(800)]
    assert draws[0] != draws[1] != draws[2] != draws[0]
    # every one is drawn about as often
    assert min(map(draws[0].count, values)) > 60


def test_ids_depend_on_original_kind_feature_and_text() -> None:
    rows = [("d", "edit", "plot", "t"), ("e", "edit", "plot", "t"), ("d", "edit", "style", "t")]
    rows += [("d", "paraphrase", "", "t"), ("d", "edit", "plot", "u")]
    ids = {intervention_id(*row) for row in rows}
    assert len(ids) == 5
    assert all(name.startswith("i-") for name in ids)
