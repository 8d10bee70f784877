"""docs/studies.md: a row for every table and figure, and commands that run; those that ask nobody run here."""

import csv
import glob
import json
import math
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import reference_pages
from click.testing import CliRunner
from docs_pages import PAGES, astray, files, lay_out
from inspect_ai import eval as evaluate
from inspect_ai.log import read_eval_log_sample
from scipy.stats import nct, t
from tests.documented import ROOT, Command, blocks, commands, run
from tests.left_out import with_ci
from tests.processes import Commands
from tests.published import second_data_set, ttcw_released
from tests.scripted import Script, saying

from genie_inspect.cli import main
from genie_inspect.cli.results import demo
from genie_inspect.logs.reading import read_logs
from genie_inspect.statistics.differences import LEVEL, pairs_that_find
from genie_inspect.statistics.power import paired_power

PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
TTCW = PAGE.partition("## TTCW, reference-based")[2]
ROWS = [line for line in TTCW.splitlines() if line.startswith("|")]
COMMANDS = [command.text for command in commands("docs/studies.md")]
ASKING = ("genie ttcw extract-plots", "genie prompts")  # beginnings of commands of ours that ask a model, or the hub
# what the page's evaluations are asked for, by the folder of their log
RUNS = {
    "logs/setups": {"stories": "ttcw_short_stories.json", "references": "fine.jsonl", "setups": "all"},
    "logs/confederacy": {"stories": "confederacy.jsonl", "rubric": "gomez_williams", "setups": "published"},
}


def replied(request: str) -> str:
    return "[[YES]]" if "[[YES]]" in request else "[[A=B]]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, genie_demo: tuple[Path, str]) -> Path:
    """What the page takes for granted, and the logs that its evaluations leave."""
    folder = tmp_path_factory.mktemp("studies")
    shutil.copytree(genie_demo[0], folder / demo.make_context("demo", []).params["log_dir"])
    ttcw_released(folder)
    second_data_set(folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setenv("GENIE_CACHE_DIR", str(folder / "cache"))
        for logs, options in RUNS.items():
            [log] = evaluate(
                "genie_inspect/ttcw_stories",
                model=saying("nothing").model(),
                model_roles={"grader": Script(replied).model()},
                task_args=dict(options),
                log_dir=logs,
                display="none",
            )
            assert log.status == "success", log.error
    return folder


# logs of the page's own evaluations, with which `make commands` and CI=1 run the whole page
MADE_THERE = ("logs/own", "logs/grid", "logs/study")
DEMO = "genie demo"  # runs once for all tests, as `genie_demo`; its logs stand where it leaves them without an option
OURS = [
    command
    for command in COMMANDS
    if command.startswith("genie ")
    and (not command.startswith(ASKING) or "--dry-run" in command)
    and not any(log in command for log in MADE_THERE)
    and command != DEMO
]


@pytest.mark.parametrize("command", OURS)
def test_a_command_that_asks_nobody_runs_as_it_stands(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--picture" in command:
        pytest.importorskip("altair")
    monkeypatch.chdir(folder)
    tables = dict.fromkeys(
        re.findall(r"--from (\S+)", command)
    )  # of another command of the page, in any order of tests
    makers = [other for other in OURS if any(f" --to {one}" in other and not Path(one).exists() for one in tables)]
    for each in (*makers, command):
        words = shlex.split(each.replace("\\\n", " "))[1:]
        # as a shell does: a pattern that matches no file stays
        arguments = [name for word in words for name in (sorted(glob.glob(word)) or [word])]
        draws = "--votes" in words and (words[0] == "agreement" or words[1] in ("setups", "cutoffs"))
        result = CliRunner().invoke(main, [*arguments, *(["--resamples", "20"] if draws else [])])
        assert result.exit_code == 0, result.output


def test_the_evaluations_of_the_page_are_those_that_are_run_here() -> None:
    assert COMMANDS[0] == DEMO
    evaluations = [text for text in COMMANDS if text.startswith("inspect eval")]
    for logs, options in RUNS.items():
        (command,) = [text for text in evaluations if text.endswith(f"--log-dir {logs}")]
        assert dict(re.findall(r"-T (\w+)=(\S+)", command)) == options


def test_every_table_and_figure_has_a_row_with_its_cost_and_what_came_out_or_why_nothing_did() -> None:
    for what in (*(f"table {number}" for number in range(1, 7)), "figure 1", "figure 5", "figures 2, 3, 4"):
        assert any(what in row.split("|")[1] for row in ROWS), what
    rows = [row.strip("|").split("|") for row in ROWS if len(row.split("|")) == 8][2:]
    assert len(rows) > 10
    assert all(cells[3].strip() and cells[4].strip() and cells[5].strip() for cells in rows)


METRIC_STUDY = (ROOT / "docs" / "metric_study.md").read_text(encoding="utf-8")
FEATURES = 6
ORIGINALS = (8, 16, 25, 50, 100)


def rows(heading: str) -> dict[str, list[str]]:
    """The cells of the page's table below some words, by the first of each line."""
    text = METRIC_STUDY.split(heading)[1].split("\n\n|")[1].split("\n\n")[0]
    cells = [re.findall(r"[^|]+", line) for line in text.splitlines()[2:]]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in cells}


def equivalence_power(spread: float, originals: int) -> float:
    """Chance that two one-sided t tests find a mean of 0 within 0.2, of differences with this standard deviation."""
    bound = t.ppf(1 - LEVEL, originals - 1)
    return max(0.0, float(1 - 2 * nct.cdf(bound, originals - 1, 0.2 / spread * math.sqrt(originals))))


def test_the_table_of_power_is_that_of_a_paired_t_test_at_the_corrected_level() -> None:
    table = rows("## How many prompts")
    assert len(table) == 6
    for effect, cells in table.items():
        shares = [f"{paired_power(float(effect), 1, originals, LEVEL / FEATURES):.0%}" for originals in ORIGINALS]
        assert cells == [*shares, str(pairs_that_find(float(effect), 1, LEVEL / FEATURES))]


def test_the_table_of_equivalence_is_that_of_two_one_sided_t_tests() -> None:
    found = [f"{equivalence_power(spread, prompts):.0%}" for spread, prompts in ((0.2, 8), (0.2, 16), (0.4, 50))]
    said = METRIC_STUDY.split("Paraphrases that change nothing on average")[1].split("\n\n")[0]
    assert re.findall(r"\d+%", said) == found


def test_the_levels_of_the_page_are_the_benchmarks_and_prompts_keep_theirs() -> None:
    benchmark = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    said = METRIC_STUDY.split("## Which test")[1].split("\n## ")[0]
    bootstrap, flips = re.findall(r"\d+\.\d%", said)[:3], re.findall(r"\d\.\d%", said.split("test decides")[1])[:3]
    for prompts, shares in zip((8, 16, 100), zip(flips, bootstrap, strict=True), strict=True):
        assert f"| normal | {prompts} | {' | '.join(shares)} |" in benchmark
    originals, by_prompt = re.findall(r"\d+\.\d%", said.split("Taking each original for a pair")[1])
    assert f"| 8 | 5 | 0.3 | {originals} | {by_prompt} |" in benchmark
    by_prompt = re.findall(r"^\| (?:8|16) \| [25] \| 0[.0-9]* \| [0-9.]+% \| ([0-9.]+)% \|$", benchmark, re.MULTILINE)
    assert len(by_prompt) == 12
    assert max(map(float, by_prompt)) <= 6


FRAMES = "docs/frames.md"
SCRIPTS = [text for language, text in blocks((ROOT / FRAMES).read_text(encoding="utf-8")) if language == "python"]
WITH = ("pandas", "inspect_viz")


@pytest.fixture(scope="module")
def frames_folder(genie_demo: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree(genie_demo[0], folder / "logs" / "demo")
    return folder


def ran(command: Command, frames_folder: Path) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = run(command, frames_folder, {**os.environ, "PATH": path, "INSPECT_DISPLAY": "plain"})
    assert done.code == 0, done.output
    return done.output


@with_ci("runs for ten seconds what other tests hold in parts")
def test_its_commands_write_the_files_that_they_name(frames_folder: Path) -> None:
    shown = [ran(command, frames_folder) for command in commands(FRAMES) if command.language != "python"]
    assert len(shown) == 4
    # two storytellers, eight prompts, two epochs, six features
    assert len((frames_folder / "scores.csv").read_text(encoding="utf-8").splitlines()) > 2 * 8 * 6
    assert (frames_folder / "scores.parquet").read_bytes().startswith(b"PAR1")
    assert "score_genie_plot" in (frames_folder / "means.csv").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize("place", range(len(SCRIPTS)))
def test_its_python_runs(place: int, frames_folder: Path) -> None:
    for library in WITH[: 1 + ("inspect_viz" in SCRIPTS[place])]:
        pytest.importorskip(library)
    script = frames_folder / f"script{place}.py"
    script.write_text(SCRIPTS[place], encoding="utf-8")
    with Commands(frames_folder) as running:
        ended = running.run(program=script)
    assert ended.code == 0, ended.stdout + ended.stderr
    if "inspect_viz" in SCRIPTS[place]:
        assert all((frames_folder / name).is_file() for name in ("radar.html", "heatmap.html"))


SHEET = ROOT / "docs" / "real_run_answers.csv"


def test_the_ratings_by_hand_are_those_of_the_sheet_and_vectors_agree_with_them_as_the_page_says() -> None:
    page = " ".join((ROOT / "docs" / "real_run.md").read_text(encoding="utf-8").split())
    with SHEET.open(encoding="utf-8", newline="") as file:
        counts = Counter(row["rating"] for row in csv.DictReader(file))
    assert counts.total() == 50
    assert (
        f"{counts['4']} interchangeable, {counts['3']} the same idea, {counts['2']} a slight overlap, "
        f"{counts['1']} different, and {counts['0']} that are no answer"
    ) in page
    options = ["calibrate", "--ratings", str(SHEET), "--judge", "embedding", "--json"]
    report = json.loads(CliRunner().invoke(main, options).stdout)
    (whole,) = (row for row in report["agreements"] if row["feature"] == "all features")
    alpha = f"{whole['alpha']:.2f}".removeprefix("0")
    command = "genie calibrate --ratings real_run_answers.csv --judge embedding"
    assert f"an alpha of {alpha} (`{command}`, {whole['pairs']} pairs" in page


def pages(nav: Any) -> Iterator[str]:
    """The pages that a menu names, in order."""
    for entry in nav:
        for place in entry.values():
            yield from [place] if isinstance(place, str) else pages(place)


def test_the_menu_names_every_page_and_no_other() -> None:
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    written = [f"docs/{name}.md" for name in reference_pages.pages()]
    assert sorted(pages(project["nav"])) == sorted([*(path.as_posix() for path in files(PAGES)), *written])


def test_the_reference_has_every_command_and_every_registered_name_with_its_options_and_keys() -> None:
    pages = reference_pages.pages()
    for name in ("genie summary", "genie population build", "genie ttcw cutoffs"):
        assert f"# `{name}`\n\n```text\nUsage: {name} [OPTIONS]" in pages["commands"]
    headings = {name: set(re.findall(r"^##+ `(\w+)`$", text, re.MULTILINE)) for name, text in pages.items()}
    assert {"synthetic_prompts", "ttcw", "metric_study"} <= headings["tasks"]
    assert {"genie", "cosine", "ttcw"} <= headings["scorers"]
    assert {"outline", "negative_sampling"} <= headings["solvers"]
    assert {"score_texts", "similarity", "tost", "mixed_logistic"} <= headings["python"]
    assert "`from genie_inspect.measures.genie import similarity`" in pages["python"]
    assert "`panel` | <code>str \\| list[str]</code> |" in pages["tasks"]
    assert "(`*`: all others): `plot` 0 to 1" in pages["scorers"]
    assert not re.search(r"<(?!/?code>)|\]\(#", re.sub("(```.*?```|`[^`]*`)", "", pages["scorers"], flags=re.DOTALL))


@pytest.mark.parametrize("page", files(PAGES), ids=str)
def test_every_link_and_picture_of_a_page_is_on_the_site(page: Path) -> None:
    assert list(astray(page)) == []


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text("[a](README.md#b) [c](lost.md) ![d](lost.png) [e](https://example.org) [f](#b)")
    monkeypatch.setattr("docs_pages.ROOT", tmp_path)
    assert list(astray(Path("README.md"))) == ["lost.md", "lost.png"]


def test_the_pages_are_laid_out_as_they_are_in_the_repository_in_place_of_older_ones(tmp_path: Path) -> None:
    (tmp_path / "site" / "pages").mkdir(parents=True)
    (tmp_path / "site" / "pages" / "old.md").touch()
    lay_out(tmp_path / "site")
    there = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.*")}
    listed = re.findall(r"\]\((.+)\)", (tmp_path / "site" / "pages" / "llms.txt").read_text(encoding="utf-8"))
    assert {"index.html", "docs/tutorial.html", "src/genie_inspect/data/starter/index.html"} <= set(listed)
    assert {"zensical.toml", "pages/README.md", "pages/docs/ttcw.md", "pages/docs/pictures/report.png"} <= there
    assert "pages/old.md" not in there


def test_the_reference_names_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    section = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8").split("## Extras")[1].split("\n## ")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE) == sorted(extras)


def test_what_a_score_rests_on_is_explained_key_by_key(genie_demo: tuple[Path, str]) -> None:
    page = (ROOT / "docs" / "judging.md").read_text(encoding="utf-8").split("## What a score rests on")[1]
    (log, *_) = read_logs([genie_demo[0]])
    scores = read_eval_log_sample(log.file, log.documents[0].sample, 1).scores or {}
    metadata = scores["genie"].metadata or {}
    known = {"judge", "reader", "prompt", "length", "left_out", "signature"}
    assert set(metadata) - known <= set(re.findall(r"`(\w+)`", page))
