"""What a judge mode costs: calls, tokens, time, log and memory, on one server and on a provider that answers at once.

    python benchmarks/judging.py [--base-url http://127.0.0.1:8124/v1] [--documents 3] [--only ROW ...]

Every row is a process of its own and rates the same documents: 17 questions a document, 50 answers a question that are
all distinct, so that equal answers save nothing; no cache. "published" is the study's protocol (arXiv 2606.12790): one
call a pair with a sentence of reason, temperature 0.7, top_p 0.9, at most 64 tokens; its wording is ours. The
rows on a server need a vLLM server at the URL; a model of random weights will do, whose words mean nothing and whose
speed is real. It knows no end of a sentence, so that rows "held to a sentence" constrain its replies to the length that
they would have; `list` and `sheet` are always held to their form on vLLM. With six ratings all 50 pairs count, of which
six are rated.
"""

import argparse
import json
import os
import re
import resource
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from bisect import bisect
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import anyio
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, Model, get_model
from judged import CALLS, POPULATION, PROMPT, QUESTIONS, SENT, Alone, Published, rating, setting, told

from genie_inspect.engines.embedders import StaticEmbedder, static_token_count
from genie_inspect.graders.embedding_judge import EmbeddingJudge, shipped_fit
from genie_inspect.graders.list_judge import ListJudge
from genie_inspect.graders.logit_judge import LogitJudge
from genie_inspect.graders.pairwise_judge import PairwiseJudge
from genie_inspect.graders.protocols import Judge
from genie_inspect.graders.sheet_judge import SheetJudge
from genie_inspect.prompting import forms
from genie_inspect.prompting.answers import normalised
from genie_inspect.prompting.templates import Template
from genie_inspect.providers.replay import starter_record
from genie_inspect.scorers.assessor import Assessor, Sampler


class AnswerFirst(Template):
    """Requests of `list` as they were before documents shared their beginning."""

    def request(self, data: Mapping[str, Any], **blanks: object) -> str:
        """The others come last."""
        return super().request({key: data[key] for key in ("question", "answer", "others")}, **blanks)


SENTENCE = {"structured_outputs": {"regex": r"[A-Z][a-z ]{60,100}\.\nRating: [0-4]"}}
LIST = ListJudge.instruction.template()
JUDGES: dict[str, Any] = {
    "published": Published,
    "list": ListJudge,
    "list, 25 a call": lambda model: ListJudge(model, chunk=25),
    "list, answer first": lambda model: ListJudge(model, AnswerFirst(LIST.name, LIST.text)),
    "sheet": SheetJudge,
    "pairwise": PairwiseJudge,
    "logit": LogitJudge,
    "Inspect alone, a call a pair": Alone,
}
HELD, SIX = ", held to a sentence", ", six ratings"
ON_SERVER = [
    "published",
    "published" + HELD,
    "list, answer first",
    "list",
    "list, 25 a call",
    "pairwise" + HELD,
    "logit",
]
ON_SERVER += ["list" + SIX, "sheet" + SIX]
AT_ONCE = ["list", "list, 25 a call", "sheet", "pairwise", "logit", "Inspect alone, a call a pair"]


def measured(mode: str, url: str, documents: int, side_by_side: int, folder: Path) -> dict[str, Any]:
    """One row: rate the documents in a mode, in this process."""
    held = mode.endswith(HELD)
    config = GenerateConfig(max_connections=64, extra_body=SENTENCE if held else None)
    model = get_model("vllm/tiny", base_url=url, config=config) if url else get_model("atonce/m", config=config)
    requests = _count_requests(model) if url else None
    population, reader = setting(folder, documents)
    features = [feature.name for feature in population.features]
    judge: Any = JUDGES[mode.removesuffix(HELD).removesuffix(SIX)](model)
    sampler = Sampler(6, StaticEmbedder()) if mode.endswith(SIX) else None
    if sampler:
        sampler.embedder.embed(["loads it"])
    if url:
        forms.RATINGS = "1234"  # random weights would often say 0, that a side says nothing, which is asked again
        # what the server's prefix cache knows from an earlier row must not help this one
        judge.template = replace(judge.template, text=f"{secrets.token_hex(2)}\n{judge.template.text}")
    task = Task(
        dataset=[Sample(input=text, id=number) for number, text in enumerate(reader.answers)],
        solver=told(),
        scorer=rating(Assessor(population, reader, judge, sampler=sampler), features),
    )
    # what the first evaluation of a process imports is no part of a judgment
    evaluate(
        Task(dataset=[Sample(input="")], solver=told()), model=model, log_dir=str(folder / "first"), display="none"
    )
    start, server_start, uncached_start = time.perf_counter(), server_seconds(url), uncached_tokens(url)
    (log,) = evaluate(task, model=model, log_dir=str(folder / "logs"), display="none", max_samples=side_by_side)
    seconds, server = time.perf_counter() - start, server_seconds(url) - server_start
    if log.status != "success" or not log.samples:
        raise SystemExit(f"{mode}: {log.error and log.error.message}")
    usage = log.stats.model_usage[str(model)]
    pairs = documents * QUESTIONS * POPULATION
    used = [sample.scores["rating"].metadata["pairs"].values() for sample in log.samples if sample.scores]  # type: ignore[index]
    usable, asked = (sum(int(share.split("/")[side]) for shares in used for share in shares) for side in (0, 1))
    return {
        "pairs": pairs,
        "calls": requests[0] if requests else CALLS[0],
        "in": usage.input_tokens + (usage.input_tokens_cache_read or 0),
        "uncached": uncached_tokens(url) - uncached_start,
        "out": usage.output_tokens,
        "seconds": seconds,
        "server": server,
        "log": Path(log.location).stat().st_size / documents,
        "usable": usable / asked,
    }


def _count_requests(model: Model) -> list[int]:
    """A counter of the requests that the model's client sends."""
    sent = [0]

    async def count(request: Any) -> None:
        sent[0] += request.method == "POST"

    api: Any = model.api
    anyio.run(api._ensure_server_started)
    api.http_client.event_hooks["request"].append(count)
    return sent


def uncached_tokens(url: str) -> float:
    """Input tokens so far that a vLLM server's prefix cache lacked, by its own counters."""
    if not url:
        return 0.0
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/metrics", timeout=10) as reply:
        text = reply.read().decode()
    queries, hits = (
        sum(map(float, re.findall(rf"^vllm:prefix_cache_{name}_total\{{[^\n]*\}} (\S+)$", text, re.MULTILINE)))
        for name in ("queries", "hits")
    )
    return queries - hits


def server_seconds(url: str) -> float:
    """Processor seconds of the server's processes so far, where it runs on this machine and may be looked at; else 0.

    Wall time on a machine that others use as well says little; this says what a judgment costs the server.
    """
    import psutil

    port = int(url.split(":")[2].split("/")[0]) if url.count(":") == 2 else 0
    for found in psutil.net_connections("tcp"):
        if found.status == psutil.CONN_LISTEN and found.laddr and found.laddr.port == port and found.pid:
            own = psutil.Process(found.pid)
            times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
            return float(sum(spent.user + spent.system for spent in times))
    return 0.0


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/models", timeout=5) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def row(mode: str, url: str, documents: int, side_by_side: int) -> dict[str, Any]:
    """The same as `measured`, from a process of its own, with its peak memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--row", mode, "--base-url", url, "--documents", str(documents)]
        command += ["--side-by-side", str(side_by_side)]
        environment = os.environ | {"GENIE_CACHE_DIR": folder, "VLLM_BASE_URL": url}
        process = subprocess.Popen([*command, "--folder", folder], stdout=subprocess.PIPE, env=environment)
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"failed: {mode}")
    found: dict[str, Any] = json.loads(said)
    return found | {"peak": usage.ru_maxrss / 1024}


def table(modes: Sequence[str], url: str, documents: int, side_by_side: int) -> None:
    """Print a row a mode; tokens of a provider that answers at once mean nothing."""
    columns = ["mode", "pairs", "calls", "tokens in a pair", "not in the prefix cache", "out a pair"]
    columns += ["wall s", "documents a minute" if url else "pairs a second"]
    columns += ["server's processor ms a pair", "log KB a document", "peak MB", "usable"]
    print("|", " | ".join(columns), "|")
    print("|:--" + "|--:" * (len(columns) - 1) + "|")
    for mode in modes:
        got = row(mode, url, documents, side_by_side)
        tokens = [f"{got[way] / got['pairs']:.1f}" if url else "" for way in ("in", "uncached", "out")]
        rate = 60 * documents / got["seconds"] if url else got["pairs"] / got["seconds"]
        speed = f"{rate:,.0f}" if rate > 100 else f"{rate:.1f}"
        cost = f"{1000 * got['server'] / got['pairs']:.0f}" if url else ""
        print(
            f"| {mode} | {got['pairs']:,} | {got['calls']:,} | {' | '.join(tokens)} | {got['seconds']:.1f} "
            f"| {speed} | {cost} | {got['log'] / 1000:.0f} | {got['peak']:.0f} "
            f"| {got['usable']:.0%} |",
            flush=True,
        )
    print()


def sizes(folder: Path) -> None:
    """Print what one document asks of the grader: calls, characters and the bundled tokenizer's tokens."""
    population, reader = setting(folder, 1)
    (text,) = reader.answers
    model, embedder = get_model("atonce/m"), StaticEmbedder()
    made: dict[str, tuple[Judge, Sampler | None]] = {
        "published": (Published(model), None),
        "list": (ListJudge(model), None),
        "list" + SIX: (ListJudge(model), Sampler(6, embedder)),
        "sheet": (SheetJudge(model), None),
        "sheet" + SIX: (SheetJudge(model), Sampler(6, embedder)),
    }
    counts = ("calls", "characters in", "characters out", "tokens in", "tokens out")
    print("| one document |", " | ".join(counts), "| tokens in and out, of published |")
    print("|:--" + "|--:" * (len(counts) + 1) + "|")
    whole = 0
    for name, (judge, sampler) in made.items():
        SENT.clear()
        anyio.run(Assessor(population, reader, judge, sampler=sampler).assess, text, PROMPT)
        lengths = [sum(map(size, side)) for size in (len, static_token_count) for side in zip(*SENT, strict=True)]
        whole = whole or sum(lengths[2:])
        shown = " | ".join(f"{count:,}" for count in (len(SENT), *lengths))
        print(f"| {name} | {shown} | 1/{whole / sum(lengths[2:]):.0f} |")
    print()


def growth(judge: str, size: int) -> tuple[int, float, float]:
    """Of a document against so many answers a question: calls, our own milliseconds, the peak of the process in MB."""
    model, embedder = get_model("atonce/m"), StaticEmbedder()
    with tempfile.TemporaryDirectory() as folder:
        population, reader = setting(Path(folder), 4, size)
        features = [feature.name for feature in population.features]
        made: dict[str, tuple[Judge, Sampler | None]] = {
            "list": (ListJudge(model), None),
            "sheet" + SIX: (SheetJudge(model), Sampler(6, embedder)),
            "embedding": (EmbeddingJudge(embedder, shipped_fit(), features), None),
        }
        assessor = Assessor(population, reader, made[judge][0], sampler=made[judge][1])
        first, *others = reader.answers
        # the answers of the population are read and turned into vectors once
        anyio.run(assessor.assess, first, PROMPT)
        calls, start = CALLS[0], time.perf_counter()
        for text in others:
            anyio.run(assessor.assess, text, PROMPT)
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (CALLS[0] - calls) // len(others), 1000 * seconds / len(others), peak


def growing() -> None:
    """Print what a document costs as the population grows."""
    print("| answers a question | judge | calls a document | own ms a document | peak MB |")
    print("|--:|:--|--:|--:|--:|")
    for size in (50, 1_000, 10_000):
        for judge in ("list", "sheet" + SIX, *(["embedding"] if size <= 1_000 else [])):  # of more it takes minutes
            with ProcessPoolExecutor(1, get_context("spawn")) as alone:
                calls, spent, peak = alone.submit(growth, judge, size).result()
            print(f"| {size:,} | {judge} | {calls:,} | {spent:,.0f} | {peak:.0f} |", flush=True)
    print()


def beginnings(folder: Path, documents: int = 50) -> None:
    """Print how much of the requests about several documents is the beginning of an earlier one."""
    population, reader = setting(folder, documents)
    model, embedder = get_model("atonce/m"), StaticEmbedder()
    print("| 50 documents | calls | characters in | begun by an earlier request |")
    print("|:--|--:|--:|--:|")
    for name, sampler in (("list", None), ("list" + SIX, Sampler(6, embedder))):
        SENT.clear()
        assessor = Assessor(population, reader, ListJudge(model), sampler=sampler)
        for text in reader.answers:
            anyio.run(assessor.assess, text, PROMPT)
        requests = [request for request, _ in SENT]
        # the longest common beginning is with a neighbour in the alphabet
        places: list[tuple[str, int]] = []
        shared = 0
        for place, request in enumerate(requests):
            at = bisect(places, (request, place))
            shared += max((common(request, near) for near, _ in places[max(at - 1, 0) : at + 1]), default=0)
            places.insert(at, (request, place))
        whole = sum(map(len, requests))
        print(f"| {name} | {len(requests):,} | {whole:,} | {shared / whole:.1%} |")
    print()


def common(one: str, other: str) -> int:
    """Characters at the beginning that two texts have in common."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def repeated_answers() -> None:
    """Print how many of the starter population's answers to a question are distinct, by the size of the population."""
    population = starter_record().population
    (reader,) = population.readers
    answers = population.answers(reader)
    print("| stories of the starter population | answers | distinct | judged once saves |")
    print("|--:|--:|--:|--:|")
    for size in (3, 6, 12):
        given = distinct = 0
        for prompt in population.prompts:
            for question in population.questions(prompt):
                texts = [answers[story.id, question.id] for story in population.documents(prompt)[:size]]
                given += sum(text is not None for text in texts)
                distinct += len({normalised(text) for text in texts if text is not None})
        print(f"| {size} | {given} | {distinct} | {1 - distinct / given:.1%} |")
    print()


def main() -> None:
    """Print the tables, or one row as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", default="http://127.0.0.1:8124/v1")
    parser.add_argument("--documents", type=int, default=3, help="on the server; a hundred at once")
    parser.add_argument("--side-by-side", type=int, default=8, help="documents judged at the same time")
    parser.add_argument("--only", nargs="*", choices=ON_SERVER, help="these rows on the server and nothing else")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.row:
        asked = (arguments.row, arguments.base_url, arguments.documents, arguments.side_by_side, arguments.folder)
        print(json.dumps(measured(*asked)))
        return
    if not arguments.only:
        with tempfile.TemporaryDirectory() as folder:
            sizes(Path(folder) / "one")
            beginnings(Path(folder) / "many")
        repeated_answers()
        growing()
        table(AT_ONCE, "", 100, arguments.side_by_side)
    if _answers(arguments.base_url):
        table(arguments.only or ON_SERVER, arguments.base_url, arguments.documents, arguments.side_by_side)
    else:
        print(f"skipped: no server at {arguments.base_url}")


if __name__ == "__main__":
    main()
