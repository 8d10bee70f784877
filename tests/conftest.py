"""Fixtures of all tests."""

import functools
import gc
import os
import ssl
from fcntl import LOCK_EX, flock
from importlib.metadata import packages_distributions, version
from itertools import count
from pathlib import Path

# before numpy is imported: where tests fill all cores, its threads wait for each other, forty times as long as a small
# system of equations takes
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import pytest
from click.testing import CliRunner
from hypothesis import settings
from inspect_ai.util._concurrency import init_concurrency  # Inspect resets it for each eval, in no public way
from tests.hostile import EXAMPLES
from tests.left_out import RANDOM_EXAMPLES, lines
from tests.processes import everything_imported

from genie_inspect.cli import main as genie

collect_ignore = ["forked.py"]  # a script, which imports all that commands may
gc.set_threshold(50_000)  # an evaluation makes tens of thousands of objects and leaves few in circles

# a slow machine is no failure
settings.register_profile("genie", deadline=None, max_examples=RANDOM_EXAMPLES)
settings.register_profile("parsers", deadline=None, max_examples=EXAMPLES)  # GENIE_EXAMPLES says how many
settings.load_profile("genie")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests and all that they import live as long as the process: the collector need not look at them."""
    gc.freeze()
    patch = pytest.MonkeyPatch()
    session.config.add_cleanup(patch.undo)
    nothing_for_nobody(patch)
    if "PYTEST_XDIST_WORKER" in os.environ and not session.testsfailed:
        everything_imported()  # the seconds in which it starts are then waited for by no test


def nothing_for_nobody(patch: pytest.MonkeyPatch) -> None:
    """What Inspect does for every evaluation anew, for longer than a small one takes, is left where nobody sees it."""

    def plain(*_: object, **__: object) -> str:
        return ""

    def nothing(*_: object, **__: object) -> None:
        return None

    async def done(*_: object) -> None:
        return None

    patch.setattr("inspect_ai._display.rich.display.tasks_results", plain)
    patch.setattr("inspect_ai._display.plain.display.tasks_results", plain)
    # of every failed request the log keeps a second traceback, in colours, that takes longer than the request
    patch.setattr("inspect_ai._util.rich.rich_traceback", plain)
    # twelve threads for each of a log's files, which are small here
    patch.setattr("inspect_ai._util.zipfile._ZSTD_THREADS", 0, raising=False)
    # for whoever looks on while a run goes on: a server, a database of events, a router of them, and a trace
    patch.setenv("INSPECT_EVAL_CTL_SERVER", "false")
    patch.setattr("inspect_ai._eval.task.log.SampleBufferDatabase", nothing, raising=False)
    patch.setattr("inspect_ai.agent._acp.event_mapping._AcpEventRouter.attach", nothing, raising=False)
    patch.setenv("INSPECT_TRACE_LEVEL", "warning")
    # what killed runs left, which is looked for in a folder of the user's
    patch.setattr("inspect_ai._eval.eval.cleanup_sample_buffers", done, raising=False)
    # a client of its own for every test, and none of them speaks to a host outside
    patch.setattr(ssl, "create_default_context", functools.cache(ssl.create_default_context))
    # what is installed does not change while the tests run
    patch.setattr("inspect_ai._util.package.packages_distributions", functools.cache(packages_distributions))
    patch.setattr("importlib.metadata.version", functools.cache(version))
    patch.setattr("inspect_ai._util.platform.running_in_notebook", bool)


@pytest.hookimpl(optionalhook=True)  # where xdist is left out nobody asks
def pytest_xdist_auto_num_workers() -> int:
    """A process for each core: each collects all tests, so that more of them take longer."""
    return os.cpu_count() or 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was left out stands at the end, where it is read."""
    stats = terminalreporter.stats
    for line in lines(stats.get("skipped", []), stats.get("passed", [])):
        terminalreporter.write_line(line)


CACHES = count()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """No test uses a cache or results of the user's own. A fixture, or a folder, would take longer than most tests."""
    folder = item.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # in no public way
    os.environ["GENIE_CACHE_DIR"] = cache = f"{folder}/caches/{next(CACHES)}"
    os.environ["GENIE_DATA_DIR"] = f"{cache}-data"
    # without a semaphore of an earlier test's event loop, asyncio and trio can take turns
    init_concurrency()


@pytest.fixture(scope="session")
def genie_demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of the demo's logs, which nobody changes, and what it printed; one for all processes of a run."""
    root = tmp_path_factory.getbasetemp()
    folder = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "demo"
    printed = folder / "printed.txt"
    with folder.with_suffix(".lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not printed.is_file():
            environment = {"COLUMNS": "200", "GENIE_CACHE_DIR": str(folder / "cache")}
            done = CliRunner(env=environment).invoke(genie, ["demo", "--log-dir", str(folder / "logs")])
            assert done.exit_code == 0, done.output
            printed.write_text(done.output, encoding="utf-8")
    return folder / "logs", printed.read_text(encoding="utf-8")
