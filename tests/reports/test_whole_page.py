"""A page with everything on it: which pictures stand there, in which colours, and what the template is told."""

import re
from base64 import b64decode

import pytest
from tests.reports.made_logs import made_log, scored
from tests.reports.test_page import Seen

from genie_inspect.reports.charts import DARK, LIGHT, darkened
from genie_inspect.reports.page import figures, page
from genie_inspect.reports.report import Report, build_report
from genie_inspect.tasks.novelty import score_view

KEYS = ("plot", "style", "agent")
BASE = (0.1, 0.3, 0.2, 0.4, 0.15, 0.25, 0.35, 0.45)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A baseline and a longer run of three features."""
    folder = tmp_path_factory.mktemp("logs")
    view = score_view("made", {"genie": KEYS}, dict.fromkeys(KEYS, (0.0, 1.0)))
    for model, step, words in (("m/a", 0.0, 4), ("m/b", 0.3, 40)):
        made_log(
            folder,
            [
                {"genie": scored({"plot": v + step, "style": v, "agent": v + v * step}, length={"population": 4})}
                for v in BASE
            ],
            model=model,
            viewer=view,
            texts=["word " * words] * len(BASE),
        )
    return build_report([folder], baseline="m/a")


@pytest.fixture(scope="module")
def html(report: Report) -> str:
    return page(report)


SPREADS = [f"spread-genie-{key}" for key in KEYS]


def test_the_pictures_stand_where_their_section_is_each_for_light_and_for_dark(report: Report, html: str) -> None:
    seen = Seen(html).tags
    images = {str(given["data-chart"]): given for tag, given in seen if tag == "img"}
    assert list(images) == ["forest-genie-1", "radar-genie", *SPREADS, "lengths"]
    assert [figure.name for figure in figures(report)] == [
        *("forest-genie-1", "means-genie", "radar-genie"),
        *SPREADS,
        "lengths",
    ]
    told = {figure.name: figure for figure in figures(report)}
    assert {name: given["alt"] for name, given in images.items()} == {name: told[name].description for name in images}
    dark = [str(given["srcset"]) for tag, given in seen if tag == "source"]
    for name, other in zip(images, dark, strict=True):
        light = b64decode(str(images[name]["src"]).partition("base64,")[2]).decode()
        assert f'"{LIGHT.ink}"' in light
        assert b64decode(other.partition("base64,")[2]).decode() == darkened(light)
    assert "words a document" in light


def test_each_run_has_the_colour_of_its_charts_on_light_and_on_dark_paper(html: str) -> None:
    assert set(re.findall(r"--light: (\S+); --dark: (\S+?)\">", html)) == set(
        zip(LIGHT.series[:2], DARK.series[:2], strict=True)
    )


def test_the_comparison_says_what_to_beware_of_and_how_many_prompts_a_difference_takes(html: str) -> None:
    words = " ".join(Seen(html).text.split())
    assert "Beware: m/b writes 40 words where m/a writes 4: beyond 1.5x lengths do not compare; --length" in words
    # what has no spread, style, takes none: of plot and agent that of agent alone varies
    assert re.search(
        r"With the spread seen here it takes \d+ prompts, by feature, to find a difference of 0.05 with a chance of "
        r"80%; these runs share 8\.",
        words,
    )
    assert "Beware: m/b writes 40 words where the population has 4: beyond 1.5x lengths do not compare." in words
