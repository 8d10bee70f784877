"""What cannot be done is refused by every command in one line that names it, and nothing is written."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.reports.made_logs import log_of, plots
from tests.scripted import small_population

from genie_inspect.cli import main
from genie_inspect.files.writing import DATA
from genie_inspect.populations.population import write_features
from genie_inspect.populations.schema import Feature

GRADER = "--grader bundled/grader"
NEW = "-o new --name n --licence MIT"
BUILD = f"population build logs {NEW} {GRADER}"
RATINGS = "--ratings second_ratings.jsonl"
COMPARED = "compare logs --baseline plain"
REFERENCE_SCORES = "population reference-scores population"
MAPPED = "features map found --grader mockllm/model --taxonomy"
EXAMPLE = DATA / "examples" / "abstracts"
WRITTEN = "prompts write --domain sea -o own.jsonl --grader mockllm/model"
REFUSED = {
    "calibrate --fit-embedding fit.json": "needs ratings. Give --ratings or --grader",
    f"calibrate --fit-embedding fit.json --judge embedding {RATINGS}": "needs ratings by others",
    f"calibrate --fit-embedding fit.json {RATINGS} --pairs 10": "expected at least 30",
    f"calibrate --fit-embedding nowhere/fit.json {RATINGS}": "nowhere/fit.json",
    f"calibrate --judge embedding --embedder word2vec {RATINGS}": "'word2vec'",
    f"calibrate --judge embedding --embedder openai/small {RATINGS}": "--fit-embedding",
    f"calibrate --judge lists {GRADER}": "'lists', expected one of list, sheet, pairwise, logit",
    "calibrate --judge list": "Name it with --grader",
    "calibrate --grader bundled/nobody": "bundled/nobody",
    "calibrate --grader nobody/x": "nobody/x",
    "calibrate": "there is only one rater",
    "calibrate --ratings nowhere.csv": "nowhere.csv does not exist",
    f"calibrate --ratings short.csv {GRADER}": "short.csv has no column other",
    f"calibrate --ratings wrong.csv {GRADER}": "'7'",
    f"calibrate --reader me {GRADER}": "'me'",
    f"calibrate --population abstracts {GRADER}": "has no answers on record",
    "calibrate --documents 3": "--documents is for --rewordings",
    "calibrate --rewordings": "--rewordings asks a model. Name it with --grader PROVIDER/MODEL",
    f"calibrate --rewordings --judge embedding {GRADER}": "--rewordings needs a judge that rates pairs",
    f"calibrate --rewordings --judge logit {GRADER}": "needs another rate_logit.md in each wording",
    f"calibrate --rewordings --templates terse {GRADER}": "--templates original,terse",
    f"calibrate --rewordings --pairs 3 {GRADER}": "--rewordings goes without --ratings, --pairs",
    f"calibrate --rewordings --reader nobody {GRADER}": "reader is 'nobody', expected one of",
    "compare logs --baseline nobody": "baseline is 'nobody', expected one of: plain; raised",
    f"{COMPARED} --correction fdr": "correction is 'fdr', expected one of holm, bonferroni, none",
    f"{COMPARED} --equivalence z": "equivalence is 'z', expected one of t, bootstrap",
    f"{COMPARED} --margin -1": "margin is -1.0, expected a number above 0",
    f"{COMPARED} --min-coherence 3": "has no coherence",
    f"{COMPARED} --min-coherence 7": "min_coherence is 7.0, expected 0 to 5, as coherence is rated",
    f"{COMPARED} --picture grid.jpg": "picture is 'grid.jpg', expected a file name ending in .svg or .png",
    "report logs --picture grid.jpg": "picture is 'grid.jpg', expected a file name ending in .svg or .png",
    "report logs --json --picture means.svg": "--json writes no picture",
    "report logs --open --json": "--open needs a page in a file",
    "report logs --open -o /dev/stdout": "--open needs a page in a file",
    f"{COMPARED} --csv /nowhere/x.csv": "/nowhere/x.csv cannot be written",
    "compare nowhere --baseline plain --picture /nowhere/a.svg": "/nowhere/a.svg cannot be written",
    "summary logs --scorer cosine": "no scores by 'cosine'",
    "validate logs": "is not a metric study",
    "cost --judge lists": "'lists', expected one of list, sheet, pairwise, logit",
    "cost --judge offline": "'offline', expected one of list",
    "cost --population nowhere": "'nowhere'",
    "cost --panel cosin": "expected none, or cheap",
    "cost --grader nobody/x": "nobody/x",
    "cost --grader mockllm/other --grader mockllm/other": "mockllm/other is named twice",
    "cost --templates nowhere": "'nowhere'",
    "cost --price-input 2": "--price-input and --price-output must be given together",
    "cost --task ttcw -T pace=1": "-T is 'pace', expected an option of ttcw: stories, rubric, levels, cutoff",
    "cost --task ttcw -T pace": "-T is 'pace', expected OPTION=VALUE",
    "cost --task ttcw -T levels=4": "levels is 4, expected one of 3, 5, 7",
    "cost --task ttcw --judge list": "--judge is not for --task, whose options are given with -T",
    "cost -T stories=bundled": "-T needs --task",
    "cost --task novelty_partition -T quality=good": "quality is 'good', expected grader",
    "cost --task novelty_partition -T equivalence=classifier -T quality=reward": (
        "novelty_partition calls no model with equivalence=classifier quality=reward, so it costs nothing"
    ),
    f"{BUILD} --reference-scores logit": "'logit' is not one of 'none', 'list', 'pairwise'",
    f"{BUILD} --questions starter": "has none of the questions' prompts",
    f"{BUILD} --questions starter --features twice.json": "two features are named 'plot'",
    f"population build nowhere {NEW} {GRADER}": "does not exist",
    "population check nowhere": "has no population.json",
    f"population import votes.jsonl --map prompt=c {NEW}": "has no such column",
    "population import someone/texts -o new --name n": "a dataset of others: name its licence with --licence",
    f"population import votes.jsonl {NEW} --clean-by-model": "--clean-by-model and --grader must be given together",
    f"population import votes.jsonl {NEW} {GRADER}": "--clean-by-model and --grader must be given together",
    "questions review starter": "give either --to TABLE or --from TABLE with --output FILE",
    "questions review starter --blind": "give either --to TABLE or --from TABLE once for each person",
    "population size nowhere": "nowhere does not exist",
    "population size starter": "--judge list asks a model. Name it with --grader",
    "population size starter logs --judge offline": "give one population, or logs",
    "population size starter --judge offline --margin 0": "0.0 is not in the range",
    REFERENCE_SCORES: "--judge list asks a model. Name it with --grader PROVIDER/MODEL",
    f"{REFERENCE_SCORES} --judge offline {GRADER}": "--judge offline calls no model: leave out --grader",
    f"{REFERENCE_SCORES} --judge lists {GRADER}": "'lists', expected one of list, sheet, pairwise, logit, embedding",
    f"{REFERENCE_SCORES} {GRADER}": "bundled/grader has no record of",
    f"{REFERENCE_SCORES} --judge offline -o nowhere/y.json": "nowhere/y.json cannot be written",
    "features map nowhere --taxonomy starter --grader mockllm/model": "nowhere has no features.json",
    f"features map {EXAMPLE} --taxonomy starter {GRADER} --dry-run": "is part of the package and cannot be written",
    f"{MAPPED} nowhere": "features are 'nowhere', expected",
    f"{MAPPED} starter -o taken.json": "taken.json",
    f"{WRITTEN} -o own.txt": "output is own.txt, expected a name that ends in .jsonl",
    "prompts sample nowhere.jsonl -o taken.jsonl": "taken.jsonl exists, expected a new file",
    f"{WRITTEN} -o taken.jsonl": "output taken.jsonl exists, expected a new file",
    f"{WRITTEN} --wording 'About {{first}}.'": "wording is 'About {first}.'",
    f"{WRITTEN} --embedder word2vec": "embedder is 'word2vec', expected static",
    f"{WRITTEN} --count 0": "--count",
    "check-reader --reader nowhere/x": "nowhere",
    "check-reader --reader bundled/grader --judge list": "Name it with --grader",
    "check-reader --reader bundled/grader --judge chance": "judge is 'chance'",
    "check-reader --reader bundled/grader --record nobody": "reader is 'nobody'",
    "check-reader --reader a/b --reader c/d --export x.csv": "one --reader, got 2",
    "agreement nowhere.jsonl --votes votes.jsonl": "nowhere.jsonl cannot be read",
    "agreement logs --votes votes.jsonl": "has no scores by 'ttcw'",
    "agreement scores.jsonl --votes votes.jsonl": "story 'a_b' has votes but no score by j",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("wrong")
    for run, value in (("plain", 0.5), ("raised", 0.6)):
        log_of(folder / "logs", run, plots(*(value + number / 100 for number in range(8))))
    small_population(folder / "population")
    (folder / "found").mkdir()
    write_features(folder / "found" / "features.json", (Feature(name="mood", definition="How it feels."),))
    (folder / "twice.json").write_text(
        json.dumps({"features": [{"name": "plot", "definition": word} for word in "xy"]})
    )
    (folder / "short.csv").write_text("question,answer,rating\n")
    (folder / "wrong.csv").write_text("question,answer,other,rating\nq-f5db896778de,a,b,7\n")
    (folder / "votes.jsonl").write_text(json.dumps({"story": "a_b", "rater": "r", "votes": {"1": True}}) + "\n")
    (folder / "scores.jsonl").write_text(json.dumps({"story": "c_d", "judge": "j", "tests": {"1": True}}) + "\n")
    for name in ("taken.json", "taken.jsonl"):
        (folder / name).write_text("mine")
    with pytest.MonkeyPatch.context() as environment:
        environment.chdir(folder)
        yield folder


def contents(place: Path) -> dict[Path, bytes]:
    """All files but records of what was asked."""
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file() and ".work" not in str(path)}


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_done_is_one_line_that_names_it(line: str, place: Path) -> None:
    before = contents(place)
    result = CliRunner().invoke(main, shlex.split(line))
    assert result.exit_code in (1, 2), result.output
    (error,) = (said for said in result.stderr.splitlines() if said.startswith("Error: "))
    assert REFUSED[line] in error
    # above it only a wrong call has its usage, and what had begun its bar
    above = [said for said in result.stderr.splitlines() if said.strip() and "-:--:--" not in said]
    assert above == [error] if result.exit_code == 1 else above[-1] == error
    assert contents(place) == before
