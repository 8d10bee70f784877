"""A report of many runs with long names in a browser."""

import math
import re
from collections.abc import Callable

import pytest
from inspect_ai.scorer import Score
from tests.browser.conftest import Scheme, Visit, contrast
from tests.browser.test_report_page import FEATURES, INKS_AND_GROUNDS, unfold, written
from tests.left_out import rest_with_ci, with_ci
from tests.reports.made_logs import made_log, scored

from genie_inspect.tasks.novelty import score_view

LOOKS = [("dark", 375), ("light", 375), ("dark", 1440), ("light", 1440)]


@pytest.fixture(scope="module")
def crowded_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Four runs with long names, a feature not measured, one that never varies, and the population's own novelty."""
    folder = tmp_path_factory.mktemp("crowded")
    own = {"percentile": 40.0, "mean": 0.5, "low": 0.4, "high": 0.6}
    logs = [
        made_log(
            folder,
            [{"genie": _scores(value + step, own), "cosine": _cosine(value / 9)} for value in (0.2, 0.3, 0.5, 0.4)],
            model=f"provider/some-organisation-with-a-long-name/a-model-of-{step}-billions-instruct",
            viewer=score_view("made", {"genie": FEATURES}, dict.fromkeys(FEATURES, (0.0, 1.0))),
        )
        for step in (0.0, 0.1, 0.2, 0.3)
    ]
    return written(logs, tmp_path_factory.mktemp("crowded-page"), baseline=logs[0])


def _scores(value: float, own: dict[str, float]) -> Score:
    values = dict.fromkeys(FEATURES, value) | {"plot": 0.4, "style": math.nan}
    return scored(values, yardstick={key: own for key in values if key != "style"})


def _cosine(value: float) -> Score:
    return scored({"cosine_mean": value}, "measure:cosine|version:0")


@pytest.mark.parametrize(("scheme", "width"), rest_with_ci(LOOKS, "reports in a browser, in other colours and widths"))
def test_many_runs_with_long_names_fit_and_can_be_read(
    visit: Callable[..., Visit], crowded_report: str, scheme: Scheme, width: int
) -> None:
    page = visit(crowded_report, scheme, width).page
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    faint = [text for text, ink, ground in page.evaluate(INKS_AND_GROUNDS) if contrast(ink, ground) < 4.5]
    assert faint == []
    overlong = "all => all.filter(one => one.getBoundingClientRect().right > innerWidth).length"
    assert page.locator("p, figure, h2, h3, summary").evaluate_all(overlong) == 0


@with_ci("a crowded report on paper")
def test_on_paper_no_page_is_left_half_empty_by_what_does_not_fit(
    visit: Callable[..., Visit], crowded_report: str
) -> None:
    printed = visit(crowded_report).page.pdf(format="Letter")
    # ten pages; eleven where the chart of lengths and the facts of a run begin pages of their own
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 10
