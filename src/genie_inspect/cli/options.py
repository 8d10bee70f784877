"""Options that several verbs have, each declared once, and what a verb answers, in each of its forms."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.cli.terminal import Unbroken, echo_json, replacing
from genie_inspect.prompting.templates import ORIGINAL, REWORDINGS

if TYPE_CHECKING:
    from genie_inspect.cli.tables import Part
    from genie_inspect.reports.charts import Chart

Decorator = Callable[[Any], Any]
flag = functools.partial(click.option, is_flag=True)
NUMBER = int | float | click.IntRange | click.FloatRange


def option(*names: str, **settings: Any) -> Decorator:
    """An option, with its default in the help where it has one; a number is called N there, for a narrow column."""
    kind = settings.get("type", settings.get("default"))
    if kind in (int, float) or (isinstance(kind, NUMBER) and not isinstance(kind, bool)):
        settings.setdefault("metavar", "N")
    return click.option(*names, **{"show_default": True, **settings})


FILE = click.Path(path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
AT_LEAST_1 = click.IntRange(min=1)
GRADER = option("--grader", required=True, metavar="MODEL", help="Model to ask, as Inspect names it.")
TEMPLATES = option(
    "--templates", type=FOLDER, metavar="FOLDER", help="Your own instructions. Default: the bundled ones."
)
WORDINGS = option(
    "--templates",
    metavar="FOLDER",
    help=f"Your instructions, or {', '.join(REWORDINGS)}; with commas a jury. Default: {ORIGINAL}.",
)
ANSWER_LENGTH = option(
    "--answer-length",
    default="concise",
    type=click.Choice(["concise", "sentence", "free"]),
    metavar="TEXT",
    help="Answers: concise, sentence or free.",
)
RATINGS = option(
    "--ratings",
    type=click.IntRange(min=3),
    help="Other answers to rate against. Default: all.",
)
DRY_RUN = flag("--dry-run", help="Only count calls and tokens; nothing is written.")
FEATURES = option(
    "--features",
    default="starter",
    metavar="FILE",
    help='Features: a JSON file {"features": [...]}, or a population.',
)
PER_FEATURE = option("--per-feature", default=2, type=AT_LEAST_1, help="Minimum questions per feature, if possible.")
POPULATION = option("--population", default="starter", help="Population: its name or folder.")
REWORDED = flag("--rewordings", "reworded", help="Instead, compare the wordings of --templates or all.")
SIGNATURE = option(
    "--signature",
    default="",
    show_default=False,
    metavar="PART",
    help="Part of the signatures to use, as judge:list. Default: all.",
)
LOGS = click.argument("logs", nargs=-1, required=True)
output_option = functools.partial(option, "--output", "-o", required=True, type=FILE)
seed_option = functools.partial(option, "--seed", default=0)
embedder_option = functools.partial(option, "--embedder", default="static")
resamples_option = functools.partial(
    option, "--resamples", default=2_000, type=AT_LEAST_1, help="Number of bootstrap resamples."
)
as_json_option = functools.partial(flag, "--json", "as_json")


def together(*options: Decorator) -> Decorator:
    """Gives a command all of the options, which its help lists in this order."""
    return lambda command: functools.reduce(lambda given, option: option(given), reversed(options), command)


def listed(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """Names with commas between them, each once, for an option's callback."""
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not names:
        raise click.BadParameter(f"{value!r} has no name, expected names with commas between them")
    return names


@dataclass(frozen=True, slots=True)
class Answer:
    """What a verb found, in each form in which it can be had."""

    value: Any  # for JSON
    parts: "Iterable[Part]"  # for people: tables and lines, one below the other
    chart: "Callable[[], Chart] | None" = None
    csv: Callable[[], str] | None = None
    code: int = 0  # with which the command ends


def answering(instead: str = "text", picture: str = "", csv: str = "", json: str = "") -> Decorator:
    """Gives a command the options for the forms of its answer, which is an `Answer`, or facts by name.

    `picture` and `csv` are what --picture and --csv write: without them there is no such option.
    """
    options = [
        *([option("--picture", type=FILE, help=f"Write {picture} to this .svg or .png file.")] if picture else []),
        *([option("--csv", type=FILE, help=f"Write {csv} to this file.")] if csv else []),
        as_json_option(help=json or f"Print JSON instead of {instead}."),
    ]

    def decorated(command: Callable[..., Answer | dict[str, Any]]) -> Any:
        @functools.wraps(command)
        def run(
            *arguments: Any, as_json: bool, picture: Path | None = None, csv: Path | None = None, **given: Any
        ) -> int:
            if picture:
                from genie_inspect.reports.charts import check_picture

                # before the command reads anything, which may take minutes
                check_picture(picture)
            answer = command(*arguments, **given)
            if isinstance(answer, dict):
                answer = Answer(answer, fact_lines(answer))
            from genie_inspect.cli.tables import print_parts
            from genie_inspect.files.writing import write_lines
            from genie_inspect.reports.charts import write_chart

            with replacing(picture, csv):
                if picture and answer.chart:
                    write_chart(answer.chart, picture)
                if csv and answer.csv:
                    write_lines(csv, [answer.csv()])
            if as_json:
                echo_json(answer.value)
            else:
                print_parts(answer.parts)
            return answer.code

        return together(*options)(run)

    return decorated


def fact_lines(result: Mapping[str, Any]) -> Iterator[Unbroken]:
    for name, value in result.items():
        # counts read best before what they count, other facts behind their name
        if isinstance(value, dict):
            value = ", ".join(f"{n} {what}" if isinstance(n, int) else f"{what}: {n}" for what, n in value.items())
        # 0 is a result and is printed
        if value not in ("", None):
            yield Unbroken(f"{name.replace('_', ' ')}: {value}")


asking = together(TEMPLATES, DRY_RUN, answering())
"""Of a verb that asks a model and answers with facts."""
