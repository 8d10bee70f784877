"""`genie calibrate` and `genie check-reader`, as a user calls them."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.cli.called import as_json, genie
from tests.engines.servers import EmbeddingServer, serving
from tests.scripted import grading
from tests.served import Served
from tests.served import serving as serving_chat

from genie_inspect.files.writing import DATA
from genie_inspect.graders.cache import Cache
from genie_inspect.graders.embedding_judge import read_fit, shipped_fit
from genie_inspect.prompting.templates import ORIGINAL, REWORDINGS

called, found = partial(genie, "calibrate"), partial(as_json, "calibrate")

SECOND = "second_ratings.jsonl"
LIKELY = {"4": -0.2, "3": -1.8}  # natural log probabilities: 0.82 and 0.17


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """What `vllm/...` asks: rates 4 where the first answer is no longer than the other, else 1; as a token mostly 4."""
    script = grading(rating=lambda answer, other: 4 if len(answer) <= len(other) else 1)
    served = Served(lambda request: str(script.reply(request)), logprobs=lambda request: LIKELY)
    with serving_chat(served), pytest.MonkeyPatch.context() as environment:
        environment.setenv("VLLM_BASE_URL", served.url)
        yield served


def test_the_worked_example_shows_the_agreement_of_the_data_card() -> None:
    report = found("--ratings", SECOND, "--ratings", "ratings.jsonl")
    alphas = {one["feature"]: round(one["alpha"], 2) for one in report["agreements"]}
    card = (DATA / "starter" / "README.md").read_text(encoding="utf-8")
    rows = {cells[1].strip(): cells for line in card.splitlines() if len(cells := line.split("|")) == 11}
    del rows["feature"], rows[":--"]
    # the columns of the second rating: pairs, exact, alpha
    expected = {feature: float(cells[4]) for feature, cells in rows.items()}
    # the card finds 15 pairs more, which are rated under another prompt's question of the same words
    told = {feature.replace("all features", "all"): alpha for feature, alpha in alphas.items()}
    assert told == pytest.approx(expected, abs=0.011)
    assert report["pairs"] == int(rows["all"][2])
    (people,) = (row for row in report["people"] if row["feature"] == "all features")
    assert (people["pairs"], round(people["people_alpha"], 2)) == (1850, 0.88)


@pytest.mark.usefixtures("server")
def test_pairs_are_drawn_from_the_population_and_every_mode_is_asked_over_http() -> None:
    judges = ("list", "pairwise", "logit")
    report = found(*(word for judge in judges for word in ("--judge", judge)), "--grader", "vllm/stub", "--pairs", "96")
    assert report["pairs"] == 96
    whole = {one["rater"]: one for one in report["conducts"] if one["feature"] == "all features"}
    assert {one["asked"] for one in whole.values()} == {96}
    assert {one["unusable"] for one in whole.values()} == {0}
    listed, pairwise, logit = (whole[f"{judge}(vllm/stub)"] for judge in judges)
    assert listed["novelty"] == pairwise["novelty"]
    assert listed["position"]["low"] < listed["position"]["high"]
    assert -3 <= pairwise["swapped"]["low"] < pairwise["swapped"]["high"] <= 3
    # (4 * 0.819 + 3 * 0.165) / 0.984 = 3.832, so novelty 0.056
    assert logit["novelty"] == pytest.approx(0.056, abs=0.001)
    assert logit["swapped"]["value"] == 0
    agreed = {one["feature"]: one for one in report["agreements"] if one["second"].startswith("pairwise")}
    assert agreed["all features"]["alpha"] == 1


def test_what_a_judge_said_is_kept_not_asked_again_and_asked_anew_where_fresh(server: Served, tmp_path: Path) -> None:
    arguments = ("--judge", "pairwise", "--judge", "list", "--grader", "vllm/stub", "--pairs", "12")
    first = found(*arguments)
    kept = Cache().counts()["ratings"]
    assert sum(kept.values()) == 12 + 2 * 12  # pairwise in both orders
    before = len(server.requests)
    again = found(*arguments)
    assert len(server.requests) == before
    assert again["agreements"] == first["agreements"]
    listed = [one for one in again["conducts"] if one["rater"].startswith("list")]
    assert {one["position"]["value"] for one in listed} == {None}, "what is kept has no place in a list"
    assert found(*arguments, "--fresh")["conducts"] == first["conducts"]
    assert len(server.requests) - before >= 2 * 12
    # a fit to what a grader says needs nobody else's ratings
    alone = ("--judge", "list", "--grader", "vllm/stub", "--pairs", "96", "--fit-embedding", str(tmp_path / "fit.json"))
    assert list(found(*alone)["raters"]) == list(read_fit(tmp_path / "fit.json").raters) == ["list(vllm/stub)"]


def test_a_fit_to_ratings_is_written_shown_and_judged_by(tmp_path: Path) -> None:
    file = tmp_path / "fit.json"
    shown = called("--ratings", SECOND, "--fit-embedding", str(tmp_path / "shown.json")).stdout
    assert all(text in shown for text in ("prompts held out", "social atmosphere", "Spearman"))
    fit_report = found("--ratings", SECOND, "--fit-embedding", str(file))
    fit = read_fit(file)
    assert fit_report["fit"] == fit.digest
    whole = fit_report["features"]["all features"]
    assert (whole["pairs"], whole["answers"]) == (fit.pooled.pairs, fit.pooled.answers)
    # the fit that ships was made of other ratings, by another rater
    assert whole["kendall"] == pytest.approx(shipped_fit().pooled.kendall, abs=0.1)
    judge = f"embedding/{file}"
    judged = found("--ratings", SECOND, "--pairs", "48", "--judge", judge, "--judge", "embedding")
    assert fit.digest in judged["raters"][f"{judge}(static)"]


def test_a_second_fit_sends_no_answer_to_the_embedder_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def vector(text: str) -> tuple[float, ...]:
        return len(text) + 1.0, float(text.count("e"))

    with serving(EmbeddingServer(vector=vector)) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        fits = []
        for name in ("first.json", "second.json"):
            found("--ratings", SECOND, "--embedder", "openai/tiny", "--fit-embedding", str(tmp_path / name))
            fits.append(read_fit(tmp_path / name))
    assert fits[0] == fits[1]
    assert len(served.texts) == len(set(served.texts)) > 0


def test_pairs_are_exported_for_people_whose_gaps_are_told_by_reason(tmp_path: Path) -> None:
    result = called("--pairs", "30", "--export", str(tmp_path / "ann.csv"))
    assert "pairs: 30" in result.output
    assert (tmp_path / "ann.md").is_file()
    again = called("--pairs", "30", "--export", str(tmp_path / "ann.csv"))
    assert again.exit_code == 1
    # by the scale, 0 says that one of the two is no answer
    lines = [json.loads(line) for line in (DATA / "starter" / SECOND).read_text(encoding="utf-8").splitlines()[:20]]
    silent = tmp_path / "silent.jsonl"
    silent.write_text(
        "".join(json.dumps(line | {"rating": line["rating"] * bool(n)}) + "\n" for n, line in enumerate(lines))
    )
    shown = called("--ratings", silent, "--ratings", SECOND, "--judge", "embedding").stdout
    assert all(text in shown for text in ("unusable: 1 unspecified", "embedding(static) and 2 raters together"))
    # filled in by nobody it is a file without a rating
    alone = called("--ratings", str(tmp_path / "ann.csv"), "--ratings", SECOND, "--json")
    assert {row["people_alpha"] for row in json.loads(alone.output)["people"]} == {None}


def test_a_replay_gives_the_same_scores_in_all_wordings() -> None:
    asked = ("--judge", "list", "--judge", "sheet", "--grader", "bundled/grader", "--documents", "2")
    report = found("--rewordings", *asked)
    assert report["verdict"] == [
        f"{judge}(bundled/grader) gives the same scores in 5 wordings of the instruction." for judge in asked[1:4:2]
    ]
    assert report["stability"][-1]["feature"] == "all features"
    assert {row["alpha"] for row in report["stability"]} == {1}
    assert len(set(report["raters"].values())) == 2 * (1 + len(REWORDINGS))
    assert {row["rater"] for row in report["stability"]} == {"list(bundled/grader)", "sheet(bundled/grader)"}
    # each judge in its wordings, one judge after the other
    assert list(report["raters"])[: 1 + len(REWORDINGS)] == [
        f"list(bundled/grader) {wording}" for wording in (ORIGINAL, *REWORDINGS)
    ]
    shown = called(
        "--rewordings", "--grader", "bundled/grader", "--documents", "2", "--templates", "original,terse"
    ).output
    assert "list(bundled/grader): 2 documents in 2 wordings" in shown
    assert "one moves" in shown


figures = partial(as_json, "check-reader", "--reader", "bundled/grader")


def test_the_record_held_against_itself_is_as_near_as_can_be() -> None:
    report = figures("--documents", "8")
    assert [row["feature"] for row in report["fitness"]] == [
        "agent", "perspective", "plot", "setting", "social_atmosphere", "style", "all features"
    ]  # fmt: skip
    for row in report["fitness"]:
        assert row["same"] == 1
        assert row["left_out"] == row["added"] == 0
        # the judge calls a few answers interchangeable that are worded differently
        assert row["highest"] - 0.01 < row["own_nearer"]["value"] <= row["highest"]
    assert report["documents"] == 8
    assert report["fitness"][-1]["asked"] == 8 * 14
    assert "100% of the way" in report["verdict"][0]
    listed = figures("--documents", "2", "--judge", "list", "--grader", "bundled/grader")
    assert listed["judge"].startswith("list(")
    assert listed["fitness"][-1]["same"] == 1
    assert Cache().counts()["ratings"] == {}, "a replay is not kept"


def test_a_replay_reads_the_same_in_all_wordings() -> None:
    report = figures("--rewordings", "--documents", "2", "--templates", "original,terse,full")
    assert report["verdict"] == ["bundled/grader gives the same scores in 3 wordings of the instruction."]
    assert len(set(report["readers"].values())) == 3
    assert {row["alpha"] for row in report["stability"]} == {1}
    asked = ["--rewordings", "--documents", "2", "--templates", "original,terse"]
    assert "by wording" in genie("check-reader", "--reader", "bundled/grader", *asked).output
