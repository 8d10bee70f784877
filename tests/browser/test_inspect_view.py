"""Our logs in Inspect View."""

from collections.abc import Callable
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log
from tests.browser.conftest import COLOURS, HOSTILE, SIX, Scheme, Visit, contrast
from tests.left_out import with_ci

from genie_inspect.scorers.explanation import WORD_JOINER

FEATURES = {name: name.replace("_", " ") for name in SIX}
Address = Callable[[EvalLog], str]
in_full = with_ci("Inspect View in a browser")


def cells(page: Any, key: str, scorer: str = "genie") -> list[Any]:
    found = page.locator(f"[role=gridcell][data-col-id=score__{scorer}__{key}]")
    found.first.wait_for()
    return sorted(found.all(), key=lambda cell: cell.bounding_box()["y"])


def head(page: Any, key: str, scorer: str = "genie") -> Any:
    named = page.locator(f"[aria-label='Filter score__{scorer}__{key}']")
    return page.locator("[role=columnheader]").filter(has=named)


@in_full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_six_features_have_columns_in_words_with_values_that_can_be_read_on_the_colour_behind_them(
    visit: Callable[..., Visit], viewer: Address, demo: list[EvalLog], scheme: Scheme
) -> None:
    page = visit(viewer(demo[0]) + "/samples", scheme).page
    samples = read_eval_log(demo[0].location).samples or []
    for feature, words in FEATURES.items():
        found = cells(page, feature)
        shown = [float(cell.text_content()) for cell in found]
        logged = [float(s.scores["genie"].value[feature]) for s in samples if s.scores]  # type: ignore[index,arg-type,call-overload]  # a dict of numbers
        assert sorted(shown) == sorted(logged)
        assert head(page, feature).text_content() == words
        seen = [cell.evaluate(COLOURS) for cell in found]
        assert scheme == "dark" or len({tuple(ground) for _, ground in seen}) > 1, "light paper has colours"
        assert all(contrast(ink, ground) >= 4.5 for ink, ground in seen)


@in_full
def test_the_list_of_runs_says_of_which_key_its_score_is(
    playwright: Any, visit: Callable[..., Visit], viewer: Address, demo: list[EvalLog]
) -> None:
    page = visit(viewer(demo[0]).partition("#")[0] + "#/tasks").page
    row = page.locator("[role=row]").filter(has_text=demo[0].eval.model)
    tags, score = (row.locator(f"[data-col-id={column}]") for column in ("tags", "score"))
    playwright.expect(tags).to_have_text("score: plot")
    assert tags.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), "it is not cut"
    results = demo[0].results
    assert results is not None
    assert float(score.text_content()) == pytest.approx(results.scores[0].metrics["mean"].value, abs=0.001)
    assert results.scores[0].name == "plot"


@in_full
@pytest.mark.parametrize("width", [1024, 1440])
def test_no_value_and_no_page_is_wider_than_its_room_and_words_and_coverage_stand_behind_the_features(
    visit: Callable[..., Visit], viewer: Address, demo: list[EvalLog], width: int
) -> None:
    page = visit(viewer(demo[0]) + "/samples", width=width).page
    for feature in FEATURES:
        for cell in cells(page, feature):
            assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), cell.text_content()
            assert len(cell.text_content()) <= len("0.0764")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    samples = read_eval_log(demo[0].location).samples or []
    rightmost = cells(page, "style")[0].bounding_box()["x"]
    for key in ("words", "coverage", "unscored"):
        found = cells(page, key, "document")
        logged = [float(s.scores["document"].value[key]) for s in samples if s.scores]  # type: ignore[index,arg-type,call-overload]  # a dict of numbers
        assert sorted(float(cell.text_content()) for cell in found) == sorted(logged)
        assert head(page, key, "document").text_content() == key
        assert {cell.evaluate("cell => getComputedStyle(cell).backgroundColor") for cell in found} == {
            "rgba(0, 0, 0, 0)"
        }
        box = found[0].bounding_box()
        assert rightmost < box["x"] < box["x"] + box["width"] <= width
        rightmost = box["x"]
    page.goto(viewer(demo[0]) + "/samples/sample/owl-airport-runway-f52c/1/scoring")
    page.locator("#scoring-contents").get_by_text("nearest in the population").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width


@in_full
def test_an_explanation_is_a_table_of_features_and_what_is_behind_high_and_low_as_plain_text(
    visit: Callable[..., Visit], viewer: Address, demo: list[EvalLog]
) -> None:
    seen = visit(viewer(demo[0]) + "/samples/sample/owl-airport-runway-f52c/1/scoring")
    shown = seen.page.locator("#scoring-contents")
    shown.get_by_text("nearest in the population").first.wait_for()
    said = shown.inner_text()
    table = [line for line in said.splitlines() if line.startswith("| ")]
    assert [line.split("|")[1].strip() for line in table] == ["feature", *FEATURES.values()]
    assert len({len(line) for line in table}) == 1, "columns stand under each other"
    for feature in ("plot", "setting"):
        assert f"- {feature}, most novel (" in said
    assert "- its answer: " in said
    assert "- plot, least novel (" in said
    assert "its 22 ratings: " in said
    assert "\\" not in said


@in_full
def test_text_that_looks_like_markup_shows_as_text(
    visit: Callable[..., Visit], viewer: Address, hostile: EvalLog
) -> None:
    address = viewer(hostile)
    seen = visit(address + "/samples/sample/1/1/scoring")
    shown = seen.page.locator("#scoring-contents")
    shown.get_by_text("nearest in the population").first.wait_for()
    said = shown.inner_text().replace(WORD_JOINER, "")
    assert HOSTILE.splitlines()[0] in said, "the document"
    begun = "document.title = 'taken'"
    assert said.count(begun) == 1 + 2 + 2, "the document; for either feature its answer and the nearest one"
    assert "&lt;" not in said
    assert shown.locator("script, img, h1, [href^=javascript]").count() == 0
    assert shown.locator("strong strong, em").count() == 0
    assert seen.dialogs == []
    assert all("192.0.2.1" not in url for url in seen.requests)
