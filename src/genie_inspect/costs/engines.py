"""What engines can do: tokens a second, requests in flight, hours a round of files takes, each with its source."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.files.json_lines import json_row
from genie_inspect.files.shipped import DATA
from genie_inspect.populations.schema import Row

SHIPPED = DATA / "engines.json"
GIVEN, ASSUMED = "given", "assumption"
WITHOUT = {"cached": "no prefix of a request is in a cache", "connections": "as many requests in flight as it takes"}
"""What is taken for granted where nothing is said."""
_COUNTED = re.compile(r"(?P<gpus>[1-9]\d{0,5})x(?P<name>.+)")
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class Engine(Row):
    """What asks a model for many replies; rates are of one copy of it."""

    name: Annotated[str, Field(min_length=1)]
    gpus: Annotated[int, Field(ge=0)] = 0
    """Of a copy; 0: somebody else's."""
    copies: Annotated[int, Field(ge=1)] = 1
    prefill: Rate | None = None
    """Tokens a second that it reads."""
    decode: Rate | None = None
    """Tokens a second that it writes, of all requests together."""
    cached: Share = 0.0
    """Of the tokens that it reads, those whose prefix is in a cache."""
    latency: Amount = 0.0
    """Seconds that a request takes, however long it is."""
    connections: Annotated[int, Field(ge=1)] | None = None
    """Requests in flight."""
    window: Amount = 0.0
    """Hours in which a round of files is answered; 0: it takes no files."""
    price_share: Share = 1.0
    """Of the price of tokens that are asked for one request at a time."""
    sources: Mapping[str, str] = Field(default_factory=dict)
    """By the name of a constant."""

    @property
    def all_gpus(self) -> int:
        """Of all copies; 0: somebody else's."""
        return self.gpus * self.copies

    def source(self, constant: str) -> str:
        """Where a constant comes from; an assumption where nothing says so."""
        return self.sources.get(constant) or f"{ASSUMED}: {WITHOUT.get(constant, 'of whoever wrote the engine')}"

    def told(self, source: str, **constants: float | None) -> "Engine":
        """The engine with constants from elsewhere, those that are None left as they are.

        Raises:
            GenieError: If one cannot be, such as a rate of 0.
        """
        new = {name: value for name, value in constants.items() if value is not None}
        values = self.model_dump() | new | {"sources": {**self.sources, **dict.fromkeys(new, source)}}
        return json_row(json.dumps(values), Engine, f"engine {self.name}", GenieError)


class _Table(Row):
    engines: tuple[Engine, ...]


def engine_named(text: str) -> Engine:
    """A shipped engine, `8xh100` for eight GPUs of them, or the engine in a JSON file.

    Raises:
        UnknownChoiceError: If there is no such engine, or it does not divide so many GPUs.
        GenieError: If a file holds none.
    """
    if text.endswith(".json") and Path(text).is_file():
        return json_row(Path(text).read_bytes(), Engine, text, GenieError)
    if text in _shipped():
        return _shipped()[text]
    counted = _COUNTED.fullmatch(text)
    known = f"{', '.join(_shipped())}, 8xh100 for eight GPUs, or a file that ends in .json"
    if not counted or counted["name"] not in _shipped():
        raise UnknownChoiceError("--engine", text, known)
    engine, gpus = _shipped()[counted["name"]], int(counted["gpus"])
    if not engine.gpus or gpus % engine.gpus:
        accepted = (
            f"a multiple of {engine.gpus} GPUs" if engine.gpus else f"{engine.name} alone: it has no GPUs of ours"
        )
        raise UnknownChoiceError("--engine", text, accepted)
    return engine.model_copy(update={"name": text, "copies": gpus // engine.gpus})


@lru_cache(maxsize=1)
def _shipped() -> dict[str, Engine]:
    table = json_row(SHIPPED.read_bytes(), _Table, str(SHIPPED), GenieError)
    return {engine.name: engine for engine in table.engines}
