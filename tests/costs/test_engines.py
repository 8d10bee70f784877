import json
from pathlib import Path

import pytest

from genie_inspect.costs.engines import GIVEN, SHIPPED, Engine, engine_named
from genie_inspect.errors import GenieError

# NVIDIA/TensorRT-LLM 1.0, docs/source/performance/perf-overview.md: tokens out a second of one copy, by input and
# output length of the requests
PUBLISHED = {
    "h100": {(2048, 128): 3_450, (1000, 1000): 15_220, (128, 128): 28_312, (128, 2048): 22_714, (500, 2000): 17_660},
    "h100-70b": {(2048, 128): 762, (1000, 1000): 4_205, (128, 128): 6_378, (128, 2048): 6_651, (500, 2000): 5_222},
}
DERIVED_FROM = [(2048, 128), (1000, 1000)]


def out_a_second(engine: Engine, read: int, written: int) -> float:
    """Tokens out a second by the model."""
    assert engine.prefill is not None
    assert engine.decode is not None
    return written / (read / engine.prefill + written / engine.decode)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_shipped_rates_give_the_published_figures_from_which_they_are_made(name: str) -> None:
    for lengths in DERIVED_FROM:
        assert out_a_second(engine_named(name), *lengths) == pytest.approx(PUBLISHED[name][lengths], rel=0.005)


@pytest.mark.parametrize("name", PUBLISHED)
def test_for_other_lengths_like_ours_they_are_at_most_half_too_slow_and_a_quarter_too_fast(name: str) -> None:
    for lengths, published in PUBLISHED[name].items():
        assert 0.5 < out_a_second(engine_named(name), *lengths) / published < 1.25


def test_every_shipped_constant_has_a_source() -> None:
    for row in json.loads(SHIPPED.read_text(encoding="utf-8"))["engines"]:
        constants = row.keys() - {"name", "gpus", "sources"}
        assert row["sources"].keys() == constants
        assert all(source.startswith("published: ") for source in row["sources"].values())


@pytest.mark.parametrize(
    ("name", "copies", "gpus"), [("h100", 1, 1), ("8xh100", 8, 8), ("8xh100-70b", 4, 8), ("512xh100", 512, 512)]
)
def test_a_number_of_gpus_is_so_many_copies_of_an_engine(name: str, copies: int, gpus: int) -> None:
    engine = engine_named(name)
    assert (engine.name, engine.copies, engine.gpus * engine.copies) == (name, copies, gpus)


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("a100", "batch, h100, h100-70b, 8xh100 for eight GPUs, or a file"),
        ("0xh100", "8xh100 for eight GPUs"),
        ("8xa100", "8xh100 for eight GPUs"),
        ("7xh100-70b", "a multiple of 2 GPUs"),
        ("8xbatch", "batch alone: it has no GPUs of ours"),
        ("missing.json", "or a file that ends in .json"),
    ],
)
def test_what_is_no_engine_is_refused_with_what_would_be_one(name: str, accepted: str) -> None:
    with pytest.raises(GenieError) as refused:
        engine_named(name)
    assert f"--engine is {name!r}, expected" in str(refused.value)
    assert accepted in str(refused.value)


def test_an_engine_in_a_file_says_itself_where_its_constants_come_from(tmp_path: Path) -> None:
    file = tmp_path / "ours.json"
    file.write_text(json.dumps({"name": "ours", "prefill": 900, "decode": 250, "sources": {"prefill": "measured"}}))
    engine = engine_named(str(file))
    assert (engine.prefill, engine.source("prefill")) == (900, "measured")
    assert engine.source("decode").startswith("assumption")


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({"prefill": 1}, "field name"),
        ({"name": "x", "prefill": 0}, "field prefill"),
        ({"name": "x", "speed": 1}, "field speed"),
        ({"name": "x", "cached": 1.5}, "field cached"),
        ([], "should be an object"),
    ],
)
def test_a_file_that_is_no_engine_is_one_clear_line(row: object, named: str, tmp_path: Path) -> None:
    file = tmp_path / "ours.json"
    file.write_text(json.dumps(row))
    with pytest.raises(GenieError, match=named):
        engine_named(str(file))


def test_what_is_given_beats_what_is_shipped_and_says_so() -> None:
    told = engine_named("8xh100").told(GIVEN, prefill=9_000.0, decode=None)
    assert (told.prefill, told.source("prefill"), told.decode, told.copies) == (9_000, GIVEN, 19_700, 8)
    assert told.source("decode").startswith("published: ")
