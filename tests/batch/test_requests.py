"""What requests are written, where, and what is refused."""

import json
from pathlib import Path

import pytest
from inspect_ai.model import GenerateConfig, Model
from tests.batch.engines import called, lines, refused
from tests.scripted import DOCUMENTS, OWL, evaluated, saying, small_population

from genie_inspect.batch.shards import chat_body
from genie_inspect.graders.cache import Cache
from genie_inspect.graders.cost import planned_model
from genie_inspect.scorers.compression import compression

GRADER = "openai/gpt-4o"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_population(tmp_path / "small").folder


def test_files_are_numbered_and_the_plan_names_them(folder: Path, tmp_path: Path) -> None:
    first = tmp_path / "read.jsonl"
    said = called("requests", folder, "--step", "read", "--grader", GRADER, "-o", first, "--shard", 2)
    files = [tmp_path / name for name in ("read.jsonl", "read-2.jsonl", "read-3.jsonl")]
    assert said["files"] == [str(file) for file in files]
    assert [len(lines(file)) for file in files] == [2, 2, 1]
    plan = json.loads((tmp_path / "read.plan.json").read_text())
    assert plan["files"] == [file.name for file in files]
    assert plan["signature"].startswith("grader(openai/gpt-4o@")
    ids = [line["custom_id"] for file in files for line in lines(file)]
    assert len(set(ids)) == 5
    assert all(name.startswith("read-") for name in ids)


def test_the_same_requests_have_the_same_ids_and_another_graders_have_others(folder: Path, tmp_path: Path) -> None:
    ids = []
    for number, grader in enumerate((GRADER, GRADER, "openai/gpt-4.1")):
        first = tmp_path / f"{number}.jsonl"
        called("requests", folder, "--step", "read", "--grader", grader, "-o", first)
        ids.append([line["custom_id"] for line in lines(first)])
    assert ids[0] == ids[1]
    assert not {*ids[0]} & {*ids[2]}


def test_a_text_that_many_samples_hold_is_asked_about_once_and_what_is_no_document_never(
    folder: Path, tmp_path: Path
) -> None:
    writer = saying("An owl slept.", "An owl slept.", "", DOCUMENTS[OWL][0], "Elsewhere.")
    prompts = (OWL, OWL, OWL, OWL, "Write of nothing that is known.")
    log = evaluated(compression(), writer, None, tmp_path, prompts, max_samples=1)
    options = ("--grader", GRADER, "--population", folder)
    first = tmp_path / "r.jsonl"
    said = called("requests", log.location, "--step", "read", "-o", first, *options)
    assert (said["documents"], said["requests"]) == (5, 1 + len(DOCUMENTS[OWL]))
    assert said["skipped"] == {"no_response": 1, "the population has no questions for its prompt": 1}
    early = called("requests", log.location, "--step", "judge", "-o", tmp_path / "j.jsonl", *options)
    assert (early["requests"], early["unread"]) == (0, 2), "two texts, before whose reading nothing is judged"
    assert "--step read" in early["note"]
    assert not (tmp_path / "j.jsonl").exists()
    assert not (tmp_path / "j.plan.json").exists()


def test_files_that_are_there_are_replaced_only_by_force(folder: Path, tmp_path: Path) -> None:
    command = ("requests", folder, "--step", "read", "--grader", GRADER, "-o", tmp_path / "r.jsonl")
    called(*command)
    assert "--force" in refused(*command)
    assert called(*command, "--force")["requests"] == 5


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--grader", GRADER), "--status alone"),
        (("--grader", GRADER, "--status", "--step", "read"), "--status alone"),
        (("--grader", GRADER, "--step", "read"), "given together"),
        (("--grader", "anthropic/claude", "--status"), "OpenAI's chat completions"),
        (("--grader", "nobody/x", "--status"), "grader nobody/x"),
        (("--grader", "{model: openai/x, temperature: hot}", "--status"), "temperature"),
        (("--grader", "{model: openai/x, model_args: {base_url: http://x}}", "--status"), "base_url"),
        (("--grader", "{model", "--status"), "grader {model"),
        (("--grader", GRADER, "--status", "--judge", "poll"), "judge is 'poll'"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(arguments: tuple[str, ...], named: str, folder: Path) -> None:
    error = refused("requests", folder, *arguments)
    assert named in error
    assert "Traceback" not in error
    assert Cache().counts()["answers"] == {}


def test_a_population_beside_logs_is_refused(folder: Path, tmp_path: Path) -> None:
    assert "expected it alone" in refused("requests", folder, folder, "--status", "--grader", GRADER)


def planned(name: str, **config: object) -> Model:
    return Model(planned_model(name).api, GenerateConfig.model_validate(config))


@pytest.mark.parametrize(
    ("name", "model", "body"),
    [
        ("openai/gpt-4o", "gpt-4o", {"max_tokens": 7, "temperature": 0.0}),
        ("openai/gpt-5-mini", "gpt-5-mini", {"max_completion_tokens": 7}),
        ("openai/o3", "o3", {"max_completion_tokens": 7}),
        ("openai-api/local/org/tiny", "org/tiny", {"max_tokens": 7, "temperature": 0.0}),
        ("vllm/org/tiny", "org/tiny", {"max_tokens": 7, "temperature": 0.0}),
    ],
)
def test_a_body_names_the_model_as_its_server_does_and_its_settings_as_it_takes_them(
    name: str, model: str, body: dict[str, object]
) -> None:
    config = GenerateConfig(temperature=0.0, max_tokens=7)
    message = {"role": "user", "content": "Hello."}
    assert chat_body(planned(name), "Hello.", config) == {"messages": [message], "model": model, **body}


def test_a_roles_own_settings_are_in_every_body() -> None:
    model = planned("vllm/tiny", system_message="Be strict.", seed=3, stop_seqs=["x"], extra_body={"min_p": 0.1})
    body = chat_body(model, "Hello.", GenerateConfig())
    assert body["messages"][0] == {"role": "system", "content": "Be strict."}
    assert (body["seed"], body["stop"], body["min_p"]) == (3, ["x"], 0.1)
