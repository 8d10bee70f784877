"""The arithmetic of a judge, by hand."""

import math
from pathlib import Path

import pytest
from pydantic import ValidationError

from genie_inspect.errors import UnknownChoiceError, UnwritableError
from genie_inspect.studies.personal.fitting import fit_judge
from genie_inspect.studies.personal.folder import PersonalError, forget, read_figures, read_judge, write_folder
from genie_inspect.studies.personal.judge import Column, Figure, Given, HeldOut, PersonalJudge, RaterTerms, Source
from genie_inspect.studies.personal.power import World, simulated

CRITIC = Column(name="critic", scorer="ttcw", signature="measure:ttcw", mean=0.5, spread=0.25, slope=0.5)


def made(**other: object) -> PersonalJudge:
    fields: dict[str, object] = {
        "scale": (0, 1),
        "thresholds": (0.3,),
        "tests": {"01": 0.2, "02": -0.4},
        "columns": (CRITIC,),
        "raters": {
            "ann": RaterTerms(votes=40, leniency=-0.7, error=0.1, taste={"01": 0.1}),
            "bob": RaterTerms(votes=3, leniency=0.2, error=0.5),
        },
        "variances": {"leniency": 0.5},
    }
    return PersonalJudge.model_validate(fields | other)


def chance(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


def test_a_verdict_is_test_score_leniency_and_taste() -> None:
    opinion = made().opinion("ann", "01", {"critic": 1.0})
    assert opinion is not None
    # two standard deviations above the mean, half a log-odd each
    assert opinion.scores == pytest.approx(1.0)
    assert (opinion.leniency, opinion.taste) == (-0.7, 0.1)
    assert opinion.average == pytest.approx(chance(0.2 + 1.0 - 0.3))
    assert opinion.expected == pytest.approx(chance(0.2 + 1.0 - 0.7 + 0.1 - 0.3))


def test_a_test_without_a_vote_of_the_rater_is_foretold_by_leniency_alone() -> None:
    opinion = made().opinion("ann", "02", {"critic": 0.5})
    assert opinion is not None
    assert opinion.taste == 0
    assert opinion.expected == pytest.approx(chance(-0.4 - 0.7 - 0.3))


def test_a_missing_number_is_no_opinion() -> None:
    assert made().opinion("ann", "01", {}) is None
    assert made().opinion("ann", "01", {"critic": math.nan}) is None


def test_of_numbers_the_expected_one_counts_the_steps_between() -> None:
    judge = made(scale=(1, 2, 5), thresholds=(-1, 1))
    opinion = judge.opinion("bob", "01", {"critic": 0.5})
    assert opinion is not None
    first, second = chance(0.4 + 1), chance(0.4 - 1)
    assert opinion.chances == pytest.approx((first, second))
    assert opinion.expected == pytest.approx(1 + first + 3 * second)
    assert not judge.is_yes_or_no


def test_a_rater_stands_out_beyond_the_error_that_all_raters_share() -> None:
    assert made().stands_out("ann")
    assert not made().stands_out("bob")
    # 2.1 errors are beyond the bound of one rater, 1.96, and within that of two, 2.24
    pair = {name: RaterTerms(votes=9, leniency=0.21, error=0.1) for name in ("ann", "bob")}
    assert not made(raters=pair).stands_out("ann")
    assert made(raters={"ann": pair["ann"]}).stands_out("ann")


def test_raters_who_do_not_differ_do_not_stand_out() -> None:
    assert not made(raters={"ann": RaterTerms(votes=9, leniency=0, error=0)}).stands_out("ann")


def test_a_number_is_a_value_a_verdict_or_points() -> None:
    given = Given({"01": 1.0}, {"01": 3.0}, {"plot": 0.4})
    assert Source(name="a").number(given, "01") == 1
    assert Source(name="a", points=True).number(given, "01") == 3
    assert Source(name="a", key="plot").number(given, "01") == 0.4
    assert math.isnan(Source(name="a", key="style").number(given, "01"))
    assert math.isnan(Source(name="a").number(given, "02"))


def test_the_digest_is_of_all_that_it_says() -> None:
    assert made().digest == made().digest
    assert made().digest != made().without("bob").digest


@pytest.mark.parametrize(
    "other",
    [
        {"scale": (1, 0)},
        {"scale": (1,)},
        {"thresholds": (1, 1)},
        {"thresholds": (math.inf,)},
        {"format": 2},
        {"votes": {"ann": [1, 0]}},
    ],
)
def test_what_is_no_judge_is_refused(other: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        made(**other)


JUDGE, FIGURES = fit_judge(simulated(World(stories=24, tests=2, raters=4, leniency=1.0), 0).ballots, resamples=20)
ANN = "ann-1f3c"


def renamed(judge: PersonalJudge, figures: HeldOut) -> tuple[PersonalJudge, HeldOut]:
    """The first rater under a name that stands nowhere else."""
    first = next(iter(judge.raters))
    raters, foretold = (
        {ANN if key == first else key: value for key, value in own.items()} for own in (judge.raters, figures.raters)
    )
    return judge.model_copy(update={"raters": raters}), figures.model_copy(update={"raters": foretold})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_folder(*renamed(JUDGE, FIGURES), tmp_path / "taste")
    return tmp_path / "taste"


def test_what_was_written_is_read_back(folder: Path) -> None:
    judge, figures = renamed(JUDGE, FIGURES)
    assert (read_judge(folder), read_figures(folder)) == (judge, figures)
    assert {path.name for path in folder.iterdir()} == {"manifest.json", "judge.json", "figures.json", "README.md"}


def test_the_card_says_what_it_is_worth_and_of_whom(folder: Path) -> None:
    card = (folder / "README.md").read_text(encoding="utf-8")
    for told in (FIGURES.sentence, ANN, "| grader + leniency + taste |", "majority by test", read_judge(folder).digest):
        assert told in card


def test_a_rater_who_is_forgotten_stands_in_no_file_any_more(folder: Path) -> None:
    votes = forget(folder, ANN)
    assert votes == next(iter(JUDGE.raters.values())).votes
    assert not [path for path in folder.iterdir() if ANN in path.read_text(encoding="utf-8")]
    assert len(read_judge(folder).raters) == len(JUDGE.raters) - 1
    assert ANN not in read_figures(folder).raters
    assert read_judge(folder).tests == JUDGE.tests


def test_an_unknown_rater_cannot_be_forgotten(folder: Path) -> None:
    before = (folder / "judge.json").read_bytes()
    with pytest.raises(UnknownChoiceError, match=r"rater is 'zoe', expected one of those in .*taste: ann-1f3c, "):
        forget(folder, "zoe")
    assert (folder / "judge.json").read_bytes() == before


@pytest.mark.parametrize(("name", "read"), [("judge.json", read_judge), ("figures.json", read_figures)])
def test_a_file_that_somebody_changed_is_refused(folder: Path, name: str, read: object) -> None:
    path = folder / name
    path.write_text(path.read_text(encoding="utf-8").replace("0.", "1.", 1), encoding="utf-8")
    assert callable(read)
    with pytest.raises(PersonalError, match=f"{name} is not what was written, by its digest"):
        read(folder)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PersonalError, match=r"manifest\.json cannot be read: .*, expected a folder by genie rater fit"):
        read_judge(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(PersonalError, match=r"manifest\.json, field made_by"):
        read_judge(tmp_path)


def test_nothing_is_written_over(folder: Path) -> None:
    with pytest.raises(UnwritableError, match="a folder that is not empty"):
        write_folder(JUDGE, FIGURES, folder)


def with_gain(gain: Figure, plots: int = 12) -> str:
    return FIGURES.model_copy(update={"gains": {FIGURES.model: gain}, "plots": plots}).sentence


def test_the_sentence_claims_no_more_than_the_interval() -> None:
    assert with_gain(Figure(value=-0.02, low=-0.03, high=-0.01)) == (
        "Better than the grader alone by 0.0200 [0.0100, 0.0300] in log loss a vote."
    )
    assert with_gain(Figure(value=-0.02, low=-0.05, high=0.01)) == (
        "Cannot be told from the grader alone: better by 0.0200 [-0.0100, 0.0500] in log loss a vote."
    )
    assert with_gain(Figure(value=0.02, low=0.01, high=0.03)).startswith(
        "Worse than the grader alone by 0.0200 [0.0100, 0.0300] in log loss a vote: "
    )
    assert with_gain(Figure(value=-0.02, low=-0.03, high=-0.01), plots=7).startswith(
        "Cannot be told from the grader alone: 7 plots are too few for an interval, expected 8"
    )
