"""The protocols by which a judge is asked which of two stories is better.

`chat` is ours, for any model. `generative` and `generative_cot` are those of LitBench's generative reward models, GenRM
and GenRM-CoT: models fine-tuned to end one text with a verdict alone, or with reasoning and then the verdict.

Source: LitBench (Fein et al. 2025, arXiv 2507.00769), section 4: one sample at temperature 0; and the authors' training
code, github.com/drfein/LitBench, src/dataloader.py (SFTDataLoaderDirect, SFTDataLoaderCOT): no writing prompt, the
headings `Story A:` and `Story B:`, the marker `### Assistant:` on the line before the reply, and the reply's form,
`Reasoning: ...` and `Preferred: A` a line each. All that is kept. Deviation: the words of the instruction are ours;
how many tokens a reply may have is not published, and ours. No weights of either model were found released: those of
SAA-Lab/Llama8B-CreativeWritingVerifier are the Bradley-Terry model, which gives a story a number and replies nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.model import GenerateConfig

from genie_inspect.asking.readable import REPEATS
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.panel_replies import preferred, preferred_at_once, preferred_for_a_reason
from genie_inspect.prompting.templates import Instruction, Template

Blanks = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Protocol:
    """One way of asking which of two stories is better."""

    name: str
    said: str
    """In words."""
    instruction: Instruction
    blanks: Callable[[str, str, str], Blanks]
    """By the writing prompt and both stories, what fills the instruction's blanks."""
    read: Callable[[str], float]
    """By the reply, 1 when the first story is better, 0 when the second is, 0.5 for a tie."""
    config: GenerateConfig
    tokens: int
    """Of a usual reply."""
    repeats: int = 0
    """How often an unreadable reply is asked for again."""
    signed: str = ""
    """What a signature says of it: nothing of the first, so that its scores compare with those of before."""

    def wording(self, templates: Path | str | None = None) -> "Wording":
        """How it asks, by the user's folder of templates where that has one.

        Raises:
            TemplateError: If the folder is missing, or the user's template has other blanks than ours.
        """
        return Wording(self, self.instruction.template(templates))


@dataclass(frozen=True, slots=True)
class Wording:
    """A protocol and the instruction that it is asked with."""

    protocol: Protocol
    template: Template

    def request(self, prompt: str, first: str, second: str) -> str:
        """The text that is sent of two stories and what they were written for."""
        return self.template.fill(**self.protocol.blanks(prompt, first, second))

    @property
    def signature(self) -> str:
        """`template=<digest>`, before it the protocol where it is not the first."""
        return f"{self.protocol.signed}template={self.template.digest}"


def _as_data(prompt: str, first: str, second: str) -> Blanks:
    return {"data": fenced({"prompt": prompt, "story_a": first, "story_b": second})}


def _as_trained(_: str, first: str, second: str) -> Blanks:
    # unfenced, and without the writing prompt: as weights were trained, which a fence would be foreign to
    return {"story_a": first, "story_b": second}


_STORIES = frozenset({"story_a", "story_b"})
CHAT = Protocol(
    "chat",
    "preferring, in both orders",
    Instruction("prefer", frozenset({"data"})),
    _as_data,
    preferred,
    GenerateConfig(temperature=0.0, max_tokens=300),
    tokens=50,  # a reason in one or two sentences, and a label
    repeats=REPEATS,
)
GENERATIVE = Protocol(
    "generative",
    "preferring as GenRM",
    Instruction("prefer_generative", _STORIES),
    _as_trained,
    preferred_at_once,
    GenerateConfig(temperature=0.0, max_tokens=16),
    tokens=4,
    signed="protocol=generative,",
)
GENERATIVE_COT = Protocol(
    "generative_cot",
    "preferring as GenRM-CoT",
    Instruction("prefer_generative_cot", _STORIES),
    _as_trained,
    preferred_for_a_reason,
    GenerateConfig(temperature=0.0, max_tokens=1024),
    tokens=300,
    signed="protocol=generative_cot,",
)
PROTOCOLS = {protocol.name: protocol for protocol in (CHAT, GENERATIVE, GENERATIVE_COT)}


def protocol_of(name: str) -> Protocol:
    """The protocol that an option names.

    Raises:
        UnknownChoiceError: If there is none of that name.
    """
    if name not in PROTOCOLS:
        raise UnknownChoiceError("protocol", name, f"one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
