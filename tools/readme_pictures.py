"""Make the pictures of the README and of docs/report.md from the demo, in a real browser.

    python tools/readme_pictures.py [FOLDER]

Needs playwright and a Chromium (apt-get install chromium). FOLDER is docs/pictures unless given.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from inspect_ai import eval as evaluate
from playwright.sync_api import sync_playwright

from genie_inspect.reports.page import page
from genie_inspect.reports.report import build_report

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
STORYTELLERS = ["bundled/ordinary", "bundled/inventive"]
SAMPLE = "castle-spaceship-3613"
BELOW_THE_PATH = {"x": 0, "y": 28, "width": 1330, "height": 532}  # where the logs lie says nothing
BELOW_THE_HEAD = {"x": 0, "y": 100, "width": 1330, "height": 1080}
PATIENCE = 60  # seconds until Inspect View must answer


def demo_logs(folder: Path) -> list[Path]:
    """The demo's two logs, in the order of the storytellers."""
    logs = [
        evaluate(
            "genie_inspect/synthetic_prompts",
            model=model,
            model_roles={"grader": "bundled/grader"},
            epochs=2,
            log_dir=str(folder),
            display="none",
        )[0]
        for model in STORYTELLERS
    ]
    return [Path(log.location.removeprefix("file://")) for log in logs]


@contextmanager
def inspect_view(folder: Path) -> Iterator[str]:
    """The address of Inspect View on a folder of logs, while it is served."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "inspect_ai", "view", "start", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(  # noqa: S603  # this Python and this file's own words
        [*command, "--log-dir", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(PATIENCE * 4):
            try:
                urlopen(f"http://127.0.0.1:{port}").close()
                break
            except OSError:
                time.sleep(0.25)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def take(browser: Any, logs: list[Path], report: Path, pictures: Path) -> None:
    """The report's first figure, its distributions; Inspect View's table and an explanation."""
    tab = browser.new_page(viewport={"width": 1330, "height": 560})
    tab.goto(report.as_uri())
    tab.locator("figure.means").screenshot(path=pictures / "report.png")
    tab.locator("#spreads .panels").first.screenshot(path=pictures / "distributions.png")
    with inspect_view(logs[0].parent) as address:
        tab = browser.new_page(viewport={"width": 1330, "height": 560})
        tab.goto(f"{address}/#/tasks/{logs[-1].name}/samples")
        tab.locator("[role=gridcell][data-col-id=score__genie__style]").first.wait_for()
        tab.wait_for_load_state("networkidle")
        tab.screenshot(path=pictures / "inspect_view.png", clip=BELOW_THE_PATH)
        tab.set_viewport_size(
            {"width": 1330, "height": 1200}
        )  # what is asked for lies below a head that stays in place
        tab.goto(f"{address}/#/tasks/{logs[-1].name}/samples/sample/{SAMPLE}/1/scoring")
        explanation = tab.locator("#scoring-contents")
        explanation.get_by_text("perspective").first.wait_for()
        tab.screenshot(path=pictures / "explanation.png", clip=BELOW_THE_HEAD)


def main() -> None:
    """Write the pictures."""
    pictures = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    if not CHROMIUM:
        raise SystemExit("no chromium is installed: apt-get install chromium")
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        os.environ["GENIE_CACHE_DIR"] = name
        logs = demo_logs(Path(name) / "logs")
        report = Path(name) / "report.html"
        report.write_bytes(page(build_report(logs)).encode("utf-8", "replace"))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            take(browser, logs, report, pictures)
            browser.close()
    for picture in sorted(pictures.iterdir()):
        print(f"{picture.stat().st_size / 1e3:.0f} kB {picture}")


if __name__ == "__main__":
    main()
