"""Damaged logs by name: what a command that takes logs may be given."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from inspect_ai.log import read_eval_log, write_eval_log
from tests.reports.made_logs import asked, made_log, scored

Damage = Callable[[Path, Path], None]
"""Makes a damaged log, at the second path, of the sound one at the first."""
DEEP = "[" * 100_000
LONG = "9" * 5_000
SAMPLE = "samples/1_epoch_1.json"


def sound_log(folder: Path, model: str = "mock/writer") -> str:
    """A log of four documents for four prompts, with the metadata that `genie` writes."""
    facts: dict[str, Any] = {
        "coverage": {"plot": "3/4", "style": "1/1"},
        "pairs": {"plot": "30/48"},
        "faults": {"unreadable": 2},
        "ratings": {"count": 30, "lowest": 1.0, "highest": 4.0},
        "documents": 12,
        "few_answers": "1/4",
        "repeated": "0/4",
        "position_bias": 0.25,
        "length": {"population": 400.0, "matched": {"plot": 0.5}},
        "questions": [asked(0.5), asked(0.25)],
        "judge": "mock/judge",
    }
    samples = [{"genie": scored({"plot": value, "style": 0.5}, **facts)} for value in (0.1, 0.4, 0.9, 0.2)]
    return made_log(folder, samples, model=model)


def damages() -> dict[str, Damage]:
    """Every damage, by a name that is a file's too; `.json` and `.eval` are the two forms of a log."""
    return {
        **{f"{name}.eval": partial(_bytes, change) for name, change in BYTES.items()},
        **{f"{name}.json": partial(_content, text) for name, text in TEXTS.items()},
        **{f"member {name}.eval": partial(_member, *damage) for name, damage in MEMBERS.items()},
        **{f"field {name}.eval": partial(_field, *damage) for name, damage in FIELDS.items()},
        "a folder.eval": lambda sound, path: path.mkdir(),
        "a folder.json": lambda sound, path: path.mkdir(),
        "half of it.json": _half_json,
        "another's.eval": lambda sound, path: ZipFile(path, "w").writestr("readme.txt", "Hello."),
    }


def _bytes(change: Callable[[bytes], bytes], sound: Path, path: Path) -> None:
    path.write_bytes(change(sound.read_bytes()))


def _content(text: bytes, sound: Path, path: Path) -> None:
    path.write_bytes(text)


def _noise(content: bytes) -> bytes:
    dice, changed = random.Random(7), bytearray(content)
    for _ in range(60):
        changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "one byte": lambda content: b"P",
    "a quarter": lambda content: content[: len(content) // 4],
    "half": lambda content: content[: len(content) // 2],
    "all but the end": lambda content: content[:-1],
    "without its beginning": lambda content: content[100:],
    "noise in it": _noise,
    "noise": lambda content: random.Random(3).randbytes(5_000),
    "a hole": lambda content: content[:200] + bytes(400) + content[600:],
    "text": lambda content: b"This is no log.",
    "twice": lambda content: content + content,
}
TEXTS: dict[str, bytes] = {
    "empty": b"",
    "brackets": DEEP.encode(),
    "braces": b'{"a":' * 100_000,
    "brackets in a log": b'{"version": 2, "status": "success", "eval": ' + DEEP.encode(),
    "list": b"[]",
    "null": b"null",
    "number": LONG.encode(),
    "object": b"{}",
    "status alone": b'{"version": 2, "status": "success"}',
    "no UTF-8": b'{"version": 2, "status": "\xff\xfe"}',
    "UTF-16": '{"version": 2}'.encode("utf-16"),
    "a string without an end": b'{"version": 2, "status": "success',
}


def _half_json(sound: Path, path: Path) -> None:
    write_eval_log(read_eval_log(str(sound)), str(path))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _members(sound: Path) -> dict[str, bytes]:
    """What stands in an archive, read as Inspect does: the compression is one that zipfile may not know."""
    with ZipFile(sound) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _archive(path: Path, members: dict[str, bytes]) -> None:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)  # of no time: the same bytes every time


def _member(name: str, content: bytes | None, sound: Path, path: Path) -> None:
    """Other content in the members whose names begin so; none of them at all where it is None."""
    members = _members(sound)
    chosen = [member for member in members if member.startswith(name)]
    assert chosen, f"no {name} among {list(members)}"
    for member in chosen:
        del members[member]
        if content is not None:
            members[member] = content
    _archive(path, members)


MEMBERS: dict[str, tuple[str, bytes | None]] = {
    "no header": ("header.json", None),
    "header empty": ("header.json", b""),
    "header a list": ("header.json", b"[]"),
    "header an object": ("header.json", b"{}"),
    "header deep": ("header.json", DEEP.encode()),
    "header no UTF-8": ("header.json", b'"\xff"'),
    "no journal": ("_journal/", None),
    "no summaries": ("summaries.json", None),
    "summaries an object": ("summaries.json", b"{}"),
    "no samples": ("samples/", None),
    "samples a list": ("samples/", b"[1]"),
    "a sample empty": (SAMPLE, b""),
    "a sample null": (SAMPLE, b"null"),
    "a sample deep": (SAMPLE, DEEP.encode()),
    "a sample deep in a field": (SAMPLE, b'{"id": 1, "epoch": 1, "input": ' + DEEP.encode()),
    "a sample no UTF-8": (SAMPLE, b'{"id": "\xff"}'),
    "a sample cut": (SAMPLE, b'{"id": 1, "epoch": 1, "inp'),
    "a sample of 5,000 digits": (SAMPLE, f'{{"id": {LONG}}}'.encode()),
}


def _field(member: str, place: str, text: str, sound: Path, path: Path) -> None:
    """Other JSON in one field of the members whose names begin so."""
    members = _members(sound)
    for name in [name for name in members if name.startswith(member)]:
        fields = json.loads(members[name])
        holder = fields
        *outer, last = place.split(".")
        for key in outer:
            holder = holder[key]
        holder[last] = "@here@"
        members[name] = json.dumps(fields).replace('"@here@"', text).encode()
    _archive(path, members)


VIEW = (
    '{"task_samples_view": {"name": "v", "score_color_scales": {"plot": {"palette": "neutral", "min": 0, "max": %s}}}}'
)


def _fields() -> Iterator[tuple[str, tuple[str, str, str]]]:
    score, facts = "scores.genie", "scores.genie.metadata"
    odd = {"text": '"x"', "list": "[1]", "digits": LONG, "infinite": "1e999", "null": "null", "object": '{"plot": {}}'}
    for fact in ("coverage", "ratings", "questions"):
        for name, text in odd.items():
            yield f"{fact} {name}", (SAMPLE, f"{facts}.{fact}", text)
    others = (
        "pairs faults documents length position_bias signature few_answers repeated judge graders marks standing tests"
    )
    for fact in others.split():
        yield f"{fact} object", (SAMPLE, f"{facts}.{fact}", '{"plot": ["x", {"y": -1}]}')
    yield "coverage of 5,000 digits", (SAMPLE, f"{facts}.coverage", f'{{"plot": "{LONG}/{LONG}"}}')
    yield "coverage over 0", (SAMPLE, f"{facts}.coverage", '{"plot": "3/0"}')
    yield "faults of 4,000 digits", (SAMPLE, f"{facts}.faults", f'{{"unreadable": {LONG[:4_000]}}}')
    yield "a lone surrogate", (SAMPLE, f"{facts}.judge", '"\\ud800"')
    yield "a prompt that is a list", ("samples/", "metadata.prompt", '[{"a": "\\ud800"}]')
    for name, text in (*odd.items(), ("NaN", "NaN"), ("steering", '{"\\u001b[31m[/bold]": 0.5}')):
        yield f"value {name}", (SAMPLE, f"{score}.value", text)
    yield "value infinite by key", (SAMPLE, f"{score}.value", '{"plot": 1e999, "style": -1e999}')
    yield "values of text", ("samples/", f"{score}.value", '{"plot": "much"}')
    for name, text in {"huge": "1e308", "negative huge": "-1e308", "beyond the scale": "7"}.items():
        yield f"value {name}", ("samples/", f"{score}.value", f'{{"plot": {text}, "style": 0.5}}')
        yield f"view {name}", ("header.json", "eval.viewer", VIEW % text)
    yield "length huge", ("samples/", f"{facts}.length", '{"population": 1e308, "matched": {"plot": 1e308}}')
    yield "position bias huge", ("samples/", f"{facts}.position_bias", "1e308")
    yield "spread huge", ("samples/", f"{facts}.spread", '{"plot": {"sd": 1e308, "degrees": 999999999}}')
    yield "scores a list", (SAMPLE, "scores", "[]")
    yield "id an object", (SAMPLE, "id", "{}")
    yield "epoch of 5,000 digits", (SAMPLE, "epoch", LONG)
    yield "epoch huge", (SAMPLE, "epoch", "1e300")
    yield "epoch negative", (SAMPLE, "epoch", "-1")
    yield "epoch 0", ("samples/", "epoch", "0")
    yield "id another", (SAMPLE, "id", "7")
    yield "input a number", (SAMPLE, "input", "3")
    yield "no choices", ("samples/", "output.choices", "[]")
    yield "store a list", (SAMPLE, "store", "[1]")
    yield "status odd", ("header.json", "status", '"fine"')
    yield "status error", ("header.json", "status", '"error"')
    yield "model a number", ("header.json", "eval.model", "3")
    yield "model markup", ("header.json", "eval.model", '"[/red]\\u001b[2J\\ud800"')
    yield "created odd", ("header.json", "eval.created", '"yesterday"')
    yield "sample ids deep", ("header.json", "eval.dataset.sample_ids", "[[[1]]]")
    yield "viewer odd", ("header.json", "eval.viewer", '{"task_samples_view": 3}')
    yield "eval null", ("header.json", "eval", "null")
    yield "plan null", ("header.json", "plan", "null")
    yield "stats a list", ("header.json", "stats", "[]")
    yield "metadata odd", ("header.json", "eval.metadata", '{"features": {"plot": [3]}, "population": {}}')


FIELDS = dict(_fields())

EDGES = (
    *("1e308", "-1e308", "1e999", "-0.0", "1e-320", "1e13", "NaN", "Infinity", "9" * 400, LONG, "-1", "0", "2.5", "5"),
    *("null", "true", "[]", "{}", '""', '"x"', '"\\ud800"', '"\\u001b[2J"', "[null]", '{"plot": 1e308}'),
    *("[" * 60 + "]" * 60,),
    *('"=1+1"', '"1/0"', '"9/9"', '[{"id": "q", "feature": "plot", "novelty": 1e308}]', '"' + "x" * 5_000 + '"'),
)
"""JSON that stands where something else is expected."""


def fuzzed(sound: Path, path: Path, dice: random.Random) -> None:
    """One log with one to four edges anywhere in its samples or its header, and now and then some wrong bytes."""
    members = _members(sound)
    for _ in range(dice.randint(1, 4)):
        name = dice.choice([name for name in members if name.startswith("samples/")] * 3 + ["header.json"])
        # only what still is JSON can be changed further
        with suppress(ValueError, RecursionError):
            members[name] = edged(members[name], dice)
    _archive(path, members)
    if dice.random() < 0.1:
        content = bytearray(path.read_bytes())
        for _ in range(dice.randint(1, 20)):
            content[dice.randrange(len(content))] = dice.randrange(256)
        path.write_bytes(content[: dice.choice((None, dice.randrange(len(content))))])


def edged(content: bytes, dice: random.Random) -> bytes:
    """JSON with an edge in place of one of its values, or of its numbers."""
    fields = json.loads(content)
    places = list(_places(fields))
    numbers = [place for place in places if isinstance(place[0][place[1]], int | float)]
    holder, key = dice.choice(numbers if numbers and dice.random() < 0.4 else places)
    if isinstance(holder, dict) and dice.random() < 0.1:
        del holder[key]
    else:
        holder[key] = "@here@"
    return json.dumps(fields).replace('"@here@"', dice.choice(EDGES)).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])
