"""`genie study`, as a user calls it; and the other commands on the log of a study."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.reports.made_logs import made_log, scored
from tests.reports.studies import (
    COSINE,
    FEATURES,
    Made,
    by_feature,
    found,
    made,
    measure_of,
    one_number,
    sharp,
    study_log,
    together,
)

from genie_inspect.cli import main
from genie_inspect.errors import GenieWarning
from genie_inspect.populations.interventions import EDIT
from genie_inspect.reports.study import study as studied
from genie_inspect.reports.study_verdict import sentence

# what other commands say of a study's log, see below
NOTICED = pytest.mark.filterwarnings("ignore:.* is a metric study")
TABLE = [{"id": "q", "feature": "plot", "question": "What?", "answer": "x"}]


def cosine(text: Made) -> dict[str, object]:
    return {"cosine": scored({"cosine_mean": 0.1 * text.number + (0.1 * text.copy), "cosine_nearest": 0.1}, COSINE)}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    measures = together(by_feature(sharp, questions=TABLE), cosine, one_number(lambda text: 0.5, "flat"))  # type: ignore[arg-type]
    return study_log(tmp_path_factory.mktemp("study"), made(8), measures)


def called(verb: str, *arguments: object, columns: int = 240) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(main, [verb, *map(str, arguments)])


def lines(output: str, start: str) -> list[list[str]]:
    """The cells of the lines that begin so."""
    return [line.split() for line in output.splitlines() if line.split()[: len(start.split())] == start.split()]


def test_the_sentence_on_each_measure_stands_first(log: str) -> None:
    result = called("study", log, columns=1000)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[:4] == [sentence(measure) for measure in studied(log).measures]


def test_a_line_has_means_difference_sd_d_and_both_tests_and_paraphrases_their_equivalence(log: str) -> None:
    output = called("study", log).output
    effect = found(studied(log), "genie", "plot", "plot")
    difference = effect.difference
    (line,) = (cells for cells in lines(output, "plot") if f"{difference.before:.3f}" in cells)
    assert line == [
        "plot",
        f"{difference.before:.3f}",
        f"{difference.after:.3f}",
        f"{difference.delta:+.3f}",
        f"[{difference.low:+.3f},",
        f"{difference.high:+.3f}]",
        f"{difference.spread:.3f}",
        f"{difference.effect:+.2f}",
        f"{effect.p_value:.3f}*",
        f"{effect.bootstrap_p:.3f}",
        "+0.0",
        f"{effect.left:+.3f}*",
        "8",
        "(8)",
    ]
    told = found(studied(log), "genie", "paraphrase", "plot")
    (line,) = (cells for cells in lines(output, "paraphrase: plot") if "(16)" in cells)
    assert line[-6:-4] == [f"{told.difference.p_unlike:.3f}=", f"{told.bootstrap_p_unlike:.3f}"]
    assert (line[-4], line[-2:]) == ("+0.0", ["8", "(16)"])
    assert ["agent", "0.500", "0.500", "+0.000", "0.000", "constant", "-", "-", "+0.0", "8", "(8)"] in lines(
        output, "agent"
    )


def test_a_measure_by_which_texts_differ_little_shows_more_decimals(tmp_path: Path) -> None:
    def fine(text: Made) -> float:
        return 0.5 + 0.0001 * text.number * (text.facts.kind == EDIT)

    # differences 0, 0.0001, ... 0.0007: their spread is 0.000245, and two digits of it are shown
    output = called("study", study_log(tmp_path, made(8, ["plot"], 0), one_number(fine, "fine"))).output
    line, _ = (cells for cells in lines(output, "plot") if "(8)" in cells)
    assert [line[1], line[2], line[3], line[6]] == ["0.50000", "0.50035", "+0.00035", "0.00024"]


def test_the_matrix_has_every_feature_for_every_intervention_and_a_mark_at_the_largest(log: str) -> None:
    output = called("study", log).output
    genie = measure_of(studied(log), "genie")
    cells = {effect.intervention.name: [] for effect in genie.effects}  # type: ignore[var-annotated]
    for effect in genie.effects:
        mark = ">" if effect.is_own else ""
        star = "=" if effect.is_equivalent else "*" if effect.moved else ""
        shown = f"({effect.difference.effect:+.2f}{star})" if not effect.is_constant else "constant"
        cells[effect.intervention.name] += [f"{mark}{effect.difference.delta:+.3f}", shown]
    for feature in (*FEATURES, "paraphrase"):
        assert [feature, *cells[feature]] in lines(output, feature)


def test_printed_figures_stand_beside_where_they_are_asked_for(log: str) -> None:
    assert "printed" not in called("study", log).output
    output = called("study", log, "--published").output
    genie, other = (
        found(studied(log), *place) for place in (("genie", "plot", "plot"), ("cosine", "plot", "cosine_mean"))
    )
    assert other.is_constant
    assert ["plot", f"{genie.difference.effect:+.2f}*", "+0.71*", "constant", "+0.22*"] in lines(output, "plot")
    beside = [
        effect for effect in measure_of(studied(log), "genie").effects if effect.intervention.name == "paraphrase"
    ]
    # effects that go both ways have a mean near 0: of printed ones (.02 + .04 + .12 + .06 + .14 + .09) / 6 = .078
    mean = sum(abs(effect.difference.effect) for effect in beside) / len(beside)
    (told,) = (cells for cells in lines(output, "paraphrase") if "|0.08|=" in cells)
    assert told[:3] == ["paraphrase", f"|{mean:.2f}|", "|0.08|="]
    assert "/ +0.39" in output  # table 14: of edits of the agent the plot


def test_answers_that_changed_are_counted(log: str) -> None:
    output = called("study", log).output
    assert "genie: answers that changed, by feature of the question" in " ".join(output.split())
    assert ["agent", "0", "of", "8"] in lines(output, "agent")


def test_in_a_narrow_window_every_figure_stands_whole(log: str) -> None:
    wide, narrow = (called("study", log, columns=columns).output for columns in (240, 60))
    effect = found(studied(log), "genie", "plot", "plot")
    for figure in (f"{effect.difference.before:.3f}", f"{effect.p_value:.3f}*", f"{effect.difference.effect:+.2f}"):
        assert figure in wide
        assert figure in narrow
    assert all(len(line) <= 60 for line in narrow.splitlines() if "measure:" not in line)


def test_json_and_csv_have_the_same_effects(log: str, tmp_path: Path) -> None:
    file = tmp_path / "effects.csv"
    result = called("study", log, "--csv", file, "--json", "--scorer", "cosine")
    values = json.loads(result.output)
    rows = list(csv.DictReader(StringIO(file.read_text(encoding="utf-8"))))
    assert [row["key"] for row in rows] == [row["key"] for row in values["effects"]]
    assert list(values["signatures"]) == ["cosine"]
    again = called("study", log, "--csv", file, "--scorer", "cosine")
    assert f"replaced {file}" in again.stderr


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_picture_is_written(log: str, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("altair", reason="needs the extra `charts`")
    file = tmp_path / f"study.{ending}"
    assert called("study", log, "--picture", file).exit_code == 0
    assert file.read_bytes()[:4] == {"svg": b"<svg", "png": b"\x89PNG"}[ending]


def test_a_picture_of_another_kind_is_refused_before_the_log_is_read(tmp_path: Path) -> None:
    result = called("study", tmp_path / "none.eval", "--picture", tmp_path / "study.jpg")
    assert result.exit_code == 1
    assert "picture is" in result.output


def test_a_log_that_is_no_study_is_one_line(tmp_path: Path) -> None:
    result = called("study", made_log(tmp_path, [{"genie": scored({"plot": 0.5})}]))
    assert result.exit_code == 1
    (line,) = result.output.strip().splitlines()
    assert line.startswith("Error: ")
    assert "is no metric study" in line


@NOTICED
def test_the_mean_of_the_originals_is_the_same_in_study_summary_and_report(log: str) -> None:
    study = json.loads(called("study", log, "--json").stdout)
    summary = {table["scorer"]: table for table in json.loads(called("summary", log, "--json").stdout)}
    report = json.loads(called("report", log, "--json").stdout)
    measures = {measure["scorer"]: measure for measure in report["measures"]}
    for scorer, key in (("genie", "plot"), ("genie", "agent"), ("cosine", "cosine_mean")):
        (before,) = {row["before"] for row in study["effects"] if row["key"] == key}
        (column,) = summary[scorer]["columns"]
        assert column["cells"][key]["mean"] == pytest.approx(before, abs=1e-12)
        assert measures[scorer]["rows"][0][key]["interval"]["mean"] == pytest.approx(before, abs=1e-12)
        assert column["documents"] == 8
    assert report["studies"] == [study]


@pytest.mark.parametrize("verb", ["summary", "frame", "report"])
def test_other_commands_count_the_originals_alone_and_point_at_this_one(log: str, verb: str) -> None:
    with pytest.warns(GenieWarning) as notices:
        result = called(verb, log, "--json")
    assert result.exit_code == 0, result.output
    assert [str(notice.message) for notice in notices if notice.category is GenieWarning] == [
        f"{log} is a metric study: its originals count here (8), the texts that were made of them do not (40); what "
        f"these show: genie study {log}"
    ]
    if verb == "frame":
        rows = map(json.loads, result.stdout.splitlines())
        assert {row["sample"] for row in rows} == {f"o{number}-original-0" for number in range(8)}


@NOTICED
def test_a_comparison_pairs_the_originals_of_two_studies(log: str, tmp_path: Path) -> None:
    other = study_log(tmp_path, made(8), by_feature(lambda text, feature: sharp(text, feature) + 0.1), model="mock/b")
    result = called("compare", log, other, "--baseline", "mock/writer", "--json")
    assert result.exit_code == 0, result.output
    rows = {row["key"]: row for row in json.loads(result.stdout)["differences"]}
    assert rows["plot"]["delta"] == pytest.approx(0.1)


def test_a_study_of_which_no_original_was_scored_has_no_documents(tmp_path: Path) -> None:
    log = study_log(tmp_path, [text for text in made(2) if text.facts.kind == EDIT], by_feature(sharp))
    result = called("summary", log)
    assert result.exit_code == 1
    assert "is a metric study of which no original was scored" in result.output


def test_this_command_has_no_notice_of_what_others_leave_out(log: str) -> None:
    assert called("study", log).stderr == ""


def test_the_example_of_the_help_is_a_file_of_scores_that_is_read(tmp_path: Path) -> None:
    example = called("study", "--help").output.partition("original,edited,key,value")[2].partition("Options:")[0]
    file = tmp_path / "scores.csv"
    file.write_text("original,edited,key,value\n" + "\n".join(example.split()) + "\n", encoding="utf-8")
    result = called("study", file)
    assert result.exit_code == 0, result.output
    assert "edits and paraphrases; prompts: 1 (each original its own), originals: 1" in result.output
    assert ["plot", "0.610", "0.740", "+0.130"] in [cells[:4] for cells in lines(result.output, "plot")]
    assert " words " not in result.output.partition("A prompt is one pair")[0]


def test_without_originals_the_table_says_what_stands_for_them(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    rows = [
        f"o{n},{feature},plot,{0.1 * n + (feature == 'plot')},p{n}" for n in range(8) for feature in ("plot", "style")
    ]
    file.write_text("\n".join(["original,edited,key,value,prompt", *rows]) + "\n", encoding="utf-8")
    output = called("study", file).output
    assert "prompts: 8, no originals: edits of other features stand for them" in output
    assert "other edits" in output
    assert "Beware: no originals: those edits of an original stand for it" in " ".join(output.split())
