import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import Score
from tests.reports.made_logs import asked, made_log, scored

from genie_inspect.logs.reading import read_logs
from genie_inspect.reports.page import page
from genie_inspect.reports.report import build_report, numbers
from genie_inspect.reports.stand_outs import StandOut, questions, stand_outs


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


HOSTILE = "The <b>tide</b> & <script>alert(1)</script> folded its letters \N{RIGHT-TO-LEFT OVERRIDE}and went home."
NAN = float("nan")
PLAIN = "The tide folded its letters and went home."


def reading(text: str, *quotes: tuple[str, str], novel: float = 1.0, awkward: float = 0.0) -> Score:
    marks: list[dict[str, Any]] = []
    for aspect, quote in quotes:
        start = text.index(quote)
        marks.append(
            {"aspect": aspect, "text": quote, "start": start, "end": start + len(quote), "reason": f"So: {quote}"}
        )
    value = {"novel_per_100_words": novel, "awkward_per_100_words": awkward}
    return scored(value, "measure:close_reading|reader:r|version:1", marks=marks)


def made(folder: Path, *read: tuple[str, Score]) -> str:
    texts, scores = zip(*read, strict=True)
    return made_log(folder, [{"close_reading": score} for score in scores], texts=texts)


def test_marks_stand_in_the_text_where_they_overlap_too(tmp_path: Path) -> None:
    score = reading(PLAIN, ("novel", "tide folded its"), ("awkward", "its letters"))
    html = page(build_report([made(tmp_path, (PLAIN, score))]))
    assert (
        'The <mark class="novel">tide folded </mark><mark class="novel awkward">its</mark><sup>1</sup>'
        '<mark class="awkward"> letters</mark><sup>2</sup> and went home.'
    ) in html
    assert '<td class="words"><bdi>So: its letters</bdi></td>' in html
    assert '<a href="#marked">Marked passages</a>' in html


def test_a_text_of_markup_is_shown_as_text(tmp_path: Path) -> None:
    score = reading(HOSTILE, ("novel", "<script>alert(1)</script> folded its"))
    html = page(build_report([made(tmp_path, (HOSTILE, score))]))
    assert "<script" not in html
    assert (
        '&lt;b&gt;tide&lt;/b&gt; &amp; <mark class="novel">&lt;script&gt;alert(1)&lt;/script&gt; folded its</mark>'
        in html
    )


def test_of_each_run_those_with_most_marks_are_shown_each_text_once(tmp_path: Path) -> None:
    few, most = (reading(PLAIN, ("novel", "tide folded its"), novel=novel) for novel in (1.0, 5.0))
    none = reading("Nothing at all.", novel=0.0)
    awkward = reading("It went home then.", ("awkward", "went home"), novel=0.0, awkward=9.0)
    texts = [(f"{PLAIN} Few.", few), ("Nothing at all.", none), (PLAIN, most), (PLAIN, most)]
    report = build_report([made(tmp_path, *texts, ("It went home then.", awkward))], examples=1)
    assert [(one.sample, len(one.marks)) for one in report.passages] == [(3, 1), (5, 1)]


def test_a_mark_of_another_text_is_not_shown(tmp_path: Path) -> None:
    score = reading(PLAIN, ("novel", "tide folded its"))
    assert build_report([made(tmp_path, ("Another text altogether.", score))]).passages == ()


def test_the_json_has_the_marks_without_the_text(tmp_path: Path) -> None:
    score = reading(PLAIN, ("novel", "tide folded its"))
    (passage,) = numbers(build_report([made(tmp_path, (PLAIN, score))]))["marked_passages"]
    assert [mark["text"] for mark in passage["marks"]] == ["tide folded its"]
    assert passage["pieces"] == []


def test_a_report_without_close_reading_has_no_such_section(tmp_path: Path) -> None:
    assert 'id="marked"' not in page(build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])]))


def test_each_run_shows_its_own_documents_with_their_epoch_and_prompt(tmp_path: Path) -> None:
    both = reading(PLAIN, ("novel", "tide folded its"), ("novel", "folded"))
    other = reading("Its letters went home.", ("novel", "letters"), novel=2.0)
    scores = [{"close_reading": both, "genie": scored({"plot_per_100_words": 9.0})}, {"close_reading": other}]
    texts = (PLAIN, "Its letters went home.")
    for model in ("m/a", "m/b"):
        made_log(tmp_path, scores, model=model, texts=texts, places=[("x", 1), ("x", 2)], prompts=["One", "Two"])
    passages = build_report([tmp_path]).passages
    assert [(one.run, one.sample, one.epoch, one.prompt) for one in passages] == [
        *[("m/a", "x", 2, "Two"), ("m/a", "x", 1, "One")],
        *[("m/b", "x", 2, "Two"), ("m/b", "x", 1, "One")],
    ]
    assert "".join(piece.text for piece in passages[0].pieces) == "Its letters went home."
    # two marks of one aspect over each other are one colour, and each has its number
    assert [(piece.text, piece.aspects, piece.ending) for piece in passages[1].pieces] == [
        ("The ", (), ()),
        ("tide ", ("novel",), ()),
        ("folded", ("novel",), (2,)),
        (" its", ("novel",), (1,)),
        (" letters and went home.", (), ()),
    ]


def test_a_document_with_a_value_of_0_or_none_or_a_mark_of_nothing_is_not_shown(tmp_path: Path) -> None:
    texts = [f"{PLAIN} {number}" for number in range(3)]
    none, unknown = (
        reading(text, ("novel", "tide"), novel=novel) for text, novel in zip(texts, (0.0, NAN), strict=False)
    )
    empty = reading(texts[2], ("novel", ""))
    none.value = {"novel_per_100_words": 0.0, "marks": 9.0}
    assert build_report([made(tmp_path, *zip(texts, (none, unknown, empty), strict=True))]).passages == ()


@pytest.mark.parametrize(("length", "cut"), [(20_000, False), (20_001, True)])
def test_an_endless_text_is_cut_and_its_marks_are_all_listed(length: int, cut: bool, tmp_path: Path) -> None:
    text = "ab " * 6_666 + "c" * (length - 19_998)
    score = reading(text, ("novel", text[:2]), ("novel", text[-3:]))
    (passage,) = build_report([made(tmp_path, (text, score))]).passages
    assert (len(passage.marks), passage.cut) == (2, cut)
    assert "".join(piece.text for piece in passage.pieces) == text[:20_000]
    # a mark that goes on beyond the cut has no place in the text that is shown
    assert [piece.ending for piece in passage.pieces if piece.ending] == ([(1,)] if cut else [(1,), (2,)])
