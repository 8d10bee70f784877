"""Requests to vLLM engines on the cluster's GPUs, through Ray Data LLM's vLLM processor."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

# under the names that they have in a request and in vLLM's sampling parameters
SAME = frozenset(
    {"frequency_penalty", "logit_bias", "max_tokens", "min_p", "min_tokens", "presence_penalty", "repetition_penalty"}
    | {"seed", "stop", "temperature", "top_k", "top_p"}
)
OTHERWISE = frozenset({"logprobs", "max_completion_tokens", "response_format", "structured_outputs", "top_logprobs"})
"""What is said in other words there."""
NOT_PASSED = frozenset({"messages", "model"})


@dataclass(frozen=True)
class Engine:
    """An engine, as many times as there are workers."""

    model: str
    """A folder, or a name on the hub."""
    workers: int = 1
    together: int = 64
    """Requests in a batch; eight of them are at work in an engine at a time."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Of the engine: `tensor_parallel_size`, `max_model_len` and so on."""

    def check(self, body: str) -> None:
        """Refuse requests that ask for what is not passed to the engine, before it is loaded."""
        sampling(json.loads(body))

    def processor(self) -> Any:
        """Takes rows of `custom_id` and `payload`, gives the fields of lines of replies."""
        from ray.data.llm import build_processor, vLLMEngineProcessorConfig

        config = vLLMEngineProcessorConfig(
            model_source=self.model,
            engine_kwargs=dict(self.arguments),
            batch_size=self.together,
            concurrency=self.workers,
            should_continue_on_error=True,
            # its own stages would put a second token of beginning before what a chat template has begun
            chat_template_stage=False,
            tokenize_stage=False,
            detokenize_stage=False,
        )
        return build_processor(config, preprocess=partial(asked_of, self.model), postprocess=line_of)


def asked_of(model: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine takes: tokens as a server would make them, and how to sample."""
    body = json.loads(row["payload"])
    tokens = _tokenizer(model).apply_chat_template(body["messages"], add_generation_prompt=True, return_dict=False)
    return {"tokenized_prompt": list(tokens), "sampling_params": sampling(body)}


def sampling(body: Mapping[str, Any]) -> dict[str, Any]:
    """How vLLM shall sample for a request.

    Raises:
        ScaleError: If the request has a setting that is not passed.
    """
    if unknown := sorted(body.keys() - SAME - OTHERWISE - NOT_PASSED):
        from genie_inspect.scale.shards import ScaleError  # here: a worker needs nothing of Inspect

        raise ScaleError(f"a request sets {', '.join(unknown)}, which the engine is not told: ask a server, --url")
    said = {name: value for name, value in body.items() if name in SAME}
    said.setdefault("max_tokens", body.get("max_completion_tokens"))
    if body.get("logprobs"):
        said["logprobs"] = body.get("top_logprobs") or 0
    form = body.get("response_format") or {}
    # as text: rows are columns, in which schemas would fill each other's gaps
    schema = {"json": json.dumps(form["json_schema"]["schema"])} if form.get("type") == "json_schema" else {}
    if held := body.get("structured_outputs") or schema:
        said["structured_outputs"] = held
    return said


def line_of(row: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a line of replies, by what the engine said."""
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": str(row["generated_text"])}}
    tokens = row.get("logprobs")
    if tokens is not None and len(tokens):
        tops = [{"token": top["decoded_token"], "logprob": float(top["logprob"])} for top in _tops(tokens[0])]
        choice["logprobs"] = {"content": [{"top_logprobs": tops}]}
    response = {"status_code": 200, "body": {"choices": [choice]}}
    return {"custom_id": str(row["custom_id"]), "response": json.dumps(response), "error": "null"}


def _tops(first: Any) -> list[Mapping[str, Any]]:
    """The likeliest first tokens; a mapping in Python, a list of pairs as Arrow gives it back."""
    values = first.values() if isinstance(first, Mapping) else [pair[1] for pair in first]
    return [top for top in values if top is not None]


@lru_cache(maxsize=1)
def _tokenizer(model: str) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model)
