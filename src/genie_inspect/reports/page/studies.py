"""The report's section on metric studies: the sentence on each measure, the matrix of effects, the bars."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genie_inspect.reports.page.figures import Figure
from genie_inspect.reports.sensitivity.chart import BARS, BARS_SCALE, ON_A_PHONE, STRONGEST, bars, cells_of, heatmap
from genie_inspect.reports.sensitivity.effects import Effect
from genie_inspect.reports.sensitivity.measures import StudiedMeasure
from genie_inspect.reports.sensitivity.study import Study
from genie_inspect.reports.sensitivity.verdict import sentence, warnings

if TYPE_CHECKING:
    from genie_inspect.reports.page.page import Picture


@dataclass(frozen=True, slots=True)
class StudyPart:
    """One study on the page, with the picture of its bars."""

    study: Study
    bars: "Picture"

    @property
    def sentences(self) -> list[str]:
        """What it shows of each measure."""
        return [sentence(measure) for measure in self.study.measures]

    @property
    def warnings(self) -> list[str]:
        """What to beware of."""
        return warnings(self.study)

    @property
    def columns(self) -> list[str]:
        """The scores, as the heads of the matrix."""
        return list(dict.fromkeys(cell["column"] for cell in cells_of(self.study)))

    @property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """By intervention the cells of the matrix, each with the depth of its colour."""
        rows: dict[str, list[dict[str, Any]]] = {}
        for cell in cells_of(self.study):
            depth = min(1.0, abs(cell["held"]) / STRONGEST)
            rows.setdefault(cell["row"], []).append({**cell, "share": f"{100 * depth:.0f}%"})
        return rows

    @property
    def judged(self) -> list[tuple[StudiedMeasure, Effect]]:
        """The effects by which measures are judged, each with its measure."""
        return [
            (measure, effect)
            for measure in self.study.measures
            for effect in measure.effects
            if effect.is_own or effect.is_paraphrase
        ]


def study_figures(study: Study, number: int) -> list[Figure]:
    """The matrix and the bars of a study; the page has the matrix as a table.

    Args:
        study: What is drawn.
        number: Of the report's studies, from 1.
    """
    told = " ".join(sentence(measure) for measure in study.measures)
    return [
        Figure(f"study-{number}-effects", "effects of edits and paraphrases", told, lambda: heatmap(study)),
        Figure(f"study-{number}-bars", f"{BARS}: {BARS_SCALE}", told, lambda: bars(study, ON_A_PHONE)),
    ]
