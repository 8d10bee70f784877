"""Requests as vLLM's own engine takes them, and what it says as lines of replies."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.batch.engines import called, refused, write
from tests.batch.stand_in import Row, module, standing_in
from tests.batch.test_importing import judging

from genie_inspect.batch.importing import Reply, reply_in
from genie_inspect.batch.ray_server import Engine, _tokenizer, sampling
from genie_inspect.batch.ray_server import engine_line_of as line_of
from genie_inspect.batch.shards import ScaleError

MESSAGES = [{"role": "user", "content": "Who?"}]
PLAIN: Row = {"model": "tiny", "messages": MESSAGES}


class Tokens:
    """A tokenizer of letters, whose template begins with 1."""

    def apply_chat_template(self, messages: Any, **how: bool) -> list[int]:
        assert how == {"add_generation_prompt": True, "return_dict": False}
        return [1, *map(ord, messages[0]["content"])]


@pytest.fixture(autouse=True)
def _transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    named = SimpleNamespace(from_pretrained=lambda model: Tokens())
    monkeypatch.setitem(__import__("sys").modules, "transformers", module("transformers", AutoTokenizer=named))
    _tokenizer.cache_clear()


@pytest.mark.parametrize(
    ("set_", "said"),
    [
        ({}, {"max_tokens": None}),
        ({"max_tokens": 9, "temperature": 0.0, "seed": 3}, {"max_tokens": 9, "temperature": 0.0, "seed": 3}),
        ({"max_completion_tokens": 9}, {"max_tokens": 9}),
        ({"logprobs": True, "top_logprobs": 20}, {"max_tokens": None, "logprobs": 20}),
        ({"logprobs": False}, {"max_tokens": None}),
        ({"structured_outputs": {"regex": "a|b"}}, {"max_tokens": None, "structured_outputs": {"regex": "a|b"}}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}},
            {"max_tokens": None, "structured_outputs": {"json": '{"type": "object"}'}},
        ),
    ],
)
def test_a_requests_settings_are_vllms_sampling_parameters(set_: Row, said: Row) -> None:
    assert sampling(PLAIN | set_) == said


def test_a_setting_that_would_be_lost_is_refused() -> None:
    with pytest.raises(ScaleError, match="a request sets chat_template_kwargs, n, which the engine is not told"):
        sampling(PLAIN | {"n": 2, "chat_template_kwargs": {}})


@pytest.mark.parametrize("arrow", [False, True], ids=["as Python", "as Arrow gives it back"])
def test_the_first_tokens_alternatives_are_what_a_judge_of_labels_reads(arrow: bool) -> None:
    tops = {7: {"logprob": -0.5, "rank": 1, "decoded_token": "3"}, 9: {"logprob": -1, "decoded_token": "1"}}
    tokens = [list(tops.items()) if arrow else tops, {1: {"logprob": 0, "decoded_token": "."}}]
    row = {"custom_id": "a", "generated_text": "3.", "logprobs": tokens}
    fields = line_of(row)
    line = f'{{"custom_id": "a", "response": {fields["response"]}, "error": {fields["error"]}}}'
    assert reply_in(line.encode()) == Reply("a", "3.", [("3", -0.5), ("1", -1.0)])


def test_an_engine_is_loaded_once_a_worker_and_takes_tokens_and_what_it_cannot_take_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = standing_in(monkeypatch)

    def generated(row: Row) -> Row:
        assert row["tokenized_prompt"][0] == 1, "begun by the template, and by it alone"
        assert row["sampling_params"] == {"max_tokens": None}
        if len(ray.batches) > 1:
            return row | {"generated_text": "", "__inference_error__": "ValueError: it is too long"}
        return row | {"generated_text": "1:1 2:2 3:3", "logprobs": None}

    ray.generated = generated
    first = judging(tmp_path, ("rain", "sleet", "dew"), shard=9)
    options = ("--model", "/m", "--workers", 4, "--connections", 2, "--engine-args", '{"max_model_len": 99}')
    outcome = called("ray", "ask", first, "-o", tmp_path / "out", *options)
    assert (outcome["answered"], list(outcome["faults"])) == (2, ["error: 'ValueError: it is too long'"])
    (config,) = ray.configs
    assert vars(config) == {
        "kind": "vllm",
        "model_source": "/m",
        "engine_kwargs": {"max_model_len": 99},
        "batch_size": 2,
        "concurrency": 4,
        "should_continue_on_error": True,
        "chat_template_stage": False,
        "tokenize_stage": False,
        "detokenize_stage": False,
    }
    result = called("cache", "import", tmp_path / "out", "--requests", first)
    assert (result["used"], sum(result["faults"].values())) == (2, 1)


def test_a_setting_that_would_be_lost_is_one_line_before_anything_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = standing_in(monkeypatch)
    file = write(tmp_path / "r.jsonl", [{"custom_id": "a", "body": PLAIN | {"n": 2}}])
    assert "a request sets n" in refused("ray", "ask", file, "--model", "m", "-o", tmp_path / "out")
    assert not ray.inits


def test_the_real_engines_settings_exist() -> None:
    llm = pytest.importorskip("ray.data.llm", reason="needs the extra `ray`")
    asked = {"model_source", "engine_kwargs", "batch_size", "concurrency", "should_continue_on_error"}
    asked |= {"chat_template_stage", "tokenize_stage", "detokenize_stage"}
    assert asked <= set(llm.vLLMEngineProcessorConfig.model_fields)
    assert json.dumps(dict(Engine("m").arguments)) == "{}"
