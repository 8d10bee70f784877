import hashlib
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from tests.cli.called import genie, lines_of
from tests.studies.personal.made import HABIT, SAID, STORIES, changed, votes

from genie_inspect.agreement.votes import VotesError
from genie_inspect.errors import EngineFailedError
from genie_inspect.prompting.templates import unfenced
from genie_inspect.studies.personal.curiosity import (
    NAMES,
    Folds,
    by_plots,
    by_rows,
    compared,
    read_explained_votes,
    shares,
)
from genie_inspect.studies.personal.curiosity_models import Prompts
from genie_inspect.studies.personal.curiosity_vectors import (
    READING,
    ExplainedVote,
    Explanation,
    Values,
    VectorCuriosity,
    VectorSettings,
)

PLAN: dict[str, Any] = {"folds": 3, "resamples": 20}
VOTES = votes(12)


class Noting:
    """Notes what it learns from and what it is asked; says .25 of everything."""

    name = "noting"
    settings = VectorSettings(ridge=7)

    def __init__(self) -> None:
        self.learned: list[Sequence[ExplainedVote]] = []
        self.asked: list[Sequence[ExplainedVote]] = []

    def fit(self, votes: Sequence[ExplainedVote]) -> "Noting":
        self.learned.append(votes)
        return self

    def probabilities(self, votes: Sequence[ExplainedVote]) -> Values:
        self.asked.append(votes)
        return np.full(len(votes), 0.25)

    def save(self, folder: Path) -> None: ...


def noting() -> dict[Explanation, Noting]:
    return {"none": Noting(), "held-out": Noting()}


def test_each_vote_is_asked_once_of_a_model_that_has_seen_nothing_of_its_plot() -> None:
    models = noting()
    compared(VOTES, models, "none", **PLAN)
    asked = models["none"].asked
    every = [(vote.story, vote.rater) for part in asked for vote in part]
    assert sorted(every) == sorted((vote.story, vote.rater) for vote in VOTES)
    for learned, out in zip(models["none"].learned, asked, strict=True):
        assert len(learned) + len(out) == len(VOTES)
        assert not {vote.plot for vote in learned} & {vote.plot for vote in out}
    assert not models["held-out"].asked


def test_held_out_reads_explanations_by_rows_and_whole_plots_beside_the_figures_without_them() -> None:
    models = noting()
    comparison = compared(VOTES, models, "held-out", **PLAN)
    columns = [(column.explanation, column.held_out) for column in comparison.columns]
    assert columns == [("held-out", "rows"), ("held-out", "plots"), ("none", "plots"), (None, "plots")]
    by_rows = zip(models["held-out"].learned[:3], models["held-out"].asked[:3], strict=True)
    assert any({vote.plot for vote in learned} & {vote.plot for vote in out} for learned, out in by_rows)


def test_the_leak_is_seen_where_explanations_say_the_verdict() -> None:
    settings = VectorSettings(penalty=0.01)
    models = {reading: VectorCuriosity(reading, settings) for reading in READING}
    rows, plots, honest, _ = compared(votes(24), models, "held-out", **PLAN).columns
    assert rows.figures["auc"].value > 0.95
    assert plots.figures["auc"].value > 0.95
    assert honest.figures["auc"].value < 0.8
    assert honest.figures["log_loss"].value > 2 * plots.figures["log_loss"].value


def test_figures_are_over_all_votes_with_intervals_by_plot() -> None:
    first, baseline = (column.figures for column in compared(VOTES, noting(), "none", **PLAN).columns)
    assert list(first) == list(NAMES) == ["pearson", "f1", "log_loss", "auc", "kappa"]
    # 10 yes of 24, of each of which .25 is said
    assert first["log_loss"].value == pytest.approx(-(10 * math.log(0.25) + 14 * math.log(0.75)) / 24)
    assert first["log_loss"].low < first["log_loss"].value < first["log_loss"].high
    assert first["auc"].value == 0.5
    assert math.isnan(first["pearson"].value)
    # one test: the same share of yes for a whole fold, the lower the more yes it holds; over all votes AUC would be
    # below .5
    assert baseline["auc"].value == 0.5
    assert math.isnan(baseline["pearson"].value)


def test_what_the_figures_rest_on_is_counted() -> None:
    given = [changed(VOTES[0], explanation=None), *VOTES[1:], changed(VOTES[-1], rater="cy")]
    comparison = compared(given, noting(), "none", **PLAN)
    counts = (comparison.votes, comparison.yes, comparison.explained, comparison.stories, comparison.raters)
    assert counts == (25, 10, 24, 12, 3)
    assert [column.unknown_raters for column in comparison.columns] == [1, 1]  # cy gave one vote


def test_the_baseline_is_the_share_of_yes_on_the_test_outside_of_the_fold() -> None:
    given = [*VOTES[:4], changed(VOTES[0], test="10")]  # ann and bob: yes yes no no, and one yes on another test
    # of test 09 in fold 1, no and no: (0 + 1) / (2 + 2); in fold 0, yes and yes; of test 10 nothing is known
    assert shares(given, np.array([0, 0, 1, 1, 0])).tolist() == [0.25, 0.25, 0.75, 0.75, 0.5]


def test_one_rater_alone_is_refused_before_anything_is_learned() -> None:
    models = noting()
    with pytest.raises(VotesError, match="all votes are by rater 'ann', expected at least two raters"):
        compared([vote for vote in VOTES if vote.rater == "ann"], models, "none", **PLAN)
    with pytest.raises(VotesError, match="12 plots, expected at least 13"):
        compared(VOTES, models, "none", folds=13)
    assert models["none"].learned == []


FOLDS_VOTES = votes(30)  # 15 yes by ann, 10 by bob, of 60


@pytest.mark.parametrize(("divided", "whole", "fewest"), [(by_rows, False, 12), (by_plots, True, 10)])
def test_each_fold_has_as_many_yes_and_about_as_many_votes_and_of_plots_whole_ones(
    divided: Callable[..., Folds], whole: bool, fewest: int
) -> None:
    verdicts, plots = (np.array([getattr(vote, name) for vote in FOLDS_VOTES]) for name in ("verdict", "plot"))
    fold_of = divided(FOLDS_VOTES, 5)
    assert [int(verdicts[fold_of == fold].sum()) for fold in range(5)] == [5] * 5
    assert np.bincount(fold_of).min() >= fewest
    assert all(len(set(fold_of[plots == plot])) == 1 for plot in plots) == whole
    again, other = (divided(FOLDS_VOTES, 5, seed) for seed in (0, 1))
    assert fold_of.tolist() == again.tolist() != other.tolist()


def test_plots_with_many_yes_are_dealt_first() -> None:
    # three yes on one plot, then one each: else two folds would hold two and four
    plots = ("b", "c", "d", "a", "a", "a")
    told = [changed(VOTES[0], plot=plot, text=f"{plot}, {n}", story=f"{n}") for n, plot in enumerate(plots)]
    assert sorted(np.bincount(by_plots(told, 2))[:2].tolist()) == [3, 3]


def test_a_text_under_several_plots_is_refused_by_name() -> None:
    copy = changed(VOTES[0], story="9_model", plot="9", text="the lamp by the  river went out. Chapter 0.")
    copied = [*votes(6), copy]
    with pytest.raises(VotesError, match=r"1 stories are copies .*one plot\): '9_model' \(plot '9'\) of '0_model' \("):
        by_plots(copied, 3)
    by_plots([changed(vote, plot="0") if vote.plot == "9" else vote for vote in copied], 3)


@pytest.mark.parametrize(
    ("divided", "folds", "yes", "said"),
    [
        (by_plots, 3, ["3"], r"fold \d of 3 \(plots [\d, ]+\) has no yes: ask for fewer folds"),
        (by_rows, 5, list("012345"), "0 of 12 votes say no, expected at least 5"),
        (by_rows, 5, [], "0 of 12 votes say yes, expected at least 5"),
    ],
)
def test_too_few_yes_or_no_for_the_folds_are_refused(
    divided: Callable[..., Folds], folds: int, yes: list[str], said: str
) -> None:
    with pytest.raises(VotesError, match=said):
        divided([changed(vote, verdict=vote.plot in yes) for vote in votes(6)], folds)


ROW = {
    "story": "3_GPT4",
    "text": "The lamp went out.",
    "test": "09",
    "question": "Is it original?",
    "rater": "ann",
    "verdict": True,
    "explanation": "A fresh idea.",
}


def test_a_line_is_a_vote_whose_plot_is_named_or_in_its_story_id_and_whose_explanation_may_be_missing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "votes.jsonl"
    assert read_explained_votes(lines_of(file, [ROW])) == [ExplainedVote.model_validate(ROW | {"plot": "3"})]
    row = {name: value for name, value in ROW.items() if name != "explanation"}
    for given, plot in (("castle", "castle"), (None, "3")):
        (vote,) = read_explained_votes(lines_of(file, [row | {"plot": given}]))
        assert (vote.plot, vote.explanation) == (plot, None)


BY_BOB = ROW | {"rater": "bob"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([ROW, BY_BOB | {"text": "  "}], "line 2, field text: String should have at least 1 character"),
        ([ROW, BY_BOB | {"verdict": "perhaps"}], "line 2, field verdict: .*perhaps.*expected one line per verdict"),
        ([ROW, BY_BOB | {"mood": 1}], "line 2, field mood: Extra inputs"),
        ([ROW, ROW | {"test": "10"}, BY_BOB, ROW], "'ann' gives 2 verdicts on test '09' of story '3_GPT4', "),
        ([ROW, BY_BOB | {"text": "Another story."}], "story '3_GPT4' has two texts or plots"),
        ([ROW, BY_BOB | {"plot": "castle"}], "story '3_GPT4' has two texts or plots"),
        ([], "has no vote, expected one line per verdict"),
    ],
)
def test_votes_that_cannot_be_are_named(tmp_path: Path, given: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(VotesError, match=said):
        read_explained_votes(lines_of(tmp_path / "votes.jsonl", given))


VOTE = changed(votes()[0], text="The lamp went out. " * 200)


class Letters:
    """A tokenizer of a token a character, of a model that is spoken to where it has a chat template."""

    def __init__(self, chat_template: str | None = None) -> None:
        self.chat_template = chat_template

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        return [1] * add_special_tokens + [ord(letter) for letter in text]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))

    def apply_chat_template(self, messages: list[dict[str, str]], tokenize: bool, add_generation_prompt: bool) -> str:
        assert (tokenize, add_generation_prompt) == (False, True)
        return "".join(f"<{message['role']}>{message['content']}<assistant>" for message in messages)


def shown(tokens: list[int]) -> str:
    return Letters().decode(tokens)


def test_each_prompt_holds_what_its_model_may_read() -> None:
    prompts, common = Prompts(Letters(), 9_000), {"story": VOTE.text, "question": VOTE.question}
    assert prompts.forward(VOTE)[0] == 1, "without a chat template what begins a text stands first"
    assert unfenced(shown(prompts.forward(VOTE))) == common | {"rater": "ann"}
    # not who gave it
    assert unfenced(shown(prompts.inverse(VOTE))) == common | {"explanation": VOTE.explanation}
    verdict = shown(prompts.verdict(VOTE, np.array([0.123, -1.0])))
    assert unfenced(verdict) == common | {"curiosity": [0.12, -1]}
    assert "yes or no" in verdict


def test_of_what_is_too_long_the_end_of_the_story_is_left_out() -> None:
    tokens = Prompts(Letters(), 900).inverse(VOTE)
    data = unfenced(shown(tokens))
    assert len(tokens) == 900
    assert VOTE.text.startswith(data["story"])
    assert (data["question"], data["explanation"]) == (VOTE.question, VOTE.explanation)
    # a backtick is written as six characters
    assert len(Prompts(Letters(), 900).inverse(changed(VOTE, text="`" * 2_000))) <= 900
    with pytest.raises(EngineFailedError, match="more than 64 tokens beside the story: give a larger length"):
        Prompts(Letters(), 64).forward(VOTE)


def test_a_model_with_a_chat_template_reads_what_a_server_would_send_it() -> None:
    tokens = Prompts(Letters("a template"), 9_000).forward(VOTE)
    assert shown(tokens).startswith("<user>Below stand a story")
    assert shown(tokens).endswith("```\n<assistant>")
    assert 1 not in tokens  # the template has what begins a text


def test_yes_and_no_are_told_by_their_first_token_which_differs() -> None:
    class Spaced(Letters):
        def encode(self, text: str, add_special_tokens: bool) -> list[int]:
            return super().encode(f" {text}", add_special_tokens)

    assert Prompts(Letters(), 900).answers() == (ord("n"), ord("y"))
    with pytest.raises(EngineFailedError, match="has the same first token for 'yes' and 'no'"):
        Prompts(Spaced(), 900).answers()


def called(*arguments: object) -> Result:
    return genie("rater", "curiosity", *arguments, "--folds", 3, "--resamples", 5)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return lines_of(tmp_path / "votes.jsonl", (vote.model_dump() for vote in VOTES))


def test_a_folder_has_the_weights_of_what_it_says_and_nothing_that_anybody_wrote(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shown = called(file, "-o", folder, "--set", "ridge=2", "--explanation", "held-out")
    assert shown.exit_code == 0, shown.output
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert files == ["card.md", "curiosity.json", "weights/coefficients.npz"]
    manifest = json.loads((folder / "curiosity.json").read_bytes())
    assert manifest["comparison"]["settings"] == {"rater_weight": 1, "ridge": 2, "penalty": 1}
    assert manifest["comparison"]["reading"] == READING["held-out"]
    content = (folder / files[-1]).read_bytes()
    assert manifest["weights"] == {files[-1]: hashlib.sha256(content).hexdigest()}
    with np.load(folder / files[-1]) as arrays:
        written = arrays["verdict_weights"]
    fitted = VectorCuriosity("held-out", VectorSettings(ridge=2)).fit(VOTES)
    assert written == pytest.approx(fitted.classifier[:-1])
    everything = b"".join((folder / file).read_bytes() for file in files).decode("latin-1")
    for text in (*STORIES, *SAID.values(), *HABIT.values(), "Is it original", "_model"):
        assert text not in everything


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "epochs=3"], "setting is 'epochs', expected one of rater_weight, ridge, penalty, as name=value"),
        (["--explanation", "own"], "'own' is not one of 'none', 'held-out'"),
        (["-o", "."], "."),
    ],
)
def test_a_wrong_option_is_one_line(file: Path, options: list[str], said: str) -> None:
    shown = called(file, *options)
    assert shown.exit_code
    assert said in shown.stderr


@pytest.mark.parametrize(
    ("package", "said"),
    [
        (None, "the curiosity model on a base model needs the extra personal: pip install"),
        (object(), "Error: base models/qwen does not exist, expected a folder with a causal model"),
    ],
)
def test_a_base_needs_the_extra_and_a_folder(
    package: object, said: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genie_inspect.studies.personal.curiosity_models.find_spec", lambda name: package)
    shown = called(file, "--base", "models/qwen")
    assert shown.exit_code == 1
    assert said in shown.stderr
