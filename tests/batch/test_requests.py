"""What requests are written, and where; files of lines; and that their replies score as those to a run do."""

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model
from tests.batch.engines import ENGINES, lines, refused, replied, scored
from tests.cli.called import as_json, genie, lines_of
from tests.scripted import DOCUMENTS, OWL, evaluated, saying, small_population
from tests.served import NAMES, Served

from genie_inspect.batch.shards import chat_body
from genie_inspect.batch.walk import FORMS, Line, parts, write_part
from genie_inspect.errors import MissingExtraError, NetworkFolderWarning
from genie_inspect.files import writing as networks
from genie_inspect.files.json_lines import placed_lines
from genie_inspect.graders.cache import ANSWERS, RATINGS, VERDICTS, Cache, Judged, Verdict, cache_folder
from genie_inspect.graders.cost import planned_model
from genie_inspect.scorers.compression import compression

GRADER = "openai/gpt-4o"


def test_files_are_numbered_the_plan_names_them_and_only_another_grader_is_asked_under_other_ids(
    folder: Path, tmp_path: Path
) -> None:
    first = tmp_path / "read.jsonl"
    command = ("batch", "requests", folder, "--step", "read", "-o", first, "--grader")
    said = as_json(*command, GRADER, "--shard", 2)
    files = [tmp_path / name for name in ("read.jsonl", "read-2.jsonl", "read-3.jsonl")]
    assert said["files"] == [str(file) for file in files]
    assert [len(lines(file)) for file in files] == [2, 2, 1]
    plan = json.loads((tmp_path / "read.plan.json").read_text())
    assert (plan["files"], plan["requests"], plan["step"]) == ([file.name for file in files], 5, "read")
    assert plan["signature"].startswith("grader(openai/gpt-4o@")
    ids = [line["custom_id"] for file in files for line in lines(file)]
    assert len(set(ids)) == 5
    assert all(name.startswith("read-") for name in ids)
    assert "--force" in refused(*command, GRADER), "files that are there are replaced only by force"
    assert as_json(*command, GRADER, "--force")["requests"] == 5
    assert [line["custom_id"] for line in lines(first)] == ids
    as_json(*command, "openai/gpt-4.1", "--force")
    assert not {*ids} & {line["custom_id"] for line in lines(first)}


def test_a_text_that_many_samples_hold_is_asked_about_once_and_what_is_no_document_never(
    folder: Path, tmp_path: Path
) -> None:
    writer = saying("An owl slept.", "An owl slept.", "", DOCUMENTS[OWL][0], "Elsewhere.")
    prompts = (OWL, OWL, OWL, OWL, "Write of nothing that is known.")
    log = evaluated(compression(), writer, None, tmp_path, prompts, max_samples=1)
    options = ("--grader", GRADER, "--population", folder)
    first = tmp_path / "r.jsonl"
    said = as_json("batch", "requests", log.location, "--step", "read", "-o", first, *options)
    assert (said["documents"], said["requests"]) == (5, 1 + len(DOCUMENTS[OWL]))
    assert said["skipped"] == {"no_response": 1, "the population has no questions for its prompt": 1}
    early = as_json("batch", "requests", log.location, "--step", "judge", "-o", tmp_path / "j.jsonl", *options)
    assert (early["requests"], early["unread"]) == (0, 2), "two texts, before whose reading nothing is judged"
    assert "--step read" in early["note"]
    assert not (tmp_path / "j.jsonl").exists()
    assert not (tmp_path / "j.plan.json").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--grader", "anthropic/claude"), "OpenAI's chat completions"),
        (("--grader", "nobody/x"), "grader nobody/x"),
        (("--grader", "{model: openai/x, temperature: hot}"), "temperature"),
        (("--grader", "{model: openai/x, model_args: {base_url: http://x}}"), "base_url"),
        (("--grader", "{model"), "grader {model"),
        (("--grader", GRADER, "--judge", "poll"), "judge is 'poll'"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(arguments: tuple[str, ...], named: str, folder: Path) -> None:
    error = refused("batch", "status", folder, *arguments)
    assert named in error
    assert Cache().counts()["answers"] == {}
    assert "expected it alone" in refused("batch", "status", folder, folder, "--grader", GRADER)


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


LINES = [Line('a "1"', '{"status_code": 200, "body": {"é": [1, null]}}', "null"), Line("b", "null", '{"message": "x"}')]


def held(folder: str) -> list[object]:
    return [json.loads(line) for part in parts(folder) for _, _, line in placed_lines(part)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scheme", ["", "file://", "memory://"])
def test_lines_come_back_as_they_were_written(form: str, scheme: str, tmp_path: Path, elsewhere: str) -> None:
    folder = f"{elsewhere if scheme == 'memory://' else f'{scheme}{tmp_path}'}/not/yet/there"
    assert parts(folder) == []
    write_part(folder, "p", form, LINES)
    assert held(folder) == [
        {"custom_id": 'a "1"', "response": {"status_code": 200, "body": {"é": [1, None]}}, "error": None},
        {"custom_id": "b", "response": None, "error": {"message": "x"}},
    ]
    (part,) = parts(folder)  # nothing is left beside it
    assert str(part) == f"{folder.removeprefix('file://').replace('memory://', 'memory:///')}/p.{form}"


def test_parts_are_in_the_order_of_their_numbers_and_what_is_none_is_passed_over(tmp_path: Path) -> None:
    for name in ("r-10.jsonl", "r-2.jsonl", "r.jsonl", ".hidden.jsonl", "r.plan.json", "notes.txt"):
        (tmp_path / name).write_text("")
    assert [Path(str(part)).name for part in parts(str(tmp_path))] == ["r.jsonl", "r-2.jsonl", "r-10.jsonl"]
    assert [Path(str(part)).name for part in parts(f"{tmp_path}/r-*.jsonl")] == ["r-2.jsonl", "r-10.jsonl"]
    assert [Path(str(part)).name for part in parts(f"{tmp_path}/notes.txt")] == ["notes.txt"], "who is named is taken"
    os.mkfifo(tmp_path / "pipe")
    assert [str(part) for part in parts(str(tmp_path / "pipe"))] == [str(tmp_path / "pipe")]
    assert "gone.jsonl has no replies" in refused("cache", "import", tmp_path / "gone.jsonl")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_part(str(tmp_path), "p", "parquet", LINES)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="needs the extra ray"):
        held(str(tmp_path))
    with pytest.raises(MissingExtraError, match="needs the extra ray"):
        write_part(str(tmp_path), "q", "parquet", LINES)


@pytest.fixture
def caches(tmp_path: Path) -> list[Path]:
    """Caches of two processes, of which one rating is in both and another in both in other words."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, rating in zip(folders, (2.0, 3.0), strict=True):
        cache = Cache(folder)
        cache.keep(RATINGS, ("list(x)", "What falls?", "rain"), {"snow": Judged(1), "hail": Judged(rating)})
        cache.keep(RATINGS, ("list(x)", "What falls?", folder.name), {"snow": Judged(4, 0.1)})
        cache.keep(ANSWERS, ("grader(x)", folder.name), {"Who?": "an owl", "Where?": None})
        cache.keep(VERDICTS, ("critic(x)", folder.name, ""), {"t": Verdict(1, "So.")})
        cache.close()
    return folders


def test_what_each_process_kept_is_there_once_and_the_first_word_stays(caches: list[Path]) -> None:
    result = as_json("cache", "merge", *caches)
    assert result["kept"] == {"answers": 4, "ratings": 4, "verdicts": 2}
    assert (result["rows"], result["conflicts"], result["refused"]) == (12, 1, 0)
    cache = Cache()
    assert cache.found(RATINGS, ("list(x)", "What falls?", "rain")) == {"snow": (1, None), "hail": (2, None)}
    assert cache.found(RATINGS, ("list(x)", "What falls?", "two")) == {"snow": (4, 0.1)}
    assert cache.found(ANSWERS, ("grader(x)", "two"), ["Who?", "Where?"]) == {"Who?": "an owl", "Where?": None}


def test_a_folder_without_a_cache_and_the_cache_itself_are_refused(caches: list[Path], tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    assert "has no cache.sqlite" in refused("cache", "merge", caches[0], tmp_path / "none")
    assert Cache().counts()["answers"] == {}, "nothing was added before all was looked at"
    assert "is the cache that others are added to" in refused("cache", "merge", cache_folder())


def test_a_cache_on_a_network_file_system_is_used_with_a_warning_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "MOUNTS", tmp_path / "mounts")
    (tmp_path / "mounts").write_text(f"server:/home {tmp_path.resolve()} nfs rw 0 0\n", encoding="utf-8")
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.warns(NetworkFolderWarning, match=r"network file system \(nfs\).*GENIE_CACHE_DIR.*genie cache merge"):
        Cache().keep(ANSWERS, ("grader(x)", "d"), {"Who?": "an owl"})
    with pytest.warns(NetworkFolderWarning):
        shown = genie("cache", "info")
    assert shown.exit_code == 0, "it is no error of the command"
    assert "grader(x)" in shown.stdout


GRADERS = {"openai": "{model: openai/gpt-4o, seed: 3, model_args: {responses_api: false}}", "vllm": "vllm/{name}"}
JUDGES = [("openai", "list"), ("vllm", "sheet"), ("openai", "pairwise"), ("openai", "logit"), ("vllm", "logit")]


def two_rounds(grader_served: Served, log: EvalLog, folder: Path, grader: str, judge: str, engine: str) -> list[Any]:
    """What was asked, after both rounds have gone through files."""
    named, bodies = ["--grader", grader, "--judge", judge, "--population", folder], []
    for step in ("read", "judge"):
        first = folder.parent / f"{step}.jsonl"
        written = as_json("batch", "requests", log.location, "--step", step, "-o", first, "--shard", 4, *named)
        assert written["requests"] > (2 if (step, judge) == ("judge", "sheet") else 4)
        assert len(written["files"]) == -(-written["requests"] // 4)
        shards = [Path(file) for file in written["files"]]
        bodies += [line["body"] for shard in shards for line in lines(shard)]
        replies = lines_of(folder.parent / f"{step}-replies.jsonl", replied(grader_served, shards, ENGINES[engine]))
        result = as_json("cache", "import", replies, "--requests", first)
        assert result["used"] == written["requests"]
        assert not result["missing"]
        assert not result["faults"]
    left = as_json("batch", "status", log.location, *named)
    assert (left["left_to_read"], left["left_to_judge"]) == (0, 0)
    return bodies


@pytest.mark.parametrize(("engine", "judge"), JUDGES)
def test_replies_from_files_score_as_replies_to_a_run_do_and_nothing_is_left_to_ask(
    engine: str, judge: str, grader_served: Served, log: EvalLog, folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "asked"))
    grader = GRADERS[engine].replace("{name}", f"m-{next(NAMES)}")  # whose provider keeps one server a name
    asked = scored(log, folder, grader, judge)
    direct = {json.dumps(body, sort_keys=True) for body in grader_served.bodies}
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "imported"))

    batched = two_rounds(grader_served, log, folder, grader, judge, engine)
    # the one sends many at once, and what documents share is on the sheet of the first or, side by side, of both
    if (engine, judge) != ("vllm", "logit") and judge != "sheet":
        assert {json.dumps(body, sort_keys=True) for body in batched} == direct, "byte for byte what a run sends"

    before = len(grader_served.bodies)
    again = scored(log, folder, grader, judge)
    assert len(grader_served.bodies) == before, "nothing was asked"
    assert str([one.value for one in again]) == str([one.value for one in asked]), "NaN is NaN"
    assert any(not math.isnan(value) for one in again for value in one.value.values())
    assert [one.metadata for one in again] == [one.metadata for one in asked]


def test_each_of_a_populations_own_documents_is_asked_about_against_the_others_or_those_that_are_drawn(
    grader_served: Served, tmp_path: Path
) -> None:
    texts = [f"{word} slept." for word in "Owl Eagle Swan Crow Finch Robin Hawk Wren".split()]  # noqa: SIM905
    folder = small_population(tmp_path / "birds", {OWL: texts}, {OWL: (("plot", "Who?"),)}).folder
    read, named = tmp_path / "read.jsonl", ("--grader", "openai/gpt-4o")
    assert as_json("batch", "requests", folder, "--step", "read", *named, "-o", read)["requests"] == 8, "one a document"
    lines_of(tmp_path / "replies.jsonl", replied(grader_served, [read], ENGINES["openai"]))
    as_json("cache", "import", tmp_path / "replies.jsonl", "--requests", read)
    counts = [
        as_json("batch", "status", folder, *named, "--judge", *judge)["left_to_judge"]
        for judge in (("list",), ("pairwise",), ("pairwise", "--ratings", 3))
    ]
    assert counts == [8, 8 * 7, 8 * 3], "a request an answer, a pair and a pair that is drawn"
