"""Which answers changed, as far as scores keep them."""

from pathlib import Path
from typing import Any

import pytest
from tests.reports.made_logs import scored
from tests.reports.sensitivity.studies import GENIE, Made, is_edit, made, study_log

from genie_inspect.interventions.schema import EDIT, PARAPHRASE
from genie_inspect.reports.sensitivity.answers import answer_changes
from genie_inspect.reports.sensitivity.pairs import Intervention

PLOT, TOLD_ANEW = Intervention(EDIT, "plot"), Intervention(PARAPHRASE)


def row(question: str, feature: str, answer: object) -> dict[str, Any]:
    return {"id": question, "feature": feature, "question": "What?", "answer": answer, "novelty": 0.5}


def table(text: Made) -> object:
    """Two questions on the plot, one on the style; an edit of the plot changes one answer, a paraphrase its case."""
    end = "in snow" if is_edit(text, "plot") else "In  Rain." if text.facts.kind == PARAPHRASE else "in rain"
    return [row("q1", "plot", end), row("q2", "plot", "a theft"), row("q3", "style", "dry")]


def changes(folder: Path, questions: Any, **options: Any) -> dict[tuple[Intervention, str], tuple[int, int]]:
    """By intervention and feature, the answers changed and compared."""
    log = study_log(
        folder,
        made(2, ["plot"], **options),
        lambda text: {"genie": scored({"plot": 0.5}, GENIE, questions=questions(text)), "cosine": scored(0.5)},
    )
    found = list(answer_changes(log, ["genie", "cosine"]))
    assert {one.scorer for one in found} <= {"genie"}
    return {(one.intervention, one.feature): (one.changed, one.compared) for one in found}


def test_answers_are_compared_with_those_of_the_original_question_by_question(tmp_path: Path) -> None:
    assert changes(tmp_path, table) == {
        (PLOT, "plot"): (2, 4),
        (PLOT, "style"): (0, 2),
        (TOLD_ANEW, "plot"): (0, 8),
        (TOLD_ANEW, "style"): (0, 4),
    }


def test_each_epoch_is_held_against_the_same_epoch_of_the_original(tmp_path: Path) -> None:
    def by_epoch(text: Made) -> object:
        return [row("q1", "plot", f"in rain {text.epoch}")]

    assert changes(tmp_path, by_epoch, paraphrases=0, epochs=2) == {(PLOT, "plot"): (0, 4)}


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("a very long ans…", "a very long answer about rain", 0),
        ("a very long answer about rain", "a very long ans…", 0),
        ("a very long ans…", "a very short answer", 1),
        ("", "in rain", 1),
    ],
)
def test_of_an_answer_that_was_cut_its_beginning_is_compared(
    tmp_path: Path, before: str, after: str, changed: int
) -> None:
    questions = lambda text: [row("q1", "plot", after if text.facts.kind == EDIT else before)]  # noqa: E731
    assert changes(tmp_path, questions, paraphrases=0) == {(PLOT, "plot"): (2 * changed, 2)}


@pytest.mark.parametrize(
    "questions",
    [
        "17 questions: too many to keep here",
        [{"id": "q1", "feature": "plot"}],
        ["x", 3, {"id": ["q"], "feature": "plot", "answer": "x"}],
        None,
        {"q1": "in rain"},
    ],
)
def test_what_has_another_form_or_no_room_is_not_compared(tmp_path: Path, questions: object) -> None:
    assert changes(tmp_path, lambda text: questions) == {}


def test_a_question_that_the_original_was_not_asked_is_not_compared(tmp_path: Path) -> None:
    def more(text: Made) -> object:
        return [row("q1", "plot", "in rain")] + ([row("q9", "plot", "x")] if text.facts.kind == EDIT else [])

    assert changes(tmp_path, more, paraphrases=0) == {(PLOT, "plot"): (0, 2)}
