"""`genie cost`: what judging will cost, before it is asked for."""

from collections.abc import Mapping, Sequence

import click

from genie_inspect.asking.cost import Cost
from genie_inspect.cli.cost_tables import Prices, plain_costs, plain_judge, population_table
from genie_inspect.cli.graders import named_models
from genie_inspect.cli.running import ANSWER_LENGTH
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.cli.verbs.cost.without_population import TASKS, refuse_others, show_task
from genie_inspect.costs.estimate import Known, TaskCost, task_cost
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.judges.choices import MODES, mode_of
from genie_inspect.judges.instrument import Instrument
from genie_inspect.judges.list_judge import LIST
from genie_inspect.populations.catalogue import open_population
from genie_inspect.populations.population import Population

EPOCHS = 5


@click.command()
@click.option("--population", default="starter", show_default=True, help="`starter` or a folder.")
@click.option("--epochs", type=click.IntRange(1), help=f"New documents a prompt.  [default: {EPOCHS}; a task's own]")
@click.option("--judge", "judges", multiple=True, help=f"{', '.join(MODES)}; repeatable.  [default: all]")
@ANSWER_LENGTH
@click.option("--panel", default="all", show_default=True, help="As for a task; `none` leaves it out.")
@click.option("--task", type=click.Choice(list(TASKS)), help="In place of a population: a task without one.")
@click.option("-T", "options", multiple=True, metavar="OPTION=VALUE", help="An option of that task.")
@click.option(
    "--grader",
    "graders",
    multiple=True,
    help="<provider/model>; what it has said before is not asked again. Repeatable: a jury, each of which is asked.",
)
@click.option("--templates", type=click.Path(), help="A folder of your own instruction templates.")
@click.option("--price-input", type=click.FloatRange(0), help="Of a million tokens that the grader reads.")
@click.option("--price-output", type=click.FloatRange(0), help="Of a million tokens that it writes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script instead of a table.")
@click.pass_context
def cost(
    context: click.Context,
    /,
    population: str,
    epochs: int | None,
    judges: tuple[str, ...],
    answer_length: str,
    panel: str,
    task: str | None,
    options: tuple[str, ...],
    graders: tuple[str, ...],
    templates: str | None,
    price_input: float | None,
    price_output: float | None,
    as_json: bool,
) -> None:
    """Calls and tokens that models will be asked for when what was written is judged.

    Against a population: of Genie by judge, and of the panel's measures that ask a model; a task with a population
    takes the population's prompts. Or, with --task, of a task without one. Equal answers are judged once, and what the
    named grader has said before is not asked again. The writing of the documents is not counted. A scorer asks on an
    old log what it asks in a task; `ttcw` then draws no plots.

    \b
    Example: genie cost --epochs 5 --judge list --judge pairwise --price-input 2.5 --price-output 10
             genie cost --task ttcw -T stories=stories.jsonl -T analyse=false
    """
    if (price_input is None) != (price_output is None):
        raise click.UsageError("--price-input and --price-output are given together, as they are billed")
    prices = (price_input, price_output) if price_input is not None and price_output is not None else None
    if task is not None:
        refuse_others(context)
        with shown_errors():
            show_task(task, options, epochs, prices, as_json=as_json)
        return
    if options:
        raise click.UsageError("-T is an option of --task")
    with shown_errors():
        opened = open_population(population)
        instruments = [
            Instrument(mode_of(judge).name, templates=templates, answer_length=answer_length)
            for judge in judges or MODES
        ]
        costs = _judges(opened, epochs or EPOCHS, instruments, graders, named=bool(judges))
        beside = _panel(opened, epochs or EPOCHS, panel, templates)
    _show_population(opened, costs, beside, epochs or EPOCHS, graders, prices, as_json=as_json)


def _show_population(
    population: Population,
    judges: Mapping[str, TaskCost],
    panel: Mapping[str, Cost],
    epochs: int,
    graders: Sequence[str],
    prices: Prices | None,
    *,
    as_json: bool,
) -> None:
    prompts = len(population.prompts)
    if as_json:
        named = ", ".join(graders) or None
        facts = {"population": population.name, "prompts": prompts, "epochs": epochs, "grader": named}
        by_judge = {mode: plain_judge(one, prices) for mode, one in judges.items()}
        echo_json({**facts, "judges": by_judge, "panel": plain_costs(panel, prices)})
        return
    documents = f"{prompts} prompts x {epochs} documents against {population.manifest.name}"
    title = f"{documents}, grader {' and '.join(graders)}" if graders else documents
    console().print(population_table(judges, panel, prices, title))


def _judges(
    population: Population, epochs: int, instruments: Sequence[Instrument], graders: Sequence[str], *, named: bool
) -> dict[str, TaskCost]:
    """What Genie costs by judge; one that a grader cannot serve is left out unless it was named with --judge."""
    models = named_models(graders, asked=False) or (None,)
    costs: dict[str, TaskCost] = {}
    for instrument in instruments:
        try:
            # what is in the cache will not be asked again
            known = [Known.by(instrument, model) for model in models]
        except UnknownChoiceError:
            # logit asks for log-probabilities, which many providers do not give
            if named:
                raise
        else:
            documents = dict.fromkeys(population.prompts, epochs)
            costs[instrument.judge] = TaskCost.by_all(
                [task_cost(population, documents, instrument, each) for each in known]
            )
    return costs


def _panel(population: Population, epochs: int, panel: str, templates: str | None) -> dict[str, Cost]:
    """What those measures cost that ask a model; of a population of answers alone there are none."""
    from genie_inspect.tasks.panel import chosen_panel

    chosen = chosen_panel(panel, LIST.name)
    if population.answers_alone:
        return {}
    documents = dict.fromkeys(population.prompts, epochs)
    return {name: asks(documents) for name, asks in chosen.costs(population, templates).items()}
