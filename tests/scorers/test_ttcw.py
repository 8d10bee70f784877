"""The scorer `ttcw`: real evaluations by a scripted critic, and each part of a score."""

import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score
from tests import scripted
from tests.critics import better, comparing
from tests.scripted import Script, is_unscored, metadata, saying, scores, values

from genie_inspect.graders.critic import Critique, Judgement, Opinion
from genie_inspect.graders.grader import RefusedError
from genie_inspect.graders.rubrics import Rubric, Test, load_rubric
from genie_inspect.scorers.ttcw import evidence, explained, ttcw
from genie_inspect.signature import Signature

STORY = "A new story about a bee."
BEE = Sample(id="bee", input="Write about a bee.", target="A fine story about a bee.")
KEYS = load_rubric("ttcw").keys
NAMES = [test.name for test in load_rubric("ttcw").tests]


def evaluated(critic: Script, text: str = STORY, sample: Sample = BEE, epochs: int = 1, **options: Any) -> EvalLog:
    return scripted.evaluated(ttcw(**options), saying(text), critic, Path(), [sample], epochs=epochs, max_samples=1)


def scored(critic: Script, **options: Any) -> Score:
    (score,) = scores(evaluated(critic, **options), "ttcw")
    return score


@pytest.fixture(autouse=True)
def _logs_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_story_as_good_as_the_reference_passes_every_test() -> None:
    score = scored(comparing(lambda a, b, aspect: 0))
    assert values(score) == {key: 14.0 if key == "ttcw_total" else 1.0 for key in KEYS}
    assert list(values(score)) == list(KEYS)
    assert (metadata(score)["order_disagreement"], metadata(score)["judged"]) == (0, 14)


def test_dimensions_are_shares_of_their_own_tests() -> None:
    # the candidate is much worse in the first two of the five tests of fluency, and in all of elaboration
    worse = {*NAMES[:2], *NAMES[11:]}
    found = values(scored(comparing(lambda a, b, aspect: better(2 if aspect in worse else 0, "fine")(a, b, aspect))))
    assert (found["ttcw_total"], found["ttcw_fluency"], found["ttcw_elaboration"]) == (9, 3 / 5, 0)
    assert (found["ttcw_01"], found["ttcw_03"]) == (0, 1)


def test_a_total_with_tests_that_were_not_judged_says_how_many() -> None:
    points: dict[str, int | str] = {NAMES[0]: "Hm.", NAMES[1]: "Hm.", NAMES[2]: 2}
    score = scored(comparing(lambda a, b, aspect: points.get(aspect, -1)))
    found, facts = values(score), metadata(score)
    assert (found["ttcw_total"], found["ttcw_fluency"]) == (12, 1)
    assert math.isnan(found["ttcw_01"])
    assert (facts["not_judged"], facts["coverage"]["ttcw_fluency"]) == (2, "3/5")
    # so that a critic that never varies can be named
    assert facts["ratings"] == {"count": 24, "lowest": -1, "highest": 2}
    assert "Passed 12 of 12 judged tests" in str(score.explanation)
    assert "2 of 14 tests are not judged, verdicts missing: 4 unreadable reply." in str(score.explanation)


@pytest.mark.parametrize("target", ["", "* * *"])
def test_a_sample_whose_reference_has_no_word_is_not_scored(target: str) -> None:
    script = comparing(lambda a, b, aspect: 0)
    score = scored(script, sample=Sample(input="Write.", target=target))
    assert score.reason == "no reference story"
    assert is_unscored(score)
    assert not script.requests


def test_without_a_reference_a_test_passes_on_yes_and_the_table_has_one_column_for_it() -> None:
    yes = {*NAMES[:5], NAMES[13]}
    critic = comparing(lambda a, b, aspect: "Hm." if aspect == NAMES[6] else int(aspect in yes))
    score = scored(critic, sample=Sample(input="Write."), reference=False)
    numbers = values(score)
    assert list(numbers) == list(KEYS)
    assert (numbers["ttcw_total"], numbers["ttcw_fluency"], numbers["ttcw_elaboration"]) == (6, 1, 0.333)
    assert (numbers["ttcw_01"], numbers["ttcw_06"]) == (1, 0)
    assert math.isnan(numbers["ttcw_07"])
    assert metadata(score)["ratings"] == {"count": 13, "lowest": 0, "highest": 1}
    assert "| 06 emotional flexibility | no | A stock ending. |" in str(score.explanation)
    assert "reference" not in str(score.explanation)
    assert "cutoff" not in metadata(score)["signature"]


@pytest.mark.parametrize(("levels", "points", "in_force"), [(3, 0, -1), (5, 1, -2), (7, 1, -3)])
def test_each_scale_has_a_cutoff_of_its_own_and_takes_any_that_some_story_passes_and_some_does_not(
    levels: int, points: int, in_force: int
) -> None:
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
    for cutoff in (2 - levels, levels - 1):
        ttcw(levels=levels, cutoff=cutoff)
    for cutoff in (1 - levels, levels):
        with pytest.raises(RefusedError, match=f"cutoff is {cutoff}, expected {2 - levels} to {levels - 1} with"):
            ttcw(levels=levels, cutoff=cutoff)


def test_the_signature_names_all_that_the_numbers_depend_on() -> None:
    script = comparing(lambda a, b, aspect: 0)
    plain = metadata(scored(script))["signature"]
    rubric = f"rubric:ttcw@{load_rubric('ttcw').digest}"
    rest = f"|{rubric}|levels:5|analyse:true|reference:true|stories:unknown|cutoff:-2|version:1-A"
    assert plain.startswith("measure:ttcw|judge:critic(mockllm/model@")
    assert plain.endswith(rest)
    others: list[dict[str, Any]] = [
        {"cutoff": -1}, {"analyse": False}, {"reference": False}, {"reference": False, "analyse": False},
        {"rubric": "gomez_williams"}, {"levels": 7}
    ]  # fmt: skip
    signatures = {metadata(scored(script, **options))["signature"] for options in others}
    assert len(signatures | {plain}) == 7


def test_a_judge_that_contradicts_itself_between_epochs_is_averaged_and_each_epoch_stays_in_the_log() -> None:
    turns: list[int] = []

    def fickle(a: str, b: str, aspect: str) -> int:
        turns.append(1)
        return 0 if len(turns) <= 28 else better(2, "fine")(a, b, aspect)  # type: ignore[return-value]  # points

    log = evaluated(comparing(fickle), epochs=2, cache=False)
    assert log.results
    assert sorted(values(score)["ttcw_total"] for score in scores(log, "ttcw")) == [0, 14]
    assert {score.name: score.metrics["mean"].value for score in log.results.scores}["ttcw_total"] == 7


@pytest.mark.parametrize(
    ("reference", "said", "total"),
    [
        (True, "[[A=B]]\nNeither ends; [[A>B]] would be kind.", 14),
        (False, "[[NO]]\nIt would be [[YES]] but for its end.", 0),
    ],
)
def test_a_critic_that_chooses_first_is_read_by_its_first_label_and_may_name_others_in_its_reasons(
    reference: bool, said: str, total: int
) -> None:
    critic = saying(said)
    score = scored(critic, analyse="after", reference=reference)
    assert values(score)["ttcw_total"] == total
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
    sample = Sample(input="Owl! " * 100, target=other, metadata={"references": "abc123"})
    score = scored(comparing(lambda a, b, aspect: 0), text=owl, sample=sample)
    assert (score.answer, score.reason) == (owl, None)
    assert metadata(score)["prompt"] == ("Owl! " * 100)[:159] + "…"
    assert metadata(score)["judge"].startswith("critic(mockllm/model@")
    assert "|stories:abc123|cutoff:-2|version:1-A" in metadata(score)["signature"]
    assert "this document" not in str(score.explanation)
    assert "Unlike lengths, which do not compare well: 4 words, the reference has 10." in str(score.explanation)


EVEN = Opinion(0, "As good. [[A=B]]")
AHEAD, BEHIND = Opinion(1, "A is livelier. [[A>B]]"), Opinion(-2, "B is livelier. [[B>>A]]")
LOST = Opinion(None, "Hm.", "unreadable reply")
RUBRIC = Rubric(
    name="mine",
    tests=tuple(
        Test(id=name, name=f"is it {name}", question="Is it?", dimension=dimension)
        for name, dimension in {"a": "form", "b": "form", "c": "sense"}.items()
    ),
)


def critique(*opinions: tuple[Opinion, ...], cutoff: int | None = -2) -> Critique:
    found = (Judgement(test, own) for test, own in zip(RUBRIC.tests, opinions, strict=True))
    return Critique(RUBRIC, tuple(found), cutoff)


def told(*opinions: tuple[Opinion, ...], cutoff: int | None = -2, candidate: str = "a story") -> str:
    return explained(critique(*opinions, cutoff=cutoff), candidate, "" if cutoff is None else "a story")


def rows(shown: str) -> list[list[str]]:
    lines = [line for line in shown.splitlines() if line.startswith("| ")]
    return [[part.strip() for part in line.strip("| ").split(" | ")] for line in lines[1:]]


def test_coverage_and_how_far_the_orders_agree_are_told_of_the_judged_tests_alone() -> None:
    found = evidence(critique((AHEAD, AHEAD), (EVEN, LOST), (EVEN, EVEN)))
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
    assert nothing["ratings"] == {"count": 0, "lowest": None, "highest": None}
    second = evidence(critique(*[(BEHIND, BEHIND)] * 3))
    assert (second["position_bias"], second["order_disagreement"], second["second_place_wins_both"]) == (-2, 1, 3)


def test_a_critic_is_biased_from_half_of_the_judged_tests_on() -> None:
    for wins, is_biased in ((2, True), (1, True), (0, False)):
        tests = [(AHEAD, AHEAD)] * wins + [(EVEN, EVEN)] * (2 - wins) + [(EVEN, LOST)]
        assert ("biased by position" in told(*tests)) == is_biased


def test_a_verdict_is_worded_by_who_is_better_and_how_much() -> None:
    for points, degree in ((1, "better"), (2, "much better"), (3, "better by far"), (-2, "much better")):
        (row, *_) = rows(told(*[(Opinion(points, "As it is."), Opinion(points, "As it is."))] * 3))
        sides = ("reference", "candidate") if points > 0 else ("candidate", "reference")
        # the reference stands first, then the candidate
        assert row[1:3] == [f"{side} {degree}" for side in sides]


@pytest.mark.parametrize("cutoff", [-2, None])
def test_a_long_fault_and_a_long_reply_are_cut_and_markup_in_them_is_text(cutoff: int | None) -> None:
    fault, words = "no|route " * 40, "dull*plot " * 40
    orders = 1 if cutoff is None else 2
    lost, said = (Opinion(None, fault=fault, failed=True),) * orders, (Opinion(1, f"{words}[[YES]]"),) * orders
    failed, judged, _ = rows(told(lost, said, said, cutoff=cutoff))
    # 160 characters, the ellipsis among them; a backslash before whatever would be markup
    assert failed[1] == "none: " + (fault[:159] + "…").replace("|", "\\|")
    assert judged[-1] == "; ".join([(words[:159] + "…").replace("*", "\\*")] * orders)


@pytest.mark.parametrize(("words", "others", "unlike"), [(3, 2, False), (4, 6, False), (7, 4, True), (2, 4, True)])
def test_stories_whose_lengths_differ_by_more_than_half_are_named(words: int, others: int, unlike: bool) -> None:
    said = explained(critique(*[(EVEN, EVEN)] * 3), "word " * words, "word " * others)
    note = f"Unlike lengths, which do not compare well: {words} words, the reference has {others}."
    assert (note in said) == ("Unlike" in said) == unlike


def test_the_whole_of_what_a_reader_sees_of_a_critic_that_prefers_a_place() -> None:
    assert told((AHEAD, AHEAD), (AHEAD, BEHIND), (EVEN, LOST), cutoff=0).splitlines()[2:] == [
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
        "**The grader is biased by position:** whichever story came first won both times in 1 of 2 tests. Such a "
        "preference cancels in the score; by itself it scores 0, and 0 passes at any cutoff up to 0.",
    ]
    second = told((BEHIND, BEHIND), (BEHIND, AHEAD), (EVEN, EVEN))
    assert "+3" in second
    assert "biased" not in second
    assert "whichever story came second won both times in 3 of 3 tests" in told(*[(BEHIND, BEHIND)] * 3)


def test_of_a_story_alone_a_reader_sees_yes_and_no() -> None:
    yes, no, lost = Opinion(1, "Fine. [[YES]]"), Opinion(0, "Flat. [[NO]]"), Opinion(None, fault="a|b", failed=True)
    assert told((yes,), (no,), (lost,), cutoff=None).splitlines() == [
        "| test | yes/no | the grader in short |",
        "|:--|:--|:--|",
        "| a is it a | yes | Fine. |",
        "| b is it b | no | Flat. |",
        "| c is it c | none: a\\|b |  |",
        "",
        "**Passed 1 of 2 judged tests.**",
        "",
        "1 of 3 tests are not judged, verdicts missing: 1 a\\|b.",
    ]
    assert told(*[(lost,)] * 3, cutoff=None).splitlines()[6] == "**No test could be judged.**"


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


def test_phrases_get_shorter_step_by_step_until_all_has_8_000_bytes_and_a_table_that_never_fits_is_counted() -> None:
    said = Opinion(1, "word " * 50 + "[[A>B]]")
    long = critique(*[(said, said)] * 3)
    lengths = {len(evidence(long, note="x" * room)["tests"][0].get("critic", [""])[0]) for room in range(0, 7500, 100)}
    assert lengths == {200, 120, 60, 0}
    assert evidence(long, note="x" * 8000)["tests"] == "3 tests: too many to keep here"
