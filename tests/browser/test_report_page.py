"""The report's page in a browser, and pictures of it for people to look at.

CI=1 PICTURES=folder pytest tests/browser/test_report_page.py
"""

import math
import os
import random
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score
from tests.browser.conftest import COLOURS, HOSTILE, SIX, Scheme, Visit, contrast
from tests.left_out import rest_with_ci
from tests.reports.made_logs import asked, made_log, scored

from genie_inspect.reports.charts import ON_DARK, SERIES
from genie_inspect.reports.page import page
from genie_inspect.reports.report import build_report
from genie_inspect.tasks.novelty import score_view

LOOKS = [("light", 1440), ("light", 375), ("dark", 1440), ("dark", 375)]
ELSE = "reports in a browser, in other colours and widths"


# how many texts are seen, and one of each ink on each ground
INKS_AND_GROUNDS = f"""() => {{
  const seen = [...document.querySelectorAll('body *')]
    .filter(node => [...node.childNodes].some(child => child.nodeType === 3 && child.textContent.trim()))
    .filter(node => node.getClientRects().length)
    .map(node => [node.textContent.slice(0, 40), ...({COLOURS})(node)]);
  return [seen.length, [...new Map(seen.map(([text, ...both]) => [String(both), [text, ...both]])).values()]];
}}"""
BOXES = "all => all.map(one => one.getBoundingClientRect().toJSON())"


def written(logs: list[str], folder: Path, baseline: str = "") -> str:
    path = folder / "report.html"
    path.write_bytes(page(build_report(logs, baseline=baseline)).encode("utf-8", "replace"))
    return path.as_uri()


def unfold(page: Any) -> None:
    """Open all that is folded, at once; that it opens by mouse and keyboard other tests see."""
    folds = page.locator("details")
    folds.evaluate_all("all => all.forEach(fold => { fold.open = true; })")
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert folds.count() > 0


@pytest.fixture(scope="module")
def report(demo: list[EvalLog], tmp_path_factory: pytest.TempPathFactory) -> str:
    logs = [log.location for log in demo]
    return written(logs, tmp_path_factory.mktemp("page"), baseline="bundled/ordinary")


@pytest.fixture(scope="module")
def hostile_report(hostile: EvalLog, tmp_path_factory: pytest.TempPathFactory) -> str:
    return written([hostile.location], tmp_path_factory.mktemp("hostile-page"))


def test_on_a_phone_every_feature_and_two_runs_are_seen_without_a_swipe(
    visit: Callable[..., Visit], report: str
) -> None:
    table = visit(report, width=375).page.locator("table[data-scorer=genie]")
    heads = table.locator("thead th").evaluate_all(BOXES)
    assert len(heads) == len(SIX)
    assert len({box["x"] for box in heads}) == 1, "features stand below each other"
    columns = []
    for row in table.locator("tbody tr:not(.own)").all():
        cells = row.locator("td").evaluate_all(BOXES)
        assert [box["y"] for box in cells] == [box["y"] for box in heads], "each beside its feature"
        assert all(box["x"] + box["width"] <= 375 for box in cells)
        columns.append(cells[0]["x"])
    assert heads[0]["x"] < columns[0] < columns[1]


@pytest.mark.parametrize("scheme", rest_with_ci(["dark", "light"], ELSE))
def test_a_run_has_one_colour_in_table_and_charts_and_every_colour_a_legend(
    look: Callable[..., Visit], report: str, scheme: Scheme
) -> None:
    page = look(report, scheme).page
    marks = page.locator("table[data-scorer=genie] .run")
    filled = "marks => marks.map(mark => getComputedStyle(mark).fill)"
    series = [ON_DARK[colour] if scheme == "dark" else colour for colour in SERIES[:2]]
    colours = [f"rgb({', '.join(str(int(c[at : at + 2], 16)) for at in (1, 3, 5))})" for c in series]
    assert marks.evaluate_all(filled) == colours
    drawn = page.locator("figure.means .panel").first
    assert set(drawn.locator(".at path").evaluate_all(filled)) == set(colours)
    shapes = "paths => paths.map(path => path.getAttribute('d'))"
    assert len({*page.locator("figure.means .at path").evaluate_all(shapes)}) == 2, "not by colour alone"
    assert page.locator(".heat .ramp").count() == 2, "means and agreement"
    assert page.locator("#comparison .grey").count() == 1


@pytest.mark.parametrize(("scheme", "width"), rest_with_ci(LOOKS, ELSE))
def test_it_opens_with_no_request_to_any_host_no_error_and_every_chart_drawn(
    look: Callable[..., Visit], report: str, scheme: Scheme, width: int
) -> None:
    seen = look(report, scheme, width)
    assert {url for url in seen.requests if not url.startswith("data:")} == {report}
    assert seen.errors == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") == width, "the page itself never scrolls sideways"
    assert seen.page.locator("img").count() == 0
    panels = seen.page.locator(".panel")
    assert panels.count() == len(SIX) + 1 + len(SIX) + 1, "means, differences, distributions, lengths"
    for box in panels.evaluate_all(BOXES):
        assert 0 <= box["left"] < box["right"] <= width
        assert box["width"] > 200
    marks = seen.page.locator(".lane .at path, .lane line").evaluate_all(BOXES)
    assert all(0 <= box["left"] <= box["right"] <= width for box in marks)


def test_the_first_screen_has_the_finding_the_means_of_every_run_and_what_stood_out(
    look: Callable[..., Visit], report: str
) -> None:
    page = look(report).page
    for part in (".answer", "figure.means .panel:last-child", ".card"):
        box = page.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= 900, part
    # the whole scale: a place in the lane is the mean
    lanes = page.locator("figure.means li")
    parts = [lanes.locator(part).evaluate_all(BOXES) for part in (".lane", ".at path")]
    for own, dot, mean in zip(*parts, lanes.locator("b").all_inner_texts(), strict=True):
        place = (dot["x"] + dot["width"] / 2 - own["x"]) / own["width"]
        assert place == pytest.approx(float(mean), abs=0.02)


def test_all_of_it_can_be_reached_by_the_keyboard(visit: Callable[..., Visit], report: str) -> None:
    page = visit(report, width=375).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    reached = []
    for _ in range(3):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.getAttribute('role') ?? document.activeElement.localName"))
    assert reached == ["summary", "region", "region"], "a wide table scrolls by the arrows"
    page.locator("details.most summary").first.focus()
    page.keyboard.press("Enter")
    opened = page.locator("details.most[open]")
    assert opened.locator(".document").is_visible()
    assert opened.locator("dd").count() == 3


def test_a_screen_reader_finds_named_sections_tables_and_pictures(look: Callable[..., Visit], report: str) -> None:
    page = look(report).page
    for name in ("Means", "Distributions", "What stood out", "Which scores go together", "Methods"):
        assert page.get_by_role("region", name=name, exact=True).count() == 1
    assert page.get_by_role("table").count() >= 4
    assert page.get_by_role("figure", name="Means by feature").count() == 1


@pytest.mark.parametrize("scheme", rest_with_ci(["dark", "light"], ELSE))
def test_every_text_stands_off_its_ground_by_4_5_to_1(visit: Callable[..., Visit], report: str, scheme: Scheme) -> None:
    page = visit(report, scheme).page
    unfold(page)
    count, texts = page.evaluate(INKS_AND_GROUNDS)
    assert count > 200
    faint = [(text, round(contrast(ink, ground), 2)) for text, ink, ground in texts if contrast(ink, ground) < 4.5]
    assert faint == []


def test_on_paper_it_is_light_and_the_numbers_are_unfolded(visit: Callable[..., Visit], report: str) -> None:
    page = visit(report).page
    folded = page.locator("details.numbers:not([open]) table").first
    assert not folded.is_visible()
    page.emulate_media(media="print")
    assert folded.is_visible()
    assert page.locator("details.most dd strong").first.is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_text_that_looks_like_markup_shows_as_text(visit: Callable[..., Visit], hostile_report: str) -> None:
    seen = visit(hostile_report)
    seen.page.locator("details.most summary").first.click()
    assert seen.page.locator("details.most .document").first.inner_text() == HOSTILE
    answers = seen.page.locator("details.most dd strong").first.inner_text()
    assert "<script>" in answers
    assert "**not bold**" in answers
    assert seen.dialogs == seen.errors == []
    assert seen.page.title() == "Novelty report"
    assert {url for url in seen.requests if not url.startswith("data:")} == {hostile_report}


def test_documents_are_filtered_without_a_script_and_show_their_answers(
    visit: Callable[..., Visit], report: str
) -> None:
    seen = visit(report, width=390)
    shown = "all => all.filter(one => one.getClientRects().length).length"
    every = seen.page.locator("#documents .doc")
    assert every.evaluate_all(shown) == 32
    seen.page.locator("#documents select").first.select_option("r1")
    assert every.evaluate_all(shown) == 16
    seen.page.locator("#documents select").nth(1).select_option("p0")
    assert every.evaluate_all(shown) == 2
    chosen = seen.page.locator("#documents .doc.r1.p0").first
    chosen.locator("summary").click()
    assert chosen.locator("tbody tr").count() > 5
    assert seen.page.locator("script").count() == 0
    assert seen.page.evaluate("document.documentElement.scrollWidth") == 390
    assert seen.errors == []


THIRTY = tuple(f"feature_{number}" for number in range(1, 31))
KINDS: Mapping[str, tuple[int, tuple[str, ...], int]] = {  # runs, features, documents of each
    "one": (1, SIX, 10),
    "eight": (8, SIX, 16),
    "thirty": (2, THIRTY, 16),
    "many": (1, SIX, 5_000),
}
WIDTHS = {"desktop": 1280, "phone": 390, "print": 1280}
PICTURES = [(kind, media, "light") for kind in (*KINDS, "demo") for media in WIDTHS]
PICTURES += [("demo", "desktop", "dark"), ("eight", "phone", "dark")]
# of 5,000 documents axe-core would look at some 100,000 nodes
CHECKED = {"demo", "one", "eight", "thirty"}
PAGES = 30  # on paper, of eight runs
OVERLONG = "all => all.filter(one => one.getBoundingClientRect().right > innerWidth).length"
UNSAID = """all => all
    .filter(one => (one.scrollWidth > one.clientWidth) != (getComputedStyle(one, '::before').display === 'block'))
    .map(one => one.getAttribute('aria-label'))"""


def _log(folder: Path, run: int, features: tuple[str, ...], documents: int) -> str:
    chance = random.Random(run)  # made-up scores
    own = {"percentile": 40.0, "mean": 0.5, "low": 0.4, "high": 0.6}

    def genie() -> Score:
        values = {feature: chance.betavariate(8 - run / 2, 4) for feature in features}
        if chance.random() < 0.1:
            values = dict.fromkeys(features, math.nan)
        standing = {} if math.isnan(values[features[0]]) else dict.fromkeys(features, own)
        questions = [asked(value, feature) for feature, value in values.items() if not math.isnan(value)]
        return scored(values, standing=standing, questions=questions)

    prompts = min(8, documents // 2)
    places = [(f"prompt {number % prompts}", number // prompts + 1) for number in range(documents)]
    return made_log(
        folder,
        [{"genie": genie()} for _ in places],
        model=f"provider/a-model-of-{run + 1}-billions-instruct",
        places=places,
        prompts=[f"Write a story about {name}." for name, _ in places],
        texts=[
            f"It rained on {name} of house {run}, day {epoch}, and nobody went out. " * 12 for name, epoch in places
        ],
        viewer=score_view("made", {"genie": list(features)}, dict.fromkeys(features, (0.0, 1.0))),
    )


@pytest.fixture(scope="module")
def pictured(report: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:

    @cache
    def made(kind: str) -> str:
        if kind == "demo":
            return report
        folder, (runs, features, documents) = tmp_path_factory.mktemp(kind), KINDS[kind]
        logs = [_log(folder, run, features, documents) for run in range(runs)]
        return written(logs, folder, logs[0] if runs > 1 else "")

    return made


def violations(seen: Any) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(seen).response["violations"]
    return [f"{one['id']}: {one['help']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize(
    ("kind", "media", "scheme"), rest_with_ci(PICTURES, "pictures of reports for people to look at")
)
def test_a_page_is_pictured_and_axe_finds_nothing_wrong(
    visit: Callable[..., Visit],
    pictured: Callable[[str], str],
    kind: str,
    media: str,
    scheme: Scheme,
    tmp_path: Path,
) -> None:
    seen = visit(pictured(kind), scheme, WIDTHS[media])
    folder = Path(os.environ.get("PICTURES", tmp_path))
    folder.mkdir(exist_ok=True)
    name = folder / f"{kind}-{media}-{scheme}"
    if media == "print":
        printed = seen.page.pdf(path=f"{name}.pdf", format="A4")
        assert printed.startswith(b"%PDF")
        # more where a page is left half empty by what does not fit
        assert kind != "eight" or len(re.findall(rb"/Type\s*/Page\b", printed)) <= PAGES
        return
    assert seen.page.evaluate("document.documentElement.scrollWidth") == WIDTHS[media], "it never scrolls sideways"
    assert seen.page.locator("p, figure, h2, h3, summary").evaluate_all(OVERLONG) == 0
    if folder != tmp_path:
        seen.page.screenshot(path=f"{name}.png", full_page=kind != "many")
    assert seen.errors == []
    unfold(seen.page)
    assert seen.page.locator(".scroll").evaluate_all(UNSAID) == [], "a table says that it scrolls where it does"
    if kind in CHECKED:
        assert violations(seen.page) == []
