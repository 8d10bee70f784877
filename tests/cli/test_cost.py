import math
from functools import partial
from pathlib import Path

import pytest
from tests.cli.called import as_json, genie

from genie_inspect.cli.cost import MEASURES, TASKS
from genie_inspect.graders.instrument import MODES
from genie_inspect.populations.population import open_population

called, found = partial(genie, "cost"), partial(as_json, "cost")

DOCUMENTS = open_population("starter").manifest.counts.documents


def test_a_list_asks_less_than_a_tenth_of_the_calls_of_pairs_and_vectors_ask_for_readings_alone() -> None:
    judges = found("--epochs", "2")["judges"]
    listed, pairwise, vectors = (judges[name] for name in ("list", "pairwise", "embedding"))
    assert listed["rating"]["calls"] < pairwise["rating"]["calls"] / 10
    assert listed["judged"] == pairwise["judged"] < listed["pairs"] == vectors["pairs"]
    assert vectors["rating"] == {"calls": 0, "tokens_in": 0, "tokens_out": 0}
    assert vectors["judged"] == 0
    assert (
        vectors["total"]["calls"] == vectors["reading"]["calls"] + vectors["population"]["calls"] == 2 * 8 + DOCUMENTS
    )


def test_more_epochs_cost_more_but_equal_answers_make_them_cheaper_each() -> None:
    plan, plans = (found("--task", "ttcw", "--epochs", epochs) for epochs in (1, 2))
    assert (plan["epochs"], plans["epochs"]) == (1, 2)
    assert plan["measures"]["ttcw"]["calls"] * 2 == plans["measures"]["ttcw"]["calls"] > 0
    one, five = (found("--judge", "pairwise", "--epochs", epochs)["judges"]["pairwise"] for epochs in ("1", "5"))
    assert five["reading"]["calls"] == 5 * one["reading"]["calls"]
    assert one["judged"] < five["judged"] < 5 * one["judged"]


def test_ratings_against_a_sample_of_answers_cost_less_where_a_model_rates() -> None:
    whole, sampled = (found("--judge", "list", *more)["judges"]["list"] for more in ((), ("--ratings", "3")))
    assert sampled["rating"]["tokens_in"] < whole["rating"]["tokens_in"]
    assert sampled["reading"] == whole["reading"]
    told = found("--judge", "list", "--ratings", "6", "--epochs", "2")
    # two questions of a feature, 22 documents, the study's spread of 0.28
    assert told["document_error"] == pytest.approx(0.28 * math.sqrt((1 - 6 / 22) / 6 / 2))
    assert told["mean_error"] == pytest.approx(told["document_error"] / 4)
    assert found("--judge", "list", "--ratings", "30")["document_error"] == 0, "all of them"


def test_longer_answers_cost_more_to_read_and_to_judge() -> None:
    concise, sentence, free = (
        found("--judge", "list", "--answer-length", length)["judges"]["list"]
        for length in ("concise", "sentence", "free")
    )
    assert concise == found("--judge", "list")["judges"]["list"]
    for step, kind in (("reading", "tokens_out"), ("rating", "tokens_in")):
        assert concise[step][kind] < sentence[step][kind] < free[step][kind], step


def test_a_judge_that_the_grader_cannot_serve_is_left_out_unless_asked_for() -> None:
    assert list(found("--grader", "bundled/grader")["judges"]) == [name for name in MODES if name != "logit"]
    result = called("--grader", "bundled/grader", "--judge", "logit")
    assert result.exit_code == 1
    assert "a provider with log probabilities" in result.stderr


def test_the_measures_of_the_panel_that_ask_a_model_stand_below_the_judges() -> None:
    panel = found("--judge", "list", "--epochs", "2")["panel"]
    assert list(panel) == ["partition", "litbench", "close_reading"]
    assert panel.keys() <= MEASURES.keys()
    # each of two documents a prompt meets all 24 of the population, in both orders
    assert panel["litbench"]["calls"] == 2 * 2 * DOCUMENTS
    assert panel["close_reading"]["calls"] == 2 * 2 * 8, "one call per aspect"
    # chosen as for a task
    assert found("--judge", "list", "--panel", "none")["panel"] == {}
    assert found("--judge", "list", "--panel", "cheap")["panel"] == {}
    assert list(found("--judge", "list", "--panel", "litbench")["panel"]) == ["litbench"]


def test_prices_are_those_of_all_that_is_counted() -> None:
    prices = ("--price-input", "1", "--price-output", "2")
    for part in (found("--judge", "list", *prices)["panel"]["litbench"], found("--task", "ttcw", *prices)["total"]):
        assert part["money"] == pytest.approx((part["tokens_in"] + 2 * part["tokens_out"]) / 1e6, abs=1e-4)


def test_every_measure_of_a_task_says_what_it_asks_and_an_option_that_changes_no_call_may_stand_there() -> None:
    needed = {
        "ttcw_stories": ("-T", f"stories={Path(__file__).parents[1] / 'tasks' / 'stories.jsonl'}", "-T", "setups=all")
    }
    counted = {task: found("--task", task, *needed.get(task, ())) for task in TASKS}
    assert {name for task in counted.values() for name in task["measures"]} <= MEASURES.keys()
    assert found("--task", "ttcw", "-T", "cutoff=0", "-T", "cache=false") == counted["ttcw"]


def test_a_jury_of_wordings_rates_in_each_and_reads_once_in_the_same_words() -> None:
    grader = ("--grader", "openai/gpt-4o-mini", "--judge", "list", "--answer-length", "sentence")
    one, two = (found(*grader, "--templates", names)["judges"]["list"] for names in ("original", "original,terse"))
    assert two["reading"] == one["reading"], "read_sentence.md has no rewording"
    assert two["population"] == one["population"]
    assert two["rating"]["calls"] == pytest.approx(2 * one["rating"]["calls"], abs=1)
    concise = found(*grader[:4], "--templates", "original,terse")["judges"]["list"]
    assert concise["reading"]["calls"] == 2 * one["reading"]["calls"]


def test_a_jury_asks_what_its_graders_ask_together_of_the_same_documents() -> None:
    one, other = ("--grader", "bundled/grader"), ("--grader", "mockllm/other")
    first, second, jury = (found("--judge", "list", *g)["judges"]["list"] for g in (one, other, (*one, *other)))
    assert jury["documents"] == first["documents"]
    for step in ("reading", "population", "rating", "total"):
        assert jury[step]["calls"] == pytest.approx(first[step]["calls"] + second[step]["calls"], abs=1)
