"""Readers against experts, and experts among themselves, on passages that can be counted by hand."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import Score
from tests.cli.called import as_json, genie, lines_of
from tests.reports.made_logs import made_log, scored

from genie_inspect.graders.close_reader import PassagesError
from genie_inspect.studies.close_reading.readers import (
    EXPERT,
    AspectAgreement,
    agreement_by_aspect,
    batch_kappa,
    passages_with,
)

TIDE = "The tide folded its letters, and went home; nobody minded the lamps."
SALT = "A bell of salt, he said. It rang by itself, for a while."


def passage(text: str, experts: Any, readers: Any = None, batch: str = "1") -> dict[str, Any]:
    return {"text": text, "batch": batch, "experts": experts, "readers": readers or {}}


def written(folder: Path, *rows: Mapping[str, Any]) -> Path:
    return lines_of(folder / "passages.jsonl", rows)


PASSAGES = (
    passage(
        TIDE,
        {"ann": {"novel": ["folded its letters"]}, "bob": {"novel": ["tide folded its letters", "minded the lamps"]}},
        {"m": {"novel": ["folded its letters", "went home", "a moon of glass"]}, "all": {"novel": [TIDE]}},
    ),
    passage(
        SALT,
        {"ann": {"novel": []}, "bob": {"novel": []}},
        {"m": {"novel": ["bell of salt"]}, "all": {"novel": [SALT]}},
        "2",
    ),
)


def held(folder: Path, *rows: Mapping[str, Any], logs: Sequence[str] = (), resamples: int = 20) -> AspectAgreement:
    return agreement_by_aspect(passages_with(written(folder, *(rows or PASSAGES)), logs), resamples)["novel"]


def test_a_reader_is_held_against_what_any_expert_marks_and_each_expert_against_the_others(tmp_path: Path) -> None:
    found = held(tmp_path, resamples=200)
    reader = found.readers["m"]
    # experts: "tide folded its letters" (with ann's inside of it) and "minded the lamps"; m quotes four, one of them
    # invented ("a moon of glass"), and one is right
    assert (reader.passages, reader.marks, reader.invented, reader.gold) == (2, 3, 1, 2)
    published, strict = reader.rules["published"], reader.rules["strict"]
    assert published["precision"].value == pytest.approx(1 / 4)
    assert published["recall"].value == pytest.approx(1 / 2)
    assert published["f1"].value == pytest.approx(2 * 1 / (2 * 1 + 3 + 1))
    # 3 of 3 and 3 of 4 words: 6/7 of one mark
    assert strict["precision"].value == pytest.approx(6 / 7 / 4)
    assert strict["recall"].value == pytest.approx(6 / 7 / 2)
    # the bootstrap draws passages: of the first alone 1 of 3 is right, of the second none
    assert (published["precision"].low, published["precision"].high) == pytest.approx((0, 1 / 3))
    # each expert against the others: ann's one mark is bob's; of bob's two one is ann's
    experts = found.readers[EXPERT]
    assert (experts.marks, experts.gold) == (3, 3)
    assert [experts.rules["published"][name].value for name in ("precision", "recall")] == pytest.approx([2 / 3] * 2)
    # batches: agreed on two of three expressions, 2 * 2/3 - 1, and on all four
    kappa = found.kappa
    assert (kappa.batches, kappa.units) == (2, 7)
    assert (kappa.mean, kappa.spread) == pytest.approx(((1 / 3 + 1) / 2, 1 / 3))


def test_a_reader_who_invents_quotes_is_less_precise_and_finds_no_less(tmp_path: Path) -> None:
    # one right quote, and nine that do not stand in the passage: one holds an expert's mark, one is given twice
    invented = [f"a moon of {thing}" for thing in ("glass", "tin", "salt", "ash", "wax", "rope", "chalk", "bone")]
    quotes = ["folded its letters", "nobody folded its letters", *invented, invented[0]]
    row = passage(TIDE, {"ann": {"novel": ["folded its letters"]}}, {"m": {"novel": quotes}})
    reader = held(tmp_path, row).readers["m"]
    assert (reader.marks, reader.invented) == (1, 9)
    for figures in reader.rules.values():
        assert (figures["precision"].value, figures["recall"].value) == (1 / 10, 1)


def test_kappa_without_a_second_expert_is_no_number(tmp_path: Path) -> None:
    alone = held(tmp_path, passage(TIDE, {"ann": {"novel": []}}))
    assert math.isnan(alone.kappa.mean)
    assert EXPERT not in alone.readers
    assert math.isnan(batch_kappa([("1", 0, 1)]).mean)


def test_a_reader_of_some_passages_is_held_against_the_experts_on_these(tmp_path: Path) -> None:
    unread = passage(SALT, {"ann": {"novel": ["rang by itself"], "awkward": []}}, {"m": {"awkward": []}})
    found = agreement_by_aspect(passages_with(written(tmp_path, PASSAGES[0], unread)), 20)
    assert found["novel"].readers["m"].passages == 1
    assert found["awkward"].readers["m"].passages == 1
    assert math.isnan(found["awkward"].readers["m"].rules["strict"]["f1"].value), "nobody marks anything"


def reading(*spans: tuple[int, int], novel: float = 1.0, **facts: Any) -> Score:
    marks = [{"aspect": "novel", "text": TIDE[a:b], "start": a, "end": b, "reason": ""} for a, b in spans]
    value = {"novel_per_100_words": novel, "awkward_per_100_words": math.nan}
    signature = "measure:close_reading|reader:close_reader(lab/reader@1f,template=2)|version:1-B"
    return scored(value, signature, marks=marks, **facts)


def test_readers_of_logs_stand_beside_those_of_the_file(tmp_path: Path) -> None:
    log = made_log(tmp_path / "logs", [{"close_reading": reading((9, 27))}], texts=[f"{TIDE}\n"])
    readers = held(tmp_path, logs=[log]).readers
    assert list(readers) == ["m", "all", "lab/reader", EXPERT]
    assert readers["lab/reader"].rules["published"]["precision"].value == 1
    other = made_log(tmp_path / "others", [{"close_reading": reading()}], texts=["Another text."])
    with pytest.raises(PassagesError, match="is read in these logs"):
        held(tmp_path, logs=[other])


def test_what_a_reader_of_a_log_invented_counts_also_where_it_left_nothing_to_measure(tmp_path: Path) -> None:
    # of the first text one quote is right and three are invented; of the second both are, so that it has no value; of
    # the third too much is quoted, so that it is not read
    shares = [(1.0, 3, 0.3), (math.nan, 2, 0.0), (math.nan, 1, 0.8)]
    readings = [
        reading(*[(9, 27)] * (not place), novel=value, absent={"novel": absent}, quoted_share={"novel": share})
        for place, (value, absent, share) in enumerate(shares)
    ]
    texts = [TIDE, SALT, f"{TIDE} Twice."]
    log = made_log(tmp_path / "logs", [{"close_reading": own} for own in readings], texts=texts)
    rows = [*PASSAGES, passage(texts[-1], {"ann": {"novel": []}})]
    reader = held(tmp_path, *rows, logs=[log]).readers["lab/reader"]
    assert (reader.passages, reader.marks, reader.invented) == (2, 1, 5)
    assert reader.rules["published"]["precision"].value == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (passage(TIDE, {"ann": {"novel": ["a moon"]}}), "line 1: 'a moon', marked by ann as novel, is not"),
        (passage(TIDE, {"ann": {"fine": []}}), "'fine' is not an aspect, expected one of novel, awkward, senseless"),
        ({"text": TIDE}, "field experts: Field required"),
        (passage(TIDE, {"ann": {"novel": "words"}}), "field experts.ann.novel"),
        (None, "passages.jsonl"),
    ],
)
def test_a_wrong_passage_is_one_line(row: Mapping[str, Any] | None, message: str, tmp_path: Path) -> None:
    shown = genie("close-reading", "agreement", written(tmp_path, row) if row else tmp_path / "passages.jsonl")
    assert shown.exit_code == 1
    assert message in shown.stderr
    assert len(shown.stderr.splitlines()) == 1


def test_readers_stand_side_by_side_by_both_rules_and_in_json(tmp_path: Path) -> None:
    passages = written(tmp_path, *PASSAGES)
    command = ("close-reading", "agreement", passages, "--resamples", 20)
    shown = genie(*command)
    for text in ("novel: marks against", "all", EXPERT, "strict: F1", "over 2 batches"):
        assert text in shown.output
    found = as_json(*command)["novel"]
    f1 = {rule: figures["f1"]["value"] for rule, figures in found["readers"]["all"]["rules"].items()}
    # whole passages as marks: one of two is right, and no mark of the experts is missed
    assert f1["published"] == pytest.approx(2 / 3)
    assert f1["strict"] < 0.6
