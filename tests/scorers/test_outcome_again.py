"""Every scorer on the same samples and the same failures: every key, NaN, one reason, and the signature always."""

import json
import math
import socket
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai import score as score_again
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import Score, Scorer
from inspect_ai.solver import TaskState
from tests.processes import Commands
from tests.scripted import OWL, Script, output, small_population

from genie_inspect.engines.served_embedders import _client
from genie_inspect.errors import (
    EngineFailedError,
    GenieError,
    GraderFailedError,
    PopulationError,
    RefusalError,
    UnreadableReplyError,
)
from genie_inspect.graders.grader import PrerequisiteError, RefusedError
from genie_inspect.prompting.fence import unfenced
from genie_inspect.scorers import corpora
from genie_inspect.scorers.close_reading import close_reading
from genie_inspect.scorers.coherence import KEYS as COHERENCE
from genie_inspect.scorers.coherence import coherence
from genie_inspect.scorers.compression import compression
from genie_inspect.scorers.cosine import cosine
from genie_inspect.scorers.creativity_index import creativity_index
from genie_inspect.scorers.expression_novelty import expression_novelty
from genie_inspect.scorers.genie import genie
from genie_inspect.scorers.litbench import litbench
from genie_inspect.scorers.novelty_bench import KEYS as NOVELTY_BENCH
from genie_inspect.scorers.novelty_bench import novelty_bench
from genie_inspect.scorers.outcome import REASONS, rounded, scored_or_reason
from genie_inspect.scorers.partition import partition
from genie_inspect.solvers.generations import generations
from genie_inspect.tasks.panel import KEYS as PANEL_KEYS

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # clients that Inspect and openai leave open

STORY = "A blue owl flew."
REASON = {"text": None, "silence": "no_response", "refusal": "refusal", "failure": "generation failed"}
KEYS: dict[str, Sequence[str]] = {
    "genie": ("plot", "style"),
    **PANEL_KEYS,
    "coherence": COHERENCE,
    "novelty_bench": NOVELTY_BENCH,
}
Made = Callable[[str], Scorer]
PLAIN: dict[str, Made] = {
    "genie": genie,
    "cosine": cosine,
    "compression": compression,
    "creativity_index": creativity_index,
    "expression_novelty": expression_novelty,
    "partition": partition,
    "litbench": litbench,
    "close_reading": lambda folder: close_reading(),
    "coherence": lambda folder: coherence(),
    "novelty_bench": lambda folder: novelty_bench(),
}
ASKING = ("genie", "partition", "litbench", "close_reading", "coherence", "novelty_bench")
SERVED = "openai/served-nowhere"
EMBEDDING: dict[str, Made] = {
    "genie": lambda folder: genie(folder, judge="embedded", embedder=SERVED),
    "cosine": lambda folder: cosine(folder, embedder=SERVED),
    "creativity_index": lambda folder: creativity_index(folder, matcher="near", embedder=SERVED),
    "partition": lambda folder: partition(folder, equivalence="embedded", threshold=0.5, embedder=SERVED),
    "novelty_bench": lambda folder: novelty_bench(equivalence="embedded", threshold=0.5, embedder=SERVED),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the small population."""
    return str(small_population(tmp_path_factory.mktemp("outcome") / "population").folder)


@pytest.fixture(scope="module")
def unscored_log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """A log of four samples without scores: a text, silence, a refusal, and a generation that failed."""
    told = cycle([STORY, "A red fox sang."])  # two replies that differ, for novelty_bench
    refused = output("I cannot write that.", "content_filter")

    def write(name: str) -> str | ModelOutput:
        if name == "failure":
            raise ConnectionError("no route")
        return refused if name == "refusal" else {"text": next(told), "silence": " \n"}[name]

    dataset = [Sample(input=name, id=name, metadata={"prompt": OWL}) for name in REASON]
    (log,) = evaluate(
        Task(dataset=dataset, solver=generations(2)),
        model=Script(write).model(),
        fail_on_error=False,
        log_dir=str(tmp_path_factory.mktemp("outcome-logs")),
        display="none",
    )
    assert log.status == "success", log.error
    (failed,) = [sample for sample in log.samples or [] if sample.id == "failure"]
    assert failed.output.choices == []
    return log


def reply(request: str) -> str:
    """What a grader says that reads, rates and compares as it should."""
    data = unfenced(request)
    numbered: dict[str, dict[str, str]] = {"questions": data.get("questions", {}), "others": data.get("others", {})}
    numbered["other_replies"] = data.get("other_replies", {})
    said = {"questions": "an owl", "others": "2", "other_replies": "different"}
    for name, listed in numbered.items():
        if listed:
            return json.dumps(dict.fromkeys(listed, said[name]))
    if "aspect" in data:
        return "[]"
    return "[[A]]" if "story_a" in data else "It holds together.\nRating: 4"


def scored(log: EvalLog, scorer: Scorer, grader: Callable[[str], str] = reply) -> dict[str, Score]:
    """The scores of a log's samples by their ids, after `inspect score`."""
    done = score_again(
        log, scorer, model_roles={"grader": Script(grader).model()}, action="overwrite", display="none", copy=True
    )
    assert done.status == "success", done.error
    found = {str(sample.id): next(iter((sample.scores or {}).values())) for sample in done.samples or []}
    assert sorted(found) == sorted(REASON)
    return found


def assert_unscored(score: Score, name: str, reason: str) -> None:
    assert score.reason == reason
    assert isinstance(score.value, dict)
    assert tuple(score.value) == tuple(KEYS[name])
    assert all(isinstance(value, float) and math.isnan(value) for value in score.value.values())
    assert (score.explanation or "").startswith("Not scored: ")
    assert (score.metadata or {})["signature"].startswith(f"measure:{name}|")


@pytest.mark.parametrize("name", PLAIN)
def test_a_text_has_every_key_and_whatever_is_no_document_one_reason(
    name: str, folder: str, unscored_log: EvalLog
) -> None:
    scores = scored(unscored_log, PLAIN[name](folder))
    text = scores.pop("text")
    assert text.reason is None
    assert isinstance(text.value, dict)
    assert tuple(text.value) == tuple(KEYS[name])
    assert not any(math.isnan(float(str(value))) for value in text.value.values())
    signature = (text.metadata or {})["signature"]
    for sample, score in scores.items():
        assert_unscored(score, name, str(REASON[sample]))
        if name != "novelty_bench":  # whose signature says how many replies there are
            assert (score.metadata or {})["signature"] == signature
        assert ("prompt" in (score.metadata or {})) == (name != "coherence")


@pytest.mark.parametrize("name", ASKING)
def test_a_grader_that_cannot_be_reached_is_one_reason(name: str, folder: str, unscored_log: EvalLog) -> None:
    def refuse(request: str) -> str:
        raise ConnectionError("no route | <b>")

    scores = scored(unscored_log, PLAIN[name](folder), refuse)
    assert_unscored(scores["text"], name, "grader_failed")
    assert "ConnectionError: no route" in (scores["text"].explanation or "")
    for sample in ("silence", "refusal", "failure"):
        assert_unscored(scores[sample], name, str(REASON[sample]))


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """OpenAI's address is a port of this machine where nobody listens, and its client does not wait."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setattr("genie_inspect.engines.requests.FIRST_WAIT", 0.001)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    _client.cache_clear()
    yield
    _client.cache_clear()


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("name", EMBEDDING)
def test_an_embedding_server_that_is_down_is_one_reason(name: str, folder: str, unscored_log: EvalLog) -> None:
    scores = scored(unscored_log, EMBEDDING[name](folder))
    assert_unscored(scores["text"], name, "engine_failed")
    assert f"embedder {SERVED} failed" in (scores["text"].explanation or "")
    for sample in ("silence", "refusal", "failure"):
        assert_unscored(scores[sample], name, str(REASON[sample]))


def state(text: str = STORY) -> TaskState:
    """A sample whose document is the text."""
    return TaskState(
        model=ModelName("mockllm/model"), sample_id=1, epoch=1, input=OWL, messages=[], output=output(text)
    )


@pytest.mark.anyio
@pytest.mark.parametrize("error", [kind("it | failed") for kind in REASONS])
async def test_each_failure_that_costs_one_score_has_its_reason(error: GenieError) -> None:
    async def fail() -> Score:
        raise error

    score = await scored_or_reason(state(), ["a", "b"], {"signature": "s"}, fail)
    expected = {
        GraderFailedError: "grader_failed",
        EngineFailedError: "engine_failed",
        UnreadableReplyError: "invalid_response_format",
        RefusalError: "refusal",
    }
    assert score.reason == expected[type(error)]
    assert (score.answer, score.explanation, score.metadata) == (STORY, "Not scored: it \\| failed", {"signature": "s"})
    assert isinstance(score.value, dict)
    assert list(score.value) == ["a", "b"]


@pytest.mark.anyio
@pytest.mark.parametrize("error", [ZeroDivisionError("ours"), PrerequisiteError("set-up"), PopulationError("changed")])
async def test_a_fault_of_ours_and_a_wrong_set_up_raise(error: Exception) -> None:
    async def fail() -> Score:
        raise error

    with pytest.raises(type(error)):
        await scored_or_reason(state(), ["a"], {"signature": "s"}, fail)


@pytest.mark.anyio
async def test_without_a_document_nothing_is_measured() -> None:
    async def never() -> Score:
        raise AssertionError("measured")

    assert (await scored_or_reason(state("..."), ["a"], {}, never)).reason == "no_response"


NOWHERE = "'nowhere', expected abstracts, starter or a folder that holds population.json"
EMBEDDER = (
    "'word2vec', expected static, openai/<model>[#<tokens that it reads>] or sentence-transformers/<hub id or folder>"
)
TEMPLATES = "folder 'nowhere' does not exist, expected a folder of *.md files"
EQUIVALENCE = "'bert', expected grader, embedded, classifier or classifier/<hub id or folder>"
WRONG: list[tuple[Callable[..., Scorer], str, Any, str]] = [
    (genie, "population", "nowhere", f"population is {NOWHERE}"),
    (genie, "judge", "kind", "judge is 'kind', expected one of list, pairwise, logit, vectors, embedded"),
    (genie, "embedder", "word2vec", f"embedder is {EMBEDDER}"),
    (genie, "templates", "nowhere", f"templates {TEMPLATES}"),
    (genie, "min_coverage", 1.01, "min_coverage is 1.01, expected 0 to 1"),
    (genie, "min_coverage", -0.01, "min_coverage is -0.01, expected 0 to 1"),
    (genie, "min_coverage", math.nan, "min_coverage is nan, expected 0 to 1"),
    (genie, "min_coverage", "half", "min_coverage is 'half', expected 0 to 1"),
    (cosine, "population", "nowhere", f"population is {NOWHERE}"),
    (cosine, "embedder", "word2vec", f"embedder is {EMBEDDER}"),
    (compression, "population", "nowhere", f"population is {NOWHERE}"),
    (compression, "codec", "brotli", "codec is 'brotli', expected one of gzip, xz, zstd"),
    (creativity_index, "population", "nowhere", f"population is {NOWHERE}"),
    (creativity_index, "corpus", "nowhere", f"corpus is 'nowhere', expected {corpora.ACCEPTED}"),
    (creativity_index, "matcher", "fuzzy", "matcher is 'fuzzy', expected one of exact, near"),
    (creativity_index, "embedder", "word2vec", f"embedder is {EMBEDDER}"),
    (expression_novelty, "population", "nowhere", f"population is {NOWHERE}"),
    (expression_novelty, "corpus", "nowhere", f"corpus is 'nowhere', expected {corpora.ACCEPTED}"),
    (expression_novelty, "floor", 0.0, "floor is 0.0, expected above 0, to 1"),
    (expression_novelty, "case", "lower", "case is 'lower', expected one of either, kept"),
    (partition, "population", "nowhere", f"population is {NOWHERE}"),
    (partition, "equivalence", "bert", f"equivalence is {EQUIVALENCE}"),
    (partition, "embedder", "word2vec", f"embedder is {EMBEDDER}"),
    (partition, "templates", "nowhere", f"templates {TEMPLATES}"),
    (litbench, "population", "nowhere", f"population is {NOWHERE}"),
    (litbench, "opponents", 0, "opponents is 0, expected a whole number of at least 1"),
    (litbench, "opponents", "all", "opponents is 'all', expected a whole number of at least 1"),
    (litbench, "opponents", True, "opponents is True, expected a whole number of at least 1"),
    (litbench, "opponents", 2.5, "opponents is 2.5, expected a whole number of at least 1"),
    (litbench, "templates", "nowhere", f"templates {TEMPLATES}"),
    (close_reading, "sensical", "no", "sensical is 'no', expected true or false"),
    (close_reading, "examples", "nowhere", "nowhere cannot be read: No such file or directory"),
    (close_reading, "templates", "nowhere", f"templates {TEMPLATES}"),
    (coherence, "by", "judge", "by is 'judge', expected grader or reward/<hub id or folder>"),
    (coherence, "templates", "nowhere", f"templates {TEMPLATES}"),
    (novelty_bench, "equivalence", "bert", f"equivalence is {EQUIVALENCE}"),
    (novelty_bench, "quality", "best", "quality is 'best', expected grader, reward or reward/<hub id or folder>"),
    (novelty_bench, "embedder", "word2vec", f"embedder is {EMBEDDER}"),
    (novelty_bench, "patience", 1.5, "patience is 1.5, expected 0 to 1"),
    (novelty_bench, "patience", "long", "patience is 'long', expected 0 to 1"),
    (novelty_bench, "templates", "nowhere", f"templates {TEMPLATES}"),
]


@pytest.mark.parametrize(("scorer", "option", "value", "message"), WRONG)
def test_a_wrong_option_is_one_line_that_names_it_and_what_would_work(
    scorer: Callable[..., Scorer], option: str, value: object, message: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        scorer(**{option: value})
    assert str(refused.value) == message


@pytest.mark.parametrize("option", ["judge=kind", "min_coverage=half"])
def test_inspect_score_shows_a_wrong_option_as_that_line(option: str, unscored_log: EvalLog, tmp_path: Path) -> None:
    name, value = option.split("=")
    arguments = ["--scorer", "genie_inspect/genie", "-S", option, "--display", "plain"]
    with Commands(tmp_path) as commands:
        ended = commands.run("score", unscored_log.location, *arguments, program="inspect")
    said = " ".join((ended.stdout + ended.stderr).split())
    assert ended.code == 1
    assert f"{name} is '{value}', expected" in said
    assert "Traceback" not in said
    assert "couldn't be loaded" not in said


def test_a_value_has_three_digits_after_the_point_and_below_a_tenth_three_in_all() -> None:
    kept = rounded(Score(value={"a": 2 / 3, "b": -0.000710562, "c": 14.0, "d": math.nan, "e": 1}, answer="x")).value
    assert isinstance(kept, dict)
    assert [kept[key] for key in "abce"] == [0.667, -0.000711, 14.0, 1]
    assert math.isnan(float(str(kept["d"])))
