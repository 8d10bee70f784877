"""The card of a population: its README.md, in the form that dataset hubs read."""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from genie_inspect.files.writing import write_lines
from genie_inspect.populations.population import Population
from genie_inspect.populations.survey import MARGIN, SPREAD, Survey, survey

CARD = "README.md"
TEXT = """\
---
license: {quoted_licence}
pretty_name: {quoted_name}
tags: [novelty, genie-inspect]
---
# {name}, version {version}

{description}A population for [genie-inspect](https://pypi.org/project/genie-inspect): documents that many writers made
for the same prompts, questions about them by feature, and recorded answers. Its identity is `{identity}`; two scores
compare only when this agrees.

{counts}

## Features and power

Half width of the 98% interval of one question's novelty, at a spread of similarities of {spread}, and the documents
a prompt that a half width of {margin} needs.

{features}

## Models

{models}

## How it was made

{made}

## Use

```sh
inspect eval genie_inspect/population_prompts -T population=FOLDER \\
    --model PROVIDER/MODEL {needs}
genie population check FOLDER
```

## Cite

Name this population with its identity, `{identity}`, and the measure: Namuduri, Wadhwa, Zheng, Durrett, Li: "Genie: A
Fine-Grained Measure for Novelty" (arXiv 2606.12790). Licence: {licence}.
"""


def write_card(
    population: Population, provenance: Mapping[str, Any], progress: Callable[[str, int, int], None] = lambda *_: None
) -> None:
    """Write the card beside the population's files.

    Args:
        population: Whose card.
        provenance: How it was made, label by label.
        progress: Told how many prompts are counted.
    """
    prompts = len(population.prompts)
    totals = survey(population, lambda done: progress("counting", done, prompts))
    write_lines(population.folder / CARD, [card(population, totals, provenance)])


def card(population: Population, totals: Survey, provenance: Mapping[str, Any]) -> str:
    """The card's text."""
    manifest = population.manifest
    models = [(plain(name) or "not said", count) for name, count in totals.documents_of.most_common()]
    return TEXT.format(
        # YAML reads JSON strings: a name with a colon or a quote stays one value
        quoted_name=json.dumps(manifest.name),
        quoted_licence=json.dumps(manifest.licence),
        name=plain(manifest.name),
        # without questions there is nothing to ask a grader
        needs="-T panel=cheap" if population.documents_alone else "--model-role grader=PROVIDER/MODEL",
        version=plain(manifest.version),
        licence=plain(manifest.licence),
        description=plain(manifest.description) + "\n\n" if manifest.description else "",
        identity=population.name,
        counts=table(("what", "count"), _counts(population, totals)),
        spread=SPREAD,
        margin=MARGIN,
        features=table(
            ("feature", "what", "questions", "prompts", "documents", "known to", "needed"),
            _features(population, totals),
        ),
        # a population of answers alone names its models in the manifest only
        models=table(("model", "documents"), models or [(plain(name), "") for name in manifest.source_models]),
        made=table(("what", ""), [(label, plain(str(value))) for label, value in provenance.items()]),
    )


def table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple(":--" for _ in head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def plain(text: str) -> str:
    """Text from outside, on one line and without what Markdown would read in a table."""
    return " ".join(text.split()).translate({ord("|"): "/", ord("<"): "(", ord(">"): ")", ord("`"): "'"})


def words(totals: Survey) -> str:
    """Least, median and most words of a document."""
    if not totals.words:
        return "no documents"
    return _extent(totals.words)


def cut_line(cut_words: Sequence[int]) -> dict[str, str]:
    """How many documents a model has cut, and by how many words each; nothing where it has cut none."""
    return {"cut_by_a_model": f"{len(cut_words)}, by {_extent(cut_words)} words"} if cut_words else {}


def _extent(counts: Sequence[int]) -> str:
    return f"{min(counts)} to {max(counts)}, median {statistics.median(counts):.0f}"


def _counts(population: Population, totals: Survey) -> list[tuple[Any, ...]]:
    counts = population.manifest.counts
    rows: list[tuple[Any, ...]] = [("prompts", counts.prompts), ("documents", counts.documents)]
    rows += [("questions", counts.questions), ("answers", counts.answers), ("words a document", words(totals))]
    rows += [(label.replace("_", " "), value) for label, value in cut_line(totals.cut_words).items()]
    for reader in population.readers:
        rows.append(
            (f"answers by {plain(reader)}", f"{totals.answered[reader]}, {totals.unspecified[reader]} not specified")
        )
    return rows


def _features(population: Population, totals: Survey) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for feature in population.features:
        power, name = totals.power(feature.name), feature.name
        half_width = f"±{power.margin:.2f}" if power.documents else "not known"
        row = (
            plain(feature.definition),
            totals.questions_of[name],
            totals.prompts_with[name],
            power.documents,
            half_width,
        )
        rows.append((name.replace("_", " "), *row, power.needed or "not known"))
    return rows
