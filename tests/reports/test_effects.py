"""Differences, effect sizes and tests of each intervention."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reports.made_logs import scored
from tests.reports.studies import FEATURES, GENIE, Made, Value, is_edit, made, study_log, texts_in_memory

from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.reports.effects import Effect, StudyKey, StudyPairs, effects_of, pairs_of
from genie_inspect.reports.study import answer_changes

TESTED = StudyKey("x", "x", "", tested=True)
# seven originals and what an edit and a paraphrase make of them
BEFORE = (0.30, 0.42, 0.55, 0.61, 0.38, 0.47, 0.70)
EDITED = (0.35, 0.50, 0.52, 0.70, 0.41, 0.49, 0.78)
PARAPHRASED = (0.31, 0.41, 0.56, 0.60, 0.39, 0.47, 0.69)


def given_values(text: Made) -> float:
    return {ORIGINAL: BEFORE, EDIT: EDITED, PARAPHRASE: PARAPHRASED}[text.facts.kind][text.number]


def effects(value: Value, originals: int = 7, features: int = 1, key: StudyKey = TESTED) -> list[Effect]:
    texts = texts_in_memory(made(originals, FEATURES[:features], 1), {"x": value})
    return list(effects_of(texts, [key]))


def resampled_means(deltas: np.ndarray) -> np.ndarray:
    """The mean of each of the n^n resamples of centred deltas."""
    centred = deltas - deltas.mean()
    totals = np.zeros(1)
    for _ in deltas:
        totals = (totals[:, None] + centred).ravel()
    return totals / len(deltas)


def test_an_effect_has_the_means_of_both_sides_their_difference_its_spread_and_d() -> None:
    edit, _ = effects(given_values)
    deltas = np.subtract(EDITED, BEFORE)
    difference = edit.difference
    assert (difference.before, difference.after) == pytest.approx((np.mean(BEFORE), np.mean(EDITED)))
    assert (difference.delta, difference.spread) == pytest.approx((deltas.mean(), deltas.std(ddof=1)))
    assert difference.effect == pytest.approx(deltas.mean() / deltas.std(ddof=1))
    assert edit.size == pytest.approx(np.abs(deltas).mean())
    assert (difference.pairs, edit.pairs.pairs, edit.pairs.left_out) == (7, 7, 0)
    # the shown p is that of all 128 ways to sign seven differences
    means = np.array([np.mean(deltas * signs) for signs in product((1, -1), repeat=7)])
    assert difference.p_value == pytest.approx((np.abs(means) >= deltas.mean() - 1e-12).mean())


def test_the_bootstraps_beside_the_tests_are_those_of_all_823_543_resamples() -> None:
    edit, told = effects(given_values)
    deltas = np.subtract(EDITED, BEFORE)
    exact = (np.abs(resampled_means(deltas)) >= deltas.mean() - 1e-12).mean()
    assert 0.001 < exact < 0.1
    assert edit.bootstrap_p == pytest.approx(exact, abs=0.02)
    deltas = np.subtract(PARAPHRASED, BEFORE)
    margin, drawn = 0.2 * np.std(BEFORE), resampled_means(deltas)
    lower, upper = (drawn >= margin + deltas.mean()).mean(), (-drawn >= margin - deltas.mean()).mean()
    assert told.difference.margin == pytest.approx(margin)
    assert told.bootstrap_p_unlike == pytest.approx(max(lower, upper), abs=0.02)
    assert told.is_equivalent


def test_what_never_changes_has_no_effect_and_no_test_and_still_counts_as_one() -> None:
    agent, plot, setting, told = effects(lambda text: BEFORE[text.number] * (1.1 if is_edit(text, "plot") else 1), 7, 3)
    for still in (agent, setting, told):
        p_values = (still.p_value, still.difference.p_value, still.bootstrap_p)
        assert (still.is_constant, still.moved) == (True, False)
        assert all(map(math.isnan, (still.difference.effect, *p_values)))
    assert [still.tests for still in (agent, setting, told)] == [3, 3, 1]
    assert plot.moved
    assert plot.p_value == pytest.approx(3 * 2 / 128)
    # no paraphrase changes anything, and originals differ: the margin is not 0
    assert told.is_equivalent


def test_a_key_that_is_not_tested_has_its_difference_and_no_p_value() -> None:
    for effect in effects(given_values, key=StudyKey("x", "x", "", tested=False)):
        assert not math.isnan(effect.difference.effect)
        p_values = (effect.difference.p_value, effect.p_value, effect.bootstrap_p, effect.difference.p_unlike)
        assert all(map(math.isnan, (*p_values, effect.bootstrap_p_unlike)))
        assert (effect.moved, effect.is_equivalent, effect.tests) == (False, False, 0)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=6), st.floats(-1, 1))
def test_the_same_added_to_every_text_changes_no_effect_and_swapping_sides_turns_it(
    pairs: list[tuple[float, float]], shift: float
) -> None:
    def of(first: int, by: float) -> Effect:
        side = {ORIGINAL: first, EDIT: 1 - first}
        return effects(lambda text: round(pairs[text.number][side.get(text.facts.kind, first)], 3) + by, len(pairs))[0]

    plain, moved, turned = of(0, 0.0), of(0, round(shift, 3)), of(1, 0.0)
    assert moved.difference.delta == pytest.approx(plain.difference.delta, abs=1e-9)
    assert turned.difference.delta == pytest.approx(-plain.difference.delta, abs=1e-9)
    assert turned.p_value == pytest.approx(plain.p_value, nan_ok=True)
    assert turned.size == pytest.approx(plain.size, abs=1e-9)
    assert plain.size >= abs(plain.difference.delta) - 1e-9


def test_own_edits_those_of_others_and_paraphrases_are_families_apart_and_so_are_two_numbers() -> None:
    keys = [StudyKey("x", "x", feature, tested=True) for feature in FEATURES]
    found = effects_of(texts_in_memory(made(7, FEATURES, 1), {"x": given_values}), keys)
    own = [effect for effect in found if effect.is_own]
    assert [effect.key.feature for effect in own] == list(FEATURES)
    assert {effect.tests for effect in own} == {3}
    assert {effect.tests for effect in found if effect.is_paraphrase} == {3}
    assert {effect.tests for effect in found if not effect.is_own and not effect.is_paraphrase} == {6}
    edit, told = effects(given_values)
    others = [replace(edit, key=StudyKey(*name, "", tested=True)) for name in (("x", "y"), ("z", "x"))]
    assert len({effect.family for effect in (edit, told, *others)}) == 4


def test_the_margin_of_equivalence_is_in_spreads_of_originals_and_not_of_their_means() -> None:
    # originals 0 and 1 in each of four prompts: sd 0.5, of the prompts' means 0
    def by_place(text: Made) -> float:
        return text.number % 2 + (0.01 * text.number if text.facts.kind == PARAPHRASE else 0.0)

    texts = texts_in_memory(made(8, (), 1, per_prompt=2), {"x": by_place})
    (told,) = effects_of(texts, [TESTED])
    assert told.difference.pairs == 4
    assert told.difference.margin == pytest.approx(0.2 * 0.5)
    assert told.is_equivalent


def given_or_more(text: Made) -> float:
    """A value for each of eight originals; 0.1 more, and a little, for what was made of them."""
    return BEFORE[text.number % 7] + (0.1 + 0.01 * text.number) * (text.facts.kind != ORIGINAL)


def longer(text: Made) -> Made:
    """Edits of the plot get 10 and more words, of the agent 5 and more, paraphrases 3."""
    more = {"plot": 10, "agent": 5}.get(text.facts.feature, 3 if text.facts.kind == PARAPHRASE else 0)
    return replace(text, text=text.text + " so" * (more + (text.number % 3 if more > 3 else 0)))


def lengthened(value: Value, originals: int = 8) -> dict[str, Effect]:
    """The effects on a scorer, of texts that got longer, by intervention."""
    texts = texts_in_memory([longer(text) for text in made(originals, ("plot", "agent"), 1)], {"x": value})
    return {effect.intervention: effect for effect in effects_of(texts, [TESTED])}


def test_length_is_taken_out_at_the_rate_of_the_prompts_other_texts() -> None:
    # 0.1 a word, and 1 for an edit of the plot
    found = lengthened(lambda text: 0.1 * len(text.text.split()) + is_edit(text, "plot"))
    assert found["plot"].left == pytest.approx(1)
    assert found["plot"].is_left
    # of the first prompt: plot 10 words and 2.0, paraphrase 3 and 0.3: rate (10 * 2 + 3 * .3) / (100 + 9) = .1917 a
    # word; of the agent's 0.5 at 5 words is left 0.5 - 5 * .1917 = -.459
    first = lengthened(lambda text: 0.1 * len(text.text.split()) + is_edit(text, "plot"), 1)
    assert first["agent"].left == pytest.approx(0.5 - 5 * 20.9 / 109)
    # it cannot be told where only one intervention makes texts longer
    texts = [longer(text) if text.facts.feature == "plot" else text for text in made(8, ("plot", "agent"), 1)]
    alone, *same = effects_of(texts_in_memory(texts, {"x": given_or_more}), [TESTED])
    assert math.isnan(alone.left)
    # the others are as long as their originals: there is nothing to take out
    assert [effect.left for effect in same] == [effect.difference.delta for effect in same]


PLOT, TOLD_ANEW = "plot", PARAPHRASE


def value(text: Made) -> float:
    """1 for the first original, 2 for the second; an edit 10 more, the first paraphrase 1 more, the second 3 more."""
    more = {ORIGINAL: 0.0, EDIT: 10.0, PARAPHRASE: 1.0 + 2 * text.copy}
    return text.number + 1 + more[text.facts.kind]


def test_an_original_is_one_pair_with_the_mean_of_its_paraphrases() -> None:
    texts = texts_in_memory(made(2, ["plot"]), {"x": value})
    assert list(texts.changed) == [PLOT, TOLD_ANEW]
    assert pairs_of(texts, PLOT, TESTED).rows == {"o0": (1, 11), "o1": (2, 12)}
    told = pairs_of(texts, TOLD_ANEW, TESTED)
    # paraphrases 1 + 1 and 1 + 3: their mean is 3, each went 1 and 3 far
    pairs = {"o0": (1, 3), "o1": (2, 4)}
    by_prompt = {"Prompt 0": (1, 3), "Prompt 1": (2, 4)}
    assert told == StudyPairs(pairs, by_prompt, {"Prompt 0": 0, "Prompt 1": 0}, {"o0": 2, "o1": 2}, pairs=4, left_out=0)


def test_originals_of_one_prompt_are_one_pair_with_their_means_and_so_are_their_words() -> None:
    texts = [
        replace(text, text=text.text + " Then." * text.number) if text.facts.kind == EDIT else text
        for text in made(3, ["plot"], 1, per_prompt=2)
    ]
    pairs = pairs_of(texts_in_memory(texts, {"x": value}), PLOT, TESTED)
    # originals 1, 2 and 3, edits 11, 12 and 13; the first two share a prompt; edits are 0, 1 and 2 words longer
    assert pairs.rows == {"o0": (1, 11), "o1": (2, 12), "o2": (3, 13)}
    assert pairs.prompts == {"Prompt 0": (1.5, 11.5), "Prompt 1": (3, 13)}
    assert pairs.words == {"Prompt 0": 0.5, "Prompt 1": 2}


def test_epochs_without_a_value_do_not_count_and_a_pair_without_one_is_left_out_and_counted() -> None:
    def by_epoch(text: Made) -> float:
        return math.nan if text.epoch == 3 else text.epoch + (10.0 if text.facts.kind == EDIT else 0.0)

    texts = texts_in_memory(made(1, ["plot"], 0, epochs=3), {"x": by_epoch})
    assert pairs_of(texts, PLOT, TESTED).rows == {"o0": (1.5, 11.5)}

    def holed(text: Made) -> float:
        # the first original, and of the second the first paraphrase
        lost = text.facts.kind == (PARAPHRASE if text.number else ORIGINAL) and text.copy == 0
        return math.nan if lost else value(text)

    texts = texts_in_memory(made(3, ["plot"]), {"x": holed})
    edits, told = (pairs_of(texts, one, TESTED) for one in (PLOT, TOLD_ANEW))
    assert (list(edits.rows), edits.pairs, edits.left_out) == (["o1", "o2"], 2, 1)
    # both paraphrases of the first, and one of each other
    assert (told.rows, told.pairs, told.left_out) == ({"o1": (2, 5), "o2": (3, 6)}, 2, 4)


def row(question: str, feature: str, answer: object) -> dict[str, Any]:
    return {"id": question, "feature": feature, "question": "What?", "answer": answer, "novelty": 0.5}


def table(text: Made) -> object:
    """Two questions on the plot, one on the style; an edit of the plot changes one answer, a paraphrase its case."""
    end = "in snow" if is_edit(text, "plot") else "In  Rain." if text.facts.kind == PARAPHRASE else "in rain"
    return [row("q1", "plot", end), row("q2", "plot", "a theft"), row("q3", "style", "dry")]


def changes(folder: Path, questions: Any, **options: Any) -> dict[tuple[str, str], tuple[int, int]]:
    """By intervention and feature, the answers changed and compared."""
    log = study_log(
        folder,
        made(2, ["plot"], **options),
        lambda text: {"genie": scored({"plot": 0.5}, GENIE, questions=questions(text)), "cosine": scored(0.5)},
    )
    found = answer_changes(log, ["genie", "cosine"])
    assert {scorer for scorer, _, _ in found} <= {"genie"}
    return {(intervention, feature): share for (_, intervention, feature), share in found.items()}


def test_answers_are_compared_with_those_of_the_original_by_question_and_epoch(tmp_path: Path) -> None:
    assert changes(tmp_path, table) == {
        **{(PLOT, "plot"): (2, 4), (PLOT, "style"): (0, 2)},
        **{(TOLD_ANEW, "plot"): (0, 8), (TOLD_ANEW, "style"): (0, 4)},
    }

    def by_epoch(text: Made) -> object:
        more = [row("q9", "plot", "x")] if text.facts.kind == EDIT else []
        return [row("q1", "plot", f"in rain {text.epoch}"), *more]

    assert changes(tmp_path, by_epoch, paraphrases=0, epochs=2) == {(PLOT, "plot"): (0, 4)}


def test_of_an_answer_that_was_cut_its_beginning_is_compared_and_none_in_another_form(tmp_path: Path) -> None:
    for before, after, changed in (
        ("a very long ans…", "a very long answer about rain", 0),
        ("a very long answer about rain", "a very long ans…", 0),
        ("a very long ans…", "a very short answer", 1),
        ("", "in rain", 1),
    ):
        questions = lambda text: [row("q1", "plot", after if text.facts.kind == EDIT else before)]  # noqa: B023, E731
        assert changes(tmp_path, questions, paraphrases=0) == {(PLOT, "plot"): (2 * changed, 2)}
    odd = ["x", 3, {"id": ["q"], "feature": "plot", "answer": "x"}, {"id": "q1", "feature": "plot"}]
    for kept in ("17 questions: too many to keep here", odd, None, {"q1": "in rain"}):
        assert changes(tmp_path, lambda text: kept) == {}  # noqa: B023
