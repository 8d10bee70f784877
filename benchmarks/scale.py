"""From documents to scores at size: asked directly, through files, on a local Ray; and a cache of millions of ratings.

    python benchmarks/scale.py [--small] [--documents 500] [--imported 1000000] [--kept 10000000] [--only TABLE ...]

Each row is a process of its own. A stand-in replies in place of a grader, at once or after 200 ms, with 64
connections: what is measured is the harness. Documents and population are read and judged by `list`, and no two
documents give the same answer, so that equal answers save nothing.
"""

import argparse
import importlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from inspect_ai import score
from inspect_ai.log import read_eval_log
from inspect_ai.model import GenerateConfig, get_model
from scaled import CALLS, Measured, Size, answer_file, bytes_of, measured, write_setting

from genie_inspect.cli import main as genie_command
from genie_inspect.costs.engines import Engine
from genie_inspect.costs.estimate import Known
from genie_inspect.costs.plan import step_seconds, steps
from genie_inspect.costs.studies import Study, study_cost
from genie_inspect.judges.cache import FILE, Cache, Judged
from genie_inspect.judges.instrument import Instrument
from genie_inspect.judges.list_judge import LIST, list_request
from genie_inspect.populations.catalogue import open_population
from genie_inspect.scale.shards import Plan, shards, write_plan
from genie_inspect.scale.walk import request_id
from genie_inspect.scorers.genie import genie

GRADER, JUDGE = "standin/m", "list(standin/m@0123456789ab,chunk=50,template=0123456789ab)"
SMALL = {"documents": 6, "population": 4, "questions": 3, "imported": 400, "kept": 2_000}
OTHERS, REPLY = 50, 10  # ratings of an answer; ratings in a reply that is imported
LOOKED_UP = 200  # documents
TABLES = ("ways", "import", "cache")
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
    missing = sum(value != value for value in values)
    return {"calls": CALLS[0], "seconds": seconds, "missing": missing, "checksum": round(sum(map(float, values)), 9)}


def requests(folder: Path, options: Options) -> Options:
    """A step's requests in files."""
    first = folder / f"{options['round']}.jsonl"
    found = said(
        "requests", folder / "told.eval", "--population", folder / "population", "--grader", GRADER,
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


def many_requests(folder: Path, options: Options) -> Options:
    """Requests for as many ratings as are to be imported."""
    first, template = folder / "many.jsonl", LIST.instruction.template()
    others = [f"the other thing that number {number} is about" for number in range(REPLY)]
    with shards(first, 1_000_000, new=False) as files:
        for number in range(options["ratings"] // REPLY):
            text = list_request(template, f"What is said of {number % 17}?", f"what document {number} says", others)
            body = json.dumps({"messages": [{"role": "user", "content": text}], "model": "m"})
            files.write(request_id(JUDGE, "judge", body), body)
    names = tuple(file.name for file in files.files)
    write_plan(first, Plan(step="judge", judge="list", grader=GRADER, signature=JUDGE, files=names))
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
                    cache.keep_ratings(JUDGE, question, answer, ratings)
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
        sizes = {len(cache.ratings(JUDGE, question, answer)) for question, answer in asked_of(document)}
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
        many_requests,
        filled,
        looked_up,
        exported,
        merged,
        counted,
    )
}


def head(*columns: str) -> None:
    """The first two lines of a table."""
    print("|", " | ".join(columns), "|")
    print("|:--" + "|--:" * (len(columns) - 1) + "|", flush=True)


def line(label: str, run: Measured, *cells: str) -> None:
    """A row."""
    print(f"| {label} | {run.wall:.1f} | {run.processor:.1f} | {run.peak:.0f} |", " | ".join(cells), "|", flush=True)


def ways(folder: Path, size: Size, connections: int, latencies: list[float]) -> None:
    """Print the ways side by side; all must come to the same scores."""
    measured("setting", folder, "none", size=asdict(size))
    print(f"{size.documents:,} documents x {size.population} x {size.questions} questions: {size.pairs:,} pairs\n")
    head("way", "wall s", "processor s", "peak MB", "pairs a second", "calls", "MB", "foretold s")
    sums = set()
    for latency in latencies:
        cache = f"direct-{latency:g}"
        run = measured("scored", folder, cache, latency=latency, connections=connections)
        sums.add(run.said["checksum"])
        label = f"direct, {f'{1000 * latency:.0f} ms' if latency else 'at once'}"
        size_mb = bytes_of(folder / cache) / 1e6
        line(
            label,
            run,
            rate(size, run.wall),
            f"{run.said['calls']:,}",
            f"{size_mb:.0f}",
            foretold(folder, size, latency, connections),
        )
    sums.add(through_files(folder, size, connections))
    on_ray(size)
    print(f"\nthe same scores: {'yes' if len(sums) == 1 else sums}\n", flush=True)


def rate(size: Size, seconds: float) -> str:
    """Pairs a second."""
    return f"{size.pairs / seconds:,.0f}"


def foretold(folder: Path, size: Size, latency: float, connections: int) -> str:
    """Seconds by the model of `genie cost --study`, from what it expects to be asked."""
    task = study_cost(Study(size.documents), open_population(folder / "population"), Instrument(), Known())
    engine = Engine(name="standin", latency=latency, connections=connections)
    return f"{sum(sum(step_seconds(*step, engine).values()) for step in steps(task)):.1f}"


def through_files(folder: Path, size: Size, connections: int) -> float:
    """Print the rows of the way through files; the sum of its scores."""
    runs = []
    for step in ("read", "judge"):
        run = measured("requests", folder, "files", round=step)
        runs.append(run)
        written = sorted(folder.glob(f"{step}*.jsonl"))
        line(f"... requests, {step}", run, "", f"{run.said['requests']:,} lines", f"{bytes_of(*written) / 1e6:.0f}", "")
        measured("answered", folder, "files", round=step)
        run = measured("imported", folder, "files", round=step)
        runs.append(run)
        replies = sorted(folder.glob(f"{step}*.replies"))
        line(f"... import, {step}", run, "", f"{run.said['kept']:,} kept", f"{bytes_of(*replies) / 1e6:.0f}", "")
    run = measured("scored", folder, "files", connections=connections)
    line("... score", run, "", f"{run.said['calls']:,}", f"{bytes_of(folder / 'files') / 1e6:.0f}", "")
    runs.append(run)
    wall, processor = sum(run.wall for run in runs), sum(run.processor for run in runs)
    whole = Measured({}, wall, processor, max(run.peak for run in runs))
    line("requests, import and score", whole, rate(size, wall), f"{run.said['calls']:,} in the run", "", "")
    return float(run.said["checksum"])


def on_ray(size: Size) -> None:
    """Print the row of a local Ray, or why there is none."""
    try:
        importlib.import_module("ray")
        importlib.import_module("genie_inspect.scale.ray")
    except ImportError as error:
        print(f"| Ray, local: left out, {error} | | | | | | | |", flush=True)


def importing(folder: Path, ratings: int) -> None:
    """Print what it takes to import so many ratings."""
    measured("many_requests", folder, "imported", ratings=ratings)
    measured("answered", folder, "imported", round="many")
    head(
        f"{ratings:,} ratings in {ratings // REPLY:,} replies",
        "wall s",
        "processor s",
        "peak MB",
        "MB of replies",
        "MB of cache",
    )
    run = measured("imported", folder, "imported", round="many")
    sizes = [f"{bytes_of(path) / 1e6:.0f}" for path in (folder / "many.replies", folder / "imported" / FILE)]
    line("import", run, *sizes)
    line("the same again", measured("imported", folder, "imported", round="many"), "", "")
    print()


def kept(folder: Path, ratings: int) -> None:
    """Print what a cache of so many ratings takes."""
    head(f"{ratings:,} ratings", "wall s", "processor s", "peak MB", "bytes a rating", "ms a document (median, most)")
    run = measured("filled", folder, "kept", ratings=ratings)
    size = bytes_of(folder / "kept" / FILE)
    line("put on record", run, f"{size / ratings:.0f}", "")
    run = measured("looked_up", folder, "kept", ratings=ratings)
    line("look-ups", run, "", f"{run.said['median']:.1f}, {run.said['most']:.1f}")
    line("info", measured("counted", folder, "kept"), "", "")
    line("export", measured("exported", folder, "kept"), f"{bytes_of(folder / 'export.jsonl') / ratings:.0f}", "")
    (folder / "export.jsonl").unlink()
    run = measured("merged", folder, "joined")
    line("merge into an empty one", run, f"{bytes_of(folder / 'joined' / FILE) / ratings:.0f}", "")
    print()


def main() -> None:
    """Print the tables, or run one step and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("documents", 500), ("population", 50), ("questions", 17), ("connections", 64)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--imported", type=int, default=1_000_000, help="ratings")
    parser.add_argument("--kept", type=int, default=10_000_000, help="ratings")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds a reply takes, where it takes any")
    parser.add_argument("--only", nargs="*", default=TABLES, choices=TABLES)
    parser.add_argument("--small", action="store_true", help="everything once, in seconds")
    for hidden in ("--step", "--folder", "--options"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        print(json.dumps(STEPS[arguments.step](Path(arguments.folder), json.loads(arguments.options))))
        return
    if arguments.small:
        parser.set_defaults(**SMALL)
        arguments = parser.parse_args()
    size = Size(arguments.documents, arguments.population, arguments.questions)
    tables = {
        "ways": lambda folder: ways(folder, size, arguments.connections, [0.0, arguments.latency]),
        "import": lambda folder: importing(folder, arguments.imported),
        "cache": lambda folder: kept(folder, arguments.kept),
    }
    for name in arguments.only:
        with tempfile.TemporaryDirectory() as folder:
            tables[name](Path(folder))


if __name__ == "__main__":
    sys.exit(main())
