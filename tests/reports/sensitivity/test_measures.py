"""How the measures of a study are made of its effects: names, the effects that count, how far texts went."""

import math
from collections.abc import Mapping, Sequence

import pytest
from tests.reports.sensitivity.studies import FEATURES, GENIE, Made, made, texts_in_memory

from genie_inspect.interventions.schema import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.reports.sensitivity.effects import Effect, effects_of
from genie_inspect.reports.sensitivity.keys import StudyKey
from genie_inspect.reports.sensitivity.measures import StudiedMeasure, measures_of
from genie_inspect.reports.sensitivity.pairs import Intervention

AGENT, PARAPHRASES = Intervention(EDIT, "agent"), Intervention(PARAPHRASE)


def value(text: Made) -> float:
    """Originals 1, 2, 3 and so on; an edit of the agent adds 2 a text on, one of the plot nothing, a paraphrase 1."""
    added = {"agent": 2.0 + text.number, "plot": 0.0}.get(text.facts.feature, 1.0)
    return text.number + 1.0 + (0.0 if text.facts.kind == ORIGINAL else added)


def effects(*keys: StudyKey) -> Sequence[Effect]:
    texts = texts_in_memory(made(3, FEATURES[:2], 1), {key.scorer: value for key in keys})
    return effects_of(texts, keys, resamples=50)


def measures(*keys: StudyKey, signatures: Mapping[str, str] | None = None) -> list[StudiedMeasure]:
    known = {key.scorer: "none" for key in keys} | dict(signatures or {})
    return list(measures_of(effects(*keys), known))


def test_each_intervention_went_so_far_between_the_nearest_and_the_farthest_text() -> None:
    (found,) = measures(StudyKey("x", "x", "", tested=True))
    # edits of the agent by 2, 3 and 4; of the plot by 0; paraphrases by 1, between 0 and 4
    assert {one.name: share for one, share in found.shares.items()} == pytest.approx(
        {"agent": 0.75, "plot": 0.0, "paraphrase": 0.25}
    )
    assert found.deltas(AGENT) == {"o0": 2.0, "o1": 3.0, "o2": 4.0}
    assert [effect.intervention for effect in found.own] == [AGENT, Intervention(EDIT, "plot")]
    assert [effect.intervention for effect in found.row(AGENT)] == [AGENT]
    assert not found.is_constant
    assert found.printed_as == "x"


def test_a_measure_of_features_is_printed_by_its_kind_and_judged_by_each_feature_s_own_key() -> None:
    keys = [StudyKey("x", "x", name, tested=True) for name in ("agent", "plot")]
    (found,) = measures(*keys, signatures={"x": GENIE})
    assert (found.name, found.is_by_feature, found.printed_as) == ("x", True, "genie")
    assert [(one.intervention.feature, one.key.feature) for one in found.own] == [("agent", "agent"), ("plot", "plot")]
    assert len(found.paraphrases) == 2


def test_what_is_not_tested_is_no_measure() -> None:
    assert measures(StudyKey("x", "x", "", tested=False)) == []


@pytest.mark.parametrize(
    ("signatures", "names"),
    [
        ({}, ["a", "a1"]),
        ({"a": "measure:coherence|judge:list(m)", "a1": "measure:style|judge:list(m)"}, ["a", "a1"]),
        (
            {"a": "measure:genie|judge:list(m)", "a1": "measure:genie|judge:pairwise(m)"},
            ["genie (list)", "genie (pairwise)"],
        ),
        ({"a": "measure:genie|judge:list(m)", "a1": "measure:genie|judge:list(n)"}, ["a", "a1"]),
        ({"a": "measure:genie", "a1": "measure:genie|judge:list(n)"}, ["a", "genie (list)"]),
    ],
)
def test_measures_of_features_of_one_kind_are_told_apart_by_judge_or_scorer(
    signatures: dict[str, str], names: list[str]
) -> None:
    keys = [StudyKey(scorer, scorer, "agent", tested=True) for scorer in ("a", "a1")]
    assert [one.name for one in measures(*keys, signatures=signatures)] == names


@pytest.mark.parametrize(("spread", "decimals"), [(0.5, 3), (0.004, 4), (0.00004, 6), (1e-9, 6), (math.nan, 3)])
def test_differences_show_with_three_decimals_or_more_where_texts_differ_by_little(
    spread: float, decimals: int
) -> None:
    def near(text: Made) -> float:
        return 1.0 if math.isnan(spread) or text.facts.kind != EDIT else 1.0 + spread * (text.number - 1)

    texts = texts_in_memory(made(3, FEATURES[:1], 1), {"x": near})
    (found,) = measures_of(effects_of(texts, [StudyKey("x", "x", "", tested=True)], resamples=50), {"x": "none"})
    assert found.decimals == decimals
    assert found.is_constant == math.isnan(spread)
    # where nothing moved no text went farther than another
    assert bool(found.shares) != found.is_constant


def test_texts_that_differ_by_little_are_no_constant_and_of_features_each_goes_by_its_own_key() -> None:
    texts = texts_in_memory(made(3, FEATURES[:1], 1), {"x": lambda text: 1.0 + text.number / 100})
    (still,) = measures_of(effects_of(texts, [StudyKey("x", "x", "", tested=True)], resamples=50), {"x": "none"})
    assert not still.is_constant
    lone = measures(StudyKey("x", "x", "agent", tested=True))[0]
    assert lone.deltas(PARAPHRASES) == {"o0": 1.0, "o1": 1.0, "o2": 1.0}
