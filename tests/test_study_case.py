"""The study that ships: its texts are whole and on record, and docs show what it says."""

from itertools import chain
from pathlib import Path

from inspect_ai import eval as evaluate
from tests.left_out import with_ci
from tests.processes import tool_named

from genie_inspect.files.writing import DATA
from genie_inspect.populations.interventions import LEFT_OUT, Interventions, LeftOut
from genie_inspect.populations.population import open_population
from genie_inspect.populations.schema import Feature, rows
from genie_inspect.providers.replay import RATINGS, RecordedRatings, starter_record
from genie_inspect.reports.effects import Effect
from genie_inspect.reports.study import study
from genie_inspect.studies.metric_study.checking import Checked, faults
from genie_inspect.studies.metric_study.writing import length_ratio, words_changed

ROOT = Path(__file__).parents[1]
FOLDER = DATA / "starter" / "edits"
STUDY = Interventions("starter")
CHECKS = {row.id: row for row in rows(FOLDER / "checks.jsonl", Checked)}
FEATURES: tuple[Feature, ...] = open_population("starter").features
NAMES = [feature.name for feature in FEATURES]


def test_what_the_check_left_is_what_is_read_of_the_texts_now() -> None:
    assert set(CHECKS) == {text.id for text in STUDY.every}
    for text in STUDY.every:
        texts, row = (STUDY.original(text).text, text.text), CHECKS[text.id]
        assert (row.words_changed, row.length_ratio) == (words_changed(*texts), length_ratio(*texts))
    left_out = list(rows(FOLDER / LEFT_OUT, LeftOut))
    assert faults(list(CHECKS.values()), 0.5, 0.25) == left_out
    assert {row.id: row.reason for row in left_out} == STUDY.left_out


def test_the_card_says_how_far_a_third_rater_agrees() -> None:
    tool = tool_named("starter_agreement")
    by_feature = tool.rated_again(starter_record(), "edits/third_ratings")
    pairs = [pair for each in by_feature.values() for pair in each]
    assert len(pairs) == 200
    assert tool.alpha(pairs) >= 0.8
    card = " ".join((FOLDER / "README.md").read_text(encoding="utf-8").split())
    shown = f"{tool.exact(pairs):.0%} have the same rating, Krippendorff's alpha (ordinal) is {tool.alpha(pairs):.2f}"
    assert shown in card
    lowest = (tool.alpha(by_feature[name]) for name in ("setting", "social_atmosphere"))
    assert "setting {:.2f} and social atmosphere {:.2f}".format(*lowest) in card


def test_of_a_pair_that_both_rated_the_populations_own_rating_counts() -> None:
    record = starter_record()
    questions = chain.from_iterable(map(record.population.questions, record.population.prompts))
    texts = {question.id: question.text for question in questions}
    for row in rows(record.folder / RATINGS, RecordedRatings):
        for other, rating in row.ratings.items():
            assert record.rating(texts[row.question], row.answer, other) == rating


ROWS = (*NAMES, "paraphrase")


def cell(effect: Effect) -> str:
    return "." if effect.is_constant else f"{effect.difference.effect:+.2f}" + "*" * effect.moved


def table(page: str, head: str) -> dict[str, list[str]]:
    """The cells of a page's table by the first cell of each row, a feature or `paraphrase`."""
    lines = (ROOT / page).read_text(encoding="utf-8").split(head, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {name.replace(" ", "_"): rest for name, *rest in cells}


@with_ci("an evaluation of 121 texts, for the tables of docs/metric_study.md")
def test_the_page_shows_the_effects_that_the_study_gives(tmp_path: Path) -> None:
    (log,) = evaluate(
        "genie_inspect/metric_study",
        model="bundled/ordinary",
        model_roles={"grader": "bundled/grader"},
        task_args={"judge": "list,embedding,offline", "panel": "cheap"},
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    assert Path(log.location).stat().st_size < 20_000_000
    result = study(log.location)
    shown = {measure.name: measure for measure in result.measures}
    rows_shown = table("docs/metric_study.md", "| edited | Genie, `list` |")
    # the sixth column is of another run: xz
    columns = ("genie (list)", "genie (embedding)", "genie (offline)", "cosine_mean", "compression_novelty", "")
    for place, name in enumerate((*columns, "creativity_index_mean", "length in words")):
        if not name:
            continue
        own = {effect.intervention: cell(effect) for effect in shown[name].own}
        told = [effect for effect in shown[name].paraphrases if not effect.is_constant]
        sizes = [abs(effect.difference.effect) for effect in told]
        own["paraphrase"] = cell(told[0]) if len(told) == 1 else f"{sum(sizes) / len(sizes):.2f}"
        assert {row: rows_shown[row][place].split()[0] for row in ROWS} == own
