import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import Score
from tests.reports.made_logs import asked, made_log, scored

from genie_inspect.logs.reading import read_logs
from genie_inspect.reports.page.stand_outs import StandOut, questions, stand_outs


def found(file: str, examples: int = 1) -> list[StandOut]:
    return list(stand_outs(read_logs([file]), [("genie", ("plot",))], examples))


def genie(value: float, *rows: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"genie": scored({"plot": value}, coverage={"plot": "1/1"}, questions=list(rows), **metadata)}


def test_the_most_and_the_least_novel_document_come_with_text_and_telling_question(tmp_path: Path) -> None:
    samples = [
        genie(0.2, asked(0.1, answer="low"), asked(0.3, answer="high")),
        genie(0.5, asked(0.5)),
        genie(0.9, asked(1.0, answer="strange"), asked(0.8), asked(None), asked(2.0, feature="style")),
    ]
    most, least = found(made_log(tmp_path, samples, texts=["a b", "c d", "e f"]))
    assert (most.end, most.sample, most.value, most.text) == ("most", 3, 0.9, "e f")
    assert (least.end, least.sample, least.value, least.text) == ("least", 1, 0.2, "a b")
    assert most.question is not None
    assert most.question.answer == "strange"
    assert (most.question.nearest[0].answer, most.question.nearest[0].given) == ("in snow", 3)
    assert least.question is not None
    assert least.question.answer == "low"


def test_no_document_stands_at_both_ends_when_there_are_two(tmp_path: Path) -> None:
    file = made_log(tmp_path, [genie(0.2, asked(0.2)), genie(0.9, asked(0.9))])
    assert [(one.end, one.sample) for one in found(file, examples=5)] == [("most", 2), ("least", 1)]


def test_what_could_not_be_measured_and_the_populations_own_stand_out_nowhere(tmp_path: Path) -> None:
    assert found(made_log(tmp_path / "a", [genie(math.nan, asked(None))])) == []
    assert found(made_log(tmp_path / "b", [genie(0.5, asked(0.5), left_out=["d"])])) == []


def test_only_documents_whose_questions_were_kept_stand_out(tmp_path: Path) -> None:
    bare = {"genie": scored({"plot": 1.0}, questions=[asked(0.9)])}
    other = {"cosine": scored({"cosine_mean": 0.5}, "measure:cosine|version:0")}
    file = made_log(tmp_path, [genie(0.2, asked(0.2)), genie(0.9, asked(0.9)), bare, other])
    assert [(one.end, one.sample) for one in found(file)] == [("most", 2), ("least", 1)]


def test_no_examples_are_none(tmp_path: Path) -> None:
    assert found(made_log(tmp_path, [genie(0.5, asked(0.5))]), examples=0) == []


def test_a_document_that_is_just_not_too_long_is_whole(tmp_path: Path) -> None:
    one, _ = found(made_log(tmp_path, [genie(0.5, asked(0.5))], texts=["x" * 20_000]))
    assert one.text == "x" * 20_000


def test_a_very_long_document_is_cut(tmp_path: Path) -> None:
    one, _ = found(made_log(tmp_path, [genie(0.5, asked(0.5))], texts=["x" * 20_001]))
    assert one.text == "x" * 20_000 + " […]"


@pytest.mark.parametrize("kept", [None, "40 questions: too many to keep here", [{"feature": 1}], [1]])
def test_a_question_table_that_is_none_of_ours_is_no_table(kept: object) -> None:
    assert questions(scored({"plot": 0.5}, questions=kept)) == []


def test_a_question_of_novelty_0_tells_at_the_least_novel_end(tmp_path: Path) -> None:
    samples = [genie(0.5, asked(0.3, answer="some"), asked(0.0, answer="same"))] * 2
    most, least = found(made_log(tmp_path, samples))
    assert most.question is not None
    assert least.question is not None
    assert (most.question.answer, least.question.answer) == ("some", "same")


def test_a_score_without_metadata_has_no_questions() -> None:
    assert questions(Score(value={"plot": 0.5})) == []


def test_the_documents_of_all_runs_stand_in_one_order_each_with_its_run_epoch_prompt_and_text(tmp_path: Path) -> None:
    files = [
        made_log(
            tmp_path,
            [genie(value, asked(value)) for value in values],
            model=model,
            places=[("x", 1), ("x", 2)],
            prompts=["One", "Two"],
            texts=[f"{model} 1", f"{model} 2"],
        )
        for model, values in (("m/a", (0.4, 0.1)), ("m/b", (0.3, 0.9)))
    ]
    most, least = stand_outs(read_logs(files), [("genie", ("plot",))], 1)
    assert [(one.run, one.sample, one.epoch, one.prompt, one.value, one.text) for one in (most, least)] == [
        ("m/b", "x", 2, "Two", 0.9, "m/b 2"),
        ("m/a", "x", 2, "Two", 0.1, "m/a 2"),
    ]
    runs = [replace(run, label=f"run of {run.model}") for run in read_logs(files)]
    assert [one.run for one in stand_outs(runs, [("genie", ("plot",))], 1)] == ["run of m/b", "run of m/a"]
