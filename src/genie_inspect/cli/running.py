"""What the verbs that ask models share: the models by name, progress on the terminal, a dry run."""

import shutil
import tempfile
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import anyio
import click
import yaml
from inspect_ai.model import GenerateConfig, Model, get_model
from pydantic import ValidationError
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.text import Text

from genie_inspect.agreement.raters import Rater, Ratings, Target, judge_ratings
from genie_inspect.building.interviewing import Progress, record_folder, recorded, work_folder
from genie_inspect.cli.terminal import console, echo
from genie_inspect.errors import GenieError
from genie_inspect.files.json_lines import first_fault
from genie_inspect.files.writing import check_unused
from genie_inspect.graders.cost import planned_model
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.graders.stand_ins import FILE, RecordedModel, Rehearsal

T = TypeVar("T")


@contextmanager
def progress_bar(*, transient: bool = False) -> Iterator[Progress]:
    # on standard error: standard output is for results and may be piped
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=console(stderr=True), transient=transient) as bars:
        tasks: dict[str, Any] = {}

        def advance(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(escape(step), total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield advance


def told_by(progress: Progress, step: str, total: int) -> Callable[..., None]:
    """A function by which whoever counts alone, one by one or several at once, says how many more are done."""
    done = 0

    def told(more: int = 1) -> None:
        nonlocal done
        done += more
        progress(step, done, total)

    # a bar that is shown before its turn comes
    told(0)
    return told


Work = Callable[[Path, RecordedModel, Path, Progress], Awaitable[T]]
"""What asks a model: given the output, the model, a folder for what is on record, and who is told how far it is."""


def run_asking(
    work: Work[T], grader: str, output: Path, *, dry_run: bool, option: str = "--grader", keep_cut: bool = True
) -> tuple[T, dict[str, int]]:
    """What comes of asking, beginning with the replies that a killed run left on record, and the calls and tokens."""
    # before a model is loaded or asked: a run that cannot write its output costs nothing
    check_unused(output)
    try:
        model = planned_model(grader) if dry_run else get_model(grader)
    except ValueError as error:  # what Inspect raises for a provider that it does not know
        raise click.BadParameter(f"{grader!r} is not a model of Inspect: {error}", param_hint=option) from error
    with progress_bar() as progress, ExitStack() as stack:
        if dry_run:
            # a rehearsal writes its folder too, so that every step runs, and then forgets it
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            # a copy of the replies on record, because sqlite writes to what it opens; with its journal files
            for file in record_folder(output).glob(f"{FILE}*"):
                shutil.copy(file, folder)
            told, output = recorded(Rehearsal(model), folder), folder / "output"
        else:
            folder = work_folder(output)
            told = recorded(model, folder, keep_cut=keep_cut)

        def spent(calls: str) -> dict[str, int]:
            tokens = {"input_tokens": told.tally.input_tokens, "output_tokens": told.tally.output_tokens}
            return {calls: told.tally.calls, "replies_on_record": told.tally.recorded, **tokens}

        try:
            result = anyio.run(work, output, told, folder, progress)
        except KeyboardInterrupt:
            if not dry_run:
                echo(f"Interrupted. Replies are kept in {folder}: run the same command again to go on.", err=True)
            raise
        except GenieError:
            # what was not asked was not spent
            if told.tally.requests:
                spoken = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in spent("calls").items())
                echo(f"asked until then: {spoken}", err=True)
            raise
        # a rehearsed call is one that the real run would make
        return result, spent("calls_needed" if dry_run else "calls")


def asked(
    work: Work[Any],
    grader: str,
    output: Path,
    *,
    dry_run: bool,
    called: str = "folder",
    rehearsed: Collection[str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """What came of asking a model: facts by name, after them what it took, and before them the output as it is called.

    `rehearsed` are the facts that a dry run knows, where its made-up replies would say something of others.
    """
    result, costs = run_asking(work, grader, output, dry_run=dry_run, **options)
    # what was not asked for is no count
    facts = result if isinstance(result, dict) else {name: n for name, n in asdict(result).items() if n is not None}
    if dry_run and rehearsed is not None:
        facts = {name: facts[name] for name in rehearsed if name in facts}
    where = {called: str(output)} if called and not dry_run else {}
    return {**where, **facts, **costs}


def made(work: Callable[[Path, Progress], dict[str, Any]], output: Path, *, dry_run: bool) -> dict[str, Any]:
    """What a verb without a model made of its output: for a dry run in a folder that goes away."""
    check_unused(output)
    with progress_bar() as progress:
        if not dry_run:
            return {"folder": str(output), **work(output, progress)}
        with tempfile.TemporaryDirectory() as name:
            return work(Path(name) / output.name, progress)


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
                "grader: base_url cannot be given here. Set the provider's variable, such as VLLM_BASE_URL"
            )
        return Model(model.api, GenerateConfig.model_validate(settings), arguments)
    except (yaml.YAMLError, ValueError, TypeError) as error:
        reason = first_fault(error, "grader") if isinstance(error, ValidationError) else f"grader {role}: {error}"
        raise click.ClickException(" ".join(reason.split())) from error


def named_model(name: str, *, asked: bool = True) -> Model:
    try:
        # not memoized: a client belongs to one event loop
        return get_model(name, memoize=False) if asked else planned_model(name)
    except (PrerequisiteError, ValueError) as error:
        # errors of Inspect are written for rich, with markup
        message = Text.from_markup(str(getattr(error, "message", error))).plain
        raise click.ClickException(f"grader {name}: {' '.join(message.split())}") from error


def named_models(names: Sequence[str], *, asked: bool = True) -> tuple[Model, ...]:
    """The models of these names: a grader, or a jury."""
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise click.ClickException(f"grader {twice} is named twice. Name each grader of a jury once")
    return tuple(named_model(name, asked=asked) for name in names)


def machine_ratings(raters: Sequence[Rater], targets: Sequence[Target]) -> list[Ratings]:
    """The judges' ratings, with a bar for each that shows how far it is."""
    with progress_bar(transient=True) as progress:
        bars = [told_by(progress, rater.name, rater.calls(targets)) for rater in raters]

        # one judge after another: each has many calls in flight by itself
        async def ask() -> list[Ratings]:
            return [await judge_ratings(rater, targets, bar) for rater, bar in zip(raters, bars, strict=True)]

        return anyio.run(ask)
