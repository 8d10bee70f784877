"""What the novelty tasks measure with: the options that they share, and the scorers that these stand for."""

from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver

from genie_inspect.engines.embedders.choices import embedder as chosen_embedder
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.judges.choices import check_judge
from genie_inspect.populations.catalogue import NONE
from genie_inspect.scorers.genie import genie
from genie_inspect.scorers.panel import NONE as NO_PANEL
from genie_inspect.scorers.panel import Panel, chosen_panel
from genie_inspect.solvers.options import check_switch, check_text
from genie_inspect.solvers.require_grader import require_grader
from genie_inspect.solvers.require_models import require_models


@dataclass(frozen=True, slots=True)
class Instrument:
    """What documents are compared with, and how; checked when it is made, also where nothing is to be scored.

    Raises:
        UnknownChoiceError: If an option is none of those that it accepts.
        TemplateError: If a template of the user's cannot be used.
        MissingExtraError: If the embedder's extra is not installed.
    """

    population: str
    """`none`, or what documents are compared with."""
    judge: str
    """As for the scorer `genie`, like the next two."""
    embedder: str
    templates: str | None
    panel: str | Sequence[str] = NO_PANEL
    """Holistic measures beside Genie: `none`, `cheap` (no model is asked), `all`, or their names."""
    cache: bool = True
    """Whether answers and ratings that a model once gave are looked up and kept; false asks anew."""

    def __post_init__(self) -> None:
        check_text("population", self.population)
        check_text("embedder", self.embedder)
        check_switch("cache", self.cache)
        # templates are loaded here, so that a wrong blank shows before anything is asked
        check_judge(self.judge, self.templates)
        chosen_embedder(self.embedder)
        # every measure of the panel compares with the population
        if not self.scores and self.measures.names:
            raise UnknownChoiceError(
                "panel", self.panel, f"{NO_PANEL} when there is no population to compare with (population={NONE})"
            )

    @property
    def scores(self) -> bool:
        """Whether there is anything to compare documents with."""
        return self.population != NONE

    @property
    def measures(self) -> Panel:
        """The measures beside Genie."""
        return chosen_panel(self.panel, self.judge)

    def scorers(self) -> list[Scorer]:
        """Genie, and the measures beside it.

        Raises:
            PopulationError: If the population cannot be opened or lacks what a measure needs.
        """
        beside = self.measures.scorers(self.population, self.embedder, self.templates)
        return [genie(self.population, self.judge, self.embedder, self.templates, self.cache), *beside.values()]

    def requirements(self) -> list[Solver]:
        """The steps that end a run without the models that are asked, before anything is generated.

        Raises:
            PrerequisiteError: If a run has begun without them.
        """
        measures = self.measures
        return [
            require_grader(self.judge),
            require_models(measures.asks_equivalence, preference=measures.asks_preference),
        ]
