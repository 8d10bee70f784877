"""How the `conformative/<base>+<instruct>` models reply: calls wait for each other and are decoded in batches."""

import secrets
from dataclasses import dataclass
from typing import Any

import anyio
from anyio import to_thread
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

from genie_inspect.engines.conformative import WEIGHT, Conformative, Continuation, Request
from genie_inspect.engines.identity import folder_facts, model_identity
from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.graders.grader import unmet
from genie_inspect.signature import signature

BATCH = 8  # calls that are decoded together
ALLOWANCE = 2048  # tokens of a reply without a limit of its own
VIEWS = ("plain", "chat")
ARGUMENTS = ("base_weight", "base_sees", "device")
# settings that would be ignored in silence
UNSUPPORTED = ("top_k", "frequency_penalty", "presence_penalty", "num_choices", "logprobs", "response_schema")


@dataclass(eq=False, slots=True)
class _Waiting:
    request: Request
    reply: Continuation | None = None
    fault: Exception | None = None


class ConformativeAPI(ModelAPI):
    """Next token by p = base_weight * base + (1 - base_weight) * instruct, then temperature and top_p.

    Model arguments: `base_weight` (0.6), `base_sees` (`plain`: the messages' text; `chat`: the instruct model's chat
    template), `device` (auto). What they were stands as `signature` in each output's metadata.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  # Inspect's own signature
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        names = model_name.split("+")
        # a "+" in a hub id would be ambiguous; there are none
        if len(names) != 2 or not all(names):
            raise unmet(f"model is 'conformative/{model_name}', expected conformative/<base>+<instruct>")
        if unknown := sorted(set(model_args) - set(ARGUMENTS)):
            raise unmet(f"conformative models take {', '.join(ARGUMENTS)}, got {', '.join(unknown)}")
        self.base_sees = str(model_args.get("base_sees", VIEWS[0]))
        if self.base_sees not in VIEWS:
            raise unmet(UnknownChoiceError("base_sees", self.base_sees, "one of " + ", ".join(VIEWS)))
        weight = model_args.get("base_weight", WEIGHT)
        try:
            self.models = Conformative(names[0], names[1], float(weight), str(model_args.get("device", "auto")))
        except (GenieError, ValueError, TypeError) as error:
            raise unmet(error) from error
        base, instruct = (model_identity(name, folder_facts(name)) for name in names)
        self.signature = signature(
            "conformative",
            version="1-A",
            base=base,
            instruct=instruct,
            base_weight=str(float(weight)),
            base_sees=self.base_sees,
        )
        self._waiting: list[_Waiting] = []
        # one batch at a time: two would compete for one device
        self._turn = anyio.Lock()

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  # Inspect's own name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """The continuation of the messages; calls that wait for their turn run in one batch."""
        ignored = [name for name in UNSUPPORTED if getattr(config, name) is not None]
        # a setting that is ignored in silence would be recorded as if it had been followed
        if tools or ignored:
            raise unmet(f"conformative models know no {', '.join(ignored or ['tools'])}")
        call = _Waiting(self._request(input, config))
        reply = await self._completed(call, config.max_connections or BATCH)
        output = ModelOutput.from_content(
            self.model_name, reply.text, stop_reason="max_tokens" if reply.is_cut_off else "stop"
        )
        output.metadata = {"signature": self.signature}
        total = reply.prompt_tokens + reply.tokens
        output.usage = ModelUsage(input_tokens=reply.prompt_tokens, output_tokens=reply.tokens, total_tokens=total)
        return output

    async def _completed(self, call: _Waiting, batch: int) -> Continuation:
        """The reply; whoever comes to its turn first completes those that wait, and itself."""
        self._waiting.append(call)
        try:
            async with self._turn:
                if call.reply is None and call.fault is None:
                    await anyio.sleep(0)  # let calls that start together wait together
                    taken = [call, *(other for other in self._waiting if other is not call)][:batch]
                    try:
                        replies = await to_thread.run_sync(self.models.complete, [one.request for one in taken])
                    except Exception as error:  # noqa: BLE001  # such as no memory: every call's of the batch
                        for waiting in taken:
                            waiting.fault = error
                    else:
                        for waiting, reply in zip(taken, replies, strict=True):
                            waiting.reply = reply
                    self._waiting = [waiting for waiting in self._waiting if waiting not in taken]
        finally:
            # a cancelled call must not be completed by the next batch
            if call in self._waiting:
                self._waiting.remove(call)
        if call.reply is None:
            raise call.fault or RuntimeError("the batch ended without a reply")
        return call.reply

    def max_connections(self) -> int:
        return BATCH

    def max_tokens(self) -> int:
        return ALLOWANCE

    def _request(self, messages: list[ChatMessage], config: GenerateConfig) -> Request:
        chat = self.models.chat([{"role": message.role, "content": message.text} for message in messages])
        # a base model continues text; it has no roles
        plain = "\n\n".join(message.text for message in messages) + "\n\n"
        return Request(
            base=chat if self.base_sees == "chat" else plain,
            instruct=chat,
            max_tokens=config.max_tokens or ALLOWANCE,
            temperature=1.0 if config.temperature is None else config.temperature,
            top_p=1.0 if config.top_p is None else config.top_p,
            # each call its own: equal seeds would write equal documents
            seed=secrets.randbits(63) if config.seed is None else config.seed,
            stops=tuple(config.stop_seqs or ()),
            is_base_plain=self.base_sees != "chat",
        )
