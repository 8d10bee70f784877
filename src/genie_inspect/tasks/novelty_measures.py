"""What the novelty tasks measure with: the scorers that their options stand for, and the steps before them."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from inspect_ai.dataset import Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver

from genie_inspect.building.costs import Known, TaskCost, task_cost, yardstick_cost
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.equivalence import GRADER
from genie_inspect.graders.instrument import EMBEDDED, Instrument, mode_and_fit
from genie_inspect.graders.reader import CONCISE
from genie_inspect.options import check_text
from genie_inspect.populations.population import NONE, Population, open_population
from genie_inspect.scorers.document import document
from genie_inspect.scorers.genie import genie
from genie_inspect.solvers.requirements import Line, require_grader, require_models
from genie_inspect.tasks.panel import CHEAP, PREFERENCE, READING, Panel, chosen_panel
from genie_inspect.tasks.panel import NONE as NO_PANEL

Asks = Callable[[Sequence[Sample], int], Cost]
"""What a measure asks of the documents of these samples, in so many epochs."""


@dataclass(frozen=True, slots=True)
class CostLine:
    """What the measures of a task ask, and of which samples."""

    name: str
    samples: Sequence[Sample]
    epochs: int
    """Unless a run has others."""
    asks: Mapping[str, Asks]
    """By measure, those that ask a model."""

    def __call__(self, model: str, ids: Collection[str | int] | None, epochs: int | None) -> str:
        """The line; empty where no measure asks a model."""
        taken = [sample for sample in self.samples if ids is None or sample.id in ids]
        epochs = epochs or self.epochs
        costs = self.costs(taken, epochs)
        if not costs:
            return ""
        total = sum(costs.values(), Cost())
        # one measure's calls are those of all
        parts = ", ".join(f"{name} {cost.calls:,.0f}" if len(costs) > 1 else name for name, cost in costs.items())
        return (
            f"{self.name} of {model}: judging asks for about {total.calls:,.0f} calls ({parts}), "
            f"{total.tokens_in:,.0f} tokens in and {total.tokens_out:,.0f} out for {extent(len(taken), epochs)}"
        )

    def costs(self, samples: Sequence[Sample], epochs: int) -> dict[str, Cost]:
        """What each measure asks of the documents of these samples, in so many epochs."""
        return {name: asks(samples, epochs) for name, asks in self.asks.items()}


def extent(samples: int, epochs: int) -> str:
    return " x ".join(f"{count} {what}{'s' * (count != 1)}" for count, what in ((samples, "sample"), (epochs, "epoch")))


def by_prompt(samples: Sequence[Sample], epochs: int) -> dict[str, int]:
    counts = Counter(str((sample.metadata or {})["prompt"]) for sample in samples)
    return {prompt: count * epochs for prompt, count in counts.items()}


def genie_asks(population: Population, instrument: Instrument, *, own: bool = False) -> dict[str, Asks]:
    """What the scorer `genie` asks, less what the run's graders have said before; nothing where it asks no model."""
    if instrument.is_smoke_test:
        return {}

    def asks(samples: Sequence[Sample], epochs: int) -> Cost:
        known = [Known.by(instrument, model) for model in instrument.graders()]
        if own:
            cost = TaskCost.by_all([yardstick_cost(population, instrument, each) for each in known])
            # a prompt has about as many documents as another: of a part of the samples, that part
            return cost.total * (len(samples) / cost.documents)
        documents = by_prompt(samples, epochs)
        return TaskCost.by_all([task_cost(population, documents, instrument, each) for each in known]).total

    return {f"genie judge={instrument.judge}": asks}


def no_genie_line(population: Population) -> Line:
    """The line that says that Genie is left out, of every run alike."""
    said = (
        f"population {population.name} has documents and no questions: genie is left out and the panel scores (for "
        f"genie: genie questions write {population.folder}, and import again with --questions)"
    )
    return lambda model, ids, epochs: said


NO_GENIE = "none"


@dataclass(frozen=True)
class NoveltyMeasures:
    """What documents are compared with, and how: Genie, and a panel beside it or alone; checked when it is made."""

    population: str
    judge: str
    """As for `Instrument`; `none` leaves Genie out, and the panel scores alone."""
    embedder: str = "static"
    templates: str | None = None
    cache: bool = True
    panel: str | Sequence[str] = NO_PANEL
    """Holistic measures beside Genie: `none`, `cheap` (those that ask no model), `all`, or their names."""
    answer_length: str = CONCISE

    def __post_init__(self) -> None:
        check_text("population", self.population)
        if self.judge not in (EMBEDDED, NO_GENIE):
            mode_and_fit(self.judge, [EMBEDDED, NO_GENIE])
        _ = self.instrument
        if self.judge == NO_GENIE and self.scores and not self.has_others:
            raise UnknownChoiceError(
                "judge", self.judge, f"a judge, or measures in Genie's place (-T panel={CHEAP} asks no model)"
            )
        # every measure of the panel compares with the population
        if not self.scores and self.beside.names:
            raise UnknownChoiceError(
                "panel", self.panel, f"{NO_PANEL} when there is no population to compare with (population={NONE})"
            )

    @cached_property
    def instrument(self) -> Instrument:
        """Genie's; where it is left out one that asks nobody, so that the options are checked all the same."""
        judge = EMBEDDED if self.judge == NO_GENIE else self.judge
        return Instrument(judge, self.embedder, self.templates, self.cache, answer_length=self.answer_length)

    @property
    def scores(self) -> bool:
        return self.population != NONE

    @property
    def beside(self) -> Panel:
        return chosen_panel(self.panel, self.judge)

    @property
    def has_others(self) -> bool:
        """Whether anything but Genie measures."""
        return bool(self.beside.names)

    @property
    def with_genie(self) -> bool:
        """Whether Genie is taken: not without a judge, nor beside a panel against documents without questions."""
        if self.judge == NO_GENIE:
            return False
        return not (self.beside.names and open_population(self.population).documents_alone)

    @property
    def headline(self) -> HeadlineMetric | None:
        """What a list of runs shows of each: the first mean of Genie, without it that of the panel's first measure."""
        first = ["genie"] if self.with_genie else self.beside.names[:1]
        return HeadlineMetric(scorer=first[0], metric="mean") if first else None

    def scorers(self) -> list[Scorer]:
        """Genie, and the measures beside it, or these alone; last what is no measure."""
        chosen = self.instrument
        # last, because it says of the others what they lack
        beside = [*self.beside.scorers(self.population, chosen.embedder, chosen.templates).values(), document()]
        if not self.with_genie:
            return beside
        # by their options, which Inspect writes into the log: who scores it again gets the same scorers
        given = (chosen.judge, chosen.embedder, chosen.templates, chosen.cache)
        return [genie(self.population, *given, answer_length=chosen.answer_length), *beside]

    def requirements(self) -> list[Solver]:
        """The steps that end a run without the models that are asked, before anything is generated."""
        beside = self.beside
        preference, reading = beside.asks(PREFERENCE), beside.asks(READING)
        models = require_models(beside.asks_equivalence, preference=preference, reading=reading)
        if not self.with_genie:
            return [models]
        # the panel can do without a grader, so that leaving Genie out is a way to run without one
        alone = bool(beside.names) and not (beside.asks_equivalence == GRADER or preference or reading)
        return [require_grader(self.judge, panel_alone=alone), models]

    def asks(self, population: Population, *, own: bool = False) -> dict[str, Asks]:
        costs = self.beside.costs(population, self.instrument.templates)
        genies = genie_asks(population, self.instrument, own=own) if self.with_genie else {}
        return genies | {
            name: lambda samples, epochs, cost=cost: cost(by_prompt(samples, epochs)) for name, cost in costs.items()
        }


@dataclass(frozen=True)
class StudyMeasures(NoveltyMeasures):
    """The same for a study of measures: Genie by further judges, and any scorers, beside them."""

    further_judges: Sequence[str] = ()
    """As `judge`; Genie once with each."""
    further_scorers: Sequence[Scorer] = ()

    def __post_init__(self) -> None:
        if self.judge == NO_GENIE and self.further_judges:
            raise UnknownChoiceError("judge", NO_GENIE, "alone, or judges with commas between them")
        super().__post_init__()
        _ = self._further

    @property
    def has_others(self) -> bool:
        """Whether anything but Genie measures: the panel, or somebody's own scorer, which may be all that is tried."""
        return super().has_others or bool(self.further_scorers)

    @cached_property
    def _further(self) -> list[NoveltyMeasures]:
        return [
            NoveltyMeasures(
                self.population, judge, self.embedder, self.templates, self.cache, answer_length=self.answer_length
            )
            for judge in self.further_judges
        ]

    def scorers(self) -> list[Scorer]:
        """Genie by each judge, the panel, the further scorers; last what is no measure."""
        *measures, last = super().scorers()
        genies = [measures.scorers()[0] for measures in self._further]
        return [*measures, *genies, *self.further_scorers, last]

    def requirements(self) -> list[Solver]:
        return [*super().requirements(), *(step for measures in self._further for step in measures.requirements())]

    def asks(self, population: Population, *, own: bool = False) -> dict[str, Asks]:
        asks = super().asks(population)
        return asks | {name: cost for measures in self._further for name, cost in measures.asks(population).items()}
