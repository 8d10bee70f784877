"""What can be seen of a changed text without asking anybody: whether it is a text at all, and of about the length."""

from collections.abc import Collection
from difflib import SequenceMatcher

from genie_inspect.engines.texts import identity
from genie_inspect.measures.length import word_count
from genie_inspect.samples.document import no_document

LENGTHS = (0.5, 2.0)  # words over the original's between which a text can be the same one with a feature changed
NO_EDIT, TWICE = "no edit", "stands twice"


def visible_fault(original: str, changed: str, others: Collection[str] = ()) -> str:
    """Why a changed text cannot be used, as far as that can be seen; empty where nothing is.

    Args:
        original: What it was made of.
        changed: The edit or paraphrase.
        others: Texts that were made of the same original in the same way.
    """
    if reason := no_document(changed):
        return reason
    if identity(changed) == identity(original):
        return NO_EDIT
    if any(identity(changed) == identity(other) for other in others):
        return TWICE
    ratio = length_ratio(original, changed)
    if not LENGTHS[0] <= ratio <= LENGTHS[1]:
        return "too short" if ratio < 1 else "too long"
    return ""


def length_ratio(original: str, changed: str) -> float:
    """Words of a changed text over its original's."""
    return word_count(changed) / word_count(original)


def words_changed(original: str, changed: str) -> float:
    """Share of words that are not common to both in one order, 0 (the same words) to 1 (none in common).

    >>> words_changed("the owl flew home", "the owl walked home")
    0.25
    """
    before, after = original.split(), changed.split()
    # autojunk would take frequent words of long texts for noise
    common = sum(block.size for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks())
    return 1 - common / max(len(before), len(after))
