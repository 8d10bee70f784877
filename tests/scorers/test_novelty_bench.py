"""NoveltyBench as a task: k replies in one sample, their kinds and what they are worth."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import CachePolicy
from inspect_ai.scorer import Score
from inspect_ai.solver import Generate, Solver, TaskState, solver
from tests.scripted import Script, is_unscored, metadata, saying, scored, scores, values
from tests.tasks.runs import run as run_task

from genie_inspect.engines.embedders import embedder
from genie_inspect.prompting.templates import unfenced
from genie_inspect.samples import keep_generations
from genie_inspect.scorers.novelty_bench import novelty_bench as scorer
from genie_inspect.solvers.generations import cache_for
from genie_inspect.tasks.novelty_partition import novelty_partition

PROMPT = "Name a colour."
REFUSAL = "I'm sorry, but I can't help with that."


def grading(request: str) -> str:
    """A grader to whom replies of one first letter are the same, and a reply's length its quality."""
    data = unfenced(request)
    if "other_replies" in data:
        first = data["reply"][0]
        verdicts = {n: "same" if other[0] == first else "different" for n, other in data["other_replies"].items()}
        return json.dumps(verdicts)
    return f"Its length.\nRating: {len(data['reply'])}"


def run(folder: Path, writer: Script, grader: Script | None = None, cache: bool = False, **options: Any) -> Score:
    dataset = folder / "prompts.jsonl"
    dataset.write_text(json.dumps({"prompt": PROMPT}) + "\n")
    task = novelty_partition(dataset=str(dataset), **options)
    log = run_task(task, folder, writer, grader or Script(grading), cache=cache)
    (score,) = scores(log, "novelty_bench")
    return score


def test_kinds_and_utility_of_the_replies(tmp_path: Path) -> None:
    writer, grader = saying("red", "rose", "blue", "red"), Script(grading)
    score = run(tmp_path, writer, grader, k=4)
    # kinds: r r b r; qualities 3 and 4 at places 0 and 2; weights 1, .8, .64, .512 sum to 2.952
    assert values(score) == {"distinct": 2.0, "utility": pytest.approx((3 + 0.64 * 4) / 2.952, abs=5e-4)}
    assert metadata(score)["classes"] == [0, 0, 1, 0]
    assert metadata(score)["quality"] == [3.0, None, 4.0, None]
    # rated are the first of each kind alone
    assert sorted(data["reply"] for data in grader.data if "other_replies" not in data) == ["blue", "red"]
    assert "| 3 | 1 | 4 | blue |" in (score.explanation or "")


def test_the_published_settings_reach_the_model(tmp_path: Path) -> None:
    writer = saying("red")
    run(tmp_path, writer)
    assert len(writer.requests) == 10
    assert {(config.temperature, config.max_tokens) for config in writer.configs} == {(1.0, 512)}


@pytest.mark.parametrize(("reply", "facts"), [("", {"empty": 2, "refused": 0}), (REFUSAL, {"empty": 2, "refused": 2})])
def test_an_empty_reply_and_a_refusal_are_no_kind_and_worth_nothing(
    reply: str, facts: dict[str, int], tmp_path: Path
) -> None:
    score = run(tmp_path, saying(reply, "red", reply or " \n", "blue"), k=4)
    assert values(score) == {"distinct": 2.0, "utility": pytest.approx((0.8 * 3 + 0.512 * 4) / 2.952, abs=5e-4)}
    assert metadata(score)["classes"] == [None, 0, None, 1]
    assert facts.items() <= metadata(score).items()


@pytest.mark.parametrize(("about", "distinct", "undecided"), [("kinds", math.nan, 1), ("quality", 2, 0)])
def test_a_grader_that_babbles_about_kinds_leaves_both_unknown_and_about_quality_the_kinds(
    about: str, distinct: float, undecided: int, tmp_path: Path
) -> None:
    def babbling(request: str) -> str:
        return grading(request) if ("other_replies" in unfenced(request)) != (about == "kinds") else "Hm."

    score = run(tmp_path, saying("red", "blue"), Script(babbling), k=2)
    assert values(score) == pytest.approx({"distinct": distinct, "utility": math.nan}, nan_ok=True)
    assert metadata(score)["undecided"] == undecided


def test_the_signature_says_who_judged_kinds_and_quality(tmp_path: Path) -> None:
    score = run(tmp_path, saying("red", "blue"), k=2, equivalence="embedding")
    equivalence = f"embedding({embedder().identity},threshold=0.79)"
    assert f"equivalence:{equivalence}|quality:grader(mockllm/model" in metadata(score)["signature"]
    assert "|k:2|patience:0.8|" in metadata(score)["signature"]
    other = run(tmp_path, saying("red", "blue"), k=2, equivalence="embedding", threshold=0.5)
    assert ",threshold=0.5)|" in metadata(other)["signature"]


def test_the_scorer_without_the_solver_says_what_is_missing(tmp_path: Path) -> None:
    score = scored(scorer(patience=0.6), saying("red"), Script(grading), tmp_path)
    assert "run the task novelty_partition" in (score.reason or "")
    assert "|k:0|patience:0.6|" in metadata(score)["signature"]


def test_a_policy_of_the_users_keeps_its_expiry_and_scopes() -> None:
    policy = cache_for(3, CachePolicy(expiry="1h", scopes={"study": "a"}))
    assert isinstance(policy, CachePolicy)
    assert (policy.expiry, policy.scopes) == ("1h", {"study": "a", "generations": "3"})


def test_cached_replies_differ_as_the_first_ones_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect-cache"))
    kinds = [
        values(run(tmp_path, writer, cache=True, k=3))["distinct"]
        for writer in (saying("red", "blue", "green"), saying("never"))
    ]
    assert kinds == [3.0, 3.0]


@pytest.mark.parametrize(("replies", "reason"), [((REFUSAL, ""), "refusal"), (("", REFUSAL), "no_response")])
def test_where_no_reply_is_a_document_the_first_says_why_whatever_a_later_solver_wrote(
    replies: tuple[str, str], reason: str, tmp_path: Path
) -> None:
    @solver
    def keeping() -> Solver:
        async def keep(state: TaskState, generate: Generate) -> TaskState:
            keep_generations(state, replies)
            return await generate(state)

        return keep

    grader = Script(grading)
    made = scorer(equivalence="embedding")
    score = scored(made, saying("A text."), grader, tmp_path, solver=keeping())
    assert (score.reason, score.answer, score.explanation) == (reason, "", f"Not scored: {reason}.")
    assert is_unscored(score)
    assert grader.requests == []


def test_instructions_of_ones_own_reach_both_graders(tmp_path: Path) -> None:
    own = tmp_path / "templates"
    own.mkdir()
    (own / "same_list.md").write_text("MY KINDS of $count.\n$data", encoding="utf-8")
    (own / "rate_quality.md").write_text("MY QUALITY.\n$data", encoding="utf-8")
    grader = Script(grading)
    run(tmp_path, saying("red", "blue"), grader, k=2, templates=str(own))
    assert {request.split("\n")[0] for request in grader.requests} == {"MY KINDS of 1.", "MY QUALITY."}
