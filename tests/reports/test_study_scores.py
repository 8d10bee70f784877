"""A metric study of scores from a file: what counts as what, and files that are refused."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.reports.studies import Made, by_feature, found, made, sharp, study_log

from genie_inspect.errors import InterventionsError
from genie_inspect.logs.files import LogError
from genie_inspect.populations.interventions import ORIGINAL, PARAPHRASE
from genie_inspect.reports.study import Study, study
from genie_inspect.reports.study_verdict import sentence, warnings

HEAD = "original,edited,key,value"


def table(folder: Path, *rows: str, head: str = HEAD) -> Path:
    file = folder / "scores.csv"
    file.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return file


def of_rows(folder: Path, *rows: str, head: str = HEAD) -> Study:
    return study(table(folder, *rows, head=head))


def rows_of(texts: Sequence[Made]) -> list[str]:
    kinds = {ORIGINAL: "", PARAPHRASE: PARAPHRASE}
    return [
        f"{text.facts.original},{kinds.get(text.facts.kind, text.facts.feature)},{feature},{sharp(text, feature)!r},"
        f"{text.prompt},genie"
        for text in texts
        for feature in ("agent", "plot", "setting")
    ]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_file_of_a_logs_scores_shows_what_the_log_shows_but_for_words(tmp_path: Path, form: str) -> None:
    texts = made(16, per_prompt=2)
    log = study(study_log(tmp_path, texts, by_feature(sharp)))
    names = [*HEAD.split(","), "prompt", "scorer"]
    rows = rows_of(texts)
    file = table(tmp_path, *rows, head=",".join(names))
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
    assert warnings(read)[0].startswith("no originals: those edits of an original stand for it that change neither")
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


def test_scorers_are_chosen_by_name(tmp_path: Path) -> None:
    file = table(tmp_path, "a,,x,1,one", "a,plot,x,2,one", "a,,x,1,two", "a,plot,x,4,two", head=f"{HEAD},scorer")
    assert [one.name for one in study(file).measures] == ["one: x", "two: x"]
    assert [one.scorer for one in study(file, ["two"]).measures] == ["two"]
    with pytest.raises(LogError, match="has no scores by 'three', its scorers: one, two"):
        study(file, ["three"])


@pytest.mark.parametrize(
    ("rows", "head", "fault"),
    [
        (["a,,plot"], "original,edited,key", "has no column value"),
        (
            ["a,,plot,1,x"],
            f"{HEAD},note",
            "row 2 has a column 'note', expected original, edited, key, value and, where",
        ),
        (
            ["a,,plot,1", "a,plot,plot,much"],
            HEAD,
            "row 3: value is 'much', expected a number of at most 1e+12, or nothing",
        ),
        (["a,,plot,inf"], HEAD, "row 2: value is 'inf', expected a number of at most 1e+12, or nothing"),
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
    with pytest.raises(
        InterventionsError, match=r"line 1: value is .*, expected a number of at most 1e\+12, or nothing"
    ):
        study(file)
