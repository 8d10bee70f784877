"""What two logs must share to be compared, and the order of what they share."""

from pathlib import Path

import pytest
from inspect_ai.scorer import Score
from tests.reports.made_logs import made_log, scored

from genie_inspect.logs.files import LogError
from genie_inspect.reports.comparison import compare
from genie_inspect.reports.pairing import Options


def test_logs_without_a_common_scorer_are_refused_with_those_of_each(tmp_path: Path) -> None:
    scores: list[dict[str, Score]] = [
        {name: scored({name: 0.5}, f"measure:{name}|version:0") for name in names} for names in ("ab", "c", "")
    ]
    files = [made_log(tmp_path, [own]) for own in scores]
    with pytest.raises(LogError, match=r"^these logs have no scorer in common: a, b; c; none$"):
        compare(files, files[0])


def test_keys_are_tested_and_shown_in_the_order_of_the_scores_and_of_one_signature_where_that_is_asked(
    tmp_path: Path,
) -> None:
    old, new = (f"measure:genie|judge:{judge}|version:0" for judge in ("old", "new"))
    files = [
        made_log(tmp_path, [{"genie": scored({"style": 0.5, "plot": 0.5}, signature)}], model=f"m/{number}")
        for number, signature in enumerate((old, old, new, new))
    ]
    found = compare(files, "m/2", Options(signature="judge:new"))
    assert [(row.run, row.key) for row in found.rows] == [("m/3", "style"), ("m/3", "plot")]
