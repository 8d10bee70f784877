"""A build that is killed at any step goes on where it stopped."""

import signal
from pathlib import Path

import pytest
from tests.building.scripts import story_logs
from tests.left_out import rest_with_ci
from tests.processes import Commands

RUN = """
import os, signal, sys
import anyio
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from tests.building.scripts import FEATURES, willing

from genie_inspect.building.populating import BuildPlan, build
from genie_inspect.building.interviewing import recorded, work_folder
from pathlib import Path

folder, asked, step, at = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
grader, calls = willing(), 0

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

@modelapi(name="mortal")
class Mortal(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        global calls
        calls += 1
        if step == "call" and calls == at:
            kill()
        with open(asked, "a") as file:
            file.write(input[-1].text.replace(chr(10), chr(0)) + chr(10))
        output = ModelOutput.from_content("mortal", grader.reply(input[-1].text))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    def max_connections(self):
        return 1

def told(name, done, total):
    if name == step and done == at:
        kill()

logs = [str(folder / f"{name}.eval") for name in ("a", "b")]
plan = BuildPlan(logs, folder / "owls", "owls", "MIT", FEATURES, least=1)
work = work_folder(plan.output)
model = recorded(get_model("mortal/grader"), work)
anyio.run(build, plan, model, work, told)
"""


def run(folder: Path, asked: str, step: str = "never", at: int = 0) -> int:
    script = folder / "run.py"
    script.write_text(RUN)
    with Commands(folder) as commands:
        return commands.run(folder, folder / asked, step, at, program=script).code


def requests(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that nobody killed."""
    folder = tmp_path_factory.mktemp("whole")
    story_logs(folder)
    assert run(folder, "asked.txt") == 0
    return folder


@pytest.mark.parametrize(
    ("step", "at"),
    rest_with_ci(
        [("call", 22), ("reading logs", 1), ("call", 9), ("writing questions", 2), ("counting", 1)],
        "builds killed at other steps",
    ),
)
def test_a_build_killed_at_any_step_asks_nothing_twice_and_ends_alike(
    step: str, at: int, whole: Path, tmp_path: Path
) -> None:
    story_logs(tmp_path)
    assert run(tmp_path, "first.txt", step, at) == -signal.SIGKILL
    assert not (tmp_path / "owls").exists(), "no folder before it is complete"

    assert run(tmp_path, "second.txt") == 0
    first, second = requests(tmp_path / "first.txt"), requests(tmp_path / "second.txt")
    # one connection: at most the reply that was on its way to the record when the process died is asked for again
    assert len(first) + len(second) <= len(requests(whole / "asked.txt")) + (step == "call")
    assert sorted({*first, *second}) == sorted(set(requests(whole / "asked.txt")))
    for name in ("documents.jsonl", "questions.jsonl", "answers.jsonl", "population.json", "README.md"):
        assert (tmp_path / "owls" / name).read_bytes() == (whole / "owls" / name).read_bytes()
