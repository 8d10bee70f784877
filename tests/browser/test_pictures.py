"""Pictures of the report's page for people to look at, each checked by axe-core for what a machine can tell.

CI=1 PICTURES=folder pytest tests/browser/test_pictures.py
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
from tests.browser.conftest import SIX, Scheme, Visit
from tests.browser.test_report_page import unfold
from tests.left_out import rest_with_ci
from tests.reports.made_logs import asked, made_log, scored

from genie_inspect.reports.page import page
from genie_inspect.reports.report import build_report
from genie_inspect.tasks.novelty import score_view

THIRTY = tuple(f"feature_{number}" for number in range(1, 31))
KINDS: Mapping[str, tuple[int, tuple[str, ...], int]] = {  # runs, features, documents of each
    "one": (1, SIX, 16),
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
        if chance.random() < 0.05:
            values = dict.fromkeys(features, math.nan)
        standing = {} if math.isnan(values[features[0]]) else dict.fromkeys(features, own)
        questions = [asked(value, feature) for feature, value in values.items() if not math.isnan(value)]
        return scored(values, standing=standing, questions=questions)

    places = [(f"prompt {number % 8}", number // 8 + 1) for number in range(documents)]
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
def report(demo: list[EvalLog], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:

    @cache
    def written(kind: str) -> str:
        folder = tmp_path_factory.mktemp(kind)
        logs, baseline = [log.location for log in demo], "bundled/ordinary"
        if kind != "demo":
            runs, features, documents = KINDS[kind]
            logs = [_log(folder, run, features, documents) for run in range(runs)]
            baseline = logs[0] if runs > 1 else ""
        path = folder / "report.html"
        path.write_text(page(build_report(logs, baseline=baseline)), encoding="utf-8")
        return path.as_uri()

    return written


def violations(seen: Any) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(seen).response["violations"]
    return [f"{one['id']}: {one['help']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize(
    ("kind", "media", "scheme"), rest_with_ci(PICTURES, "pictures of reports for people to look at")
)
def test_a_page_is_pictured_and_axe_finds_nothing_wrong(
    visit: Callable[..., Visit],
    report: Callable[[str], str],
    kind: str,
    media: str,
    scheme: Scheme,
    tmp_path: Path,
) -> None:
    seen = visit(report(kind), scheme, WIDTHS[media])
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
    seen.page.screenshot(path=f"{name}.png", full_page=kind != "many")
    assert seen.errors == []
    unfold(seen.page)
    assert seen.page.locator(".scroll").evaluate_all(UNSAID) == [], "a table says that it scrolls where it does"
    if kind in CHECKED:
        assert violations(seen.page) == []
