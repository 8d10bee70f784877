"""The page on tables runs as it stands on the logs of the demo; Python that needs more libraries where they are."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.documented import ROOT, Command, blocks, commands, run
from tests.left_out import with_ci
from tests.processes import Commands

PAGE = "docs/frames.md"
SCRIPTS = [text for language, text in blocks((ROOT / PAGE).read_text(encoding="utf-8")) if language == "python"]
WITH = ("pandas", "inspect_viz")


@pytest.fixture(scope="module")
def folder(genie_demo: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree(genie_demo[0], folder / "logs" / "demo")
    return folder


def ran(command: Command, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = run(command, folder, {**os.environ, "PATH": path, "INSPECT_DISPLAY": "plain"})
    assert done.code == 0, done.output
    return done.output


@with_ci("runs for ten seconds what other tests hold in parts")
def test_its_commands_write_the_files_that_they_name(folder: Path) -> None:
    shown = [ran(command, folder) for command in commands(PAGE) if command.language != "python"]
    assert len(shown) == 4
    # two storytellers, eight prompts, two epochs, six features
    assert len((folder / "scores.csv").read_text(encoding="utf-8").splitlines()) > 2 * 8 * 6
    assert (folder / "scores.parquet").read_bytes().startswith(b"PAR1")
    assert "score_genie_plot" in (folder / "means.csv").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize("place", range(len(SCRIPTS)))
def test_its_python_runs(place: int, folder: Path) -> None:
    for library in WITH[: 1 + ("inspect_viz" in SCRIPTS[place])]:
        pytest.importorskip(library)
    script = folder / f"script{place}.py"
    script.write_text(SCRIPTS[place], encoding="utf-8")
    with Commands(folder) as running:
        ended = running.run(program=script)
    assert ended.code == 0, ended.stdout + ended.stderr
    if "inspect_viz" in SCRIPTS[place]:
        assert all((folder / name).is_file() for name in ("radar.html", "heatmap.html"))
