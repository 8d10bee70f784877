"""The likeliest first tokens of a reply, as servers of OpenAI's form send them."""

from pydantic import BaseModel


class _Top(BaseModel):
    token: str
    logprob: float


class _Token(BaseModel):
    top_logprobs: list[_Top] = []


class Logprobs(BaseModel):
    """What stands under `logprobs` of a choice."""

    content: list[_Token] | None = None


def first_tokens(logprobs: Logprobs | None) -> list[tuple[str, float]]:
    """Tokens with their log probabilities; none where the reply has none."""
    tokens = logprobs.content if logprobs else None
    return [(top.token, top.logprob) for top in tokens[0].top_logprobs] if tokens else []
