"""The preference judge: which of two stories is better, asked in both orders."""

from functools import cached_property

from inspect_ai.model import Model

from genie_inspect.asking.cost import Cost
from genie_inspect.asking.grader import PREFERENCE_ROLE, ROLE, judging_model
from genie_inspect.asking.identity import identified_model
from genie_inspect.asking.readable import readable
from genie_inspect.engines.embedders.choices import static_token_count
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.panel_judges.protocols import CHAT, Wording

NO_JUDGE = f"""\
litbench asks a model which of two stories is better, and none is named: it must not be the model under evaluation by
accident. Three ways out:
  --model-role {PREFERENCE_ROLE}=<provider/model>   a preference judge of its own
  --model-role {ROLE}=<provider/model>       the grader judges preferences too
  -T panel=cheap                         the panel without litbench: asks no model"""


def preference_model() -> Model:
    """The model in the role `preference`, else the grader.

    Raises:
        PrerequisiteError: If neither role is bound.
    """
    return judging_model((PREFERENCE_ROLE, ROLE), "litbench", NO_JUDGE)


class PreferenceJudge:
    """Asks a model for the better of two stories; an unreadable reply is asked for again as often as its protocol says.

    Args:
        model: Who judges.
        wording: How it is asked; as a chat model, by the bundled instruction, unless given.
    """

    def __init__(self, model: Model, wording: Wording | None = None) -> None:
        self.model = model
        self.wording = wording or CHAT.wording()

    @cached_property
    def signature(self) -> str:
        """`preference(<model>@<digest>,template=<digest>)`, the protocol before the template where it is not `chat`."""
        identified = identified_model(self.model, (self.wording.protocol.config, None))
        return f"preference({identified},{self.wording.signature})"

    async def verdict(self, prompt: str, first: str, second: str) -> float | None:
        """1 when the first story is better, 0 when the second is, 0.5 for a tie; None where no reply says so.

        Raises:
            GraderFailedError: If the model cannot be reached.
        """
        protocol = self.wording.protocol
        request = self.wording.request(prompt, first, second)
        try:
            # None and not a tie: a judge that says nothing has not found the stories equal
            return await readable(self.model, request, protocol.config, protocol.read, repeats=protocol.repeats)
        except UnreadableReplyError:
            return None


def preference_cost(wording: Wording, prompt: str, lengths: float) -> Cost:
    """What one verdict asks, by the tokens of both stories together."""
    return Cost(1, static_token_count(wording.request(prompt, "", "")) + lengths, wording.protocol.tokens)
