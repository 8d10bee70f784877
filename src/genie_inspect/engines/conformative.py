"""Two language models of one vocabulary as one: token by token a weighted mean of what each would say next.

p = weight * base + (1 - weight) * instruct, then temperature and top_p. Both models keep their key-value caches; a
batch of requests runs in step, padded on the left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genie_inspect.engines.identity import from_pretrained
from genie_inspect.errors import EngineFailedError, GenieError, MissingExtraError

if TYPE_CHECKING:
    import torch

WEIGHT = 0.6  # of the base model, as published


class ConformativeError(GenieError):
    """Two models cannot be decoded as one; the message names them."""


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt as each of the two models sees it, and the settings of its continuation."""

    base: str
    instruct: str
    max_tokens: int
    temperature: float = 1.0  # 0 takes the likeliest token
    top_p: float = 1.0
    seed: int = 0
    stops: tuple[str, ...] = ()
    # whether the base model's tokenizer puts what begins a text before it; a chat template has written that itself
    is_base_plain: bool = True


@dataclass(frozen=True, slots=True)
class Continuation:
    text: str
    prompt_tokens: int
    tokens: int
    is_cut_off: bool  # by the allowance


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
            raise ConformativeError(
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
            raise ConformativeError(f"{self.tokenizer.name_or_path} has no chat template, expected an instruct model")
        text: str = self.tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
        return text

    def complete(self, requests: Sequence[Request]) -> list[Continuation]:
        """One continuation a request, in order; a request's own does not depend on the others."""
        import torch

        batch = Batch(self, requests)
        rows = [_Row(self, request) for request in requests]
        with torch.inference_mode():
            while any(row.ended is None for row in rows):
                chances = batch.chances()
                # a row that has ended goes on with tokens that nobody reads: all rows must stay equally long
                batch.append([row.take(chances[index]) for index, row in enumerate(rows)])
        return [
            Continuation(row.text, length, len(row.tokens), row.ended == "length")
            for row, length in zip(rows, batch.prompt_tokens, strict=True)
        ]


class Batch:
    """Requests in the middle of being continued: the tokens so far live in both models' caches."""

    def __init__(self, models: Conformative, requests: Sequence[Request]) -> None:
        def bare(text: str) -> list[int]:
            return list(models.tokenizer.encode(text, add_special_tokens=False))

        self.weight = models.weight
        begins = [
            begun(models.base_tokenizer, request.base) if request.is_base_plain else bare(request.base)
            for request in requests
        ]
        self._base = _Side(models, models.base, begins)
        self._instruct = _Side(models, models.instruct, [bare(request.instruct) for request in requests])
        self.prompt_tokens = self._instruct.lengths

    def chances(self) -> "torch.Tensor":
        """Chance of each token to be next, shape (requests, vocabulary), before temperature and top_p."""
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


class _Row:
    """A request's continuation so far."""

    def __init__(self, models: Conformative, request: Request) -> None:
        self.models, self.request = models, request
        self.tokens: list[int] = []
        self.text = ""
        self.ended: str | None = None
        self._generator: Any = None

    def take(self, chances: "torch.Tensor") -> int:
        """The next token; once the request has ended, any."""
        if self.ended is not None:
            return self.tokens[-1] if self.tokens else 0
        token = int(chances.argmax()) if self.request.temperature == 0 else self._drawn(chances)
        if token in self.models.ends:
            self.ended = "end"
            return token
        self.tokens.append(token)
        # decoded from the start each time: a character may be spread over several tokens
        self.text = self.models.tokenizer.decode(self.tokens, skip_special_tokens=True)
        places = [place for stop in self.request.stops if (place := self.text.find(stop)) >= 0]
        if places:
            self.text, self.ended = self.text[: min(places)], "stop"
        elif len(self.tokens) >= self.request.max_tokens:
            self.ended = "length"
        return token

    def _drawn(self, chances: "torch.Tensor") -> int:
        import torch

        if self._generator is None:
            # a generator a request, so that its text does not depend on what else is in the batch
            self._generator = torch.Generator(device=chances.device).manual_seed(self.request.seed)
        final = sharpened(chances, self.request.temperature, self.request.top_p)
        return int(torch.multinomial(final, 1, generator=self._generator))


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

    A base model has seen every text of its training begin so. An end token behind the text would tell it that there is
    nothing to continue.
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
        raise ConformativeError(f"{name} cannot be loaded: {str(error).strip().splitlines()[0]}") from error
