"""A run that is killed while it scores goes on where it stopped."""

import signal
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log
from tests.processes import Commands, tries

from genie_inspect.prompting.templates import unfenced

# a grader that takes its time, writes down what it was asked, and kills the process when it has been asked so often
RUN = """
import os, signal, sys
import anyio
from inspect_ai import eval_set
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, modelapi
from genie_inspect.providers.replay import graded
from genie_inspect.providers.replay import starter_record

requests, last = 0, int(sys.argv[3])

@modelapi(name="slow")
class Slow(ModelAPI):
    def __init__(self, model_name, base_url=None, api_key=None, config=GenerateConfig(), **model_args):
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(self, input, tools, tool_choice, config):
        global requests
        requests += 1
        with open(sys.argv[2], "a") as file:
            file.write(input[-1].text.replace(chr(10), chr(0)) + chr(10))
        if requests == last:
            os.kill(os.getpid(), signal.SIGKILL)
        await anyio.sleep(0.02)
        return ModelOutput.from_content("slow", graded(starter_record(), input[-1].text))

done, _ = eval_set(
    "genie_inspect/synthetic_prompts", log_dir=sys.argv[1], model="bundled/inventive", epochs=int(sys.argv[4]),
    model_roles={"grader": "slow/grader"}, display="none", max_samples=2, log_buffer=1,
)
sys.exit(0 if done else 1)
"""

EPOCHS = tries(1, 2)
SAMPLES = 8 * EPOCHS
REQUESTS_A_SAMPLE = 15  # one reading, then one rating request a question


def _run(folder: Path, asked: Path, last: int = 0) -> int:
    """How a run ends that is killed at that request, and with 0 at none; it has an empty cache of answers."""
    home = asked.with_suffix("")
    home.mkdir()
    script = home / "run.py"
    script.write_text(RUN)
    with Commands(home) as commands:
        return commands.run(folder, asked, last, EPOCHS, program=script).code


def _documents_read(asked: Path) -> set[str]:
    requests = (unfenced(line.replace("\0", "\n")) for line in asked.read_text(encoding="utf-8").splitlines())
    return {request["document"] for request in requests if "document" in request}


def _scored(folder: Path) -> dict[tuple[str, int], str]:
    found: dict[tuple[str, int], str] = {}
    for info in list_eval_logs(str(folder)):
        for sample in read_eval_log(info).samples or []:
            if sample.scores:
                found[str(sample.id), sample.epoch] = sample.output.completion
    return found


@pytest.mark.repeated
def test_a_run_killed_while_scoring_scores_no_finished_sample_again(tmp_path: Path) -> None:
    logs, first, second = tmp_path / "logs", tmp_path / "first.txt", tmp_path / "second.txt"
    # samples run side by side, so that some finish only when most requests of all have been made
    assert _run(logs, first, 3 * SAMPLES // 4 * REQUESTS_A_SAMPLE) == -signal.SIGKILL
    finished = _scored(logs)
    assert 1 <= len(finished) < SAMPLES, "the run was meant to be killed halfway"

    # a finished sample that was scored again would have to be read again
    assert _run(logs, second) == 0
    assert not _documents_read(second) & set(finished.values())
    scores = _scored(logs)
    assert len(scores) == SAMPLES
    assert {key: scores[key] for key in finished} == finished
