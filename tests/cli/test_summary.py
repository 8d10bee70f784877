import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.reports.made_logs import made_log, scored
from tests.scripted import OWL, evaluated, grading, saying, small_population

from genie_inspect.cli import main
from genie_inspect.scorers.genie import genie


def genie_summary(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["summary", *arguments])


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A log with a scored document and one that is none."""
    folder = tmp_path_factory.mktemp("summary")
    population = small_population(folder / "population")
    script = grading(answer=lambda document, question: "[not said]" if "tone" in question else document)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GENIE_CACHE_DIR", str(folder / "cache"))
        scorer, writer = genie(str(population.folder)), saying("A blue owl flew.", "")
        return evaluated(scorer, writer, script, folder, (OWL, OWL), max_samples=1).location


def test_the_table_has_a_row_a_feature_and_says_what_was_not_measured(log: str) -> None:
    result = genie_summary(log)
    assert result.exit_code == 0, result.output
    lines = {
        line.split("│")[1].strip(): line.split("│")[2].strip() for line in result.output.splitlines() if "│" in line
    }
    assert lines == {"plot": "1.00 100/100%", "style": "not measured", "documents scored": "1 of 2, 1 no_response"}
    assert "mockllm/model" in result.output
    assert "measure:genie" in result.output.replace("\n", "")


def test_json_is_for_scripts_and_has_null_for_what_is_not_a_number(log: str) -> None:
    result = genie_summary(log, "--json")
    assert result.exit_code == 0, result.output

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    (found,) = json.loads(result.output, parse_constant=refuse)
    (column,) = found["columns"]
    assert found["keys"] == ["plot", "style"]
    assert column["cells"]["plot"] == {"mean": 1.0, "low": None, "high": None, "values": 1, "clusters": 1}
    assert column["cells"]["style"]["mean"] is None
    assert column["unscored"] == {"no_response": 1}
    assert column["coverage"] == {"plot": [2, 2], "style": [0, 1]}


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
        assert f"Beware: mock/writer: {warning}." in lines
    assert column["faults"] == {"unreadable": 86}
    assert column["pairs"] == {"plot": [10, 96]}


@pytest.mark.parametrize("content", [None, "", "this is no log"])
def test_what_cannot_be_read_is_one_line_and_exit_code_1(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "story.eval"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    result = genie_summary(str(path))
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert str(path) in result.output
    assert "Traceback" not in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_a_scorer_that_the_log_lacks_is_one_line(log: str) -> None:
    result = genie_summary(log, "--scorer", "cosine")
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert "no scores by 'cosine'" in result.output


def test_every_measure_that_all_logs_have_gets_a_table(log: str, tmp_path: Path) -> None:
    both = write_second_score(log, tmp_path / "both.eval")
    alone = genie_summary(both)
    assert alone.exit_code == 0, alone.output
    assert [line.strip() for line in alone.output.splitlines() if line.strip() in ("genie", "echo", "length")] == [
        "genie",
        "echo",
    ], "a scorer without a signature is none of ours"
    assert [table["scorer"] for table in json.loads(genie_summary(both, "--json").output)] == ["genie", "echo"]
    together = genie_summary(both, log)
    assert "echo" not in together.output
    chosen = genie_summary(both, "--scorer", "echo", "--json")
    assert [table["scorer"] for table in json.loads(chosen.output)] == ["echo"]


def write_second_score(log: str, path: Path) -> str:
    """The log with a second measure, and with a scorer of somebody else's."""
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.scorer import Score

    found = read_eval_log(log)
    for sample in found.samples or []:
        assert sample.scores is not None
        sample.scores["echo"] = Score(value={"echo": 0.5}, metadata={"signature": "measure:echo"})
        sample.scores["length"] = Score(value=3)
    write_eval_log(found, str(path))
    return str(path)


def test_logs_without_any_measure_of_ours_are_refused_by_name(log: str, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log, write_eval_log

    found = read_eval_log(log)
    for sample in found.samples or []:
        sample.scores = {}
    write_eval_log(found, str(tmp_path / "bare.eval"))
    result = genie_summary(str(tmp_path / "bare.eval"))
    assert result.exit_code == 1
    assert "no measure of this package scored every log" in result.output
    assert "bare.eval: none" in result.output


def test_without_a_log_the_usage_is_shown() -> None:
    result = genie_summary()
    assert result.exit_code == 2
    assert "Missing argument" in result.output


def test_help_lists_the_verbs_and_an_unknown_one_is_refused() -> None:
    helped = CliRunner().invoke(main, ["--help"])
    assert helped.exit_code == 0
    assert "genie demo" in helped.output
    assert "Put logs into one table." in helped.output
    unknown = CliRunner().invoke(main, ["sumary"])
    assert unknown.exit_code == 2
    assert "No such command 'sumary'" in unknown.output


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
    (alone,) = json.loads(
        genie_summary(made_log(tmp_path / "alone", [{"genie": scored({"plot": 0.5})}]), "--json").output
    )
    assert alone["columns"][0]["graders"] == {}
