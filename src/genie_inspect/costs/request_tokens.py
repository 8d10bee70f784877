"""How many tokens the requests and replies of Genie's reader and judges have, by kind, without asking anybody."""

import json
from collections.abc import Sequence
from functools import lru_cache

from genie_inspect.asking.cost import Cost
from genie_inspect.engines.embedders.choices import static_token_count
from genie_inspect.judges.choices import mode_of
from genie_inspect.judges.instrument import Wording
from genie_inspect.judges.modes import numbered_tokens
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.readings import ATTEMPT, YES


class RequestTokens:
    """Costs of reading and rating requests with one set of templates.

    Args:
        wording: The templates.
        as_json: Whether a list of ratings comes as JSON, which takes more than twice the tokens of the one line that is
            asked for.
        times: How many times as long answers are as those that are counted: what is on record may be concise, and
            longer ones asked for.
    """

    def __init__(self, wording: Wording, *, as_json: bool = True, times: int = 1) -> None:
        self._as_json = as_json
        self._times = times
        self._wording = wording
        self._empty: dict[tuple[str, int], int] = {}

    def reading(self, document: float, questions: Sequence[str], answers: Sequence[float]) -> Cost:
        """One call that reads a document.

        Args:
            document: Its tokens.
            questions: What it is asked.
            answers: Tokens of each answer.
        """
        asked = {str(number): question for number, question in enumerate(questions, start=1)}
        data = fenced({"document": "", "questions": asked})
        empty = static_token_count(self._wording.read.fill(count=len(questions), data=data))
        return Cost(1, empty + document, numbered_tokens(len(questions)) + _attempt() + self._times * sum(answers))

    def rating(self, mode: str, question: int, answer: int, others: Sequence[int]) -> Cost:
        """All calls that rate one answer against others, by the tokens of these texts."""
        record = mode_of(mode)
        size = record.chunk
        calls = [len(others[start : start + size]) for start in range(0, len(others), size)]
        repeated = len(calls) * (question + self._times * answer)
        return Cost(
            len(calls),
            sum(self._empty_request(mode, count) for count in calls) + repeated + self._times * sum(others),
            sum(record.reply_tokens(count, self._as_json) for count in calls),
        )

    def _empty_request(self, mode: str, others: int) -> int:
        """Tokens of a rating request whose texts are empty."""
        if (mode, others) not in self._empty:
            record = mode_of(mode)
            request = record.request(self._wording.rate[record.instruction.name], "", "", [""] * others)
            self._empty[mode, others] = static_token_count(request)
        return self._empty[mode, others]


@lru_cache(maxsize=1)
def _attempt() -> int:
    """Tokens in which a reading says that the document is an attempt, before its answers."""
    answers = {"1": ""}  # beside an answer, because a comma stands between them
    return static_token_count(json.dumps({ATTEMPT: YES} | answers)) - static_token_count(json.dumps(answers))
