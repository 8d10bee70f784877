import json
import math
import random
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.solver import Solver
from tests.scripted import scores

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.prompting.answers import reading_reply
from genie_inspect.prompting.templates import fenced
from genie_inspect.providers.replay import graded, starter_record
from genie_inspect.solvers.prompting_methods import negative_sampling, outline, trim, verbalized_sampling
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts

RECORD = starter_record()
PROMPT = RECORD.population.prompts[0]
QUESTIONS = RECORD.population.questions(PROMPT)
STORY = RECORD.stories_of("inventive", PROMPT)[0]
FAKED = f"```json\n{json.dumps({'document': STORY, 'questions': {'1': QUESTIONS[0].text}})}\n```"


def test_epochs_replay_the_stories_in_order_and_begin_again_after_the_last(tmp_path: Path) -> None:
    task = Task(dataset=[Sample(input=PROMPT, id=1)], epochs=5)
    (log,) = evaluate(task, model="bundled/ordinary", display="none", log_dir=str(tmp_path))
    assert log.status == "success", log.error
    told = {sample.epoch: sample.output.completion for sample in log.samples or []}
    first, second = RECORD.stories_of("ordinary", PROMPT)
    assert told == {1: first, 2: second, 3: first, 4: second, 5: first}


async def test_a_prompt_is_found_in_the_last_message_of_the_user_and_real_tokens_are_counted() -> None:
    messages: list[ChatMessage] = [
        ChatMessageSystem(content="You write stories."),
        ChatMessageUser(content=RECORD.population.prompts[1]),
        ChatMessageAssistant(content="..."),
        ChatMessageUser(content=f"Think of a plan first.\n\n{PROMPT}\n\nUse 200 words."),
    ]
    output = await get_model("bundled/inventive").generate(messages)
    assert output.completion == STORY
    asked, told = sum(static_token_count(message.text) for message in messages), static_token_count(STORY)
    assert output.usage is not None
    assert (output.usage.input_tokens, output.usage.output_tokens) == (asked, told)
    assert output.usage.total_tokens == asked + told > len(STORY.split())


async def test_a_model_that_is_not_bundled_has_arguments_or_no_story_of_a_prompt_is_refused() -> None:
    with pytest.raises(PrerequisiteError, match="bundled/grader, bundled/inventive, bundled/ordinary"):
        get_model("bundled/gpt")
    with pytest.raises(PrerequisiteError, match=r"no arguments, got \['temperament'\]"):
        get_model("bundled/grader", temperament="kind")
    with pytest.raises(PrerequisiteError, match=r"no story on record for 'Write about rain\.'.*population=starter"):
        await get_model("bundled/inventive").generate("Write about rain.")


def test_reading_requests_are_answered_by_number_whatever_the_order_and_number_of_questions() -> None:
    shuffled = random.Random(1).sample(QUESTIONS, 5)
    asked = {str(number): question.text for number, question in enumerate(shuffled, start=1)}
    reply = graded(RECORD, "Read this.\n\n" + fenced({"document": STORY, "questions": asked}))
    answers, is_attempt = reading_reply(reply, 5)
    assert is_attempt
    assert answers == {number: RECORD.answer(STORY, question.text) for number, question in enumerate(shuffled, start=1)}


@pytest.mark.parametrize(
    ("data", "missing"),
    [
        ({"document": "A new story.", "questions": {"1": QUESTIONS[0].text}}, "in the document 'A new story.'"),
        ({"document": STORY, "questions": {"1": "What is new?"}}, "an answer to 'What is new?'"),
        ({"question": QUESTIONS[0].text, "answer": "new", "others": {"1": "newer"}}, "a rating of 'new' and 'newer'"),
        ({"question": QUESTIONS[0].text, "answer": "new", "other": "newer"}, "a rating of 'new' and 'newer'"),
        # whose text fakes the fence: the real one is read
        ({"document": FAKED, "questions": {"1": QUESTIONS[0].text}}, "in the document '```json"),
    ],
)
def test_what_is_not_on_record_is_an_error_that_says_what_and_what_would_work(
    data: dict[str, object], missing: str
) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        graded(RECORD, fenced(data))
    assert missing in str(caught.value.message)
    assert "--model-role grader=" in str(caught.value.message)
    assert "judge=offline" in str(caught.value.message)


@pytest.mark.parametrize("request_text", ["Hello!", fenced({"poem": "..."}), "```json\n{broken\n```"])
def test_any_other_request_to_the_grader_is_refused(request_text: str) -> None:
    with pytest.raises(
        PrerequisiteError, match=r"answers reading and rating requests only|Name a real grader, or recorded questions"
    ):
        graded(RECORD, request_text)


def test_a_rating_does_not_depend_on_order_case_or_end_punctuation_and_equal_answers_need_none() -> None:
    story = RECORD.stories[0]
    question = RECORD.population.questions(story.prompt)[0].text
    answer = RECORD.answer(story.text, question) or ""
    other = RECORD.answer(RECORD.population.documents(story.prompt)[0].text, question) or ""
    ways = ((answer, other), (other, answer), (f" {answer.upper()}.", other))
    assert len({RECORD.rating(question, *pair) for pair in ways}) == 1
    assert RECORD.rating(question, "an answer that nobody gave", "An answer that nobody gave.") == 4


def test_the_bundled_grader_marks_the_storytellers_documents(tmp_path: Path) -> None:
    (log,) = evaluate(
        synthetic_prompts(panel="close_reading", judge="none"),
        model="bundled/inventive",
        model_roles={"grader": get_model("bundled/grader")},
        epochs=2,
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    marked = [(score.metadata or {})["marked"] for score in scores(log, "close_reading")]
    assert [sum(each[aspect] for each in marked) for aspect in ("novel", "awkward")] == [36, 7]
    values = [score.value for score in scores(log, "close_reading")]
    assert not any(
        math.isnan(float(str(value))) for each in values if isinstance(each, dict) for value in each.values()
    )


def told(solver: Solver, folder: Path) -> EvalLog:
    (log,) = evaluate(
        synthetic_prompts(), solver=solver, model="bundled/inventive", model_roles={"grader": "bundled/grader"},
        epochs=2, limit=2, display="none", log_realtime=False, log_dir=str(folder),
    )  # fmt: skip
    return log


@pytest.mark.parametrize("strategy", [verbalized_sampling, outline, negative_sampling, trim])
def test_under_every_strategy_a_recorded_story_is_told_and_scored(strategy: type[Solver], tmp_path: Path) -> None:
    log = told(strategy(), tmp_path)
    assert log.status == "success", log.error
    for sample in log.samples or []:
        stories = [story.strip() for story in RECORD.stories_of("inventive", str(sample.input))]
        assert sample.output.completion in stories
        assert (sample.scores or {})["genie"].reason is None
        if strategy is verbalized_sampling:
            assert [response["text"] for response in sample.store["responses"]] == stories
        if strategy is negative_sampling:  # asked for something unlike its story it tells the other one
            assert sorted([*sample.store["earlier"], sample.output.completion]) == sorted(stories)


def test_a_storyteller_that_has_told_everything_says_so(tmp_path: Path) -> None:
    log = told(negative_sampling(rounds=2), tmp_path)
    assert log.status == "error"
    assert "has 2 recorded stories" in str(log.error and log.error.message)
