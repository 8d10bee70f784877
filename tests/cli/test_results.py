"""`genie summary`, `report`, `demo` and `show`, as a user calls them."""

import json
import math
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log
from tests.cli.called import genie, refusal
from tests.reports.made_logs import GENIE, asked, made_log, scored

from genie_inspect.cli import main
from genie_inspect.graders.rubrics import load_rubric

genie_summary, genie_report = partial(genie, "summary"), partial(genie, "report")


def test_the_table_has_a_row_a_feature_and_says_what_was_not_measured(tmp_path: Path) -> None:
    told = scored({"plot": 1.0, "style": math.nan}, coverage={"plot": "2/2"}, pairs={"plot": "6/6"})
    unscored = scored({"plot": math.nan, "style": math.nan}, reason="no_response")
    result = genie_summary(made_log(tmp_path, [{"genie": told}, {"genie": unscored}]))
    assert result.exit_code == 0, result.output
    lines = {
        line.split("│")[1].strip(): line.split("│")[2].strip() for line in result.output.splitlines() if "│" in line
    }
    assert lines == {"plot": "1.00 100/100%", "style": "not measured", "documents scored": "1 of 2, 1 no_response"}
    assert "measure:genie" in result.output.replace("\n", "")


def test_how_near_the_nearest_comes_stands_below_each_mean_when_it_is_asked_for(tmp_path: Path) -> None:
    near = [{"plot": 0.2}, {"plot": None}, {"plot": 0.4}, {}]
    samples = [{"genie": scored({"plot": 0.5, "style": 0.5}, nearest_novelty=one)} for one in near]
    file = made_log(tmp_path, samples, prompts=["a", "a", "b", "b"])
    assert "nearest" not in genie_summary(file).output.lower()
    shown = genie_summary(file, "--nearest").output
    # prompt means 0.2 and 0.4; 0.1 x t of one degree of freedom is 1.27, cut at 0 and 1
    assert "nearest 0.30 [0.00, 1.00]" in shown
    assert shown.count("nearest 0") == 1, "style has none"
    assert "one minus the highest similarity" in " ".join(shown.split())


def test_what_is_missing_and_what_to_beware_of_stand_below_the_table_and_in_json(tmp_path: Path) -> None:
    facts: dict[str, Any] = {
        "coverage": {"plot": "1/4"},
        "pairs": {"plot": "5/48"},
        "faults": {"unreadable": 43},
        "ratings": {"count": 5, "lowest": 4, "highest": 4},
        "documents": 1,
        "few_answers": "1/1",
    }
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, **facts)}] * 2)
    lines = " ".join(genie_summary(file).output.split())
    assert "Missing in mock/writer: 86 unreadable." in lines
    (column,) = json.loads(genie_summary(file, "--json").output)[0]["columns"]
    assert len(column["warnings"]) == 5
    for warning in column["warnings"]:
        assert f"Warning: mock/writer: {warning}." in lines
    assert column["faults"] == {"unreadable": 86}
    assert column["pairs"] == {"plot": [10, 96]}


def test_a_jury_has_a_table_of_its_own_with_each_grader_and_their_agreement(tmp_path: Path) -> None:
    graders = {
        "mock/one": {"novelty": {"plot": 0.25}, "questions": {"plot": [0.0, 0.5]}},
        "mock/[two]": {"novelty": {"plot": None}, "questions": {"plot": [0.0, 0.5]}},
    }
    result = genie_summary(made_log(tmp_path, [{"genie": scored({"plot": 0.25, "style": 0.5}, graders=graders)}]))
    assert result.exit_code == 0, result.output
    table = result.output.partition("the jury of")[2]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines() if "│" in line]
    assert rows[0] == ["plot", "0.25", "not measured", "1.00"]
    assert ["documents measured", "1 of 1", "0 of 1", ""] in rows
    assert "mock/[two]" in table


@pytest.fixture
def report_log(tmp_path: Path) -> str:
    return made_log(tmp_path / "logs", [{"genie": scored({"plot": value})} for value in (0.1, 0.4, 0.9)])


def test_mixed_signatures_are_one_line_and_the_old_page_stays(tmp_path: Path, report_log: str) -> None:
    other = made_log(tmp_path / "logs", [{"genie": scored({"plot": 0.5}, GENIE.replace("test", "other"))}])
    page = tmp_path / "report.html"
    page.write_text("old", encoding="utf-8")
    assert "judge is test and other" in refusal("report", report_log, other, "-o", page)
    assert page.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["report.html"]


def test_the_written_page_is_opened_and_a_machine_that_cannot_says_so(
    tmp_path: Path, report_log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    opened: list[str] = []

    def launch(url: str) -> int:
        assert Path(url).read_text(encoding="utf-8").startswith("<!doctype html>"), "it is opened when it is whole"
        opened.append(url)
        return len(opened) - 1  # the first time it worked

    monkeypatch.setattr(click, "launch", launch)
    assert genie_report(report_log, "--open", "-o", "-page.html").stderr == ""
    assert opened == [str(tmp_path / "-page.html")]
    failed = genie_report(report_log, "--open")
    assert (failed.exit_code, failed.stdout) == (0, "report.html\n")
    assert failed.stderr == "No program here opens report.html: open it in a browser yourself.\n"
    assert genie_report(report_log).exit_code == 0
    assert len(opened) == 2, "a page is opened only where it is asked for"


def test_a_picture_for_a_paper_is_written_beside_the_page_which_alone_needs_no_library(
    tmp_path: Path, report_log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture, page, bare = (tmp_path / name for name in ("means.svg", "page.html", "bare.html"))
    result = genie_report(report_log, "-o", page, "--picture", picture, "--width", 183)
    assert (result.exit_code, result.stderr) == (0, "")
    assert 'width="183mm"' in picture.read_text(encoding="utf-8")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert genie_report(report_log, "-o", bare).stderr == ""
    assert bare.read_bytes() == page.read_bytes()
    for option in ("--picture", "--pictures"):  # before a log is read
        said = refusal("report", tmp_path / "nowhere", option, picture)
        assert "needs the extra charts: pip install 'genie-inspect[charts]'" in said


def test_on_a_terminal_it_says_what_it_is_doing_and_else_nothing(tmp_path: Path, report_log: str) -> None:
    arguments = ["report", report_log, "-o", str(tmp_path / "page.html")]
    on_a_terminal = CliRunner(env={"FORCE_COLOR": "1"}).invoke(main, arguments)
    assert all(step in on_a_terminal.stderr for step in ("reading the logs", "writing the page"))
    assert genie(*arguments).stderr == f"replaced {tmp_path / 'page.html'}\n"


def test_the_demo_scores_both_storytellers_and_says_how_to_go_on(genie_demo: tuple[Path, str]) -> None:
    folder, output = genie_demo
    rows = [line.split("│")[1:4] for line in output.splitlines() if line.count("│") == 4]
    features = ["agent", "perspective", "plot", "setting", "social atmosphere", "style"]
    assert [row[0].strip() for row in rows if row[0].strip()] == [*features, "documents scored"]
    # 8 prompts x 2 epochs each
    assert [cell.strip() for cell in rows[-1][1:]] == ["16 of 16", "16 of 16"]
    assert sum("percentile" in cell for row in rows for cell in row) == 2 * len(features)
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = [line for line in readme.splitlines() if line.startswith(tuple("┏┃┡│└"))]
    assert len(shown) == 8
    assert [line for line in shown if line not in output.splitlines()] == []
    assert "inspect view --log-dir" in output.replace("\n", " ")
    (page,) = folder.rglob("report.html")
    assert str(page) in output.replace("\n", "")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "--model-role grader=" in output
    logs = [read_eval_log(info.name, header_only=True) for info in list_eval_logs(str(folder))]
    assert sorted(log.eval.model for log in logs) == ["bundled/inventive", "bundled/ordinary"]


genie_show = partial(genie, "show")


def test_a_document_is_shown_with_scores_what_set_it_apart_and_its_text(tmp_path: Path) -> None:
    low, high = asked(0.1, answer="as usual"), asked(0.9, answer="a whale [b]sings[/b]")
    shares: dict[str, Any] = {"coverage": {"plot": "2/3"}, "pairs": {"plot": "20/36"}}
    score = scored({"plot": 0.5, "style": float("nan"), "agent": 0.8}, questions=[low, high], **shares)
    score.explanation = "In other words."
    result = genie_show(made_log(tmp_path, [{"genie": score}], texts=["It rains."], prompts=["Write about rain."]), 1)
    assert result.exit_code == 0, result.output
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.output.splitlines() if "│" in line]
    # the most novel feature first, what was not measured last
    assert rows[:3] == [
        ["agent", "0.80", "0 of 0", "0 of 0"],
        ["plot", "0.50", "2 of 3", "20 of 36"],
        ["style", "not measured", "0 of 0", "0 of 0"],
    ]
    assert rows[3:] == [["plot", "How does it end?", "a whale [b]sings[/b]", "in snow (3 of 12)"]]
    for told in ("mock/writer, 1, epoch 1", "Write about rain.", "It rains.", "measure:genie"):
        assert told in result.output
    assert "In other words" not in result.output, "the table says it"


def test_an_answer_says_in_how_many_epochs_the_model_gave_it(tmp_path: Path) -> None:
    said = ("The whale sings.", "the whale sings", "rain", "")
    samples = [{"genie": scored({"plot": 0.9}, questions=[asked(0.9, answer=answer)])} for answer in said]
    places = [("whale", epoch) for epoch in range(1, 5)]
    log = made_log(tmp_path, samples, places=places)
    assert "The whale sings. (2 of 3)" in genie_show(log, "whale").output
    assert "rain (1 of 3)" in genie_show(log, "whale", "--epoch", 3).output


def test_other_scorers_explain_themselves_in_their_own_words_and_a_reason_is_shown(tmp_path: Path) -> None:
    score = scored({"ttcw_total": 3.0}, "measure:ttcw|version:0")
    score.explanation = "| test | pass |\n|:--|:--|\n| the ending | yes |"
    result = genie_show(made_log(tmp_path, [{"ttcw": score}]), 1)
    assert "the ending" in result.output
    assert "|:--" not in result.output
    apart = scored({"plot": 0.5}, questions=[asked(0.9, feature="style")])
    apart.explanation = "In words, where no question is of a key."
    output = genie_show(made_log(tmp_path / "apart", [{"genie": apart}]), 1).output
    assert "In words, where" in output
    assert "What set it apart" not in output
    silent = made_log(tmp_path / "silent", [{"genie": scored({"plot": float("nan")}, reason="refusal")}])
    assert "Not scored: refusal" in genie_show(silent, 1).output


SCORE = {"genie": scored({"plot": 0.5})}


def test_what_is_no_sample_is_one_line_that_says_which_there_are(tmp_path: Path) -> None:
    places = [("owl", 1), ("owl", 2), ("fowl", 1), ("hen", 1)]
    file = made_log(tmp_path, [SCORE] * 4, places=places, status="error")  # one that was cut short is shown too
    for sample, epoch, said in (
        ("cow", 1, "no sample 'cow'. Give one of: owl, fowl, hen"),
        ("", 1, "no sample ''"),
        ("ow", 1, "2 samples 'ow'. Give one of: owl, fowl"),
        ("owl", 3, "has no sample 'owl' of epoch 3, expected epoch 1 to 2"),
    ):
        assert said in refusal("show", file, sample, "--epoch", epoch)
    for epoch in (1, 2):
        assert f"owl, epoch {epoch}" in genie_show(file, "owl", "--epoch", epoch).output
    assert "Give one of: 1, 2, 3, 4, 5, ..." in refusal("show", made_log(tmp_path, [SCORE] * 6), "none")
    # a log need say neither how many epochs nor which samples there are
    log = read_eval_log(made_log(tmp_path, [SCORE]))
    log.eval.config.epochs = None
    write_eval_log(log)
    assert "of epoch 2, expected epoch 1 to 1" in refusal("show", log.location, "1", "--epoch", 2)
    log.eval.dataset.sample_ids = None
    write_eval_log(log)
    assert "has no sample '1'. Give one of: none" in refusal("show", log.location, "1")


def test_a_log_that_is_not_there_and_a_sample_without_our_scores_are_one_line(tmp_path: Path) -> None:
    foreign = made_log(tmp_path / "a", [{"accuracy": scored(1.0, signature="")}])
    failed = read_eval_log(made_log(tmp_path / "b", [SCORE, SCORE]))
    (failed.samples or [])[1].scores = None
    write_eval_log(failed)
    assert "does not exist" in refusal("show", tmp_path / "nowhere.eval", 1)
    assert "no scores by genie-inspect" in refusal("show", foreign, 1)
    assert "has no scores by genie-inspect for sample '2'" in refusal("show", failed.location, 2)


def test_of_a_folder_the_document_of_each_log_is_shown_and_a_part_of_its_id_is_enough(tmp_path: Path) -> None:
    for model in ("m/one", "m/two"):
        made_log(tmp_path, [SCORE] * 3, model=model, places=[("owl-a1", 1), ("fox-b2", 1), ("fox-b", 1)])
    shown_documents = genie_show(tmp_path, "owl").output
    assert all(f"{model}, owl-a1, epoch 1" in shown_documents for model in ("m/one", "m/two"))
    # a whole id is that sample's, also where another begins with it
    assert "fox-b, epoch 1" in genie_show(tmp_path, "fox-b").output
    assert "2 samples 'fox'. Give one of: fox-b2, fox-b" in refusal("show", tmp_path, "fox")


def test_rows_of_ttcw_name_their_test(tmp_path: Path) -> None:
    rubric = load_rubric("ttcw")
    signature = f"measure:ttcw|rubric:ttcw@{rubric.digest}|version:0"
    keys = {"ttcw_total": 1.0, f"ttcw_{rubric.tests[0].id}": 1.0}
    file = made_log(tmp_path, [{"ttcw": scored(keys, signature)}])
    assert f"{rubric.tests[0].id} {rubric.tests[0].name}" in genie_show(file, 1).output
    another = made_log(tmp_path, [{"ttcw": scored(keys, "measure:ttcw|rubric:ttcw@another|version:0")}])
    assert f"ttcw {rubric.tests[0].id}" in genie_show(another, 1).output
