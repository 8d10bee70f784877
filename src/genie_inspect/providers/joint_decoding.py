"""The `conformative/<base>+<instruct>` models: two models of one vocabulary, decoded token by token as one.

Calls wait for each other and run in step, padded on the left; both models keep their key-value caches.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo

from genie_inspect.engines.identity import folder_facts, from_pretrained, model_identity
from genie_inspect.errors import EngineFailedError, GenieError, MissingExtraError, UnknownChoiceError
from genie_inspect.graders.grader import unmet
from genie_inspect.graders.stand_ins import usage
from genie_inspect.signature import signature

if TYPE_CHECKING:
    import torch

WEIGHT = 0.6  # of the base model, as published
BATCH = 8  # calls that are decoded together
ALLOWANCE = 2048  # tokens of a reply without a limit of its own
VIEWS = ("plain", "chat")
ARGUMENTS = ("base_weight", "base_sees", "device")
# settings that would be ignored in silence
UNSUPPORTED = ("top_k", "frequency_penalty", "presence_penalty", "num_choices", "logprobs", "response_schema")


@dataclass(eq=False, slots=True)
class Call:
    """A prompt as each of the two models sees it, the settings of its continuation, and how far that has come."""

    base: str
    instruct: str
    max_tokens: int
    temperature: float = 1.0  # 0 takes the likeliest token
    top_p: float = 1.0
    seed: int = 0
    stops: tuple[str, ...] = ()
    # whether the base model's tokenizer puts what begins a text before it; a chat template has written that itself
    is_base_plain: bool = True
    prompt_tokens: int = 0
    tokens: list[int] = field(default_factory=list)
    text: str = ""
    ended: str = ""  # by a token that ends texts, a stop sequence or its allowance ("length"); empty until then
    fault: Exception | None = None  # of the batch that it was in
    generator: Any = None  # its own, so that its text does not depend on what else is in the batch


class Conformative:
    """A base and an instruct model, loaded and checked."""

    def __init__(self, base: str, instruct: str, weight: float = WEIGHT, device: str = "auto") -> None:
        if not 0 <= weight <= 1:
            raise ValueError(f"base_weight is {weight}, expected a number from 0 to 1")
        try:
            import torch
            import transformers
        except ImportError:
            raise MissingExtraError("the conformative provider", "local") from None
        self.weight = weight
        self.device = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
        self.tokenizer, self.base_tokenizer = (_loaded(transformers.AutoTokenizer, name) for name in (instruct, base))
        first, second = self.base_tokenizer.get_vocab(), self.tokenizer.get_vocab()
        if differing := [token for token in first.keys() | second.keys() if first.get(token) != second.get(token)]:
            token = min(differing)
            raise EngineFailedError(
                f"{base} and {instruct} have different vocabularies: {len(differing)} tokens differ, such as {token!r} "
                f"(number {first.get(token, 'none')} against {second.get(token, 'none')}); both must come from one "
                "family"
            )
        self.base, self.instruct = (
            _loaded(transformers.AutoModelForCausalLM, name, dtype="auto").to(self.device).eval()
            for name in (base, instruct)
        )
        self.ends: set[int] = set()  # the tokens with which any of the two ends a text
        for part in (self.tokenizer, self.base_tokenizer, self.base, self.instruct):
            ends = getattr(getattr(part, "generation_config", part), "eos_token_id", None)
            self.ends.update(ends if isinstance(ends, list) else [] if ends is None else [ends])
        # a model's table may be padded past its vocabulary: what lies there is no token
        self.size = max(second.values()) + 1

    def chat(self, messages: Sequence[dict[str, str]]) -> str:
        if not self.tokenizer.chat_template:
            raise EngineFailedError(f"{self.tokenizer.name_or_path} has no chat template, expected an instruct model")
        text: str = self.tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
        return text

    def complete(self, calls: Sequence[Call]) -> None:
        """Continue each call to its end; what becomes of one does not depend on the others."""
        import torch

        batch = Batch(self, calls)
        with torch.inference_mode():
            while not all(call.ended for call in calls):
                chances = batch.chances()
                # a call that has ended goes on with tokens that nobody reads: all rows must stay equally long
                batch.append([self._next(call, chances[row]) for row, call in enumerate(calls)])

    def _next(self, call: Call, chances: "torch.Tensor") -> int:
        """The next token, taken into the call; once that has ended, any."""
        import torch

        if call.ended:
            return call.tokens[-1] if call.tokens else 0
        if call.temperature == 0:
            token = int(chances.argmax())
        else:
            if call.generator is None:
                call.generator = torch.Generator(device=chances.device).manual_seed(call.seed)
            final = sharpened(chances, call.temperature, call.top_p)
            token = int(torch.multinomial(final, 1, generator=call.generator))
        if token in self.ends:
            call.ended = "end"
            return token
        call.tokens.append(token)
        # decoded from the start each time: a character may be spread over several tokens
        call.text = self.tokenizer.decode(call.tokens, skip_special_tokens=True)
        places = [place for stop in call.stops if (place := call.text.find(stop)) >= 0]
        if places:
            call.text, call.ended = call.text[: min(places)], "stop"
        elif len(call.tokens) >= call.max_tokens:
            call.ended = "length"
        return token


class Batch:
    """Calls in the middle of being continued: the tokens so far live in both models' caches."""

    def __init__(self, models: Conformative, calls: Sequence[Call]) -> None:
        def bare(text: str) -> list[int]:
            return list(models.tokenizer.encode(text, add_special_tokens=False))

        self.weight = models.weight
        begins = [begun(models.base_tokenizer, call.base) if call.is_base_plain else bare(call.base) for call in calls]
        self._base = _Side(models, models.base, begins)
        self._instruct = _Side(models, models.instruct, [bare(call.instruct) for call in calls])
        for call, length in zip(calls, self._instruct.lengths, strict=True):
            call.prompt_tokens = length

    def chances(self) -> "torch.Tensor":
        """Chance of each token to be next, shape (calls, vocabulary), before temperature and top_p."""
        return self.weight * self._base.chances() + (1 - self.weight) * self._instruct.chances()

    def append(self, tokens: Sequence[int]) -> None:
        self._base.append(tokens)
        self._instruct.append(tokens)


class _Side:
    """One model's view of a batch: its prompts as tokens, and what came after."""

    def __init__(self, models: Conformative, model: Any, prompts: Sequence[list[int]]) -> None:
        import torch

        self.model, self.size = model, models.size
        first = models.tokenizer.bos_token_id
        tokens = [prompt or [min(models.ends, default=0) if first is None else int(first)] for prompt in prompts]
        self.lengths = [len(row) for row in tokens]
        widest = max(self.lengths)
        # padded on the left, so that the last column is the last token of every prompt; the mask hides the rest
        padded = [[row[0]] * (widest - len(row)) + row for row in tokens]
        seen = [[0] * (widest - length) + [1] * length for length in self.lengths]
        self.next = torch.tensor(padded, device=models.device)
        self.mask = torch.tensor(seen, device=models.device)
        self.cache: Any = None

    def chances(self) -> "torch.Tensor":
        import torch

        # positions count from a prompt's own first token, or padding would change what the models say
        positions = (self.mask.cumsum(dim=1) - 1).clamp(min=0)[:, -self.next.shape[1] :]
        seen = {"input_ids": self.next, "attention_mask": self.mask, "position_ids": positions}
        output = self.model(**seen, past_key_values=self.cache, use_cache=True)
        self.cache = output.past_key_values
        return torch.softmax(output.logits[:, -1, : self.size].float(), dim=-1)

    def append(self, tokens: Sequence[int]) -> None:
        import torch

        self.next = torch.tensor(tokens, device=self.mask.device)[:, None]
        self.mask = torch.cat([self.mask, torch.ones_like(self.next)], dim=1)


def sharpened(chances: "torch.Tensor", temperature: float, top_p: float) -> "torch.Tensor":
    """Chances to the power of 1 / temperature, and of these the likeliest whose sum reaches top_p; they sum to 1."""
    import torch

    heated = torch.softmax(chances.log() / temperature, dim=-1)
    ordered, order = heated.sort(descending=True)
    # the sum of the likelier ones: the token that crosses top_p stays in
    before = ordered.cumsum(dim=-1) - ordered
    likeliest = torch.zeros_like(heated).scatter(0, order, torch.where(before < top_p, ordered, 0.0))
    return likeliest / likeliest.sum()


def begun(tokenizer: Any, text: str) -> list[int]:
    """A text's tokens after those that its tokenizer puts before a text, and without those that it puts behind one.

    A base model has seen every text of its training begin so; an end token would tell it that nothing is to follow.
    """
    whole = list(tokenizer.encode(text, add_special_tokens=True))
    bare = list(tokenizer.encode(text, add_special_tokens=False))
    for start in range(len(whole) - len(bare) + 1):
        if whole[start : start + len(bare)] == bare:
            return whole[: start + len(bare)]
    return whole


def _loaded(loader: Any, name: str, **options: Any) -> Any:
    try:
        return from_pretrained(loader, name, **options)
    except (OSError, ValueError, EngineFailedError) as error:
        raise EngineFailedError(f"{name} cannot be loaded: {str(error).strip().splitlines()[0]}") from error


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
        facts = {"base": base, "instruct": instruct, "base_weight": str(float(weight)), "base_sees": self.base_sees}
        self.signature = signature("conformative", version="1-A", **facts)
        self._waiting: list[Call] = []
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
        call = self._call(input, config)
        await self._completed(call, config.max_connections or BATCH)
        output = ModelOutput.from_content(self.model_name, call.text)
        if call.ended == "length":
            output.choices[0].stop_reason = "max_tokens"
        output.metadata = {"signature": self.signature}
        output.usage = usage(call.prompt_tokens, len(call.tokens))
        return output

    async def _completed(self, call: Call, batch: int) -> None:
        """Whoever comes to its turn first completes those that wait, and itself."""
        self._waiting.append(call)
        try:
            async with self._turn:
                if not (call.ended or call.fault):
                    await anyio.sleep(0)  # let calls that start together wait together
                    taken = [call, *(other for other in self._waiting if other is not call)][:batch]
                    try:
                        await to_thread.run_sync(self.models.complete, taken)
                    except Exception as error:  # noqa: BLE001  # such as no memory: every call's of the batch
                        for waiting in taken:
                            waiting.fault = error
                    self._waiting = [waiting for waiting in self._waiting if waiting not in taken]
        finally:
            # a cancelled call must not be completed by the next batch
            if call in self._waiting:
                self._waiting.remove(call)
        if call.fault:
            raise call.fault

    def max_connections(self) -> int:
        return BATCH

    def max_tokens(self) -> int:
        return ALLOWANCE

    def _call(self, messages: list[ChatMessage], config: GenerateConfig) -> Call:
        chat = self.models.chat([{"role": message.role, "content": message.text} for message in messages])
        # a base model continues text; it has no roles
        plain = "\n\n".join(message.text for message in messages) + "\n\n"
        return Call(
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
