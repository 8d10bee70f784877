import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelUsage
from tests.reports.made_logs import asked, made_log, scored

from genie_inspect.reports.page.page import as_bytes, cost, page, write_pictures
from genie_inspect.reports.page.report import build_report

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


def test_what_half_a_character_leaves_can_be_written() -> None:
    assert as_bytes("a\ud800b") == b"a?b"


def test_every_table_has_a_caption_and_heads_for_rows_and_columns(tmp_path: Path) -> None:
    html = hostile_page(tmp_path)
    tables = re.findall(r"<table.*?</table>", html, re.DOTALL)
    assert len(tables) >= 5
    assert all("<caption>" in table and 'scope="row"' in table and 'scope="col"' in table for table in tables)


def test_every_picture_says_what_it_shows(tmp_path: Path) -> None:
    seen = Seen(hostile_page(tmp_path))
    pictures = [given for tag, given in seen.tags if tag == "img"]
    assert pictures
    assert all(len(given["alt"] or "") > 20 for given in pictures)


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
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5, "style": 0.7}, yardstick=own)}])
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


def test_pictures_go_into_a_folder_that_is_made_and_over_older_ones(tmp_path: Path) -> None:
    found = build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])])
    folder = tmp_path / "deep" / "down"
    for _ in range(2):
        write_pictures(found, folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        f"{name}.{ending}" for name in ("lengths", "means-genie") for ending in ("png", "svg")
    ]


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
