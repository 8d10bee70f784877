"""The report's page: what stands on it, and what its template is told."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalRevision
from inspect_ai.model import GenerateConfig, ModelConfig, ModelUsage
from tests.reports.made_logs import asked, made_log, scored
from tests.reports.studies import FEATURES, GENIE, by_feature, made, sharp, study_log

from genie_inspect.logs.files import LogError
from genie_inspect.reports.page import (
    beware,
    command_for_reference_scores,
    cost,
    definitions,
    every_figure,
    in_one_order,
    matrix,
    most_novel,
    opening,
    page,
    run_facts,
    write_pictures,
)
from genie_inspect.reports.report import build_report
from genie_inspect.reports.study_verdict import sentence
from genie_inspect.reports.study_verdict import warnings as study_warnings
from genie_inspect.reports.verdict import warnings

NAN = float("nan")
SCORE = {"genie": scored({"plot": 0.5})}
LEAVE_ONE_OUT = "inspect eval genie_inspect/leave_one_out --model mockllm/model"
OWN = {"plot": {"percentile": 75.0, "mean": 0.4, "low": 0.3, "high": 0.6}}
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


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page on logs in which every text looks like markup."""
    row = asked(0.5, question=HOSTILE, answer=HOSTILE, nearest=[{"answer": HOSTILE, "rating": 1, "given": 1}])
    score = scored({"plot": 0.5, HOSTILE: 1.0}, coverage={"plot": "1/1"}, questions=[row])
    silent = scored({"plot": NAN, HOSTILE: NAN}, reason=HOSTILE)
    said = [{"name": "genie", "metadata": {"meaning": f"What it means: {HOSTILE}"}}]
    given: dict[str, Any] = {"model": HOSTILE, "texts": [HOSTILE] * 3, "prompts": [HOSTILE] * 3, "scorers": said}
    samples = [{"genie": one} for one in (score, score, silent)]
    return page(build_report([made_log(tmp_path_factory.mktemp("hostile"), samples, **given)]))


def test_text_from_logs_that_looks_like_markup_is_text_wherever_it_stands(hostile: str) -> None:
    seen = Seen(hostile)
    assert "script" not in {tag for tag, _ in seen.tags}
    assert all("onerror" not in attributes for _, attributes in seen.tags)
    assert f"What it means: {HOSTILE[:20]}" in seen.text
    # the document, its prompt, its answer, question and neighbour, a key, a reason, a model
    assert seen.text.count("{{ 7*7 }} </style>") >= 8
    assert "49" not in seen.text
    # in filters and details of every document, too
    documents = hostile.split('<section id="documents"')[1].split("</section>")[0]
    assert "<script" not in documents
    assert (documents.count("</style>"), documents.count("&lt;script&gt;") >= 8) == (1, True)


def test_the_page_forbids_every_call_out_and_makes_none(hostile: str) -> None:
    tags = Seen(hostile).tags
    policies = [given["content"] for tag, given in tags if given.get("http-equiv") == "Content-Security-Policy"]
    assert [str(policy).split("; ")[:3] for policy in policies] == [
        ["default-src 'none'", "style-src 'unsafe-inline'", "img-src data:"]
    ]
    links = [given.get(name) or "" for _, given in tags for name in ("src", "srcset", "href") if name in given]
    assert {link for link in links if not link.startswith("#")} == {"data:,"}


def test_every_table_has_a_caption_and_heads_for_rows_and_columns(hostile: str) -> None:
    tables = re.findall(r"<table.*?</table>", hostile, re.DOTALL)
    assert len(tables) >= 5
    assert all("<caption>" in table and 'scope="row"' in table and 'scope="col"' in table for table in tables)


def words_of(*files: str, baseline: str = "") -> str:
    return " ".join(Seen(page(build_report(files, baseline=baseline))).text.split())


def test_runs_of_the_populations_own_documents_alone_are_nothing_to_compare(tmp_path: Path) -> None:
    own = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=["d"])}])
    with pytest.raises(LogError, match="no log of other documents than the population's own, expected a baseline"):
        build_report([own], baseline="mock/writer")


def test_the_page_opens_with_its_finding_and_what_stood_out_most(tmp_path: Path) -> None:
    standing = {"plot": {"percentile": 92.4, "mean": 0.4, "low": 0.3, "median": 0.4, "high": 0.6}}
    kept: dict[str, Any] = {"standing": standing, "coverage": {"plot": "1/1"}, "documents": 12}
    files = [
        made_log(tmp_path, [{"genie": scored({"plot": step}, questions=[asked(step)], **kept)}], model=f"mock/{step}")
        for step in (0.2, 0.9)
    ]
    words = words_of(*files)
    opening, _ = words.split("A grader answers the same questions")
    assert "mock/0.9 scores above 92% (plot) of the population's documents on average; 50% is usual." in opening
    (card,) = re.findall("An unusual document: (.*?) The text, and more documents", words)
    assert card.startswith("mock/0.9 on “Prompt 1”; plot 0.90 question")
    assert card.endswith("its answerin rain 3 of 12 in the populationin snowmock/0.2, same promptin rain")
    assert "The population's documents average 0.40 (plot)." in words
    five = {**kept, "standing": {f"f{place}": standing["plot"] for place in range(5)}}
    tied = made_log(tmp_path, [{"genie": scored({f"f{place}": 0.9 for place in range(5)}, **five)}])
    assert re.search(r"scores above 92% \(f\d, f\d, f\d and 2 more\) of", words_of(tied))
    score = {"genie": scored({"plot": 0.1}, standing=standing)}
    # a comparison is the finding where there is one
    for model in ("m/a", "m/b"):
        made_log(tmp_path / "compared", [score] * 3, model=model, texts=[model] * 3)
    compared = page(build_report([tmp_path / "compared"], baseline="m/a"))
    assert '<p class="answer"><bdi>m/b is equivalent to m/a in plot' in compared
    assert '<p class="answer"><bdi>m/b scores above' not in compared
    many = words_of(*(made_log(tmp_path, [score], model=f"m/{n}") for n in range(11)))
    assert "3 more are below." in many
    assert "No run is surely more novel than every other in plot." in many
    assert "An unusual document" not in many, "logs without tables have no card"


def test_the_page_has_one_order_of_features_and_opens_with_a_document_that_is_told_apart_at_sight(
    tmp_path: Path,
) -> None:
    # the highest mean of all is of a document whose answer few others contradict in one way
    common, rare = ([{"answer": "in snow", "rating": 1, "given": n} for n in given] for given in ((1, 11), (2, 3)))
    for model, last in (("m/a", 0.6), ("m/b", 0.7)):
        tables = [
            [asked(1.0, "style", nearest=rare), asked(value, "plot", nearest=common, answer=f"at {value}")]
            for value in (0.5, last, 0.9)
        ]
        facts: dict[str, Any] = {"documents": 12, "coverage": {"plot": "1/1", "style": "1/1"}}
        samples = [
            {"genie": scored({"plot": one[1]["novelty"], "style": 1.0}, questions=one, **facts)} for one in tables
        ]
        made_log(tmp_path, samples, model=model, texts=[f"{model} {place}" for place in range(3)])
    report = build_report([tmp_path], baseline="m/a")
    ordered = in_one_order(report)
    assert report.measures[0].keys == ("plot", "style")
    assert ordered.measures[0].keys == ("style", "plot")
    assert ordered.comparison
    assert [row.key for row in ordered.comparison.rows] == ["style", "plot"]
    assert list(dict.fromkeys(one.key for one in ordered.stand_outs)) == ["style", "plot"]
    one = most_novel(report)
    assert one
    assert one.question
    assert (one.key, one.question.answer) == ("plot", "at 0.9")
    seen = page(report)
    links, names = set(re.findall('href="#([sd][0-9]+)"', seen)), set(re.findall('id="([sd][0-9]+)"', seen))
    assert links <= names
    assert {name for name in links if name.startswith("d")}, "what stood out leads to its document"
    assert "The population here: 12 other documents for the same prompt. Compare within a feature" in Seen(seen).text


def test_what_changes_how_the_finding_is_read_is_said_beside_it(tmp_path: Path) -> None:
    judge = "offline(static,anchors=starter)"
    same = {"count": 30, "lowest": 2, "highest": 2}
    score = scored({"plot": 0.5}, GENIE.replace("list(test)", judge), ratings=same)
    head = words_of(made_log(tmp_path, [{"genie": score}])).split("models mock/writer")[0]
    assert "Read with care: Offline judge: a smoke test" in head
    assert "Read with care: mock/writer: the grader gave every pair the same rating (2)" in head
    assert "Read with care" not in words_of(made_log(tmp_path, [SCORE]))


def test_without_a_log_of_the_population_the_page_says_how_to_get_one(tmp_path: Path) -> None:
    score = {"genie": scored({"plot": 0.5}, length={"population": 2})}
    file = made_log(tmp_path, [score], task_args={"population": "starter", "judge": "list"})
    text = words_of(file)
    assert "genie population reference-scores starter --judge test --grader PROVIDER/MODEL" in text
    assert LEAVE_ONE_OUT in text
    text = words_of(file, made_log(tmp_path, [{"genie": scored({"plot": 0.6}, left_out=["d"])}]))
    assert "inspect eval" not in text
    assert "has the reference scores" in text


def test_shares_faults_and_what_to_beware_of_stand_on_the_page(tmp_path: Path) -> None:
    facts: dict[str, Any] = {"coverage": {"plot": "1/4"}, "pairs": {"plot": "5/48"}, "faults": {HOSTILE: 43}}
    words = words_of(made_log(tmp_path, [{"genie": scored({"plot": 0.5}, **facts)}] * 2))
    assert "25% 10% of ratings" in words
    assert f"86 {HOSTILE}" in words
    assert "fewer answers than were asked for (one per question and document): plot 2 of 8." in words
    bare = page(build_report([made_log(tmp_path, [SCORE], model="öl/猫")]))
    assert not [text for text in ("with care", "of ratings") if text in bare]
    assert "öl/<wbr>猫" in bare, "a name may break at a slash"


def test_pictures_are_svg_and_png_and_no_name_of_a_log_leads_one_out_of_its_folder_or_over_another(
    tmp_path: Path,
) -> None:
    keys = ("a/../../out", "/etc/passwd", "x\0y", "k" * 300, "\N{OWL}" * 100, "a/b", "a_b")
    samples = [{"genie/../../out": scored(dict.fromkeys(keys, value))} for value in (0.1, 0.5, 0.9)]
    found = build_report([made_log(tmp_path / "logs", samples)])
    write_pictures(found, tmp_path / "deep" / "pictures")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["pictures"]
    written = {path.name: path.read_bytes()[:8] for path in (tmp_path / "deep" / "pictures").iterdir()}
    assert len(written) == 2 * len(list(every_figure(found)))
    assert written["lengths.png"].startswith(b"\x89PNG")
    assert written["lengths.svg"].startswith(b"<svg")
    assert "spread-genie_.._.._out-a_b.svg" in written
    assert {path.name for path in tmp_path.iterdir()} == {"logs", "deep"}


def test_the_cost_of_a_run_is_that_of_all_models_with_a_price(tmp_path: Path) -> None:
    found = build_report([made_log(tmp_path, [SCORE])])
    assert '<th scope="col">cost</th>' not in page(found)
    for prices, told in (((None, None), ""), ((0.0, None), "0.00"), ((1.254, None), "1.25"), ((1.254, 2.5), "3.75")):
        usage = [ModelUsage(total_cost=price) for price in prices]
        found.runs[0].header.stats.model_usage = dict(zip(("writer", "grader"), usage, strict=True))
        assert cost(found.runs[0]) == told
    assert all(part in page(found) for part in ('<th scope="col">cost</th>', ">3.75</td>"))


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


def test_features_are_defined_as_the_population_defines_them(tmp_path: Path) -> None:
    told = {"population": "small-1@0", "features": {"finding": "What was <found>."}}
    report = build_report([made_log(tmp_path, [{"genie": scored({"finding": 0.5})}], metadata=told)])
    assert definitions(report) == {"finding": "What was <found>."}
    assert "<bdi>What was &lt;found&gt;.</bdi>" in page(report)
    # nor by what another task keeps under that name
    for metadata in ({}, {"features": ["plot", "style"]}):
        assert definitions(build_report([made_log(tmp_path, [SCORE], metadata=metadata)])) == {}


def test_the_command_for_the_reference_scores_repeats_what_the_scores_depend_on(tmp_path: Path) -> None:
    given = {"panel": ["cosine", "partition"], "judge": "logit", "population": "folder", "templates": None}
    graders = {"grader": ModelConfig(model="mock/grader")}
    file = made_log(tmp_path, [SCORE], task_args=given, task_args_passed={"judge": "x"}, model_roles=graders)
    assert command_for_reference_scores(build_report([file])) == (
        f"{LEAVE_ONE_OUT} -T population=folder -T judge=logit -T panel=cosine,partition --model-role grader=mock/grader"
    )
    # of the run with features, and of a log scored afterwards by its scores
    other = made_log(tmp_path, [{"ttcw": scored({"ttcw_total": 3.0}, "measure:ttcw|version:0")}], model="a/first")
    judged = "measure:genie|judge:logit(mock/second@0123456789ab,template=00)|population:few-1@0|version:1"
    file = made_log(
        tmp_path,
        [{"genie": scored({"plot": 0.5}, judged)}],
        task_args={"population": "starter", "judge": "list", "panel": ["cosine"]},
        model_roles=graders,
        scorers=[{"name": "genie_inspect/genie", "options": {"population": "few", "judge": "logit"}}],
    )
    assert command_for_reference_scores(build_report([other, file])) == (
        f"{LEAVE_ONE_OUT} -T population=few -T judge=logit -T panel=cosine --model-role grader=mock/second"
    )
    # what needs no population has no reference scores, and scores may know it
    knowing = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, standing=OWN)}])
    assert [command_for_reference_scores(build_report([one])) for one in (other, knowing)] == ["", ""]


def test_everything_that_a_log_records_of_its_run_is_told_in_one_order(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "model_roles": {"grader": ModelConfig(model="mock/grader"), "panel": [ModelConfig(model=m) for m in "ab"]},
        "task_args_passed": {"cache": False, "share": 0.0},
        "packages": {"inspect_ai": "0.3", "genie_inspect": "0.1"},
        "metadata": {"population": "small-1@0"},
        "revision": EvalRevision(type="git", origin="https://example.org", commit="abc123"),
        "model_generate_config": GenerateConfig(temperature=0.0, seed=7),
    }
    file = made_log(tmp_path, [SCORE] * 3, prompts="aab", solver="genie_inspect/outline", **given)
    (run,) = build_report([file]).runs
    run.header.plan.config = GenerateConfig(temperature=0.1, max_tokens=9)
    run.header.stats.started_at = "2026-01-02T03:04:05+00:00"
    run.header.eval.config.epochs = None
    told = {
        # an option that is off or 0 is told as one that is on
        **{"log": Path(file).name, "task": "made", "options": "cache=False, share=0.0", "model": "mock/writer"},
        **{"solver": "outline", "roles": "grader=mock/grader, panel=a+b"},
        # what the model was made with goes before what the task asks for
        "generation": "max_tokens=9, temperature=0.0",
        **{"seed": "7", "prompts": "2", "epochs": "1", "population": "small-1@0"},
        **{"begun": "2026-01-02 03:04", "packages": "inspect_ai=0.3, genie_inspect=0.1", "commit": "abc123"},
    }
    assert list(run_facts(run).items()) == list(told.items())


def test_the_opening_names_models_documents_population_and_date(tmp_path: Path) -> None:
    twice = [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    files = [made_log(tmp_path, [SCORE] * 4, places=twice, model=model) for model in ("mock/b", "mock/a")]
    runs = {"models": "mock/a, mock/b", "documents": "4 per run: 2 prompts x 2"}
    assert opening(build_report(files)) == runs | {"population": "small-1@0", "date": "2026-01-02"}
    # runs of unlike size have a range, and the population stands in the log's own words
    described = {"population": "small-1@0", "population_description": "12 documents"}
    one = made_log(tmp_path, [SCORE], metadata=described)
    facts = opening(build_report([one, files[0]]))
    assert facts["documents"] == "1 to 4 per run: 1 to 2 prompts x 1 to 2"
    assert facts["population"] == "small-1@0: 12 documents"
    # which is that of the scores, and without one that of the log's words; population's own documents are not told of
    own = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=["d"])}] * 3, model="mock/own")
    bare = {"ttcw": scored({"ttcw_total": 3.0}, "measure:ttcw|version:0")}
    for sample, words, told in (
        (SCORE, "starter-2@0, 101 documents", "small-1@0"),
        (bare, "small-1@0, 12 documents", "small-1@0, 12 documents"),
    ):
        file = made_log(tmp_path, [sample], metadata={"population": words})
        assert opening(build_report([file]))["population"] == told
    facts = opening(build_report([own, file]))
    assert (facts["models"], facts["documents"]) == ("mock/writer", "1 per run: 1 prompt x 1")
    assert opening(build_report([own]))["models"] == "mock/own"


def test_the_comparison_warns_of_what_the_measures_do_not(tmp_path: Path) -> None:
    # a plain run and one of another length, whose questions could not all be used
    for model, words in (("plain", 4), ("long", 40)):
        samples = [{"genie": scored({"plot": value}, coverage={"plot": "1/2"})} for value in (0.4, 0.5, 0.6)]
        made_log(tmp_path, samples, model=f"m/{model}", texts=["word " * words] * 3)
    found = build_report([tmp_path], baseline="m/plain")
    assert found.comparison
    said = warnings(found.comparison)
    assert sum("fewer answers than were asked for" in line for line in said) == 2
    assert beware(found) == [line for line in said if "fewer answers" not in line]
    assert any("40 words" in line for line in beware(found))
    assert beware(replace(found, comparison=None)) == []


@pytest.mark.filterwarnings("ignore:.* is a metric study")
def test_the_section_of_a_study_says_what_genie_validate_says(tmp_path: Path) -> None:
    study_log(tmp_path, [text for text in made(8, ["agent", "<i>"]) if text.id != "o7-original-0"], by_feature(sharp))
    made_log(tmp_path, [{"genie": scored(dict.fromkeys(FEATURES, 0.5), GENIE)}], model="mock/other")
    report = build_report([tmp_path])
    section = page(report).split('<section id="studies"')[1].split("</section>")[0]
    (found,) = report.studies
    told = unescape(re.sub("<.*?>", "", section))
    assert all(line in told for line in (*map(sentence, found.measures), *study_warnings(found)))
    # the edited feature's effect is far beyond the deepest colour, and what does not hold has none
    columns, rows = matrix(found)
    assert [cell["share"] for cell in rows["agent"]] == ["100%", "0%", "0%", "0%"]
    assert (len(columns), list(rows)) == (4, ["agent", "<i>", "paraphrase"])


def test_what_documents_share_is_shown_by_question_three_for_each_feature_and_the_rest_folded(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    rows = [asked(0.1, question=f"{name}?", answer=f"<i>{name}</i> again") for name in names]
    alone = [asked(0.1, question="e?", answer="once"), asked(0.1, question="e?", answer="twice")]
    samples = [{"genie": scored({"plot": 0.5}, questions=[*rows, last])} for last in alone]
    file = made_log(tmp_path, samples, prompts=["One prompt."] * 2)
    section = page(build_report([file])).split('id="repeats"')[1].split("</section>")[0]
    shown, folded = section.split("<details>")
    assert [f"{name}?" in shown for name in names] == [True, True, True, False]
    assert "1 more question<" in folded
    assert "d?" in folded
    assert "e?" not in section
    assert "&lt;i&gt;a&lt;/i&gt; again" in shown
    assert shown.count('--share: 100%"></span> 2 of 2') == 3


def test_a_run_without_a_shared_answer_says_so_and_one_of_too_many_documents_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = [{"genie": scored({"plot": 0.5}, questions=[asked(0.1, answer=answer)])} for answer in ("one", "two")]
    file = made_log(tmp_path, samples, prompts=["One prompt."] * 2)
    assert "No two of its documents for a prompt give the same answer." in page(build_report([file]))
    monkeypatch.setattr("genie_inspect.reports.report.MOST_REPEATS", 1)
    assert 'id="repeats"' not in page(build_report([file]))
