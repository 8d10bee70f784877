"""Results as JSON values."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def plain(value: Any) -> Any:
    """Dataclasses and mappings as dicts, sequences as lists; what is not a finite number is null.

    >>> plain({"mean": math.nan, "ends": (0, 1)})
    {'mean': None, 'ends': [0, 1]}
    """
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    # JSON has no NaN; Python's writer would put one in, which other readers refuse
    return None if isinstance(value, float) and not math.isfinite(value) else value
