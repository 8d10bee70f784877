"""The options of `genie cost --study`, and the plan as a table or as plain values."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from genie_inspect.asking.cost import Cost
from genie_inspect.cli.cost_tables import Prices
from genie_inspect.cli.options import with_options
from genie_inspect.costs.engines import GIVEN, Engine, engine_named
from genie_inspect.costs.estimate import TaskCost
from genie_inspect.costs.plan import HOUR, Plan, as_measured, plan
from genie_inspect.logs.files import LogError, log_header

if TYPE_CHECKING:
    from rich.table import Table

F = TypeVar("F", bound=Callable[..., Any])
ENGINES = ("batch", "h100", "8xh100", "64xh100")
"""Which are planned for unless others are named."""
RATE = click.FloatRange(0, min_open=True)
OPTIONS = (
    click.option(
        "--study",
        metavar="documents=4500,...",
        help="Plan a study of so many documents. Also prompts=, population= (documents a prompt) and questions= (a "
        "prompt), where they differ from those of --population.",
    ),
    click.option(
        "--engine",
        "engines",
        multiple=True,
        metavar="NAME|FILE",
        help=f"Of the plan: batch, h100, h100-70b, 8xh100 for eight GPUs, or a JSON file; repeatable.  "
        f"[default: {', '.join(ENGINES)}]",
    ),
    click.option("--prefill", type=RATE, help="Tokens a second that a copy of the engine reads."),
    click.option("--decode", type=RATE, help="Tokens a second that it writes, of all requests together."),
    click.option("--cached", type=click.FloatRange(0, 1), help="Share of what it reads that its prefix cache has."),
    click.option("--latency", type=click.FloatRange(0), help="Seconds that a request takes, however long it is."),
    click.option("--connections", type=click.IntRange(1), help="Requests in flight."),
    click.option(
        "--throughput-from",
        "measured",
        multiple=True,
        metavar="LOG",
        help="Scale the engines' rates so that one copy would have judged this log in its time; repeatable.",
    ),
    click.option("--price-gpu-hour", "gpu_hour", type=click.FloatRange(0), help="Of an hour of one GPU."),
)


def plan_options(verb: F) -> F:
    """Add the options of a plan to a verb."""
    return with_options(OPTIONS)(verb)


@dataclass(frozen=True, slots=True)
class Planning:
    """The options of a plan."""

    study: str | None
    engines: tuple[str, ...]
    measured: tuple[str, ...]
    gpu_hour: float | None
    constants: Mapping[str, float | None]
    """Of the engines, where they are given."""

    @classmethod
    def of(cls, study: str | None, engines: tuple[str, ...], measured: tuple[str, ...], **more: Any) -> "Planning":
        """The options as click gives them.

        Raises:
            UsageError: If there are some without a study.
        """
        gpu_hour = more.pop("gpu_hour")
        if study is None and (engines or measured or any(value is not None for value in (gpu_hour, *more.values()))):
            raise click.UsageError("engines and what they can do belong to a plan: --study documents=4500")
        return cls(study, engines, measured, gpu_hour, more)

    def chosen(self) -> list[Engine]:
        """The engines, with what was measured and then with what is given.

        Raises:
            GenieError: If one cannot be used.
        """
        named = [engine_named(name) for name in self.engines or ENGINES]
        # a batch endpoint has its terms, whatever it runs on
        timed = any(not engine.window for engine in named)
        runs = [judged_in(log) for log in self.measured] if timed else []
        return [engine if engine.window else self._told(engine, runs) for engine in named]

    def _told(self, engine: Engine, runs: Sequence[tuple[Cost, float]]) -> Engine:
        measured = as_measured(engine, runs, ", ".join(self.measured)) if runs else engine
        return measured.told(GIVEN, **self.constants)

    def plans(self, tasks: Mapping[str, TaskCost], prices: Prices | None) -> dict[str, list[Plan]]:
        """A plan for each engine, by judge.

        Raises:
            GenieError: If an engine cannot be used.
        """
        engines = self.chosen()
        return {mode: [plan(task, engine, prices, self.gpu_hour) for engine in engines] for mode, task in tasks.items()}


def judged_in(log: str) -> tuple[Cost, float]:
    """What the grader of a log was asked, and the seconds of the run; of all models where no role is a grader.

    Raises:
        LogError: If it cannot be read, or has no time.
    """
    stats = log_header(log).stats
    grader = stats.role_usage.get("grader")
    used = [grader] if grader else list(stats.model_usage.values())
    if not (stats.started_at and stats.completed_at and used):
        raise LogError(f"{log} does not say when its run began and ended, or how many tokens it took")
    from datetime import datetime

    began, ended = (datetime.fromisoformat(str(moment)) for moment in (stats.started_at, stats.completed_at))
    read = sum(usage.input_tokens + (usage.input_tokens_cache_read or 0) for usage in used)
    return Cost(0, read, sum(usage.output_tokens for usage in used)), (ended - began).total_seconds()


def plain_plan(found: Plan) -> dict[str, object]:
    """A plan as plain values: hours, and the source of each constant."""
    engine = found.engine
    money = {} if found.money is None else {"money": round(found.money, 2)}
    return {
        "hours": {step: round(seconds / HOUR, 4) for step, seconds in found.seconds.items()},
        "wall_hours": round(found.wall / HOUR, 4),
        "gpu_hours": round(found.gpu_hours, 4),
        **money,
        "bound": found.bound,
        "gpus": engine.all_gpus,
        "constants": {name: {"value": value, "source": engine.source(name)} for name, value in constants(engine)},
    }


def constants(engine: Engine) -> list[tuple[str, float]]:
    """The constants on which a plan for an engine rests, by name."""
    names = ["window", "price_share"] if engine.window else ["prefill", "decode", "cached"]
    if not engine.window and (engine.latency or engine.connections):
        names += ["latency", "connections"]
    return [(name, getattr(engine, name)) for name in names if getattr(engine, name) is not None]


def plan_table(plans: Mapping[str, Sequence[Plan]], title: str) -> "Table":
    """A row for each judge and engine."""
    from rich.markup import escape
    from rich.table import Table

    priced = any(found.money is not None for some in plans.values() for found in some)
    table = Table(
        title=escape(title), caption="begun and never idle; the engine's start and its last requests are left out"
    )
    for name in ("judge", "engine"):
        table.add_column(name)
    for name in ("reading", "judging", "wall time", "GPU hours", *(["money"] if priced else [])):
        table.add_column(name, justify="right")
    table.add_column("most of it goes to")
    for mode, some in plans.items():
        for number, found in enumerate(some):
            money = [f"{found.money:,.2f}" if found.money is not None else ""] if priced else []
            table.add_row(
                "" if number else mode, escape(found.engine.name), *_cells(found), *money, found.bound,
                end_section=found is some[-1],
            )  # fmt: skip
    return table


def _cells(found: Plan) -> list[str]:
    if not found.seconds:
        return ["", "", f"up to {shown_time(found.wall)}", ""]
    reading = found.seconds["reading"] + found.seconds["population"]
    gpu_hours = f"{found.gpu_hours:,.2f}" if found.gpu_hours else ""
    return [*(shown_time(seconds) for seconds in (reading, found.seconds["rating"], found.wall)), gpu_hours]


def shown_time(seconds: float) -> str:
    """A time in the unit in which it is read easily: 41 s, 12 min, 3.2 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / HOUR:,.1f} h"


def source_lines(engines: Iterable[Engine]) -> list[str]:
    """Where each constant comes from, a line each; engines that have one in common share its line."""
    names: dict[str, list[str]] = {}
    for engine in engines:
        for name, value in constants(engine):
            names.setdefault(f"{name} {value:,g}, {engine.source(name)}", []).append(engine.name)
    return [f"{', '.join(having)}: {line}" for line, having in names.items()]
