"""The lines that say what judging a run will ask for, or that Genie is left out, before anything is asked."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from inspect_ai.dataset import Sample

from genie_inspect.asking.cost import Cost
from genie_inspect.costs.estimate import Known, TaskCost, task_cost
from genie_inspect.costs.leaving_out import yardstick_cost
from genie_inspect.judges.instrument import Instrument
from genie_inspect.populations.population import Population
from genie_inspect.solvers.announce_cost import Line

Asks = Callable[[Sequence[Sample], int], Cost]
"""What a measure asks of the documents of these samples, in so many epochs."""


@dataclass(frozen=True, slots=True)
class CostLine:
    """What the measures of a task ask, and of which samples."""

    name: str
    """The task."""
    samples: Sequence[Sample]
    epochs: int
    """Unless a run has others."""
    asks: Mapping[str, Asks]
    """By measure, those that ask a model."""

    def __call__(self, model: str, ids: Collection[str | int] | None, epochs: int | None) -> str:
        """The line; empty where no measure asks a model.

        Args:
            model: Who is evaluated.
            ids: The samples of the run; None for all.
            epochs: Those of the run; None for the task's own.
        """
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
    """`2 samples x 1 epoch`."""
    return " x ".join(f"{count} {what}{'s' * (count != 1)}" for count, what in ((samples, "sample"), (epochs, "epoch")))


def by_prompt(samples: Sequence[Sample], epochs: int) -> dict[str, int]:
    """How many documents of a run are written for each prompt."""
    counts = Counter(str((sample.metadata or {})["prompt"]) for sample in samples)
    return {prompt: count * epochs for prompt, count in counts.items()}


def genie_asks(population: Population, instrument: Instrument, *, own: bool = False) -> dict[str, Asks]:
    """What the scorer `genie` asks, less what the run's graders have said before; nothing where it asks no model.

    Args:
        population: What new documents are compared with.
        instrument: How they are compared.
        own: Whether the documents are the population's own, each compared with the others.
    """
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
    """The line that says that Genie is left out, of every run alike.

    Args:
        population: One without questions.
    """
    said = (
        f"population {population.name} has documents and no questions: genie is left out and the panel scores (for "
        f"genie: genie questions write {population.folder}, and import again with --questions)"
    )
    return lambda model, ids, epochs: said
