"""A study as plain rows, for scripts and spreadsheets."""

from dataclasses import asdict
from typing import Any

from genie_inspect.files.csv_tables import csv_text
from genie_inspect.reports.plain_values import plain
from genie_inspect.reports.sensitivity.effects import Effect
from genie_inspect.reports.sensitivity.measures import StudiedMeasure
from genie_inspect.reports.sensitivity.published import EFFECTS, MATRIX
from genie_inspect.reports.sensitivity.study import Study
from genie_inspect.reports.sensitivity.verdict import confounds, moves_most, robustness, sentence, warnings
from genie_inspect.statistics.paired.differences import TEST

COLUMNS = (
    *("scorer", "key", "feature", "kind", "intervention", "tested", "is_own"),
    *("prompts", "originals", "texts", "left_out"),
    *("before", "after", "delta", "low", "high", "spread", "effect", "size", "is_constant"),
    *("p_value", "tests", "p_value_corrected", "moved", "bootstrap_p_corrected"),
    *("margin", "p_unlike", "bootstrap_p_unlike", "is_equivalent"),
    *("words", "delta_less_length", "p_value_less_length_corrected"),
)


def as_values(study: Study, *, published: bool = False) -> dict[str, Any]:
    """The study as JSON values: what is not a number is null.

    Args:
        study: What is shown.
        published: Whether the published figures stand beside it.
    """
    texts = study.texts
    values = {
        "log": study.log.file,
        "model": study.log.model,
        "originals": len(texts.originals),
        "interventions": [
            {
                "kind": one.kind,
                "intervention": one.name,
                "texts": len(changed),
                "without_original": texts.orphans[one],
                "same_as_original": texts.same[one],
            }
            for one, changed in texts.changed.items()
        ],
        "unknown_texts": texts.unknown,
        "signatures": study.signatures,
        "test": TEST,
        "measures": [_measure(measure) for measure in study.measures],
        "warnings": warnings(study),
        "effects": [_flat(effect) for effect in study.effects],
        "agreements": [_named(agreement) for agreement in study.agreements],
        "answers": [_named(changes) for changes in study.answers],
    }
    if published:
        values["published"] = {
            "effects": {name: {key: asdict(one) for key, one in column.items()} for name, column in EFFECTS.items()},
            "matrix": MATRIX,
        }
    return {name: plain(value) for name, value in values.items()}


def as_csv(study: Study) -> str:
    """A line for each intervention and key, with a header; what is not a number is empty, and no text is a formula."""
    rows = [plain(_flat(effect)) for effect in study.effects]
    return csv_text(COLUMNS, [[row[column] for column in COLUMNS] for row in rows])


def _measure(measure: StudiedMeasure) -> dict[str, Any]:
    return {
        "measure": measure.name,
        "scorer": measure.scorer,
        "keys": measure.keys,
        "is_by_feature": measure.is_by_feature,
        "sentence": sentence(measure),
        "sensitive_to": [effect.intervention.name for effect in measure.own if effect.moved],
        "under_paraphrase": robustness(measure),
        "confounds": [{"edited": own.intervention.name, "moves": other.key.name} for own, other in confounds(measure)],
        "edited_feature_moves_most": [effect.intervention.name for effect in moves_most(measure)],
        "shares": {intervention.name: share for intervention, share in measure.shares.items()},
    }


def _named(value: Any) -> dict[str, Any]:
    """A record with the intervention by its name."""
    return {**plain(value), "intervention": value.intervention.name}


def _flat(effect: Effect) -> dict[str, Any]:
    difference = effect.difference
    return {
        "scorer": effect.key.scorer,
        "key": effect.key.name,
        "feature": effect.key.feature or None,
        "kind": effect.intervention.kind,
        "intervention": effect.intervention.name,
        "tested": effect.key.tested,
        "is_own": effect.is_own,
        "prompts": difference.pairs,
        "originals": len(effect.pairs.rows),
        "texts": effect.pairs.pairs,
        "left_out": effect.pairs.left_out,
        "before": difference.before,
        "after": difference.after,
        "delta": difference.delta,
        "low": difference.low,
        "high": difference.high,
        "spread": difference.spread,
        "effect": difference.effect,
        "size": effect.size,
        "is_constant": effect.is_constant,
        "p_value": difference.p_value,
        "tests": effect.tests,
        "p_value_corrected": effect.p_value,
        "moved": effect.moved,
        "bootstrap_p_corrected": effect.bootstrap_p,
        "margin": difference.margin,
        "p_unlike": difference.p_unlike,
        "bootstrap_p_unlike": effect.bootstrap_p_unlike,
        "is_equivalent": effect.is_equivalent,
        "words": effect.words,
        "delta_less_length": effect.left,
        "p_value_less_length_corrected": effect.left_p,
    }
