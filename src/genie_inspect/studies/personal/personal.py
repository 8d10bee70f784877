"""The scorer `personal`: what one rater would say of a story, foretold from the scores that it has."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import per_key

if TYPE_CHECKING:
    from genie_inspect.studies.personal.judge import HeldOut, PersonalJudge

NAME, TOTAL = "personal", "total"
RANGES = {"*_total": (None, None), "*": ("lowest", "highest")}
Opinions = Mapping[str, dict[str, float] | None]  # by test
Numbers = Mapping[str, Mapping[str, float]]  # by test and column of the judge


@scorer(
    metrics=per_key(RANGES),
    headline="*_total",
    ranges=RANGES,
    meaning=(
        "What a rater would say of a story, predicted from its scores by the rater's own votes: tests passed, as far "
        "as they can be expected, or points. Higher is better by this rater."
    ),
)
def personal(rater: str, fewest: int | None = None) -> Scorer:
    """The verdicts that a rater is expected to give, from scores by scorers before it; no model calls.

    Keys for the rater R: `personal_R_01` and so on, by test the chance of a yes, 0 to 1 (of votes that are numbers,
    the number that is to be expected), and `personal_R_total`, their sum over the tests that could be predicted; with
    `#all` the total of every rater. NaN where a test has no score, and for a rater with too few votes; unscored with
    the reason where a score is missing or has another signature than the judge was fitted to. The explanation says how
    the scores' verdict moved and why.

    Args:
        rater: `FOLDER#ID`, a folder by `genie rater fit` and one of its raters, or `FOLDER#all`.
        fewest: Votes of a rater below which nothing is predicted; 20 unless given.

    Raises:
        RefusedError: If the folder has no judge, or none that can be used on logs, or has no such rater.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.logs.scores import last_of_each, measured
    from genie_inspect.scorers.outcome import Measurement, scored_or_reason
    from genie_inspect.signature import signature
    from genie_inspect.studies.personal.judge import ALL, FEWEST_VOTES

    with refusals():
        judge, figures, wanted = _opened(rater, fewest)
    enough = FEWEST_VOTES if fewest is None else int(fewest)
    raters = list(judge.raters) if wanted == ALL else [wanted]
    # of all raters only totals have keys
    tests = [test for test in judge.tests if test and wanted != ALL]
    keys = [f"{NAME}_{one}_{part}" for one in raters for part in (TOTAL, *tests)]
    votes = {one: judge.raters[one].votes for one in raters}
    known = [one for one in raters if votes[one] >= enough]
    facts = {
        "signature": signature(
            NAME,
            version="1-A",
            by=f"judge@{judge.digest}",
            rater=wanted,
            fewest=str(enough),
            lowest=f"{judge.scale[0]:g}",
            highest=f"{judge.scale[-1]:g}",
        )
    }

    async def score(state: TaskState, target: Target) -> Score:
        async def foretold() -> Measurement:
            numbers, reason = _numbers(judge, last_of_each(measured(state.scores or {})))
            if reason:
                why = f"{reason}. {NAME} reads the scores that it was fitted to: name their scorers before it."
                return Measurement({}, f"Not scored: {why}", reason=reason)
            if not known:
                reason = "too few votes by this rater"
                counts = ", ".join(f"{one} has {count}" for one, count in votes.items())
                why = f"Not scored: {reason}: {counts}, expected {enough} or more."
                return Measurement({}, why, reason=reason)
            opinions = {one: {test: judge.opinion(one, test, numbers[test]) for test in judge.tests} for one in known}
            values: dict[str, float] = {}
            for one, by_test in opinions.items():
                expected = {test: opinion["expected"] for test, opinion in by_test.items() if opinion}
                values[f"{NAME}_{one}_{TOTAL}"] = math.fsum(expected.values())
                values |= {f"{NAME}_{one}_{test}": expected[test] for test in tests if test in expected}
            judged = sum(opinion is not None for opinion in opinions[known[0]].values())
            counted = {"judged": judged, "not_judged": len(judge.tests) - judged, "votes": votes}
            if wanted == ALL:
                return Measurement(values, _explained_all(judge, opinions, figures), counted)
            return Measurement(values, explained(judge, wanted, opinions[wanted], numbers, figures), counted)

        return await scored_or_reason(state, keys, facts, foretold)

    return score


def _opened(rater: str, fewest: int | None) -> tuple["PersonalJudge", "HeldOut", str]:
    """A judge that can be used on logs, its figures, and the id of one rater, or `all`."""
    from genie_inspect.errors import UnknownChoiceError, check_count, check_text
    from genie_inspect.studies.personal.judge import ALL, PersonalError, read_folder

    check_text("rater", rater)
    name, mark, wanted = str(rater).rpartition("#")
    if not (name and mark and wanted):
        raise UnknownChoiceError("rater", rater, f"FOLDER#ID, or FOLDER#{ALL} for one key a rater")
    check_count("fewest", 0 if fewest is None else fewest, 0)
    folder = Path(name)
    judge, figures = read_folder(folder, None if wanted == ALL else wanted)
    if loose := [column.name for column in judge.columns if not column.scorer]:
        raise PersonalError(
            f"{folder} was fitted to scores from a file ({loose[0]}), which cannot be compared with the scores of "
            "a log. Fit it with genie rater fit --scores LOG"
        )
    if not judge.raters:
        raise PersonalError(f"{folder} has no rater left. Fit it again with genie rater fit")
    return judge, figures, wanted


def _numbers(judge: "PersonalJudge", scores: Mapping[str, Score]) -> tuple[Numbers, str]:
    """What the scores say, and why nothing can be foretold from it; empty where it can."""
    from genie_inspect.agreement.machine_scores import judged_in_log
    from genie_inspect.logs.scores import signature_of

    judged = {}
    for column in judge.columns:
        own = [
            score
            for name, score in scores.items()
            if signature_of(score) == column.signature
            # without a signature the scorer's name is all that there is
            and (column.signature.startswith("measure:") or name == column.scorer)
        ]
        if not own:
            named = any(name.split("/")[-1] == column.scorer for name in scores)
            return {}, f"{column.scorer} has another signature" if named else f"no score by {column.scorer}"
        judged[column.name] = judged_in_log("", column.scorer, own[-1])
    numbers = {
        test: {column.name: column.number(judged[column.name], test) for column in judge.columns}
        for test in judge.tests
    }
    if all(any(map(math.isnan, row.values())) for row in numbers.values()):
        return numbers, f"no value by {', '.join(dict.fromkeys(column.scorer for column in judge.columns))}"
    return numbers, ""


def explained(judge: "PersonalJudge", rater: str, opinions: Opinions, numbers: Numbers, figures: "HeldOut") -> str:
    from genie_inspect.scorers.explanation import cell
    from genie_inspect.studies.personal.judge import YES_NO, beside_grader, shown, shown_leniency

    rows = [["test", *(column.name for column in judge.columns), "average rater", rater, "log-odds moved by"]]
    for test, opinion in opinions.items():
        said = ["", "", "a score is missing"]
        if opinion:
            why = ", ".join(f"{of} {opinion[of]:+.2f}" for of in ("scores", "leniency", "taste") if opinion[of])
            said = [f"{opinion['average']:.2f}", f"{opinion['expected']:.2f}", why or "nothing"]
        given = (numbers[test][column.name] for column in judge.columns)
        rows.append([test or "story", *("none" if math.isnan(one) else f"{one:.3g}" for one in given), *said])
    foretold = [opinion for opinion in opinions.values() if opinion]
    expected, average = (math.fsum(one[what] for one in foretold) for what in ("expected", "average"))
    unit = "yes" if judge.scale == YES_NO else "points"
    lines = [
        f"Expected of {cell(rater)}: {expected:.2f} {unit} on {len(foretold)} tests; average rater: {average:.2f}."
    ]
    if missing := len(opinions) - len(foretold):
        lines.append(f"{missing} of {len(opinions)} tests are not predicted: a score of theirs is missing.")
    leaning, gain = judge.leaning(rater), figures.raters[rater].gain
    says = f"{leaning} than the average rater" if leaning else "cannot be told from the average rater in leniency"
    than_grader = f"; {how} ({shown(gain, sign='+')})" if (how := beside_grader(gain)) else ""
    votes = f"{cell(rater)}, {judge.raters[rater].votes} votes"
    lines += [f"{votes}: {says} ({shown_leniency(judge, rater)}){than_grader}.", figures.sentence]
    return "\n\n".join([_table(rows), *lines])


def _explained_all(judge: "PersonalJudge", opinions: Mapping[str, Opinions], figures: "HeldOut") -> str:
    from genie_inspect.studies.personal.judge import shown_leniency

    rows = [["rater", "votes", "leniency", "expected"]]
    for rater in judge.raters:
        foretold = [opinion["expected"] for opinion in opinions.get(rater, {}).values() if opinion]
        expected = f"{math.fsum(foretold):.2f}" if foretold else "too few votes"
        rows.append([rater, str(judge.raters[rater].votes), shown_leniency(judge, rater), expected])
    return f"{_table(rows)}\n\n{figures.sentence}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    from genie_inspect.scorers.explanation import cell
    from genie_inspect.studies.personal.judge import markdown_table

    head, *others = ([cell(part) for part in row] for row in rows)
    return markdown_table(head, others)
