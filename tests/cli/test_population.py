"""`genie population`: what is built, merged, sampled, measured, and damaged ones in one line; `build-index`."""

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result
from tests.building.scripts import OWL
from tests.cli.called import as_json, genie, lines_of, sound_inputs
from tests.hostile_populations import damages, sound_population
from tests.processes import tries
from tests.recorded import recorded_starter
from tests.reports.made_logs import made_log, scored
from tests.scripted import DOCUMENTS, scores, small_population
from tests.tasks.runs import run

from genie_inspect.building.inspection import inspected
from genie_inspect.populations.population import BUNDLED, Population, open_population
from genie_inspect.populations.reference_scores import (
    REFERENCE_SCORES,
    Measured,
    ReferenceScores,
    reference_scores_file,
    reference_scores_of,
    with_measured,
    write_reference_scores,
)

STARTER = BUNDLED["starter"]


BUILD = "--name told --licence MIT --grader bundled/grader --questions starter --coherence none"


def test_logs_become_a_population_against_which_another_model_is_scored_offline(
    genie_demo: tuple[Path, str], tmp_path: Path
) -> None:
    logs, folder = genie_demo[0], tmp_path / "told"
    planned = as_json("population", "build", logs, "-o", folder, *BUILD.split(), "--dry-run")
    assert (planned["calls_needed"], planned["documents"]) == (32, 32)
    most = as_json("population", "build", logs, "-o", folder, *BUILD.split(), "--reference-scores", "list", "--dry-run")
    # beside the readings a call for each of four documents' answers to 14 questions, of eight prompts
    assert most["calls_needed"] == 32 + 4 * 14 * 8
    assert list(tmp_path.iterdir()) == []

    done = as_json("population", "build", logs, "-o", folder, *BUILD.split())
    assert (done["documents"], done["calls"], done["answers"]) == (32, 32, 448)
    assert as_json("population", "check", folder)["faults"] == []

    sample = tmp_path / "sample"
    as_json("population", "sample", folder, "-o", sample, "--per-prompt", 2)
    assert [len(Population(sample).documents(p)) for p in Population(sample).prompts] == [2] * 8
    options = {"population": str(folder), "judge": "offline"}
    log = run("population_prompts", tmp_path, "bundled/inventive", task_args=options, epochs=1)
    features = [feature.name for feature in Population(folder).features]
    assert [list(score.value) for score in scores(log) if isinstance(score.value, dict)] == [features] * 8
    assert (log.eval.metadata or {})["features"]["plot"].startswith("What happens")


def test_check_says_of_documents_alone_what_can_be_done_with_them_and_names_each_fault(tmp_path: Path) -> None:
    folder = small_population(tmp_path / "alone", DOCUMENTS, {}).folder
    lines = genie("population", "check", folder).output.splitlines()
    assert lines[-1].startswith("no questions: genie has nothing to ask, -T panel=cheap compares documents")
    assert not any("power" in line for line in lines)
    (folder / "documents.jsonl").write_text("")
    result = genie("population", "check", folder)
    assert result.exit_code == 1
    assert "FAULT digest differs from population.json: 1, first: documents.jsonl" in result.stdout
    assert "8 prompts contain 'write'" in genie("population", "show", "starter", "--prompt", "write").output


def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path) -> None:
    for verb, more in (("merge", ("--name", "copy", "--licence", "MIT")), ("sample", ())):
        done = as_json("population", verb, "starter", "-o", tmp_path / "new", *more, "--dry-run")
        assert done["documents"] == Population(STARTER).manifest.counts.documents
        assert "folder" not in done
    prompts = lines_of(tmp_path / "prompts.jsonl", [{"prompt": OWL}])
    done = as_json("questions", "write", prompts, "-o", tmp_path / "q", "--grader", "bundled/grader", "--dry-run")
    # aspects, six times questions, 48 questions in 3 requests to filter and 3 to map
    assert done["calls_needed"] == 1 + 6 + 3 + 3
    assert done["input_tokens"] > 1000
    assert list(tmp_path.iterdir()) == [prompts]


def test_a_merged_population_has_the_licences_of_its_parts_and_texts_of_ones_own_need_none(tmp_path: Path) -> None:
    own = lines_of(tmp_path / "own.jsonl", [{"prompt": "P", "text": "An owl sat."}])
    for name, licence in (("free", ("--licence", "CC0-1.0")), ("own", ())):
        as_json("population", "import", own, "-o", tmp_path / name, "--name", name, *licence)
    as_json("population", "merge", tmp_path / "free", tmp_path / "own", "-o", tmp_path / "all", "--name", "all")
    assert Population(tmp_path / "all").manifest.licence == "CC0-1.0 AND unknown"


VERBS = {
    "check": "population check {p} --json",
    "check-text": "population check {p}",
    "show": "population show {p} --json",
    "show-prompt": "population show {p} --prompt owl --json",
    "sample": "population sample {p} -o {new} --per-prompt 2 --json",
    "merge": "population merge {p} {sound} -o {new} --name m --licence MIT --json",
    "reference_scores": "population reference-scores {p} --judge offline -o {new} --json",
    "cost": "cost --population {p} --epochs 1 --judge list --json",
    "calibrate": "calibrate --population {p} --ratings {sound}/../ratings.csv --json",
    "write": "questions write {p} -o {new} --grader bundled/grader --features {p} --dry-run --json",
    "review": "questions review {p} --to {new} --features {p} --json",
}
STEP = 8  # of the damages each verb meets one in so many, another one than the verb before it


@pytest.fixture(scope="module")
def make_damaged(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The population with a damage, by its name; without one where it is empty."""
    root = sound_inputs(tmp_path_factory.mktemp("populations"))

    def made(name: str) -> Path:
        folder = root / (name or "population")
        if not folder.exists():
            damages()[name](sound_population(folder))
        return folder

    return made


@pytest.mark.repeated
@pytest.mark.parametrize("verb", VERBS)
def test_a_damaged_population_is_refused_in_one_line_or_has_no_fault(
    verb: str, make_damaged: Callable[[str], Path], tmp_path: Path
) -> None:
    for number, name in enumerate(["", *list(damages())[list(VERBS).index(verb) :: tries(STEP, 1)]]):
        places = {"p": make_damaged(name), "sound": make_damaged(""), "new": tmp_path / str(number)}
        result = genie(*(part.format_map(places) for part in VERBS[verb].split()))
        assert result.exception is None or isinstance(result.exception, SystemExit), (name, result.exc_info)
        if "--json" in VERBS[verb] and (result.exit_code == 0 or result.stdout):
            json.loads(result.stdout)
        if result.exit_code:
            assert name, f"the sound one is refused: {result.output}"
            lines = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
            assert len(lines) == 1 or (verb.startswith("check") and "FAULT" in result.stdout + _kinds(result)), name
            assert not (tmp_path / str(number)).exists()
        elif name and verb.startswith("check"):
            assert inspected(make_damaged(name))[0]


def _kinds(result: Result) -> str:
    """The faults that `check --json` names, in the words of `check`."""
    found = json.loads(result.stdout)["faults"] if result.stdout.startswith("{") else []
    return "".join(f"FAULT {fault['kind']}" for fault in found)


GRADER = ("--grader", "bundled/grader")
size, size_found = partial(genie, "population", "size"), partial(as_json, "population", "size")
reference_scores = partial(as_json, "population", "reference-scores")

# arXiv 2606.12790, table 6: variance, standard deviation and population as printed, behind an unrounded deviation that
# gives all three
TABLE_6 = {
    "agent": (0.2745, 0.08, 0.27, 41),
    "perspective": (0.302, 0.09, 0.30, 50),
    "plot": (0.2700, 0.07, 0.27, 40),
    "setting": (0.2710, 0.07, 0.27, 40),
    "social_atmosphere": (0.2600, 0.07, 0.26, 37),
    "style": (0.2870, 0.08, 0.29, 45),
}


def spread(**sds: float) -> dict[str, dict[str, float]]:
    return {feature: {"sd": sd, "degrees": 100} for feature, sd in sds.items()}


def test_a_log_with_the_studys_spreads_gives_its_table(tmp_path: Path) -> None:
    sds = {feature: row[0] for feature, row in TABLE_6.items()}
    log = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, spread=spread(**sds))}])
    for feature, figures in size_found(log)["features"].items():
        _, variance, sd, needed = TABLE_6[feature]
        assert (round(figures["variance"], 2), round(figures["sd"], 2), figures["needed"]) == (variance, sd, needed)
    # the printed standard deviations would give other sizes: the study has 41 and 50
    log = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, spread=spread(agent=0.27, perspective=0.30))}])
    assert [figures["needed"] for figures in size_found(log)["features"].values()] == [40, 49]
    before = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])
    assert "no score by genie says how far similarities lie apart; score again" in size(before).output


def test_documents_and_logs_are_pooled_and_margin_and_confidence_count(tmp_path: Path) -> None:
    few, many = ({"plot": {"sd": sd, "degrees": n}} for sd, n in ((0.2, 1), (math.sqrt(0.08), 3)))
    samples = [[{"genie": scored({"plot": 0.5}, spread=facts)}] for facts in (few, many)]
    logs = [made_log(tmp_path / str(number), own) for number, own in enumerate(samples)]
    figures = size_found(*logs, "--margin", "0.2", "--confidence", "0.95")["features"]["plot"]
    assert (figures["variance"], figures["degrees"]) == (pytest.approx(0.07), 4)
    assert figures["needed"] == math.ceil((1.959964 / 0.2) ** 2 * 0.07) == 7
    asked = (*logs, "--confidence", "0.95", "--ratings", "6")
    half = 1.959964 * math.sqrt(0.07 / 6)
    assert size_found(*asked)["features"]["plot"]["sampled_margin"] == pytest.approx(half)
    assert f"{half:.2f}" in size(*asked).output.split()


def test_a_populations_own_documents_are_compared_and_its_reference_scores_stays_unwritten(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population") as population:
        figures = size_found("starter", *GRADER)["features"]
        shown = size("starter", *GRADER, "--ratings", "6").output.replace("│", " ").splitlines()
    # two plot questions of three owls, each compared with two others that are alike; a fox has one other
    assert figures["plot"] == {"variance": 0, "sd": 0, "degrees": 6, "needed": 1}
    # two owls say their tone: one similarity each lies nowhere apart
    assert figures["style"] == {"variance": None, "sd": None, "degrees": 0, "needed": None}
    assert ["style", "-", "-", "0", "-", "-"] in map(str.split, shown)
    assert not (population.folder / REFERENCE_SCORES).exists()


def test_a_population_gets_reference_scores_by_one_instrument_beside_another_and_an_output_of_its_own_leaves_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert reference_scores("starter", "--grader", "openai/gpt-4o", "--dry-run")["calls_needed"] > 0
    with recorded_starter(tmp_path / "population") as population:
        planned = reference_scores("starter", *GRADER, "--dry-run")
        assert reference_scores("starter", "--judge", "offline", "--dry-run")["calls_needed"] == 0
        assert not (population.folder / REFERENCE_SCORES).exists()
        said = reference_scores("starter", *GRADER)
        before = sorted(file.name for file in population.folder.iterdir())
        offline = reference_scores("starter", "--judge", "offline", "-o", tmp_path / "elsewhere.json")
        assert reference_scores("starter", *GRADER) == said, "again it is put in its own place"
    # read already; of three owls to three questions 3, 3 and 2 answers, of two foxes 2: a call each
    assert (planned["documents"], planned["calls_needed"]) == (5, 10)
    assert planned["input_tokens"] > planned["output_tokens"] > 0
    assert (said["file"], said["documents"]) == (str(population.folder / REFERENCE_SCORES), 5)
    # plot: the owls 0.5 each, the foxes 1; style: the two owls that say their tone, 1
    assert said["mean_novelty"] == {"plot": 0.75, "style": 1.0}
    assert said["missing"] == {"unspecified": 1}
    assert sorted(file.name for file in population.folder.iterdir()) == before
    (measured,) = reference_scores_of(population.folder).measured
    assert measured.signature == said["signature"]
    elsewhere = json.loads((tmp_path / "elsewhere.json").read_text(encoding="utf-8"))
    assert [one["signature"] for one in elsewhere["measured"]] == [said["signature"], offline["signature"]]


def test_what_ships_is_never_written_and_its_reference_scores_is_found_in_the_users_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENIE_DATA_DIR", str(tmp_path / "data"))
    shipped = open_population("abstracts").folder
    # made with an earlier starter: it belongs to another population, and hides nothing of what ships
    starter = open_population("starter").folder
    (first, *more) = reference_scores_of(starter).measured
    earlier = Measured(signature=first.signature.replace("@", "@0"), ratings={})
    reference_scores_file(starter).parent.mkdir(parents=True)
    write_reference_scores(reference_scores_file(starter), with_measured(ReferenceScores(), earlier))
    for measured in (earlier, first, *more):
        assert reference_scores_of(starter).under(measured.signature) == measured
    before = {file: file.stat().st_mtime_ns for file in shipped.rglob("*")}
    said = reference_scores("abstracts", "--judge", "offline")
    assert {file: file.stat().st_mtime_ns for file in shipped.rglob("*")} == before
    assert Path(said["file"]).is_relative_to(tmp_path / "data")
    # by its name and by its path, as a scorer of that instrument looks for it
    for folder in (shipped, shipped / ".." / shipped.name):
        own = reference_scores_of(folder).under(said["signature"])
        assert own is not None
        assert len(own.ratings) == said["documents"]
