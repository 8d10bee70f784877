"""The scorer `ttcw` in real evaluations by a scripted critic."""

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
from inspect_ai.solver import Generate, Solver, TaskState, solver
from tests.critics import better, comparing
from tests.scripted import Script, output, saying

from genie_inspect.graders.cache import Cache
from genie_inspect.graders.grader import RefusedError
from genie_inspect.graders.rubrics import load_rubric
from genie_inspect.scorers.explanation import cell
from genie_inspect.scorers.ttcw import ttcw
from genie_inspect.signature import facts_of

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


def evaluated(critic: Script, text: str | ModelOutput, target: str = REFERENCE, **options: Any) -> EvalLog:
    writer = saying(text) if isinstance(text, str) else Script(lambda request: text)
    [log] = evaluate(
        Task(dataset=[Sample(id="bee", input="Write about a bee.", target=target)], scorer=ttcw(**options)),
        model=writer.model(),
        model_roles={"grader": critic.model()},
        display="none",
        log_realtime=False,
    )
    return log


def value(score: Score) -> dict[str, float]:
    assert isinstance(score.value, dict)
    return {key: float(str(number)) for key, number in score.value.items()}


def metadata(score: Score) -> dict[str, Any]:
    assert score.metadata is not None
    return score.metadata


@pytest.fixture(autouse=True)
def _logs_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_story_as_good_as_the_reference_passes_every_test() -> None:
    score = scored(comparing(lambda a, b, aspect: 0))
    assert value(score) == {key: 14.0 if key == "ttcw_total" else 1.0 for key in KEYS}
    assert list(value(score)) == list(KEYS)
    assert metadata(score)["order_disagreement"] == 0
    assert metadata(score)["judged"] == 14


def test_a_story_much_worse_than_the_reference_fails_every_test() -> None:
    assert set(value(scored(comparing(better(2, "fine")))).values()) == {0.0}


def test_dimensions_are_shares_of_their_own_tests() -> None:
    # the candidate is much worse in the first two of the five tests of fluency, and in all of elaboration
    worse = {*NAMES[:2], *NAMES[11:]}
    found = value(scored(comparing(lambda a, b, aspect: better(2 if aspect in worse else 0, "fine")(a, b, aspect))))
    assert found["ttcw_total"] == 9
    assert found["ttcw_fluency"] == 3 / 5
    assert found["ttcw_elaboration"] == 0
    assert (found["ttcw_01"], found["ttcw_03"]) == (0, 1)


@pytest.mark.parametrize(("cutoff", "passed"), [(-3, 14), (-2, 14), (-1, 0), (0, 0)])
def test_the_cutoff_says_from_which_score_on_a_test_passes(cutoff: int, passed: int) -> None:
    # one step worse in both orders scores -2
    assert value(scored(comparing(better(1, "fine")), cutoff=cutoff))["ttcw_total"] == passed


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


def test_a_fair_critic_is_not_called_biased() -> None:
    assert "biased" not in str(scored(comparing(better(1, "new"))).explanation)


@pytest.mark.parametrize(("story", "side", "points"), [("fine", "reference", "-2"), ("new", "candidate", "+2")])
def test_the_explanation_has_a_row_a_test_with_both_verdicts_score_pass_and_phrases(
    story: str, side: str, points: str
) -> None:
    explanation = str(scored(comparing(better(1, story))).explanation)
    rows = [line for line in explanation.splitlines() if line.startswith("| ")]
    assert rows[0] == "| test | reference first | candidate first | score | pass | the critic in short |"
    assert rows[1] == (
        f"| 01 narrative ending | {side} better | {side} better | {points} | yes "
        "| A: plain. B: bold.; A: plain. B: bold. |"
    )
    assert len(rows) == 15
    assert "**Passed 14 of 14 judged tests.**" in explanation


def test_tests_in_which_the_orders_disagree_are_marked_and_counted() -> None:
    def torn(a: str, b: str, aspect: str) -> int:
        return 1 if aspect in NAMES[:3] else 0

    score = scored(comparing(torn))
    assert str(score.explanation).count("⇄ |") == 3
    assert "name different stories in 3 of 14 tests" in str(score.explanation)
    assert metadata(score)["order_disagreement"] == round(3 / 14, 4)
    assert [row["orders_agree"] for row in metadata(score)["tests"]].count(False) == 3


def test_what_the_critic_writes_shows_as_text_and_not_as_markup() -> None:
    score = scored(comparing(lambda a, b, aspect: "<b>A</b> | *flat*\n[[A=B]]"))
    assert cell("<b>A</b> | *flat*") in str(score.explanation)


def test_a_critic_that_babbles_judges_nothing_and_the_reason_says_so() -> None:
    script = saying("It depends on the reader.")
    score = scored(script)
    assert all(math.isnan(number) for number in value(score).values())
    assert score.reason == "invalid_response_format"
    assert metadata(score)["faults"] == {"unreadable reply": 28}
    assert len(script.requests) == 28 * 3
    assert "No test could be judged" in str(score.explanation)


def test_a_total_with_tests_that_were_not_judged_says_how_many() -> None:
    score = scored(comparing(lambda a, b, aspect: "Hm." if aspect in NAMES[:2] else 0))
    found = value(score)
    assert found["ttcw_total"] == 12
    assert math.isnan(found["ttcw_01"])
    assert found["ttcw_fluency"] == 1
    assert metadata(score)["not_judged"] == 2
    assert metadata(score)["coverage"]["ttcw_fluency"] == "3/5"
    assert "Passed 12 of 12 judged tests" in str(score.explanation)
    assert "2 of 14 tests are not judged, verdicts missing: 4 unreadable reply." in str(score.explanation)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_response"),
        (" \n", "no_response"),
        ("* * *", "no_response"),
        (output("No.", "content_filter"), "refusal"),
    ],
)
def test_silence_and_refusal_are_not_scored_and_ask_nothing(text: str | ModelOutput, reason: str) -> None:
    script = comparing(lambda a, b, aspect: 0)
    score = scored(script, text)
    assert list(value(score)) == list(KEYS)
    assert all(math.isnan(number) for number in value(score).values())
    assert score.reason == reason
    assert not script.requests


@pytest.mark.parametrize("target", ["", "* * *"])
def test_a_sample_whose_reference_has_no_word_is_not_scored(target: str) -> None:
    script = comparing(lambda a, b, aspect: 0)
    score = scored(script, target=target)
    assert score.reason == "no reference story"
    assert all(math.isnan(number) for number in value(score).values())
    assert not script.requests


def test_a_story_without_choices_is_unscored() -> None:
    [log] = evaluate(
        Task(dataset=[Sample(input="Write.", target=REFERENCE)], solver=nothing(), scorer=ttcw()),
        model=saying("x").model(),
        model_roles={"grader": saying("x").model()},
        display="none",
        log_realtime=False,
    )
    assert log.status == "success", log.error
    assert log.samples
    assert log.samples[0].scores
    assert log.samples[0].scores["ttcw"].reason == "generation failed"


@solver
def nothing() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput()
        return state

    return solve


def test_without_a_reference_a_test_passes_on_yes_and_the_table_has_one_column_for_it() -> None:
    yes = {*NAMES[:5], NAMES[13]}
    score = scored(
        comparing(lambda a, b, aspect: "Hm." if aspect == NAMES[6] else int(aspect in yes)), target="", reference=False
    )
    numbers = value(score)
    assert list(numbers) == list(KEYS)
    assert (numbers["ttcw_total"], numbers["ttcw_fluency"], numbers["ttcw_elaboration"]) == (6, 1, 0.333)
    assert (numbers["ttcw_01"], numbers["ttcw_06"]) == (1, 0)
    assert math.isnan(numbers["ttcw_07"])
    lines = str(score.explanation).splitlines()
    assert lines[0] == "| test | yes/no | the critic in short |"
    assert lines[2] == "| 01 narrative ending | yes | A stock ending. |"
    assert lines[7] == "| 06 emotional flexibility | no | A stock ending. |"
    assert lines[8] == "| 07 structural flexibility | none: unreadable reply | Hm. |"
    assert "**Passed 6 of 13 judged tests.**" in lines
    assert "reference" not in str(score.explanation)


def test_without_a_reference_nothing_is_said_of_orders_levels_and_cutoffs() -> None:
    found = metadata(scored(comparing(lambda a, b, aspect: 1), target="", reference=False))
    assert "|reference:false|" in found["signature"]
    assert not {"levels", "cutoff"} & facts_of(found["signature"]).keys()
    places = {"order_disagreement", "position_bias", "first_place_wins_both", "second_place_wins_both"}
    assert not places & found.keys()
    assert found["tests"][0] == {"id": "01", "verdicts": [1], "pass": True, "critic": ["A stock ending."]}
    assert (found["judged"], found["not_judged"], found["coverage"]["ttcw_fluency"]) == (14, 0, "5/5")


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


def test_the_metadata_names_the_judge_and_the_prompt() -> None:
    found = metadata(scored(comparing(lambda a, b, aspect: 0)))
    assert found["judge"] == facts_of(found["signature"])["judge"]
    assert found["prompt"] == "Write about a bee."


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
        totals.append(value(score)["ttcw_total"])
        assert facts_of(metadata(score)["signature"])["cutoff"] == str(cutoff)
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
    assert value(scored(script))["ttcw_total"] == 14
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
    assert value(score)["ttcw_total"] == 13, "the cutoff itself passes, one below it does not"
    assert f"|cutoff:{in_force}|" in metadata(score)["signature"]
    assert f"A test passes from a score of {in_force} on." in str(score.explanation)


@pytest.mark.parametrize("levels", [3, 5, 7])
def test_a_cutoff_can_be_anywhere_between_passing_all_but_the_worst_and_passing_the_best_alone(levels: int) -> None:
    for cutoff in (2 - levels, levels - 1):
        ttcw(levels=levels, cutoff=cutoff)
    for cutoff in (1 - levels, levels):
        with pytest.raises(RefusedError, match=f"cutoff is {cutoff}, expected {2 - levels} to {levels - 1} with"):
            ttcw(levels=levels, cutoff=cutoff)


def test_a_grader_that_cannot_be_reached_leaves_the_story_unscored() -> None:
    def failing(request: str) -> str:
        raise RuntimeError("no connection")

    score = scored(Script(failing))
    assert score.reason == "grader_failed"
    assert "no connection" in str(score.explanation)
    assert list(value(score)) == list(KEYS)


def test_a_reference_longer_than_the_window_is_one_clear_line() -> None:
    score = scored(Script(lambda request: output("maximum context length is 8192 tokens", "model_length")))
    assert score.reason == "grader_failed"
    assert str(score.explanation).startswith("Not scored: a request of ")
    assert "longer than the window of grader mockllm/model" in str(score.explanation)
    assert "\n" not in str(score.explanation)


def test_unlike_lengths_are_pointed_out() -> None:
    long = " ".join(["word"] * 100)
    assert "Unlike lengths, which do not compare well: 100 words, the reference has 6." in str(
        scored(comparing(lambda a, b, aspect: 0), long).explanation
    )


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


def test_another_rubric_brings_keys_of_its_own() -> None:
    found = value(scored(comparing(lambda a, b, aspect: 0), rubric="gomez_williams"))
    assert list(found) == list(load_rubric("gomez_williams").keys)
    assert found["gomez_williams_total"] == 10


# an accented letter takes two bytes
@pytest.mark.parametrize(("word", "length"), [("word ", 10), ("word ", 5_000), ("é ", 5_000)])
def test_the_evidence_stays_within_8_kilobytes(word: str, length: int) -> None:
    score = scored(comparing(lambda a, b, aspect: word * length + "\n[[A=B]]"))
    assert len(json.dumps(metadata(score), ensure_ascii=False).encode()) <= 8_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": 4}, "levels is 4, expected one of 3, 5, 7"),
        ({"levels": 4, "cutoff": -9}, "levels is 4, expected one of 3, 5, 7"),
        ({"cutoff": "low"}, "cutoff is 'low', expected -3 to 4 with levels=5"),
        ({"cutoff": -1.5}, "cutoff is -1.5, expected -3 to 4 with levels=5"),
        ({"rubric": "nothing"}, "rubric is 'nothing', expected one of ttcw"),
        ({"templates": "missing"}, "'missing' does not exist"),
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


def test_a_rubric_with_a_repeated_id_is_refused_when_the_scorer_is_made(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    one = "- id: pace\n  name: pace\n  question: Is it quick?\n"
    path.write_text(f"name: mine\ntests:\n{one}{one}", encoding="utf-8")
    with pytest.raises(RefusedError, match="'pace' stands there twice"):
        ttcw(rubric=str(path))


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
    totals = [value(sample.scores["ttcw"])["ttcw_total"] for sample in log.samples if sample.scores]
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
    assert value(score)["ttcw_total"] == (14 if reference else 0)
    assert facts_of((score.metadata or {})["signature"])["analyse"] == "after"
    assert all("alone on the first line" in request for request in critic.requests)


def test_a_prefix_begins_the_keys_and_changes_neither_signature_nor_verdicts() -> None:
    critic = comparing(better(1, "fine"))
    plain, prefixed = scored(critic), scored(critic, prefix="second")
    assert value(prefixed) == {key.replace("ttcw", "second"): number for key, number in value(plain).items()}
    assert (plain.metadata or {})["signature"] == (prefixed.metadata or {})["signature"]
    assert len(critic.requests) == 28


@pytest.mark.parametrize("option", [{"prefix": "My keys"}, {"prefix": ""}, {"prefix": "total" * 20}, {"analyse": "no"}])
def test_a_prefix_that_is_none_and_an_unknown_order_are_refused(option: dict[str, str]) -> None:
    ((name, given),) = option.items()
    with pytest.raises(RefusedError, match=f"{name} is '{given}', expected"):
        ttcw(**option)  # type: ignore[arg-type]
