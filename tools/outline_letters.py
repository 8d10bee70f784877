"""Write the outlines of letters that figures for papers are lettered with: src/genie_inspect/data/letters.json.

    python -m venv .venv-letters
    .venv-letters/bin/pip install fonttools font-roboto
    .venv-letters/bin/python tools/outline_letters.py src/genie_inspect/data/letters.json

The font is Roboto 2.138, the last under the Apache License 2.0. A letter is its advance and its outline, in units of
which an em has 2048, with y upwards.
"""

import json
import sys
from pathlib import Path

from font_roboto import Roboto
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.ttLib import TTFont

# Latin with its accents, and signs of punctuation and arithmetic
RANGES = ((0x20, 0x7E), (0xA0, 0x17F), (0x2010, 0x2026))
SIGNS = "\u2212\u2248\u2264\u2265"


def main() -> None:
    font = TTFont(Roboto)
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    letters = {}
    for code in [*(code for low, high in RANGES for code in range(low, high + 1)), *map(ord, SIGNS)]:
        if code in names:
            glyphs[names[code]].draw(pen := SVGPathPen(glyphs, lambda number: str(round(number))))
            letters[chr(code)] = [glyphs[names[code]].width, pen.getCommands()]
    text = json.dumps({"em": font["head"].unitsPerEm, "letters": letters}, ensure_ascii=False, separators=(",", ":"))
    Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
