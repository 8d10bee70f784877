import pytest

from genie_inspect.providers.replay import starter_record

RECORD = starter_record()
STORY = RECORD.stories[0]
QUESTION = RECORD.population.questions(STORY.prompt)[0].text


def test_each_storyteller_has_told_the_same_number_of_stories_for_every_prompt() -> None:
    for storyteller in ("conventional", "inventive"):
        told = [RECORD.stories_of(storyteller, prompt) for prompt in RECORD.population.prompts]
        assert {len(stories) for stories in told} == {2}
        assert len({text for stories in told for text in stories}) == 2 * len(told), "no story is told twice"


def test_a_storyteller_or_a_prompt_that_is_not_on_record_has_no_stories() -> None:
    assert RECORD.stories_of("nobody", STORY.prompt) == []
    assert RECORD.stories_of("inventive", "Write about nothing.") == []


def test_every_question_is_answered_on_record_for_every_document_of_its_prompt_and_every_story() -> None:
    for prompt in RECORD.population.prompts:
        texts = [document.text for document in RECORD.population.documents(prompt)]
        texts += [story.text for story in RECORD.stories if story.prompt == prompt]
        for question in RECORD.population.questions(prompt):
            answers = [RECORD.answer(text, question.text) for text in texts]
            assert any(answers), f"nobody answers {question.text!r}"


def test_every_answer_of_a_story_is_rated_against_every_answer_of_the_population() -> None:
    for story in RECORD.stories:
        for question in RECORD.population.questions(story.prompt):
            answer = RECORD.answer(story.text, question.text)
            for document in RECORD.population.documents(story.prompt):
                other = RECORD.answer(document.text, question.text)
                if answer and other:
                    assert RECORD.rating(question.text, answer, other) in {1, 2, 3, 4}


def test_a_rating_does_not_depend_on_order_case_or_end_punctuation() -> None:
    answer = RECORD.answer(STORY.text, QUESTION)
    other = RECORD.answer(RECORD.population.documents(STORY.prompt)[0].text, QUESTION)
    assert answer
    assert other
    assert (
        RECORD.rating(QUESTION, answer, other)
        == RECORD.rating(QUESTION, other, answer)
        == RECORD.rating(QUESTION, f" {answer.upper()}.", other)
    )


def test_equal_answers_are_interchangeable_whether_or_not_somebody_rated_them() -> None:
    assert RECORD.rating(QUESTION, "an answer that nobody gave", "An answer that nobody gave.") == 4


def test_what_is_not_on_record_is_an_error_in_words() -> None:
    with pytest.raises(KeyError, match="an answer to 'What is it\\?' in the document 'High on a windswept hill"):
        RECORD.answer(STORY.text, "What is it?")
    with pytest.raises(KeyError, match="a rating of 'black' and 'white' for 'What is it\\?'"):
        RECORD.rating("What is it?", "black", "white")
