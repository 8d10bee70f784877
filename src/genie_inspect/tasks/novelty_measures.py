"""What the novelty tasks measure with: the scorers that their options stand for, and the steps before them."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver

from genie_inspect.building.costs import TaskCost, reference_scores_cost, task_cost
from genie_inspect.errors import UnknownChoiceError, check_text
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.equivalence import GRADER
from genie_inspect.graders.instrument import OFFLINE, Instrument, mode_and_fit
from genie_inspect.graders.reader import CONCISE
from genie_inspect.inspect_private import PrerequisiteError, loaded_scorer, with_metrics
from genie_inspect.populations.population import NONE, Population, open_population
from genie_inspect.scorers.document import document
from genie_inspect.scorers.genie import genie
from genie_inspect.scorers.stderr import of_originals
from genie_inspect.solvers.requirements import Line, announce_cost, require_grader, require_models
from genie_inspect.tasks.panel import CHEAP, PREFERENCE, READING, Documents, Panel, chosen_panel
from genie_inspect.tasks.panel import NONE as NO_PANEL

# what a measure asks of the documents of these samples, in so many epochs
Asks = Callable[[Sequence[Sample], int], Cost]


@dataclass(frozen=True, slots=True)
class CostLine:
    """What the measures of a task ask, and of which samples."""

    name: str
    samples: Sequence[Sample]
    epochs: int  # unless a run has others
    asks: Mapping[str, Asks]  # by measure, those that ask a model

    def __call__(self, model: str, ids: Collection[str | int] | None, epochs: int | None) -> str:
        """The line; empty where no measure asks a model."""
        taken, epochs = self.taken(ids), epochs or self.epochs
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

    def taken(self, ids: Collection[str | int] | None) -> list[Sample]:
        return [sample for sample in self.samples if ids is None or sample.id in ids]

    def costs(self, samples: Sequence[Sample], epochs: int) -> dict[str, Cost]:
        """What each measure asks of the documents of these samples, in so many epochs."""
        return {name: asks(samples, epochs) for name, asks in self.asks.items()}


def extent(samples: int, epochs: int) -> str:
    return " x ".join(f"{count} {what}{'s' * (count != 1)}" for count, what in ((samples, "sample"), (epochs, "epoch")))


def by_prompt(samples: Sequence[Sample], epochs: int) -> dict[str, int]:
    counts = Counter(str((sample.metadata or {})["prompt"]) for sample in samples)
    return {prompt: count * epochs for prompt, count in counts.items()}


NO_GENIE = "none"
MANY_DOCUMENTS, PROPOSED = 50, 6  # per prompt, from which so many ratings are proposed


@dataclass(frozen=True)
class NoveltyMeasures:
    """What documents are compared with, and how: Genie, and a panel beside it or alone; checked when it is made."""

    population: str
    judge: str  # as for `Instrument`; `none` leaves Genie out, and the panel scores alone
    embedder: str = "static"
    templates: str | list[str] | None = None
    cache: bool = True
    # holistic measures beside Genie: `none`, `cheap` (those that ask no model), `all`, or their names
    panel: str | Sequence[str] = NO_PANEL
    answer_length: str = CONCISE
    ratings: int | None = None
    further_judges: Sequence[str] = ()  # Genie once with each, too
    further_scorers: Sequence[Scorer] = ()  # anybody's, which may be all that is tried
    is_reference_scores: bool = False  # whether what is measured are the population's own documents, all of them

    def __post_init__(self) -> None:
        if self.judge == NO_GENIE and self.further_judges:
            raise UnknownChoiceError("judge", NO_GENIE, "alone, or judges with commas between them")
        check_text("population", self.population)
        for judge in (self.judge, *self.further_judges):
            if judge not in (OFFLINE, NO_GENIE):
                mode_and_fit(judge, [OFFLINE, NO_GENIE])
        _ = self.instruments
        has_others = bool(self.beside.names or self.further_scorers)
        if self.scores and (NO_GENIE in self.further_judges or (self.judge == NO_GENIE and not has_others)):
            raise UnknownChoiceError(
                "judge", NO_GENIE, f"a judge, or measures in Genie's place (-T panel={CHEAP} asks no model)"
            )
        # every measure of the panel compares with the population
        if not self.scores and self.beside.names:
            raise UnknownChoiceError(
                "panel", self.panel, f"{NO_PANEL} when there is no population to compare with (population={NONE})"
            )

    @cached_property
    def instruments(self) -> list[Instrument]:
        """Genie's, by judge; where it is left out one that asks nobody, so that options are checked all the same."""
        judges = [OFFLINE if judge == NO_GENIE else judge for judge in (self.judge, *self.further_judges)]
        return [
            Instrument(
                judge, self.embedder, self.templates, self.cache, answer_length=self.answer_length, ratings=self.ratings
            )
            for judge in judges
        ]

    @property
    def scores(self) -> bool:
        return self.population != NONE

    @property
    def beside(self) -> Panel:
        return chosen_panel(self.panel, self.judge)

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

    def scorers(self) -> list[Scorer] | None:
        """Genie by the first judge, the panel, Genie by further judges, further scorers; last what is no measure."""
        if not self.scores:
            return None
        genies = [
            # by their options, which Inspect writes into the log: who scores it again gets the same scorers
            genie(
                self.population,
                it.judge,
                it.embedder,
                it.templates,
                it.cache,
                answer_length=it.answer_length,
                ratings=it.ratings,
            )
            for it in (self.instruments if self.with_genie else ())
        ]
        panel = self.beside.scorers(self.population, self.embedder, self.templates).values()
        # it says of the others what they lack
        return [*genies[:1], *panel, *genies[1:], *self.further_scorers, document()]

    def setup(self, dataset: MemoryDataset, epochs: int) -> list[Solver] | None:
        """The steps before anything is generated: what ends a run that lacks a model, and what judging will ask."""
        if not self.scores:
            return None
        population = open_population(self.population)
        whole_line = CostLine(dataset.name or "", list(dataset), epochs, self.asks(population))
        lines: list[Line] = [whole_line]
        # who leaves Genie out knows it
        if not self.with_genie and self.judge != NO_GENIE:
            said = (
                f"population {population.name} has documents and no questions: genie is left out and the panel scores "
                f"(for genie: genie questions write {population.folder}, and import again with --questions)"
            )
            lines.insert(0, lambda model, ids, epochs: said)
        documents = population.manifest.counts.documents / max(len(population.prompts), 1)
        if self.with_genie and self.instruments[0].can_sample and documents > MANY_DOCUMENTS:
            lines.append(partial(self._proposal, population, whole_line))
        return [*self._requirements(), *map(announce_cost, lines)]

    def _proposal(
        self, population: Population, line: CostLine, model: str, ids: Collection[str | int] | None, epochs: int | None
    ) -> str:
        """What fewer ratings would cost, for a large population."""
        options = self.instruments[0], replace(self.instruments[0], ratings=PROPOSED)
        taken, epochs = line.taken(ids), epochs or line.epochs
        whole, few = (self._genie_cost(population, own, taken, epochs) for own in options)
        return (
            f"population {population.name} is large: with -T ratings={PROPOSED} genie would take about "
            f"{few.tokens_in:,.0f} tokens in and {few.tokens_out:,.0f} out instead of {whole.tokens_in:,.0f} and "
            f"{whole.tokens_out:,.0f}, with a stated error"
        )

    def _requirements(self) -> list[Solver]:
        beside = self.beside
        preference, reading = beside.asks(PREFERENCE), beside.asks(READING)
        models = require_models(beside.asks_equivalence, preference=preference, reading=reading)
        if not self.with_genie:
            return [models]
        # the panel can do without a grader, so that leaving Genie out is a way to run without one
        alone = bool(beside.names) and not (beside.asks_equivalence == GRADER or preference or reading)
        judges = (self.judge, *self.further_judges)
        return [step for judge in judges for step in (require_grader(judge, panel_alone=alone), models)]

    def asks(self, population: Population) -> dict[str, Asks]:
        """What each measure that asks a model asks; `genie` less what the run's graders have said before."""

        def beside(cost: Callable[[Documents], Cost]) -> Asks:
            return lambda samples, epochs: cost(by_prompt(samples, epochs))

        panel = {name: beside(cost) for name, cost in self.beside.costs(population, self.templates).items()}
        genies: list[tuple[str, Asks]] = [
            (f"genie judge={instrument.judge}", partial(self._genie_cost, population, instrument))
            for instrument in (self.instruments if self.with_genie else ())
            if not instrument.is_smoke_test
        ]
        return dict(genies[:1]) | panel | dict(genies[1:])

    def _genie_cost(
        self, population: Population, instrument: Instrument, samples: Sequence[Sample], epochs: int
    ) -> Cost:
        models = instrument.graders()
        if self.is_reference_scores:
            cost = TaskCost.by_all([reference_scores_cost(population, instrument, model) for model in models])
            # a prompt has about as many documents as another: of a part of the samples, that part
            return cost.total * (len(samples) / cost.documents)
        documents = by_prompt(samples, epochs)
        return TaskCost.by_all([task_cost(population, documents, instrument, model) for model in models]).total


def named_scorers(named: str | Sequence[str] | Mapping[str, Any] | None) -> list[Scorer]:
    """Scorers by their names; their metrics, whoever's they are, count the study's originals."""
    if not isinstance(named, Mapping):
        names = named.split(",") if isinstance(named, str) else named or ()
        named = {name.strip(): {} for name in names if name.strip()}
    scorers = []
    for name, options in named.items():
        try:
            scorers.append(with_metrics(loaded_scorer(name, options or {}), of_originals))
        except (PrerequisiteError, TypeError, ValueError, OSError) as error:
            accepted = f"an installed scorer's name or file.py@name, with options that it takes ({error})"
            raise UnknownChoiceError("scorer", name, accepted) from error
    return scorers
