"""Damage in the files of ratings and vectors costs what was kept, with a warning, and never the run."""

import random
import sqlite3
import stat
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.engines.test_embedders import Counting
from tests.processes import tries

from genie_inspect.engines.embedders import FILE as VECTORS
from genie_inspect.engines.embedders import CachedEmbedder, KeptVectors
from genie_inspect.graders.cache import FILE, Cache, Judged, Verdict, VerdictKey

PAGE = 4096
TEXTS = [f"text {number}" for number in range(300)]
SOME = {"ratings": "question = 'What 9?' and other = 'snow'", "verdicts": "story_a = 'story 9'", "answers": "true"}
KEYS = [VerdictKey("critic", f"story {number}", "", "test") for number in range(40)]


def filled(folder: Path) -> None:
    """Both files, with everything in the database and nothing in a log beside it."""
    cache = Cache(folder)
    for number, key in enumerate(KEYS):
        cache.keep_answers("reader", f"document {number}", {"Who?": "a pilot" * 40})
        cache.keep_ratings("judge", f"What {number}?", "rain", {"snow": Judged(3), "sun": Judged(2, 0.125)})
        cache.keep_verdict(key, Verdict(1, "[[YES]]" * 20))
    cache.close()
    embedder = CachedEmbedder(Counting(), folder)
    embedder.embed(TEXTS)
    for name in (FILE, VECTORS):
        with sqlite3.connect(folder / name) as connection:
            connection.execute("pragma wal_checkpoint(truncate)")


def use(folder: Path) -> None:
    """Everything that a run asks of both files; what it gets is right, or is not there."""
    cache = Cache(folder)
    for number, key in enumerate(KEYS):
        assert set(cache.answers("reader", f"document {number}", ["Who?"])) <= {"Who?"}
        for judged in cache.ratings("judge", f"What {number}?", "rain").values():
            assert judged.rating == 0 or 1 <= judged.rating <= 4
        verdict = cache.verdict(key)
        assert verdict is None or abs(verdict.points) <= 3
        cache.keep_answers("reader", f"document {number}", {"Who?": "a captain"})
    vectors = CachedEmbedder(Counting(), folder).embed(TEXTS)
    assert vectors.shape == (300, 2)
    assert np.isfinite(vectors).all()


def damaged(content: bytes, seed: int) -> bytes:
    """The content with one of five kinds of damage, at a place that the seed picks."""
    dice, changed = random.Random(seed), bytearray(content)
    start = dice.randrange(len(content))
    match seed % 5:
        case 0:
            return content[:start]
        case 1:
            changed[start : start + 2_000] = dice.randbytes(len(changed[start : start + 2_000]))
        case 2:
            for _ in range(50):
                changed[dice.randrange(100, len(changed))] = dice.randrange(256)
        case 3:
            changed[start : start + 5_000] = bytes(len(changed[start : start + 5_000]))
        case _:
            one, other = (slice(PAGE * at, PAGE * (at + 1)) for at in dice.sample(range(len(content) // PAGE), 2))
            changed[one], changed[other] = changed[other], changed[one]
    return bytes(changed)


@pytest.mark.repeated
def test_whatever_is_damaged_a_run_goes_on_and_its_successor_too(tmp_path: Path) -> None:
    filled(tmp_path / "whole")
    contents = {name: (tmp_path / "whole" / name).read_bytes() for name in (FILE, VECTORS)}
    warned = 0
    for seed in range(tries(15, 100)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        for name, content in contents.items():
            (folder / name).write_bytes(damaged(content, seed))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            use(folder)
        assert all(str(folder) in str(warning.message) for warning in caught if warning.category is UserWarning)
        warned += bool(caught)
        # pages that were swapped lead a look-up astray without a word of SQLite: then nothing is found
        assert Cache(folder).answers("reader", "document 7", ["Who?"]) in ({"Who?": "a captain"}, {}), f"seed {seed}"
    assert warned >= 10, "some damage hits nothing that is read, most does"


# what an edited, or a foreign, file may hold in place of a value
@pytest.mark.parametrize(
    ("table", "column", "value", "told"),
    [
        ("ratings", "rating", "7.5", "a rating is '7.5', expected 0 or 1 to 4"),
        ("ratings", "rating", "-1", "a rating is '-1.0'"),
        ("ratings", "rating", "0.5", "a rating is '0.5'"),
        ("ratings", "rating", "9e999", "a rating is 'inf'"),
        ("ratings", "rating", "'four'", "a rating is 'four'"),
        ("ratings", "off_labels", "1.5", "a probability off the labels is '1.5', expected 0 to 1"),
        ("ratings", "off_labels", "x'00'", "a probability off the labels is"),
        ("ratings", "other", "cast(x'ff' as text)", "Could not decode to UTF-8"),
        ("verdicts", "points", "4", "a verdict is '4', expected -3 to 3 points and a reply"),
        ("verdicts", "points", "-4", "a verdict is '-4'"),
        ("verdicts", "points", "'yes'", "a verdict is 'yes'"),
        ("verdicts", "reply", "x'00'", "a verdict is '1'"),
        ("answers", "answer", "x'ff'", "an answer is a bytes, expected text or nothing"),
    ],
)
def test_a_value_that_cannot_be_ours_sets_the_file_aside_with_a_warning_that_names_it(
    table: str, column: str, value: str, told: str, tmp_path: Path
) -> None:
    filled(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute(f"update {table} set {column} = {value} where {SOME[table]}")
    with pytest.warns(UserWarning, match="is no readable cache") as caught:
        use(tmp_path)
    (warning,) = {str(warning.message) for warning in caught}
    assert str(tmp_path / FILE) in warning
    assert told in warning
    assert len([path for path in tmp_path.glob("cache.damaged-*") if path.suffix[-1].isdigit()]) == 1


@pytest.mark.parametrize("value", ["'text'", "x'0000c07f0000c07f'", "x'000000'", "x''", "3"])
def test_a_vector_that_is_no_row_of_numbers_is_made_again(value: str, tmp_path: Path) -> None:
    filled(tmp_path)
    with sqlite3.connect(tmp_path / VECTORS) as connection:
        connection.execute(f"update embeddings set vector = {value}")
    again = Counting()
    assert np.isfinite(CachedEmbedder(again, tmp_path).embed(TEXTS)).all()
    assert again.asked == TEXTS
    assert KeptVectors(tmp_path).size("counting@1") == 8


def test_only_the_user_may_read_folder_and_files(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    cache, vectors = Cache(folder), CachedEmbedder(Counting(), folder)
    vectors.embed(["owl"])
    cache.keep_answers("reader", "document", {"Who?": "a pilot"})
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
    assert {FILE, f"{FILE}-wal", VECTORS, f"{VECTORS}-wal"} <= modes.keys()
    assert modes.pop("cache") == 0o700
    assert set(modes.values()) == {0o600}


def test_the_file_that_takes_the_place_of_a_damaged_one_is_as_private(tmp_path: Path) -> None:
    for name in (FILE, VECTORS):
        (tmp_path / name).write_bytes(b"no database" * 400)
    with pytest.warns(UserWarning, match="set aside"):
        Cache(tmp_path)
    with pytest.warns(UserWarning, match="set aside"):
        CachedEmbedder(Counting(), tmp_path).embed(["owl"])
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in (FILE, VECTORS)] == [0o600] * 2
