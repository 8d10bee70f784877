import pytest
from pydantic import ValidationError

from genie_inspect.interventions.schema import Edit, StudyRow, drawn, intervention_id


def test_an_edit_has_one_of_the_values_that_were_proposed() -> None:
    values = {"kind": "edit", "id": "i", "original": "d", "feature": "plot", "text": "t", "alternative": "fire"}
    assert Edit.model_validate(values).alternative == "fire"
    with pytest.raises(ValidationError, match="alternative 'fire' is none of the alternatives"):
        Edit.model_validate({**values, "alternatives": ["flood"]})


@pytest.mark.parametrize("row", ['{"kind": "remark", "id": "i"}', '{"kind": "paraphrase", "id": "i", "text": "t"}'])
def test_a_line_is_one_of_three_kinds_with_all_its_fields(row: str) -> None:
    with pytest.raises(ValidationError):
        StudyRow.model_validate_json(row)


def test_the_seed_document_and_feature_draw_the_alternative_and_nothing_else() -> None:
    values = tuple("abcdefgh")
    assert drawn(values, "d", "plot", 0) == drawn(values, "d", "plot", 0)
    for change in (("e", "plot", 0), ("d", "style", 0), ("d", "plot", 1)):
        draws = {(drawn(values, f"{change[0]}{n}", *change[1:]), drawn(values, f"d{n}", "plot", 0)) for n in range(20)}
        assert any(one != other for one, other in draws) or change[0] == "e"
    # every one is drawn about as often
    counts = [sum(drawn(values, f"d{n}", "plot", 0) == value for n in range(800)) for value in values]
    assert min(counts) > 60


def test_ids_depend_on_original_kind_feature_and_text() -> None:
    ids = {
        intervention_id("d", "edit", "plot", "t"),
        intervention_id("e", "edit", "plot", "t"),
        intervention_id("d", "paraphrase", "", "t"),
        intervention_id("d", "edit", "style", "t"),
        intervention_id("d", "edit", "plot", "u"),
    }
    assert len(ids) == 5
    assert all(name.startswith("i-") for name in ids)
