"""Rules that a question breaks by its wording, checked without a model. English only; other languages pass."""

import re

# yes-or-no questions, also behind an adverbial: "In the end, is the ..."
_POLAR = re.compile(
    r"^(?:(?:in|at|on|by|during|within) [^,?]{1,60}, )?"
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)(?:n't)?\b",
    re.IGNORECASE,
)
# examples in a question suggest its answers
_EXAMPLES = re.compile(
    r"\b(?:e\.g|i\.e|for example|for instance|such as|including|like an?)\b|\(.*\bor\b.*\)", re.IGNORECASE
)
# what might be is not in the document
_HYPOTHETICAL = re.compile(r"\b(?:would|might|will|if)\b", re.IGNORECASE)
# one answer to two questions compares with nothing
_TWO = re.compile(r"\?.*\?|,? and (?:how|why|what|when|where|which|who|whose|whom)\b", re.IGNORECASE)
_DEPENDENT = re.compile(
    r"\b(?:the above|as above|mentioned (?:above|earlier)|previous question|the same question)\b", re.IGNORECASE
)
LONGEST = 1_000  # characters of a question that are looked at, so that hostile input costs nothing
_RULES = {
    "polar": _POLAR,
    "two things": _TWO,
    "examples": _EXAMPLES,
    "dependent": _DEPENDENT,
    "hypothetical": _HYPOTHETICAL,
}


def breach(question: str) -> str:
    """The first rule that a question visibly breaks; empty when it breaks none.

    >>> [breach(text) for text in ("Is the sea calm?", "What calms the sea?", "What is old, and who owns it?")]
    ['polar', '', 'two things']
    """
    return next((name for name, rule in _RULES.items() if rule.search(question.strip()[:LONGEST])), "")
