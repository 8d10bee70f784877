"""The score of a document that could not be measured."""

import math
from collections.abc import Iterable
from typing import Any

from inspect_ai.scorer import Score


def unscored(keys: Iterable[str], reason: str, explanation: str, text: str, metadata: dict[str, Any]) -> Score:
    """A score that counts nowhere: NaN under every key, so that all samples have the same keys, and the reason."""
    value = dict.fromkeys(keys, math.nan)
    return Score(value=dict(value), answer=text, explanation=explanation, reason=reason, metadata=metadata)
