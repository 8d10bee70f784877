"""The pages: their commands and their code run, what they name is there, and their figures are what code makes."""

import ast
import csv
import json
import math
import os
import random
import re
import shutil
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import docs_pages
import pytest
import reference_pages
from click.testing import CliRunner
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log_sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from scipy.stats import nct, t
from tests.documented import ELSEWHERE, NOT_RUN, PAGES, SHELLS, every_command, run_page
from tests.documented import blocks as documented_blocks
from tests.documented import commands as documented_commands
from tests.documented import run as run_command
from tests.left_out import with_ci
from tests.processes import Commands
from tests.scripted import grading
from tests.served import Served, serving

from genie_inspect.cli import main
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.logs.reading import read_logs
from genie_inspect.prompting.templates import unfenced
from genie_inspect.statistics.differences import LEVEL, pairs_that_find
from genie_inspect.statistics.effect import paired_power

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "genie_inspect"
EXTENDING = ROOT / "docs" / "extending.md"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_FILE = re.compile(r"# (mylab/\w+\.py)\n")


def replied(request: str) -> str:
    """What the models of the page say, whether they write, read or rate."""
    try:
        data = unfenced(request)
    except UnreadableReplyError:
        return "Swifts sleep on the wing."
    return "Moss remembers nothing of glaciers, happily." if "request" in data else str(grading().reply(request))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder in which a user works, with OpenAI's address on this machine."""
    with serving(Served(replied)) as served:
        setting = {"OPENAI_BASE_URL": served.url, "OPENAI_API_KEY": "none", "INSPECT_DISPLAY": "none"}
        # one cache for the scripts and the commands of the page
        for name, value in (setting | {"GENIE_CACHE_DIR": str(tmp_path / "cache")}).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        yield tmp_path


def run(text: str, commands: Commands) -> str:
    """What a block of Python prints; one that begins with the name of a file is that file, and prints nothing.

    In a process of its own: Inspect reads how it shows a run once a process, and a mode that is added stays.
    """
    name = _FILE.match(text)
    path = commands.folder / (name[1] if name else "script.py")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if name:
        return ""
    ended = commands.run(program=path)
    assert ended.code == 0, ended.stderr
    return ended.stdout


@with_ci("what docs/extending.md shows, run as it stands")
def test_the_examples_of_the_page_run_and_print_what_it_says(folder: Path) -> None:
    page = [*documented_blocks(EXTENDING.read_text(encoding="utf-8")), ("", "")]
    assert [language for language, _ in page].count("python") > 3
    with Commands(folder) as commands:
        for (language, text), (following, printed) in pairwise(page):
            if language == "python":
                assert run(text, commands) == (printed if following == "text" else "")
            for line in text.splitlines() if language == "sh" else []:
                done = CliRunner().invoke(main, line.split("#")[0].split()[1:])
                assert done.exit_code == 0, done.output
    logs = read_logs([folder / "logs"])
    assert len(logs) == 2
    for document in (document for log in logs for document in log.documents):
        assert [scores.reason for scores in document.scores.values()] == [""]


def section(page: str, heading: str) -> str:
    return page.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def table(text: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")][2:]


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def layers() -> list[set[str]]:
    lines = PYPROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    return [set(re.findall(r"\w+", line)) for line in lines]


def definitions(path: Path) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    tops = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, kinds)]
    inner = ((top, node) for top in tops for node in top.body if isinstance(node, kinds))
    return {top.name for top in tops} | {f"{top.name}.{node.name}" for top, node in inner}


def test_the_layers_have_every_room_once_and_the_picture_has_them_in_their_order() -> None:
    there = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    there += [path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__"]
    assert sorted(there) == sorted(room for layer in layers() for room in layer)
    picture = section(ARCHITECTURE, "The packages").split("```")[1].splitlines()[1:]
    assert [set(line.split("   ")[0].split(" | ")) for line in picture] == layers()


@pytest.mark.parametrize("heading", ["The way of a document", "The way of a rating"])
def test_every_step_of_a_way_is_where_the_page_says(heading: str) -> None:
    steps = table(section(ARCHITECTURE, heading))
    assert len(steps) > 10
    for _, files, names in steps:
        there = set.union(*(definitions(PACKAGE / file) for file in codes(files)))
        assert [name for name in codes(names) if name not in there] == [], files


def test_the_page_names_the_oldest_inspect_that_is_supported() -> None:
    (floor,) = (text for text in PYPROJECT["project"]["dependencies"] if text.startswith("inspect-ai"))
    assert f"`inspect-ai` {floor.split('>=')[1]} is the oldest" in section(ARCHITECTURE, "Inspect")


def test_every_file_that_is_to_be_edited_is_there() -> None:
    rows = table(section(EXTENDING.read_text(encoding="utf-8"), "When it becomes part of ours"))
    places = [code for row in rows for code in codes(row[1]) if "/" in code or code.endswith((".md", ".py"))]
    named = [place for place in places if "NAME" not in place]
    assert len(named) > 10
    roots = (PACKAGE, ROOT, PACKAGE / "prompting" / "templates")
    assert [place for place in named if not any((root / place).exists() for root in roots)] == []
    folders = [place.rpartition("/")[0] for place in places if "NAME" in place]
    assert [folder for folder in folders if not (PACKAGE / folder).is_dir()] == []


LANGUAGES = {"yaml", *SHELLS, "", "json", "python", "text", "toml"}
_COMMAND = re.compile(
    r"^(?:\$ )?((?:genie|genie-inspect|inspect|make|pip|uvx) [a-z'-].*?)(?: *\\| +#.*)?$", re.MULTILINE
)


@with_ci("minutes, of every page's commands (make commands)")
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run_as_they_stand(page: str, tmp_path: Path, genie_demo: tuple[Path, str]) -> None:
    failed = [ran for ran in run_page(page, every_command(PAGES), tmp_path, genie_demo[0]) if ran.code]
    assert [f"{ran.command.shown}\n{ran.output}" for ran in failed] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_command_of_a_page_is_overlooked(page: str) -> None:
    known = "\n".join(command.text for command in documented_commands(page))
    for language, text in documented_blocks((ROOT / page).read_text(encoding="utf-8")):
        assert language in LANGUAGES
        assert [line for line in _COMMAND.findall(text) if line not in known] == []


def test_every_command_is_run_or_has_its_reason_and_no_reason_is_idle() -> None:
    every = every_command(PAGES)
    assert sum(not command.reason for command in every) > 20
    given = {command.reason for command in every}
    assert {*NOT_RUN.values(), *ELSEWHERE.values()} <= given
    own = {command.text for command in every if not command.reason}
    assert [command for command in every if command.reason.endswith("has it too") and command.text not in own] == []


METRIC_STUDY = (ROOT / "docs" / "metric_study.md").read_text(encoding="utf-8")
FEATURES = 6
ORIGINALS = (8, 16, 25, 50, 100)


def test_the_tables_of_power_are_those_of_a_paired_t_test_at_the_corrected_level_and_of_two_one_sided_ones() -> None:
    rows = table(section(METRIC_STUDY, "How many prompts"))
    assert len(rows) == 6
    for effect, *cells in rows:
        shares = [f"{paired_power(float(effect), 1, originals, LEVEL / FEATURES):.0%}" for originals in ORIGINALS]
        assert cells == [*shares, str(pairs_that_find(float(effect), 1, LEVEL / FEATURES))]
    found = []
    for spread, prompts in ((0.2, 8), (0.2, 16), (0.4, 50)):
        # of differences with this standard deviation, that a mean of 0 is found within 0.2
        bound = t.ppf(1 - LEVEL, prompts - 1)
        found.append(f"{max(0, 1 - 2 * nct.cdf(bound, prompts - 1, 0.2 / spread * math.sqrt(prompts))):.0%}")
    said = METRIC_STUDY.split("Paraphrases that change nothing on average")[1].split("\n\n")[0]
    assert re.findall(r"\d+%", said) == found


def test_the_levels_of_the_page_are_the_benchmarks() -> None:
    benchmark = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    said = section(METRIC_STUDY, "Which test")
    bootstrap, flips = re.findall(r"\d+\.\d%", said)[:2]
    assert f"| normal | 8 | {flips} | {bootstrap} |" in benchmark
    originals, by_prompt = re.findall(r"\d+\.\d%", said.split("Taking each original for a pair")[1])
    assert f"| 8 | 5 | 0.3 | {originals} | {by_prompt} |" in benchmark


@with_ci("runs for half a minute what other tests hold in parts")
def test_the_commands_and_the_python_for_frames_run_and_write_the_files_that_they_name(
    genie_demo: tuple[Path, str], tmp_path: Path
) -> None:
    shutil.copytree(genie_demo[0], tmp_path / "logs" / "demo")
    own = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "INSPECT_DISPLAY": "plain"}
    found = documented_commands("docs/frames.md")
    scripts = [command.text for command in found if command.language == "python"]
    ended = [run_command(command, tmp_path, own) for command in found if command.language != "python"]
    assert [ran.output for ran in ended if ran.code] == []
    assert len(ended) == 3
    # two storytellers, eight prompts, two epochs, six features
    assert len((tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()) > 2 * 8 * 6
    assert (tmp_path / "scores.parquet").read_bytes().startswith(b"PAR1")
    assert "score_genie_plot" in (tmp_path / "means.csv").read_text(encoding="utf-8").splitlines()[0]
    with Commands(tmp_path) as running:
        for draws in (False, True):
            pytest.importorskip("inspect_viz" if draws else "pandas")
            for script in scripts:
                if ("inspect_viz" in script) == draws:
                    run(script, running)
    assert (tmp_path / "radar.html").is_file()


def sums(name: str, share_right: float, count: int, folder: Path) -> None:
    """A log of a scripted model that answers so many sums, such a share of them right."""
    draw = random.Random(share_right)

    def answer(messages: Sequence[Any], *_: Any) -> ModelOutput:
        right = str(7 * int(messages[-1].text.split()[0]))
        output = ModelOutput.from_content("mockllm/model", right if draw.random() < share_right else "7")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    samples = [
        Sample(id=n, input=f"{n} times 7 is", target=str(7 * n), metadata={"book": n % 20}) for n in range(2, count + 2)
    ]
    task, model = Task(samples, scorer=match(), name="sums"), get_model(f"mockllm/{name}", custom_outputs=answer)
    evaluate(task, model=model, max_samples=1, log_dir=str(folder / "logs" / "sums"), display="none")


@with_ci("two evaluations, for the figures of a page")
def test_two_runs_of_any_evaluation_compare_as_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sums("small", 0.55, 100, tmp_path)
    sums("large", 0.72, 97, tmp_path)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "compare_any.md").read_text(encoding="utf-8")
    by_sample, by_book = (
        CliRunner(env={"COLUMNS": "118"}).invoke(main, command.text.split()[1:]).output
        for command in documented_commands("docs/compare_any.md")
        if command.text.startswith("genie compare logs/sums")
    )
    (shown,) = (text for language, text in documented_blocks(page) if language == "text")
    printed = [line.rstrip() for line in by_sample.splitlines()]
    assert [line for line in shown.splitlines() if line not in printed] == []
    (row,) = (line for line in by_book.splitlines() if line.startswith(" match "))
    ((difference, p),) = re.findall(r"then (\+\S+ \[.*?\]), p (\S+)\. ", page)
    assert f" {difference} " in row
    assert f" 0{p} " in row


SHEET = ROOT / "docs" / "real_run_answers.csv"


def test_the_ratings_by_hand_are_those_of_the_sheet_and_vectors_agree_with_them_as_the_page_says() -> None:
    page = " ".join((ROOT / "docs" / "real_run.md").read_text(encoding="utf-8").split())
    with SHEET.open(encoding="utf-8", newline="") as file:
        counts = Counter(row["rating"] for row in csv.DictReader(file))
    assert counts.total() == 50
    assert (
        f"{counts['4']} interchangeable, {counts['3']} the same idea, {counts['2']} a slight overlap, "
        f"{counts['1']} different, and {counts['0']} that do not answer"
    ) in page
    options = ["calibrate", "--ratings", str(SHEET), "--judge", "embedding", "--json"]
    report = json.loads(CliRunner().invoke(main, options).stdout)
    (whole,) = (row for row in report["agreements"] if row["feature"] == "all features")
    alpha = f"{whole['alpha']:.2f}".removeprefix("0")
    command = "genie calibrate --ratings real_run_answers.csv --judge embedding"
    assert f"an alpha of {alpha} (`{command}`, {whole['pairs']} pairs" in page


def pages(nav: Any) -> Iterator[str]:
    for entry in nav:
        for place in entry.values():
            yield from [place] if isinstance(place, str) else pages(place)


def test_the_menu_names_every_page_and_no_other() -> None:
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    written = [f"docs/{name}.md" for name in reference_pages.pages()]
    assert sorted(pages(project["nav"])) == sorted(
        [*(path.as_posix() for path in docs_pages.files(docs_pages.PAGES)), *written]
    )


def test_the_reference_has_every_command_and_every_registered_name_with_its_options_and_keys() -> None:
    pages = reference_pages.pages()
    for name in ("genie summary", "genie population build", "genie ttcw cutoffs"):
        assert f"# `{name}`\n\n```text\nUsage: {name} [OPTIONS]" in pages["commands"]
    named = {"tasks": "synthetic_prompts", "scorers": "cosine", "solvers": "outline", "python": "mixed_logistic"}
    assert all(re.search(rf"^##+ `{name}`$", pages[page], re.MULTILINE) for page, name in named.items())
    assert "`from genie_inspect.measures.genie import similarity`" in pages["python"]
    assert "`panel` | <code>str \\| list[str]</code> |" in pages["tasks"]
    assert "(`*`: all others): `plot` 0 to 1" in pages["scorers"]
    assert not re.search(r"<(?!/?code>)|\]\(#", re.sub("(```.*?```|`[^`]*`)", "", pages["scorers"], flags=re.DOTALL))


@pytest.mark.parametrize("page", docs_pages.files(docs_pages.PAGES), ids=str)
def test_every_link_and_picture_of_a_page_is_on_the_site(page: Path) -> None:
    assert list(docs_pages.astray(page)) == []


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text("[a](README.md#b) [c](lost.md) ![d](lost.png) [e](https://example.org) [f](#b)")
    monkeypatch.setattr("docs_pages.ROOT", tmp_path)
    assert list(docs_pages.astray(Path("README.md"))) == ["lost.md", "lost.png"]


def test_the_pages_are_laid_out_as_they_are_in_the_repository_in_place_of_older_ones(tmp_path: Path) -> None:
    (tmp_path / "site" / "pages").mkdir(parents=True)
    (tmp_path / "site" / "pages" / "old.md").touch()
    docs_pages.lay_out(tmp_path / "site")
    there = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.*")}
    listed = re.findall(r"\]\((.+)\)", (tmp_path / "site" / "pages" / "llms.txt").read_text(encoding="utf-8"))
    assert {"index.html", "docs/tutorial.html", "src/genie_inspect/data/starter/index.html"} <= set(listed)
    assert {"zensical.toml", "pages/README.md", "pages/docs/ttcw.md", "pages/docs/pictures/report.png"} <= there
    assert "pages/old.md" not in there


def test_the_reference_names_every_extra() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    rows = table(section((ROOT / "docs" / "reference.md").read_text(encoding="utf-8"), "Extras"))
    assert [codes(row[0])[0] for row in rows] == sorted(extras)


def test_what_a_score_rests_on_is_explained_key_by_key(genie_demo: tuple[Path, str]) -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8").split("## What a score rests on")[1]
    (log, *_) = read_logs([genie_demo[0]])
    scores = read_eval_log_sample(log.file, log.documents[0].sample, 1).scores or {}
    metadata = scores["genie"].metadata or {}
    known = {"judge", "reader", "prompt", "length", "left_out", "signature"}
    assert set(metadata) - known <= set(re.findall(r"`(\w+)`", page))
