"""What the package costs a user who has Inspect already: start-up, and the demo's evaluation.

    python benchmarks/footprint.py

Each row is a process of its own; times are the best and the median of five.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 5
EVALUATION = """
from inspect_ai import eval
logs = eval("genie_inspect/synthetic_prompts", model=["bundled/ordinary", "bundled/inventive"], epochs=2,
            model_roles={"grader": "bundled/grader"}, display="none", log_dir="logs")
assert all(log.status == "success" for log in logs)
"""
ROWS = {
    "python -c pass": "pass",
    "import inspect_ai": "import inspect_ai",
    "  + import genie_inspect._registry": "import inspect_ai, genie_inspect._registry",
    "  + evaluation of 32 stories": EVALUATION,
}


def measured(code: str) -> tuple[list[float], float]:
    """Wall seconds of five runs, and the largest peak memory in MB."""
    seconds, peaks = [], []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            process = subprocess.Popen(
                [sys.executable, "-c", code], cwd=folder, env=os.environ | {"GENIE_CACHE_DIR": folder}
            )
            _, status, usage = os.wait4(process.pid, 0)
            seconds.append(time.perf_counter() - start)
            peaks.append(usage.ru_maxrss / 1024)
            if status:
                raise SystemExit(f"failed: {code}")
    return seconds, max(peaks)


def main() -> None:
    """Print the table."""
    print("| process | best s | median s | peak MB |")
    print("|:--|--:|--:|--:|")
    for label, code in ROWS.items():
        seconds, peak = measured(code)
        print(f"| {label} | {min(seconds):.2f} | {statistics.median(seconds):.2f} | {peak:.0f} |")


if __name__ == "__main__":
    main()
