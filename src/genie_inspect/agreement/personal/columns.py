"""Which votes and scores count, and which numbers of the scores a judge of one's own goes by."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.votes import VotesError, prompt_of
from genie_inspect.raters.judge import Given, Source

Scores = Mapping[str, Mapping[str, JudgedStory]]

SHOWN = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """Which votes and scores count, and how stories are told apart."""

    tests: tuple[str, ...] = ()
    """Empty: all."""
    leave_out: tuple[str, ...] = ()
    """Patterns of story ids."""
    plot: Callable[[str], str] = prompt_of
    """The plot of a story by its id, where the file does not say it."""
    humans: tuple[str, ...] = ()
    """Sources that are people; where any is named, sources count as human or machine."""
    keys: tuple[str, ...] = ()
    """Values of scores that count; empty: what scores say of the tests, else all values."""
    points: bool = False


def source_columns(scores: Scores, tests: Iterable[str], choice: Choice) -> list[tuple[Source, str]]:
    """The numbers that there are to go by, each with the judge whose it is.

    A judge who says something of the tests that were voted on counts by that, any other by all values of his scores.

    Raises:
        VotesError: If there is none, or a key is in no score.
    """
    wanted = set(tests)
    columns: list[tuple[Source, str]] = []
    for judge, judged in scores.items():
        first = next(iter(judged.values()))
        origin = {"scorer": first.scorer, "signature": first.signature}
        says = {test for story in judged.values() for test in (story.points if choice.points else story.tests)}
        values = list(dict.fromkeys(key for story in judged.values() for key in _values(story)))
        keys = [key for key in values if not choice.keys or key in choice.keys]
        if says & wanted:
            columns.append((Source(name=judge, points=choice.points).model_copy(update=origin), judge))
            keys = keys if choice.keys else []
        columns += [(Source(name=f"{judge} {key}", key=key).model_copy(update=origin), judge) for key in keys]
    known = {source.key for source, _ in columns}
    if missing := [key for key in choice.keys if key not in known]:
        raise VotesError(f"no score has a key {missing[0]!r}, expected keys of the scores")
    if not columns:
        what = "points on" if choice.points else "verdicts on"
        raise VotesError(f"the scores have no {what} the tests {', '.join(sorted(wanted)[:SHOWN])}, and no other value")
    return columns


def given_by(story: JudgedStory) -> Given:
    """What a score says of a story, as the judge reads it."""
    return Given(story.tests, story.points, _values(story))


def _values(story: JudgedStory) -> Mapping[str, float]:
    # a file has a score, or tests
    return story.values or ({} if story.tests else {"score": story.score})
