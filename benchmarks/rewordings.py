"""What rewording an instruction does to graders whose faults are known.

    python benchmarks/rewordings.py      # about a minute; asks no model

Each scripted grader gives the starter's recorded ratings, with one fault: `follower` gives the first two others of a
list the ratings that the instruction shows as its example, `constant` rates one higher where the instruction is the
long one, `blind` rates every pair of plots 2 where it is the terse one.
"""

import os
import re
import sys
import tempfile
from typing import Any

os.environ["GENIE_CACHE_DIR"] = tempfile.mkdtemp()  # made-up ratings are not kept beside real ones

from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, modelapi

from genie_inspect.cli.calibrate import calibrate
from genie_inspect.prompting.templates import OPEN, unfenced
from genie_inspect.providers.replay import starter_record

FAULTS = ("follower", "constant", "blind")


@modelapi(name="scripted")
class Scripted(ModelAPI):
    """The recorded grader with the fault of its name."""

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: GenerateConfig) -> ModelOutput:  # noqa: A002  # as ModelAPI names it
        """The reply to one request of the list judge."""
        request = input[-1].text
        instruction, data = request.split(OPEN)[0], unfenced(request)
        record, question = starter_record(), data["question"]
        ratings = {n: record.rating(question, data["answer"], other) for n, other in data["others"].items()}
        if self.model_name == "follower":
            shown = re.search(r'such as "([^"]+)"', instruction)
            example = dict(pair.split(":") for pair in shown[1].split()) if shown else {}
            ratings |= {number: int(rating) for number, rating in example.items() if number in ratings}
        elif self.model_name == "constant" and "harbour village" in instruction:
            ratings = {number: min(4, rating + 1) for number, rating in ratings.items()}
        elif self.model_name == "blind" and instruction.startswith("Rate how alike") and question in PLOTS:
            ratings = dict.fromkeys(ratings, 2)
        reply = " ".join(f"{number}:{rating}" for number, rating in ratings.items())
        return ModelOutput.from_content(self.model_name, reply)


def plots() -> set[str]:
    """The starter's questions about the plot."""
    population = starter_record().population
    every = (question for prompt in population.prompts for question in population.questions(prompt))
    return {question.text for question in every if question.feature == "plot"}


PLOTS = plots()

if __name__ == "__main__":
    graders = [f"--grader=scripted/{fault}" for fault in sys.argv[1:] or FAULTS]
    calibrate.main(["--rewordings", "--judge=list", *graders], standalone_mode=False)
