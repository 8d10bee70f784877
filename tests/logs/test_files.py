"""Log files: what is read of them, which scores count, and what is no log."""

import json
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest
from inspect_ai import score as score_again
from inspect_ai.event import InfoEvent
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Score
from tests.cli.called import as_json, genie
from tests.reports.made_logs import GENIE, made_log, scored
from tests.scripted import evaluated, saying, small_population

from genie_inspect.errors import GenieWarning
from genie_inspect.logs.files import (
    DEEPEST,
    LogError,
    _unsafe,
    log_files,
    log_header,
    readable,
    sample_of,
    samples,
)
from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.scores import last_of_each, measured
from genie_inspect.scorers.cosine import cosine


@pytest.fixture
def log(tmp_path: Path) -> str:
    file = made_log(tmp_path / "some logs", [{"genie": scored({"plot": value})} for value in (0.1, 0.4)])
    whole = read_eval_log(file)
    for sample in whole.samples or []:
        sample.messages = [ChatMessageUser(content="Write.")]
        sample.events = [InfoEvent(data="written")]
    write_eval_log(whole)
    return file


def test_each_log_is_given_once_and_its_samples_from_an_archive_and_from_json(log: str, tmp_path: Path) -> None:
    assert log_files([log, Path(log).parent, Path(log)]) == [log]
    whole = read_eval_log(log)
    write_eval_log(whole, tmp_path / "log.json")
    for file in (log, str(tmp_path / "log.json")):
        given = [(sample.id, sample.scores) for sample in samples(file)]
        assert given == [(sample.id, sample.scores) for sample in whole.samples or []]
        assert [sample_of(file, 2, 1).id, sample_of(file, 1, 1).id] == [2, 1]
        with pytest.raises(LookupError):
            sample_of(file, 7, 1)
    assert all(sample.messages and sample.events for sample in whole.samples or [])
    # of an archive without what no report looks at
    assert not any(sample.messages or sample.events for sample in [*samples(log), sample_of(log, 1, 1)])


OTHER = GENIE.replace("test", "other")


@pytest.mark.parametrize(
    ("signatures", "kept"),
    [
        ({"genie": GENIE, "genie1": GENIE, "genie-2": GENIE}, {"genie": "genie-2"}),
        ({"genie": GENIE, "genie-1": OTHER, "genie-2": OTHER}, {"genie": "genie", "genie-1": "genie-2"}),
        ({"genie": GENIE, "genie-1": OTHER, "genie-2": GENIE}, {"genie": "genie-2", "genie-1": "genie-1"}),
        ({"accuracy": "none", "accuracy-1": "none"}, {"accuracy": "accuracy", "accuracy-1": "accuracy-1"}),
        ({"run1": GENIE, "run2": GENIE}, {"run1": "run1", "run2": "run2"}),
    ],
)
def test_the_last_score_of_a_scorer_under_one_signature_counts(
    signatures: Mapping[str, str], kept: Mapping[str, str]
) -> None:
    scores = {name: scored({"plot": 0.5}, signature, name=name) for name, signature in signatures.items()}
    assert {name: (score.metadata or {})["name"] for name, score in last_of_each(scores).items()} == kept


def test_a_log_that_was_scored_twice_has_one_table_and_says_so(tmp_path: Path) -> None:
    population = str(small_population(tmp_path / "population").folder)
    log = evaluated(cosine(population), saying("A red owl."), None, tmp_path)
    write_eval_log(score_again(log, cosine(population), action="append", display="none"))
    (sample,) = read_eval_log(log.location).samples or []
    assert list(sample.scores or {}) == ["cosine", "cosine1"]
    with pytest.warns(GenieWarning, match=r"was scored again in the same way \(cosine1\): the last scores count"):
        assert [table["scorer"] for table in as_json("summary", log.location)] == ["cosine"]
    assert "cosine1" not in genie("show", log.location, "1").output
    # a sample that only the first time had a score keeps it
    first, second, alone = (scored({"plot": value}) for value in (0.1, 0.7, 0.3))
    with pytest.warns(GenieWarning):
        read = read_scored_log(made_log(tmp_path, [{"genie": first, "genie-1": second}, {"genie": alone}]))
    assert (read.values("genie", "plot"), list(read.signatures)) == ([0.7, 0.3], ["genie"])


def test_what_measures_nothing_is_no_score_of_any_report(tmp_path: Path) -> None:
    columns = Score(value={"words": 9}, metadata={"signature": "measure:document|version:1-A"})
    others = {"genie": scored({"plot": 0.5}), "words": Score(value=3)}
    assert list(measured({**others, "document": columns, "document1": columns})) == ["genie", "words"]
    log = made_log(tmp_path, [{**others, "document": columns}])
    assert [list(sample.scores or {}) for sample in (sample_of(log, 1, 1), *samples(log))] == [["genie", "words"]] * 2


@pytest.mark.parametrize("name", ["cut.eval", "cut.json"])
@pytest.mark.parametrize("part", [0.02, 0.5, 0.999])
def test_a_log_that_is_cut_off_is_named_and_said_to_be_cut_off(
    name: str, part: float, log: str, tmp_path: Path
) -> None:
    whole = tmp_path / f"whole{Path(name).suffix}"
    write_eval_log(read_eval_log(log), whole)
    content = whole.read_bytes().rstrip()
    (tmp_path / name).write_bytes(content[: int(part * len(content))])
    with pytest.raises(LogError, match=rf"{name} .*is cut off: [\d,]+ bytes are there and its end is missing"):
        log_header(str(tmp_path / name))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * DEEPEST + b"]" * DEEPEST, ""),
        (b"[" * (DEEPEST + 1), f"has more than {DEEPEST} brackets within each other"),
        (b'{"a":' * (DEEPEST + 1), f"has more than {DEEPEST} brackets within each other"),
        (b"[]{}" * (DEEPEST + 1), ""),
        (b'["' + b"[" * (DEEPEST + 1) + b'"]', ""),
        (b'["\\"' + b"[" * (DEEPEST + 1) + b'"]', ""),
        (b'["\\\\"' + b"[" * DEEPEST, f"has more than {DEEPEST} brackets within each other"),
        (b"[" + b"9" * 999 + b"]", ""),
        (b"[" + b"9" * 1_000 + b"]", "has a number of 1,000 digits"),
        (b'["' + b"9" * 5_000 + b'"]', ""),
        (b'"' + b'\\"' * 500_000, ""),  # a string without an end is gone through once
    ],
)
def test_json_that_is_too_deep_or_has_a_number_too_long_is_told_apart_from_text(content: bytes, reason: str) -> None:
    assert _unsafe(content) == reason


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        *((content, "") for content in (b"[1]", b"{}", b"3", b'"\xff"', b"")),
        (
            {"epoch": "first"},
            r"samples/1_epoch_1\.json, field epoch: Input should be .* \(got 'first'\)",
        ),
        ({"input": 3}, r"field input.str: Input should be a valid string \(got '3'\)"),
        ({"scores": {"genie": {"value": None, "metadata": "x"}}}, r"field scores.genie.* \(got "),
    ],
)
def test_a_sample_that_is_none_and_a_field_that_is_wrong_are_one_line_that_names_the_log(
    fields: dict[str, object] | bytes, words: str, log: str, tmp_path: Path
) -> None:
    path = tmp_path / "odd.eval"
    with ZipFile(log) as whole, ZipFile(path, "w") as odd:
        for name in whole.namelist():
            content = whole.read(name)
            if name.startswith("samples/"):
                content = fields if isinstance(fields, bytes) else json.dumps(json.loads(content) | fields).encode()
            odd.writestr(name, content)
    assert log_header(str(path)).status == "success"
    for read in (lambda: list(samples(str(path))), lambda: sample_of(str(path), 1, 1)):
        with pytest.raises(LogError, match=rf"odd\.eval cannot be read as a log: .*{words}") as caught:
            read()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "said"),
    [(ValueError("x " * 500), ("x " * 150).strip()), (KeyError(), "KeyError"), (EOFError("a\n b"), "a b")],
)
def test_what_another_library_says_of_a_log_is_one_line_of_300_characters_or_its_name(
    error: Exception, said: str
) -> None:
    with pytest.raises(LogError) as caught, readable("my.eval"):
        raise error
    assert str(caught.value).rstrip() == f"my.eval cannot be read as a log: {said}"


def test_what_holds_no_log_or_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(LogError, match="empty has no log"):
        log_files([tmp_path / "empty"])
    with pytest.raises(LogError, match="nowhere does not exist, expected a log file or a folder of logs"):
        log_files([tmp_path / "nowhere"])
