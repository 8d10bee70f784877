"""What a study's log shows, or a file of anybody's scores, and what is refused."""

import json
import math
from pathlib import Path

import pytest
from tests.reports.made_logs import made_log, scored
from tests.reports.studies import (
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
)

from genie_inspect.errors import InterventionsError
from genie_inspect.logs.files import LogError
from genie_inspect.logs.scores import NONE
from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.reports.effects import StudyKey, effects_of
from genie_inspect.reports.study import Study, measures_of, study
from genie_inspect.reports.study_verdict import sentence, warnings
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
    file = score_table(tmp_path, "a,,x,1,one", "a,plot,x,2,one", "a,,x,1,two", "a,plot,x,4,two", head=f"{HEAD},scorer")
    assert [one.name for one in study(file).measures] == ["one: x", "two: x"]
    assert [one.scorer for one in study(file, ["two"]).measures] == ["two"]


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
    assert [one.name for one in measures_of(effects_of(texts, keys, resamples=50), known)] == names


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


HEAD = "original,edited,key,value"


def score_table(folder: Path, *rows: str, head: str = HEAD) -> Path:
    file = folder / "scores.csv"
    file.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return file


def of_rows(folder: Path, *rows: str, head: str = HEAD) -> Study:
    return study(score_table(folder, *rows, head=head))


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
    file = score_table(tmp_path, *rows, head=",".join(names))
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
        figures = ("pairs", "before", "after", "delta", "spread", "effect", "p_value", "margin", "p_unlike")
        for name in figures:
            assert getattr(effect.difference, name) == pytest.approx(getattr(other.difference, name), nan_ok=True)
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


def test_scores_of_whole_texts_need_originals_and_are_named_where_there_are_none(tmp_path: Path) -> None:
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
