import sys
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from genie_inspect.cli.verbs.demo import _next_steps


def test_the_demo_scores_both_storytellers_and_says_how_to_go_on(genie_demo: tuple[Path, str]) -> None:
    folder, output = genie_demo
    rows = [line.split("│")[1:4] for line in output.splitlines() if line.count("│") == 4]
    table = {row[0].strip(): row[1:] for row in rows if row[0].strip()}
    assert list(table) == [
        "agent",
        "perspective",
        "plot",
        "setting",
        "social atmosphere",
        "style",
        "documents scored",
    ]
    # 8 prompts x 2 epochs each
    assert [cell.strip() for cell in table["documents scored"]] == ["16 of 16", "16 of 16"]
    for feature, (conventional, inventive) in list(table.items())[:-1]:
        for cell in (conventional, inventive):
            assert "[" in cell, f"{feature} has an interval"
            assert cell.strip().endswith("%"), f"{feature} says how many questions were used"
    standings = [row[1:] for row in rows if not row[0].strip()]
    assert len(standings) == 6
    assert all("percentile" in cell and "mean" in cell for cells in standings for cell in cells)
    assert "inspect view --log-dir" in output.replace("\n", " ")
    (page,) = folder.rglob("report.html")
    assert str(page) in output.replace("\n", "")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "--model-role grader=" in output
    logs = [read_eval_log(info.name, header_only=True) for info in list_eval_logs(str(folder))]
    assert sorted(log.eval.model for log in logs) == ["bundled/conventional", "bundled/inventive"]


def test_without_charts_the_demo_says_what_its_page_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    hints = _next_steps(tmp_path)
    assert "on one page (a picture needs the extra charts: pip install 'altair>=" in hints
    assert f"genie report {tmp_path}" in hints
