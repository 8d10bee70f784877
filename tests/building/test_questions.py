import csv
import json
import math
from collections import Counter
from pathlib import Path

import pytest
from tests.building.scripts import FEATURES as PLOT_AND_PLACE
from tests.building.scripts import FOX, OWL, otherwise, willing
from tests.scripted import FEATURES as PLOT_AND_STYLE
from tests.scripted import Script, saying, small_population

from genie_inspect.building.questions import (
    LINE,
    MOST,
    QuestionWriter,
    Record,
    Step,
    breach,
    judged_questions,
    passed,
    question_figures,
    read_questions,
    read_review,
    read_table,
    write_record,
    write_review,
    write_tables,
)
from genie_inspect.errors import PopulationError
from genie_inspect.populations.population import open_population
from genie_inspect.populations.schema import Feature, Question, question_id
from genie_inspect.statistics.agreement import krippendorff_alpha


async def record_of(script: Script, most: int = MOST) -> Record:
    return await QuestionWriter(script.model(), PLOT_AND_PLACE, 1, most).write([OWL, FOX])


async def test_questions_are_written_by_aspect_and_a_feature_left_empty_gets_a_second_pass_that_knows_it() -> None:
    script = willing()
    record = await record_of(script)
    assert [q.text for q in passed(record) if q.prompt == OWL and q.feature == "plot"] == [
        *(f"What does {aspect} do in part {part}?" for aspect in ("hunger", "night") for part in (1, 2))
    ]
    assert [(q.prompt, q.text) for q in passed(record) if q.feature == "place"] == [
        (OWL, "Where is owl found?"),
        (FOX, "Where is fox found?"),
    ]
    # the first pass does not know the features
    first = [data for data in script.data if "features" not in data and "feature" not in data]
    assert first, "aspects, questions and filter"
    assert not any(feature.definition in str(data) for data in first for feature in PLOT_AND_PLACE)


async def test_what_the_second_pass_brings_counts_for_its_feature_alone() -> None:
    record = await record_of(willing(feature=lambda question: "plot"))
    assert {q.feature for q in passed(record)} == {"plot"}
    strayed = [step for step in record["mapped"] if step.source == "place"]
    assert {step.reason for step in strayed} == {"not the feature that it was written for"}


async def test_every_rejection_has_its_reason_at_its_step() -> None:
    verdicts = {"What does hunger do in part 1?": "subjective", "What does hunger do in part 2?": "nonsense"}
    features = {"What does night do in part 1?": "several", "What does night do in part 2?": "none"}
    script = willing(lambda d: 4, lambda q: verdicts.get(q, "keep"), lambda q: features.get(q, "place"))
    record = await record_of(script)
    rejected = {step.text: step.reason for step in record["filtered"] + record["mapped"] if not step.kept}
    assert rejected == {
        "What does hunger do in part 1?": "subjective",
        "What does hunger do in part 2?": "unreadable reply",
        "What does night do in part 1?": "two or more features",
        "What does night do in part 2?": "no feature",
    }


async def test_a_question_that_visibly_breaks_a_rule_is_rejected_without_asking() -> None:
    script = Script(
        lambda request: '{"1": "hunger: food"}' if "aspect" not in request else '{"1": "Is the owl hungry?"}'
    )
    record = await record_of(script)
    assert {step.reason for step in record["filtered"]} == {"polar (by rule)"}
    assert not any("questions" in data for data in script.data)


async def test_the_same_question_twice_for_a_prompt_is_kept_once() -> None:
    twice = '{"1": "What is lost?", "2": "what is lost"}'
    record = await record_of(otherwise(willing(), lambda data: twice if "aspect" in data else None))
    kept = [step.kept for step in record["written"] if step.prompt == OWL and step.text == "What is lost?"]
    assert sorted(kept) == [False, True]


async def test_a_feature_gets_no_more_questions_than_wanted_and_no_second_pass_where_it_has_enough() -> None:
    record = await record_of(willing(), 3)
    assert Counter((q.prompt, q.feature) for q in passed(record))[OWL, "plot"] == 3
    assert "3 questions of this feature are enough" in {step.reason for step in record["mapped"]}
    script = willing()
    await QuestionWriter(script.model(), PLOT_AND_PLACE, 4).write([OWL])
    # the first pass brings four on the plot and none on the place
    assert {data["feature"] for data in script.data if "feature" in data} == {"place"}


async def test_a_grader_that_babbles_brings_no_questions_and_the_count_of_its_replies() -> None:
    writer = QuestionWriter(saying("Owls, owls, owls.").model(), PLOT_AND_PLACE, 1)
    record = await writer.write([OWL])
    assert passed(record) == []
    # aspects once and twice again, then each of two features once and twice again
    assert (writer.unreadable, writer.asked_again) == (9, 6)


def test_a_visible_breach_is_named() -> None:
    breaches = {
        "Does the owl return?": "polar",
        "In the last scene, is it raining?": "polar",
        "What does the owl want, and why does it leave?": "two things",
        "Where is it? When?": "two things",
        "Which animal, such as an owl, appears?": "examples",
        "What would the owl do next?": "hypothetical",
        "What happens if the owl returns?": "hypothetical",
        "How does the above change the owl?": "dependent",
    }
    assert {question: breach(question) for question in breaches} == breaches


@pytest.mark.parametrize("population", ["starter", "abstracts"])
def test_questions_that_people_can_use_break_no_rule(population: str) -> None:
    opened = open_population(population)
    asked = [question.text for prompt in opened.prompts for question in opened.questions(prompt)]
    assert {text: breach(text) for text in asked if breach(text)} == {}


Table = list[dict[str, str]]


def edited(path: Path, change: dict[int, dict[str, str]], added: Table | None = None) -> Path:
    """The table as a person would have left it: some cells changed, some rows added."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    for row, cells in change.items():
        lines[row].update(cells)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows([*lines, *(added or [])])
    return path


@pytest.fixture
def questions(tmp_path: Path) -> list[Question]:
    return read_questions(small_population(tmp_path / "population").folder, PLOT_AND_STYLE)


def test_people_reword_move_drop_and_add_questions(questions: list[Question], tmp_path: Path) -> None:
    write_review(tmp_path / "table.csv", questions)
    new = {"id": "", "keep": "yes", "feature": "style", "text": "Which rhythm?", "prompt": OWL, "note": "mine"}
    changes = {0: {"text": "What comes to pass?"}, 1: {"feature": "style"}, 2: {"keep": "No"}}
    kept, counts = read_review(edited(tmp_path / "table.csv", changes, [new]), questions, PLOT_AND_STYLE)
    assert counts == {"reworded": 1, "moved": 1, "dropped": 1, "added": 1}
    assert [(q.feature, q.text) for q in kept if q.prompt == OWL] == [
        ("plot", "What comes to pass?"),
        ("style", "How does it end?"),
        ("style", "Which rhythm?"),
    ]
    assert kept[0].id == question_id(OWL, "What comes to pass?")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "q-nobody"}, "row 2: no question has the id 'q-nobody'"),
        ({"feature": "smell"}, r"row 2, column feature: 'smell', expected one of \['plot', 'style'\]"),
        ({"text": " "}, "row 2, column text is empty"),
        ({"text": "How does it end?"}, "row 3: 'How does it end.' appears twice"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(
    change: dict[str, str], message: str, questions: list[Question], tmp_path: Path
) -> None:
    write_review(tmp_path / "table.csv", questions)
    with pytest.raises(PopulationError, match=message):
        read_review(edited(tmp_path / "table.csv", {0: change}), questions, PLOT_AND_STYLE)


def test_a_question_of_ones_own_needs_no_id(tmp_path: Path) -> None:
    rows = [{"prompt": OWL, "feature": "plot", "text": "What happens?"}]
    rows += [{"id": "mine", "prompt": OWL, "feature": "style", "text": "Who tells it?"}]
    path = tmp_path / "questions.jsonl"
    # as a Windows editor leaves it
    path.write_text("\ufeff" + "\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = read_questions(path, PLOT_AND_STYLE)
    assert [(question.id, question.text) for question in asked] == [
        (question_id(OWL, "What happens?"), "What happens?"),
        ("mine", "Who tells it?"),
    ]


def test_one_message_says_all_that_is_missing_and_shows_a_line_that_works(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    good = {"prompt": OWL, "feature": "plot", "text": "What happens?"}
    lines = [{"prompt": OWL, "text": "a"}, {"prompt": OWL, "question": "b", "feature": "plot"}, good, good]
    lines += [{"prompt": OWL, "text": "c"}, {"prompt": OWL, "feature": "smell", "text": "d"}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(PopulationError) as caught:
        read_questions(path, PLOT_AND_STYLE)
    said = str(caught.value)
    for part in (
        "lines 1, 5: no feature;",
        "line 2: no text, unknown field 'question';",
        "line 4: 'q-",
        "line 6: feature 'smell' is not one of plot, style (--features);",
        f"expected lines such as {LINE}",
    ):
        assert part in said
    assert "\n" not in said
    for content in ("", "id,text\n1,What?\n"):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(PopulationError, match=r"questions\.jsonl.* expected lines such as \{"):
            read_questions(path, PLOT_AND_STYLE)
    # the line that is shown is read
    path.write_text(LINE, encoding="utf-8")
    assert [question.feature for question in read_questions(path, PLOT_AND_STYLE)] == ["plot"]


FEATURES = [Feature(name="plot", definition="What happens."), Feature(name="social_atmosphere", definition="How.")]
PROMPT = "Write about owls."
VERDICTS = {
    "Is it dark?": ("polar (by rule)", ""),
    "What happens?": ("", "plot"),
    "How does it end?": ("", "plot"),
    "Who speaks to whom?": ("", "social_atmosphere"),
    "What is it?": ("", ""),
    "Why?": ("unreadable reply", ""),
}


def step(text: str, reason: str = "", feature: str = "") -> Step:
    return Step(prompt=PROMPT, source="ending", text=text, kept=not reason, reason=reason, feature=feature)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What `genie questions write` leaves, without the questions themselves."""
    filtered = [step(text, reason) for text, (reason, _) in VERDICTS.items()]
    mapped = [step(text, "" if feature else "no feature", feature) for text, (r, feature) in VERDICTS.items() if not r]
    place = tmp_path / "written"
    place.mkdir()
    write_record(place, {"written": filtered, "filtered": filtered, "mapped": mapped})
    return place


def table(path: Path, **said: tuple[str, str]) -> Path:
    """A person's table: by the question's place, what is valid and of which feature."""
    rows = [(question_id(PROMPT, list(VERDICTS)[int(place[1:])]), *words) for place, words in said.items()]
    path.write_text("\n".join([",".join(("id", "valid", "feature")), *map(",".join, rows)]) + "\n", encoding="utf-8")
    return path


def test_rejected_questions_are_among_those_that_people_see_and_unread_verdicts_are_not(folder: Path) -> None:
    found = {each.text: (each.kept, each.feature) for each in judged_questions(folder, FEATURES).values()}
    assert found == {
        "Is it dark?": (False, ""),
        "What happens?": (True, "plot"),
        "How does it end?": (True, "plot"),
        "Who speaks to whom?": (True, "social_atmosphere"),
        "What is it?": (True, "none"),
    }


def test_people_see_neither_verdict_nor_feature_in_an_order_that_the_seed_shuffles(
    folder: Path, tmp_path: Path
) -> None:
    judged = judged_questions(folder, FEATURES)
    assert {write_tables(tmp_path / f"{seed}.csv", judged, FEATURES, seed=seed) for seed in range(6)} == {5}
    tables = [(tmp_path / f"{seed}.csv").read_text(encoding="utf-8").splitlines()[1:] for seed in range(6)]
    assert all(row.endswith(",,,") for row in tables[0])
    assert {tuple(sorted(rows)) for rows in tables} == {tuple(sorted(tables[0]))}
    assert len(set(map(tuple, tables))) > 3


def test_figures_by_hand(folder: Path, tmp_path: Path) -> None:
    judged = judged_questions(folder, FEATURES)
    # ann: valid are 1, 2, 3; bob leaves 4 out and finds 0 valid
    words = {"q0": ("no", ""), "q1": ("y", "plot"), "q2": ("yes", "Social  atmosphere")}
    ann = table(tmp_path / "ann.csv", **words, q3=("1", "plot"), q4=("n", "none"))
    words = {"q0": ("yes", "plot"), "q1": ("yes", "plot"), "q2": ("no", "plot"), "q3": ("yes", "social_atmosphere")}
    bob = table(tmp_path / "bob.csv", **words)
    votes = [read_table(path, judged, FEATURES) for path in (ann, bob)]
    rows = {(row["what"], row["person"]): row for row in question_figures(votes, judged, FEATURES)}

    def figures(what: str, person: str) -> list[float]:
        return [rows[what, person][name] for name in ("questions", "accuracy", "f1")]

    # we call 1 to 4 valid: of ann's five 4 is wrong; f1 = 2 * 3 / (4 + 3)
    assert figures("valid", "ann") == pytest.approx([3, 0.8, 6 / 7])
    # of bob's four 0 and 2 are wrong: both 1, 3; we 1, 2, 3, he 0, 1, 3
    assert figures("valid", "bob") == pytest.approx([3, 0.5, 4 / 6])
    units = [[0.0, 1, 1, 1, 0], [1, 1, 0, 1, math.nan]]
    for person in ("ann", "bob"):
        assert rows["valid", person]["alpha"] == pytest.approx(krippendorff_alpha(units, "nominal"))
    # plot: ann 1, 3; we 1, 2: one of her two, f1 = 2 / 4
    assert figures("plot", "ann") == [2, 0.5, 0.5]
    # bob's 0 was not mapped: his plots are 1, 2, as ours
    assert figures("plot", "bob") == [2, 1, 1]
    # ann: 1 and 4 alike of four; f1 plot 1/2, atmosphere 0
    assert figures("all features", "ann") == [4, 0.5, 0.25]
    named = [[0.0, 1, 0, 2], [0, 0, 1, math.nan]]
    # nominal units: 1, 2, 3, 4; 0 has bob's word alone, which is in no pair
    assert rows["all features", "ann"]["alpha"] == pytest.approx(krippendorff_alpha(named, "nominal"))
    assert math.isnan(rows["plot", "ann"]["alpha"])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q-0,yes,", "row 2: id 'q-0' is not the id of a question"),
        ("{id},perhaps,", "row 2, column valid: 'perhaps', expected yes, no or nothing"),
        ("{id},yes,mood", "row 2, column feature: 'mood', expected one of"),
        ("{id},yes,\n{id},no,", "row 3: id '{id}' appears twice"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_in_people(row: str, message: str, folder: Path, tmp_path: Path) -> None:
    judged = judged_questions(folder, FEATURES)
    path = tmp_path / "t.csv"
    path.write_text("id,valid,feature\n" + row.format(id=next(iter(judged))) + "\n")
    with pytest.raises(PopulationError, match=message.format(id=next(iter(judged)))):
        read_table(path, judged, FEATURES)
