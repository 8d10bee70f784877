import json
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scripted import Script, answers_alone, grading, saying, small_population

from genie_inspect.agreement.raters import (
    CalibrationError,
    Rater,
    RatingsFile,
    Target,
    drawn,
    judge_ratings,
    list_positions,
    pair,
    recorded_ratings,
    recorded_targets,
)
from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.graders.cache import Cache, Memo
from genie_inspect.graders.list_judge import CHUNK, ListJudge
from genie_inspect.graders.pairwise_judge import PairwiseJudge
from genie_inspect.graders.protocols import GRADER_FAILED, UNREADABLE, UNSPECIFIED
from genie_inspect.graders.sheet_judge import SIZE, SheetJudge
from genie_inspect.populations.population import Population, open_population
from genie_inspect.populations.schema import Question
from genie_inspect.prompting.templates import unfenced

QUESTION = Question(id="q", prompt="p", feature="plot", text="Who?")


def test_every_distinct_answer_meets_all_the_others(tmp_path: Path) -> None:
    population = open_population("starter")
    targets = recorded_targets(population)
    assert {target.question.id for target in targets} == {
        question.id for prompt in population.prompts for question in population.questions(prompt)
    }
    assert pair("q", "An owl.", "a fox") == pair("q", "A fox", "an owl") != pair("r", "an owl", "a fox")
    for target in targets[:50]:
        assert len(set(target.pairs)) == len(target.others)
        assert pair(target.question.id, target.answer, target.answer) not in target.pairs
    # of answers that count as equal the first spelling stands for all
    population = answers_alone(tmp_path / "alone", {"r": ["An owl.", "a fox", "AN OWL", "a hen"]})
    assert [(target.answer, target.others) for target in recorded_targets(population)] == [
        ("An owl.", ("a fox", "a hen")),
        ("a fox", ("An owl.", "a hen")),
        ("a hen", ("An owl.", "a fox")),
    ]


def test_the_reader_who_answered_most_is_taken_unless_one_is_named(tmp_path: Path) -> None:
    population = answers_alone(tmp_path / "alone", {"few": ["a fox", "a hen"], "many": ["rain", "snow", "hail"]})
    assert {target.answer for target in recorded_targets(population)} == {"rain", "snow", "hail"}
    assert {target.answer for target in recorded_targets(population, "few")} == {"a fox", "a hen"}
    with pytest.raises(CalibrationError, match=r"small-1@.* has no answers on record"):
        recorded_targets(small_population(tmp_path / "small"))
    with pytest.raises(UnknownChoiceError, match=r"'me', expected one of grader\(bundled/grader"):
        recorded_targets(open_population("starter"), "me")


def test_features_and_prompts_have_equal_shares_of_a_sample() -> None:
    found = drawn(recorded_targets(open_population("starter")), 48 * 5)
    strata = Counter[tuple[str, str]]()
    for target in found:
        strata[target.question.feature, target.question.prompt] += len(target.others)
    assert len(strata) == 8 * 6
    assert set(strata.values()) == {5}


def test_what_a_feature_of_a_prompt_lacks_is_made_up_for_by_the_others() -> None:
    few, other_way = Target(QUESTION, "a", ("b",)), Target(QUESTION, "b", ("a",))
    asked = QUESTION.model_copy(update={"id": "r", "feature": "style"})
    many = Target(asked, "a", tuple("bcdefg"))
    assert sorted(len(target.others) for target in drawn([few, many], 5)) == [1, 4]
    # a pair that two answers stand for is one: style makes up for four of five
    assert sum(len(target.others) for target in drawn([few, other_way, many], 5)) == 5
    # what is left over from equal shares goes to any feature
    both = [few, Target(asked, "a", ("b",))]
    assert {drawn(both, 1, seed)[0].question.feature for seed in range(20)} == {"plot", "style"}


@given(st.integers(1, 80), st.integers(0, 20))
def test_a_sample_has_all_the_pairs_asked_for_as_far_as_there_are_so_many(count: int, seed: int) -> None:
    # ten answers that all meet: 45 pairs
    source = [Target(QUESTION, one, tuple(set("abcdefghij") - {one})) for one in "abcdefghij"]
    pairs = [one for target in drawn(source, count, seed) for one in target.pairs]
    assert len(pairs) == len(set(pairs)) == min(count, 45)


HEADER = "question,answer,other,rating"


@pytest.fixture(scope="module")
def starter() -> Population:
    return open_population("starter")


@pytest.fixture(scope="module")
def question(starter: Population) -> str:
    return starter.questions(starter.prompts[0])[0].id


def written(folder: Path, *lines: str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_csv_file_is_read(tmp_path: Path, starter: Population, question: str) -> None:
    path = written(tmp_path, "\ufeff" + HEADER, f'{question},"an owl, grey",a fox,3', f"{question},an owl,a fox,0")
    found = RatingsFile(path, starter)
    assert found.raters == {
        "people": {pair(question, "an owl, grey", "a fox"): 3, pair(question, "an owl", "a fox"): None}
    }
    assert [(target.answer, target.others) for target in found.targets] == [
        ("an owl, grey", ("a fox",)),
        ("an owl", ("a fox",)),
    ]
    # raters are kept apart, and an empty cell is no rating
    rows = f"{question},a,b,4,Ann", f"{question},a,b,,Bob", f"{question},b,a,4,Ann"
    rated = pair(question, "a", "b")
    found = RatingsFile(written(tmp_path, f"{HEADER},rater", *rows), starter)
    assert found.raters == {"people:Ann": {rated: 4}, "people:Bob": {rated: None}}


def test_json_lines_have_a_rating_or_several_and_a_question_by_id_or_text(tmp_path: Path, starter: Population) -> None:
    asked = starter.questions(starter.prompts[0])[0]

    def read(*rows: dict[str, object]) -> RatingsFile:
        # empty lines before the first row do not hide its form
        return RatingsFile(written(tmp_path, "", " ", *map(json.dumps, rows), name="people.jsonl"), starter)

    row: dict[str, object] = {"answer": "an owl", "other": "a fox", "rating": 2.5}
    for name in (asked.id, asked.text):
        found = read({"question": name, **row})
        assert found.raters == {"people": {pair(asked.id, "an owl", "a fox"): 2.5}}
        assert [target.question for target in found.targets] == [asked]
    found = read({"question": asked.id, "answer": "an owl", "ratings": {"A Fox": 2, "a hen": 3}})
    assert found.raters == {"people": {pair(asked.id, "an owl", "a fox"): 2, pair(asked.id, "an owl", "a hen"): 3}}
    # as they are spelled there
    assert [(target.answer, target.others) for target in found.targets] == [("an owl", ("A Fox", "a hen"))]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["question,answer,rating", "Q,a,3"], "has no column other: it has question, answer, rating, exp"),
        ([HEADER, "Q,a,b,2", "Q,a,c,7"], "row 3, field rating: .*expected 1 to 4, or 0 .*'7'"),
        ([HEADER, "Q,a,b,0.5"], "row 2, field rating"),
        ([HEADER, "Q,a,b,high"], "row 2, field rating"),
        ([HEADER, "Q,,b,2"], "row 2, field answer"),
        ([HEADER, "nobody asked,a,b,2"], "row 2, field question: 'nobody asked' is not a question of starter"),
        ([HEADER, "Q,a,b,2", "Q,B,A,3"], "row 3: people rates 'B' and 'A' twice, with different ratings"),
        ([""], "has no column answer, other, question, rating: it has none"),
        (['{"question": "Q", "answer": "a", "rating": 2}'], "line 1, field other"),
        (['{"question": "Q", "answer": "a", "other": "b"}'], "line 1, field rating"),
        (['{"question": "Q", "answer": "a", "other": "b", "rating": 7}'], "line 1, field rating.*7"),
        (['{"question": "Q", "answer": "a", "ratings": {"b": 7}}'], "line 1, field ratings.b.*7"),
        (['{"question": "Q", "answer": "a", "other": "b", "rating": 2, "ratter": "x"}'], "line 1, field ratter"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_by_line_and_field(
    tmp_path: Path, starter: Population, question: str, lines: list[str], message: str
) -> None:
    name = "people.jsonl" if lines[0].startswith("{") else "people.csv"
    path = written(tmp_path, *(line.replace("Q", question) for line in lines), name=name)
    with pytest.raises(GenieError, match=message) as raised:
        RatingsFile(path, starter)
    assert str(path) in str(raised.value)
    with pytest.raises(GenieError, match=r"nobody\.csv does not exist"):
        RatingsFile(tmp_path / "nobody.csv", starter)
    path.with_suffix(".csv").write_bytes(f"{HEADER}\nq,caf\xe9,b,2\n".encode("latin-1"))
    with pytest.raises(GenieError, match=r"people\.csv cannot be read as a table"):
        RatingsFile(path.with_suffix(".csv"), starter)


TARGETS = [Target(QUESTION, "owl", ("fox", "hen")), Target(QUESTION, "cat", ("dog",))]


@pytest.mark.anyio
async def test_a_pairwise_judge_is_asked_again_with_the_sides_swapped() -> None:
    script = grading(rating=lambda answer, other: 3 if answer < other else 2)
    told: list[int] = []
    judge = PairwiseJudge(script.model())
    found = await judge_ratings(Rater("pairs", judge), TARGETS, told.append)
    # owl/fox: 2, owl/hen: 2, cat/dog: 3; swapped 3, 3, 2
    assert found.values == (2, 2, 3)
    assert found.swapped == (3, 3, 2)
    assert found.positions == ()
    assert len(script.requests) == sum(told) == Rater("", judge).calls(TARGETS) == 6
    once = Rater("pairs", judge, swaps=False)
    assert (await judge_ratings(once, TARGETS)).swapped == ()
    assert len(script.requests) - 6 == once.calls(TARGETS) == 3


@pytest.mark.anyio
async def test_a_list_judge_is_asked_once_and_tells_where_each_answer_stood() -> None:
    script = grading(rating=lambda answer, other: {"fox": 1, "hen": 4, "cow": 2}[other])
    target = Target(QUESTION, "owl", ("fox", "hen", "cow"))
    judge = ListJudge(script.model())
    found = await judge_ratings(Rater("lists", judge, CHUNK), [target])
    assert found.values == (1, 4, 2)
    assert found.swapped == ()
    order = list(script.data[0]["others"].values())  # as they were asked about
    assert found.positions == tuple(order.index(other) / 2 for other in target.others)
    assert len(script.requests) == 1
    assert Rater("", judge, CHUNK).calls([target]) == 3


@pytest.mark.anyio
async def test_positions_begin_anew_in_each_call_and_are_not_known_of_lists_of_which_some_is_kept(
    tmp_path: Path,
) -> None:
    judge = ListJudge(grading().model(), memo=Memo(Cache(tmp_path)))
    rater = Rater("lists", judge, CHUNK)
    targets = [TARGETS[0], Target(QUESTION, "cat", ("dog", "cow"))]
    assert sorted((await judge_ratings(rater, targets[:1])).positions) == [0, 1]
    known = [not math.isnan(place) for place in (await judge_ratings(rater, targets)).positions]
    assert known == [False, False, True, True]
    places = list_positions(Target(QUESTION, "owl", ("fox", "hen", "cow")), chunk=2)
    # a list of one has none
    assert sorted(places, key=lambda place: (math.isnan(place), place))[:2] == [0, 1]
    assert sum(map(math.isnan, places)) == 1


@pytest.mark.anyio
async def test_a_sheet_judge_is_asked_by_sheets_and_tells_where_each_answer_stood_among_its_questions_others() -> None:
    other = Question(id="q2", prompt=QUESTION.prompt, feature="plot", text="Who is lost?")
    targets = [Target(other, "cat", ("dog", "elk")), *TARGETS]
    script = grading(rating=lambda answer, other: {"fox": 1, "hen": 4, "dog": 2, "elk": 3}[other])
    told: list[int] = []
    judge = SheetJudge(script.model())
    found = await judge_ratings(Rater("sheets", judge, SIZE), targets, told.append)
    # of two answers to one question each stands on a sheet of its own
    first, second = sorted((data["sheet"] for data in script.data), key=len, reverse=True)
    assert [len(first), len(second)] == [2, 1]
    assert found.values == (2, 3, 1, 4, 2)
    assert (sorted(told), found.faults, found.swapped) == ([1, 2, 2], {}, ())
    order = [others for _, _, others in first.values()]
    assert found.positions[:2] == (order[0].index("dog"), order[0].index("elk"))
    assert math.isnan(found.positions[-1])


@pytest.mark.anyio
async def test_what_comes_to_no_rating_keeps_its_reason() -> None:
    script = grading(rating=lambda answer, other: 0 if "dog" in (answer, other) else 4)
    found = await judge_ratings(Rater("pairs", PairwiseJudge(script.model())), TARGETS)
    assert found.faults == {2: UNSPECIFIED}
    assert math.isnan(found.values[2])
    babbling = await judge_ratings(Rater("pairs", PairwiseJudge(saying("Well, well.").model())), TARGETS)
    assert babbling.faults == dict.fromkeys(range(3), UNREADABLE)


@pytest.mark.anyio
@pytest.mark.parametrize("failing", ["hen", ""])
async def test_pairs_of_a_target_that_failed_have_the_fault_and_a_grader_that_never_answers_ends_all(
    failing: str,
) -> None:
    def reply(request: str) -> str:
        if not failing or failing in unfenced(request).values():
            raise RuntimeError("no more today")
        return "Rating: 3"

    rater = Rater("pairs", PairwiseJudge(Script(reply).model()))
    if not failing:
        with pytest.raises(CalibrationError, match=r"pairs rated nothing: .*no more today"):
            await judge_ratings(rater, TARGETS)
        return
    ratings = await judge_ratings(rater, TARGETS)
    assert ratings.faults == {0: GRADER_FAILED, 1: GRADER_FAILED}
    # what follows keeps its place
    assert ratings.values == pytest.approx((math.nan, math.nan, 3), nan_ok=True)


def test_recorded_ratings_come_in_the_order_of_the_targets() -> None:
    said = {pair("q", "hen", "owl"): 3.0, pair("q", "cat", "dog"): None}
    found = recorded_ratings("people", said, TARGETS)
    assert math.isnan(found.values[0])  # not asked: no fault
    assert found.values[1] == 3
    assert found.faults == {2: UNSPECIFIED}
