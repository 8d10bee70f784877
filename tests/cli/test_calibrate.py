import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.engines.embedding_server import EmbeddingServer, serving
from tests.scripted import grading

from genie_inspect.cli import main
from genie_inspect.files.folders import DATA
from genie_inspect.graders.cache import Cache
from genie_inspect.graders.vectors_judge import read_fit, shipped_fit

SECOND = "second_ratings.jsonl"


LIKELY = {"4": -0.2, "3": -1.8}  # natural log probabilities: 0.82 and 0.17


class Rater(BaseHTTPRequestHandler):
    """A server that rates 4 where the first answer is no longer than the other, else 1; as a token mostly 4."""

    calls = 0

    def do_POST(self) -> None:  # the standard library's name
        Rater.calls += 1
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/batch"):
            self.send_error(404)  # as a server without that endpoint
            return
        script = grading(rating=lambda answer, other: 4 if len(answer) <= len(other) else 1)
        reply = script.reply(request["messages"][-1]["content"]) if request.get("max_tokens") != 1 else "4"
        tops = [{"token": token, "logprob": value, "bytes": None} for token, value in LIKELY.items()]
        content = [{**tops[0], "top_logprobs": tops}]
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": reply},
            "finish_reason": "stop",
            "logprobs": {"content": content} if request.get("logprobs") else None,
        }
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        facts = {"id": "1", "object": "chat.completion", "created": 1, "model": "stub"}
        body = json.dumps({**facts, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  # the standard library's name
        """Be quiet."""


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    """What `vllm/...` asks."""
    running = ThreadingHTTPServer(("127.0.0.1", 0), Rater)
    Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("VLLM_BASE_URL", f"http://127.0.0.1:{running.server_port}/v1")
        yield
    running.shutdown()
    running.server_close()


def called(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["calibrate", *arguments])


def found(*arguments: str) -> Any:
    result = called(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


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


def test_judges_are_asked_for_the_pairs_of_a_ratings_file() -> None:
    report = found("--ratings", SECOND, "--grader", "bundled/grader", "--pairs", "96")
    assert list(report["raters"]) == ["second_ratings", "list(bundled/grader)", "pairwise(bundled/grader)"]
    assert report["pairs"] == 96
    conducts = {(one["rater"], one["feature"]): one for one in report["conducts"]}
    pairwise, listed = (conducts[f"{judge}(bundled/grader)", "all features"] for judge in ("pairwise", "list"))
    assert pairwise["swapped"]["value"] == 0  # a replay rates a pair alike in both orders
    assert pairwise["position"]["value"] is None
    assert listed["swapped"]["value"] is None
    assert listed["unusable"] == pairwise["unusable"] == 0


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


@pytest.mark.usefixtures("server")
def test_what_a_judge_said_is_kept_asked_anew_and_with_a_cache_not_asked_again() -> None:
    arguments = ("--judge", "pairwise", "--judge", "list", "--grader", "vllm/stub", "--pairs", "12")
    first = found(*arguments)
    kept = Cache().counts()["ratings"]
    assert sum(kept.values()) == 12 + 2 * 12  # pairwise in both orders
    before = Rater.calls
    found(*arguments)
    asked = Rater.calls - before
    assert asked >= 2 * 12
    again = found(*arguments, "--cache")
    assert Rater.calls - before == asked
    assert again["agreements"] == first["agreements"]


def test_a_table_says_why_pairs_came_to_no_rating(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (DATA / "starter" / SECOND).read_text(encoding="utf-8").splitlines()[:20]]
    # by the scale, 0 says that one of the two is no answer
    silent = tmp_path / "silent.jsonl"
    silent.write_text("".join(json.dumps(line | {"rating": 0}) + "\n" for line in lines[:1]), encoding="utf-8")
    with silent.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines[1:])
    shown = called("--ratings", str(silent), "--ratings", SECOND).stdout
    assert "unusable: 1 unspecified" in shown


def test_the_tables_name_raters_and_features() -> None:
    shown = called("--ratings", SECOND, "--grader", "bundled/grader", "--judge", "pairwise", "--pairs", "24").stdout
    assert "second_ratings and pairwise(bundled/grader)" in shown
    assert "social atmosphere" in shown
    assert "rating(a, b) less (b, a)" in shown
    assert "last less first of a list" not in shown
    assert (
        " ".join(shown.split())
        .split("A blank is not defined. ")[1]
        .startswith("second_ratings and pairwise(bundled/gr")
    )


def test_with_a_cache_nothing_is_said_of_positions_and_a_replay_is_not_kept() -> None:
    report = found("--ratings", SECOND, "--grader", "bundled/grader", "--judge", "list", "--pairs", "200", "--cache")
    assert {one["position"]["value"] for one in report["conducts"]} == {None}
    assert Cache().counts()["ratings"] == {}


def test_a_picture_is_written(tmp_path: Path) -> None:
    picture = tmp_path / "agreement.svg"
    assert called("--ratings", SECOND, "--ratings", "ratings.jsonl", "--picture", str(picture)).exit_code == 0
    assert picture.read_text().startswith("<svg")


def test_vectors_are_held_against_ratings_on_record_without_a_grader() -> None:
    report = found("--ratings", SECOND, "--judge", "vectors")
    assert report["raters"]["vectors(static)"].startswith("vectors(static@")
    whole = next(one for one in report["agreements"] if one["feature"] == "all features")
    assert whole["pairs"] > 300
    assert whole["tau"] > 0
    conduct = next(one for one in report["conducts"] if one["rater"] == "vectors(static)")
    assert conduct["swapped"]["value"] == 0


def test_a_fit_to_ratings_is_written_shown_and_judged_by(tmp_path: Path) -> None:
    file = tmp_path / "fit.json"
    report = found("--ratings", SECOND, "--fit-vectors", str(file))
    fit = read_fit(file)
    assert report["fit"] == fit.digest
    whole = report["features"]["all features"]
    assert (whole["pairs"], whole["answers"]) == (fit.pooled.pairs, fit.pooled.answers)
    # the fit that ships was made of other ratings, by another rater
    assert whole["kendall"] == pytest.approx(shipped_fit().pooled.kendall, abs=0.1)
    judge = f"vectors/{file}"
    judged = found("--ratings", SECOND, "--pairs", "48", "--judge", judge, "--judge", "vectors")
    assert fit.digest in judged["raters"][f"{judge}(static)"]


def test_a_second_fit_sends_no_answer_to_the_embedder_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def vector(text: str) -> tuple[float, ...]:
        return len(text) + 1.0, float(text.count("e"))

    with serving(EmbeddingServer(vector=vector)) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        fits = []
        for name in ("first.json", "second.json"):
            found("--ratings", SECOND, "--embedder", "openai/tiny", "--fit-vectors", str(tmp_path / name))
            fits.append(read_fit(tmp_path / name))
    assert fits[0] == fits[1]
    assert len(served.texts) == len(set(served.texts)) > 0


def test_the_table_of_a_fit_has_its_figures_by_feature(tmp_path: Path) -> None:
    result = called("--ratings", SECOND, "--fit-vectors", str(tmp_path / "fit.json"))
    assert "prompts held out" in result.stdout
    assert "social atmosphere" in result.stdout
    assert "Spearman" in result.stdout


@pytest.mark.usefixtures("server")
def test_a_fit_to_what_a_grader_says_needs_nobody_elses_ratings(tmp_path: Path) -> None:
    arguments = (
        "--judge",
        "list",
        "--grader",
        "vllm/stub",
        "--pairs",
        "96",
        "--fit-vectors",
        str(tmp_path / "fit.json"),
    )
    assert list(found(*arguments)["raters"]) == ["list(vllm/stub)"]
    assert read_fit(tmp_path / "fit.json").raters == ("list(vllm/stub)",)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--fit-vectors", "fit.json"), "name --ratings or --grader"),
        (("--fit-vectors", "fit.json", "--judge", "vectors", "--ratings", SECOND), "fits to ratings of others"),
        (("--fit-vectors", "fit.json", "--ratings", SECOND, "--pairs", "10"), "expected at least 30"),
        (("--fit-vectors", "nowhere/fit.json", "--ratings", SECOND), "nowhere/fit.json"),
        (("--judge", "vectors", "--embedder", "word2vec", "--ratings", SECOND), "'word2vec'"),
        (("--judge", "vectors", "--embedder", "openai/small", "--ratings", SECOND), "--fit-vectors"),
        (("--judge", "lists", "--grader", "bundled/grader"), "'lists', expected one of list, pairwise, logit"),
        (("--judge", "logit", "--grader", "bundled/grader"), "'bundled/grader', expected a provider with log"),
        (("--judge", "list"), "--grader <provider/model>"),
        (("--grader", "bundled/nobody"), "bundled/nobody"),
        (("--grader", "nobody/x"), "nobody/x"),
        ((), "nobody to agree with"),
        (("--ratings", SECOND), "nobody to agree with"),
        (("--ratings", "nowhere.csv"), "nowhere.csv does not exist"),
        (("--population", "nowhere"), "'nowhere'"),
        (("--reader", "me", "--grader", "bundled/grader"), "'me'"),
        (("--picture", "x.gif", "--grader", "bundled/grader"), "x.gif"),
        (("--population", "abstracts", "--grader", "bundled/grader"), "has no answers on record"),
    ],
)
def test_wrong_input_is_one_line_that_names_it(arguments: tuple[str, ...], named: str) -> None:
    result = called(*arguments)
    assert result.exit_code == 1, result.output
    assert named in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "named"), [("question,answer,rating\n", "has no column other"), ("{q},a,b,7\n", "'7'")]
)
def test_a_wrong_ratings_file_is_one_line_that_names_it(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "people.csv"
    header = "" if text.startswith("question") else "question,answer,other,rating\n"
    path.write_text(header + text.format(q="q-f5db896778de"))
    result = called("--ratings", str(path), "--grader", "bundled/grader")
    assert result.exit_code == 1
    assert str(path) in result.stderr
    assert named in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_the_raters_of_the_files_are_compared_together_and_with_each_judge() -> None:
    arguments = ("--ratings", SECOND, "--ratings", "ratings.jsonl", "--judge", "vectors")
    rows = {row["feature"]: row for row in found(*arguments)["people"]}
    # the alpha of both files over all features is in the data card; the judge by vectors is far below
    assert (rows["all features"]["pairs"], round(rows["all features"]["people_alpha"], 2)) == (1850, 0.88)
    assert rows["all features"]["judge_alpha"] < 0.6
    output = " ".join(called(*arguments, "--pairs", "48").output.split())
    assert "vectors(static) and 2 raters together" in output
    assert "tau with the mean: Kendall's tau-b" in output


def test_pairs_are_exported_for_people_and_no_rater_is_asked_for(tmp_path: Path) -> None:
    result = called("--pairs", "30", "--export", str(tmp_path / "ann.csv"))
    assert "pairs: 30" in result.output
    assert (tmp_path / "ann.md").is_file()
    again = called("--pairs", "30", "--export", str(tmp_path / "ann.csv"))
    assert again.exit_code == 1
    # filled in by nobody it is a file without a rating
    alone = called("--ratings", str(tmp_path / "ann.csv"), "--ratings", SECOND, "--json")
    assert {row["people_alpha"] for row in json.loads(alone.output)["people"]} == {None}
