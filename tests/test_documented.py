"""The commands of README and docs: all run in CI, one page's elsewhere; none is left out without a reason."""

import os
import re
import sys
from pathlib import Path

import pytest
from tests.documented import (
    ELSEWHERE,
    NOT_RUN,
    PAGES,
    ROOT,
    SHELLS,
    Command,
    blocks,
    commands,
    every_command,
    filled,
    run,
    run_pages,
)
from tests.left_out import with_ci

LANGUAGES = {*SHELLS, "", "json", "python", "text", "toml"}
_COMMAND = re.compile(
    r"^(?:\$ )?((?:genie|genie-inspect|inspect|make|pip|uvx) [a-z'-].*?)(?: *\\| +#.*)?$", re.MULTILINE
)


@with_ci("minutes, of every page's commands (make commands)")
def test_the_commands_run_as_they_stand(tmp_path: Path) -> None:
    every = every_command(PAGES)
    ran = list(run_pages(every, tmp_path))
    assert len(ran) == sum(not command.reason for command in every) > 20
    assert [f"{one.command.page}: {one.command.shown}\n{one.output}" for one in ran if one.code] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_command_of_a_page_is_overlooked(page: str) -> None:
    known = "\n".join(command.text for command in commands(page))
    for language, text in blocks((ROOT / page).read_text(encoding="utf-8")):
        assert language in LANGUAGES
        assert [line for line in _COMMAND.findall(text) if line not in known] == []


def test_every_command_is_run_or_has_its_reason_and_no_reason_is_idle() -> None:
    every = every_command(PAGES)
    assert sum(not command.reason for command in every) > 20
    given = {command.reason for command in every}
    assert {*NOT_RUN.values(), *ELSEWHERE.values()} <= given
    own = {command.text for command in every if not command.reason}
    assert [command for command in every if command.reason.endswith("has it too") and command.text not in own] == []


def test_a_command_has_no_remark_and_goes_on_after_a_backslash() -> None:
    texts = [command.text for command in commands("README.md")]
    assert "make test" in texts
    (first,) = (text for text in texts if text.startswith("inspect eval genie_inspect/synthetic_prompts"))
    assert first.split() == [
        "inspect",
        "eval",
        "genie_inspect/synthetic_prompts",
        "\\",
        "--model",
        "openai/gpt-4o-mini",
        "--model-role",
        "grader=openai/gpt-4o",
    ]


def test_what_stands_for_the_readers_own_is_filled_in(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.eval").touch()
    assert filled("genie show LOG SAMPLE", tmp_path) == f"genie show {tmp_path}/logs/a.eval castle-spaceship-3613"
    assert filled("inspect eval x --model ... --limit 1", tmp_path).split()[3:5] == ["--model", "openai/gpt-4o-mini"]


def test_a_command_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    ran = run(Command("page", "sh", "echo no; exit 3"), tmp_path, os.environ)
    assert (ran.code, ran.output) == (3, "no\n")


@with_ci("a whole process that proves that make commands sees a failure")
def test_an_evaluation_that_fails_is_told_though_inspect_ends_with_0(tmp_path: Path) -> None:
    task = "from inspect_ai import Task, task\n\n@task\ndef fails():\n    return Task(solver=fail())\n"
    solver = "from inspect_ai.solver import solver\n\n@solver\ndef fail():\n    async def no(state, generate):\n"
    (tmp_path / "fails.py").write_text(f"{solver}        raise ValueError('no')\n    return no\n\n{task}")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    own = {"PATH": path, "INSPECT_DISPLAY": "none", "INSPECT_EVAL_RETRY_ON_ERROR": "0"}
    ran = run(Command("page", "sh", "inspect eval fails.py --model mockllm/model"), tmp_path, {**os.environ, **own})
    assert ran.code == 1
    assert ran.output.endswith(": error\n")
