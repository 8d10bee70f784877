"""What the verbs that ask models share: progress on the terminal, a dry run, one line for an error."""

import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import click
import yaml
from inspect_ai.model import GenerateConfig, Model, get_model
from pydantic import ValidationError

from genie_inspect.building.interviewing import Progress, record_folder, recorded, work_folder
from genie_inspect.cli.terminal import console, echo, echo_json
from genie_inspect.errors import GenieError
from genie_inspect.files.folders import check_unused
from genie_inspect.files.json_lines import first_fault
from genie_inspect.graders.cost import planned_model
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.graders.stand_ins import FILE, RecordedModel, Rehearsal, Tally

T = TypeVar("T")
GRADER = click.option(
    "--grader", required=True, metavar="PROVIDER/MODEL", help="Who is asked; any model that Inspect has."
)
TEMPLATES = click.option(
    "--templates",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of your own instruction templates.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for a script instead of text.")
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
AT_LEAST_1 = click.IntRange(min=1)
PER_FEATURE = click.option(
    "--per-feature",
    default=2,
    show_default=True,
    type=AT_LEAST_1,
    help="Least questions a feature, where the prompt allows.",
)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    # on standard error: standard output is for results and may be piped
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=console(stderr=True)) as bars:
        tasks: dict[str, Any] = {}

        def advance(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield advance


def run_asking(
    work: Callable[[RecordedModel, Path, Path, Progress], Awaitable[T]],
    grader: str,
    output: Path,
    *,
    dry_run: bool,
    option: str = "--grader",
    keep_cut: bool = True,
) -> tuple[T, Tally]:
    """Run what asks a model, beginning with the replies that a killed run left on record."""
    # before a model is loaded or asked: a run that cannot write its output costs nothing
    check_unused(output)
    model = _named(grader, planned_model if dry_run else get_model, option)
    with progress_bar() as progress:
        if not dry_run:
            folder = work_folder(output)
            return _run(work, recorded(model, folder, keep_cut=keep_cut), output, folder, progress)
        # a rehearsal writes its folder too, so that every step runs, and then forgets it
        with tempfile.TemporaryDirectory() as name:
            return _run(work, _rehearsing(model, output, Path(name)), Path(name) / "output", Path(name), progress)


@contextmanager
def target(output: Path, *, dry_run: bool) -> Iterator[Path]:
    """The folder that a verb without a model writes to: the output, or for a dry run a temporary one."""
    check_unused(output)
    if not dry_run:
        yield output
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name) / output.name


def _named(grader: str, find: Callable[[str], Model], option: str) -> Model:
    try:
        return find(grader)
    except ValueError as error:  # what Inspect raises for a provider that it does not know
        raise click.BadParameter(f"{grader!r} is no model that Inspect has: {error}", param_hint=option) from error


def _run(
    work: Callable[[RecordedModel, Path, Path, Progress], Awaitable[T]],
    model: RecordedModel,
    output: Path,
    folder: Path,
    progress: Progress,
) -> tuple[T, Tally]:
    try:
        return anyio.run(work, model, output, folder, progress), model.tally
    except GenieError:
        # nothing was asked and so nothing was spent
        if not model.tally.requests:
            raise
        spent = ", ".join(
            f"{name.replace('_', ' ')} {count}" for name, count in cost(model.tally, dry_run=False).items()
        )
        echo(f"asked until then: {spent}", err=True)
        raise


def _rehearsing(model: Model, output: Path, folder: Path) -> RecordedModel:
    """A model that costs nothing, with a copy of the replies that are on record."""
    record = record_folder(output) / FILE
    # a copy, because sqlite writes to what it opens; with its journal files
    for file in record.parent.glob(f"{FILE}*"):
        shutil.copy(file, folder)
    return recorded(Rehearsal(model), folder)


def show(result: dict[str, Any], as_json: bool) -> None:
    """Print the results of a verb: JSON, or a line each."""
    if as_json:
        echo_json(result)
        return
    for name, value in result.items():
        # counts read best before what they count, other facts behind their name
        if isinstance(value, dict):
            value = ", ".join(f"{n} {what}" if isinstance(n, int) else f"{what}: {n}" for what, n in value.items())
        # 0 is a result and is printed
        if value not in ("", None):
            echo(f"{name.replace('_', ' ')}: {value}")


def cost(tally: Tally, *, dry_run: bool) -> dict[str, Any]:
    # a rehearsed call is one that the real run would make
    calls = "calls_needed" if dry_run else "calls"
    return {
        calls: tally.calls,
        "replies_on_record": tally.recorded,
        "input_tokens": tally.input_tokens,
        "output_tokens": tally.output_tokens,
    }


def named_model(name: str, *, asked: bool = True) -> Model:
    try:
        # not memoized: a client belongs to one event loop
        return get_model(name, memoize=False) if asked else planned_model(name)
    except (PrerequisiteError, ValueError) as error:
        raise click.ClickException(f"grader {name}: {one_line(error)}") from error


def planned_role(role: str) -> Model:
    """A grader to plan with, as `--model-role grader=` takes it: a name, or `{model: NAME, temperature: 0.5}`."""
    if not role.lstrip().startswith("{"):
        return named_model(role, asked=False)
    try:
        settings = dict(yaml.safe_load(role))
        model = named_model(str(settings.pop("model", "")), asked=False)
        arguments = dict(settings.pop("model_args", None) or {})
        if "base_url" in arguments:
            raise click.ClickException(
                "grader: base_url is read from the provider's variable here, such as VLLM_BASE_URL"
            )
        return Model(model.api, GenerateConfig.model_validate(settings), arguments)
    except (yaml.YAMLError, ValueError, TypeError) as error:
        reason = first_fault(error, "grader") if isinstance(error, ValidationError) else f"grader {role}: {error}"
        raise click.ClickException(" ".join(reason.split())) from error


def named_models(names: Sequence[str], *, asked: bool = True) -> tuple[Model, ...]:
    """The models of these names: a grader, or a jury."""
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise click.ClickException(f"grader {twice} is named twice, expected each grader of a jury once")
    return tuple(named_model(name, asked=asked) for name in names)


def one_line(error: Exception) -> str:
    """The message of an error of Inspect's, without its markup and line breaks."""
    # errors of Inspect are written for rich, with markup
    from rich.text import Text

    return " ".join(Text.from_markup(str(getattr(error, "message", error))).plain.split())


CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def with_options(options: Sequence[Callable[[CommandT], CommandT]]) -> Callable[[CommandT], CommandT]:
    """Gives a command all of the options, which its help lists in this order."""

    def given(command: CommandT) -> CommandT:
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
