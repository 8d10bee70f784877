"""Fit the embedding judge to the starter population's recorded ratings, and write the fit beside the offline anchors.

    python tools/measure_embedding_fit.py

Prints the table that stands in the starter population's data card. To be run again whenever the ratings change.
"""

from genie_inspect.agreement.calibration import vector_fit
from genie_inspect.agreement.raters import RatingsFile, recorded_ratings
from genie_inspect.engines.embedders import embedder
from genie_inspect.graders.embedding_judge import SHIPPED, VectorFit, shown
from genie_inspect.populations.schema import write_rows
from genie_inspect.providers.replay import RATINGS, starter_record

HEADER = (
    "| feature | pairs | answers | Spearman, question novelty | tau, question novelty |",
    "|:--|--:|--:|--:|--:|",
)


def measured() -> VectorFit:
    """The fit of the static embedder to the recorded ratings."""
    record = starter_record()
    file = RatingsFile(record.folder / RATINGS, record.population)
    raters = [recorded_ratings(name, said, file.targets) for name, said in file.raters.items()]
    return vector_fit(record.population.name, file.targets, raters, embedder("static"))


def table(fit: VectorFit) -> list[str]:
    """The lines of the data card's table: pairs, answers and the two figures, prompts held out."""
    parts = fit.features | {"all": fit.pooled}
    return [
        *HEADER,
        *(
            f"| {name} | {part.pairs} | {part.answers} | {shown(part.spearman)} | {shown(part.kendall)} |"
            for name, part in parts.items()
        ),
    ]


def main() -> None:
    """Write the fit to the package's data."""
    fit = measured()
    write_rows(SHIPPED, [fit])
    print("\n".join(table(fit)))


if __name__ == "__main__":
    main()
