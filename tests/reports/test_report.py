"""The report's numbers, and the documents that stand out."""

import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import Score
from inspect_ai.viewer import ViewerConfig
from tests.reports.made_logs import GENIE, asked, made_log, scored

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.logs.reading import read_logs
from genie_inspect.reports.page import page, unlike_lengths
from genie_inspect.reports.ranking import concordance
from genie_inspect.reports.report import Range, StandOut, build_report, numbers, questions, stand_outs
from genie_inspect.reports.verdict import as_values
from genie_inspect.statistics.descriptive import Standing
from genie_inspect.tasks.novelty import feature_view

NAN = math.nan
MINE, COSINE, TTCW = "measure:mine|version:0", "measure:cosine|version:0", "measure:ttcw|rubric:ttcw@0|version:0"


def test_a_cell_has_the_mean_with_its_interval_the_quartiles_and_what_could_be_used(tmp_path: Path) -> None:
    rests: dict[str, Any] = {"coverage": {"plot": "1/2", "style": "0/1"}, "pairs": {"plot": "5/12"}}
    cosine = scored({"cosine": 0.3}, COSINE)
    samples = [{"cosine": cosine, "genie": scored({"plot": value, "style": NAN}, **rests)} for value in (0.0, 0.5, 1.0)]
    logs = [made_log(tmp_path, [{"cosine": cosine}], model="mock/other"), made_log(tmp_path, samples)]
    measure, other = build_report(logs).measures
    # `genie` is first, a log without it has an empty row, and labels give the order: mock/other, mock/writer
    assert (measure.scorer, other.scorer) == ("genie", "cosine")
    assert [list(row) for row in measure.rows] == [[], ["plot", "style"]]
    assert [list(row) for row in other.rows] == [["cosine"]] * 2
    plot, style = measure.rows[1].values()
    assert plot.interval.mean == 0.5
    # t(2, 97.5%) = 4.3027; standard error 0.5 / sqrt(3) = 0.2887: 0.5 +- 1.24, of which values from 0 to 1 leave all
    assert (plot.interval.low, plot.interval.high) == pytest.approx((0, 1), abs=0.01)
    assert plot.spread == {"low": 0.25, "median": 0.5, "high": 0.75}
    assert (plot.used, plot.asked, plot.usable, plot.due) == (3, 6, 15, 36)
    assert math.isnan(style.interval.mean)
    assert math.isnan(style.spread["median"])


def test_weights_of_the_user_make_one_more_key_that_is_named_as_theirs_and_is_not_compared(tmp_path: Path) -> None:
    rows = [(0.2, 0.8), (0.4, 0.6), (0.6, math.nan)]
    for model, texts in (("m/a", ["ab", "c", "d"]), ("m/b", "efg")):
        samples = [{"genie": scored({"plot": plot, "style": style})} for plot, style in rows]
        made_log(tmp_path, samples, model=model, texts=tuple(texts))
    report = build_report([tmp_path], baseline="m/a", weights={"plot": 3, "style": 1})
    (measure,) = report.measures
    assert measure.keys == ("plot", "style", "weighted by you (plot 3, style 1)")
    # hand-worked: (3 x .2 + .8) / 4 = .35 and (3 x .4 + .6) / 4 = .45; the third document lacks a feature
    cell = measure.rows[0]["weighted by you (plot 3, style 1)"]
    assert cell.interval.mean == pytest.approx(0.4)
    assert measure.ranges["weighted by you (plot 3, style 1)"].is_unit
    assert report.comparison
    assert [row.key for row in report.comparison.rows] == ["plot", "style"]
    assert "weighted by you (plot 3, style 1)" in page(report)
    with pytest.raises(UnknownChoiceError, match="weights is 'plt', expected features of m/a: plot, style"):
        build_report([tmp_path], weights={"plt": 1})


NO_VIEW = ViewerConfig()


@pytest.mark.parametrize(
    ("signature", "logs", "viewers", "expected"),
    [
        # what the view says, else what was seen, over all runs that have a value
        (MINE, [[{"plot": 0.4, "other": 3.0}, {"plot": 0.6, "other": 5.0}]], [None], {"plot": (0, 1), "other": [3, 5]}),
        (MINE, [[{"other": 3.0}], [{"other": 1.0}, {"other": NAN}, {"other": 9.0}]], [None] * 2, {"other": [1, 9]}),
        # the first log with a view says it for all
        (MINE, [[{"plot": 0.5}]] * 2, [NO_VIEW, None], {"plot": (0, 1)}),
        # novelty by feature has these ends whatever a view says
        (GENIE, [[{"plot": 0.4}, {"plot": 0.6}]], [feature_view(["plot"], {})], {"plot": (0, 1)}),
        # one value stands in what the measure could have, several in what was seen
        (COSINE, [[{"cosine_mean": 0.5, "own": 0.5}] * 2], [None], {"cosine_mean": (0, 2), "own": [0.5, 0.5]}),
        (COSINE, [[{"cosine_mean": 0.4}, {"cosine_mean": 0.6}]], [None], {"cosine_mean": [0.4, 0.6]}),
        # a count of which nobody says where it ends goes as far as it was seen
        (TTCW, [[{"ttcw_total": 3.0}]], [NO_VIEW], {"ttcw_total": [3, 3]}),
    ],
)
def test_a_range_is_known_or_what_was_seen(
    signature: str, logs: list[Any], viewers: list[ViewerConfig | None], expected: dict[str, Any], tmp_path: Path
) -> None:
    name = signature.split("|")[0].removeprefix("measure:")
    for place, (values, viewer) in enumerate(zip(logs, viewers, strict=True)):
        made_log(tmp_path, [{name: scored(value, signature)} for value in values], model=f"m/{place}", viewer=viewer)
    (measure,) = build_report([tmp_path]).measures
    assert measure.ranges == {
        key: Range(ends[0], ends[1], known=isinstance(ends, tuple)) for key, ends in expected.items()
    }
    assert measure.is_unit == all(ends == (0, 1) for ends in expected.values())
    if name == "ttcw":
        score = scored({"ttcw_total": 3.0}, TTCW, coverage={"ttcw_total": "14/14"})
        (measure,) = build_report([made_log(tmp_path / "said", [{"ttcw": score}], viewer=NO_VIEW)]).measures
        assert measure.ranges == {"ttcw_total": Range(0, 14, known=True)}, "a count ends where the scorer says it"


def test_a_populations_own_documents_come_last(tmp_path: Path) -> None:
    own = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=["d"])}])
    other = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])
    third = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], model="mock/b")
    found = build_report([own, other, third], baseline="mock/writer")
    assert [run.is_population for run in found.runs] == [False, False, True]
    # they are nobody's rival
    assert found.comparison
    assert [row.run for row in found.comparison.rows] == ["mock/b"]
    assert numbers(found)["comparison"] == as_values(found.comparison)


def test_faults_and_warnings_stand_by_their_run_and_the_population_is_where_the_runs_that_know_it_say(
    tmp_path: Path,
) -> None:
    own = {"plot": {"percentile": 75.0, "mean": 0.4, "low": 0.3, "high": 0.6}}
    poor = scored({"plot": 0.5}, coverage={"plot": "1/2"}, faults={"no": 3}, standing=own)
    made_log(tmp_path, [{"genie": scored({"plot": 0.9})}], model="m/a")
    made_log(tmp_path, [{"genie": poor}], model="m/b")
    (measure,) = build_report([tmp_path]).measures
    assert measure.faults == ({}, {"no": 3})
    lines = ["some means rest on fewer answers than were asked for (one per question and document): plot 1 of 2"]
    assert [list(own_lines) for own_lines in measure.warnings] == [[], lines]
    assert measure.population == {"plot": Standing(percentile=75.0, mean=0.4, low=0.3, high=0.6)}
    assert (measure.has_standing, measure.covered) == (True, ["plot"])


def test_tau_is_taken_over_the_documents_that_both_keys_have_and_says_how_many(tmp_path: Path) -> None:
    values = [(0.1, 0.4), (0.2, 0.3), (0.3, 0.1), (0.4, 0.2), (0.5, NAN)]
    samples = [{"genie": scored({"plot": plot, "style": style})} for plot, style in values]
    # the population's own documents do not count
    own = made_log(tmp_path, [{"genie": scored({"plot": 0.9, "style": 0.9}, left_out=["d"])}])
    found = concordance(read_logs([made_log(tmp_path, samples), own]), [("genie", "plot"), ("genie", "style")])
    # of 6 pairs 1 is in order and 5 reversed
    assert found["tau"][0][1] == found["tau"][1][0] == pytest.approx((1 - 5) / 6)
    assert found["documents"] == [[5, 4], [4, 4]]
    assert found["names"] == ["plot", "style"]


def test_one_value_throughout_puts_nothing_in_order_and_keys_beyond_what_a_table_can_hold_are_counted(
    tmp_path: Path,
) -> None:
    def agreement(*values: dict[str, float]) -> dict[str, Any]:
        file = made_log(tmp_path, [{"genie": scored(own)} for own in values])
        return concordance(read_logs([file]), [("genie", key) for key in values[0]])

    one, other = {"plot": 0.1, "style": 0.1}, {"plot": 0.1, "style": 0.2}
    found = agreement(one, other, {"plot": NAN, "style": NAN})
    assert (found["names"], found["tau"], found["unordered"]) == (["style"], [[1.0]], ["plot"])
    # and of one value among the documents of another key there is no tau
    assert math.isnan(agreement(one, other, {"plot": 0.2, "style": NAN})["tau"][0][1])
    found = agreement(*({"same": 0.5, **{f"k{number}": value for number in range(43)}} for value in (0.1, 0.2)))
    assert (len(found["names"]), found["left_out"], found["unordered"]) == (40, 3, ["same"])


def found(file: str, examples: int = 1) -> list[StandOut]:
    return list(stand_outs(read_logs([file]), [("genie", ("plot",))], examples))


def genie(value: float, *rows: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"genie": scored({"plot": value}, coverage={"plot": "1/1"}, questions=list(rows), **metadata)}


def test_the_most_and_the_least_novel_document_come_with_text_and_telling_question(tmp_path: Path) -> None:
    samples = [
        genie(0.2, asked(0.3, answer="high"), asked(0.0, answer="low")),
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
    # no document stands at both ends
    file = made_log(tmp_path, samples[:1] + samples[2:])
    assert [(one.end, one.sample) for one in found(file, examples=5)] == [("most", 2), ("least", 1)]


def test_only_documents_that_were_measured_and_whose_questions_were_kept_stand_out_and_none_of_the_population(
    tmp_path: Path,
) -> None:
    assert found(made_log(tmp_path / "a", [genie(math.nan, asked(None))])) == []
    assert found(made_log(tmp_path / "b", [genie(0.5, asked(0.5), left_out=["d"])])) == []
    bare = {"genie": scored({"plot": 1.0}, questions=[asked(0.9)])}
    other = {"cosine": scored({"cosine_mean": 0.5}, "measure:cosine|version:0")}
    file = made_log(tmp_path, [genie(0.2, asked(0.2)), genie(0.9, asked(0.9)), bare, other])
    assert [(one.end, one.sample) for one in found(file)] == [("most", 2), ("least", 1)]


@pytest.mark.parametrize("kept", [None, "40 questions: too many to keep here", [{"feature": 1}], [1]])
def test_a_question_table_that_is_none_of_ours_is_no_table(kept: object) -> None:
    assert questions(scored({"plot": 0.5}, questions=kept)) == questions(Score(value={"plot": 0.5})) == []


HOSTILE = "The <b>tide</b> & <script>alert(1)</script> folded its letters \N{RIGHT-TO-LEFT OVERRIDE}and went home."
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


def test_marks_stand_in_the_text_where_they_overlap_too_and_markup_is_shown_as_text(tmp_path: Path) -> None:
    score = reading(PLAIN, ("novel", "tide folded its"), ("awkward", "its letters"))
    hostile = reading(HOSTILE, ("novel", "<script>alert(1)</script> folded its"))
    html = page(build_report([made(tmp_path, (PLAIN, score), (HOSTILE, hostile))]))
    assert (
        'The <mark class="novel">tide folded </mark><mark class="novel awkward">its</mark><sup>1</sup>'
        '<mark class="awkward"> letters</mark><sup>2</sup> and went home.'
    ) in html
    assert '<td class="words"><bdi>So: its letters</bdi></td>' in html
    assert '<a href="#marked">Marked passages</a>' in html
    assert "<script" not in html
    script = '<mark class="novel">&lt;script&gt;alert(1)&lt;/script&gt; folded its</mark>'
    assert f"&lt;b&gt;tide&lt;/b&gt; &amp; {script}" in html


def test_of_each_run_those_with_most_marks_are_shown_each_text_once(tmp_path: Path) -> None:
    few, most = (reading(PLAIN, ("novel", "tide folded its"), novel=novel) for novel in (1.0, 5.0))
    none = reading("Nothing at all.", novel=0.0)
    awkward = reading("It went home then.", ("awkward", "went home"), novel=0.0, awkward=9.0)
    texts = [(f"{PLAIN} Few.", few), ("Nothing at all.", none), (PLAIN, most), (PLAIN, most)]
    report = build_report([made(tmp_path, *texts, ("It went home then.", awkward))], examples=1)
    assert [(one.sample, len(one.marks)) for one in report.passages] == [(3, 1), (5, 1)]


def test_a_document_with_a_value_of_0_or_none_or_a_mark_of_nothing_or_another_text_is_not_shown(tmp_path: Path) -> None:
    marked = [(f"{PLAIN} {novel}", reading(PLAIN, ("novel", "tide"), novel=novel)) for novel in (0.0, NAN)]
    marked += [(PLAIN, reading(PLAIN, ("novel", ""))), ("Another text.", reading(PLAIN, ("novel", "tide")))]
    report = build_report([made(tmp_path, *marked)])
    assert report.passages == ()
    assert 'id="marked"' not in page(report)


@pytest.mark.parametrize(("length", "cut"), [(20_000, False), (20_001, True)])
def test_a_very_long_document_is_cut_and_its_marks_are_all_listed(length: int, cut: bool, tmp_path: Path) -> None:
    text = "ab " * 6_666 + "c" * (length - 19_998)
    score = {"close_reading": reading(text, ("novel", text[:2]), ("novel", text[-3:]))} | genie(0.5, asked(0.5))
    file = made_log(tmp_path, [score], texts=[text])
    (passage,) = build_report([file]).passages
    assert (len(passage.marks), passage.cut) == (2, cut)
    assert "".join(text for text, _, _ in passage.pieces) == text[:20_000]
    # a mark that goes on beyond the cut has no place in the text that is shown
    assert [ending for _, _, ending in passage.pieces if ending] == ([(1,)] if cut else [(1,), (2,)])
    assert [one.text for one in found(file)] == [text[:20_000] + " […]" * cut] * 2
    assert found(file, examples=0) == []


def test_the_shortest_and_the_longest_run_are_named_beyond_one_and_a_half_times(tmp_path: Path) -> None:
    for words, named in (((2, 3), None), ((0, 5), None), ((40, 9, 20), ("m/9", "m/40"))):
        files = [
            made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], model=f"m/{count}", texts=["word " * count])
            for count in words
        ]
        found = unlike_lengths(build_report(files))
        assert (found and (found[0], found[2])) == named
