"""The report's page: what stands on it, and what its template is told."""

import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalPlan, EvalPlanStep, EvalRevision, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, ModelConfig, ModelUsage
from tests.reports.made_logs import asked, made_log, scored

from genie_inspect.reports.charts import INK, ON_DARK, SERIES, darkened
from genie_inspect.reports.page import (
    beware,
    command_for_yardstick,
    cost,
    definitions,
    figures,
    meanings,
    opening,
    page,
    run_facts,
    write_pictures,
)
from genie_inspect.reports.report import Report, build_report
from genie_inspect.reports.verdict import warnings
from genie_inspect.signature import package_version
from genie_inspect.tasks.novelty import score_view

NAN = float("nan")
HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> **b** [l](javascript:alert(3)) {{ 7*7 }} </style>"


class Seen(HTMLParser):
    """What a browser makes of a page: its tags with attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_page(folder: Path) -> str:
    row = asked(0.5, question=HOSTILE, answer=HOSTILE, nearest=[{"answer": HOSTILE, "rating": 1, "given": 1}])
    score = scored({"plot": 0.5, HOSTILE: 1.0}, coverage={"plot": "1/1"}, questions=[row])
    silent = scored({"plot": NAN, HOSTILE: NAN}, reason=HOSTILE)
    samples = [{"genie": score}, {"genie": score}, {"genie": silent}]
    said = [{"name": "genie", "metadata": {"meaning": f"What it means: {HOSTILE}"}}]
    file = made_log(folder, samples, model=HOSTILE, texts=[HOSTILE] * 3, prompts=[HOSTILE] * 3, scorers=said)
    return page(build_report([file]))


def test_text_from_logs_that_looks_like_markup_is_text_wherever_it_stands(tmp_path: Path) -> None:
    seen = Seen(hostile_page(tmp_path))
    assert "script" not in {tag for tag, _ in seen.tags}
    assert all("onerror" not in attributes for _, attributes in seen.tags)
    assert f"What it means: {HOSTILE[:20]}" in seen.text
    # the document, its prompt, its answer, question and neighbour, a key, a reason, a model
    assert seen.text.count("{{ 7*7 }} </style>") >= 8
    assert "49" not in seen.text


def test_the_page_forbids_every_call_out_and_makes_none(tmp_path: Path) -> None:
    seen = Seen(hostile_page(tmp_path))
    policies = [given["content"] for tag, given in seen.tags if given.get("http-equiv") == "Content-Security-Policy"]
    assert [str(policy).split("; ")[:3] for policy in policies] == [
        ["default-src 'none'", "style-src 'unsafe-inline'", "img-src data:"]
    ]
    links = [given.get(name) or "" for _, given in seen.tags for name in ("src", "srcset", "href") if name in given]
    assert links
    assert {link[:5] for link in links if not link.startswith("#")} == {"data:"}


def test_every_table_has_a_caption_and_heads_for_rows_and_columns(tmp_path: Path) -> None:
    html = hostile_page(tmp_path)
    tables = re.findall(r"<table.*?</table>", html, re.DOTALL)
    assert len(tables) >= 5
    assert all("<caption>" in table and 'scope="row"' in table and 'scope="col"' in table for table in tables)


def test_the_populations_own_documents_are_not_counted_among_those_of_the_runs(tmp_path: Path) -> None:
    told = made_log(tmp_path / "told", [{"genie": scored({"plot": value})} for value in (0.2, 0.4, 0.6)])
    own = made_log(tmp_path / "own", [{"genie": scored({"plot": 0.5}, left_out=["d"])}])
    assert "3 documents from 1" in " ".join(page(build_report([told, own])).split())


def test_one_document_of_one_run_is_not_several(tmp_path: Path) -> None:
    told = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])
    assert "1 document from 1 run, measured" in " ".join(page(build_report([told])).split())


def test_every_measure_says_which_way_is_up(tmp_path: Path) -> None:
    cosine = scored({"cosine_mean": 0.3}, "measure:cosine|version:0")
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5}), "cosine": cosine}])
    words = " ".join(Seen(page(build_report([file]))).text.split())
    first = words.index("Mean over prompts")
    assert words.index("1: none of them answers anything like it") < first < words.index("Up to 2; higher is farther")


def test_where_the_population_is_stands_in_a_row_of_its_own(tmp_path: Path) -> None:
    own = {"plot": {"percentile": 75.0, "mean": 0.4, "low": 0.3, "high": 0.6}}
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5, "style": 0.7}, standing=own)}])
    words = " ".join(Seen(page(build_report([file]))).text.split())
    assert "Below it: the percentile at which it falls" in words
    assert "0.50 percentile 75" in words
    assert "the population's own documents, mean [quartiles] 0.40 [0.30, 0.60] –" in words


def test_with_a_baseline_the_verdict_stands_before_the_means(tmp_path: Path) -> None:
    files = [
        made_log(tmp_path, [{"genie": scored({"plot": value + step * 0.1})} for value in (0.1, 0.4, 0.3)], model=model)
        for step, model in ((0, "mock/a"), (1, "mock/b"))
    ]
    words = " ".join(Seen(page(build_report(files, baseline="mock/a"))).text.split())
    assert words.index("Of 1 differences from mock/a, none holds") < words.index("Mean over prompts")
    assert "+0.100" in words
    assert "Compared with" not in page(build_report(files))


def test_without_a_log_of_the_population_the_page_says_how_to_get_one(tmp_path: Path) -> None:
    score = {"genie": scored({"plot": 0.5}, length={"population": 2})}
    file = made_log(tmp_path, [score], task_args={"population": "starter", "judge": "list"})
    text = Seen(page(build_report([file]))).text
    assert "genie population yardstick starter --judge test --grader PROVIDER/MODEL" in text
    assert "inspect eval genie_inspect/leave_one_out --model mockllm/model -T population=starter -T judge=list" in text
    own = made_log(tmp_path, [{"genie": scored({"plot": 0.6}, left_out=["d"])}])
    text = Seen(page(build_report([file, own]))).text
    assert "inspect eval" not in text
    assert "is the yardstick" in text


def test_an_embedded_judge_is_called_a_smoke_test(tmp_path: Path) -> None:
    signature = "measure:genie|judge:embedded(static,anchors=starter)|version:0"
    assert "a smoke test" in page(build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.5}, signature)}])]))


def test_a_vectors_judge_is_called_a_screen_with_its_figures(tmp_path: Path) -> None:
    signature = "measure:genie|judge:vectors(static@1,fit=2,spearman=0.63,kendall=0.47)|version:0"
    text = Seen(page(build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.5}, signature)}])]))).text
    assert "a screen, no verdict" in text
    assert "Spearman 0.63" in text


def test_shares_faults_and_what_to_beware_of_stand_on_the_page(tmp_path: Path) -> None:
    facts: dict[str, Any] = {"coverage": {"plot": "1/4"}, "pairs": {"plot": "5/48"}, "faults": {HOSTILE: 43}}
    text = Seen(page(build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.5}, **facts)}] * 2)]))).text
    words = " ".join(text.split())
    assert "25% 10% of ratings" in words
    assert f"86 {HOSTILE}" in words
    assert "Beware: mock/writer: not every question or test could be used: plot 2 of 8." in words
    bare = Seen(page(build_report([made_log(tmp_path / "bare", [{"genie": scored({"plot": 0.5})}])]))).text
    assert "Beware" not in bare
    assert "of ratings" not in bare


def test_how_near_the_nearest_comes_stands_on_the_page_where_the_scorer_says_it(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": 0.9}, nearest_novelty={"plot": value})} for value in (0.25, 0.35)]
    words = " ".join(Seen(page(build_report([made_log(tmp_path, samples)]))).text.split())
    assert "how near the nearest comes, in numbers" in words
    # 0.05 x t of one degree of freedom is 0.64, bent at 0
    assert re.search(r"mock/writer 0\.30 \[0\.0\d, 0\.9\d\]", words)
    bare = Seen(page(build_report([made_log(tmp_path / "bare", [{"genie": scored({"plot": 0.9})}])]))).text
    assert "nearest comes" not in bare


def test_documents_of_unlike_length_are_pointed_out(tmp_path: Path) -> None:
    files = [
        made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], texts=["word " * words], model=f"mock/{words}")
        for words in (10, 16)
    ]
    assert "do not compare well" in page(build_report(files))
    assert "do not compare well" not in page(build_report(files[:1]))


def test_a_name_beyond_ascii_stands_in_the_pictures_as_it_is(tmp_path: Path) -> None:
    seen = Seen(page(build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.5})}] * 2, model="öl/猫")])))
    images = [str(given["src"]).partition("base64,")[2] for tag, given in seen.tags if tag == "img"]
    assert any("öl/猫" in b64decode(image).decode() for image in images)


def test_pictures_are_written_as_svg_and_png(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": value})} for value in (0.1, 0.5, 0.9)]
    write_pictures(build_report([made_log(tmp_path, samples)]), tmp_path / "pictures")
    written = {path.name: path.read_bytes()[:8] for path in (tmp_path / "pictures").iterdir()}
    assert sorted(written) == [
        f"{name}.{ending}" for name in ("lengths", "means-genie", "spread-genie-plot") for ending in ("png", "svg")
    ]
    assert written["lengths.png"].startswith(b"\x89PNG")
    assert written["lengths.svg"].startswith(b"<svg")


@pytest.mark.parametrize(
    ("scorer", "keys"),
    [
        ("genie", ("a/../../out",)),
        ("genie/../../out", ("plot",)),
        ("genie", ("/etc/passwd", "x\0y", "k" * 300, "\N{OWL}" * 100)),
        ("genie", ("a/b", "a_b", "a:b")),
    ],
)
def test_names_of_a_log_lead_no_picture_out_of_its_folder_and_none_over_another(
    scorer: str, keys: tuple[str, ...], tmp_path: Path
) -> None:
    samples = [{scorer: scored(dict.fromkeys(keys, value))} for value in (0.1, 0.5, 0.9)]
    found = build_report([made_log(tmp_path / "logs", samples)])
    write_pictures(found, tmp_path / "deep" / "pictures")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["pictures"]
    assert len(list((tmp_path / "deep" / "pictures").iterdir())) == 2 * len(list(figures(found)))
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "deep"}


@pytest.mark.parametrize(
    ("prices", "told"), [([None, None], ""), ([0.0, None], "0.00"), ([1.254, 2.5], "3.75"), ([1.254, None], "1.25")]
)
def test_the_cost_of_a_run_is_that_of_all_models_with_a_price(
    tmp_path: Path, prices: list[float | None], told: str
) -> None:
    found = build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])])
    usage = [ModelUsage(total_cost=price) for price in prices]
    found.runs[0].header.stats.model_usage = dict(zip(("writer", "grader"), usage, strict=True))
    assert cost(found.runs[0]) == told
    assert f"<td>{told or 'no prices in the log'}</td>" in page(found)


def test_a_jury_has_a_row_a_grader_and_one_for_how_far_they_agree(tmp_path: Path) -> None:
    graders = {
        "mock/one": {"novelty": {"plot": 0.25}, "questions": {"plot": [0.0, 0.5]}},
        HOSTILE: {"novelty": {"plot": None}, "questions": {"plot": [0.0, 0.5]}},
    }
    html = page(build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.25}, graders=graders)}])]))
    table = html.partition("data-jury=")[2].partition("</table>")[0]
    rows = [re.sub(r"<[^>]+>|\s+", " ", row).split() for row in table.split("<tr>")[2:]]
    assert rows[0] == ["mock/one", "0.25", "1"]
    assert rows[1][-3:] == ["not", "measured", "0"]
    assert rows[2] == ["alpha", "1.00"]
    assert "<script>" not in table
    assert "data-jury" not in page(build_report([made_log(tmp_path / "alone", [{"genie": scored({"plot": 0.25})}])]))


def test_an_option_that_is_off_or_0_is_told_as_one_that_is_on(tmp_path: Path) -> None:
    given = {"cache": False, "min_coverage": 0.0, "judge": "list"}
    file = made_log(
        tmp_path,
        [{"genie": scored({"plot": 0.5})}],
        task_args_passed=given,
        model_generate_config=GenerateConfig(temperature=0.0),
    )
    told = run_facts(build_report([file]).runs[0])
    assert told["options"] == "cache=False, min_coverage=0.0, judge=list"
    assert told["generation"] == "temperature=0.0"


def test_a_seed_stands_by_itself_and_not_among_the_settings_of_generation(tmp_path: Path) -> None:
    settings = GenerateConfig(temperature=0.5, seed=7)
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], model_generate_config=settings)
    facts = run_facts(build_report([file]).runs[0])
    assert (facts["generation"], facts["seed"]) == ("temperature=0.5", "7")


def test_features_are_defined_as_the_population_defines_them(tmp_path: Path) -> None:
    told = {"population": "small-1@0", "features": {"finding": "What was <found>."}}
    file = made_log(tmp_path, [{"genie": scored({"finding": 0.5})}], metadata=told)
    report = build_report([file])
    assert definitions(report) == {"finding": "What was <found>."}
    assert "<bdi>What was &lt;found&gt;.</bdi>" in page(report)
    assert definitions(build_report([made_log(tmp_path / "other", [{"genie": scored({"plot": 0.5})}])])) == {}


def test_what_another_task_keeps_under_features_defines_nothing(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], metadata={"features": ["plot", "style"]})
    assert definitions(build_report([file])) == {}


def test_the_command_for_the_yardstick_repeats_what_the_scores_depend_on(tmp_path: Path) -> None:
    given = {
        "panel": ["cosine", "partition"],
        "judge": "logit",
        "population": "folder",
        "templates": None,
        "cache": False,
    }
    grader = {"grader": ModelConfig(model="mock/grader")}
    file = made_log(
        tmp_path,
        [{"genie": scored({"plot": 0.5})}],
        task_args=given,
        task_args_passed={"judge": "x"},
        model_roles=grader,
    )
    assert command_for_yardstick(build_report([file])) == (
        "inspect eval genie_inspect/leave_one_out --model mockllm/model -T population=folder -T judge=logit "
        "-T panel=cosine,partition --model-role grader=mock/grader"
    )


def test_the_command_for_the_yardstick_of_a_log_scored_afterwards_is_by_its_scores(tmp_path: Path) -> None:
    judged = "measure:genie|judge:logit(mock/second@0123456789ab,template=00)|population:few-1@0|version:1"
    other = "measure:ttcw|judge:critic(mock/third@0123456789ab)|version:0"
    file = made_log(
        tmp_path,
        [{"genie": scored({"plot": 0.5}, judged), "ttcw": scored({"ttcw_total": 3.0}, other)}],
        task_args={"population": "starter", "judge": "list", "panel": ["cosine"]},
        model_roles={"grader": ModelConfig(model="mock/grader")},
        scorers=[
            {"name": "genie", "options": {"population": "starter", "judge": "list"}},
            {"name": "genie_inspect/genie", "options": {"population": "few", "judge": "logit"}},
        ],
    )
    assert command_for_yardstick(build_report([file])) == (
        "inspect eval genie_inspect/leave_one_out --model mockllm/model -T population=few -T judge=logit "
        "-T panel=cosine --model-role grader=mock/second"
    )


def test_what_needs_no_population_has_no_yardstick(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"ttcw": scored({"ttcw_total": 3.0}, "measure:ttcw|version:0")}])
    assert command_for_yardstick(build_report([file])) == ""


def test_the_command_for_the_yardstick_is_that_of_the_run_with_features_and_needs_no_grader(tmp_path: Path) -> None:
    other = made_log(tmp_path, [{"ttcw": scored({"ttcw_total": 3.0}, "measure:ttcw|version:0")}], model="a/first")
    file = made_log(
        tmp_path, [{"genie": scored({"plot": 0.5})}], task_args={"judge": "embedded", "embedder": "static", "panel": []}
    )
    assert command_for_yardstick(build_report([other, file])) == (
        "inspect eval genie_inspect/leave_one_out --model mockllm/model -T judge=embedded -T embedder=static -T panel="
    )


def test_scores_that_know_the_yardstick_need_no_command(tmp_path: Path) -> None:
    own = {"plot": {"percentile": 75.0, "mean": 0.4, "low": 0.3, "high": 0.6}}
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, standing=own)}])
    assert command_for_yardstick(build_report([file])) == ""


def test_everything_that_a_log_records_of_its_run_is_told_in_one_order(tmp_path: Path) -> None:
    graders = {"grader": ModelConfig(model="mock/grader"), "panel": [ModelConfig(model="a"), ModelConfig(model="b")]}
    file = made_log(
        tmp_path,
        [{"genie": scored({"plot": 0.5})}] * 3,
        prompts=["a", "a", "b"],
        texts=["One.", "Two.", "Three."],
        model_roles=graders,
        task_args_passed={"judge": "list"},
        packages={"inspect_ai": "0.3", "genie_inspect": "0.1"},
        metadata={"population": "small-1@0"},
        revision=EvalRevision(type="git", origin="https://example.org", commit="abc123"),
        model_generate_config=GenerateConfig(temperature=0.7),
    )
    (run,) = build_report([file]).runs
    run.header.plan = EvalPlan(
        steps=[EvalPlanStep(solver="genie_inspect/outline", params={}), EvalPlanStep(solver="generate", params={})],
        config=GenerateConfig(temperature=0.1, max_tokens=9),
    )
    run.header.stats.started_at = "2026-01-02T03:04:05+00:00"
    run.header.stats.completed_at = "2026-01-02T04:05:06+00:00"
    run.header.eval.config.epochs = None
    told = {
        "log": Path(file).name,
        "task": "made",
        "options": "judge=list",
        "model": "mock/writer",
        "solver": "outline → generate",
        "roles": "grader=mock/grader, panel=a+b",
        # what the model was made with goes before what the task asks for
        "generation": "max_tokens=9, temperature=0.7",
        "seed": "none was set",
        "prompts": "2",
        "epochs": "1",
        "population": "small-1@0",
        "begun": "2026-01-02 03:04",
        "ended": "2026-01-02 04:05",
        "packages": "inspect_ai=0.3, genie_inspect=0.1",
        "commit": "abc123",
    }
    assert list(run_facts(run).items()) == list(told.items())


def test_signature_run_and_version_stand_on_the_page(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], task_args_passed={"judge": "list"})
    html = page(build_report([file]))
    assert "<dt>population</dt><dd><bdi>small-1@0</bdi></dd>" in html
    assert "<dt>options</dt><dd><bdi>judge=list</bdi></dd>" in html
    assert f"Written by genie-inspect {package_version()}." in html


SCORE = {"genie": scored({"plot": 0.5})}
THREE = [("a", 1), ("b", 1), ("c", 1)]


def test_it_names_models_documents_population_and_date(tmp_path: Path) -> None:
    twice = [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    files = [made_log(tmp_path, [SCORE] * 4, places=twice, model=model) for model in ("mock/b", "mock/a")]
    assert opening(build_report(files)) == {
        "models": "mock/a, mock/b",
        "documents": "2 prompts x 2 epochs: 4 a run",
        "population": "small-1@0",
        "date": "2026-01-02",
    }


def test_runs_of_unlike_size_have_a_range_and_the_population_in_the_logs_own_words(tmp_path: Path) -> None:
    one = made_log(tmp_path, [SCORE], metadata={"population": "small-1@0, 12 documents"})
    three = made_log(tmp_path, [SCORE] * 3, places=THREE, model="mock/b")
    facts = opening(build_report([one, three]))
    assert facts["documents"] == "1 to 3 prompts x 1 epoch: 1 to 3 a run"
    assert facts["population"] == "small-1@0, 12 documents"


def test_scores_against_another_population_than_that_of_the_run_name_theirs(tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE], metadata={"population": "starter-2@0, 101 documents"})
    assert opening(build_report([file]))["population"] == "small-1@0"


def test_scores_without_a_population_leave_it_to_the_logs_words(tmp_path: Path) -> None:
    score = scored({"ttcw_total": 3.0}, "measure:ttcw|version:0")
    file = made_log(tmp_path, [{"ttcw": score}], metadata={"population": "small-1@0, 12 documents"})
    assert opening(build_report([file]))["population"] == "small-1@0, 12 documents"


def test_the_populations_own_documents_are_not_counted(tmp_path: Path) -> None:
    told = made_log(tmp_path, [SCORE] * 3, places=THREE)
    own = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=["d"])}], model="mock/own")
    facts = opening(build_report([told, own]))
    assert (facts["models"], facts["documents"]) == ("mock/writer", "3 prompts x 1 epoch: 3 a run")


def test_runs_of_several_days_have_the_first_and_the_last(tmp_path: Path) -> None:
    files = [made_log(tmp_path, [SCORE], model=f"mock/{number}") for number in range(3)]
    for file, day in zip(files, ("2026-03-04", "2026-01-02", "2026-02-03"), strict=True):
        log = read_eval_log(file)
        log.eval.created = f"{day}T00:00:00+00:00"
        write_eval_log(log)
    assert opening(build_report(files))["date"] == "2026-01-02 to 2026-03-04"


def test_the_graders_are_named_each_once_and_a_run_without_epochs_has_one(tmp_path: Path) -> None:
    for model, grader in (("m/a", "mock/judge"), ("m/b", "mock/judge"), ("m/c", "mock/other")):
        made_log(tmp_path, [SCORE], model=model, model_roles={"grader": ModelConfig(model=grader)})
    made_log(tmp_path, [SCORE], model="m/d")
    found = build_report([tmp_path])
    for run in found.runs:
        run.header.eval.config.epochs = None
    facts = opening(found)
    assert list(facts) == ["models", "documents", "population", "grader", "date"]
    assert (facts["grader"], facts["documents"]) == ("mock/judge, mock/other", "1 prompt x 1 epoch: 1 a run")


def test_what_only_the_populations_own_log_says_of_it_is_not_told_beside_others_and_is_where_it_is_alone(
    tmp_path: Path,
) -> None:
    left_out = [{"genie": scored({"plot": 0.5}, left_out=["d"])}] * 3
    own = made_log(
        tmp_path, left_out, places=THREE, model="mock/own", metadata={"population": "small-1@0, its own words"}
    )
    other = made_log(tmp_path, [SCORE])
    assert opening(build_report([own, other]))["population"] == "small-1@0"
    alone = opening(build_report([own]))
    assert (alone["models"], alone["documents"], alone["population"]) == (
        *("mock/own", "3 prompts x 1 epoch: 3 a run"),
        "small-1@0, its own words",
    )


def test_every_grader_of_a_jury_is_named(tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE])
    log = read_eval_log(file)
    log.eval.model_roles = {"grader": [ModelConfig(model="mock/one"), ModelConfig(model="mock/two")]}
    write_eval_log(log, file)
    assert opening(build_report([file]))["grader"] == "mock/one, mock/two"


def warned(folder: Path, baseline: str = "") -> Report:
    """A plain run and one of another length, whose questions could not all be used."""
    for model, words in (("plain", 4), ("long", 40)):
        samples = [{"genie": scored({"plot": value}, coverage={"plot": "1/2"})} for value in (0.4, 0.5, 0.6)]
        made_log(folder, samples, model=f"m/{model}", texts=["word " * words] * 3)
    return build_report([folder], baseline=baseline)


def test_the_comparison_warns_of_what_the_measures_do_not(tmp_path: Path) -> None:
    found = warned(tmp_path, "m/plain")
    assert found.comparison
    said = warnings(found.comparison)
    assert len([line for line in said if line.endswith("not every question or test could be used: plot 3 of 6")]) == 2
    assert beware(found) == [line for line in said if "could be used" not in line]
    assert any("40 words" in line for line in beware(found))


def test_without_a_comparison_there_is_nothing_to_beware_of_in_it(tmp_path: Path) -> None:
    assert beware(warned(tmp_path)) == []


def test_a_measure_is_explained_by_the_run_that_it_scored(tmp_path: Path) -> None:
    scores = [{"b": scored({"k": 0.5}, "measure:b|version:0")}, {"genie": scored({"plot": 0.5})}]
    found = build_report([made_log(tmp_path, [own], model=f"m/{number}") for number, own in enumerate(scores)])
    scored_by = {name: next(run for run in found.runs if name in run.ours) for name in ("b", "genie")}
    for name, run in scored_by.items():
        assert meanings(found, name) == run.meanings(name)
    assert meanings(found, "genie")
    assert meanings(found, "nobody") == []


KEYS = ("plot", "style", "agent")
BASE = (0.1, 0.3, 0.2, 0.4, 0.15, 0.25, 0.35, 0.45)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A baseline and a longer run of three features."""
    folder = tmp_path_factory.mktemp("logs")
    view = score_view("made", {"genie": KEYS}, dict.fromkeys(KEYS, (0.0, 1.0)))
    for model, step, words in (("m/a", 0.0, 4), ("m/b", 0.3, 40)):
        made_log(
            folder,
            [
                {"genie": scored({"plot": v + step, "style": v, "agent": v + v * step}, length={"population": 4})}
                for v in BASE
            ],
            model=model,
            viewer=view,
            texts=["word " * words] * len(BASE),
        )
    return build_report([folder], baseline="m/a")


@pytest.fixture(scope="module")
def html(report: Report) -> str:
    return page(report)


SPREADS = [f"spread-genie-{key}" for key in KEYS]


def test_the_pictures_stand_where_their_section_is_each_for_light_and_for_dark(report: Report, html: str) -> None:
    seen = Seen(html).tags
    images = {str(given["data-chart"]): given for tag, given in seen if tag == "img"}
    assert list(images) == ["forest-genie-1", "radar-genie", *SPREADS, "lengths"]
    assert [figure.name for figure in figures(report)] == [
        *("forest-genie-1", "means-genie", "radar-genie"),
        *SPREADS,
        "lengths",
    ]
    told = {figure.name: figure for figure in figures(report)}
    assert {name: given["alt"] for name, given in images.items()} == {name: told[name].description for name in images}
    dark = [str(given["srcset"]) for tag, given in seen if tag == "source"]
    for name, other in zip(images, dark, strict=True):
        light = b64decode(str(images[name]["src"]).partition("base64,")[2]).decode()
        assert f'"{INK}"' in light
        assert b64decode(other.partition("base64,")[2]).decode() == darkened(light)
    assert "words a document" in light


def test_each_run_has_the_colour_of_its_charts_on_light_and_on_dark_paper(html: str) -> None:
    assert set(re.findall(r"--light: (\S+); --dark: (\S+?)\">", html)) == {
        (colour, ON_DARK[colour]) for colour in SERIES[:2]
    }


def test_the_comparison_says_what_to_beware_of_and_how_many_prompts_a_difference_takes(html: str) -> None:
    words = " ".join(Seen(html).text.split())
    assert "Beware: m/b writes 40 words where m/a writes 4: beyond 1.5x lengths do not compare; --length" in words
    # what has no spread, style, takes none: of plot and agent that of agent alone varies
    assert re.search(
        r"With the spread seen here it takes \d+ prompts, by feature, to find a difference of 0.05 with a chance of "
        r"80%; these runs share 8\.",
        words,
    )
    assert "Beware: m/b writes 40 words where the population has 4: beyond 1.5x lengths do not compare." in words
