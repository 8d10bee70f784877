"""A study as plain rows, for scripts and spreadsheets."""

from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from genie_inspect.files.tables import csv_text, plain
from genie_inspect.populations.interventions import PARAPHRASE
from genie_inspect.reports.effects import Effect
from genie_inspect.reports.study import StudiedMeasure, Study, confounds, moves_most, robustness, sentence, warnings
from genie_inspect.statistics.differences import TEST

FEATURES = ("agent", "perspective", "plot", "setting", "social_atmosphere", "style")


@dataclass(frozen=True, slots=True)
class Published:
    """An effect size as it was printed."""

    effect: float
    holds: bool
    """Whether it is marked: of an edit as significant, of a paraphrase as equivalent."""


def _column(effects: str, *, paraphrase: str) -> dict[str, Published]:
    """A column of table 3: edits in the order of the features, those that hold with a star, then the paraphrase."""
    edits = zip((*FEATURES, PARAPHRASE), (*effects.split(), paraphrase), strict=True)
    return {name: Published(float(text.rstrip("*=")), text[-1] in "*=") for name, text in edits}


EFFECTS = MappingProxyType(
    {
        "genie": _column(".62* 1.01* .71* .93* .47* .38*", paraphrase=".03="),
        "cosine_mean": _column(".54* .67* .22* .81* .24* .68*", paraphrase=".45"),
        "compression_novelty": _column(".05 -.19* .01 1.08* .23* .07", paraphrase="1.25"),
        "creativity_index_mean": _column("1.06* 1.17* .93* .97* 1.00* 1.43*", paraphrase="1.29"),
        "partition_novel": _column(".52* .14 .30* .44* .16 .07", paraphrase=".69"),
        "litbench_win_rate": _column("-.45* -.87* -.33* -.48* -.42* -1.53*", paraphrase="-.94"),
    }
)
"""By measure, or the key of it that is tested; then by edited feature, or `paraphrase`."""

_MATRIX = {
    "agent": ".62 .29 .39 .18 .22 .37",
    "perspective": ".44 1.01 .29 .28 .29 .43",
    "plot": ".55 .04 .71 .35 .21 .23",
    "setting": ".21 .04 .23 .93 .13 .10",
    "social_atmosphere": ".44 .04 .35 .22 .47 .35",
    "style": ".31 .3 .13 .23 .11 .38",
    PARAPHRASE: ".02 .04 .12 .06 -.14 .09",
}
MATRIX = MappingProxyType(
    {name: dict(zip(FEATURES, map(float, row.split()), strict=True)) for name, row in _MATRIX.items()}
)
"""By edited feature, or `paraphrase` (of which all are equivalent): the effect on each feature's score."""


COLUMNS = (
    *("scorer", "key", "feature", "kind", "intervention", "tested", "is_own"),
    *("prompts", "originals", "texts", "left_out"),
    *("before", "after", "delta", "low", "high", "spread", "effect", "size", "is_constant"),
    *("p_value", "tests", "p_value_corrected", "moved", "bootstrap_p_corrected"),
    *("margin", "p_unlike", "bootstrap_p_unlike", "is_equivalent"),
    *("words", "delta_less_length", "p_value_less_length_corrected"),
)


def as_values(study: Study, *, published: bool = False) -> dict[str, Any]:
    """The study as JSON values: what is not a number is null."""
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
