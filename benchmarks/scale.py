"""From documents to scores at size: asked directly, through files, on a local Ray; and a cache of millions of ratings.

    python benchmarks/scale.py [--small] [--documents 500] [--imported 1000000] [--kept 10000000] [--only TABLE ...]

Each row is a process of its own. A stand-in replies in place of a grader, at once or after 200 ms, with 64
connections: what is measured is the harness. Documents and population are read and judged by `list`, and no two
documents give the same answer, so that equal answers save nothing.
"""

import argparse
import importlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from scaled import REPLY, Measured, Size, bytes_of, measured, serving

SMALL = {"documents": 6, "population": 4, "questions": 3, "imported": 400, "kept": 2_000}
TABLES = ("ways", "import", "cache")
FILE = "cache.sqlite"


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
    head("way", "wall s", "processor s", "peak MB", "pairs a second", "calls", "MB")
    sums = set()
    for latency in latencies:
        cache = f"direct-{latency:g}"
        options = {"latency": latency, "connections": connections}
        run = measured("scored", folder, cache, **options)
        sums.add(run.said["checksum"])
        label = f"direct, {f'{1000 * latency:.0f} ms' if latency else 'at once'}"
        size_mb = bytes_of(folder / cache) / 1e6
        line(label, run, rate(size, run.wall), f"{run.said['calls']:,}", f"{size_mb:.0f}")
    sums.add(through_files(folder, size, connections))
    if (on_rays := on_ray(folder, size, connections)) is not None:
        sums.add(on_rays)
    print(f"\nthe same scores: {'yes' if len(sums) == 1 else sums}\n", flush=True)


def rate(size: Size, seconds: float) -> str:
    """Pairs a second."""
    return f"{size.pairs / seconds:,.0f}"


def through_files(folder: Path, size: Size, connections: int) -> float:
    """Print the rows of the way through files; the sum of its scores."""
    runs = []
    for step in ("read", "judge"):
        run = measured("requests", folder, "files", round=step)
        runs.append(run)
        written = sorted(folder.glob(f"{step}*.jsonl"))
        line(f"... requests, {step}", run, "", f"{run.said['requests']:,} lines", f"{bytes_of(*written) / 1e6:.0f}")
        measured("answered", folder, "files", round=step)
        run = measured("imported", folder, "files", round=step)
        runs.append(run)
        replies = sorted(folder.glob(f"{step}*.replies"))
        line(f"... import, {step}", run, "", f"{run.said['kept']:,} kept", f"{bytes_of(*replies) / 1e6:.0f}")
    run = measured("scored", folder, "files", connections=connections)
    line("... score", run, "", f"{run.said['calls']:,}", f"{bytes_of(folder / 'files') / 1e6:.0f}")
    runs.append(run)
    wall, processor = sum(run.wall for run in runs), sum(run.processor for run in runs)
    whole = Measured({}, wall, processor, max(run.peak for run in runs))
    line("requests, import and score", whole, rate(size, wall), f"{run.said['calls']:,} in the run", "")
    return float(run.said["checksum"])


def on_ray(folder: Path, size: Size, connections: int) -> float | None:
    """Print the rows of a local Ray against a server that replies at once; the sum of its scores, where it is there."""
    try:
        importlib.import_module("ray")
        importlib.import_module("genie_inspect.batch.ray")
    except ImportError as error:
        print(f"| on a local Ray: left out, {error} | | | | | | |", flush=True)
        return None
    with serving() as url:
        asked = measured("on_a_ray", folder, "rays", url=url, connections=connections)
    line(
        "... both rounds on a local Ray",
        asked,
        "",
        f"{asked.said['asked']:,}",
        f"{bytes_of(folder / 'rays') / 1e6:.0f}",
    )
    run = measured("scored", folder, "rays", connections=connections)
    line("... score", run, "", f"{run.said['calls']:,}", "")
    wall, processor = asked.wall + run.wall, asked.processor + run.processor
    whole = Measured({}, wall, processor, max(asked.peak, run.peak))
    line("a local Ray, and score", whole, rate(size, wall), f"{run.said['calls']:,} in the run", "")
    return float(run.said["checksum"])


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
    with ThreadPoolExecutor() as both:
        imports = [both.submit(measured, "imported", folder, "shared", round="many") for _ in range(2)]
    for place, ended in enumerate(imports, start=1):
        run = ended.result()
        line(f"into one cache at once, process {place}: {run.said['kept']:,} new", run, "", "")
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
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("documents", 500), ("population", 50), ("questions", 17), ("connections", 64)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--imported", type=int, default=1_000_000, help="ratings")
    parser.add_argument("--kept", type=int, default=10_000_000, help="ratings")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds a reply takes, where it takes any")
    parser.add_argument("--only", nargs="*", default=TABLES, choices=TABLES)
    parser.add_argument("--small", action="store_true", help="everything once, in seconds")
    arguments = parser.parse_args()
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
    main()
