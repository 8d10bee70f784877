"""What a study comes to: a sentence a measure, what to beware of, and all of it as values beside what was printed."""

import math
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any

from genie_inspect.files.tables import csv_text, plain
from genie_inspect.populations.interventions import PARAPHRASE
from genie_inspect.reports.charts import in_words
from genie_inspect.reports.effects import Effect, kind_of
from genie_inspect.reports.study import StudiedMeasure, Study
from genie_inspect.statistics.differences import LEVEL, TEST
from genie_inspect.statistics.equivalence import MARGIN_IN_STANDARD_DEVIATIONS

MOST_NAMED = 3  # confounded features that one sentence can name and still be read


def robustness(measure: StudiedMeasure) -> str:
    """Under paraphrases: `equivalent` (in every key), `moved` (in one), or neither."""
    measured = [effect for effect in measure.paraphrases if effect.difference.pairs]
    if not measured or measure.is_constant:
        return "not measured"
    # a key without any spread among originals has no margin, but what no paraphrase changes needs none
    if all(effect.is_equivalent or effect.is_constant for effect in measured):
        return "equivalent"
    return "moved" if any(map(_goes_far, measured)) else "cannot tell"


def _goes_far(effect: Effect) -> bool:
    return effect.moved and not effect.is_equivalent


def confounds(measure: StudiedMeasure) -> list[tuple[Effect, Effect]]:
    """The effects that hold of edits on another feature, of a d as large as the edited one's, each after that one."""
    return [
        (own, other)
        for own in measure.own
        if own.key.feature and measure.has_originals
        for other in measure.row(own.intervention)
        if other.moved and not other.is_own and other.magnitude >= own.magnitude
    ]


def moves_most(measure: StudiedMeasure) -> list[Effect]:
    """Of a measure by feature the effects on the edited feature that hold and are the one largest d of their row."""
    return [effect for effect in measure.own if effect.key.feature and effect.moved and is_largest(effect, measure)]


def is_largest(effect: Effect, measure: StudiedMeasure) -> bool:
    others = [other.magnitude for other in measure.row(effect.intervention) if other is not effect]
    # a comparison with NaN is false: what could not be measured is not larger
    return effect.magnitude > max((size for size in others if not math.isnan(size)), default=0.0)


def sentence(measure: StudiedMeasure) -> str:
    name = in_words(measure.name)
    if not any(effect.difference.pairs for effect in measure.effects):
        return f"{name}: no text and its original both have a value, so that nothing is known of it."
    if measure.is_constant:
        return f"{name} is constant: it gives every text the same value, so that there is no effect and no test."
    parts = [*_on_edits(measure), _on_paraphrases(measure), *_on_confounds(measure), *_on_length(measure)]
    return f"{'For reference, ' if measure.is_length else ''}{name} {'; '.join(parts)}."


def _on_edits(measure: StudiedMeasure) -> Iterator[str]:
    judged = [effect for effect in measure.own if effect.difference.pairs]
    holding = [effect for effect in judged if effect.moved]
    if not judged:
        yield "was tried on no edit of a feature that it scores" if measure.is_by_feature else "was tried on no edit"
    elif not holding:
        yield "is not shown to be moved by any edit"
    else:
        told = listed([f"{effect.intervention} ({_size(effect)})" for effect in holding])
        still = [effect.intervention for effect in judged if not effect.moved]
        yield f"is sensitive to edits of {told}" + (f", not shown for {listed(still)}" if still else "")
        if measure.is_by_feature and len(measure.keys) > 1:
            yield f"by d the edited feature moves most in {len(moves_most(measure))} of these {len(holding)}"


def _on_paraphrases(measure: StudiedMeasure) -> str:
    measured = [effect for effect in measure.paraphrases if effect.difference.pairs]
    match robustness(measure):
        case "equivalent" if all(effect.is_constant for effect in measured):
            return "no paraphrase changes it"
        case "equivalent":
            where = " in every feature" if len(measure.keys) > 1 else ""
            return f"paraphrases leave it equivalent{where}, within {MARGIN_IN_STANDARD_DEVIATIONS} sd of the originals"
        case "moved":
            moved = list(filter(_goes_far, measured))
            if measure.is_by_feature:
                return f"paraphrases move it in {listed([f'{one.key.name} ({_size(one)})' for one in moved])}"
            # which edits move it no farther than paraphrases do
            near = [effect.intervention for effect in measure.own if effect.size <= moved[0].size]
            as_far = f" as far as edits of {listed(near)} or farther" if near else ""
            return f"paraphrases move it ({_size(moved[0])}){as_far}"
        case "cannot tell":
            unsure = [effect for effect in measured if not effect.is_equivalent]
            where = f" in {listed([effect.key.name for effect in unsure])}" if measure.is_by_feature else ""
            prompts = min(effect.difference.pairs for effect in unsure)
            return f"whether paraphrases move it{where} cannot be told from {prompts} prompts"
    return "it was tried on no paraphrase"


def _on_confounds(measure: StudiedMeasure) -> Iterator[str]:
    pairs = confounds(measure)
    told = [
        f"edits of {own.intervention} move {other.key.name} ({_size(other)}) as much as their own feature "
        f"({_size(own)}) or more"
        for own, other in pairs[:MOST_NAMED]
    ]
    if told:
        more = [f"{len(pairs) - MOST_NAMED} more"] if len(pairs) > MOST_NAMED else []
        yield f"it confounds: {listed([*told, *more])}"
    elif not measure.has_originals:
        yield "what else its edits move cannot be told without originals"
    elif measure.is_by_feature and any(effect.moved for effect in measure.own):
        yield "it confounds nothing that could be shown"


def _on_length(measure: StudiedMeasure) -> Iterator[str]:
    """What is left of the effects that hold when length is taken out; nothing where no text's length changed."""
    holding = list(filter(_goes_far, (*measure.own, *measure.paraphrases)))
    if measure.is_length or not any(any(effect.pairs.words.values()) for effect in holding):
        return
    if all(effect.left == 0 for effect in holding):
        yield "with length taken out nothing is left"
        return
    fates: dict[str, list[str]] = {"holds": [], "turns round": [], "is no longer shown": []}
    for effect in holding:
        same_way = (effect.left > 0) == (effect.difference.delta > 0)
        fate = "is no longer shown" if not effect.is_left else "holds" if same_way else "turns round"
        by_feature = effect.is_paraphrase and measure.is_by_feature
        fates[fate].append(f"paraphrase ({effect.key.name})" if by_feature else effect.intervention)
    told = ", ".join(f"{fate} for {listed(names)}" for fate, names in fates.items() if names)
    yield f"with length taken out the effect {told}"


def _size(effect: Effect) -> str:
    # differences that are all the same have no spread to measure them in
    difference = effect.difference
    return f"always {difference.delta:+.3g}" if math.isnan(difference.effect) else f"d {difference.effect:+.2f}"


def listed(names: Sequence[str]) -> str:
    *words, last = map(in_words, names)
    return f"{', '.join(words)} and {last}" if words else last


STAND_INS = (
    "each original is replaced by those of its edits that change neither the edited nor the scored feature. A "
    "difference is of edits from other edits; a feature that was not edited may differ because the others moved it"
)


def warnings(study: Study) -> list[str]:
    edited = [one for one in study.texts.changed if one != PARAPHRASE]
    measures = [measure for measure in study.measures if not measure.is_length]
    values = [line for measure in measures for line in _on_values(measure, edited)]
    return [*_on_texts(study), *values, *(line for measure in measures for line in _on_tests(measure))]


def _on_texts(study: Study) -> Iterator[str]:
    texts = study.texts
    if not texts.originals:
        yield f"no originals: {STAND_INS}"
    if study.unstudied:
        yield f"not studied, because they need originals: {', '.join(study.unstudied)}"
    if not study.names_prompts:
        yield "no prompts are named: each original is a prompt of its own, so that originals of one prompt count twice"
    if texts.unknown:
        yield f"left out because nothing says what was done to them: {texts.unknown} texts"
    for intervention, changed in texts.changed.items():
        made = len(changed)
        told = f"{PARAPHRASE}s" if intervention == PARAPHRASE else f"edits of {in_words(intervention)}"
        if orphans := texts.orphans[intervention]:
            yield f"{orphans} of {made + orphans} {told} are left out: their original was not scored"
        if same := texts.same[intervention]:
            yield f"{same} of {made} {told} are word for word their original, and count with a difference of 0"


def _on_values(measure: StudiedMeasure, edited: Sequence[str]) -> Iterator[str]:
    name = in_words(measure.name)
    for intervention in dict.fromkeys(effect.intervention for effect in measure.effects):
        # the key of those by which it is judged that lost the most
        judged = [effect.pairs for effect in measure.row(intervention) if effect.is_judged]
        pairs = max(judged, key=lambda pairs: pairs.left_out, default=None)
        if pairs and pairs.left_out:
            lost = f"{pairs.left_out} of {pairs.left_out + pairs.pairs} pairs of {in_words(intervention)}"
            yield f"{name}: {lost} are left out: a side has no value"
    if not measure.is_by_feature:
        if not edited:
            yield f"{name}: there are no edits, so that its sensitivity is not known"
        return
    if unedited := [key for key in measure.keys if key not in edited]:
        yield f"{name}: no text has an edit of {listed(unedited)}, so that its sensitivity to that is not known"
    if unscored := [feature for feature in edited if feature not in measure.keys]:
        yield f"{name}: it has no score of {listed(unscored)}, which was edited"


def _on_tests(measure: StudiedMeasure) -> Iterator[str]:
    if not measure.own:
        return
    # the effect with the most prompts: where it cannot hold, none can
    effect = max(measure.own, key=lambda effect: effect.difference.pairs)
    least, tests, pairs = effect.difference.least_p, effect.tests, effect.difference.pairs
    if pairs == 1:
        yield f"{in_words(measure.name)}: one prompt allows no test"
    elif least * tests >= LEVEL:
        yield (
            f"{in_words(measure.name)}: with {pairs} prompts no p-value lies below {least:.2g}, over {tests} tests "
            f"{min(1.0, least * tests):.2g}: no effect could be significant, however large"
        )


FEATURES = ("agent", "perspective", "plot", "setting", "social_atmosphere", "style")


def _column(effects: str) -> dict[str, dict[str, float | bool]]:
    """A column of table 3, the paraphrase last; a star (significant) or = (equivalent) says that the effect holds."""
    printed = zip((*FEATURES, PARAPHRASE), effects.split(), strict=True)
    return {name: {"effect": float(text.rstrip("*=")), "holds": text[-1] in "*="} for name, text in printed}


# by measure, or the key of it that is tested; then by edited feature, or `paraphrase`
EFFECTS = MappingProxyType(
    {
        "genie": _column(".62* 1.01* .71* .93* .47* .38* .03="),
        "cosine_mean": _column(".54* .67* .22* .81* .24* .68* .45"),
        "compression_novelty": _column(".05 -.19* .01 1.08* .23* .07 1.25"),
        "creativity_index_mean": _column("1.06* 1.17* .93* .97* 1.00* 1.43* 1.29"),
        "partition_novel": _column(".52* .14 .30* .44* .16 .07 .69"),
        "litbench_win_rate": _column("-.45* -.87* -.33* -.48* -.42* -1.53* -.94"),
    }
)
_MATRIX = {
    "agent": ".62 .29 .39 .18 .22 .37",
    "perspective": ".44 1.01 .29 .28 .29 .43",
    "plot": ".55 .04 .71 .35 .21 .23",
    "setting": ".21 .04 .23 .93 .13 .10",
    "social_atmosphere": ".44 .04 .35 .22 .47 .35",
    "style": ".31 .3 .13 .23 .11 .38",
    PARAPHRASE: ".02 .04 .12 .06 -.14 .09",
}
# by edited feature, or `paraphrase` (of which all are equivalent): the effect on each feature's score
MATRIX = {name: dict(zip(FEATURES, map(float, row.split()), strict=True)) for name, row in _MATRIX.items()}


def as_values(study: Study, *, published: bool = False) -> dict[str, Any]:
    texts = study.texts
    values: dict[str, Any] = {
        **{"log": study.file, "model": study.model},
        **{"originals": len(texts.originals), "prompts": len(set(texts.prompts.values()))},
        "edits": [
            {
                **{"kind": kind_of(one), "edited": one, "texts": len(changed)},
                **{"without_original": texts.orphans[one], "same_as_original": texts.same[one]},
            }
            for one, changed in texts.changed.items()
        ],
        "unknown_texts": texts.unknown,
        "signatures": study.signatures,
        "test": TEST,
        "measures": [
            {
                **{"measure": measure.name, "scorer": measure.scorer, "keys": measure.keys},
                "is_by_feature": measure.is_by_feature,
                "sentence": sentence(measure),
                "sensitive_to": [effect.intervention for effect in measure.own if effect.moved],
                "under_paraphrase": robustness(measure),
                "confounds": [
                    {"edited": own.intervention, "moves": other.key.name} for own, other in confounds(measure)
                ],
                "edited_feature_moves_most": [effect.intervention for effect in moves_most(measure)],
                "shares": measure.shares,
            }
            for measure in study.measures
        ],
        "warnings": warnings(study),
        "effects": list(map(_record, study.effects)),
        "agreements": [
            {"first": first, "second": second, "edited": one, "tau": tau, "originals": originals}
            for (first, second, one), (tau, originals) in study.agreements.items()
        ],
        "answers": [
            {"scorer": scorer, "edited": one, "feature": feature, "changed": changed, "compared": compared}
            for (scorer, one, feature), (changed, compared) in study.answers.items()
        ],
        **({"published": {"effects": EFFECTS, "matrix": MATRIX}} if published else {}),
    }
    return {name: plain(value) for name, value in values.items()}


def as_csv(study: Study) -> str:
    # a study has effects: at least on length, or on the keys of its file
    records = [plain(_record(effect)) for effect in study.effects]
    return csv_text(list(records[0]), [list(record.values()) for record in records])


def _record(effect: Effect) -> dict[str, object]:
    key, one, pairs, difference = effect.key, effect.intervention, effect.pairs, effect.difference
    return {
        **{"scorer": key.scorer, "key": key.name, "feature": key.feature or None, "kind": kind_of(one), "edited": one},
        **{"tested": key.tested, "is_own": effect.is_own, "prompts": difference.pairs, "originals": len(pairs.rows)},
        **{"texts": pairs.pairs, "left_out": pairs.left_out},
        **{name: getattr(difference, name) for name in ("before", "after", "delta", "low", "high", "spread", "effect")},
        **{"size": effect.size, "is_constant": effect.is_constant, "p_value": difference.p_value},
        **{"tests": effect.tests, "p_value_corrected": effect.p_value, "moved": effect.moved},
        **{"bootstrap_p_corrected": effect.bootstrap_p, "margin": difference.margin, "p_unlike": difference.p_unlike},
        **{"bootstrap_p_unlike": effect.bootstrap_p_unlike, "is_equivalent": effect.is_equivalent},
        **{"words": effect.words, "delta_less_length": effect.left, "p_value_less_length_corrected": effect.left_p},
    }
