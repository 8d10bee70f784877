"""`genie ttcw`, as a user calls it."""

import json
import math
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from click.testing import Result
from tests.cli.called import as_json, genie, lines_of
from tests.scripted import Script, output, saying
from tests.tasks.test_ttcw_stories import STORIES, run, said

import genie_inspect.cli.running as running
from genie_inspect.agreement.machine_scores import JudgedStory, read_scores
from genie_inspect.agreement.votes import VotedStory, VotesError
from genie_inspect.populations.stories import reference_stories
from genie_inspect.prompting.replies import labels
from genie_inspect.studies.ttcw.stories import StoryWords, story_words
from genie_inspect.studies.ttcw.verdicts import asked_setups, at_cutoff, cutoff_curves, histogram, writer_totals

MADE = ("logs", "empty", "blank")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log of stories in the study's two setups, and two without a story."""
    folder = tmp_path_factory.mktemp("ttcw")
    for name in MADE[1:]:
        (folder / name).mkdir()
    (folder / "blank" / "a.txt").write_text(" ", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setenv("GENIE_CACHE_DIR", str(folder / "cache"))
        run(Script(said))
    return folder


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("cutoffs", "nowhere"), "nowhere does not exist"),
        (("cutoffs", "{logs}", "--cutoff", "5"), "cutoff is 5, expected -3 to 4"),
        (("cutoffs", "{logs}", "--picture", "a.gif"), "picture is 'a.gif'"),
        (("setups", "{logs}", "--votes", "nowhere.jsonl"), "nowhere.jsonl cannot be read"),
        (("words", "nowhere.jsonl"), "nowhere.jsonl cannot be read"),
        (("totals",), "nothing to count"),
        (("extract-plots", "{empty}", "-o", "refs.jsonl", "--grader", "mock/g"), "empty has no file *.txt"),
        (("extract-plots", "{blank}", "-o", "refs.jsonl", "--grader", "mock/g"), "a.txt is empty"),
    ],
)
def test_what_cannot_be_used_is_one_line(folder: Path, arguments: tuple[str, ...], fault: str) -> None:
    result = genie("ttcw", *(part.format_map({name: folder / name for name in MADE}) for part in arguments))
    assert result.exit_code == 1
    assert fault in result.output
    assert "Traceback" not in result.output


LABELS = labels(5)
SIGNATURE = "measure:ttcw|judge:critic(m/x@12ab,template=34cd)|levels:5|analyse:true|reference:true|cutoff:-2"


def story(name: str, *points: float, signature: str = SIGNATURE) -> JudgedStory:
    by_test = {f"{place:02d}": value for place, value in enumerate(points, start=1)}
    return JudgedStory(name, math.nan, {}, by_test, signature=signature)


def votes(name: str, *results: float) -> VotedStory:
    return VotedStory(name, {"ann": {f"{place:02d}": value for place, value in enumerate(results, start=1)}})


def test_a_test_passes_from_the_cutoff_on_and_what_was_not_judged_counts_nowhere() -> None:
    counted = at_cutoff(story("1_a", -3, -2, 4, math.nan), -2)
    assert counted.score == 2
    assert list(counted.tests.values()) == pytest.approx([0, 1, 1, math.nan], nan_ok=True)


def test_a_scale_is_swept_from_its_lowest_cutoff_to_0_and_ranked_as_people_rank_at_each() -> None:
    # points of 1_a, 1_b: with -3 both pass all, with -2 1_b passes 1 and 1_a 2, with 0 1_b passes 1 and 1_a 0
    judged = {"m": {one.story: one for one in (story("1_a", -2, -1), story("1_b", -3, 4))}}
    (curve,) = cutoff_curves(judged, [votes("1_a", 1, 1), votes("1_b", 0, 0)], resamples=10)
    points = curve["points"]
    assert [(point["cutoff"], point["total"]) for point in points] == [(-3, 2), (-2, 1.5), (-1, 1), (0, 0.5)]
    rho = [point["rankings"]["spearman"].mean.value for point in points]
    assert rho == pytest.approx([math.nan, 1, math.nan, -1], nan_ok=True)
    assert curve["cutoff"] == -2
    for levels, expected in ((3, [-1, 0]), (7, [-5, -4, -3, -2, -1, 0])):
        one = story("1_a", 0, signature=SIGNATURE.replace("levels:5", f"levels:{levels}"))
        (curve,) = cutoff_curves({"m": {"1_a": one}})
        assert [point["cutoff"] for point in curve["points"]] == expected


def test_scores_without_points_numbers_and_nothing_are_refused() -> None:
    with pytest.raises(VotesError, match="no score has points"):
        cutoff_curves({"m": {"1_a": JudgedStory("1_a", 3, {"01": 1})}})
    with pytest.raises(VotesError, match="'1_b' has no points"):
        cutoff_curves({"m": {"1_a": story("1_a", 0), "1_b": JudgedStory("1_b", 3, {})}})
    with pytest.raises(VotesError, match="votes are numbers"):
        writer_totals({}, [votes("1_a", 7)])


def test_a_sweep_over_a_log_asks_nothing_and_equals_a_run_at_each_cutoff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def verdict(request: str) -> str:
        # another in each order, so that scores of all sizes come about
        return LABELS[crc32(request.encode()) % 5]

    critic = Script(verdict)
    run(critic, setups="both")
    asked = len(critic.requests)
    (curve,) = cutoff_curves(read_scores([Path("logs")]))
    swept = {point["cutoff"]: point["total"] for point in curve["points"]}
    assert len(critic.requests) == asked
    assert len(set(swept.values())) > 2
    for cutoff in (-3, 0):
        log = run(critic, setups="both", cutoff=cutoff)
        assert log.results
        assert log.results.scores[0].metrics["mean"].value == pytest.approx(swept[cutoff])


def test_a_way_has_its_mean_by_writer_and_counts_what_was_not_judged() -> None:
    judged = {
        name: JudgedStory(name, score, {}, signature=SIGNATURE)
        for name, score in {"1_a": 4.0, "2_a": 6.0, "1_b": math.nan}.items()
    }
    (row,) = asked_setups({"m": judged})
    assert math.isnan(row["by_writer"].pop("b"))
    setup = {"judge": "m/x", "setup": "reference, analyse then rate", "cutoff": "-2"}
    assert row == setup | {"stories": 3, "not_judged": 1, "total": 5, "by_writer": {"a": 5}, "rankings": {}}


def test_totals_by_writer_are_those_of_most_people_and_of_each_judge() -> None:
    people = [votes("1_a", 1, 1), votes("2_a", 1, 0), votes("1_b", 0, 0)]
    machine = {"m": {"1_a": JudgedStory("1_a", 2, {}), "1_b": JudgedStory("1_b", math.nan, {})}}
    rows = writer_totals(machine, people)
    counted = {(row["judge"], row["writer"]): row["totals"] for row in rows}
    assert counted == {("people", "a"): [2, 1], ("people", "b"): [0], ("m", "a"): [2], ("m", "b"): []}
    assert (rows[0]["mean"], histogram(rows[0])) == (1.5, {1: 1, 2: 1})
    assert math.isnan(rows[3]["mean"])


def test_words_are_those_of_stories_or_their_log_and_of_what_they_are_held_against_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = story_words([STORIES])
    own = [StoryWords("0", "plain", 7), StoryWords("0", "bold", 11), StoryWords("1", "plain", 6)]
    assert rows == [*own, StoryWords("0", "fine", 15, True), StoryWords("1", "reference", 12, True)]
    run(Script(lambda request: "[[YES]]"), setups="baseline")
    assert set(story_words([Path("logs")])) == set(rows)


PLOT = " ".join(["A keeper of bees counts them every night until one of them is missing and"] * 2) + " leaves."
BEES = [{"title": "Bees", "story": "She counted."}, {"title": "Lock", "plot": "A lock opens.", "story": "It opened."}]


@pytest.fixture
def bees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines_of(tmp_path / "stories.jsonl", BEES)
    return tmp_path


def plots_called(monkeypatch: pytest.MonkeyPatch, script: Script, *arguments: str) -> Result:
    monkeypatch.setattr(running, "get_model", lambda _: script.model())
    return genie("ttcw", "extract-plots", *arguments, "-o", "refs.jsonl", "--grader", "mock/g")


def test_a_plot_is_drawn_for_each_story_that_has_none_and_the_file_is_the_tasks(
    bees: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = saying(PLOT)
    result = plots_called(monkeypatch, script, "stories.jsonl", "--json")
    assert result.exit_code == 0, result.output
    said: dict[str, Any] = json.loads(result.stdout)
    assert (said["drawn"], said["had_a_plot"], said["outside_of_25_to_50_words"], said["calls"]) == (1, 1, 0, 1)
    assert [story.plot for story in reference_stories("refs.jsonl")] == [PLOT, "A lock opens."]
    again = plots_called(monkeypatch, script, "stories.jsonl")
    assert (again.exit_code, len(script.requests)) == (1, 1)
    assert "expected a new file" in again.output


def test_a_folder_of_texts_is_stories_titled_by_their_files(bees: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bees / "mine").mkdir()
    (bees / "mine" / "door.txt").write_text("\ufeffA door.\n", encoding="utf-8")
    assert plots_called(monkeypatch, saying("Short."), "mine").exit_code == 0
    (story,) = reference_stories("refs.jsonl")
    assert (story.title, story.plot, story.story) == ("door", "Short.", "A door.")


def test_a_plot_that_is_cut_off_is_no_plot_and_is_not_on_record(bees: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = Script(lambda _: output("A keeper of bees", "max_tokens"))
    result = plots_called(monkeypatch, cut, "stories.jsonl")
    assert result.exit_code == 1
    assert "drew no plot in 3 replies: cut off at 2048 tokens: 'A keeper of bees'" in result.output
    assert len(cut.requests) == 3
    assert not (bees / "refs.jsonl").exists()
    whole = saying(PLOT)
    said = json.loads(plots_called(monkeypatch, whole, "stories.jsonl", "--json").stdout)
    assert (len(whole.requests), said["replies_on_record"]) == (1, 0)


def test_a_dry_run_asks_nobody_and_writes_nothing(bees: Path) -> None:
    options = ("-o", "refs.jsonl", "--grader", "openai/gpt-4o", "--dry-run")
    said = as_json("ttcw", "extract-plots", "stories.jsonl", *options)
    assert (said["stories"], said["calls_needed"]) == (2, 1)
    assert 25 < said["output_tokens"] < 90
    assert sorted(path.name for path in bees.iterdir() if path.name != "cache") == ["stories.jsonl"]
