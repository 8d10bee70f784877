"""One name, two graders: what tells them apart; and a model to plan with."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model, ModelName, get_model
from tests.scripted import OWL, evaluated, numbered, saying, scores, small_population
from tests.served import Served, serving

from genie_inspect import inspect_private
from genie_inspect.graders import list_judge
from genie_inspect.graders.cost import planned_model
from genie_inspect.graders.grader import PrerequisiteError, identified_model, served_at
from genie_inspect.graders.list_judge import ListJudge
from genie_inspect.graders.reader import GraderReader
from genie_inspect.prompting.forms import answers_form
from genie_inspect.prompting.templates import unfenced
from genie_inspect.scorers.genie import genie

LOCAL = "openai-api/local/tiny"
A, B = "http://127.0.0.1:8001/v1", "http://127.0.0.1:8002/v1"


def local(url: str | None = A, name: str = LOCAL, **options: Any) -> Model:
    return get_model(name, base_url=url, api_key="none", memoize=False, **options)


def scripted(**arguments: Any) -> Model:
    return get_model("mockllm/model", memoize=False, **arguments)


def differ(*models: Model) -> bool:
    return len({identified_model(model) for model in models}) == len(models)


@pytest.fixture(autouse=True)
def _no_addresses_and_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LOCAL_BASE_URL", "VLLM_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


def test_two_servers_are_two_graders_and_one_server_is_one_by_twelve_digits() -> None:
    assert differ(local(A), local(B))
    assert identified_model(local(A)) == identified_model(local(A))
    name, _, digits = identified_model(local()).partition("@")
    assert (name, len(digits)) == (LOCAL, 12)


def test_the_path_of_a_server_tells_but_user_password_and_query_do_not() -> None:
    assert differ(local("http://host:1/a/v1"), local("http://host:1/b/v1"))
    assert not differ(local("http://host:1/v1"), local("http://ann:secret@host:1/v1?key=123"))


@pytest.mark.parametrize("name", [LOCAL, "vllm/tiny", "vllm-completions/tiny", "openai/gpt-4o"])
def test_an_address_from_the_environment_counts_as_one_that_is_given(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = identified_model(local(A, name))
    monkeypatch.setenv(
        {"vllm": "VLLM", "vllm-completions": "VLLM", "openai-api": "LOCAL"}.get(name.partition("/")[0], "OPENAI")
        + "_BASE_URL",
        A,
    )
    assert identified_model(local(None, name)) == given
    assert served_at(local(None, name)) == "127.0.0.1:8001/v1"


@pytest.mark.parametrize(
    "settings", [{"reasoning_effort": "high"}, {"system_message": "Be strict."}, {"extra_body": {"top_k": 3}}]
)
def test_a_role_with_settings_of_its_own_is_another_grader(settings: dict[str, Any]) -> None:
    assert differ(local(), local(config=GenerateConfig(**settings)))


@pytest.mark.parametrize("settings", [{"max_connections": 3}, {"max_retries": 1}, {"timeout": 9}, {"cache": True}])
def test_how_requests_are_delivered_does_not_count(settings: dict[str, Any]) -> None:
    assert not differ(local(), local(config=GenerateConfig(**settings)))


def test_what_the_instrument_sets_counts_in_place_of_the_roles_own() -> None:
    cold, hot = local(config=GenerateConfig(temperature=0.1)), local(config=GenerateConfig(temperature=0.9))
    request = GenerateConfig(temperature=0.0, max_tokens=5)
    assert identified_model(cold, (request, None)) == identified_model(hot, (request, None))
    assert identified_model(cold, (request, None)) != identified_model(cold, (GenerateConfig(max_tokens=5), None))


def test_a_password_in_a_header_or_an_argument_counts_nothing() -> None:
    assert not differ(local(), local(config=GenerateConfig(extra_headers={"Authorization": "Bearer 123"})))
    assert not differ(scripted(), scripted(auth_token="1", openai_api_key="2"))
    assert differ(local(), local(config=GenerateConfig(extra_headers={"X-Deployment": "b"})))


def test_arguments_that_change_the_model_count() -> None:
    assert differ(scripted(), scripted(quantize=4), scripted(quantize=8), scripted(tokenizer="b"))
    assert not differ(scripted(), scripted(device="cuda:1"))


def test_a_folder_counts_by_what_stands_in_it(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "final", tmp_path / "b" / "final"
    for folder, size in ((first, 3), (second, 4)):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"0" * size)
    for provider in ("vllm", "vllm-completions"):
        assert differ(local(A, f"{provider}/{first}"), local(A, f"{provider}/{second}"))
    before = identified_model(scripted(model_path=str(first)))
    assert identified_model(scripted(model_path=str(second))) != before
    os.utime(first / "model.safetensors", ns=(1, 1))
    assert identified_model(scripted(model_path=str(first))) != before


@pytest.mark.parametrize(("name", "counts"), [(LOCAL, False), ("openai/gpt-4o", True), ("vllm/tiny", True)])
def test_the_form_of_ratings_counts_where_a_provider_holds_replies_to_it(
    name: str, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ListJudge(local(A, name)).signature
    monkeypatch.setattr(list_judge, "ratings_form", answers_form)
    assert (ListJudge(local(A, name)).signature != before) == counts


def test_the_form_of_a_reading_counts_too() -> None:
    # what stands before the template's digest, with a field for the attempt and without
    plain = GraderReader(local(A, "vllm/tiny")).template
    templates = plain, replace(plain, text=plain.text.replace('"attempt"', "attempt"))
    readers = [GraderReader(local(A, "vllm/tiny"), template) for template in templates]
    models = {reader.signature.partition(",template=")[0] for reader in readers}
    assert len(models) == 2


def grading_all(rating: int) -> Served:
    """A server whose model reads as it should, and gives every pair one rating."""

    def reply(request: str) -> str:
        data = unfenced(request)
        if "questions" in data:
            answers = {number: f"{question} {data['document']}"[:40] for number, question in data["questions"].items()}
            return json.dumps(answers)
        return numbered(dict.fromkeys(data["others"], rating))

    return Served(reply)


def scored_by(served: Served, population: Path, folder: Path, **options: Any) -> EvalLog:
    model = local(served.url, config=GenerateConfig(max_retries=0, **options))
    return evaluated(genie(str(population)), saying("An owl eats a clock."), model, folder, [OWL])


def test_what_one_server_said_never_counts_as_said_by_another_of_the_same_name(tmp_path: Path) -> None:
    small_population(tmp_path / "population")
    with serving(grading_all(4)) as alike, serving(grading_all(1)) as unlike:
        logs = [scored_by(served, tmp_path / "population", tmp_path) for served in (alike, unlike, alike)]
        asked = len(alike.requests), len(unlike.requests)
        scored_by(alike, tmp_path / "population", tmp_path, reasoning_effort="high")
        again = len(alike.requests)
    (first,), (second,), (third,) = map(scores, logs)
    assert first.value == third.value == {"plot": 0.0, "style": 0.0}
    assert second.value == {"plot": 1.0, "style": 1.0}
    signatures = [(score.metadata or {})["signature"] for score in (first, second, third)]
    assert signatures[0] == signatures[2] != signatures[1]
    assert asked[0] == asked[1] > 0  # the first server's replies are on record for the third run
    assert again == 2 * asked[0], "a role with other settings does not count as the one before"


@pytest.mark.parametrize("name", ["openai/gpt-4o", "anthropic/claude-sonnet-4-0", "hf/some/model", "vllm/tiny"])
def test_a_model_is_planned_with_without_its_key_or_package(name: str) -> None:
    model = planned_model(name)
    assert str(model) == name
    assert ModelName(model).api == name.partition("/")[0]


def test_what_the_real_model_has_said_is_found_on_record(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = planned_model("openai/gpt-4o")
    monkeypatch.setenv("OPENAI_API_KEY", "nobody asks it")
    assert identified_model(planned) == identified_model(get_model("openai/gpt-4o", memoize=False))


@pytest.mark.parametrize(
    ("name", "error"), [("nobody/x", ValueError), ("gpt-4o", ValueError), ("bundled/nobody", PrerequisiteError)]
)
def test_a_provider_or_bundled_model_that_there_is_not_is_refused(name: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=name.removeprefix("bundled/")):
        planned_model(name)


@pytest.mark.anyio
async def test_a_planned_model_cannot_be_asked() -> None:
    with pytest.raises(NotImplementedError, match="cannot be asked"):
        await planned_model("openai/gpt-4o").generate("Who?")


def test_where_the_wire_is_gone_planning_takes_what_asking_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_private, "_wire", lambda module, name: None)
    with pytest.raises(PrerequisiteError, match="OPENAI_API_KEY"):
        planned_model("openai/gpt-4o")
    monkeypatch.setenv("OPENAI_API_KEY", "nobody asks it")
    assert isinstance(planned_model("openai/gpt-4o"), Model)
