"""The scorer `ttcw`: real evaluations by a scripted critic, and each part of a score."""

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai import score as rescore
from inspect_ai._eval.loader import scorer_from_spec  # how `inspect score` makes a scorer, in no public way
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from inspect_ai.scorer._scorer import ScorerSpec
from tests.critics import better, comparing
from tests.scripted import Script, is_unscored, metadata, output, saying, values

from genie_inspect.graders.cache import Cache
from genie_inspect.graders.critic import Critique, Judgement, Opinion
from genie_inspect.graders.grader import RefusedError
from genie_inspect.graders.rubrics import Rubric, Test, load_rubric
from genie_inspect.scorers.explanation import MOST_BYTES
from genie_inspect.scorers.ttcw import evidence, explained, ttcw
from genie_inspect.signature import Signature

REFERENCE = "A fine story about a bee."
KEYS = load_rubric("ttcw").keys
NAMES = [test.name for test in load_rubric("ttcw").tests]


def scored(
    critic: Script, text: str | ModelOutput = "A new story about a bee.", target: str = REFERENCE, **options: Any
) -> Score:
    log = evaluated(critic, text, target, **options)
    assert log.status == "success", log.error
    assert log.samples
    assert log.samples[0].scores
    return log.samples[0].scores["ttcw"]


def evaluated(
    critic: Script,
    text: str | ModelOutput,
    target: str = REFERENCE,
    prompt: str = "Write about a bee.",
    facts: dict[str, str] | None = None,
    **options: Any,
) -> EvalLog:
    writer = saying(text) if isinstance(text, str) else Script(lambda request: text)
    [log] = evaluate(
        Task(dataset=[Sample(id="bee", input=prompt, target=target, metadata=facts)], scorer=ttcw(**options)),
        model=writer.model(),
        model_roles={"grader": critic.model()},
        display="none",
        log_realtime=False,
    )
    return log


@pytest.fixture(autouse=True)
def _logs_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_story_as_good_as_the_reference_passes_every_test() -> None:
    score = scored(comparing(lambda a, b, aspect: 0))
    assert values(score) == {key: 14.0 if key == "ttcw_total" else 1.0 for key in KEYS}
    assert list(values(score)) == list(KEYS)
    assert metadata(score)["order_disagreement"] == 0
    assert metadata(score)["judged"] == 14


def test_dimensions_are_shares_of_their_own_tests() -> None:
    # the candidate is much worse in the first two of the five tests of fluency, and in all of elaboration
    worse = {*NAMES[:2], *NAMES[11:]}
    found = values(scored(comparing(lambda a, b, aspect: better(2 if aspect in worse else 0, "fine")(a, b, aspect))))
    assert found["ttcw_total"] == 9
    assert found["ttcw_fluency"] == 3 / 5
    assert found["ttcw_elaboration"] == 0
    assert (found["ttcw_01"], found["ttcw_03"]) == (0, 1)


@pytest.mark.parametrize(
    ("points", "bias", "place", "wins"), [(2, 2.0, "first", (14, 0)), (-1, -1.0, "second", (0, 14))]
)
def test_a_critic_that_prefers_a_place_scores_0_and_is_called_biased(
    points: int, bias: float, place: str, wins: tuple[int, int]
) -> None:
    score = scored(comparing(lambda a, b, aspect: points))
    rows = metadata(score)["tests"]
    assert {row["score"] for row in rows} == {0}
    assert metadata(score)["position_bias"] == bias
    assert (metadata(score)["first_place_wins_both"], metadata(score)["second_place_wins_both"]) == wins
    assert metadata(score)["order_disagreement"] == 1
    assert f"biased by position:** whichever story stood {place} won both times in 14 of 14 tests" in str(
        score.explanation
    )


def test_a_critic_that_babbles_judges_nothing_and_the_reason_says_so() -> None:
    script = saying("It depends on the reader.")
    score = scored(script)
    assert is_unscored(score)
    assert score.reason == "invalid_response_format"
    assert metadata(score)["faults"] == {"unreadable reply": 28}
    assert len(script.requests) == 28 * 3
    assert "No test could be judged" in str(score.explanation)


def test_a_total_with_tests_that_were_not_judged_says_how_many() -> None:
    score = scored(comparing(lambda a, b, aspect: "Hm." if aspect in NAMES[:2] else 0))
    found = values(score)
    assert found["ttcw_total"] == 12
    assert math.isnan(found["ttcw_01"])
    assert found["ttcw_fluency"] == 1
    assert metadata(score)["not_judged"] == 2
    assert metadata(score)["coverage"]["ttcw_fluency"] == "3/5"
    assert "Passed 12 of 12 judged tests" in str(score.explanation)
    assert "2 of 14 tests are not judged, verdicts missing: 4 unreadable reply." in str(score.explanation)


@pytest.mark.parametrize("target", ["", "* * *"])
def test_a_sample_whose_reference_has_no_word_is_not_scored(target: str) -> None:
    script = comparing(lambda a, b, aspect: 0)
    score = scored(script, target=target)
    assert score.reason == "no reference story"
    assert is_unscored(score)
    assert not script.requests


def test_without_a_reference_a_test_passes_on_yes_and_the_table_has_one_column_for_it() -> None:
    yes = {*NAMES[:5], NAMES[13]}
    score = scored(
        comparing(lambda a, b, aspect: "Hm." if aspect == NAMES[6] else int(aspect in yes)), target="", reference=False
    )
    numbers = values(score)
    assert list(numbers) == list(KEYS)
    assert (numbers["ttcw_total"], numbers["ttcw_fluency"], numbers["ttcw_elaboration"]) == (6, 1, 0.333)
    assert (numbers["ttcw_01"], numbers["ttcw_06"]) == (1, 0)
    assert math.isnan(numbers["ttcw_07"])
    assert "| 06 emotional flexibility | no | A stock ending. |" in str(score.explanation)
    assert "reference" not in str(score.explanation)
    assert "cutoff" not in metadata(score)["signature"]


def test_the_lowest_and_highest_verdict_are_in_the_metadata_so_that_a_critic_that_never_varies_can_be_named() -> None:
    def varied(a: str, b: str, aspect: str) -> int | str:
        return "Hm." if aspect == NAMES[0] else 2 if aspect == NAMES[1] else -1

    assert metadata(scored(comparing(varied)))["ratings"] == {"count": 26, "lowest": -1, "highest": 2}
    alone = comparing(lambda a, b, aspect: int(aspect == NAMES[0]))
    assert metadata(scored(alone, reference=False))["ratings"] == {"count": 14, "lowest": 0, "highest": 1}
    assert metadata(scored(saying("Hm."), rubric="gomez_williams"))["ratings"] == {
        "count": 0,
        "lowest": None,
        "highest": None,
    }


def test_another_cutoff_on_an_old_log_asks_nothing() -> None:
    critic, silent = comparing(better(1, "fine")), saying("I will not be asked.")
    log = evaluated(critic, "A new story about a bee.")
    assert len(critic.requests) == 28
    totals = []
    for cutoff in (-3, -2, -1, 0):
        rescored = rescore(log, [ttcw(cutoff=cutoff)], action="overwrite", model_roles={"grader": silent.model()})
        assert rescored.samples
        assert rescored.samples[0].scores
        score = rescored.samples[0].scores["ttcw"]
        totals.append(values(score)["ttcw_total"])
        assert Signature(metadata(score)["signature"]).facts["cutoff"] == str(cutoff)
        assert "A: plain. B: bold." in str(score.explanation)
    assert totals == [14, 14, 0, 0]
    assert not silent.requests


def test_told_not_to_look_into_the_cache_it_asks_anew_and_keeps_nothing() -> None:
    first, second = comparing(better(1, "fine")), comparing(lambda a, b, aspect: 0)
    scored(first, cache=False)
    assert Cache().counts()["verdicts"] == {}
    scored(first)
    score = scored(second, cache=False)
    assert (len(first.requests), len(second.requests)) == (2 * 28, 28)
    assert {row["score"] for row in metadata(score)["tests"]} == {0}


def test_what_a_killed_run_got_is_not_asked_again() -> None:
    asked: list[str] = []

    def dying(a: str, b: str, aspect: str) -> int:
        asked.append(aspect)
        if len(asked) > 10:
            raise KeyboardInterrupt
        return 0

    with suppress(KeyboardInterrupt):
        evaluated(comparing(dying), "A new story about a bee.")
    kept = sum(Cache().counts()["verdicts"].values())
    assert kept >= 2
    script = comparing(lambda a, b, aspect: 0)
    assert values(scored(script))["ttcw_total"] == 14
    assert len(script.requests) == 28 - kept


@pytest.mark.parametrize(("levels", "points", "in_force"), [(3, 0, -1), (5, 1, -2), (7, 1, -3)])
def test_each_scale_has_a_cutoff_of_its_own(levels: int, points: int, in_force: int) -> None:
    def falling(a: str, b: str, aspect: str) -> int:
        # one point below the reference in the one order, the rest of the cutoff in the other
        ahead = points if "fine" in a else -(-in_force - points)
        return ahead if aspect != NAMES[0] else ahead + (1 if "fine" in a else 0)

    score = scored(comparing(falling, levels), levels=levels)
    assert {row["score"] for row in metadata(score)["tests"][1:]} == {in_force}
    assert metadata(score)["tests"][0]["score"] == in_force - 1
    assert values(score)["ttcw_total"] == 13, "the cutoff itself passes, one below it does not"
    assert f"|cutoff:{in_force}|" in metadata(score)["signature"]
    assert f"A test passes from a score of {in_force} on." in str(score.explanation)


@pytest.mark.parametrize("levels", [3, 5, 7])
def test_a_cutoff_can_be_anywhere_between_passing_all_but_the_worst_and_passing_the_best_alone(levels: int) -> None:
    for cutoff in (2 - levels, levels - 1):
        ttcw(levels=levels, cutoff=cutoff)
    for cutoff in (1 - levels, levels):
        with pytest.raises(RefusedError, match=f"cutoff is {cutoff}, expected {2 - levels} to {levels - 1} with"):
            ttcw(levels=levels, cutoff=cutoff)


def test_a_reference_longer_than_the_window_is_one_clear_line() -> None:
    score = scored(Script(lambda request: output("maximum context length is 8192 tokens", "model_length")))
    assert score.reason == "grader_failed"
    assert str(score.explanation).startswith("Not scored: a request of ")
    assert "longer than the window of grader mockllm/model" in str(score.explanation)
    assert "\n" not in str(score.explanation)


def test_the_signature_names_all_that_the_numbers_depend_on() -> None:
    script = comparing(lambda a, b, aspect: 0)
    plain = metadata(scored(script))["signature"]
    for part in ("judge:critic(mockllm/model@", "rubric:ttcw@", "levels:5", "analyse:true", "reference:true"):
        assert part in plain
    assert "cutoff:-2" in plain
    assert "|stories:unknown|" in plain
    others: list[dict[str, Any]] = [
        {"cutoff": -1},
        {"analyse": False},
        {"reference": False},
        {"reference": False, "analyse": False},
        {"rubric": "gomez_williams"},
        {"levels": 7},
    ]
    signatures = {metadata(scored(script, **options))["signature"] for options in others}
    assert len(signatures | {plain}) == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": 4, "cutoff": -9}, "levels is 4, expected one of 3, 5, 7"),
        ({"rubric": "nothing"}, "rubric is 'nothing', expected one of ttcw"),
        ({"reference": False, "levels": 7}, "levels is 7, expected nothing with reference=false"),
        ({"reference": False, "cutoff": -2}, "cutoff is -2, expected nothing with reference=false"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused_when_the_scorer_is_made(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(RefusedError, match=message):
        ttcw(**options)
    # as `inspect score` makes it, which hides any other error behind "couldn't be loaded"
    with pytest.raises(RefusedError, match=message):
        scorer_from_spec(ScorerSpec("genie_inspect/ttcw"), None, **options)


def test_a_judge_that_contradicts_itself_between_epochs_is_averaged_and_each_epoch_stays_in_the_log() -> None:
    turns: list[int] = []

    def fickle(a: str, b: str, aspect: str) -> int:
        turns.append(1)
        return 0 if len(turns) <= 28 else better(2, "fine")(a, b, aspect)  # type: ignore[return-value]  # points

    [log] = evaluate(
        Task(dataset=[Sample(id="bee", input="Write.", target=REFERENCE)], scorer=ttcw(cache=False), epochs=2),
        model=saying("A new story.").model(),
        model_roles={"grader": comparing(fickle).model()},
        max_samples=1,
        display="none",
        log_realtime=False,
    )
    assert log.status == "success", log.error
    assert log.samples
    assert log.results
    totals = [values(sample.scores["ttcw"])["ttcw_total"] for sample in log.samples if sample.scores]
    assert sorted(totals) == [0, 14]
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}
    assert means["ttcw_total"] == 7


@pytest.mark.parametrize("reference", [True, False])
def test_a_critic_that_chooses_first_is_read_by_its_first_label_and_may_name_others_in_its_reasons(
    reference: bool,
) -> None:
    said = (
        "[[A=B]]\nNeither ends; [[A>B]] would be kind." if reference else "[[NO]]\nIt would be [[YES]] but for its end."
    )
    critic = saying(said)
    score = scored(critic, analyse="after", reference=reference)
    assert values(score)["ttcw_total"] == (14 if reference else 0)
    assert Signature(metadata(score)["signature"]).facts["analyse"] == "after"
    assert all("alone on the first line" in request for request in critic.requests)


def test_a_prefix_begins_the_keys_and_changes_neither_signature_nor_verdicts() -> None:
    critic = comparing(better(1, "fine"))
    plain, prefixed = scored(critic), scored(critic, prefix="second")
    assert values(prefixed) == {key.replace("ttcw", "second"): number for key, number in values(plain).items()}
    assert metadata(plain)["signature"] == metadata(prefixed)["signature"]
    assert len(critic.requests) == 28


def test_a_score_names_its_stories_and_how_its_prompt_begins_and_tells_unlike_lengths() -> None:
    owl, other = "A grey owl waits.", "A white owl sleeps, and then another one does too."
    critic = comparing(lambda a, b, aspect: 0)
    score = scored(critic, owl, other, prompt="Owl! " * 100, facts={"references": "abc123"})
    assert (score.answer, score.reason) == (owl, None)
    assert metadata(score)["prompt"] == ("Owl! " * 100)[:159] + "…"
    assert metadata(score)["judge"].startswith("critic(mockllm/model@")
    assert "|stories:abc123|cutoff:-2|version:1-A" in metadata(score)["signature"]
    assert "this document" not in str(score.explanation)
    assert "Unlike lengths, which do not compare well: 4 words, the reference has 10." in str(score.explanation)


EVEN = Opinion(0, "As good. [[A=B]]")
LOST = Opinion(None, "Hm.", "unreadable reply")
FAILED = Opinion(None, fault="grader failed", failed=True)
RUBRIC = Rubric(
    name="mine",
    tests=tuple(
        Test(id=name, name=f"is it {name}", question="Is it?", dimension=dimension)
        for name, dimension in {"a": "form", "b": "form", "c": "sense"}.items()
    ),
)


def critique(*opinions: tuple[Opinion, ...], cutoff: int | None = -2) -> Critique:
    """Three tests, of which each has these opinions."""
    found = (Judgement(test, own) for test, own in zip(RUBRIC.tests, opinions, strict=True))
    return Critique(RUBRIC, tuple(found), cutoff)


def rows(found: Critique) -> list[list[str]]:
    """The cells of each test's row."""
    lines = [line for line in explained(found, "a story", "a story").splitlines() if line.startswith("| ")]
    return [[part.strip() for part in line.strip("| ").split(" | ")] for line in lines[1:]]


def test_coverage_and_how_far_the_orders_agree_are_told_of_the_judged_tests_alone() -> None:
    ahead = Opinion(1, "[[A>B]]")
    found = evidence(critique((ahead, ahead), (EVEN, LOST), (EVEN, EVEN)))
    assert found["coverage"] == {
        **{"mine_total": "2/3", "mine_form": "1/2", "mine_sense": "1/1"},
        **{"mine_a": "1/1", "mine_b": "0/1", "mine_c": "1/1"},
    }
    # of two judged tests one, in which whichever stood first won; (1 + 0) / 2 points for standing first
    assert (found["order_disagreement"], found["position_bias"]) == (0.5, 0.5)
    assert (found["first_place_wins_both"], found["second_place_wins_both"]) == (1, 0)
    assert (found["judged"], found["not_judged"], found["faults"]) == (2, 1, {"unreadable reply": 1})
    nothing = evidence(critique(*[(LOST, LOST)] * 3))
    assert (nothing["order_disagreement"], nothing["position_bias"]) == (None, None)
    assert (nothing["first_place_wins_both"], nothing["second_place_wins_both"]) == (0, 0)
    assert [row["orders_agree"] for row in nothing["tests"]] == [None] * 3


@pytest.mark.parametrize(("wins", "is_biased"), [(2, True), (1, True), (0, False)])
def test_a_critic_is_biased_from_half_of_the_judged_tests_on(wins: int, is_biased: bool) -> None:
    ahead = Opinion(1, "[[A>B]]")
    tests = [(ahead, ahead)] * wins + [(EVEN, EVEN)] * (2 - wins) + [(EVEN, LOST)]
    assert ("biased by position" in explained(critique(*tests), "a story", "a story")) == is_biased


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


def test_the_log_keeps_phrases_as_long_as_all_of_it_has_no_more_than_8_000_bytes() -> None:
    whole = critique((EVEN, EVEN), (EVEN, EVEN), (EVEN, EVEN))
    room = MOST_BYTES - len(json.dumps(evidence(whole, note="")).encode())
    assert all("critic" in row for row in evidence(whole, note="x" * room)["tests"])
    assert not any("critic" in row for row in evidence(whole, note="x" * (room + 1))["tests"])
    # half as many characters of two bytes
    assert all("critic" in row for row in evidence(whole, note="é" * (room // 2))["tests"])
    assert not any("critic" in row for row in evidence(whole, note="é" * (room // 2 + 1))["tests"])


@pytest.mark.parametrize(("words", "others", "unlike"), [(3, 2, False), (4, 6, False), (7, 4, True), (2, 4, True)])
def test_stories_whose_lengths_differ_by_more_than_half_are_named(words: int, others: int, unlike: bool) -> None:
    said = explained(critique(*[(EVEN, EVEN)] * 3), "word " * words, "word " * others)
    note = f"Unlike lengths, which do not compare well: {words} words, the reference has {others}."
    assert (note in said) == unlike
    assert ("Unlike" in said) == unlike


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
