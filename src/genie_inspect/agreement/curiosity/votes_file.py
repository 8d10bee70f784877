"""Votes with story, question and explanation, from a file."""

from collections import Counter
from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints

from genie_inspect.agreement.votes import Id, StoryRow, VotesError, prompt_of, rows
from genie_inspect.engines.curiosity.votes import ExplainedVote

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
FORM = (
    'a line a verdict: {"story": "3_GPT4", "text": "...", "test": "09", "question": "...", "rater": "ann", '
    '"verdict": true, "explanation": "..."}'
)


class _Row(StoryRow):
    text: Words
    test: Id
    question: Words
    rater: Id
    verdict: bool
    explanation: Words | None = None
    plot: Id | None = None


def read_explained_votes(path: Path) -> list[ExplainedVote]:
    """The votes of a JSON Lines file, in its order.

    A story's plot is what the file says, else the part of its id before the first underscore.

    Raises:
        VotesError: If the file cannot be read, is malformed or empty, a rater gives two verdicts on one test of a
            story, or a story has two texts.
    """
    votes = [_vote(row) for _, row in rows(path, _Row, FORM)]
    if not votes:
        raise VotesError(f"{path} holds no vote, expected {FORM}")
    given = Counter((vote.story, vote.test, vote.rater) for vote in votes)
    (story, test, rater), count = given.most_common(1)[0]
    if count > 1:
        raise VotesError(f"{path}: {rater!r} gives {count} verdicts on test {test!r} of story {story!r}, expected one")
    texts = dict[str, tuple[str, str]]()
    for vote in votes:
        if texts.setdefault(vote.story, (vote.text, vote.plot)) != (vote.text, vote.plot):
            raise VotesError(f"{path}: story {vote.story!r} has two texts or plots, expected one of each")
    return votes


def _vote(row: _Row) -> ExplainedVote:
    return ExplainedVote(
        story=row.story,
        plot=row.plot or prompt_of(row.story),
        text=row.text,
        test=row.test,
        question=row.question,
        rater=row.rater,
        verdict=row.verdict,
        explanation=row.explanation,
    )
