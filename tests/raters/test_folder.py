"""The folder: whole, known by its digests, and without a rater who is forgotten."""

from pathlib import Path

import pytest

from genie_inspect.agreement.personal.fitting import fit_judge
from genie_inspect.agreement.personal.simulation import World, simulated
from genie_inspect.errors import UnknownChoiceError, UnwritableError
from genie_inspect.raters.figures import Figure, HeldOut
from genie_inspect.raters.folder import PersonalError, forget, read_figures, read_judge, write_folder
from genie_inspect.raters.judge import PersonalJudge

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
