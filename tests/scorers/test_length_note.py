"""What every score gets beside its measure: the digits that it keeps, and a note on unlike lengths."""

import pytest
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from tests.scripted import written

from genie_inspect.scorers.outcome import _with_notes, rounded, scored_or_reason


@pytest.mark.parametrize(("explanation", "before"), [("Fine.", "Fine.\n\n"), (None, "")])
def test_a_note_on_the_length_stands_below_what_a_score_says(explanation: str | None, before: str) -> None:
    score = Score(value={"plot": 0.5}, explanation=explanation, metadata={"length": {"population": 3}})
    note = "Beware: this document has 5 words where the population has 3: beyond 1.5x lengths do not compare."
    assert _with_notes(score, "one two three four five").explanation == before + note
    assert _with_notes(score, "one two three four") == score


async def test_a_score_is_rounded_and_says_that_its_document_is_of_another_length() -> None:
    async def measure() -> Score:
        return Score(value={"plot": 2 / 3}, explanation="Fine.", metadata={"length": {"population": 3}})

    score = await scored_or_reason(written("one two three four five"), ["plot"], {}, measure)
    assert score.value == {"plot": 0.667}
    assert (score.explanation or "").startswith("Fine.\n\nBeware: this document has 5 words")
    lone = Score(value=0.51234)
    assert rounded(lone) == lone


async def test_why_a_sample_has_no_document_is_text_and_no_markup() -> None:
    async def never() -> Score:
        raise AssertionError("measured")

    state = written("")
    state.output = ModelOutput(error="a|b *c*")
    score = await scored_or_reason(state, ["plot"], {}, never)
    assert (score.reason, score.explanation) == ("a|b *c*", "Not scored: a\\|b \\*c\\*.")
