"""What asking costs: calls and tokens, counted or expected, without asking anybody.

Counted by the word pieces of the bundled embedder's tokenizer. Those stop at quotes and spaces, so that a request has
the tokens of its texts and those of the same request with empty texts.
"""

from dataclasses import dataclass
from functools import lru_cache

from inspect_ai.model import GenerateConfig, Model, get_model, model_roles

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.graders.grader import RECORDED
from genie_inspect.inspect_private import named_api, resolved_settings
from genie_inspect.prompting.templates import fenced


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls and tokens; expected numbers need not be whole."""

    calls: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)

    def __mul__(self, times: float) -> "Cost":
        return Cost(self.calls * times, self.tokens_in * times, self.tokens_out * times)

    def money(self, price_in: float, price_out: float) -> float:
        """What it costs at prices for a million tokens, in their currency."""
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1e6


@lru_cache(maxsize=100_000)
def tokens(text: str) -> int:
    """Tokens of a text as it stands inside a request: escaped, without what is around it."""
    return static_token_count(fenced({"": text})) - static_token_count(fenced({"": ""}))


def unbatched(roles: tuple[str, ...]) -> str:
    """What would batch the models of these roles too, where the run batches and one of them does not; else empty."""
    size = resolved_settings(get_model()).batch
    if not size:
        return ""
    # a whole number is the size; the other settings of a batch are for a file
    batch = f"{size:d}" if isinstance(size, int) and not isinstance(size, bool) else "true"
    options = []
    for role in roles:
        bound = model_roles().get(role, [])
        models = bound if isinstance(bound, list) else [bound]
        if not all(resolved_settings(model).batch for model in models):
            named = [f"{{model: {model}, batch: {batch}}}" for model in models]
            value = named[0] if len(named) == 1 else f"[{', '.join(named)}]"
            options.append(f"--model-role '{role}={value}'")
    if not options:
        return ""
    return f"--batch reaches the model under evaluation alone; for the judges too: {' '.join(options)}"


def planned_model(name: str) -> Model:
    """The model of that name for what asks nobody; it identifies itself as the one that can be asked.

    Where a provider has an address of its own that no variable names, what it has said before counts as not said: that
    address is known to its client alone.
    """
    provider, _, model = name.partition("/")
    # a replay is no client, and knows which of its names exist
    api = named_api(provider, model) if model and provider != RECORDED else None
    return Model(api, GenerateConfig()) if api else get_model(name, memoize=False)
