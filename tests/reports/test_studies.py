"""A metric study on the report's page."""

import re
from base64 import b64decode
from pathlib import Path

import pytest
from tests.reports.made_logs import made_log, scored
from tests.reports.studies import FEATURES, by_feature, made, sharp, study_log

from genie_inspect.reports.charts import BARS, BARS_SCALE, cells_of
from genie_inspect.reports.page import figures, matrix, page, write_pictures
from genie_inspect.reports.report import Report, build_report
from genie_inspect.reports.study import study
from genie_inspect.reports.study_verdict import sentence, warnings

pytest.importorskip("altair", reason="needs the extra `charts`")
# the notice that means are of originals alone
pytestmark = pytest.mark.filterwarnings("ignore:.* is a metric study")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("logs")
    study_log(folder, [text for text in made(8, ["agent", "<i>"]) if text.id != "o7-original-0"], by_feature(sharp))
    made_log(folder, [{"genie": scored(dict.fromkeys(FEATURES, 0.5), GENIE)}], model="mock/other")
    return build_report([folder])


GENIE = "measure:genie|judge:list(test)|population:small-1@0|version:1-A"


@pytest.fixture(scope="module")
def html(report: Report) -> str:
    return page(report)


def section(html: str) -> str:
    return html.split('<section id="studies"')[1].split("</section>")[0]


def test_the_section_stands_before_the_means_and_in_the_menu(html: str) -> None:
    assert html.index('id="studies"') < html.index('id="means"')
    assert '<a href="#studies">Metric study</a>' in html


def test_it_says_what_genie_study_says(report: Report, html: str) -> None:
    (found,) = report.studies
    assert any(found.texts.changed.values())
    told = re.sub("<.*?>", "", section(html))
    for line in (*map(sentence, found.measures), *warnings(found)):
        assert line.replace("<", "&lt;").replace(">", "&gt;") in told
    assert [effect.p_value for effect in study(found.file).effects] == pytest.approx(
        [effect.p_value for effect in found.effects], nan_ok=True
    )


def test_what_the_bars_show_stands_below_them_and_not_in_them_where_it_would_be_cut_off(html: str) -> None:
    (caption,) = re.findall("<figcaption>(.*?)</figcaption>", section(html))
    assert re.sub("<.*?>", "", caption) == f"{BARS}: {BARS_SCALE}"
    (image,) = re.findall('<img src="data:image/svg.xml;base64,(.*?)"', section(html))
    assert BARS not in b64decode(image).decode()


def test_the_matrix_has_the_cells_of_the_picture(report: Report, html: str) -> None:
    (found,) = report.studies
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", section(html).split("</table>")[0], re.DOTALL)
    shown = [re.findall(r'<td class="(.*?)" style="--share: (.*?)">(.*?)</td>', row) for row in rows]
    # row by row, as the page has them
    cells = sorted(cells_of(found), key=lambda cell: ("agent", "<i>", "paraphrase").index(cell["row"]))
    assert [cell for row in shown for _, _, cell in row] == [cell["shown"] for cell in cells]
    assert [classes.strip() == "framed" for row in shown for classes, _, _ in row] == [cell["own"] for cell in cells]
    # the edited feature's effect is far beyond the deepest colour, and what does not hold has none
    assert {share for row in shown for _, share, _ in row} == {"0%", "100%"}
    assert [cell["share"] for cell in matrix(found)[1]["agent"]] == ["100%", "0%", "0%", "0%"]


def test_the_means_below_are_over_the_originals(report: Report) -> None:
    run, other = sorted(report.runs, key=lambda run: run.model == "mock/other")
    assert (len(run.documents), len(other.documents)) == (7, 1)
    (measure,) = report.measures
    row = measure.rows[report.runs.index(run)]
    # originals 0 to 6, a prompt each: 0.05 + 0.05 x number
    assert row["plot"].interval.mean == pytest.approx(0.2)
    assert report.lengths[report.runs.index(run)]["median"] == 2


def test_the_pictures_of_a_study_are_written_with_the_others(report: Report, tmp_path: Path) -> None:
    names = [figure.name for figure in figures(report)]
    assert names[:2] == ["study-1-effects", "study-1-bars"]
    small = Report(**{**{name: getattr(report, name) for name in Report.__slots__}, "measures": ()})
    write_pictures(small, tmp_path)
    assert (tmp_path / "study-1-effects.svg").read_text().startswith("<svg")


def test_without_a_study_there_is_no_section(tmp_path: Path) -> None:
    plain = build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])])
    assert plain.studies == ()
    assert "Metric study" not in page(plain)
