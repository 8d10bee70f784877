"""What raters would say of a sample, from the scores that it has."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from genie_inspect.agreement.machine_scores import judged_in_log
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.logs.scores import last_of_each, measured, signature_of
from genie_inspect.options import check_count, check_text
from genie_inspect.scorers.explanation import cell
from genie_inspect.scorers.outcome import Measurement, scored_or_reason
from genie_inspect.signature import signature
from genie_inspect.studies.personal.folder import PersonalError, check_figures, check_rater, read_figures, read_judge
from genie_inspect.studies.personal.judge import (
    ALL,
    FEWEST_VOTES,
    HeldOut,
    Opinion,
    PersonalJudge,
    beside_grader,
    markdown_table,
    shown,
    shown_leniency,
)

Opinions = Mapping[str, Opinion | None]


def explained(
    judge: PersonalJudge,
    rater: str,
    opinions: Opinions,
    numbers: Mapping[str, Mapping[str, float]],
    figures: HeldOut,
) -> str:
    """A row per test: what the scores say, the average rater, this one, what moved it; then the votes."""
    heads = ["test", *(column.name for column in judge.columns), "average rater", rater, "log-odds moved by"]
    rows = []
    for test, opinion in opinions.items():
        said = ["", "", "a score is missing"]
        if opinion:
            moved = {"scores": opinion.scores, "leniency": opinion.leniency, "taste": opinion.taste}
            why = ", ".join(f"{name} {value:+.2f}" for name, value in moved.items() if value)
            said = [f"{opinion.average:.2f}", f"{opinion.expected:.2f}", why or "nothing"]
        given = (numbers[test][column.name] for column in judge.columns)
        rows.append([test or "story", *("none" if math.isnan(one) else f"{one:.3g}" for one in given), *said])
    foretold = [opinion for opinion in opinions.values() if opinion]
    expected, average = (math.fsum(getattr(one, what) for one in foretold) for what in ("expected", "average"))
    unit = "yes" if judge.is_yes_or_no else "points"
    lines = [
        f"Expected of {cell(rater)}: {expected:.2f} {unit} on {len(foretold)} tests; average rater: {average:.2f}."
    ]
    if missing := len(opinions) - len(foretold):
        lines.append(f"{missing} of {len(opinions)} tests are not foretold: a score of theirs is missing.")
    leaning, gain = judge.leaning(rater), figures.raters[rater].gain
    says = f"{leaning} than the average rater" if leaning else "cannot be told from the average rater in leniency"
    than_grader = f"; {how} ({shown(gain, sign='+')})" if (how := beside_grader(gain)) else ""
    votes = f"{cell(rater)}, {judge.raters[rater].votes} votes"
    lines += [f"{votes}: {says} ({shown_leniency(judge, rater)}){than_grader}.", figures.sentence]
    return _in_markdown(heads, rows) + "".join(f"\n\n{line}" for line in lines)


def explained_all(
    judge: PersonalJudge, opinions: Mapping[str, Opinions], raters: Sequence[str], figures: HeldOut
) -> str:
    rows = []
    for rater in raters:
        terms = judge.raters[rater]
        foretold = [opinion for opinion in opinions.get(rater, {}).values() if opinion]
        expected = f"{math.fsum(one.expected for one in foretold):.2f}" if foretold else "too few votes"
        rows.append([rater, str(terms.votes), shown_leniency(judge, rater), expected])
    return _in_markdown(["rater", "votes", "leniency", "expected"], rows) + f"\n\n{figures.sentence}"


def _in_markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table([cell(head) for head in heads], ([cell(part) for part in row] for row in rows))


NAME = "personal"
TOTAL = "total"
TOO_FEW = "too few votes by this rater"


@dataclass(frozen=True, slots=True)
class Foretelling:
    judge: PersonalJudge
    figures: HeldOut
    raters: tuple[str, ...]
    """One, or all of them."""
    by_test: bool
    """Whether each test has a key; of all raters only totals have."""
    fewest: int

    @property
    def keys(self) -> list[str]:
        tests = [test for test in self.judge.tests if test] if self.by_test else []
        return [f"{NAME}_{rater}_{part}" for rater in self.raters for part in (TOTAL, *tests)]

    async def score(self, state: TaskState) -> Score:
        lowest, highest = self.judge.scale[0], self.judge.scale[-1]
        signed = signature(
            NAME,
            version="1-A",
            by=f"judge@{self.judge.digest}",
            rater=self.raters[0] if self.by_test else ALL,
            fewest=str(self.fewest),
            lowest=f"{lowest:g}",
            highest=f"{highest:g}",
        )
        facts = {"signature": signed}

        async def measure() -> Measurement:
            numbers, reason = self._numbers(last_of_each(measured(state.scores or {})))
            known = [rater for rater in self.raters if self.judge.raters[rater].votes >= self.fewest]
            if known and not reason:
                return self._foretold(known, numbers)
            why = f"{reason}. {NAME} reads the scores that it was fitted to: name their scorers before it."
            if not reason:
                votes = ", ".join(f"{rater} has {self.judge.raters[rater].votes}" for rater in self.raters)
                reason = TOO_FEW
                why = f"{TOO_FEW}: {votes}, expected {self.fewest} or more."
            return Measurement({}, f"Not scored: {why}", reason=reason)

        return await scored_or_reason(state, self.keys, facts, measure)

    def _foretold(self, known: list[str], numbers: Mapping[str, Mapping[str, float]]) -> Measurement:
        opinions = {
            rater: {test: self.judge.opinion(rater, test, numbers[test]) for test in self.judge.tests}
            for rater in known
        }
        values: dict[str, float] = {}
        for rater, by_test in opinions.items():
            foretold = {test: opinion.expected for test, opinion in by_test.items() if opinion}
            values[f"{NAME}_{rater}_{TOTAL}"] = math.fsum(foretold.values())
            if self.by_test:
                values |= {f"{NAME}_{rater}_{test}": expected for test, expected in foretold.items() if test}
        coverage = sum(opinion is not None for opinion in opinions[known[0]].values())
        if self.by_test:
            said = explained(self.judge, known[0], opinions[known[0]], numbers, self.figures)
        else:
            said = explained_all(self.judge, opinions, self.raters, self.figures)
        counts = {"judged": coverage, "not_judged": len(self.judge.tests) - coverage}
        votes = {rater: self.judge.raters[rater].votes for rater in self.raters}
        return Measurement(values, said, {**counts, "votes": votes})

    def _numbers(self, scores: Mapping[str, Score]) -> tuple[dict[str, dict[str, float]], str]:
        """By test and column what the scores say, and why nothing can be foretold from it; empty where it can."""
        judged = {}
        for column in self.judge.columns:
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
            test: {column.name: column.number(judged[column.name], test) for column in self.judge.columns}
            for test in self.judge.tests
        }
        if all(any(map(math.isnan, row.values())) for row in numbers.values()):
            scorers = ", ".join(dict.fromkeys(column.scorer for column in self.judge.columns))
            return numbers, f"no value by {scorers}"
        return numbers, ""


def opened(rater: str, fewest: int | None) -> Foretelling:
    check_text("rater", rater)
    name, mark, wanted = str(rater).rpartition("#")
    if not (name and mark and wanted):
        raise UnknownChoiceError("rater", rater, f"FOLDER#ID, or FOLDER#{ALL} for one key a rater")
    check_count("fewest", 0 if fewest is None else fewest, 0)
    folder = Path(name)
    judge = read_judge(folder)
    if loose := [column.name for column in judge.columns if not column.scorer]:
        raise PersonalError(
            f"{folder} was fitted to scores from a file ({loose[0]}), which no score of a log can be held against: fit "
            "it with genie rater fit --scores LOG"
        )
    if wanted != ALL:
        check_rater(judge, wanted, folder)
    raters = tuple(judge.raters) if wanted == ALL else (wanted,)
    if not raters:
        raise PersonalError(f"{folder} has no rater left: fit anew with genie rater fit")
    figures = read_figures(folder)
    check_figures(judge, figures, folder)
    return Foretelling(judge, figures, raters, wanted != ALL, FEWEST_VOTES if fewest is None else int(fewest))
