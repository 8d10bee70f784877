"""The starter population and its record, held to what the project says of them."""

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import pytest
from inspect_ai.model import get_model
from tests.left_out import with_ci
from tests.processes import tool_named

from genie_inspect.files.writing import DATA
from genie_inspect.graders.embedding_judge import shipped_fit
from genie_inspect.graders.reader import GraderReader
from genie_inspect.populations.population import ANSWERS, BUNDLED, Population
from genie_inspect.populations.schema import Document, Question, rows
from genie_inspect.prompting.answers import is_unspecified, normalised
from genie_inspect.providers.replay import RATINGS, READINGS, RecordedAnswer, RecordedRatings, Story, starter_record

RECORD = starter_record()
POPULATION: Population = RECORD.population
STORIES: list[Story] = RECORD.stories
QUESTIONS = {question.id: question for prompt in POPULATION.prompts for question in POPULATION.questions(prompt)}
ASKED = {"agent": 2, "plot": 3, "setting": 2, "perspective": 2, "social_atmosphere": 2, "style": 3}
DOCUMENTS = 22  # a prompt; two of the 24 writers tell as bundled/ordinary


def test_there_are_eight_prompts_of_the_study() -> None:
    study = (DATA / "synthetic_prompts.txt").read_text(encoding="utf-8").splitlines()
    assert len(study) == len(set(study)) == 25
    assert len(POPULATION.prompts) == 8
    assert set(POPULATION.prompts) <= set(study)
    assert ASKED.keys() == {feature.name for feature in POPULATION.features}


@pytest.mark.parametrize("prompt", POPULATION.prompts)
def test_a_prompt_has_its_documents_and_questions_and_each_storyteller_tells_it_twice(prompt: str) -> None:
    assert len(POPULATION.documents(prompt)) == DOCUMENTS
    told = Counter((story.storyteller, story.epoch) for story in STORIES if story.prompt == prompt)
    assert told == dict.fromkeys(product(("ordinary", "inventive"), (1, 2)), 1)
    assert Counter(question.feature for question in POPULATION.questions(prompt)) == ASKED
    asked = [normalised(question.text) for question in POPULATION.questions(prompt)]
    assert len(set(asked)) == len(asked)


def test_the_recorded_reader_is_the_grader_with_todays_template() -> None:
    assert POPULATION.readers == [GraderReader(get_model("bundled/grader")).signature], (
        "the reading template or the form of the reader's signature has changed, so the record answers to another "
        "reader: if the recorded answers still hold, run tools/restamp_starter.py; else read the documents again"
    )


@pytest.mark.parametrize("folder", BUNDLED.values(), ids=BUNDLED.keys())
def test_restamping_once_puts_every_bundled_population_right_and_twice_changes_nothing(
    folder: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    old = (copy / ANSWERS).read_text(encoding="utf-8").replace("template=", "template=old")
    (copy / ANSWERS).write_text(old, encoding="utf-8")
    for _ in range(2):
        tool_named("restamp_starter").restamped(copy)
        assert {file.name: file.read_bytes() for file in copy.rglob("*") if file.is_file()} == {
            file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()
        }


def test_there_is_one_answer_of_a_few_words_or_none_a_question_and_document() -> None:
    told: list[Story | Document] = [*STORIES]
    told += [document for prompt in POPULATION.prompts for document in POPULATION.documents(prompt)]
    for text, question in ((one.text, question) for one in told for question in POPULATION.questions(one.prompt)):
        answer = RECORD.answer(text, question.text)
        assert answer is None or (len(answer.split()) <= 10 and not is_unspecified(answer)), (text, answer)
    documents = Counter((row.document, row.question) for row in rows(RECORD.folder / READINGS, RecordedAnswer))
    assert set(documents.values()) == {1}
    asked = sum(len(POPULATION.questions(story.prompt)) for story in STORIES)
    assert len(documents) == asked
    assert POPULATION.manifest.counts.answers == DOCUMENTS * len(QUESTIONS)


def needed() -> Iterator[tuple[Question, str, str]]:
    """Each answer of a story or a document with each of another document, and of the ordinary stories with each other.

    So all 24 writers are rated against each other, and any two of them can be held out.
    """
    for question in QUESTIONS.values():
        documents = [document.text for document in POPULATION.documents(question.prompt)]
        ordinary = RECORD.stories_of("ordinary", question.prompt)
        inventive = RECORD.stories_of("inventive", question.prompt)
        answers = {text: RECORD.answer(text, question.text) for text in (*documents, *ordinary, *inventive)}
        pairs = (*combinations((*documents, *ordinary), 2), *product(inventive, documents))
        for text, other in pairs:
            if (answer := answers[text]) and (said := answers[other]):
                yield question, answer, said


Pair = tuple[str, frozenset[str]]


def pair(question: str, answer: str, other: str) -> Pair:
    """A pair as the record looks it up: by the question's text, in either order, whatever the case."""
    return QUESTIONS[question].text, frozenset((normalised(answer), normalised(other)))


def recorded() -> dict[Pair, set[int]]:
    found: dict[Pair, set[int]] = defaultdict(set)
    for row in rows(RECORD.folder / RATINGS, RecordedRatings):
        for other, rating in row.ratings.items():
            found[pair(row.question, row.answer, other)].add(rating)
    return found


def test_every_pair_that_storytellers_reference_scores_and_calibration_need_has_one_rating_and_no_other_has() -> None:
    pairs = {pair(question.id, answer, other) for question, answer, other in needed()}
    found = recorded()
    # equal answers are interchangeable and need no rating
    assert found.keys() == {key for key in pairs if len(key[1]) == 2}
    assert len(found) > 17_000
    assert {key: ratings for key, ratings in found.items() if len(ratings) > 1} == {}
    assert set.union(*found.values()) == {1, 2, 3, 4}


@with_ci("the card's tables made anew, whose figures other tests hold")
def test_the_card_has_the_tables_that_its_script_makes_of_the_record() -> None:
    card = (RECORD.folder / "README.md").read_text(encoding="utf-8")
    tool = tool_named("starter_card")
    tables = {"sameness": tool.sameness_table, "answers": tool.answer_table, "agreement": tool.agreement_table}
    for name, table in (tables | {"marked": tool.marked_table, "read twice": tool.read_twice_table}).items():
        assert tool.with_table(card, name, tool.markdown(table(RECORD))) == card
    assert tool.with_table(card, "vectors", "\n".join(tool.fit_table(shipped_fit()))) == card
    # of the repetition table the released run is not here
    for row in tool.repetition_table(RECORD, {})[1:]:
        assert tool.markdown([row]).splitlines()[0] in card


def test_the_second_ratings_agree_with_the_first() -> None:
    tool = tool_named("starter_agreement")
    pairs = tool.rated_again(RECORD, "second_ratings")
    assert tool.alpha([pair for each in pairs.values() for pair in each]) >= 0.8
    assert min(map(tool.alpha, pairs.values())) >= 0.7
