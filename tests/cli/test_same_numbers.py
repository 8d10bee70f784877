"""One log, one number: summary, report and comparison say the same of it, and a mean that is worked out here."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.scorer import Score
from tests.cli.called import as_json
from tests.reports.made_logs import made_log, scored

from genie_inspect.files.tables import plain
from genie_inspect.files.values import number

KEYS = ("plot", "style")
SAME = ("cells", "nearest", "coverage", "pairs", "documents", "unscored", "faults", "warnings")
REASONS = ("refusal", "no_response", "the population has no questions for this prompt")
FAILED = "the sample failed before it was scored"
Json = dict[str, Any]


class Made(NamedTuple):
    prompt: str
    place: tuple[str, int]
    values: Mapping[str, float] | None  # None where the sample failed
    reason: str
    coverage: Mapping[str, tuple[int, int]]
    pairs: Mapping[str, tuple[int, int]]
    faults: Mapping[str, int]
    nearest: Mapping[str, float]

    @property
    def scores(self) -> dict[str, Score]:
        if self.values is None:
            return {}
        shares = {
            name: {key: f"{part}/{whole}" for key, (part, whole) in own.items()}
            for name, own in (("coverage", self.coverage), ("pairs", self.pairs))
        }
        reason = self.reason if all(map(math.isnan, self.values.values())) else None
        facts = {"faults": self.faults, "nearest_novelty": plain(self.nearest), **shares}
        return {"genie": scored(self.values, reason=reason, **facts)}


SHARES = st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, st.tuples(st.integers(0, 4), st.integers(4, 8))))
VALUES = st.fixed_dictionaries(dict.fromkeys(KEYS, st.floats(0, 1) | st.just(math.nan)))
FAULTS = st.dictionaries(st.sampled_from(("unreadable", "unspecified")), st.integers(1, 9))
EVIDENCE: list[st.SearchStrategy[Any]] = [st.sampled_from(REASONS), SHARES, SHARES, FAULTS, VALUES]


@st.composite
def logs(draw: st.DrawFn) -> list[Made]:
    """One to four prompts, each of one to three samples with up to three epochs that need not all be there."""
    made: list[Made] = []
    for prompt in range(draw(st.integers(1, 4))):
        for sample in range(draw(st.integers(1, 3))):
            for epoch in sorted(draw(st.sets(st.integers(1, 3), min_size=1))):
                values = draw(st.none() | VALUES) if made else draw(VALUES)
                place, rest = (f"sample {prompt} {sample}", epoch), [draw(part) for part in EVIDENCE]
                made.append(Made(f"Prompt {prompt}", place, values, *rest))
    return made


def written(folder: Path, made: Sequence[Made], model: str) -> str:
    prompts, places = [sample.prompt for sample in made], [sample.place for sample in made]
    return made_log(folder, [sample.scores for sample in made], model=model, prompts=prompts, places=places)


def by_summary(file: str) -> Json:
    (found,) = as_json("summary", file)
    (column,) = found["columns"]
    return {name: column[name] for name in SAME}


def by_report(file: str) -> Json:
    found = as_json("report", file, "--examples", 0)
    (run,), (measure,) = found["runs"], found["measures"]
    (row,) = measure["rows"]
    return {
        "cells": {key: cell["interval"] for key, cell in row.items()},
        "nearest": {key: cell["nearest"] for key, cell in row.items()},
        "coverage": {key: [cell["used"], cell["asked"]] for key, cell in row.items()},
        "pairs": {key: [cell["usable"], cell["due"]] for key, cell in row.items()},
        "documents": run["documents"],
        **{name: measure[name][0] for name in ("unscored", "faults", "warnings")},
    }


def by_comparison(file: str, other: str) -> tuple[Json, list[Json]]:
    found = as_json("compare", file, other, "--baseline", "mock/writer")
    (run,) = (run for run in found["runs"] if run["label"] == "mock/writer")
    results = run["measures"]["genie"]
    assert run["documents"] == results["documents"]
    assert run["unscored"] == results["unscored"]
    assert run["scored"] == run["documents"] - sum(run["unscored"].values())
    return {name: results[name] for name in SAME}, found["differences"]


def worked_out(made: Sequence[Made], key: str, what: str) -> float:
    """The mean of the prompts' means; tests/statistics has the interval."""
    means = []
    for prompt in dict.fromkeys(sample.prompt for sample in made):
        own = [getattr(sample, what)[key] for sample in made if sample.prompt == prompt and sample.values]
        means += [fmean(kept)] if (kept := [value for value in own if not math.isnan(value)]) else []
    return fmean(means) if means else math.nan


@settings(max_examples=40)
@given(logs())
def test_summary_report_and_comparison_say_the_same_of_a_log(made: list[Made]) -> None:
    with TemporaryDirectory() as name:
        file = written(Path(name) / "one", made, "mock/writer")
        same = written(Path(name) / "other", made, "mock/other")
        summary, report = by_summary(file), by_report(file)
        compared, differences = by_comparison(file, same)
    assert summary == report == compared

    failed = sum(sample.values is None for sample in made)
    silent = [s.reason for s in made if s.values and all(map(math.isnan, s.values.values()))]
    assert summary["unscored"] == Counter(silent) + Counter({FAILED: failed})
    assert summary["documents"] == len(made)
    present = [sample for sample in made if sample.values is not None]
    assert summary["faults"] == sum((Counter(sample.faults) for sample in present), Counter())
    for key in KEYS:
        for what, shown in (("values", "cells"), ("nearest", "nearest")):
            mean = number(summary[shown][key]["mean"])
            assert mean == pytest.approx(worked_out(made, key, what), nan_ok=True, abs=1e-6)
            # one prompt has no interval
            assert summary[shown][key]["low"] is None or len({sample.prompt for sample in made}) > 1
        for shares in ("coverage", "pairs"):
            own = [getattr(sample, shares).get(key, (0, 0)) for sample in present]
            assert summary[shares][key] == [sum(part for part, _ in own), sum(whole for _, whole in own)]
    # the same prompts are scored on both sides, so that a difference's means are those of the summaries
    for row in differences:
        mean = summary["cells"][row["key"]]["mean"]
        assert [number(row["before"]), number(row["after"])] == pytest.approx([number(mean)] * 2, nan_ok=True)
