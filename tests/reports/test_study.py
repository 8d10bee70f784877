"""What a study's log shows, or a file of anybody's scores, what it says in words, and what is refused."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path

import pytest
from tests.reports.made_logs import made_log, scored
from tests.reports.studies import (
    COSINE,
    FEATURES,
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
    wobble,
)

from genie_inspect.errors import InterventionsError
from genie_inspect.logs.files import LogError
from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.reports.effects import StudyKey, effects_of
from genie_inspect.reports.study import Study, measures_of, study
from genie_inspect.reports.study_verdict import confounds, moves_most, robustness, sentence, warnings
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


def test_logs_that_are_no_study_several_or_without_originals_or_texts_made_of_them_are_refused(tmp_path: Path) -> None:
    score = one_number(drift, "x")
    beside = study_log(tmp_path / "beside", made(4), score)
    made_log(tmp_path / "beside", [{"genie": scored({"plot": 0.5})}])
    assert study(tmp_path / "beside").file == beside, "other logs may stand beside it"
    log = made_log(tmp_path / "none", [{"genie": scored({"plot": 0.5})}])
    several = [study_log(tmp_path / "several", made(2), score) for _ in range(2)]
    edits = study_log(tmp_path, [text for text in made(2) if text.facts.kind == EDIT], score)
    for path, told in (
        (log, f"{log} is not a metric study, expected a log of genie_inspect/metric_study"),
        (tmp_path / "several", f"has 2 metric studies, expected one: {', '.join(several)}"),
        (edits, "is a metric study without originals"),
        (study_log(tmp_path, made(2, [], 0), score), "is a metric study without any edit or paraphrase"),
    ):
        with pytest.raises(LogError, match=re.escape(told)):
            study(path)


def test_a_scorer_that_did_not_score_is_named_beside_those_that_did(tmp_path: Path) -> None:
    log = study_log(tmp_path, made(2), together(one_number(drift, "x"), one_number(drift, "y")))
    with pytest.raises(LogError, match="has no scores by 'z', its scorers: x, y"):
        study(log, ["z"])
    assert [measure.name for measure in study(log, ["y"]).measures] == ["y", "length in words"]
    with pytest.raises(LogError, match="has no scores by any scorer"):
        study(study_log(tmp_path, made(2), lambda text: {}))
    rows = ("a,,x,1,one", "a,plot,x,2,one", "a,,x,1,two", "a,plot,x,4,two")
    assert [one.name for one in of_rows(tmp_path, *rows, head=f"{HEAD},scorer").measures] == ["one: x", "two: x"]
    assert [one.scorer for one in of_rows(tmp_path, *rows, head=f"{HEAD},scorer", scorers=["two"]).measures] == ["two"]


SOUND = {"kind": "edit", "original": "o0", "feature": "plot", "alternative": "", "original_text": ""}


@pytest.mark.parametrize(
    "said",
    [
        *([1], "edit", None, {"kind": "edit"}),
        *(SOUND | fault for fault in ({"kind": 3}, {"original": ["o0"]}, {"feature": ""}, {"kind": "EDIT"})),
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


@pytest.mark.parametrize(
    ("signatures", "names"),
    [
        ({}, ["a", "a1"]),
        ({"a": "measure:coherence|judge:list(m)", "a1": "measure:style|judge:list(m)"}, ["a", "a1"]),
        ({"a": "measure:genie|judge:list(m)", "a1": "measure:genie|judge:logit(m)"}, ["genie (list)", "genie (logit)"]),
        ({"a": "measure:genie|judge:list(m)", "a1": "measure:genie|judge:list(n)"}, ["a", "a1"]),
        ({"a": "measure:genie", "a1": "measure:genie|judge:list(n)"}, ["a", "genie (list)"]),
    ],
)
def test_measures_of_features_of_one_kind_are_told_apart_by_judge_or_scorer(
    signatures: dict[str, str], names: list[str]
) -> None:
    keys = [StudyKey(scorer, scorer, "agent", tested=True) for scorer in ("a", "a1")]
    texts = texts_in_memory(made(3, FEATURES[:2], 1), dict.fromkeys(("a", "a1"), drift))
    known = {scorer: Signature(signatures.get(scorer, "none")) for scorer in ("a", "a1")}
    assert [one.name for one in measures_of(effects_of(texts, keys), known)] == names


HEAD = "original,edited,key,value"


def of_rows(folder: Path, *rows: str, head: str = HEAD, scorers: Sequence[str] = ()) -> Study:
    file = folder / "scores.csv"
    file.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return study(file, scorers)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_file_of_a_logs_scores_shows_what_the_log_shows_but_for_words(tmp_path: Path, form: str) -> None:
    texts = made(16, per_prompt=2)
    log = study(study_log(tmp_path, texts, by_feature(sharp)))
    names = [*HEAD.split(","), "prompt", "scorer"]
    kinds = {ORIGINAL: "", PARAPHRASE: PARAPHRASE}
    rows = [
        f"{text.facts.original},{kinds.get(text.facts.kind, text.facts.feature)},{feature},{sharp(text, feature)!r},"
        f"{text.prompt},genie"
        for text in texts
        for feature in FEATURES
    ]
    read = of_rows(tmp_path, *rows, head=",".join(names))
    if form == "jsonl":
        file = tmp_path / "scores.jsonl"
        lines = [dict(zip(names, row.split(","), strict=True)) for row in rows]
        file.write_text("".join(json.dumps(line | {"value": float(line["value"])}) + "\n" for line in lines))
        read = study(file)
    assert [one.name for one in read.measures] == ["genie"]
    assert len(read.effects) == 12
    for effect in read.effects:
        other = found(log, "genie", effect.intervention, effect.key.name)
        # the log's measure is known to go from 0 to 1, which ends its intervals
        own, others = (astuple(replace(one.difference, low=0.0, high=0.0)) for one in (effect, other))
        assert own == pytest.approx(others, nan_ok=True)
        assert (effect.pairs.rows, effect.pairs.prompts) == (other.pairs.rows, other.pairs.prompts)
        assert effect.p_value == pytest.approx(other.p_value, nan_ok=True)
        assert math.isnan(effect.words)
        assert math.isnan(effect.left)
    assert sentence(read.measures[0]) == sentence(log.measures[0])
    assert warnings(read) == warnings(log)


def test_edits_that_change_neither_feature_stand_for_originals_where_there_are_none(tmp_path: Path) -> None:
    rows = ["a,plot,plot,9", "a,plot,plot,7", "a,style,plot,2", "a,style,plot,4", "a,agent,plot,6"]
    read = of_rows(tmp_path, *rows, "b,plot,plot,5", "b,agent,plot,1", "b,paraphrase,plot,3")
    # of a: (9 + 7) / 2 beside (2 + 4 + 6) / 3
    assert found(read, "scores", "plot", "plot").pairs.rows == {"a": (4, 8), "b": (1, 5)}
    # an edit of style is held against neither itself nor edits of the plot
    assert found(read, "scores", "style", "plot").pairs.rows == {"a": (6, 3)}
    assert found(read, "scores", "paraphrase", "plot").pairs.rows == {"b": (1, 3)}
    assert warnings(read)[0].startswith(
        "no originals: each original is replaced by those of its edits that change neither"
    )
    # an edit beside which nothing stands is counted
    alone = found(of_rows(tmp_path, "a,plot,plot,9", "a,style,plot,2", "b,plot,plot,5"), "scores", "plot", "plot").pairs
    assert (alone.rows, alone.left_out) == ({"a": (2, 9)}, 1)
    (measure,) = read.measures
    assert "; what else its edits move cannot be told without originals." in sentence(measure)
    # scores of whole texts need originals
    read = of_rows(tmp_path, "a,plot,plot,9", "a,style,plot,2", "a,plot,cosine,1")
    assert "not studied, because they need originals: cosine" in warnings(read)
    assert [one.name for one in read.measures] == ["scores"]
    with_originals = of_rows(tmp_path, "a,,plot,5", "a,plot,plot,9", "a,,cosine,1", "a,plot,cosine,3")
    assert found(with_originals, "scores", "plot", "cosine").pairs.rows == {"a": (1, 3)}


def test_prompts_are_pairs_where_they_are_named_and_else_each_original_is(tmp_path: Path) -> None:
    rows = ["a,,plot,1", "a,plot,plot,2", "b,,plot,3", "b,plot,plot,6"]
    assert found(of_rows(tmp_path, *rows), "scores", "plot", "plot").difference.pairs == 2
    named = of_rows(tmp_path, *(f"{row},castle" for row in rows), head=f"{HEAD},prompt")
    assert found(named, "scores", "plot", "plot").pairs.prompts == {"castle": (2, 4)}
    assert not any("no prompts" in line for line in warnings(named))
    assert any("no prompts are named" in line for line in warnings(of_rows(tmp_path, *rows)))


def test_names_of_features_are_the_same_in_any_case_and_an_empty_value_is_no_score(tmp_path: Path) -> None:
    read = of_rows(tmp_path, "a,,Social Atmosphere,1", "a,social_atmosphere,Social_Atmosphere,2", "a,,x,1", "a,plot,x,")
    effect = found(read, "scores", "social_atmosphere", "social_atmosphere")
    assert (effect.is_own, effect.pairs.rows) == (True, {"a": (1, 2)})
    pairs = found(of_rows(tmp_path, "a,,x,1", "a,plot,x,", "a,plot,x,3"), "scores", "plot", "x").pairs
    assert (pairs.rows, pairs.pairs, pairs.left_out) == ({"a": (1, 3)}, 1, 1)
    misspelt = of_rows(tmp_path, "a,,plot,1", "a,plot,plot,2", "a,plto,plot,2")
    assert "scores: it has no score of plto, which was edited" in warnings(misspelt)


@pytest.mark.parametrize(
    ("rows", "head", "fault"),
    [
        (["a,,plot"], "original,edited,key", "has no column value"),
        (["a,,plot,1,x"], f"{HEAD},note", "row 2 has a column 'note', expected original, edited, key, value and, wher"),
        (["a,,plot,1", "a,plot,plot,inf"], HEAD, "row 3: value is 'inf', expected a number of at most 1e+12, or no"),
        (["a,original,plot,1"], HEAD, "row 2: edited is 'original', expected the name of a feature, paraphrase, or"),
        (["a,,plot,1", "a,42,plot,1"], HEAD, "row 3: edited is '42', expected the name of a feature, paraphrase, or"),
        (
            ["a,,plot,1,", "a,plot,plot,1,t", "b,plot,plot,1,t"],
            f"{HEAD},id",
            "row 4: text 't' is an edit of plot of 'b', expected an edit of plot of 'a' as in",
        ),
        (["a,,plot,1", "a,,plot,2"], HEAD, "row 3: original 'a' has a second value of plot, expected one"),
        (["a,,x,1,p", "a,plot,x,2,q"], f"{HEAD},prompt", "row 3: original 'a' has the prompt 'q', expected 'p' as in"),
        (["a,,x,1,p", "b,,x,2,"], f"{HEAD},prompt", "row 3: prompt is '', expected one in every row or in none"),
        ([",,x,1"], HEAD, "row 2: original is empty, expected a name"),
        (["a,,x,1", "b,plot,x,1"], HEAD, "has no edit or paraphrase of an original that it has"),
        (["a,plot,plot,1"], HEAD, "has no originals (rows whose edited is empty); edits of two features or more could"),
        ([], HEAD, "has no scores, expected rows of original, edited, key, value"),
    ],
)
def test_what_cannot_be_used_is_one_line_that_names_it(tmp_path: Path, rows: list[str], head: str, fault: str) -> None:
    with pytest.raises(InterventionsError) as refused:
        of_rows(tmp_path, *rows, head=head)
    assert fault in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path / "scores.csv"))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", ["NaN", "true", "[1]", '"much"', "1" + "0" * 400])
def test_a_value_of_json_that_is_no_finite_number_is_refused(tmp_path: Path, value: str) -> None:
    file = tmp_path / "scores.jsonl"
    file.write_text(f'{{"original": 1, "edited": null, "key": "plot", "value": {value}}}\n', encoding="utf-8")
    with pytest.raises(InterventionsError, match=r"line 1: value is .*, expected a number of at most"):
        study(file)


def length(text: Made) -> float:
    """Words of texts of which paraphrases are longer; an edit exchanges a word for a word, or two for one."""
    more = {ORIGINAL: 0, EDIT: text.number % 2, PARAPHRASE: 30 + text.number % 5 + text.copy}
    return 100.0 + 2 * text.number + more.get(text.facts.kind, 0)


def setting_reader(text: Made) -> float:
    """A measure that reads one feature: 0.2 for what originals have, more where it is edited."""
    return 0.2 + (0.5 + wobble(text.number) if is_edit(text, "setting") else 0.0)


def noise(text: Made) -> float:
    return float((hash((text.number, text.copy, len(text.facts.feature))) * 2654435761) % 1009) / 1009


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study of measures that are known through and through."""
    measures = together(
        by_feature(sharp),
        one_number(length, "length"),
        one_number(lambda text: 0.5, "flat"),
        one_number(noise, "noise"),
    )
    return study(study_log(tmp_path_factory.mktemp("known"), made(12), measures))


def said(study_: Study, name: str) -> str:
    return sentence(measure_of(study_, name))


def test_measures_of_length_of_chance_and_of_nothing_are_told_apart_though_means_round_differently(
    known: Study, tmp_path: Path
) -> None:
    assert robustness(measure_of(known, "length")) == "moved"
    told = said(known, "length")
    assert told.startswith("length is not shown to be moved by any edit; paraphrases move it (d +")
    # every paraphrase goes farther than any edit
    assert told.endswith("as far as edits of agent, plot and setting or farther.")
    assert said(known, "noise") == (
        "noise is not shown to be moved by any edit; whether paraphrases move it cannot be told from 12 prompts."
    )
    assert said(known, "flat") == (
        "flat is constant: it gives every text the same value, so that there is no effect and no test."
    )
    assert robustness(measure_of(known, "flat")) == "not measured"

    def tenth(text: Made) -> float:
        # of one text an epoch is missing: the mean of two tenths, and of three, differ in their last bits
        return math.nan if (text.number, text.epoch) == (1, 3) and text.facts.kind == EDIT else 0.1

    log = study_log(tmp_path, made(3, paraphrases=3, epochs=3), one_number(tenth, "tenth"))
    assert said(study(log), "tenth").startswith("tenth is constant: ")


def test_of_a_sharp_measure_each_edited_feature_moves_most_and_paraphrases_leave_it_equivalent(
    known: Study, tmp_path: Path
) -> None:
    measure = measure_of(known, "genie")
    assert [effect.intervention for effect in moves_most(measure)] == list(FEATURES)
    assert robustness(measure) == "equivalent"
    assert confounds(measure) == []
    assert "; by d the edited feature moves most in 3 of these 3; " in said(known, "genie")

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
    ((own, other),) = confounds(measure)
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
