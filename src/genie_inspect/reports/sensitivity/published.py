"""What the study behind `genie` found, to stand beside a study of one's own.

Source: Genie (arXiv 2606.12790), tables 3 and 14: Cohen's d over 100 documents with three edits of each feature and
three paraphrases; two-sided paired bootstrap with Bonferroni over six features for edits, equivalence for paraphrases.
"""

from dataclasses import dataclass
from types import MappingProxyType

from genie_inspect.interventions.schema import PARAPHRASE

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
