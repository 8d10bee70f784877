"""Every document on the page: what filters choose by, whose details are kept, and that nothing in them is markup."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.reports.made_logs import asked, made_log, scored

from genie_inspect.reports.documents import documents
from genie_inspect.reports.page import page
from genie_inspect.reports.report import Report, StandOut, build_report

NAN = float("nan")
PLACES = [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


def report(folder: Path) -> Report:
    samples = [{"genie": scored({"plot": value}, questions=[asked(value)])} for value in (0.1, 0.9, 0.4)]
    samples.insert(1, {"genie": scored({"plot": NAN}, reason="no_response")})
    prompts = [f"About {name}." for name, _ in PLACES]
    return build_report([made_log(folder, samples, places=PLACES, prompts=prompts, texts=["one", "", "three", "two"])])


def test_documents_are_chosen_by_run_prompt_feature_and_reason(tmp_path: Path) -> None:
    found = documents(report(tmp_path))
    # the first of each prompt, then the second
    assert [(row.document.sample, row.document.epoch) for row in found.rows] == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    assert [row.classes for row in found.rows] == ["r0 p0 l0", "r0 p1 h0", "r0 p0 u0 n0", "r0 p1"]
    assert found.filters["run"] == [("mock/writer", "r0")]
    assert found.filters["prompt"] == [("About a.", "p0"), ("About b.", "p1")]
    assert found.filters["unscored"] == [("genie: no response", "u0")]
    assert [row.values for row in found.rows][1] == "plot\u00a00.90"
    details = [row.detail for row in found.rows if row.detail]
    assert [detail.text for detail in details] == ["one", "three", "", "two"]
    assert details[0].questions[0].answer == "in rain"


def test_beyond_the_first_of_each_run_there_are_no_details_and_then_no_rows_which_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = report(tmp_path)
    monkeypatch.setattr("genie_inspect.reports.documents.DETAILED", 1)
    monkeypatch.setattr("genie_inspect.reports.documents.LISTED", 3)
    found = documents(made)
    assert [bool(row.detail) for row in found.rows] == [True, False, False]
    assert found.left_out == 1
    # what stood out has its text wherever it is
    last = found.rows[2]
    own = last.document
    one = StandOut("genie", "plot", "most", last.run, own.sample, own.epoch, own.prompt, 0.5, "", None)
    found = documents(replace(made, stand_outs=(one,)))
    assert [bool(row.detail) for row in found.rows] == [True, False, True]
    assert found.place_of(one) == 2
    assert "Not listed: 1 more document." in page(made)
