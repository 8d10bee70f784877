"""Originals and what was made of them, in pairs."""

import math
from dataclasses import replace

from tests.reports.sensitivity.studies import Made, made, texts_in_memory

from genie_inspect.interventions.schema import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.reports.sensitivity.pairs import Intervention, Pairs, pairs_of
from genie_inspect.samples.intervention import InterventionFacts

PLOT, TOLD_ANEW = Intervention(EDIT, "plot"), Intervention(PARAPHRASE)


def value(text: Made) -> float:
    """1 for the first original, 2 for the second; an edit 10 more, the first paraphrase 1 more, the second 3 more."""
    more = {ORIGINAL: 0.0, EDIT: 10.0, PARAPHRASE: 1.0 + 2 * text.copy}
    return text.number + 1 + more[text.facts.kind]


def test_an_original_is_one_pair_with_the_mean_of_its_paraphrases() -> None:
    texts = texts_in_memory(made(2, ["plot"]), {"x": value})
    assert list(texts.changed) == [PLOT, TOLD_ANEW]
    assert pairs_of(texts, PLOT, "x", "x").rows == {"o0": (1, 11), "o1": (2, 12)}
    told = pairs_of(texts, TOLD_ANEW, "x", "x")
    # paraphrases 1 + 1 and 1 + 3: their mean is 3, each went 1 and 3 far
    pairs = {"o0": (1, 3), "o1": (2, 4)}
    by_prompt = {"Prompt 0": (1, 3), "Prompt 1": (2, 4)}
    assert told == Pairs(pairs, by_prompt, {"Prompt 0": 0, "Prompt 1": 0}, {"o0": 2, "o1": 2}, pairs=4, left_out=0)


def test_originals_of_one_prompt_are_one_pair_with_their_means_and_so_are_their_words() -> None:
    texts = made(3, ["plot"], 1, per_prompt=2)
    texts = [
        replace(text, text=text.text + " Then." * text.number) if text.copy or text.facts.kind == EDIT else text
        for text in texts
    ]
    pairs = pairs_of(texts_in_memory(texts, {"x": value}), PLOT, "x", "x")
    # originals 1, 2 and 3, edits 11, 12 and 13; the first two share a prompt; edits are 0, 1 and 2 words longer
    assert pairs.rows == {"o0": (1, 11), "o1": (2, 12), "o2": (3, 13)}
    assert pairs.prompts == {"Prompt 0": (1.5, 11.5), "Prompt 1": (3, 13)}
    assert pairs.words == {"Prompt 0": 0.5, "Prompt 1": 2}


def test_texts_that_go_both_ways_have_gone_far_though_their_mean_stays() -> None:
    texts = texts_in_memory(
        made(1, []), {"x": lambda text: {ORIGINAL: 5.0}.get(text.facts.kind, 5.0 + (1 if text.copy else -1))}
    )
    found = pairs_of(texts, TOLD_ANEW, "x", "x")
    assert (found.rows, found.sizes) == ({"o0": (5, 5)}, {"o0": 1})


def test_epochs_of_a_text_are_its_mean_over_those_with_a_value() -> None:
    def by_epoch(text: Made) -> float:
        return math.nan if text.epoch == 3 else text.epoch + (10.0 if text.facts.kind == EDIT else 0.0)

    texts = texts_in_memory(made(1, ["plot"], 0, epochs=3), {"x": by_epoch})
    assert pairs_of(texts, PLOT, "x", "x").rows == {"o0": (1.5, 11.5)}


def test_a_pair_with_a_side_without_a_value_is_left_out_and_counted() -> None:
    def holed(text: Made) -> float:
        # the first original, and of the second the first paraphrase
        lost = text.facts.kind == (PARAPHRASE if text.number else ORIGINAL) and text.copy == 0
        return math.nan if lost else value(text)

    texts = texts_in_memory(made(3, ["plot"]), {"x": holed})
    edits, told = (pairs_of(texts, one, "x", "x") for one in (PLOT, TOLD_ANEW))
    assert (list(edits.rows), edits.pairs, edits.left_out) == (["o1", "o2"], 2, 1)
    # both paraphrases of the first, and one of each other
    assert (told.rows, told.pairs, told.left_out) == ({"o1": (2, 5), "o2": (3, 6)}, 2, 4)


def test_what_was_made_of_an_original_that_is_missing_is_counted_and_no_pair() -> None:
    texts = texts_in_memory([text for text in made(2, ["plot"]) if text.id != "o1-original-0"], {"x": value})
    assert texts.orphans == {PLOT: 1, TOLD_ANEW: 2}
    assert list(pairs_of(texts, PLOT, "x", "x").rows) == ["o0"]


def test_a_text_that_is_its_original_word_for_word_is_counted_and_stays_a_pair() -> None:
    changed = [replace(text, text="Story 0.") if text.id == "o0-edit-plot-0" else text for text in made(2, ["plot"])]
    texts = texts_in_memory(changed, {"x": lambda text: float(len(text.text))})
    assert texts.same == {PLOT: 1, TOLD_ANEW: 0}
    assert pairs_of(texts, PLOT, "x", "x").rows["o0"] == (8, 8)


def test_a_text_that_does_not_say_what_was_done_to_it_is_counted_and_left_out() -> None:
    odd = [
        Made(InterventionFacts("rewrite", "o0"), 0, "Odd."),
        Made(InterventionFacts(EDIT, "o0"), 0, "An edit of nothing."),
    ]
    texts = texts_in_memory([*made(1, ["plot"]), *odd], {"x": value_or_0})
    assert texts.unknown == 2
    assert list(texts.changed) == [PLOT, TOLD_ANEW]


def value_or_0(text: Made) -> float:
    """A value for every text, of whatever kind."""
    return 0.0


def test_paraphrases_stand_below_the_edits_wherever_the_log_has_them() -> None:
    texts = texts_in_memory(sorted(made(2, ["plot", "agent"]), key=lambda text: text.facts.kind, reverse=True), {})
    assert [one.name for one in texts.changed] == ["plot", "agent", "paraphrase"]
