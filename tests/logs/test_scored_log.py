"""One warning for texts of another length than the population's, the same wherever numbers are shown."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai import eval as evaluate
from inspect_ai import score as score_again
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import StopReason
from inspect_ai.scorer import Score
from tests.reports.made_logs import GENIE, made_log, scored
from tests.scripted import OWL, evaluated, saying, scores, small_population, written

from genie_inspect.cli import main
from genie_inspect.errors import GenieWarning
from genie_inspect.logs.files import LogError, sample_of, samples
from genie_inspect.logs.reading import read_logs, read_scored_log
from genie_inspect.logs.scored_log import are_unlike, lengths_of, one_signature
from genie_inspect.logs.scores import last_of_each, measured
from genie_inspect.samples import is_cut
from genie_inspect.scorers.cosine import cosine
from genie_inspect.signature import Signature
from genie_inspect.tasks.population_prompts import population_prompts

CUT = "1 of 2 documents end at the limit of their tokens"
SAID = "writes 4 words where the population has 20: beyond 1.5x lengths do not compare"


def log_of(folder: Path, population: float, text: str = "It rains on owls.", **scorers: float) -> str:
    score = {name: scored({name: value}, length={"population": population}) for name, value in scorers.items()}
    return made_log(folder, [score] * 2, texts=[text] * 2, model="mock/writer")


def shown(*arguments: object) -> str:
    result = CliRunner().invoke(main, [*map(str, arguments)], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    ("population", "is_cut", "who", "said", "column"),
    [(20, False, "", SAID, "unlike_length"), (4, True, "of ", CUT, "cut")],
)
def test_summary_report_and_comparison_give_the_warnings_of_length_and_of_ends_once_each(
    population: float, is_cut: bool, who: str, said: str, column: str, tmp_path: Path
) -> None:
    warned = log_of(tmp_path / "a", population, genie=0.4, cosine=0.3)
    if is_cut:
        log = read_eval_log(warned)
        (log.samples or [])[0].output.choices[0].stop_reason = "max_tokens"
        write_eval_log(log, warned)
    assert shown("summary", warned).count(f"Beware: {who}mock/writer {said}") == 1
    (table, _) = json.loads(shown("summary", warned, "--json"))
    assert table["columns"][0][column].startswith(f"{who}mock/writer {said}")
    shown("report", warned, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").count(said) == 1
    plain = log_of(tmp_path / "b", population, text="word " * int(population), genie=0.4, cosine=0.3)
    assert "Beware" not in shown("summary", plain)
    assert shown("compare", warned, plain, "--baseline", warned).count(said) == 1
    runs = json.loads(shown("compare", warned, plain, "--baseline", warned, "--json"))["runs"]
    assert [run["cut"] for run in runs] == [int(is_cut), 0]


@pytest.mark.parametrize(
    ("reason", "cut"), [("max_tokens", True), ("model_length", True), ("stop", False), ("unknown", False)]
)
def test_a_document_is_cut_where_the_model_or_the_request_had_no_tokens_left(reason: StopReason, cut: bool) -> None:
    state = written("It rains.")
    state.output.choices[0].stop_reason = reason
    assert is_cut(state) == cut
    state.output.choices = []
    assert not is_cut(state)


def test_a_log_that_has_another_name_in_each_table_is_warned_of_once(tmp_path: Path) -> None:
    # alone under its version of genie, beside the other under cosine
    for version in range(2):
        genie = scored({"plot": 0.4}, GENIE.replace("version:0", f"version:{version}"), length={"population": 20})
        cosine = scored({"mean": 0.3}, length={"population": 20})
        samples = [{"genie": genie, "cosine": cosine}] * 2
        made_log(tmp_path, samples, texts=["It rains on owls."] * 2)
    assert shown("summary", tmp_path).count(SAID) == 2


def run(folder: Path, words: int, epochs: int) -> list[str]:
    documents = {OWL: ("grey owl " * 10, "white owl " * 10)}
    population = small_population(folder / "population", documents, {}).folder
    (log,) = evaluate(
        population_prompts(population=str(population), panel="cosine,compression"),
        model=saying("owl " * words).model(),
        epochs=epochs,
        log_dir=str(folder / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    return [str(score.explanation) for name in ("cosine", "compression") for score in scores(log, name)]


def test_a_run_warns_once_after_five_documents_and_each_score_says_its_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    notes = run(tmp_path, 4, epochs=7)
    # Inspect puts sample and epoch before it
    warned = [record.getMessage().splitlines()[-1] for record in caplog.records if record.levelname == "WARNING"]
    assert [line for line in warned if "lengths" in line] == [f"mockllm/model {SAID} (see genie summary)"]
    assert len(notes) == 14
    assert all("Beware: this document has 4 words where the population has 20" in note for note in notes)


def test_a_run_of_like_length_or_of_few_documents_is_not_warned(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert not any("Beware" in note for note in run(tmp_path / "like", 18, epochs=6))
    run(tmp_path / "few", 4, epochs=4)
    assert "lengths do not compare" not in caplog.text


def test_a_length_that_nobody_knows_is_in_no_mean(tmp_path: Path) -> None:
    samples = [
        # of two scorers the second one knows
        {
            "cosine": scored({"m": 0.5}, "measure:cosine|version:0"),
            "genie": scored({"p": 0.5}, length={"population": 20}),
        },
        {"genie": scored({"p": 0.5}, length={"population": 10})},
        {"genie": scored({"p": 0.5})},
    ]
    (log,) = read_logs([made_log(tmp_path, samples, texts=["one", "one two", "one two three"])])
    assert lengths_of(log.documents) == (2, 15)
    assert math.isnan(lengths_of(log.documents[2:])[1])
    assert math.isnan(lengths_of([])[0])
    # nor is it another one
    for other, unlike in ((math.nan, False), (34 * 1.5, False), (52, True)):
        assert are_unlike(34, other) == are_unlike(other, 34) == unlike


def signed(folder: Path, *signatures: str) -> list[str]:
    """Logs of a score each, under these signatures."""
    return [made_log(folder, [{"genie": scored({"plot": 0.5}, own)}]) for own in signatures]


def test_logs_of_one_signature_share_it_and_logs_without_scores_are_passed_over(tmp_path: Path) -> None:
    logs = read_logs([*signed(tmp_path, GENIE), made_log(tmp_path, [{}])])
    assert (one_signature(logs, "genie"), one_signature(logs, "cosine")) == (GENIE, "none")


def test_signatures_that_differ_are_refused_with_what_differs_where_and_how_to_choose(tmp_path: Path) -> None:
    files = signed(tmp_path, GENIE.replace("test", "a"), GENIE.replace("test", "b"), GENIE, f"{GENIE}|extra:1")
    with pytest.raises(LogError) as caught:
        one_signature(read_logs(files[:2]), "genie")
    assert str(caught.value) == (
        "scores by 'genie' do not compare, their signatures differ: judge is a and b (log-0.eval and log-1.eval); "
        "choose with --signature and a part of one, such as --signature 'judge:a'"
    )
    with pytest.raises(LogError, match=r"extra is - and 1 .* such as --signature 'extra:1'"):
        one_signature(read_logs(files[2:]), "genie")
    assert [log.file for log in read_logs(files, signature="extra:1")] == files[3:]
    within = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, f"{GENIE}{number}")} for number in range(2)])
    with pytest.raises(LogError, match=r"version is 00 and 01 \(log-4\.eval\)$"):
        one_signature(read_logs([within]), "genie")


def test_the_signatures_that_there_are_are_listed_in_their_order(tmp_path: Path) -> None:
    names = ("measure:b|version:0", "measure:a|version:0", "none")
    files = [made_log(tmp_path, [{"x": scored({"k": 0.5}, name)}]) for name in names]
    with pytest.raises(LogError, match=r"one of: measure:a\|version:0; measure:b\|version:0$"):
        read_logs(files, signature="judge:nobody")
    with pytest.raises(LogError, match=r"^signature is 'judge:nobody', expected a part of one of: none$"):
        read_logs(files[2:], signature="judge:nobody")


OTHER = GENIE.replace("test", "other")


@pytest.mark.parametrize(
    ("signatures", "kept"),
    [
        ({"genie": GENIE, "genie-1": GENIE, "genie-2": GENIE}, {"genie": "genie-2"}),
        ({"genie": GENIE, "genie1": GENIE, "genie2": GENIE}, {"genie": "genie2"}),
        ({"genie": GENIE, "genie-1": OTHER}, {"genie": "genie", "genie-1": "genie-1"}),
        ({"genie": GENIE, "genie-1": OTHER, "genie-2": OTHER}, {"genie": "genie", "genie-1": "genie-2"}),
        ({"genie": GENIE, "genie-1": OTHER, "genie-2": GENIE}, {"genie": "genie-2", "genie-1": "genie-1"}),
        ({"accuracy": "none", "accuracy-1": "none"}, {"accuracy": "accuracy", "accuracy-1": "accuracy-1"}),
        ({"run1": GENIE, "run2": GENIE}, {"run1": "run1", "run2": "run2"}),
        ({"genie-1": GENIE, "judge-2": GENIE}, {"genie-1": "genie-1", "judge-2": "judge-2"}),
    ],
)
def test_the_last_score_of_a_scorer_under_one_signature_counts(
    signatures: Mapping[str, str], kept: Mapping[str, str]
) -> None:
    scores = {name: scored({"plot": 0.5}, signature) for name, signature in signatures.items()}
    found = last_of_each(scores)
    assert {name: next(key for key, own in scores.items() if own is score) for name, score in found.items()} == kept


@pytest.fixture
def twice(tmp_path: Path) -> str:
    """A log that the scorer cosine has scored, and then again."""
    population = str(small_population(tmp_path / "population").folder)
    log = evaluated(cosine(population), saying("A red owl."), None, tmp_path)
    write_eval_log(score_again(log, cosine(population), action="append", display="none"))
    assert [list(sample.scores or {}) for sample in read_eval_log(log.location).samples or []] == [
        ["cosine", "cosine1"]
    ]
    return log.location


def test_a_log_that_was_scored_twice_has_one_table_and_says_so(twice: str) -> None:
    with pytest.warns(GenieWarning, match=r"was scored again in the same way \(cosine1\): the last scores count"):
        result = CliRunner().invoke(main, ["summary", twice, "--json"])
    assert [table["scorer"] for table in json.loads(result.stdout)] == ["cosine"]
    assert "cosine1" not in shown("show", twice, "1")


def test_of_values_that_changed_the_last_is_read(tmp_path: Path) -> None:
    def values() -> Iterator[Mapping[str, Score]]:
        yield {"genie": scored({"plot": 0.1}), "genie-1": scored({"plot": 0.7})}
        # a sample that only the first time had a score keeps it
        yield {"genie": scored({"plot": 0.3})}

    with pytest.warns(GenieWarning):
        log = read_scored_log(made_log(tmp_path, list(values())))
    assert log.values("genie", "plot") == [0.7, 0.3]
    assert list(log.signatures) == ["genie"]


def test_a_scorer_is_ours_where_its_first_signature_is_one(tmp_path: Path) -> None:
    log = read_scored_log(made_log(tmp_path, [{"genie": scored({"plot": 0.5})}]))
    ours, other, none = map(Signature, (GENIE, OTHER, "none"))
    signatures = {"later": (none, ours), "genie": (ours, none), "theirs": (none,), "cosine": (other,)}
    assert replace(log, signatures=signatures).ours == ["genie", "cosine"]


def test_what_measures_nothing_is_no_score_of_any_report(tmp_path: Path) -> None:
    columns = Score(value={"words": 9}, metadata={"signature": "measure:document|version:1-A"})
    others = {"genie": scored({"plot": 0.5}), "words": Score(value=3)}
    assert list(measured({**others, "document": columns, "document1": columns})) == ["genie", "words"]
    log = made_log(tmp_path, [{**others, "document": columns}])
    assert list(read_scored_log(log).signatures) == ["genie", "words"]
    assert [list(sample_of(log, 1, 1).scores or {}), *(list(sample.scores or {}) for sample in samples(log))] == [
        ["genie", "words"]
    ] * 2
