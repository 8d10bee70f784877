"""One log, one number: what summary, report and comparison say of it is the same, and what is worked out here."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.scorer import Score
from scipy.stats import beta, norm, t
from tests.cli.called import as_json
from tests.reports.made_logs import made_log, scored

from genie_inspect.cli import main

called = as_json

KEYS = ("plot", "style")
SAME = ("cells", "nearest", "coverage", "pairs", "documents", "unscored", "faults", "warnings")
REASONS = ("refusal", "no_response", "the population has no questions for this prompt")
FAILED = "the sample failed before it was scored"
Json = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """A sample of a made log."""

    prompt: str
    place: tuple[str, int]
    values: Mapping[str, float] | None  # None where the sample failed
    reason: str
    coverage: Mapping[str, tuple[int, int]]
    pairs: Mapping[str, tuple[int, int]]
    faults: Mapping[str, int]
    nearest: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(KEYS, math.nan))

    @property
    def scores(self) -> dict[str, Score]:
        """What stands in the log."""
        if self.values is None:
            return {}
        silent = all(map(math.isnan, self.values.values()))
        shares: dict[str, Any] = {
            name: {key: f"{part}/{whole}" for key, (part, whole) in own.items()}
            for name, own in (("coverage", self.coverage), ("pairs", self.pairs))
        }
        return {
            "genie": scored(
                self.values,
                reason=self.reason if silent else None,
                faults=dict(self.faults),
                nearest_novelty={key: None if math.isnan(value) else value for key, value in self.nearest.items()},
                **shares,
            )
        }


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
    (found,) = called("summary", file)
    (column,) = found["columns"]
    return {name: column[name] for name in SAME}


def by_report(file: str) -> Json:
    found = called("report", file, "--examples", 0)
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
    found = called("compare", file, other, "--baseline", "mock/writer")
    (run,) = (run for run in found["runs"] if run["label"] == "mock/writer")
    results = run["measures"]["genie"]
    assert run["documents"] == results["documents"]
    assert run["unscored"] == results["unscored"]
    assert run["scored"] == run["documents"] - sum(run["unscored"].values())
    return {name: results[name] for name in SAME}, found["differences"]


def worked_out(made: Sequence[Made], key: str, what: str = "values") -> tuple[float, float, float]:
    """The mean of the prompts' means with its interval from 0 to 1; NaN where they are one, or do not vary."""
    means = []
    for prompt in dict.fromkeys(sample.prompt for sample in made):
        own = [getattr(sample, what)[key] for sample in made if sample.prompt == prompt and sample.values]
        means += [fmean(kept)] if (kept := [value for value in own if not math.isnan(value)]) else []
    if len(means) < 2 or math.isclose(min(means), max(means), rel_tol=1e-12, abs_tol=1e-12):
        return (means[0] if means else math.nan), math.nan, math.nan
    mean, count = fmean(means), len(means)
    error = math.sqrt(sum((own - mean) ** 2 for own in means) / (count - 1) / count)
    # a proportion of so many trials as have this error: counted, or the odds of the mean over those of a quantile
    counted, drawn = (
        mean * (1 - mean) * (norm.ppf(0.975) / t.ppf(0.975, degrees) / error) ** 2
        for degrees in (count - 1, max(count, 8) - 3)
    )
    odds = [
        (mean / (1 - mean)) ** 2 * (1 - end) / end for end in beta.ppf((0.975, 0.025), drawn * mean, drawn * (1 - mean))
    ]
    low = min(beta.ppf(0.025, counted * mean, counted * (1 - mean) + 1), odds[0] / (1 + odds[0]))
    high = max(beta.ppf(0.975, counted * mean + 1, counted * (1 - mean)), odds[1] / (1 + odds[1]))
    return mean, float(low), float(high)


def number(value: float | None) -> float:
    return math.nan if value is None else value


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
            cell = summary[shown][key]
            assert [number(cell[name]) for name in ("mean", "low", "high")] == pytest.approx(
                worked_out(made, key, what), nan_ok=True, abs=1e-6
            )
        for shares in ("coverage", "pairs"):
            own = [getattr(sample, shares).get(key, (0, 0)) for sample in present]
            assert summary[shares][key] == [sum(part for part, _ in own), sum(whole for _, whole in own)]
    # the same prompts are scored on both sides, so that a difference's means are those of the summaries
    for row in differences:
        mean = summary["cells"][row["key"]]["mean"]
        assert [number(row["before"]), number(row["after"])] == pytest.approx([number(mean)] * 2, nan_ok=True)


def test_several_samples_of_a_prompt_are_no_prompts_of_their_own(tmp_path: Path) -> None:
    # as in a log of leave_one_out: prompt means 0.2 and 0.6, error 0.2, t with one degree 12.7: all of 0 to 1
    made = [
        Made(f"Prompt {prompt}", (f"{prompt} {place}", 1), {"plot": value, "style": 0.5}, "", {}, {}, {})
        for prompt, values in ((0, (0.1, 0.2, 0.3)), (1, (0.6,)))
        for place, value in enumerate(values)
    ]
    file = written(tmp_path, made, "mock/writer")
    plot = by_summary(file)["cells"]["plot"]
    assert plot == by_report(file)["cells"]["plot"]
    assert plot["mean"] == pytest.approx(0.4)
    assert (plot["low"], plot["high"]) == (pytest.approx(0.0, abs=0.01), pytest.approx(1.0, abs=0.01))
    assert (plot["clusters"], plot["values"]) == (2, 4)


def test_there_is_no_interval_from_one_prompt_anywhere(tmp_path: Path) -> None:
    made = [Made("Prompt", (str(place), 1), {"plot": 0.1 * place, "style": 0.5}, "", {}, {}, {}) for place in range(5)]
    file, same = written(tmp_path / "one", made, "mock/writer"), written(tmp_path / "other", made, "mock/other")
    for cells in (by_summary(file)["cells"], by_report(file)["cells"], by_comparison(file, same)[0]["cells"]):
        assert cells["plot"]["mean"] == pytest.approx(0.2)
        assert (cells["plot"]["low"], cells["plot"]["high"]) == (None, None)
    assert "[" not in CliRunner().invoke(main, ["summary", file]).output


def test_means_of_a_comparison_are_over_the_prompts_that_both_runs_have(tmp_path: Path) -> None:
    def runs(values: Mapping[str, float], model: str) -> str:
        made = [Made(prompt, (prompt, 1), {"plot": v, "style": 0.5}, "", {}, {}, {}) for prompt, v in values.items()]
        return written(tmp_path / model.replace("/", "-"), made, model)

    file, other = runs({"a": 0.2, "b": 0.4, "c": 0.9}, "mock/writer"), runs({"a": 0.3, "b": 0.5}, "mock/other")
    facts, differences = by_comparison(file, other)
    assert facts["cells"]["plot"]["mean"] == pytest.approx(0.5) == by_summary(file)["cells"]["plot"]["mean"]
    (plot,) = (row for row in differences if row["key"] == "plot")
    assert (plot["pairs"], plot["before"], plot["after"]) == (2, pytest.approx(0.3), pytest.approx(0.4))
