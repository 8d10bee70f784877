import math
import warnings
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalPlan, EvalPlanStep, EvalResults, read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from tests.reports.made_logs import GENIE, made_log, scored
from tests.reports.studies import by_feature, made, one_number, study_log

from genie_inspect.errors import GenieWarning
from genie_inspect.logs.reading import POPULATION, labelled, labels, read_logs, read_scored_log
from genie_inspect.logs.scored_log import NO_SCORE, NOT_BY_IT, ScoredLog
from genie_inspect.logs.scores import Scores
from genie_inspect.samples import InterventionFacts
from genie_inspect.signature import Signature, digest

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


def test_a_sample_without_a_score_says_whether_it_has_others(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{}, {"cosine": scored(0.5)}, {"genie": scored({"plot": 0.5})}])
    reasons = [document.why_unscored("genie") for document in read_scored_log(file).documents]
    assert reasons == [NO_SCORE, NOT_BY_IT, ""]


def test_a_log_whose_documents_all_stand_in_the_population_is_the_populations(tmp_path: Path) -> None:
    its_own = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=["d-1"])}] * 2)
    copied = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=left_out)} for left_out in ([], ["d-1"])])
    assert [(log.label, log.is_population) for log in read_logs([its_own, copied])] == [
        (POPULATION, True),
        ("mock/writer", False),
    ]


def test_a_log_in_json_is_read_as_one_in_an_archive(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": value})} for value in (0.1, NAN, 0.3)])
    write_eval_log(read_eval_log(file), tmp_path / "log.json")
    first, second = read_logs([file])[0], read_logs([tmp_path / "log.json"])[0]
    assert [str(document) for document in second.documents] == [str(document) for document in first.documents]
    assert len(first.documents) == 3


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
    assert read_scored_log(made_log(tmp_path, [{"n": silent}, {"n": valued}])).signatures == {
        "n": ("measure:novelty_bench|k:10",)
    }
    assert read_scored_log(made_log(tmp_path, [{"n": silent}])).signatures == {"n": ("measure:novelty_bench|k:0",)}


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


def test_a_study_is_not_taken_for_the_populations_own_and_says_what_it_leaves_out_where_documents_are_read(
    tmp_path: Path,
) -> None:
    # each text is left out of the population, or the one that it was made of is
    left_out = by_feature(lambda text, feature: 0.5, left_out=["d"])
    assert not read_scored_log(study_log(tmp_path, made(2), left_out)).is_population
    file = study_log(tmp_path, made(2, ["plot"]), one_number(lambda text: 0.5))
    with pytest.warns(GenieWarning, match=r"originals count here \(2\), the texts that .* do not \(6\)"):
        read_logs([file])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_scored_log(file)


def logs(folder: Path, *changes: dict[str, Any]) -> list[ScoredLog]:
    """Logs of one model, each changed in its own way: task, created, solver, steps (name and options), args."""
    files = []
    for change in changes:
        files.append(made_log(folder, [{"genie": scored({"plot": 0.5}, **change.get("facts", {}))}]))
        log = read_eval_log(files[-1])
        log.eval.task = change.get("task", log.eval.task)
        log.eval.created = change.get("created", log.eval.created)
        log.eval.model = change.get("model", log.eval.model)
        log.eval.solver = change.get("solver")
        log.eval.model_args = change.get("args", {})
        steps = [EvalPlanStep(solver=name, params=options) for name, options in change.get("steps", [])]
        log.plan = EvalPlan(steps=steps)
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
        ([{"steps": [GENERATE]}], ["mock/writer"]),
        (
            [
                {"steps": [("require_grader", {}), GENERATE], "task": "genie_inspect/baseline"},
                {"steps": [OUTLINE, TRIM], "task": "genie_inspect/grid"},
                {"steps": [GENERATE], "task": "genie_inspect/grid"},
            ],
            ["mock/writer generate baseline", "mock/writer outline+trim grid", "mock/writer generate grid"],
        ),
        (
            [{"steps": [(SAMPLING, {"k": k, "pick": "random"})], "args": {"seed": 1}} for k in (3, 5)],
            ["mock/writer k=3", "mock/writer k=5"],
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
        ([{"facts": {"left_out": ["d"]}}, {"model": "mock/other"}], [POPULATION, "mock/other"]),
        ([{"task": "x/one"}, {"task": "x/two"}], ["mock/writer one", "mock/writer two"]),
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
