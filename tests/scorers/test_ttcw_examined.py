"""The score of one story by a critic's tests: every part of it, from a critic that always says the same."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import Model
from inspect_ai.scorer import Score
from tests.scripted import Script, saying, written

from genie_inspect.graders.critic import Critic, Critique, Judgement, Opinion
from genie_inspect.graders.rubrics import Instructions, Rubric, Test
from genie_inspect.scorers.ttcw import MOST_BYTES, evidence, examined, explained, ttcw

RUBRIC = Rubric(name="mine", tests=(Test(id="a", name="is it so", question="Is it?"),))
STORY, OTHER = "A grey owl waits.", "A white owl sleeps, and then another one does too."


async def score_of(
    reply: str, reference: str | None = OTHER, cutoff: int | None = 0, **metadata: Any
) -> tuple[Score, Critic]:
    critic = Critic(saying(reply).model(), Instructions.load(reference=reference is not None), repeats=0)
    state = written(STORY, "Owl! " * 100, **metadata)
    return await examined(state, reference, critic, RUBRIC, cutoff, {"generator": "none"}), critic


async def test_a_story_beside_a_reference_has_a_score_with_all_that_it_rests_on() -> None:
    score, critic = await score_of("A: plain. B: bold.\n\n[[A=B]]", references="abc123")
    assert score.value == {"mine_total": 1.0, "mine_a": 1.0}
    assert (score.answer, score.reason) == (STORY, None)
    facts = score.metadata or {}
    assert (facts["judge"], facts["judged"], facts["prompt"]) == (critic.signature, 1, ("Owl! " * 100)[:159] + "…")
    assert facts["signature"] == (
        f"measure:ttcw|judge:{critic.signature}|generator:none|stories:abc123|cutoff:0|version:1-A"
    )
    assert "this document" not in (score.explanation or "")
    assert "Unlike lengths, which do not compare well: 4 words, the reference has 10." in (score.explanation or "")


async def test_the_cutoff_decides_and_a_story_alone_has_none() -> None:
    above, _ = await score_of("A: plain. B: bold.\n\n[[A=B]]", cutoff=1)
    assert above.value == {"mine_total": 0.0, "mine_a": 0.0}
    alone, _ = await score_of("Fine.\n\n[[YES]]", reference=None, cutoff=None)
    assert alone.value == {"mine_total": 1.0, "mine_a": 1.0}
    signature = (alone.metadata or {})["signature"]
    assert "cutoff" not in signature
    assert "|stories:unknown|" in signature
    assert "Unlike" not in (alone.explanation or "")


@pytest.mark.parametrize("reference", ["", " -- \n"])
async def test_without_a_word_in_the_reference_nothing_is_asked(reference: str) -> None:
    score, _ = await score_of("[[A=B]]", reference=reference)
    assert (score.reason, score.explanation) == ("no reference story", "Not scored: no reference story.")
    assert isinstance(score.value, dict)
    assert all(math.isnan(float(str(value))) for value in score.value.values())
    assert set(score.value) == {"mine_total", "mine_a"}
    assert set(score.metadata or {}) == {"signature", "judge", "prompt"}


async def test_where_no_test_could_be_judged_the_reason_is_an_unreadable_reply() -> None:
    score, _ = await score_of("Hm.")
    assert score.reason == "invalid_response_format"
    assert (score.metadata or {})["faults"] == {"unreadable reply": 2}


EVEN = Opinion(0, "As good. [[A=B]]")
LOST = Opinion(None, "Hm.", "unreadable reply")
FAILED = Opinion(None, fault="grader failed", failed=True)
EXPLANATION_RUBRIC = Rubric(
    name="mine",
    tests=tuple(
        Test(id=name, name=f"is it {name}", question="Is it?", dimension=dimension)
        for name, dimension in {"a": "form", "b": "form", "c": "sense"}.items()
    ),
)


def critique(*opinions: tuple[Opinion, ...], cutoff: int | None = -2) -> Critique:
    """Three tests, of which each has these opinions."""
    found = (Judgement(test, own) for test, own in zip(EXPLANATION_RUBRIC.tests, opinions, strict=True))
    return Critique(EXPLANATION_RUBRIC, tuple(found), cutoff)


def rows(found: Critique) -> list[list[str]]:
    """The cells of each test's row."""
    lines = [line for line in explained(found, "a story", "a story").splitlines() if line.startswith("| ")]
    return [[part.strip() for part in line.strip("| ").split(" | ")] for line in lines[1:]]


def test_coverage_counts_the_judged_tests_behind_each_key() -> None:
    assert evidence(critique((EVEN, EVEN), (EVEN, LOST), (EVEN, EVEN)))["coverage"] == {
        "mine_total": "2/3",
        "mine_form": "1/2",
        "mine_sense": "1/1",
        "mine_a": "1/1",
        "mine_b": "0/1",
        "mine_c": "1/1",
    }


def test_how_far_the_orders_agree_is_told_of_the_judged_tests_alone() -> None:
    ahead = Opinion(1, "[[A>B]]")
    found = evidence(critique((ahead, ahead), (EVEN, LOST), (EVEN, EVEN)))
    # of two judged tests one, in which whichever stood first won; (1 + 0) / 2 points for standing first
    assert (found["order_disagreement"], found["position_bias"]) == (0.5, 0.5)
    assert (found["first_place_wins_both"], found["second_place_wins_both"]) == (1, 0)
    assert (found["judged"], found["not_judged"]) == (2, 1)
    assert found["faults"] == {"unreadable reply": 1}


@pytest.mark.parametrize(("wins", "is_biased"), [(2, True), (1, True), (0, False)])
def test_a_critic_is_biased_from_half_of_the_judged_tests_on(wins: int, is_biased: bool) -> None:
    ahead = Opinion(1, "[[A>B]]")
    tests = [(ahead, ahead)] * wins + [(EVEN, EVEN)] * (2 - wins) + [(EVEN, LOST)]
    assert ("biased by position" in explained(critique(*tests), "a story", "a story")) == is_biased


def test_where_nothing_was_judged_nothing_is_known_of_the_orders() -> None:
    found = evidence(critique(*[(LOST, LOST)] * 3))
    assert (found["order_disagreement"], found["position_bias"]) == (None, None)
    assert (found["first_place_wins_both"], found["second_place_wins_both"]) == (0, 0)
    assert [row["orders_agree"] for row in found["tests"]] == [None] * 3


def test_an_order_without_a_reply_has_no_phrase_in_the_row() -> None:
    first, second, third = rows(critique((EVEN, FAILED), (FAILED, EVEN), (EVEN, EVEN)))
    assert first == ["a is it a", "even", "none: grader failed", "", "not judged", "As good."]
    assert second == ["b is it b", "none: grader failed", "even", "", "not judged", "As good."]
    assert third == ["c is it c", "even", "even", "0", "yes", "As good.; As good."]


@pytest.mark.parametrize(
    ("points", "degree"), [(1, "better"), (2, "much better"), (3, "better by far"), (-2, "much better")]
)
def test_a_verdict_is_worded_by_who_is_better_and_how_much(points: int, degree: str) -> None:
    (row, *_) = rows(critique(*[(Opinion(points, "As it is."), Opinion(points, "As it is."))] * 3))
    sides = ("reference", "candidate") if points > 0 else ("candidate", "reference")
    # the reference stands first, then the candidate
    assert row[1:3] == [f"{side} {degree}" for side in sides]


def test_the_log_keeps_what_the_critic_said_of_a_test_or_why_there_is_nothing() -> None:
    found = evidence(critique((EVEN, FAILED), (LOST, EVEN), (EVEN, EVEN)))
    assert [row["critic"] for row in found["tests"]] == [
        ["As good.", "grader failed"],
        ["Hm.", "As good."],
        ["As good.", "As good."],
    ]


@pytest.mark.parametrize("cutoff", [-2, None])
def test_a_long_fault_and_a_long_reply_are_cut_and_markup_in_them_is_text(cutoff: int | None) -> None:
    fault, words = "no|route " * 40, "dull*plot " * 40
    lost = Opinion(None, fault=fault, failed=True)
    said = Opinion(1, f"{words}[[YES]]")
    opinions = [(lost,), (said,), (said,)] if cutoff is None else [(lost, lost), (said, said), (said, said)]
    failed, judged, _ = rows(critique(*opinions, cutoff=cutoff))
    # 160 characters, the ellipsis among them; a backslash before whatever would be markup
    assert failed[1] == "none: " + (fault[:159] + "…").replace("|", "\\|")
    phrases = (words[:159] + "…").replace("*", "\\*")
    assert judged[-1] == (phrases if cutoff is None else f"{phrases}; {phrases}")


def test_the_name_of_a_test_is_text() -> None:
    test = Test(id="x", name="a|b *c*", question="Is it?")
    rubric = Rubric(name="mine", tests=(test,))
    found: Any = Critique(rubric, (Judgement(test, (EVEN, EVEN)),), -2)
    assert explained(found, "a", "a").splitlines()[2].startswith("| x a\\|b \\*c\\* | even | even |")
    assert math.isnan(Critique(rubric, (Judgement(test, (EVEN, LOST)),), -2).value["mine_x"])


def test_shares_and_points_are_kept_with_four_digits() -> None:
    ahead = Opinion(1, "[[A>B]]")
    found = evidence(critique((ahead, ahead), (EVEN, EVEN), (EVEN, EVEN)))
    assert (found["order_disagreement"], found["position_bias"]) == (0.3333, 0.3333)


def test_the_log_keeps_phrases_as_long_as_all_of_it_has_no_more_than_8_000_bytes() -> None:
    whole = critique((EVEN, EVEN), (EVEN, EVEN), (EVEN, EVEN))
    room = MOST_BYTES - len(json.dumps(evidence(whole, note="")).encode())
    assert all("critic" in row for row in evidence(whole, note="x" * room)["tests"])
    assert not any("critic" in row for row in evidence(whole, note="x" * (room + 1))["tests"])
    # half as many characters of two bytes
    assert all("critic" in row for row in evidence(whole, note="é" * (room // 2))["tests"])
    assert not any("critic" in row for row in evidence(whole, note="é" * (room // 2 + 1))["tests"])


def test_where_nothing_was_judged_no_place_is_preferred() -> None:
    assert "biased" not in explained(critique(*[(LOST, LOST)] * 3), "a story", "a story")


@pytest.mark.parametrize(("words", "others", "unlike"), [(3, 2, False), (4, 6, False), (7, 4, True), (2, 4, True)])
def test_stories_whose_lengths_differ_by_more_than_half_are_named(words: int, others: int, unlike: bool) -> None:
    said = explained(critique(*[(EVEN, EVEN)] * 3), "word " * words, "word " * others)
    note = f"Unlike lengths, which do not compare well: {words} words, the reference has {others}."
    assert (note in said) == unlike
    assert ("Unlike" in said) == unlike


def test_a_story_alone_is_of_no_unlike_length() -> None:
    yes = Opinion(1, "[[YES]]")
    assert "Unlike" not in explained(critique((yes,), (yes,), (yes,), cutoff=None), "a story", "")


def test_a_third_of_the_tests_won_by_place_is_no_bias() -> None:
    ahead = Opinion(1, "[[A>B]]")
    said = explained(critique((ahead, ahead), (EVEN, EVEN), (EVEN, EVEN)), "a story", "a story")
    assert "biased by position" not in said


AHEAD, BEHIND = Opinion(1, "A is livelier. [[A>B]]"), Opinion(-2, "B is livelier. [[B>>A]]")


def test_the_whole_of_what_a_reader_sees_of_a_critic_that_prefers_a_place() -> None:
    said = explained(critique((AHEAD, AHEAD), (AHEAD, BEHIND), (EVEN, LOST), cutoff=0), "a story", "a story")
    assert said.splitlines()[2:] == [
        "| a is it a | reference better | candidate better | 0 ⇄ | yes | A is livelier.; A is livelier. |",
        "| b is it b | reference better | reference much better | -3 | no | A is livelier.; B is livelier. |",
        "| c is it c | even | none: unreadable reply |  | not judged | As good.; Hm. |",
        "",
        "**Passed 1 of 2 judged tests.** A test passes from a score of 0 on.",
        "",
        "1 of 3 tests are not judged, verdicts missing: 1 unreadable reply.",
        "",
        "The two orders name different stories in 1 of 2 tests (⇄).",
        "",
        "**The critic is biased by position:** whichever story stood first won both times in 1 of 2 tests. Such a "
        "preference cancels in the score; by itself it scores 0, and 0 passes at any cutoff up to 0.",
    ]
    second = explained(critique((BEHIND, BEHIND), (BEHIND, AHEAD), (EVEN, EVEN)), "a story", "a story")
    assert "+3" in second
    assert "biased" not in second
    assert "whichever story stood second won both times in 3 of 3 tests" in explained(
        critique(*[(BEHIND, BEHIND)] * 3), "a story", "a story"
    )


def test_of_a_story_alone_a_reader_sees_yes_and_no() -> None:
    yes, no, lost = Opinion(1, "Fine. [[YES]]"), Opinion(0, "Flat. [[NO]]"), Opinion(None, fault="a|b", failed=True)
    assert explained(critique((yes,), (no,), (lost,), cutoff=None), "a story", "").splitlines() == [
        "| test | yes/no | the critic in short |",
        "|:--|:--|:--|",
        "| a is it a | yes | Fine. |",
        "| b is it b | no | Flat. |",
        "| c is it c | none: a\\|b |  |",
        "",
        "**Passed 1 of 2 judged tests.**",
        "",
        "1 of 3 tests are not judged, verdicts missing: 1 a\\|b.",
    ]
    assert explained(critique(*[(lost,)] * 3, cutoff=None), "a", "").splitlines()[6] == "**No test could be judged.**"


def test_the_log_has_a_row_a_test_with_verdicts_score_and_what_came_of_it() -> None:
    long = Opinion(None, fault="x" * 300, failed=True)
    found = evidence(critique((AHEAD, AHEAD), (AHEAD, BEHIND), (EVEN, long), cutoff=0), judge="me")
    assert (found["judge"], found["ratings"]) == ("me", {"count": 5, "lowest": -2, "highest": 1})
    assert found["faults"] == {"x" * 199 + "…": 1}
    assert [{key: row[key] for key in row if key != "critic"} for row in found["tests"]] == [
        {"id": "a", "verdicts": [1, 1], "pass": True, "score": 0, "orders_agree": False},
        {"id": "b", "verdicts": [1, -2], "pass": False, "score": -3, "orders_agree": True},
        {"id": "c", "verdicts": [0, None], "pass": None, "score": None, "orders_agree": None},
    ]


def test_phrases_get_shorter_step_by_step_and_a_table_that_never_fits_is_counted() -> None:
    said = Opinion(1, "word " * 50 + "[[A>B]]")
    whole = critique(*[(said, said)] * 3)
    lengths = {len(evidence(whole, note="x" * room)["tests"][0].get("critic", [""])[0]) for room in range(0, 7500, 100)}
    assert lengths == {200, 120, 60, 0}
    assert evidence(whole, note="x" * 8000)["tests"] == "3 tests: too many to keep here"


STUDY_RUBRIC = "name: mine\ntests:\n- id: pace\n  name: pace\n  question: Is it quick?\n"


def judged(folder: Path, roles: dict[str, str | Model], target: str) -> EvalLog:
    (folder / "rubric.yaml").write_text(STUDY_RUBRIC, encoding="utf-8")
    critic = ttcw(str(folder / "rubric.yaml"), cache=False)
    (log,) = evaluate(
        Task([Sample(input="Write about a bee.", target=target)], scorer=critic),
        model=saying("A story about a bee.").model(),
        model_roles=roles,
        log_dir=str(folder),
        display="none",
    )
    return log


def test_half_a_character_in_the_reference_is_read_as_its_replacement(tmp_path: Path) -> None:
    critic = Script(lambda request: "[[A=B]]")
    assert judged(tmp_path, {"grader": critic.model()}, "A bee \ud83d flew.").status == "success"
    assert len(critic.requests) == 2, "one test in both orders"
    assert all("A bee \N{REPLACEMENT CHARACTER} flew." in request for request in critic.requests)


@pytest.mark.parametrize(
    ("roles", "message"),
    [({}, "Name one:"), ({"grader": "bundled/grader"}, "bundled/grader has its readings on record")],
)
def test_only_a_real_grader_can_be_the_critic(roles: dict[str, str | Model], message: str, tmp_path: Path) -> None:
    log = judged(tmp_path, roles, "A fine story.")
    assert log.status == "error"
    assert log.error is not None
    assert message in log.error.message
    assert "judge=embedded" not in log.error.message
