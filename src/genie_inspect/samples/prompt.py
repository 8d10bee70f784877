"""The prompt of a sample: what documents are grouped, compared and clustered by, everywhere."""

from inspect_ai.log import EvalSample
from inspect_ai.solver import TaskState

from genie_inspect.prompting.texts import whole_text

KEY = "prompt"
"""Where a dataset puts the prompt in a sample's metadata, when its input says more or something else."""


def prompt_of(sample: TaskState | EvalSample) -> str:
    """The prompt that a sample's document answers, the same while it is scored and in the log.

    Metadata `prompt` where the dataset sets it, else the text of the input: of several messages the last that a user
    wrote, as in Inspect's own `input_text`.
    """
    stated = (sample.metadata or {}).get(KEY)
    # whole characters, no space around: a prompt is compared as text with those of the population
    return whole_text(str(_input_text(sample) if stated is None else stated)).strip()


def _input_text(sample: TaskState | EvalSample) -> str:
    if isinstance(sample.input, str):
        return sample.input
    return next((message.text for message in reversed(sample.input) if message.role == "user"), "")
