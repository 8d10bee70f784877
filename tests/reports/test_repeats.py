"""What a run's documents repeat: `genie repeats`."""

import csv
import json
import math
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.scorer import Score
from tests.cli.called import as_json, genie
from tests.reports.made_logs import GENIE, made_log, scored
from tests.scripted import OWL, QUESTIONS, small_population

from genie_inspect.populations.schema import AnswerRow, document_id, question_id
from genie_inspect.reports.repeats import Contrast, Shared, contrasts, repeats
from genie_inspect.reports.wording import shared_wording
from genie_inspect.statistics.descriptive import chance_of_same, effective_number, prompt_interval
from genie_inspect.statistics.effect import stratified_exact

HAPPENS, ENDS = (text for _, text in QUESTIONS[OWL][:2])


def answered(*rows: tuple[str, str], **facts: Any) -> dict[str, Score]:
    """A score with a table of questions: each with its answer, on plot."""
    table = [
        {"id": question_id(OWL, question), "feature": "plot", "question": question, "answer": answer}
        for question, answer in rows
    ]
    return {"genie": scored({"plot": 0.5}, questions=table, **facts)}


def written(folder: Path, *answers: tuple[str, str]) -> str:
    """A log of documents that give these answers to two questions."""
    samples = [answered((HAPPENS, first), (ENDS, second)) for first, second in answers]
    texts = [f"text {number}" for number in range(len(answers))]
    return made_log(folder, samples, prompts=[OWL] * len(samples), texts=texts)


@given(counts=st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_effective_number_and_chance_are_those_of_all_pairs(counts: list[int]) -> None:
    answers = [place for place, count in enumerate(counts) for _ in range(count)]
    pairs = [one == other for n, one in enumerate(answers) for m, other in enumerate(answers) if n != m]
    assert chance_of_same(counts) == pytest.approx(sum(pairs) / len(pairs) if pairs else math.nan, nan_ok=True)
    assert 1 <= effective_number(counts) <= len(counts) + 1e-9
    assert effective_number([4] * len(counts)) == pytest.approx(len(counts))
    assert all(map(math.isnan, (effective_number([]), chance_of_same([]), chance_of_same([1]))))


@pytest.mark.parametrize(
    ("counts", "theirs"),
    [
        ([2, 2], 2.0),
        ([4], 1.0),
        ([5, 3, 2], 2.6315789473684212),
        ([16, 4, 2, 1, 1], 2.0719424460431655),
        ([13, *[1] * 11], 3.2),
    ],
)
def test_effective_number_is_that_of_scikit_bio(counts: list[int], theirs: float) -> None:
    # scikit-bio 0.7.4, skbio.diversity.alpha.hill(counts, 2); by hand 10**2 / (25 + 9 + 4), 24**2 / (13**2 + 11)
    assert effective_number(counts) == pytest.approx(theirs)


def test_answers_are_counted_by_their_words_and_shown_as_first_written() -> None:
    shared = Shared.of(["The owl.", "a fox", "the  OWL", "An owl"])
    assert shared.answers == (("The owl.", 2), ("a fox", 1), ("An owl", 1))
    assert [shared.documents, shared.same, shared.effective] == pytest.approx([4, 1 / 6, 16 / 6])


def test_the_most_repeated_question_is_first_and_what_is_not_said_does_not_count(tmp_path: Path) -> None:
    file = written(tmp_path, ("a", "x"), ("b", "x"), ("a", "x"), ("c", ""))
    (own,) = repeats([file])
    assert [(row.question, row.own.answers) for row in own.rows] == [
        (ENDS, (("x", 3),)),
        (HAPPENS, (("a", 2), ("b", 1), ("c", 1))),
    ]
    here, there = own.features["plot"]
    assert here.mean == pytest.approx((1 + 1 / 6) / 2)
    assert (there.values, own.reader, own.copies) == (0, "", 0)


def test_the_populations_answers_are_those_of_the_runs_own_reader_where_it_has_read_them(tmp_path: Path) -> None:
    texts = ("One owl.", "Two owls.", "Three owls.")
    answers = [
        AnswerRow(document=document_id(OWL, text), question=question_id(OWL, ENDS), reader=reader, text=answer)
        for reader, said in (("mine", ("x", "x", "y")), ("other", ("z", "z", "z")))
        for text, answer in zip(texts, said, strict=True)
    ]
    population = small_population(tmp_path / "population", {OWL: texts}, answers=answers)
    samples = [answered((ENDS, "x"), signature=f"{GENIE}|reader:mine") for _ in range(2)]
    file = made_log(tmp_path, samples, prompts=[OWL] * 2, texts=["same", "same"])
    (own,) = repeats([file], population)
    (row,) = own.rows
    assert row.population is not None
    assert (own.reader, own.is_own_reader, own.copies) == ("mine", True, 1)
    assert row.population.answers == (("x", 2), ("y", 1))
    assert row.population.same == pytest.approx(1 / 3)
    assert own.features["plot"][1].mean == pytest.approx(1 / 3)
    said = genie("repeats", file, "--population", population.folder).stdout
    assert "1 of its 2 documents repeat another one word for word." in " ".join(said.split())
    assert "another grader" not in said
    # by another reader it is said whose they are
    unlike = made_log(tmp_path, [answered((ENDS, "x"))], prompts=[OWL])
    said = " ".join(genie("repeats", unlike, "--population", population.folder).stdout.split())
    assert "The population's answers are those of another grader, mine" in said


def test_the_command_shows_what_is_shared_and_gives_all_as_json_and_csv(tmp_path: Path) -> None:
    file = written(tmp_path, ("=a", "x"), ("=a", "x"), ("=a", "y"), ("d", "z"))
    said = " ".join(genie("repeats", file, "--population", "none", "--top", 1).stdout.split())
    assert "2 of 2 questions have an answer that documents share" in said
    assert "1 more: --top, --json or --csv shows them." in said
    one = written(tmp_path / "one", ("a", "x"), ("b", "x"))
    said = " ".join(genie("repeats", one, "--population", "none").stdout.split())
    assert "1 of 2 questions have an answer that documents share" in said
    assert (ENDS in said, HAPPENS in said) == (True, False)
    (value,) = as_json("repeats", file, "--population", "none")
    first, second = value["questions"]
    assert (first["own"]["same"], first["own"]["documents"], first["population"]) == (0.5, 4, None)
    assert second["own"]["answers"][0] == {"answer": "x", "documents": 2}
    table = tmp_path / "answers.csv"
    genie("repeats", file, "--population", "none", "--csv", table)
    with table.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["answer"] + row["given"] for row in rows] == ["'=a3", "d1", "x2", "y1", "z1"]
    assert rows[0]["population_same"] == ""


def test_without_answers_the_words_are_shown(tmp_path: Path) -> None:
    texts = [f"The ship came at {when}. Nobody went out to see what it had." for when in ("dawn", "noon", "dusk")]
    places = [("p", epoch) for epoch in (1, 2, 3)]
    bare = made_log(tmp_path, [{}, {}, {}], texts=texts, prompts=["Write."] * 3, places=places)
    (own,) = json.loads(genie("repeats", bare, "--population", "none", "--json").stdout)
    assert own["questions"] == []
    assert {"what": "opening", "text": "The ship came", "given": 3, "documents": 3}.items() <= own["wording"][0].items()
    shown = " ".join(genie("repeats", bare).stdout.split())
    assert shown.startswith("No score by genie in these logs has answers")
    assert "chance of the same answer" not in shown
    refused = genie("repeats", bare, "--judge", "embedding")
    assert "--judge compares answers, and no score by genie" in refused.stderr
    none = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, questions="140 questions: too many to keep here")}])
    refused = genie("repeats", none)
    assert refused.exit_code == 1
    assert "no score by genie in these logs has answers (for answers: inspect score LOG --scorer gen" in refused.stderr


def test_a_population_is_shown_alone_by_its_own_answers() -> None:
    said = " ".join(genie("repeats", "starter", "--top", 2).stdout.split())
    assert "90 of 112 questions have an answer that documents share" in said
    assert "a narrator outside the story, third person (22)" in said.replace("│ │ │ ", "")
    assert "The nightclub was │ 15 of 22 │" in said
    assert "Harrow │ 17 of 66 │" in said
    assert "the population's" not in said.split("same: the chance")[0]


def test_what_sets_two_runs_apart_is_tested_answer_by_answer_and_question_by_question(tmp_path: Path) -> None:
    first = written(tmp_path / "one", ("x", "same"), ("x", "same"), ("x", "same"))
    second = written(tmp_path / "two", ("y", "same"), ("y", "same"), ("w", "z"))
    one, two = repeats([first, second])
    # x: 3 of 3 and 0 of 3, two of 20 ways are as extreme; x and y are tested (w is given once), and two questions
    surest, other = contrasts(one, two)
    assert surest == Contrast("plot", HAPPENS, "x", 3, 3, 0, 3, p_value=surest.p_value)
    assert surest.p_value == pytest.approx(0.1 * 2 * 2)
    assert other == Contrast("plot", ENDS, "same", 3, 3, 2, 3, p_value=1.0)
    said = " ".join(genie("repeats", first, second, "--population", "none").stdout.split())
    assert f"No answer sets {two.run} apart from {one.run} beyond chance. The largest differences:" in said
    assert f'0 of 3 documents answer "x" to "{HAPPENS}"; 3 of 3 of the baseline (p 0.4)' in said
    assert (
        "give the same answers to the questions of both"
        in genie("repeats", *[written(tmp_path / name, ("x", "y"), ("x", "y")) for name in "ab"]).stdout
    )
    named = as_json("repeats", first, second, "--population", "none", "--baseline", two.run)
    assert named[0]["apart"]["baseline"] == two.run
    assert named[0]["apart"]["answers"][0]["given"] == 3
    assert "apart" not in named[1]
    assert f"expected one of {one.run}, {two.run}" in genie("repeats", first, second, "--baseline", "third").stderr


def test_copies_of_a_document_are_no_further_evidence(tmp_path: Path) -> None:
    samples = [answered((HAPPENS, "x"))] * 5
    first = made_log(tmp_path / "one", samples, prompts=[OWL] * 5, texts=["one", "one", "one", "one", "two"])
    second = made_log(
        tmp_path / "two", [answered((HAPPENS, "y"))] * 2, prompts=[OWL] * 2, texts=["three", "four"], model="mock/other"
    )
    one, two = repeats([first, second])
    assert one.rows[0].own.answers == (("x", 5),)
    (contrast,) = contrasts(one, two)
    # two of two and none of two: two of six ways, for each of two answers
    assert (contrast.given, contrast.documents) == (2, 2)
    assert contrast.p_value == pytest.approx(2 / 3)


def test_a_question_of_several_prompts_is_compared_over_all_of_them() -> None:
    # in each prompt two of two and none of two: one way of six, and its mirror; of eight prompts 2 / 6**8
    assert stratified_exact([(2, 2, 0, 2)] * 8) == pytest.approx(2 / 6**8)
    # a prompt in which all give it, or one of the two wrote nothing, says nothing
    assert stratified_exact([(3, 3, 0, 3), (4, 4, 4, 4), (2, 2, 0, 0)]) == pytest.approx(0.1)
    assert stratified_exact([]) == 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), max_size=3))
def test_the_exact_test_is_that_of_all_ways_to_deal_out_who_gives_it(strata: list[tuple[int, ...]]) -> None:
    tables = [(min(a, n), n, min(b, m), m) for a, n, b, m in strata]
    dealt = (
        [sum(place < size for place in chosen) for chosen in combinations(range(size + other), first + second)]
        for first, size, second, other in tables
    )
    ways = Counter(map(sum, product(*dealt)))
    observed = ways[sum(first for first, *_ in tables)]
    extreme = sum(count for count in ways.values() if count <= observed)
    assert stratified_exact(tables) == pytest.approx(extreme / ways.total())


def test_words_that_documents_share_are_counted_by_prompt_and_without_the_prompts_own() -> None:
    owl, fox = "Tell of an owl in Paris.", "Tell of a fox."
    own = [
        (owl, "The night came and Mara saw it from Paris. It was all that she could see, and then it ended well."),
        (owl, "The night came when Mara slept in Paris on Tuesday. They were what it was, and so it ended well."),
        (fox, "A fox ran to where Mara and Pell were, on Tuesday. It had been so, and they would go."),
    ]
    others = [(owl, f"Some {word} and it was that which they had when she would go from there." * 2) for word in "abcd"]
    assert [wording[:6] for wording in shared_wording(own, others)] == [
        ("opening", "The night came", 2, 2, 0, 4),
        ("ending", "it ended well", 2, 2, 0, 4),
        ("name", "Mara", 3, 3, 0, 4),
    ]


def test_overused_words_are_those_that_the_population_has_less_often() -> None:
    prompt = "Tell of an owl."
    # a lantern in half as many again is no overuse, however sure; the prompt's words do not count
    own = [(prompt, f"{number} luminous beacon lantern owl {number}") for number in range(40)]
    others = [
        (prompt, f"{number} plain {'beacon' * (number % 4 == 0)} {'lantern' * (number % 3 > 0)} {number}")
        for number in range(60, 100)
    ]
    luminous, beacon = shared_wording(own, others)
    assert luminous[:6] == ("word", "luminous", 40, 40, 0, 40)
    # 40 of 40 and none of 40 is the surest of four words: luminous, beacon, lantern and plain
    assert luminous.p_value == pytest.approx(4 * 2 / math.comb(80, 40), abs=0)
    assert beacon[:6] == ("word", "beacon", 40, 40, 10, 40)


def test_the_populations_documents_are_those_that_the_run_did_not_write(tmp_path: Path) -> None:
    texts = tuple(f"a grey owl {number}" for number in range(3))
    population = small_population(tmp_path / "population", {OWL: texts})
    file = made_log(tmp_path, [answered((ENDS, "x"))] * 2, prompts=[OWL] * 2, texts=[texts[0], "a grey owl ends"])
    (own,) = repeats([file], population)
    assert own.wording[0][:6] == ("opening", "a grey owl", 2, 2, 2, 2)


def in_prompts(folder: Path, *by_prompt: str) -> str:
    """A log of documents that give these one-letter answers to one question, some for each prompt."""
    rows = [(f"Prompt {number}", letter) for number, letters in enumerate(by_prompt) for letter in letters]
    samples = [answered((ENDS, letter)) for _, letter in rows]
    texts = [f"text {number}" for number in range(len(rows))]
    return made_log(folder, samples, prompts=[prompt for prompt, _ in rows], texts=texts)


def test_the_effective_number_of_a_feature_is_a_mean_over_prompts_with_an_interval(tmp_path: Path) -> None:
    file = in_prompts(tmp_path, "aabb", "aaaa", "abcd", "x")
    # 16 of 8, 16 of 16 and 16 of 4; one document alone says nothing
    values, prompts = [2.0, 1.0, 4.0], ["a", "b", "c"]
    expected = prompt_interval(values, prompts, bounds=(1, 4))
    (own,) = repeats([file])
    one, none = own.effective["plot"]
    assert one == (expected, 4, "")
    assert one.interval.mean == pytest.approx(7 / 3)
    assert 1 <= one.interval.low < one.interval.mean < one.interval.high <= 4
    assert math.isnan(none.interval.mean)
    assert none.why_no_interval == "no answers are on record"
    said = " ".join(genie("repeats", file, "--population", "none").stdout.split())
    assert f"2.33 [{expected.low:.2f}, {expected.high:.2f}] of 4" in said
    assert "without interval" not in said


@pytest.mark.parametrize(
    ("by_prompt", "mean", "why"),
    [
        (("aabb", "aaaa"), 1.5, "prompts: 2, expected 3 or more"),
        (("aabb", "aaaa", "x"), 1.5, "prompts: 2, expected 3 or more"),
        (("aabb", "ccdd", "xxyy"), 2, "each prompt has the same mean"),
        (("a", "b", "c"), None, "no two documents for a prompt answer the same question"),
    ],
)
def test_an_effective_number_without_interval_says_why(
    tmp_path: Path, by_prompt: tuple[str, ...], mean: float | None, why: str
) -> None:
    file = in_prompts(tmp_path, *by_prompt)
    (value,) = as_json("repeats", file, "--population", "none")
    own = value["effective"]["plot"]["own"]
    assert (own["mean"], own["low"], own["high"], own["reason"]) == (mean, None, None, why)
    said = " ".join(genie("repeats", file, "--population", "none").stdout.split())
    assert f"Effective number without interval (plot): {why}." in said
