import json
from pathlib import Path

import pytest
from tests.scripted import Asked, Script, grading

from genie_inspect.asking.cost import Cost, tokens
from genie_inspect.costs.request_tokens import RequestTokens
from genie_inspect.engines.embedders.choices import static_token_count
from genie_inspect.judges.grader_reader import GraderReader
from genie_inspect.judges.instrument import Instrument, Wording
from genie_inspect.judges.list_judge import CHUNK
from genie_inspect.judges.pairwise_judge import TOKENS_A_REASON
from genie_inspect.judges.protocols import Answer

QUESTION = Asked('What does "the owl" want?')
ANSWER = 'to say "no", and\nfly'
OTHERS = ["a mouse", "sleep — at last", 'the "moon"', *(f"thing number {number}" for number in range(30))]


WORDING = Wording.load()


def asked_of(script: Script) -> tuple[int, int]:
    """Calls that were made, and the tokens of their requests."""
    return len(script.requests), sum(map(static_token_count, script.requests))


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["list", "list/10", "pairwise", "logit"])
async def test_calls_and_tokens_are_those_of_the_requests_that_a_judge_sends(mode: str) -> None:
    script = grading()
    _, judge = Instrument(mode, cache=False).reader_and_judge(script.model())
    await judge.rate(QUESTION, Answer(ANSWER), [Answer(other) for other in OTHERS])
    cost = RequestTokens(WORDING).rating(
        mode, tokens(QUESTION.text), tokens(ANSWER), [tokens(other) for other in OTHERS]
    )
    assert (cost.calls, cost.tokens_in) == asked_of(script)


@pytest.mark.anyio
async def test_tokens_of_a_reading_are_those_of_the_request_that_a_reader_sends() -> None:
    script = grading(lambda document, question: "rain")
    document, questions = 'It rained.\n\n"Go!" said <b>she</b>.' * 200, [QUESTION, Asked("Who?")]
    await GraderReader(script.model()).read(document, questions)
    cost = RequestTokens(WORDING).reading(tokens(document), [question.text for question in questions], [3, 4])
    assert (cost.calls, cost.tokens_in) == asked_of(script)


def test_a_list_reply_has_the_tokens_of_the_form_that_is_asked_for() -> None:
    reply = json.dumps({str(number): "2" for number in range(1, 11)})
    assert RequestTokens(WORDING).rating("list", 5, 5, [2] * 10).tokens_out == static_token_count(reply)
    line = " ".join(f"{number}:2" for number in range(1, 11))
    assert RequestTokens(WORDING, as_json=False).rating("list", 5, 5, [2] * 10).tokens_out == static_token_count(line)


def test_a_logit_reply_is_one_token_and_a_pairwise_reply_a_sentence() -> None:
    costs = RequestTokens(WORDING)
    assert costs.rating("logit", 5, 5, [2] * 10).tokens_out == 10
    assert costs.rating("pairwise", 5, 5, [2] * 10).tokens_out == 10 * TOKENS_A_REASON


def test_a_list_call_takes_as_many_answers_as_the_judge_does() -> None:
    costs = RequestTokens(WORDING)
    assert [costs.rating("list", 5, 5, [2] * count).calls for count in (0, 1, CHUNK, CHUNK + 1)] == [0, 1, 1, 2]


def test_nothing_to_rate_costs_nothing() -> None:
    assert RequestTokens(WORDING).rating("pairwise", 5, 5, []) == Cost(0, 0, 0)


def test_own_templates_count_with_their_own_length(tmp_path: Path) -> None:
    (tmp_path / "rate_pair.md").write_text("Rate. $data")
    own, ours = (RequestTokens(Wording.load(folder)).rating("pairwise", 5, 5, [2]) for folder in (tmp_path, None))
    assert own.tokens_in < ours.tokens_in


def test_money_is_per_million_tokens() -> None:
    # 2 M in at 2.5 and 0.5 M out at 10
    assert Cost(1, 2e6, 5e5).money(2.5, 10) == 10


def test_the_reply_to_a_reading_has_the_attempt_the_numbers_and_the_answers() -> None:
    reply = json.dumps({"attempt": "yes", "1": "rain", "2": "at sea"})
    cost = RequestTokens(WORDING).reading(100, ["Who?", "Where?"], [tokens("rain"), tokens("at sea")])
    assert cost.tokens_out == static_token_count(reply)
