"""Requests asked as a job: each once, whatever was on the path, and what came back stays, however a job ends."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from tests.batch.engines import Line, Ray, Row, module, refused, scored, standing_in
from tests.batch.test_importing import judging, names
from tests.cli.called import as_json, genie, lines_of
from tests.served import BROKEN, BUSY, CUT, NAMES, OK, Served, serving

from genie_inspect.batch import ray as asking
from genie_inspect.batch.importing import Reply, replies, reply_in
from genie_inspect.batch.ray import Outcome, ask
from genie_inspect.batch.ray_server import Server, _tokenizer, sampling
from genie_inspect.batch.ray_server import engine_line_of as line_of
from genie_inspect.batch.shards import ScaleError
from genie_inspect.batch.walk import parts
from genie_inspect.building.interviewing import no_progress
from genie_inspect.errors import MissingExtraError

ANSWERS = ("rain", "sleet", "dew", "ash", "rust")


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    return standing_in(monkeypatch)


@pytest.fixture
def served() -> Iterator[Served]:
    with serving(Served(lambda request: "1:1 2:2 3:3")) as running:
        yield running


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return judging(tmp_path, ANSWERS)


def asked(first: Path, output: object, served: Served, form: str = "jsonl", retries: int = 2) -> Outcome:
    job = Server(served.url, retries=retries, pause=0.001, timeout=5)
    return ask([f"{first.parent}/judge*.jsonl"], str(output), job, no_progress, form)


def answered(output: object) -> list[str]:
    said = [reply for part in parts(str(output)) for reply in replies(part)]
    return [reply.name for reply in said if isinstance(reply, Reply) and not reply.fault]


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("place", ["local", "memory"])
def test_every_request_has_its_reply_and_a_second_job_asks_nothing(
    form: str, place: str, ray: Ray, served: Served, first: Path, tmp_path: Path, elsewhere: str
) -> None:
    output = tmp_path / "replies" if place == "local" else f"{elsewhere}/replies"
    (tmp_path / "judge-9.jsonl").write_bytes(first.read_bytes())  # what stands in two files is asked once
    outcome = asked(first, output, served, form)
    assert (outcome.requests, outcome.asked, outcome.answered, outcome.files) == (5, 5, 5, 1)
    assert sorted(answered(output)) == sorted(set(names(first)))
    assert {path.rpartition(".")[2] for path in map(str, parts(str(output)))} == {form}
    again = asked(first, output, served, form)
    assert (again.on_path, again.asked, again.files, len(ray.configs)) == (5, 0, 0, 1)
    assert len(served.bodies) == 5
    result = as_json("cache", "import", output, "--requests", first)
    assert (result["used"], result["missing"], result["kept"]) == (5, 0, {"ratings": 15})


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_body_reaches_the_server_as_it_stands_in_the_file(
    form: str, ray: Ray, served: Served, tmp_path: Path
) -> None:
    from pyarrow import Table, parquet

    bodies: list[Line] = [
        {"model": "x", "messages": [{"role": "user", "content": 'é " \\ \n 🦉'}], "schema": {"1": None, "2": []}},
        {"model": "x", "messages": [{"role": "user", "content": "b"}], "temperature": 0.0, "schema": {"7": {}}},
    ]
    file, rows = tmp_path / f"r.{form}", [{"custom_id": str(n), "body": body} for n, body in enumerate(bodies)]
    if form == "jsonl":
        lines_of(file, rows)
    else:
        parquet.write_table(Table.from_pylist([row | {"body": json.dumps(row["body"])} for row in rows]), file)
    outcome = ask([str(file)], str(tmp_path / "out"), Server(served.url, key="secret"), no_progress)
    assert (outcome.asked, outcome.answered) == (2, 2)
    # they are sent together, and come in any order
    assert sorted(map(json.dumps, served.bodies)) == sorted(map(json.dumps, bodies))
    assert ray.configs[0].headers == {"Authorization": "Bearer secret"}


def test_what_fails_for_a_while_is_tried_again_and_what_fails_for_good_is_a_line_by_reason(
    ray: Ray, served: Served, first: Path, tmp_path: Path
) -> None:
    tries: dict[str, int] = {}

    def fault(number: int, request: str) -> str:
        tries[request] = tries.get(request, 0) + 1
        if '"sleet"' in request:
            return BUSY
        if '"dew"' in request:
            return BROKEN
        if '"ash"' in request:
            return CUT
        return BUSY if tries[request] == 1 else OK

    served.fault = fault
    outcome = asked(first, tmp_path / "out", served)
    assert outcome.answered == 2
    assert outcome.faults == {"error: 'server_error'": 2, "error: 'ClientPayloadError'": 1}
    by_answer = {answer: n for request, n in tries.items() for answer in ANSWERS if f'"{answer}"' in request}
    assert by_answer == {"rain": 2, "sleet": 3, "dew": 1, "ash": 3, "rust": 2}, "an error of 500 is not tried again"
    result = as_json("cache", "import", tmp_path / "out", "--requests", first)
    assert (result["used"], sum(result["faults"].values()), result["missing"]) == (2, 3, 0)
    served.fault = lambda number, request: OK
    again = asked(first, tmp_path / "out", served)
    assert (again.on_path, again.asked, again.answered) == (2, 3, 3)
    assert as_json("cache", "import", tmp_path / "out", "--requests", first)["used"] == 3


def test_a_job_that_fails_leaves_what_came_back_and_the_next_asks_the_rest(
    ray: Ray, served: Served, first: Path, tmp_path: Path
) -> None:
    ray.break_after = 3
    with pytest.raises(ScaleError, match="the job on Ray has failed: RuntimeError: it broke"):
        asked(first, tmp_path / "out", served)
    before = answered(tmp_path / "out")
    assert len(before) == 3
    ray.break_after = None
    outcome = asked(first, tmp_path / "out", served)
    assert (outcome.on_path, outcome.asked) == (3, 2)
    assert sorted(answered(tmp_path / "out")) == sorted(names(first)), "nothing lost, nothing doubled"


@pytest.mark.parametrize(("most", "at", "files"), [("LINES", 2, 3), ("SECONDS", 0.0, 5)])
def test_what_came_back_goes_to_a_file_after_so_many_lines_or_a_time(
    most: str, at: float, files: int, ray: Ray, served: Served, first: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(asking, most, at)
    told: list[tuple[str, int, int]] = []
    outcome = ask(
        [f"{first.parent}/judge*.jsonl"], str(tmp_path / "out"), Server(served.url), lambda *said: told.append(said)
    )
    assert outcome.files == files
    names = [Path(str(part)).name[:11] for part in parts(str(tmp_path / "out"))]
    assert names == [f"part-{number:06}" for number in range(1, files + 1)]
    assert told == [("ask", done, 5) for done in range(1, 6)]


def test_no_more_requests_are_in_flight_than_there_are_connections(
    ray: Ray, served: Served, first: Path, tmp_path: Path
) -> None:
    now, most = 0, 0

    def reply(request: str) -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        time.sleep(0.02)
        now -= 1
        return "1:1 2:2 3:3"

    served.reply = reply
    job = Server(served.url, connections=2, workers=3, per_second=1000)
    assert ask([str(first.parent)], str(tmp_path / "out"), job, no_progress).answered == 5
    config = ray.configs[0]
    assert (most, ray.batches) == (2, [5])
    light = {"num_cpus": 0.1, "concurrency": 3}  # or nothing comes back before all is asked, on few cores
    assert ray.resources == [{"preprocess_map_kwargs": light, "postprocess_map_kwargs": light}]
    assert (config.concurrency, config.qps, config.url) == (3, 1000, f"{served.url}/chat/completions")


def test_without_ray_the_extra_is_named(
    first: Path, tmp_path: Path, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"a job on Ray .* needs the extra ray: pip install"):
        asked(first, tmp_path / "replies", served)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("nowhere.jsonl", "--url", "http://127.0.0.1:9/v1"), "nowhere.jsonl has no requests"),
        (("judge.jsonl", "--url", "http://127.0.0.1:9/v1"), "--url http://127.0.0.1:9/v1 does not answer"),
        (("judge.jsonl", "--url", "nothing"), "--url nothing does not answer"),
        (("judge.plan.json", "--url", "http://x/v1"), "is not JSON"),
        (("other.jsonl", "--url", "http://x/v1"), "other.jsonl, line 1 has no custom_id or no body"),
        (("judge.jsonl",), "give --url"),
        (("judge.jsonl", "--url", "http://x/v1", "--model", "m"), "give --url"),
        (("judge.jsonl", "--url", "http://x/v1", "--key", "NO_SUCH_KEY"), "NO_SUCH_KEY is not set"),
        (("judge.jsonl", "--model", "m", "--engine-args", "[1]"), "'[1]' is not a JSON object"),
        (("nosuch://x", "--url", "http://x/v1"), "'nosuch://x' is not an address of files"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    arguments: tuple[str, ...], named: str, first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(first.parent)
    lines_of(tmp_path / "other.jsonl", [{"custom_id": 7, "body": {}}])
    error = refused("batch", "ask", *arguments, "-o", tmp_path / "out")
    assert named in error


def command(log: EvalLog, folder: Path, grader: str, served: Served, judge: str, form: str) -> list[object]:
    study = ("--grader", grader, "--judge", judge, "--population", folder)
    job = ("--url", served.url, "-o", folder.parent / "replies", "--form", form, "--retries", 0)
    return ["batch", "rounds", log.location, *study, *job]


def rounds(*run: Any) -> Any:
    return as_json(*command(*run))


@pytest.mark.parametrize(("judge", "form"), [("sheet", "jsonl"), ("pairwise", "parquet")])
def test_two_rounds_leave_nothing_to_ask_and_score_as_a_run_that_asks(
    judge: str, form: str, ray: Ray, grader_served: Served, log: EvalLog, folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    grader = f"vllm/m-{next(NAMES)}"
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "asked"))
    asked = scored(log, folder, grader, judge)
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "imported"))
    said = rounds(log, folder, grader, grader_served, judge, form)
    assert (said["left_to_read"], said["left_to_judge"]) == (0, 0)
    for step in ("read", "judge"):
        assert said[step]["asking"]["answered"] == said[step]["imported"]["used"] > 0
        assert len(list((tmp_path / "replies" / step).glob(f"part-*.{form}"))) == 1
    before = len(grader_served.bodies)
    again = scored(log, folder, grader, judge)
    assert len(grader_served.bodies) == before, "nothing was asked"
    assert [str(one.value) for one in again] == [str(one.value) for one in asked]
    once_more = rounds(log, folder, grader, grader_served, judge, form)
    assert once_more["read"]["asking"]["requests"] == 0
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "lost"))
    unimported = rounds(log, folder, grader, grader_served, judge, form)
    assert unimported["read"]["asking"]["on_path"] == unimported["read"]["imported"]["used"] > 0
    assert (unimported["left_to_read"], unimported["left_to_judge"]) == (0, 0)
    assert len(grader_served.bodies) == before, "what is not yet imported is not asked again"


def test_a_round_that_failed_in_part_goes_on_and_what_an_earlier_one_brought_is_no_fault(
    ray: Ray, grader_served: Served, log: EvalLog, folder: Path
) -> None:
    grader = f"vllm/m-{next(NAMES)}"
    grader_served.fault = lambda number, request: BROKEN if number % 2 else OK
    first = rounds(log, folder, grader, grader_served, "list", "jsonl")
    assert first["left_to_read"] == first["read"]["asking"]["faults"]["error: 'server_error'"] > 0
    assert first["unread"]
    grader_served.fault = lambda number, request: OK
    shown = genie(*command(log, folder, grader, grader_served, "list", "jsonl")).stdout
    (asking,) = re.findall("read, asking: (.*)", shown)
    left = first["left_to_read"]
    assert asking == f"{left} requests, 0 on_path, {left} asked, {left} answered, faults: {{}}, 1 files"
    assert "left to read: 0 requests to answer the questions about a document\n" in shown
    assert "left to judge: 0 requests to rate how alike answers are\n" in shown
    assert f"documents: {first['documents']} in the logs or the population\n" in shown
    assert "of no request in the plan" not in shown


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
    outcome = as_json("batch", "ask", first, "-o", tmp_path / "out", *options)
    assert (outcome["answered"], list(outcome["faults"])) == (2, ["error: 'ValueError: it is too long'"])
    (config,) = ray.configs
    stages = dict.fromkeys(("chat_template_stage", "tokenize_stage", "detokenize_stage"), False)
    assert vars(config) == stages | {
        **{"kind": "vllm", "model_source": "/m", "engine_kwargs": {"max_model_len": 99}},
        **{"batch_size": 2, "concurrency": 4, "should_continue_on_error": True},
    }
    result = as_json("cache", "import", tmp_path / "out", "--requests", first)
    assert (result["used"], sum(result["faults"].values())) == (2, 1)
    file = lines_of(tmp_path / "r.jsonl", [{"custom_id": "a", "body": PLAIN | {"n": 2}}])
    loaded = len(ray.inits)
    assert "a request sets n" in refused("batch", "ask", file, "--model", "m", "-o", tmp_path / "lost")
    assert len(ray.inits) == loaded, "a setting that would be lost is refused before anything is loaded"
