"""What a study's log shows, and logs that are none."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.reports.made_logs import made_log, scored
from tests.reports.studies import (
    COSINE,
    FEATURES,
    GENIE,
    Made,
    by_feature,
    found,
    is_edit,
    made,
    measure_of,
    one_number,
    sharp,
    study_log,
    texts_in_memory,
    together,
)

from genie_inspect.logs.files import LogError
from genie_inspect.logs.scores import NONE
from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.reports.effects import Effect, StudyKey, effects_of
from genie_inspect.reports.study import StudiedMeasure, measures_of, study
from genie_inspect.signature import Signature


def drift(text: Made) -> float:
    """A little for each edit, by original."""
    return 0.5 + (0.1 * text.number if text.facts.kind == EDIT else 0.0)


def test_keys_that_are_called_like_edited_features_are_scores_of_them_whoever_gives_them(tmp_path: Path) -> None:
    def mine(text: Made) -> dict[str, object]:
        return {"mine": scored({"plot": sharp(text, "plot"), "cover": 0.5, "spine": 0.1, "ink": 0.2}, "none")}

    log = study_log(tmp_path, made(8), together(by_feature(sharp), mine))  # type: ignore[arg-type]  # one score
    result = study(log)
    assert [(one.name, one.is_by_feature, one.keys) for one in result.measures] == [
        ("genie", True, FEATURES),
        ("mine", True, ("plot",)),
        ("length in words", False, ("words",)),
    ]
    # of the other keys none is its headline: the first would have been, and is the feature's
    assert {effect.key.name for effect in result.effects if not effect.key.tested} == {"cover", "spine", "ink"}


def test_the_headline_of_a_measure_is_tested_and_its_other_keys_are_shown(tmp_path: Path) -> None:
    values = {"cosine_mean": 0.5, "cosine_nearest": 0.2}
    log = study_log(
        tmp_path, made(4), lambda text: {"cosine": scored({k: v + drift(text) for k, v in values.items()}, COSINE)}
    )
    result = study(log)
    assert [measure.keys for measure in result.measures] == [("cosine_mean",), ("words",)]
    assert {effect.key.name for effect in result.effects} == {*values, "words"}


def test_two_measures_agree_by_kendalls_tau_between_their_differences(tmp_path: Path) -> None:
    def other(text: Made) -> float:
        # the two largest change places: of six pairs of originals one is in the other order
        order = (0, 1, 3, 2)[text.number]
        return 0.1 * order if is_edit(text, "plot") else 0.0

    log = study_log(
        tmp_path, made(4), together(one_number(other, "x"), by_feature(lambda t, f: drift(t) if f == "plot" else 0.5))
    )
    result = study(log)
    assert result.agreements["genie", "x", "plot"] == pytest.approx((4 / 6, 4))
    assert math.isnan(result.agreements["genie", "x", "agent"][0])  # x puts nothing in order there
    assert ("genie", "x", "paraphrase") not in result.agreements  # no one feature should move


def test_shares_go_from_the_text_that_went_least_far_to_the_one_that_went_farthest(tmp_path: Path) -> None:
    def by_steps(text: Made) -> float:
        # edits of the plot go 1, 2, 3, 4 far, in turn up and down; paraphrases 5 up or 5 down; others 1
        way = -1.0 if (text.copy if text.facts.kind == PARAPHRASE else text.number % 2) else 1.0
        far = {EDIT: 1 + text.number * (text.facts.feature == "plot"), PARAPHRASE: 5}.get(text.facts.kind, 0)
        return 10.0 + way * far

    result = study(study_log(tmp_path, made(4), one_number(by_steps, "x")))
    shares = measure_of(result, "x").shares
    assert shares == pytest.approx({"agent": 0.0, "plot": 1.5 / 4, "setting": 0.0, "paraphrase": 1.0})
    assert found(result, "x", "paraphrase").difference.delta == 0


def test_a_folder_may_hold_other_logs_beside_the_study(tmp_path: Path) -> None:
    log = study_log(tmp_path, made(4), one_number(drift, "x"))
    made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])
    assert study(tmp_path).file == log


def test_logs_that_are_no_study_several_or_without_originals_or_texts_made_of_them_are_refused(tmp_path: Path) -> None:
    score = one_number(drift, "x")
    log = made_log(tmp_path / "none", [{"genie": scored({"plot": 0.5})}])
    several = [study_log(tmp_path / "several", made(2), score) for _ in range(2)]
    edits = study_log(tmp_path, [text for text in made(2) if text.facts.kind == EDIT], score)
    for path, told in (
        (log, f"{log} is no metric study: none of its samples says what was done to its text"),
        (tmp_path / "several", f"holds 2 metric studies, expected one: {', '.join(several)}"),
        (edits, "is a metric study without originals"),
        (study_log(tmp_path, made(2, [], 0), score), "is a metric study without any edit or paraphrase"),
    ):
        with pytest.raises(LogError) as error:
            study(path)
        assert told in str(error.value)


def test_a_scorer_that_did_not_score_is_named_beside_those_that_did(tmp_path: Path) -> None:
    log = study_log(tmp_path, made(2), together(one_number(drift, "x"), one_number(drift, "y")))
    with pytest.raises(LogError, match="has no scores by 'z', its scorers: x, y"):
        study(log, ["z"])
    assert [measure.name for measure in study(log, ["y"]).measures] == ["y", "length in words"]
    with pytest.raises(LogError, match="has no scores by any scorer"):
        study(study_log(tmp_path, made(2), lambda text: {}))


@pytest.mark.parametrize(
    "said",
    [
        [1],
        "edit",
        None,
        {"kind": "edit"},
        {"kind": 3, "original": "o0", "feature": "plot", "alternative": "", "original_text": ""},
        {"kind": "edit", "original": ["o0"], "feature": "plot", "alternative": "", "original_text": ""},
        {"kind": "edit", "original": "o0", "feature": "", "alternative": "", "original_text": ""},
        {"kind": "EDIT", "original": "o0", "feature": "plot", "alternative": "", "original_text": ""},
    ],
)
def test_metadata_of_another_form_makes_a_text_unknown_and_nothing_else(tmp_path: Path, said: object) -> None:
    texts = made(2)
    log = made_log(
        tmp_path,
        [{"x": scored(drift(text), "none")} for text in texts] + [{"x": scored(9.0, "none")}],
        places=[(text.id, 1) for text in texts] + [("odd", 1)],
        metadatas=[text.facts.as_metadata() for text in texts] + [{"intervention": said}],
    )
    result = study(log)
    assert (result.texts.unknown, len(result.texts.originals)) == (1, 2)
    assert found(result, "x", "plot").difference.after == pytest.approx(0.55)


def value(text: Made) -> float:
    """Originals 1, 2, 3 and so on; an edit of the agent adds 2 a text on, one of the plot nothing, a paraphrase 1."""
    added = {"agent": 2.0 + text.number, "plot": 0.0}.get(text.facts.feature, 1.0)
    return text.number + 1.0 + (0.0 if text.facts.kind == ORIGINAL else added)


def effects(*keys: StudyKey) -> Sequence[Effect]:
    texts = texts_in_memory(made(3, FEATURES[:2], 1), {key.scorer: value for key in keys})
    return effects_of(texts, keys, resamples=50)


def measures(*keys: StudyKey, signatures: Mapping[str, str] | None = None) -> list[StudiedMeasure]:
    known = {key.scorer: "none" for key in keys} | dict(signatures or {})
    return list(measures_of(effects(*keys), {scorer: Signature(text) for scorer, text in known.items()}))


def test_a_number_of_whole_texts_is_judged_by_every_edit() -> None:
    (found,) = measures(StudyKey("x", "x", "", tested=True))
    assert found.deltas("agent") == {"o0": 2.0, "o1": 3.0, "o2": 4.0}
    assert [effect.intervention for effect in found.own] == ["agent", "plot"]
    assert [effect.intervention for effect in found.row("agent")] == ["agent"]
    assert not found.is_constant
    assert found.printed_as == "x"


def test_a_measure_of_features_is_printed_by_its_kind_and_judged_by_each_feature_s_own_key() -> None:
    keys = [StudyKey("x", "x", name, tested=True) for name in ("agent", "plot")]
    (found,) = measures(*keys, signatures={"x": GENIE})
    assert (found.name, found.is_by_feature, found.printed_as) == ("x", True, "genie")
    assert [(one.intervention, one.key.feature) for one in found.own] == [("agent", "agent"), ("plot", "plot")]
    assert len(found.paraphrases) == 2
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
    (found,) = measures_of(effects_of(texts, [StudyKey("x", "x", "", tested=True)], resamples=50), {"x": NONE})
    assert found.decimals == decimals
    assert found.is_constant == math.isnan(spread)
    # where nothing moved no text went farther than another
    assert bool(found.shares) != found.is_constant


def test_texts_that_differ_by_little_are_no_constant_and_of_features_each_goes_by_its_own_key() -> None:
    texts = texts_in_memory(made(3, FEATURES[:1], 1), {"x": lambda text: 1.0 + text.number / 100})
    (still,) = measures_of(effects_of(texts, [StudyKey("x", "x", "", tested=True)], resamples=50), {"x": NONE})
    assert not still.is_constant
    lone = measures(StudyKey("x", "x", "agent", tested=True))[0]
    assert lone.deltas(PARAPHRASE) == {"o0": 1.0, "o1": 1.0, "o2": 1.0}
