"""What a chart's specification says of its looks, as far as a reader sees it: marks and what they are told by."""

from typing import Any


def marks(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Of each layer from below its mark, with colour, size and opacity."""
    return [layer["mark"] for layer in spec["layer"]]


def told_by(spec: dict[str, Any], layer: int) -> dict[str, Any]:
    """By channel the field of a layer, or the value that is the same for all."""
    encoding = spec["layer"][layer]["encoding"].items()
    return {channel: said.get("field", said.get("datum", said.get("value"))) for channel, said in encoding}


def rows(spec: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    data = spec["layer"][layer].get("data") or spec["data"]
    return list(spec["datasets"][data["name"]] if "name" in data else data["values"])
