from pathlib import Path

import pytest
from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.comparison.compared import Options
from genie_inspect.reports.comparison.comparison import compare
from genie_inspect.reports.comparison.needed import prompts_needed
from genie_inspect.statistics.power import paired_power

BASE = (0.1, 0.3, 0.2, 0.4, 0.15, 0.25, 0.35, 0.45)
STEPS = (0.1, -0.1) * 4


def test_so_many_prompts_have_the_power_at_the_corrected_level_and_one_fewer_has_not(tmp_path: Path) -> None:
    moved = [value + step for value, step in zip(BASE, STEPS, strict=True)]
    files = [
        made_log(tmp_path, [{"genie": scored({"plot": value, "style": value})} for value in values], model=model)
        for model, values in (("mock/a", BASE), ("mock/b", moved))
    ]
    needed = [prompts for _, prompts in prompts_needed(compare(files, "mock/a"))]
    # sd of (0.1, -0.1, ...) over 8: sqrt(8 * 0.01 / 7); two tests, so that Holm's first step is at 2.5%
    spread = (0.08 / 7) ** 0.5
    assert len(set(needed)) == 1
    assert paired_power(0.05, spread, needed[0], 0.025) >= 0.8 > paired_power(0.05, spread, needed[0] - 1, 0.025)


def test_hardly_any_spread_still_takes_as_many_prompts_as_a_p_value_below_the_level(tmp_path: Path) -> None:
    moved = [value + 0.1 + 0.001 * step for value, step in zip(BASE, STEPS, strict=True)]
    files = [
        made_log(tmp_path, [{"genie": scored({"plot": value})} for value in values], model=model)
        for model, values in (("mock/a", BASE), ("mock/b", moved))
    ]
    # 2 / 2^n is below 0.05 from n = 6
    assert [prompts for _, prompts in prompts_needed(compare(files, "mock/a"))] == [6]


@pytest.mark.parametrize("score", [{"cosine_mean": 0.3}, {"cosine_mean": 0.3, "cosine_nearest": 0.2}])
def test_of_a_scale_that_is_not_from_0_to_1_nothing_is_said(tmp_path: Path, score: dict[str, float]) -> None:
    files = [
        made_log(
            tmp_path,
            [{"cosine": scored(dict.fromkeys(score, v + add), "measure:cosine|version:0")} for v in BASE],
            model=f"mock/{add}",
        )
        for add in (0.0, 0.1)
    ]
    assert list(prompts_needed(compare(files, "mock/0.0"))) == []


def test_without_a_correction_a_test_is_at_the_level_itself_and_what_has_no_spread_is_left_out(tmp_path: Path) -> None:
    moved = [value + step for value, step in zip(BASE, STEPS, strict=True)]
    files = [
        made_log(tmp_path, [{"genie": scored({"plot": v, "style": s})} for v, s in zip(values, BASE, strict=True)])
        for values in (BASE, moved)
    ]
    comparison = compare(files, files[0], Options(correction="none"))
    ((row, prompts),) = prompts_needed(comparison)
    assert row.key == "plot"
    spread = (0.08 / 7) ** 0.5
    assert paired_power(0.05, spread, prompts, 0.05) >= 0.8 > paired_power(0.05, spread, prompts - 1, 0.05)
