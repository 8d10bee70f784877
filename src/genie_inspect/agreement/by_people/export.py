"""Pairs of answers as a blind table for people to rate; filled in it is a file of ratings like any other."""

import random
from collections.abc import Sequence
from pathlib import Path

from genie_inspect.agreement.targets import Target
from genie_inspect.files.csv_tables import csv_text
from genie_inspect.files.writing import write_lines

COLUMNS = ("id", "prompt", "question", "answer", "other", "rating", "note")
INSTRUCTIONS = """\
# How to fill in the table

Each row has a question about a text, and what two texts answer to it. Write in `rating` how alike the two answers are:

- 4: interchangeable; who reads one for the other loses nothing.
- 3: the same idea, with differences in scope or detail that one would notice.
- 2: a slight overlap, such as a broad theme.
- 1: different; little or nothing in common, or they contradict each other.
- 0: one of the two gives no answer to the question.

Judge what is said and not how well it is worded. Which answer stands first does not matter. Leave a cell empty where
you cannot say, and write in `note` what should be known. Decide each row by itself, and do not talk about rows with
others who fill in the same table: how far you agree is what is measured.
"""


def write_blind_table(path: Path, targets: Sequence[Target], seed: int = 0) -> int:
    """Write the pairs in a shuffled order without anybody's rating, and beside them how to fill in the table.

    Args:
        path: The table, whose name becomes the rater's; the page beside it has the ending `.md`.
        targets: Whose pairs.
        seed: The order.

    Returns:
        How many pairs were written.

    Raises:
        UnwritableError: If something stands there.
    """
    rows = [
        (target.question.id, target.question.prompt, target.question.text, target.answer, other, "", "")
        for target in targets
        for other in target.others
    ]
    # pairs of one answer in a row would be rated against each other
    random.Random(seed).shuffle(rows)  # noqa: S311  # an order, no secret
    write_lines(path, [csv_text(COLUMNS, rows)], new=True)
    write_lines(path.with_suffix(".md"), [INSTRUCTIONS], new=True)
    return len(rows)
