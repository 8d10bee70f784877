"""Text in a picture as outlines, so that it looks the same in every program and needs no font.

The letters are those of Roboto: `tools/outline_letters.py` wrote them.
"""

import json
import re
from functools import cache
from html import escape, unescape

from genie_inspect.files.writing import DATA

_UNKNOWN = 0.7  # width, in ems, that a character without an outline is given
_TEXT = re.compile("<text ([^>]*)>(.*?)</text>", re.DOTALL)
_LINE = re.compile('<tspan(?: x="0" dy="([0-9.]+)")?>(.*?)</tspan>', re.DOTALL)
_ATTRIBUTE = re.compile('([a-z-]+)="([^"]*)"')
_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


@cache
def _letters() -> tuple[int, dict[str, tuple[int, str]]]:
    """Units of an em, and by character its advance and its outline."""
    kept = json.loads((DATA / "letters.json").read_text(encoding="utf-8"))
    return kept["em"], kept["letters"]


def width_of(text: str, size: float) -> float:
    """The width of a text in letters of a size, in the unit of the size."""
    em, letters = _letters()
    return size * sum(letters[one][0] / em if one in letters else _UNKNOWN for one in text)


def outlined(svg: str) -> str:
    """An SVG by vl-convert with outlines for its texts; one with a character that has no outline stays a text."""
    return _TEXT.sub(_group, svg)


def _group(text: re.Match[str]) -> str:
    em, letters = _letters()
    attributes = dict(_ATTRIBUTE.findall(text[1]))
    lines = [(float(dy or 0), unescape(line)) for dy, line in _LINE.findall(text[2])] or [(0.0, unescape(text[2]))]
    if any(one not in letters for _, line in lines for one in line):
        return text[0]
    size = float(attributes["font-size"].removesuffix("px"))
    paths, y = [], 0.0
    for dy, line in lines:
        x, y = -_ANCHORS[attributes.get("text-anchor", "start")] * width_of(line, size), y + dy
        for one in line:
            advance, outline = letters[one]
            if outline:
                # outlines have y upwards
                scale = f"translate({x:.2f},{y:.2f}) scale({size / em:.6f},{-size / em:.6f})"
                paths.append(f'<path transform="{scale}" d="{outline}"/>')
            x += size * advance / em
    kept = "".join(f' {name}="{attributes[name]}"' for name in ("transform", "fill", "opacity") if name in attributes)
    return f'<g aria-label="{escape(" ".join(line for _, line in lines))}"{kept}>{"".join(paths)}</g>'
