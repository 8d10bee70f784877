"""The steps of benchmarks/scale.py, each run in a process of its own: no script to call by itself."""

import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from inspect_ai import score
from inspect_ai.log import read_eval_log
from inspect_ai.model import GenerateConfig, get_model
from scaled import CALLS, REPLY, Size, answer_file, write_setting

from genie_inspect.batch.shards import Plan, shards
from genie_inspect.batch.walk import request_id
from genie_inspect.cli import main as genie_command
from genie_inspect.graders.cache import RATINGS, Cache, Judged
from genie_inspect.graders.list_judge import LIST, list_request
from genie_inspect.scorers.genie import genie

GRADER, JUDGE = "standin/m", "list(standin/m@0123456789ab,chunk=50,template=0123456789ab)"
OTHERS = 50  # ratings of an answer
LOOKED_UP = 200  # documents
Options = dict[str, Any]


def called(*arguments: object) -> str:
    """What a verb of `genie` prints."""
    done = CliRunner().invoke(genie_command, [*map(str, arguments)], catch_exceptions=False)
    if done.exit_code:
        raise SystemExit(done.output)
    return done.stdout


def said(*arguments: object) -> Any:
    """What a verb of `genie` says as JSON."""
    return json.loads(called(*arguments, "--json"))


def setting(folder: Path, options: Options) -> Options:
    """The population and the log."""
    write_setting(folder, Size(**options["size"]))
    return {}


def scored(folder: Path, options: Options) -> Options:
    """Ordinary scoring of the log; how many calls it made, and the bytes of its log."""
    grader = get_model(GRADER, config=GenerateConfig(max_connections=options["connections"]))
    log = read_eval_log(str(folder / "told.eval"))
    start = time.perf_counter()
    done = score(log, genie(str(folder / "population")), model_roles={"grader": grader}, display="none")
    seconds = time.perf_counter() - start
    values = [value for sample in done.samples or [] for value in (sample.scores or {})["genie"].value.values()]  # type: ignore[union-attr]
    usable = [value for value in values if isinstance(value, float) and not math.isnan(value)]
    sums = {"missing": len(values) - len(usable), "checksum": round(sum(usable), 9)}
    return {"calls": CALLS[0], "seconds": seconds, **sums}


def requests(folder: Path, options: Options) -> Options:
    """A step's requests in files."""
    first = folder / f"{options['round']}.jsonl"
    found = said(
        "batch", "requests", folder / "told.eval", "--population", folder / "population", "--grader", GRADER,
        "--step", options["round"], "-o", first,
    )  # fmt: skip
    return {"requests": found["requests"]}


def answered(folder: Path, options: Options) -> Options:
    """The engine's part, which is no work of ours."""
    for requested in sorted(folder.glob(f"{options['round']}*.jsonl")):
        answer_file(requested, requested.with_suffix(".replies"))
    return {}


def imported(folder: Path, options: Options) -> Options:
    """A step's replies into the cache."""
    replies = sorted(folder.glob(f"{options['round']}*.replies"))
    found = said("cache", "import", *replies, "--requests", folder / f"{options['round']}.jsonl")
    if found["missing"] or found["faults"] or found["unreadable"]:
        raise SystemExit(f"the import lost something: {found}")
    return {"kept": sum(found["kept"].values())}


def on_a_ray(folder: Path, options: Options) -> Options:
    """Both rounds as one job of Ray, asked of a server."""
    done = said(
        "batch", "rounds", folder / "told.eval", "--population", folder / "population", "--grader", GRADER,
        "--url", options["url"], "--connections", options["connections"], "-o", folder / "replies",
    )  # fmt: skip
    if done["left_to_read"] or done["left_to_judge"]:
        raise SystemExit(f"something is left: {done}")
    return {"asked": sum(1 for file in (folder / "replies").rglob("*.jsonl") for _ in file.open())}


def many_requests(folder: Path, options: Options) -> Options:
    """Requests for as many ratings as are to be imported."""
    first, template = folder / "many.jsonl", LIST.instruction.template()
    others = [f"the other thing that number {number} is about" for number in range(REPLY)]
    plan = Plan(step="judge", judge="list", grader=GRADER, signature=JUDGE)
    with shards(first, plan, 1_000_000) as files:
        for number in range(options["ratings"] // REPLY):
            text = list_request(template, f"What is said of {number % 17}?", f"what document {number} says", others)
            body = json.dumps({"messages": [{"role": "user", "content": text}], "model": "m"})
            files.write(request_id(JUDGE, "judge", body), body)
    return {}


def filled(folder: Path, options: Options) -> Options:
    """A cache of as many ratings, in the order in which documents come."""
    cache, per_document = Cache(), 17 * OTHERS
    for start in range(0, options["ratings"] // per_document, 100):
        with cache.together():
            for document in range(start, min(start + 100, options["ratings"] // per_document)):
                for question, answer in asked_of(document):
                    chance = random.Random(answer)
                    ratings = {
                        f"what story {other} says of it": Judged(float(chance.randint(1, 4))) for other in range(OTHERS)
                    }
                    cache.keep(RATINGS, (JUDGE, question, answer), ratings)
    cache.close()
    return {}


def asked_of(document: int) -> Iterator[tuple[str, str]]:
    """The questions about a document, and its answers, in no order."""
    for question in range(17):
        digits = random.Random(document * 17 + question).randrange(10**9)
        yield f"What does the story tell of matter {question}, and in which words?", f"the thing numbered {digits}"


def looked_up(folder: Path, options: Options) -> Options:
    """How long the look-ups of some documents take, each document's all at once; the slowest is the first, mostly."""
    cache, documents = Cache(), options["ratings"] // (17 * OTHERS)
    chosen = random.Random(0).sample(range(documents), min(LOOKED_UP, documents))
    seconds = []
    for document in chosen:
        start = time.perf_counter()
        sizes = {len(cache.found(RATINGS, (JUDGE, question, answer))) for question, answer in asked_of(document)}
        seconds.append(time.perf_counter() - start)
        if sizes != {OTHERS}:
            raise SystemExit(f"document {document} has {sizes} ratings")
    seconds.sort()
    return {"median": 1000 * seconds[len(seconds) // 2], "most": 1000 * seconds[-1]}


def exported(folder: Path, options: Options) -> Options:
    """The cache as JSON Lines."""
    called("cache", "export", folder / "export.jsonl")
    return {}


def merged(folder: Path, options: Options) -> Options:
    """The cache added to an empty one."""
    return {"kept": said("cache", "merge", folder / "kept")["kept"]["ratings"]}


def counted(folder: Path, options: Options) -> Options:
    """What `genie cache info` says."""
    return {"ratings": sum(said("cache", "info")["ratings"].values())}


STEPS: dict[str, Callable[[Path, Options], Options]] = {
    step.__name__: step
    for step in (
        setting,
        scored,
        requests,
        answered,
        imported,
        on_a_ray,
        many_requests,
        filled,
        looked_up,
        exported,
        merged,
        counted,
    )
}

if __name__ == "__main__" and len(sys.argv) == 4:
    print(json.dumps(STEPS[sys.argv[1]](Path(sys.argv[2]), json.loads(sys.argv[3]))))
