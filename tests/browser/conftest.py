"""A real browser, and real logs for it. Without a Chromium or playwright the tests are skipped."""

import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal
from urllib.request import urlopen

import pytest
from inspect_ai.log import EvalLog, read_eval_log
from tenacity import Retrying, stop_after_delay, wait_fixed
from tests.processes import Commands
from tests.scripted import OWL, QUESTIONS, evaluated, grading, saying, small_population

from genie_inspect.scorers.genie import genie

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
LACKING = ("gpu", "quic", "background-networking", "component-update", "sync", "dev-shm-usage")
ARGUMENTS = ["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in LACKING)]
HOSTILE = (
    "<script>document.title = 'taken'; alert(1)</script> <img src=x onerror=alert(2)> **not bold** "
    "[link](javascript:alert(3)) ![picture](http://192.0.2.1/p.png)\n\n# no heading | a | b |"
)
SIX = ("agent", "perspective", "plot", "setting", "social_atmosphere", "style")
Scheme = Literal["light", "dark"]


@dataclass
class Visit:
    """A page, and what happened while it was open."""

    page: Any  # playwright's Page, which may not be installed where types are checked
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Keep requests, errors on the console and in scripts, and dialogs."""
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()


def luminance(channels: list[float]) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: list[float], other: list[float]) -> float:
    """How well ink can be told from ground, 1 to 21, as WCAG 2 defines it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(scope="session")
def playwright() -> Any:
    """What drives a browser; logs and pages are made only where one is there to look at them."""
    found = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM:
        pytest.skip("no chromium is installed: apt-get install chromium")
    found.expect.set_options(timeout=60_000)  # where other tests fill all cores five seconds are no sign of anything
    return found


@pytest.fixture(scope="module")
def browser(playwright: Any, demo: list[EvalLog], hostile: EvalLog) -> Iterator[Any]:
    """A browser for the tests of a file; while it runs no evaluation can, so that the logs are made before it."""
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, headless=True, args=ARGUMENTS)
        yield browser
        browser.close()


def _opened(browser: Any, url: str, scheme: Scheme = "light", width: int = 1440) -> Visit:
    found = Visit(browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900}))
    found.watch()
    found.page.goto(url)
    return found


@pytest.fixture(scope="module")
def visit(browser: Any) -> Callable[..., Visit]:
    """Opens a page anew, in one tab for all tests of a file: another takes as long as most pages."""
    tab = _opened(browser, "about:blank")

    def again(url: str, scheme: Scheme = "light", width: int = 1440) -> Visit:
        tab.page.goto("about:blank")
        tab.page.emulate_media(media="null", color_scheme=scheme)
        tab.page.set_viewport_size({"width": width, "height": 900})
        for before in (tab.requests, tab.errors, tab.dialogs):
            before.clear()
        tab.page.goto(url)
        return tab

    return again


@pytest.fixture(scope="module")
def look(browser: Any) -> Callable[..., Visit]:
    """Opens a page once for all tests of a file that do no more than look at it."""
    opened = cache(partial(_opened, browser))
    return lambda url, scheme="light", width=1440: opened(url, scheme, width)


@pytest.fixture(scope="session")
def demo(playwright: Any, genie_demo: tuple[Path, str]) -> list[EvalLog]:
    logs = [read_eval_log(str(path)) for path in genie_demo[0].rglob("*.eval")]
    assert all(log.status == "success" for log in logs)
    return sorted(logs, key=lambda log: log.eval.model)


@pytest.fixture(scope="session")
def hostile(playwright: Any, tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """A log whose document, answers and neighbours look like HTML, script and Markdown."""
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GENIE_CACHE_DIR", str(folder / "cache"))
        documents = {OWL: (HOSTILE.replace("link", "other"),)}
        population = small_population(folder / "population", documents, {OWL: QUESTIONS[OWL]})
        grader = grading(answer=lambda document, question: document.split("!")[0].replace('"', ""))
        return evaluated(genie(str(population.folder)), saying(HOSTILE), grader, folder, (OWL,))


# ink of a node, and its ground as it is mixed with the first one behind it that is not clear, as [0..1] channels:
# Chromium tells mixed colours as `color(srgb r g b)`
COLOURS = """node => {
  const channels = colour => {
    const numbers = colour.match(/[0-9.e-]+/g).map(Number);
    const scaled = colour.startsWith('color(') ? numbers : numbers.map((n, place) => place < 3 ? n / 255 : n);
    return [...scaled.slice(0, 3), scaled[3] ?? 1];
  };
  let ground = channels(getComputedStyle(node).backgroundColor);
  for (let below = node.parentElement; below && ground[3] < 1; below = below.parentElement) {
    const behind = channels(getComputedStyle(below).backgroundColor);
    const mixed = behind[3] * (1 - ground[3]);
    const whole = ground[3] + mixed;
    if (whole) ground = [...[0, 1, 2].map(i => (ground[i] * ground[3] + behind[i] * mixed) / whole), whole];
  }
  return [channels(getComputedStyle(node).color).slice(0, 3), ground.slice(0, 3)];
}"""


VIEW = """
import os, sys
from inspect_ai._cli.main import main
with open(sys.argv.pop(1), "w") as file:
    file.write(str(os.getpid()))
main()
"""


@pytest.fixture(scope="session")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[EvalLog], str]]:
    """Inspect View on the folder of a log: the address of the log in it."""
    urls: dict[Path, str] = {}
    with ExitStack() as servers:

        def address(log: EvalLog) -> str:
            path = Path(log.location.removeprefix("file://"))
            if path.parent not in urls:
                urls[path.parent] = servers.enter_context(_serving(path.parent, tmp_path_factory.mktemp("viewer")))
            return f"{urls[path.parent]}/#/tasks/{path.name}"

        yield address


@contextmanager
def _serving(logs: Path, home: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script, process = home / "view.py", home / "process"
    script.write_text(VIEW)
    with Commands(home) as commands:
        arguments = ("view", "start", "--host", "127.0.0.1", "--port", port, "--log-dir", logs)
        commands.start(process, *arguments, program=script)
        url = f"http://127.0.0.1:{port}"
        try:
            # Inspect View begins within 30 seconds
            for attempt in Retrying(stop=stop_after_delay(30), wait=wait_fixed(0.1), reraise=True):
                with attempt, urlopen(url):
                    pass
            yield url
        finally:
            os.kill(int(process.read_text()), signal.SIGKILL)
            commands.end()
