"""Logs as reports see them: their documents, their names, what they warn of, and signatures that must be one."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalPlan, EvalPlanStep, EvalResults, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, ModelOutput
from inspect_ai.scorer import Score
from tests.cli.called import as_json, genie
from tests.reports.made_logs import GENIE, made_log, scored
from tests.reports.studies import by_feature, made, one_number, study_log
from tests.scripted import OWL, saying, scores, small_population

from genie_inspect.errors import GenieWarning
from genie_inspect.logs.files import LogError
from genie_inspect.logs.reading import (
    NO_SCORE,
    NOT_BY_IT,
    POPULATION,
    ScoredLog,
    are_unlike,
    labelled,
    labels,
    lengths_of,
    one_signature,
    read_logs,
    read_scored_log,
)
from genie_inspect.logs.scores import Scores
from genie_inspect.samples import InterventionFacts
from genie_inspect.signature import Signature, digest
from genie_inspect.tasks.population_prompts import population_prompts

NAN = math.nan


def test_a_document_has_its_prompt_its_words_and_what_each_scorer_said(tmp_path: Path) -> None:
    genie = scored({"plot": 0.5, "style": NAN}, coverage={"plot": "2/3", "style": "none"})
    other = scored(0.25, "measure:cosine|version:0")
    file = made_log(tmp_path, [{"genie": genie, "cosine": other}], texts=["One two  three."], prompts=["Write!"])
    (document,) = read_scored_log(file).documents
    assert (document.sample, document.epoch, document.prompt, document.words) == (1, 1, "Write!", 3)
    assert document.value("genie", "plot") == 0.5
    assert math.isnan(document.value("genie", "style"))
    assert math.isnan(document.value("genie", "unheard of"))
    assert math.isnan(document.value("nobody", "plot"))
    assert document.scores["genie"].evidence.coverage == {"plot": (2, 3)}
    assert document.scores["cosine"] == Scores({"cosine": 0.25}, signature=Signature("measure:cosine|version:0"))
    # without a score it says whether it has others
    log = read_scored_log(made_log(tmp_path, [{}, {"cosine": other}, {"genie": genie}]))
    assert [document.why_unscored("genie") for document in log.documents] == [NO_SCORE, NOT_BY_IT, ""]


def test_scores_without_a_signature_of_ours_are_read_and_not_called_ours(tmp_path: Path) -> None:
    foreign, unsigned = scored(1.0, signature="something else"), Score(value=2)
    given = {"genie": scored({"plot": 0.5}), "accuracy": foreign, "length": unsigned}
    log = read_scored_log(made_log(tmp_path, [given]))
    assert log.signatures == {"genie": (GENIE,), "accuracy": ("something else",), "length": ("none",)}
    assert log.ours == ["genie"]
    assert [log.values(scorer, scorer) for scorer in ("accuracy", "length")] == [[1.0], [2.0]]
    # one that is nothing but unscored has no key and its reason
    log = read_scored_log(made_log(tmp_path, [{"genie": scored(NAN, reason="refusal")}]))
    (document,) = log.documents
    assert document.scores["genie"] == Scores({}, "refusal", signature=Signature(GENIE))
    assert log.keys("genie") == ()


def test_a_log_whose_documents_all_stand_in_the_population_is_the_populations(tmp_path: Path) -> None:
    its_own = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=["d-1"])}] * 2)
    copied = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=left_out)} for left_out in ([], ["d-1"])])
    assert [(log.label, log.is_population) for log in read_logs([its_own, copied])] == [
        (POPULATION, True),
        ("mock/writer", False),
    ]


def test_samples_that_the_log_does_not_have_are_passed_over(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": value})} for value in (0.1, 0.2, 0.3)])
    log = read_eval_log(file)
    log.eval.dataset.sample_ids = [3, 7]
    log.samples = (log.samples or [])[:1] + (log.samples or [])[2:]
    log.results = EvalResults(total_samples=3, completed_samples=2)
    write_eval_log(log)
    assert [document.sample for document in read_logs([file])[0].documents] == [3, 1]


def test_a_signature_is_that_of_the_scores_with_a_value(tmp_path: Path) -> None:
    # a sample that got no replies has none of the facts that depend on them
    silent = scored({"distinct": NAN}, "measure:novelty_bench|k:0", reason="no_response")
    valued = scored({"distinct": 3.0}, "measure:novelty_bench|k:10")
    for samples, k in (([{"n": silent}, {"n": valued}], 10), ([{"n": silent}], 0)):
        signatures = read_scored_log(made_log(tmp_path, samples)).signatures
        assert signatures == {"n": (f"measure:novelty_bench|k:{k}",)}


def test_a_document_is_refused_by_what_its_provider_or_a_scorer_of_ours_says_and_keeps_what_solvers_left(
    tmp_path: Path,
) -> None:
    refusal = scored({"plot": NAN}, reason="refusal")
    foreign = scored({"plot": NAN}, "none of ours", reason="refusal")
    file = made_log(tmp_path, [{"genie": refusal}, {"genie": foreign}, {"genie": scored({"plot": 0.5})}, {}, {}])
    log = read_eval_log(file)
    told: list[dict[str, Any]] = [{"responses_asked": 5, "responses_parsed": 3}, {}, {"responses_asked": "x"}]
    told += [{"responses_asked": "x", "responses_parsed": 3}, {"responses_asked": 5, "responses_parsed": "x"}]
    earlier: list[list[str]] = [["first ", "second"], [], [""], [], []]
    for sample, facts, before in zip(log.samples or [], told, earlier, strict=True):
        sample.metadata |= facts
        sample.store["earlier"] = before
    (log.samples or [])[3].output = ModelOutput.from_content("mock/writer", "", "content_filter")
    write_eval_log(log)
    documents = read_scored_log(file).documents
    assert [document.refused for document in documents] == [True, False, False, True, False]
    assert [document.responses for document in documents] == [(3, 5), None, None, None, None]
    # of the documents before it the first is told
    assert [document.earlier for document in documents] == [digest("first"), "", "", "", ""]


def test_of_a_study_originals_are_the_documents_and_what_was_made_of_them_stands_beside(tmp_path: Path) -> None:
    log = read_scored_log(study_log(tmp_path, made(2, ["plot"]), one_number(lambda text: 0.5)))
    assert [document.sample for document in log.documents] == ["o0-original-0", "o1-original-0"]
    assert len(log.changed) == 6
    assert log.is_study
    facts = log.changed[0].intervention
    assert facts is not None
    # without the text: those of many logs would fill the memory
    assert facts == InterventionFacts("edit", "o0", "plot", "another", "")
    # each text is left out of the population, or the one that it was made of is
    left_out = by_feature(lambda text, feature: 0.5, left_out=["d"])
    assert not read_scored_log(study_log(tmp_path, made(2), left_out)).is_population
    with pytest.warns(GenieWarning, match=r"originals count here \(2\), the texts that .* do not \(6\)"):
        read_logs([log.file])


def logs(folder: Path, *changes: dict[str, Any]) -> list[ScoredLog]:
    """Logs that differ in facts of their score, in steps (name and options), settings, and what their `eval` says."""
    files = []
    for change in changes:
        spec = {name: value for name, value in change.items() if name not in ("facts", "steps", "config")}
        files.append(made_log(folder, [{"genie": scored({"plot": 0.5}, **change.get("facts", {}))}]))
        log = read_eval_log(files[-1])
        log.eval = log.eval.model_copy(update=spec)
        steps = [EvalPlanStep(solver=name, params=options) for name, options in change.get("steps", [])]
        log.plan = EvalPlan(steps=steps, config=GenerateConfig(**change.get("config", {})))
        write_eval_log(log)
    return read_logs(files)


Step = tuple[str, dict[str, Any]]
OUTLINE: Step = ("genie_inspect/outline", {})
TRIM: Step = ("genie_inspect/trim", {})
GENERATE: Step = ("generate", {})
EARLY, LATE, LAST = (f"2026-01-02T0{hour}:00:00+00:00" for hour in (1, 2, 3))
SAMPLING = "verbalized_sampling"


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        (
            [
                {"steps": [("require_grader", {}), GENERATE], "task": "genie_inspect/baseline"},
                {"steps": [OUTLINE, TRIM], "task": "genie_inspect/grid"},
                {"steps": [GENERATE], "task": "genie_inspect/grid"},
            ],
            ["mock/writer generate baseline", "mock/writer outline+trim grid", "mock/writer generate grid"],
        ),
        (
            [{"steps": [(SAMPLING, {"k": k, "pick": "random"})], "model_args": {"seed": 1}} for k in (3, 5)],
            ["mock/writer k=3", "mock/writer k=5"],
        ),
        # two prompts or temperatures of one model
        (
            [{"config": {"system_message": said, "seed": 1}} for said in ("Write plainly.", "Write as poets " * 9)],
            ["mock/writer system_message=Write plainly.", "mock/writer system_message=Write as poets Write as..."],
        ),
        # an option that only one log has leaves no gap in the names of the others, which the time tells apart
        (
            [
                {"steps": [(SAMPLING, options)], "created": hour}
                for options, hour in (({"k": 3}, EARLY), ({}, LATE), ({}, LAST))
            ],
            ["mock/writer k=3 2026-01-02 01:00", "mock/writer 2026-01-02 02:00", "mock/writer 2026-01-02 03:00"],
        ),
        # where all is alike a number tells
        (
            [{"created": EARLY}, {"created": LATE}, {"created": LATE}],
            ["mock/writer 2026-01-02 01:00", "mock/writer 2026-01-02 02:00 #1", "mock/writer 2026-01-02 02:00 #2"],
        ),
        ([{"model": "m"}, {"model": "m"}, {"model": "m #1"}], ["m #1 #1", "m #2 #2", "m #1 #3"]),
        ([{"facts": {"left_out": ["d"]}}, {"model": "mock/other"}], [POPULATION, "mock/other"]),
    ],
)
def test_logs_are_called_by_what_tells_them_apart_and_in_brief_by_nothing_that_they_share(
    changes: list[dict[str, Any]], names: list[str], tmp_path: Path
) -> None:
    found, brief = logs(tmp_path, *changes), [name.removeprefix("mock/writer ") for name in names]
    assert labels(found) == [log.label for log in labelled(found)] == [log.label for log in found] == names
    assert labels(found, brief=True) == [log.label for log in labelled(found, brief=True)] == brief


def test_a_run_with_a_strategy_of_its_own_names_it_where_no_other_log_stands_beside_it(tmp_path: Path) -> None:
    found = logs(tmp_path, {"solver": OUTLINE[0], "steps": [OUTLINE]})
    assert (labels(found), labels(found, brief=True)) == (["mock/writer outline"], ["mock/writer"])


CUT = "end at the limit of their tokens"
SAID = "writes 4 words where the population has 20: beyond 1.5x lengths do not compare"


def log_of(folder: Path, population: float, text: str = "It rains on owls.", **scorers: float) -> str:
    score = {name: scored({name: value}, length={"population": population}) for name, value in scorers.items()}
    return made_log(folder, [score] * 2, texts=[text] * 2, model="mock/writer")


@pytest.mark.parametrize(
    ("population", "is_cut", "who", "said", "column"),
    [(20, False, "mock/writer", SAID, "unlike_length"), (4, True, "1 of 2 documents of mock/writer", CUT, "cut")],
)
def test_summary_report_and_comparison_give_the_warnings_of_length_and_of_ends_once_each(
    population: float, is_cut: bool, who: str, said: str, column: str, tmp_path: Path
) -> None:
    warned = log_of(tmp_path / "a", population, genie=0.4, cosine=0.3)
    if is_cut:
        log = read_eval_log(warned)
        (log.samples or [])[0].output.choices[0].stop_reason = "max_tokens"
        write_eval_log(log, warned)
    assert genie("summary", warned).output.count(f"Warning: {who} {said}") == 1
    (table, _) = as_json("summary", warned)
    assert table["columns"][0][column].startswith(f"{who} {said}")
    genie("report", warned, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").count(said) == 1
    plain = log_of(tmp_path / "b", population, text="word " * int(population), genie=0.4, cosine=0.3)
    assert "Warning" not in genie("summary", plain).output
    assert genie("compare", warned, plain, "--baseline", warned).output.count(said) == 1
    runs = as_json("compare", warned, plain, "--baseline", warned)["runs"]
    assert [run["cut"] for run in runs] == [int(is_cut), 0]


def test_a_log_that_has_another_name_in_each_table_is_warned_of_once(tmp_path: Path) -> None:
    # alone under its version of genie, beside the other under cosine
    for signature in (GENIE, GENIE.replace("version:0", "version:1")):
        given = {"genie": signature, "cosine": GENIE}
        samples = {name: scored({"m": 0.4}, own, length={"population": 20}) for name, own in given.items()}
        made_log(tmp_path, [samples], texts=["It rains on owls."])
    assert genie("summary", tmp_path).output.count(SAID) == 2


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


def test_a_run_of_unlike_length_warns_once_after_five_documents_and_each_score_says_its_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert not any("Warning" in note for note in run(tmp_path / "like", 18, epochs=6))
    run(tmp_path / "few", 4, epochs=4)
    assert "lengths do not compare" not in caplog.text
    notes = run(tmp_path, 4, epochs=7)
    # Inspect puts sample and epoch before it
    warned = [record.getMessage().splitlines()[-1] for record in caplog.records if record.levelname == "WARNING"]
    assert [line for line in warned if "lengths" in line] == [f"mockllm/model {SAID} (see genie summary)"]
    assert len(notes) == 14
    assert all("Warning: this document has 4 words where the population has 20" in note for note in notes)


def test_a_length_that_nobody_knows_is_in_no_mean(tmp_path: Path) -> None:
    known = [{"genie": scored({"p": 0.5}, length={"population": words})} for words in (20, 10)]
    # of two scorers the second one knows
    samples = [{"cosine": scored({"m": 0.5})} | known[0], known[1], {"genie": scored({"p": 0.5})}]
    (log,) = read_logs([made_log(tmp_path, samples, texts=["one", "one two", "one two three"])])
    assert lengths_of(log.documents) == (2, 15)
    assert math.isnan(lengths_of(log.documents[2:])[1])
    assert math.isnan(lengths_of([])[0])
    # nor is it another one
    for other, unlike in ((math.nan, False), (34 * 1.5, False), (52, True)):
        assert are_unlike(34, other) == are_unlike(other, 34) == unlike


def test_signatures_that_differ_are_refused_with_what_differs_where_and_how_to_choose(tmp_path: Path) -> None:
    signatures = (GENIE.replace("test", "a"), GENIE.replace("test", "b"), GENIE, f"{GENIE}|extra:1")
    files = [made_log(tmp_path, [{"genie": scored({"plot": 0.5}, own)}]) for own in signatures]
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
    # logs without scores are passed over
    empty = made_log(tmp_path, [{}])
    logs = read_logs([empty, files[2]])
    assert (one_signature(logs, "genie"), one_signature(logs, "cosine")) == (GENIE, "none")
    # those that there are are listed in their order
    with pytest.raises(LogError, match=r"^signature is 'x', expected a part of one of: [^;]+\|judge:a[^;]*; .*judge:b"):
        read_logs([files[1], empty, files[0]], signature="x")
    with pytest.raises(LogError, match=r"^signature is 'x', expected a part of one of: none$"):
        read_logs([empty], signature="x")
    judges = [GENIE.replace("test", judge) for judge in ("list(m@1,chunk=50)", "logit(m@1)", "list(m@2)")]
    judged = [made_log(tmp_path, [{"genie": scored({"plot": 0.5}, own)}]) for own in judges]
    for others, part in ((judged[:2], "judge:list"), ([judged[0], judged[2]], "judge:list(m@1,chunk=50)")):
        with pytest.raises(LogError, match=re.escape(f"such as --signature '{part}'")):
            one_signature(read_logs(others), "genie")
