from collections import Counter
from pathlib import Path

import pytest
from tests.building.scripts import FEATURES, FOX, OWL, willing
from tests.scripted import Script, saying

from genie_inspect.building.interviewing import Interviewer
from genie_inspect.building.question_writing import QuestionWriter, Record, Step, Wanted, breach
from genie_inspect.building.questions import STEPS, write_record
from genie_inspect.populations.population import open_population
from genie_inspect.populations.schema import rows


async def record_of(script: Script, wanted: Wanted | None = None) -> Record:
    return await QuestionWriter(Interviewer(script.model()), FEATURES, wanted or Wanted(1)).write([OWL, FOX])


async def test_questions_are_written_by_aspect_and_mapped_to_one_feature_each() -> None:
    record = await record_of(willing())
    assert [q.text for q in record.questions if q.prompt == OWL and q.feature == "plot"] == [
        "What does hunger do in part 1?",
        "What does hunger do in part 2?",
        "What does night do in part 1?",
        "What does night do in part 2?",
    ]


async def test_the_writing_steps_of_the_first_pass_do_not_know_the_features() -> None:
    script = willing()
    await record_of(script)
    first = [data for data in script.data if "features" not in data and "feature" not in data]
    assert first, "aspects, questions and filter"
    assert not any(feature.definition in str(data) for data in first for feature in FEATURES)


async def test_a_feature_left_empty_gets_a_second_pass_that_knows_it() -> None:
    record = await record_of(willing())
    assert [(q.prompt, q.text) for q in record.questions if q.feature == "place"] == [
        (OWL, "Where is owl found?"),
        (FOX, "Where is fox found?"),
    ]


async def test_what_the_second_pass_brings_counts_for_its_feature_alone() -> None:
    record = await record_of(willing(feature=lambda question: "plot"))
    assert {q.feature for q in record.questions} == {"plot"}
    strayed = [step for step in record.mapped if step.source == "place"]
    assert {step.reason for step in strayed} == {"not the feature that it was written for"}


async def test_every_rejection_has_its_reason_at_its_step() -> None:
    verdicts = {"What does hunger do in part 1?": "subjective", "What does hunger do in part 2?": "nonsense"}
    features = {"What does night do in part 1?": "several", "What does night do in part 2?": "none"}
    script = willing(lambda d: 4, lambda q: verdicts.get(q, "keep"), lambda q: features.get(q, "place"))
    record = await record_of(script)
    rejected = {step.text: step.reason for step in record.filtered + record.mapped if not step.kept}
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
    assert {step.reason for step in record.filtered} == {"polar (by rule)"}
    assert not any("questions" in data for data in script.data)


async def test_the_same_question_twice_for_a_prompt_is_kept_once() -> None:
    def reply(request: str) -> str:
        inner = willing().reply(request)
        return '{"1": "What is lost?", "2": "what is lost"}' if '"aspect"' in request else str(inner)

    record = await record_of(Script(reply))
    assert Counter(step.kept for step in record.written if step.prompt == OWL and step.text == "What is lost?") == {
        True: 1,
        False: 1,
    }


async def test_no_more_questions_of_a_feature_than_wanted_are_kept() -> None:
    record = await record_of(willing(), Wanted(1, 3))
    assert Counter((q.prompt, q.feature) for q in record.questions)[OWL, "plot"] == 3
    assert "3 questions of this feature are enough" in {step.reason for step in record.mapped}


async def test_a_grader_that_babbles_brings_no_questions_and_the_count_of_its_replies() -> None:
    interviewer = Interviewer(saying("Owls, owls, owls.").model())
    record = await QuestionWriter(interviewer, FEATURES, Wanted(1)).write([OWL])
    assert record.questions == []
    # aspects once and twice again, then each of two features once and twice again
    assert (interviewer.unreadable, interviewer.asked_again) == (9, 6)


async def test_each_step_has_a_file_of_its_own(tmp_path: Path) -> None:
    record = await record_of(willing())
    write_record(tmp_path, record)
    read = [list(rows(tmp_path / name, Step)) for name in STEPS]
    assert read == [record.written, record.filtered, record.mapped]


@pytest.mark.parametrize(("least", "most"), [(0, 3), (4, 3)])
def test_an_impossible_number_of_questions_is_refused(least: int, most: int) -> None:
    with pytest.raises(ValueError, match=f"questions per feature are {least} to {most}"):
        Wanted(least, most)


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("Does the owl return?", "polar"),
        ("In the last scene, is it raining?", "polar"),
        ("What does the owl want, and why does it leave?", "two things"),
        ("Where is it? When?", "two things"),
        ("Which animal, such as an owl, appears?", "examples"),
        ("What would the owl do next?", "hypothetical"),
        ("What happens if the owl returns?", "hypothetical"),
        ("How does the above change the owl?", "dependent"),
    ],
)
def test_a_visible_breach_is_named(question: str, rule: str) -> None:
    assert breach(question) == rule


@pytest.mark.parametrize("population", ["starter", "abstracts"])
def test_questions_that_people_can_use_break_no_rule(population: str) -> None:
    opened = open_population(population)
    asked = [question.text for prompt in opened.prompts for question in opened.questions(prompt)]
    assert {text: breach(text) for text in asked if breach(text)} == {}
