"""What a study says in words and as values."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from tests.reports.studies import (
    COSINE,
    FEATURES,
    Made,
    by_feature,
    is_edit,
    made,
    measure_of,
    one_number,
    sharp,
    study_log,
    together,
    wobble,
)

from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.reports.study import Study, study
from genie_inspect.reports.study_verdict import (
    confounds,
    moves_most,
    robustness,
    sentence,
    warnings,
)


def length(text: Made) -> float:
    """Words of texts of which paraphrases are longer; an edit exchanges a word for a word, or two for one."""
    more = {ORIGINAL: 0, EDIT: text.number % 2, PARAPHRASE: 30 + text.number % 5 + text.copy}
    return 100.0 + 2 * text.number + more.get(text.facts.kind, 0)


def setting_reader(text: Made) -> float:
    """A measure that reads one feature: 0.2 for what originals have, more where it is edited."""
    return 0.2 + (0.5 + wobble(text.number) if is_edit(text, "setting") else 0.0)


def noise(text: Made) -> float:
    """A number that has nothing to do with the text."""
    return float((hash((text.number, text.copy, len(text.facts.feature))) * 2654435761) % 1009) / 1009


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study of measures that are known through and through."""
    measures = together(
        by_feature(sharp),
        one_number(length, "length"),
        one_number(lambda text: 0.5, "flat"),
        one_number(setting_reader, "setting_reader"),
        one_number(noise, "noise"),
    )
    return study(study_log(tmp_path_factory.mktemp("known"), made(12), measures))


def said(study_: Study, name: str) -> str:
    return sentence(measure_of(study_, name))


def test_a_measure_of_length_is_moved_by_paraphrases_that_are_longer(known: Study) -> None:
    assert robustness(measure_of(known, "length")) == "moved"
    told = said(known, "length")
    assert told.startswith("length is not shown to be moved by any edit; paraphrases move it (d +")
    # every paraphrase goes farther than any edit
    assert told.endswith("as far as edits of agent, plot and setting or farther.")


def test_a_constant_measure_has_no_effect_and_no_test_though_means_round_differently(
    known: Study, tmp_path: Path
) -> None:
    assert said(known, "flat") == (
        "flat is constant: it gives every text the same value, so that there is no effect and no test."
    )
    assert robustness(measure_of(known, "flat")) == "not measured"

    def tenth(text: Made) -> float:
        # of one text an epoch is missing: the mean of two tenths, and of three, differ in their last bits
        return math.nan if (text.number, text.epoch) == (1, 3) and text.facts.kind == EDIT else 0.1

    log = study_log(tmp_path, made(3, paraphrases=3, epochs=3), one_number(tenth, "tenth"))
    assert said(study(log), "tenth").startswith("tenth is constant: ")


def test_of_a_measure_that_reads_one_feature_its_row_alone_moves(known: Study) -> None:
    measure = measure_of(known, "setting_reader")
    still = {effect.intervention for effect in measure.effects if effect.is_constant}
    assert still == {"agent", "plot", "paraphrase"}
    assert said(known, "setting_reader").startswith("setting reader is sensitive to edits of setting (d +")
    assert said(known, "setting_reader").endswith("not shown for agent and plot; no paraphrase changes it.")
    assert robustness(measure) == "equivalent"


def test_of_a_random_measure_nothing_is_said_but_that_it_cannot_be_told(known: Study, tmp_path: Path) -> None:
    assert said(known, "noise") == (
        "noise is not shown to be moved by any edit; whether paraphrases move it cannot be told from 12 prompts."
    )

    def by_chance(text: Made, feature: str) -> float:
        return noise(replace(text, number=text.number + 31 * len(feature)))

    measure = measure_of(study(study_log(tmp_path, made(12), by_feature(by_chance))), "genie")
    assert len(moves_most(measure)) < len(FEATURES)
    assert confounds(measure) == []


def test_of_a_sharp_measure_each_edited_feature_moves_most_and_paraphrases_leave_it_equivalent(
    known: Study, tmp_path: Path
) -> None:
    measure = measure_of(known, "genie")
    assert [effect.intervention for effect in moves_most(measure)] == list(FEATURES)
    assert robustness(measure) == "equivalent"
    assert confounds(measure) == []
    told = said(known, "genie")
    assert told.startswith("genie is sensitive to edits of agent (d +")
    assert "; by d the edited feature moves most in 3 of these 3; " in told
    assert "; paraphrases leave it equivalent in every feature, within 0.2 sd of the originals; " in told
    assert told.endswith("it confounds nothing that could be shown.")

    # an edit without a value is not among those whose feature could move most
    def failing(text: Made, feature: str) -> float:
        return math.nan if is_edit(text, "plot") else sharp(text, feature)

    told = said(study(study_log(tmp_path, made(8), by_feature(failing))), "genie")
    assert "; by d the edited feature moves most in 2 of these 2; " in told


def test_a_feature_that_moves_with_the_edits_of_another_is_confounded_with_it_and_of_many_three_are_named(
    tmp_path: Path,
) -> None:
    def blurred(text: Made, feature: str) -> float:
        # edits of the agent move the plot by more than the agent itself
        more = 0.1 + wobble(text.number, 0.01) if feature == "plot" and is_edit(text, "agent") else 0.0
        return sharp(text, feature) * (0.9 if feature == "agent" and is_edit(text, "agent") else 1) + 3 * more

    measure = measure_of(study(study_log(tmp_path, made(12), by_feature(blurred))), "genie")
    assert [(own.intervention, other.key.name) for own, other in confounds(measure)] == [("agent", "plot")]
    assert [effect.intervention for effect in moves_most(measure)] == ["plot", "setting"]
    (own,) = (effect for effect in measure.own if effect.intervention == "agent")
    (other,) = (effect for effect in measure.row(own.intervention) if effect.key.name == "plot")
    assert sentence(measure).endswith(
        f"it confounds: edits of agent move plot (d {other.difference.effect:+.2f}) as much as their own feature "
        f"(d {own.difference.effect:+.2f}) or more."
    )
    # where, whatever is edited, every feature moves alike, three are named and the others counted
    one_score = by_feature(lambda text, feature: sharp(text, text.facts.feature or feature))
    measure = measure_of(study(study_log(tmp_path, made(12), one_score)), "genie")
    assert len(confounds(measure)) == 6
    assert moves_most(measure) == []
    assert sentence(measure).count("as much as their own feature") == 3
    assert sentence(measure).endswith(" and 3 more.")


def test_a_feature_that_paraphrases_move_is_named_and_the_others_are_not(tmp_path: Path) -> None:
    def loose(text: Made, feature: str) -> float:
        told_anew = feature == "plot" and text.facts.kind == PARAPHRASE
        return sharp(text, feature) + (0.3 + wobble(text.number) if told_anew else 0.0)

    measure = measure_of(study(study_log(tmp_path, made(12), by_feature(loose))), "genie")
    assert robustness(measure) == "moved"
    assert "; paraphrases move it in plot (d +" in sentence(measure)
    # and differences that are all the same are told as such
    added = one_number(lambda text: text.number + (0.25 if is_edit(text, "plot") else 0.0), "added")
    assert said(study(study_log(tmp_path, made(12), added)), "added") == (
        "added is sensitive to edits of plot (always +0.25), not shown for agent and setting; no paraphrase changes it."
    )


def test_without_paraphrases_and_without_edits_it_is_said_that_nobody_tried(tmp_path: Path) -> None:
    edits = study(study_log(tmp_path, made(8, paraphrases=0), one_number(setting_reader, "x")))
    assert said(edits, "x").endswith("; it was tried on no paraphrase.")
    told = study(study_log(tmp_path, made(8, []), one_number(length, "x")))
    assert said(told, "x").startswith("x was tried on no edit; paraphrases move it (d +")
    assert warnings(told) == ["x: there are no edits, so that its sensitivity is not known"]
    some = study(study_log(tmp_path, made(8, ["agent", "plot"]), by_feature(sharp)))
    assert warnings(some) == ["genie: no text has an edit of setting, so that its sensitivity to that is not known"]


def test_a_scorer_that_failed_on_some_texts_is_a_count_by_intervention_and_on_all_a_sentence(tmp_path: Path) -> None:
    def failing(text: Made) -> float:
        lost = text.number == 3 and (text.facts.kind == PARAPHRASE or is_edit(text, "plot"))
        return math.nan if lost else length(text)

    assert warnings(study(study_log(tmp_path, made(8), one_number(failing, "x")))) == [
        "x: 1 of 8 pairs of plot are left out: a side has no value",
        "x: 2 of 16 pairs of paraphrase are left out: a side has no value",
    ]
    silent = study(study_log(tmp_path, made(8), by_feature(lambda text, feature: math.nan)))
    assert said(silent, "genie") == (
        "genie: no text and its original both have a value, so that nothing is known of it."
    )


def test_missing_originals_texts_that_are_equal_and_unknown_ones_are_a_count_each(tmp_path: Path) -> None:
    texts = [text for text in made(9) if text.id != "o8-original-0"]
    texts = [replace(text, text="Story 0.") if text.id == "o0-edit-plot-0" else text for text in texts]
    odd = replace(texts[0], facts=replace(texts[0].facts, kind="rewrite"), text="Odd.")
    assert warnings(study(study_log(tmp_path, [*texts, odd], one_number(length, "x")))) == [
        "left out because nothing says what was done to them: 1 texts",
        "1 of 9 edits of agent are left out: their original was not scored",
        "1 of 9 edits of plot are left out: their original was not scored",
        "1 of 8 edits of plot are word for word their original, and count with a difference of 0",
        "1 of 9 edits of setting are left out: their original was not scored",
        "2 of 18 paraphrases are left out: their original was not scored",
    ]


def test_too_few_originals_for_any_effect_to_hold_are_a_line(tmp_path: Path) -> None:
    # three differences have eight ways of signs, of which two are as far out as can be
    lines = warnings(study(study_log(tmp_path, made(3), one_number(noise, "x", COSINE))))
    assert lines == [
        "x: with 3 prompts no p-value lies below 0.25, over 3 tests 0.75: no effect could be significant, however large"
    ]
    assert warnings(study(study_log(tmp_path, made(1), one_number(noise, "x")))) == ["x: one prompt allows no test"]


def long(texts: list[Made]) -> list[Made]:
    """The texts, edits and paraphrases a few words longer than their originals, each by another number."""
    more = {"agent": 5, "plot": 9, "setting": 7}
    return [
        text
        if text.facts.kind == ORIGINAL
        else replace(text, text=text.text + " so" * (more.get(text.facts.feature, 4) + text.number % 3))
        for text in texts
    ]


def test_a_count_of_words_is_nothing_but_length_and_stands_beside_every_measure(tmp_path: Path) -> None:
    texts = long(made(12))
    counted = study(study_log(tmp_path, texts, one_number(lambda text: float(len(text.text.split())), "mine")))
    assert said(counted, "mine").startswith("mine is sensitive to edits of agent (d +")
    assert said(counted, "mine").endswith("; with length taken out nothing is left.")
    reference = said(counted, "length in words")
    assert reference.startswith("For reference, length in words is sensitive to edits of agent (d +")
    assert "taken out" not in reference


def test_of_effects_that_hold_it_is_said_which_are_left_without_length_and_which_turn_round(tmp_path: Path) -> None:
    def by_length(text: Made) -> float:
        # an edit of the plot adds 3, and one of the setting takes so much that less than its words would add is left
        own = 3.0 * is_edit(text, "plot") - 0.5 * is_edit(text, "setting")
        return 0.1 * len(text.text.split()) + own + wobble(text.number, 0.001)

    for sign in (1, -1):
        scores = one_number(lambda text, sign=sign: sign * by_length(text), "x")  # type: ignore[misc]
        told = said(study(study_log(tmp_path / str(sign), long(made(12)), scores)), "x")
        assert told.endswith("the effect holds for plot, turns round for agent, setting and paraphrase.")
