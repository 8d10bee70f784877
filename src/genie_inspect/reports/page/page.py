"""The report as one page: no network, no script, light and dark."""

import math
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from genie_inspect.close_reader.instructions import ASPECTS
from genie_inspect.judges.cautions import caution
from genie_inspect.logs.lengths import cut_warning, length_warning
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.logs.yardstick import yardstick_command
from genie_inspect.measures.length import is_like_length
from genie_inspect.reports.charts import DARK, ENDINGS, LIGHT, darkened, svg, write_chart
from genie_inspect.reports.comparison.needed import DIFFERENCE, prompts_needed
from genie_inspect.reports.comparison.verdict import verdict, warnings
from genie_inspect.reports.page.cells import in_words, number, places, shade
from genie_inspect.reports.page.figures import Figure, colours, length_ridges, radars, ridges
from genie_inspect.reports.page.forests import forests
from genie_inspect.reports.page.heatmaps import heatmap
from genie_inspect.reports.page.methods import command_for_yardstick, compared, definitions, run_facts
from genie_inspect.reports.page.opening import opening
from genie_inspect.reports.page.report import Measure, Report, Spread
from genie_inspect.reports.page.studies import StudyPart, study_figures
from genie_inspect.signature import facts_of, package_version
from genie_inspect.statistics.power import USUAL_POWER

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as two images, of which the page shows the one for its light."""

    figure: Figure
    light: str
    dark: str


@dataclass(frozen=True, slots=True)
class Part:
    """One measure on the page, with its pictures."""

    measure: Measure
    radars: list[Picture]
    ridges: list[Picture]
    meanings: list[str]
    """What its numbers mean, and which way is up."""

    @property
    def caution(self) -> str:
        """What must stand beside the numbers of its judge; empty for one that reads and judges."""
        return caution(facts_of(self.measure.signature).get("judge", ""))

    @property
    def rated(self) -> bool:
        """Whether the scorer says how many ratings were due."""
        return any(cell.due for row in self.measure.rows for cell in row.values())

    @property
    def has_standing(self) -> bool:
        """Whether it is known where values fall among the population's own."""
        return any(cell.standing for row in self.measure.rows for cell in row.values())

    @property
    def has_jury(self) -> bool:
        """Whether several graders judged the documents of any run."""
        return any(self.measure.graders)

    @property
    def has_nearest(self) -> bool:
        """Whether the scorer says how near the nearest comes."""
        return any(cell.nearest.clusters for row in self.measure.rows for cell in row.values())

    @property
    def covered(self) -> list[str]:
        """The keys of which the scorer says how many questions or tests could be used."""
        return [key for key in self.measure.keys if any(row[key].asked for row in self.measure.rows if row)]


def figures(report: Report) -> Iterator[Figure]:
    """Every chart of the page, in its order, and the tables of means and of effects as pictures."""
    yield from forests(report)
    for place, study in enumerate(report.studies, start=1):
        yield from study_figures(study, place)
    for measure in report.measures:
        yield heatmap(report, measure)
        yield from radars(report, measure)
        yield from ridges(report, measure)
    yield length_ridges(report)


def page(report: Report) -> str:
    """The report as HTML; whatever comes from logs stands in it as text.

    Raises:
        MissingExtraError: If altair or vl-convert is not installed.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    # prompts, answers and names come from models: autoescape makes them text, not markup
    environment = Environment(
        loader=PackageLoader("genie_inspect.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "words": in_words, "breakable": breakable}
    environment.globals |= {
        "ASPECTS": ASPECTS,
        "DIFFERENCE": DIFFERENCE,
        "POWER": USUAL_POWER,
        "is_finite": math.isfinite,
    }
    parts = [
        Part(m, _pictures(radars(report, m)), _pictures(ridges(report, m)), _meanings(report, m.scorer))
        for m in report.measures
    ]
    dark = dict(zip(LIGHT.inks, DARK.inks, strict=True))
    return environment.get_template("page.html.j2").render(
        report=report,
        parts=parts,
        studies=[
            StudyPart(study, _picture(study_figures(study, place)[-1]))
            for place, study in enumerate(report.studies, start=1)
        ],
        lengths=_picture(length_ridges(report)),
        opening=opening(report),
        colours={run: (colour, dark[colour]) for run, colour in colours(report.runs).items()},
        forests=_pictures(list(forests(report))),
        verdict=verdict(report.comparison) if report.comparison else "",
        beware=_beware(report),
        needed={(row.run, row.scorer, row.key): n for row, n in prompts_needed(report.comparison)}
        if report.comparison
        else {},
        documents=sum(len(run.documents) for run in report.runs if not run.is_population),
        unlike=unlike_lengths(report),
        on_lengths=[warning for run in report.runs for warning in (length_warning(run), cut_warning(run)) if warning],
        yardstick_command=command_for_yardstick(report),
        carried_command=next((command for run in report.runs if (command := yardstick_command(run, "genie"))), ""),
        compared=compared(report),
        definitions=definitions(report),
        facts=[run_facts(run) for run in report.runs],
        version=package_version(),
        shade=shade,
        places=places,
        cost=cost,
    )


def _meanings(report: Report, scorer: str) -> list[str]:
    return next((run.meanings(scorer) for run in report.runs if scorer in run.ours), [])


def as_bytes(html: str) -> bytes:
    """The page as UTF-8; what is no character (half of a surrogate pair) becomes a question mark."""
    return html.encode("utf-8", "replace")


def write_pictures(report: Report, folder: Path) -> None:
    """Write every chart as SVG and PNG for light paper.

    Raises:
        OSError: If the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures(report):
        for ending in ENDINGS:
            write_chart(figure.draw, folder / (figure.name + ending))


def breakable(name: str) -> "Markup":
    """A name that may go on in the next line after each slash.

    >>> str(breakable("openai/<b>"))
    'openai/<wbr>&lt;b&gt;'
    """
    from markupsafe import Markup, escape

    return escape(name).replace("/", Markup("/<wbr>"))


def cost(run: ScoredLog) -> str:
    """Price of all model calls of a run, in the currency of the log; empty where the log has no prices."""
    prices = [u.total_cost for u in run.header.stats.model_usage.values() if u.total_cost is not None]
    return f"{math.fsum(prices):.2f}" if prices else ""


def unlike_lengths(report: Report) -> tuple[str, Spread, str, Spread] | None:
    """The runs with the shortest and the longest median document, where they are too far apart to compare well."""
    # means of texts of unlike length do not compare, see LIKE
    pairs = zip(report.runs, report.lengths, strict=True)
    spreads: Sequence[tuple[ScoredLog, Spread]] = [(run, words) for run, words in pairs if words.median > 0]
    if not spreads:
        return None
    (short, short_words), (long, long_words) = (end(spreads, key=lambda pair: pair[1].median) for end in (min, max))
    return (
        (short.label, short_words, long.label, long_words)
        if not is_like_length(short_words.median, long_words.median)
        else None
    )


def _beware(report: Report) -> list[str]:
    """What to beware of in the comparison, without what stands below the means."""
    if report.comparison is None:
        return []
    below = tuple(line for measure in report.measures for lines in measure.warnings for line in lines)
    return [line for line in warnings(report.comparison) if not line.endswith(below)]


def _pictures(charts: list[Figure]) -> list[Picture]:
    return [_picture(figure) for figure in charts]


def _picture(figure: Figure) -> Picture:
    light = svg(figure.draw())
    return Picture(figure, _uri(light), _uri(darkened(light)))


def _uri(image: str) -> str:
    # an image, not inline SVG: nothing in a label can run as a script
    return "data:image/svg+xml;base64," + b64encode(image.encode()).decode()
