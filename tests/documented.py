"""The commands of README and docs, run as a reader would: `python -m tests.documented` (`make commands`).

Each page has a folder of its own, in which its commands run one after another in bash, with the commands of this
environment on the path. A name that stands for something of the reader's is filled in; a server on this machine stands
in for OpenAI; Inspect is told by its own variables to keep to two samples. What is not run has its reason in `NOT_RUN`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from inspect_ai.log import read_eval_log
from tests.cli.called import lines_of
from tests.published import second_data_set, ttcw_released
from tests.served import Served, serving
from tests.studies.personal.made import votes as explained_votes
from tests.studies.personal.made import written
from tests.willing import Willing

ROOT = Path(__file__).parents[1]
DATA = ROOT / "src" / "genie_inspect" / "data"
PAGES = ("README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))
SHELLS = ("bash", "console", "sh")  # languages of blocks that hold commands
# beginnings of commands, and why they are not run
NOT_RUN = {
    "make demo": "makes an environment of its own; CI runs it in the clone",
    "source .venv/bin/activate": "it is what make demo has made",
    "make test": "it is the suite that this is a part of",
    "genie report logs/ --open": "it opens a browser; tests/cli has it without one",
    "inspect view": "it serves pages until it is stopped",
    "pip install": "it asks a registry, and is what has made this environment",
    "vllm run-batch": "it needs vLLM",
    "inspect score LOG --scorer genie_inspect/genie --model-role grader=vllm/": "it needs vLLM",
    "inspect score LOG --scorer genie_inspect/litbench": "it needs weights that were trained as LitBench's",
    "genie prompts sample": "it loads a dataset from the hub; tests/cli has it with a file",
    "genie cache import": "it takes the replies of an engine; tests/batch has the whole round with scripted ones",
    "genie batch rounds": "it needs Ray and a server, or GPUs; tests/batch has it with a stand-in",
    "genie batch ask": "it needs Ray and a server, or GPUs; tests/batch has it with a stand-in",
    "genie compare logs/grid --baseline grid_baseline --pooled": "docs/prompting_methods.md has run it, in its folder",
    "genie validate released": "the released scores are no part of the project: tests/reference has them",
    "python tools/released_data.py": "the released scores are no part of the project: tests/reference has them",
    "genie close-reading fit ratings.csv": "it takes ratings of the reader's; tests/studies/close_reading has it",
    "genie close-reading preference": "it takes judgements of the reader's; tests/studies/close_reading has it",
    "inspect eval my_task.py": "the task is the reader's",
    "genie compare logs/qa": "it compares the runs of the reader's task",
    "genie compare logs/sums": "tests/test_docs.py compares the figures of these two runs with the page",
}
# pages that another test runs whole, or that nothing here can run
ELSEWHERE = {
    "docs/extending.md": "tests/test_docs.py runs it together with the page's Python",
    "docs/real_run.md": "it needs servers of two real models; make test-real runs a short form of it",
    "docs/more_studies.md": "the released ratings and votes are no part of the project: tests/reference has them",
    "docs/frames.md": "tests/test_docs.py runs it, each part where the libraries that it needs are",
}
# on the stories that are written from the first two plots
VOTES = """\
{"story": "loan-saint-7d2d_openai/gpt-4o-mini", "rater": "ann", "votes": {"01": 1, "02": 0}}
{"story": "over-lock-91ce_openai/gpt-4o-mini", "rater": "ann", "votes": {"01": 0, "02": 1}}
"""
# who marks what in passages: two experts and a model
PASSAGES = [
    {
        "text": f"The tide folded its letters, and went home. {number}",
        "experts": {"ann": {"novel": ["folded its letters"]}, "bob": {"novel": []}},
        "readers": {"mine": {"novel": ["went home"]}},
    }
    for number in range(4)
]
# of ten stories and an edit of each, as a reader's own program writes them
SCORES = "original,edited,key,value\n" + "".join(
    f"{story},,plot,.{story}\n{story},plot,plot,.{story + 20 + story % 3}\n" for story in range(10, 20)
)
LONGEST = 180  # seconds


class Command(NamedTuple):
    """A command of a page, or a block of Python."""

    page: str
    language: str
    text: str
    reason: str = ""  # why it is not run; empty where it is

    @property
    def shown(self) -> str:
        return self.text.splitlines()[0]


class Ran(NamedTuple):
    command: Command
    code: int
    seconds: float
    output: str


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Language and text of each fenced block of a page; where it names none the language is empty."""
    for fenced in re.finditer(r"^ *```(\w*)\n(.*?)^ *```$", page, re.MULTILINE | re.DOTALL):
        yield fenced[1], fenced[2]


def commands(page: str) -> list[Command]:
    """The commands of a page in order, without remarks; a line that ends in a backslash goes on in the next."""
    found = []
    for language, text in blocks((ROOT / page).read_text(encoding="utf-8")):
        lines = [text] if language == "python" else []
        if language in SHELLS:
            lines = [re.sub(r"(^|\s+)#.*", "", line).strip() for line in re.split(r"(?<!\\)\n", text)]
        for line in filter(None, lines):
            own = [reason for beginning, reason in NOT_RUN.items() if line.startswith(beginning)]
            found.append(Command(page, language, line, ELSEWHERE.get(page) or next(iter(own), "")))
    return found


def every_command(pages: Sequence[str]) -> list[Command]:
    """The commands of pages in order; what an earlier page runs in the same words is not run again."""
    found: dict[str, Command] = {}
    again = []
    for command in (command for page in pages for command in commands(page)):
        first = found.setdefault(command.text, command)
        ran = first.page != command.page and not first.reason and not command.reason
        again.append(command._replace(reason=f"{first.page} has it too") if ran else command)
    return again


def filled(text: str, folder: Path) -> str:
    """A command with what a reader puts in the place of LOG, SAMPLE and three dots."""
    logs = sorted((folder / "logs").rglob("*.eval"))
    places = {"LOG": str(logs[0]) if logs else "LOG", "SAMPLE": "castle-spaceship-3613", "...": "openai/gpt-4o-mini"}
    return re.sub(r"(?<=\s)(LOG|SAMPLE|\.\.\.)(?=\s|$)", lambda name: places[name[1]], text)


def prepared(page: str, folder: Path, demo: Path) -> None:
    """Lay down what a page takes for granted: a clone's recipes, logs, files of the reader's."""
    for recipes in ("tasks", "scorers") if "n a clone" in (ROOT / page).read_text(encoding="utf-8") else ():
        shutil.copytree(ROOT / recipes, folder / recipes)
    if page in ("README.md", "docs/bring_your_own.md"):
        own = [json.loads(line) for line in (DATA / "starter" / "documents.jsonl").read_text("utf-8").splitlines()[:12]]
        lines_of(folder / "texts.jsonl", ({"prompt": row["prompt"], "text": row["text"]} for row in own))
    if page == "docs/bring_your_own.md":
        text = (ROOT / page).read_text(encoding="utf-8")
        (shown,) = (block for _, block in blocks(text) if block.startswith('{"features"'))
        (folder / "features.json").write_text(shown, encoding="utf-8")
    if page in ("README.md", "docs/faq.md", "docs/reference.md", "docs/report.md", "docs/tutorial.md"):
        shutil.copytree(demo, folder / "logs" / "demo")
    if page in ("docs/judging.md", "docs/faq.md", "docs/studies.md"):
        for name in ("ratings.jsonl", "second_ratings.jsonl"):
            shutil.copy(DATA / "starter" / name, folder)
        shutil.copytree(DATA / "starter", folder / "mine")
    if page == "docs/close_reading.md":
        lines_of(folder / "passages.jsonl", PASSAGES)
    if page == "docs/metric_study.md":
        (folder / "scores.csv").write_text(SCORES, encoding="utf-8")
    if page == "docs/studies.md":
        released(folder)
    if page == "docs/ttcw.md":
        shutil.copy(DATA / "ttcw" / "references.jsonl", folder)
        (folder / "votes.jsonl").write_text(VOTES, encoding="utf-8")
    if page == "docs/personal.md":
        personal(folder)


def released(folder: Path) -> None:
    """Two published sets of stories and votes, in the form in which they were released."""
    ttcw_released(folder)
    second_data_set(folder)


def personal(folder: Path) -> None:
    """Votes on stories with their scores, and votes with explanations."""
    written(folder)
    lines_of(folder / "explained.jsonl", (vote.model_dump() for vote in explained_votes(12)))


def run(command: Command, folder: Path, environment: Mapping[str, str]) -> Ran:
    if command.language == "python":
        (folder / "script.py").write_text(command.text, encoding="utf-8")
    line = "python script.py" if command.language == "python" else filled(command.text, folder)
    start = time.monotonic()
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    limited = ["timeout", str(LONGEST), "bash", "-c", line]
    done = subprocess.run(limited, cwd=folder, env=environment, text=True, check=False, **streams)
    seconds = time.monotonic() - start
    # `inspect eval` ends with 0 also where a task of it has failed
    files = sorted(folder.rglob("*.eval")) if line.startswith("inspect eval") and not done.returncode else []
    logs = [read_eval_log(str(path), header_only=True) for path in files]
    failed = [f"{log.location}: {log.status}\n" for log in logs if log.status != "success"]
    return Ran(command, done.returncode or len(failed), seconds, done.stdout + "".join(failed))


def run_page(page: str, every: Sequence[Command], base: Path, demo: Path) -> list[Ran]:
    """Run those of the commands that are a page's and can be run, in order, in a new folder beside logs of the demo."""
    folder = base / page.replace("/", "-")
    folder.mkdir()
    prepared(page, folder, demo)
    with serving(Served(Willing().reply)) as served:
        own = {"OPENAI_BASE_URL": served.url, "OPENAI_API_KEY": "none", "INSPECT_DISPLAY": "plain"}
        own |= {"INSPECT_EVAL_LIMIT": "2", "INSPECT_EVAL_EPOCHS": "1", "INSPECT_EVAL_MAX_RETRIES": "0"}
        own |= {"GENIE_CACHE_DIR": str(folder / "cache"), "GENIE_DATA_DIR": str(folder / "data")}
        own["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        ours = [command for command in every if command.page == page and not command.reason]
        return [run(command, folder, {**os.environ, **own}) for command in ours]


def main() -> int:
    """Run everything, page beside page; print each command with its time, or why not, and what a failed one said."""
    every, failed = every_command(PAGES), 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=2) as pool:
        base = Path(folder)
        demo = Path(sys.executable).with_name("genie"), "demo", "--log-dir", base / "demo"
        subprocess.run(demo, check=True, stdout=subprocess.DEVNULL)
        for ran in chain.from_iterable(pool.map(lambda page: run_page(page, every, base, base / "demo"), PAGES)):
            failed += bool(ran.code)
            print(f"{'failed' if ran.code else 'ran':8}{ran.seconds:5.1f} s  {ran.command.page}: {ran.command.shown}")
            print(ran.output if ran.code else "", end="", flush=True)
    for command in every:
        if command.reason:
            print(f"not run          {command.page}: {command.shown} ({command.reason})")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
