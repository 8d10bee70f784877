"""Options that several verbs have, each declared once, and what a verb answers, in each of its forms."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.cli.terminal import Unbroken, console, echo_json, print_parts, replacing

if TYPE_CHECKING:
    from rich.console import Console, RenderableType  # noqa: TID251  # a type, whose object comes from the door

    from genie_inspect.reports.charts import Chart

Decorator = Callable[[Any], Any]
FILE = click.Path(path_type=Path)
AT_LEAST_1 = click.IntRange(min=1)
GRADER = click.option(
    "--grader", required=True, metavar="PROVIDER/MODEL", help="Who is asked; any model that Inspect has."
)
TEMPLATES = click.option(
    "--templates",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of your own instruction templates.",
)
# of verbs whose measures say themselves what a folder of templates lacks
UNCHECKED_TEMPLATES = click.option("--templates", type=click.Path(), help="A folder of your own instruction templates.")
ANSWER_LENGTH = click.option(
    "--answer-length",
    default="concise",
    show_default=True,
    type=click.Choice(["concise", "sentence", "free"]),
    help="Of the reader's answers, as answer_length= of the scores.",
)
DRY_RUN = click.option("--dry-run", is_flag=True, help="Ask nobody, write nothing: count the calls and tokens.")
FEATURES = click.option(
    "--features",
    default="starter",
    show_default=True,
    metavar="FILE|POPULATION",
    help='A JSON file {"features": [...]}, a population\'s folder or a bundled population.',
)
PER_FEATURE = click.option(
    "--per-feature",
    default=2,
    show_default=True,
    type=AT_LEAST_1,
    help="Least questions a feature, where the prompt allows.",
)
POPULATION = click.option("--population", default="starter", show_default=True, help="`starter` or a folder.")
SIGNATURE = click.option(
    "--signature", default="", metavar="PART", help="Only logs with this part in a signature, such as 'judge:list'."
)
LOGS = click.argument("logs", nargs=-1, required=True)


def output_option(help: str, *, required: bool = True) -> Decorator:  # noqa: A002  # click's name
    return click.option("--output", "-o", required=required, type=FILE, help=help)


def seed_option(help: str) -> Decorator:  # noqa: A002  # click's name
    return click.option("--seed", default=0, show_default=True, help=help)


def embedder_option(help: str) -> Decorator:  # noqa: A002  # click's name
    return click.option("--embedder", default="static", show_default=True, help=help)


def resamples_option(default: int = 2_000) -> Decorator:
    return click.option(
        "--resamples", default=default, show_default=True, type=click.IntRange(1), help="Of the bootstrap."
    )


def together(*options: Decorator) -> Decorator:
    """Gives a command all of the options, which its help lists in this order."""

    def given(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return given


def listed(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """Names with commas between them, each once, for an option's callback."""
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not names:
        raise click.BadParameter(f"{value!r} holds no name, expected names with commas between them")
    return names


@dataclass(frozen=True, slots=True)
class Answer:
    """What a verb found, in each form in which it can be had; only those that are asked for are made."""

    value: Callable[[], Any]
    """For JSON."""
    parts: "Callable[[Console], Iterable[RenderableType]]"
    """For people: tables and lines, one below the other."""
    chart: "Callable[[], Chart] | None" = None
    csv: Callable[[], str] | None = None


def as_json_option(help: str) -> Decorator:  # noqa: A002  # click's name
    return click.option("--json", "as_json", is_flag=True, help=help)


JSON = as_json_option("Print JSON for a script instead of text.")


def answering(instead: str = "text", picture: str = "", csv: str = "", json: str = "") -> Decorator:
    """Gives a command the options for the forms of its answer, which is an `Answer`, or facts by name.

    `picture` and `csv` are what --picture and --csv write: without them there is no such option.
    """
    options = [
        *([click.option("--picture", type=FILE, help=f"Write {picture} to this .svg or .png.")] if picture else []),
        *([click.option("--csv", type=FILE, help=f"Write {csv} to this file.")] if csv else []),
        as_json_option(json or f"Print JSON for a script instead of {instead}."),
    ]

    def decorated(command: Callable[..., Answer | dict[str, Any]]) -> Any:
        @functools.wraps(command)
        def run(
            *arguments: Any, as_json: bool, picture: Path | None = None, csv: Path | None = None, **given: Any
        ) -> None:
            if picture:
                from genie_inspect.reports.charts import check_picture

                # before the command reads anything, which may take minutes
                check_picture(picture)
            answer = command(*arguments, **given)
            if isinstance(answer, dict):
                show(answer, as_json)
                return
            from genie_inspect.files.writing import write_lines
            from genie_inspect.reports.charts import write_chart

            with replacing(picture, csv):
                if picture and answer.chart:
                    write_chart(answer.chart, picture)
                if csv and answer.csv:
                    write_lines(csv, [answer.csv()])
            if as_json:
                echo_json(answer.value())
            else:
                screen = console()
                print_parts(screen, answer.parts(screen))

        return together(*options)(run)

    return decorated


def show(result: dict[str, Any], as_json: bool) -> None:
    """Print facts by name: JSON, or a line each."""
    if as_json:
        echo_json(result)
    else:
        print_parts(console(), fact_lines(result))


def fact_lines(result: Mapping[str, Any]) -> Iterator[Unbroken]:
    for name, value in result.items():
        # counts read best before what they count, other facts behind their name
        if isinstance(value, dict):
            value = ", ".join(f"{n} {what}" if isinstance(n, int) else f"{what}: {n}" for what, n in value.items())
        # 0 is a result and is printed
        if value not in ("", None):
            yield Unbroken(f"{name.replace('_', ' ')}: {value}")
