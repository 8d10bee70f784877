"""Populations are written whole or not at all."""

import errno
import json
import os
import shutil
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from genie_inspect.errors import UnwritableError
from genie_inspect.files.json_lines import placed_lines
from genie_inspect.files.writing import private_folder, private_name, unwritable, write_lines
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, MANIFEST, QUESTIONS, Population, identity
from genie_inspect.populations.schema import (
    AnswerRow,
    Counts,
    Document,
    Feature,
    Manifest,
    Question,
    file_digest,
    rows,
    write_rows,
)
from genie_inspect.populations.survey import MARGIN, SPREAD, Survey, survey


def write_population(
    folder: Path | str,
    *,
    name: str,
    version: str,
    licence: str,
    features: Iterable[Feature],
    documents: Iterable[Document],
    questions: Iterable[Question],
    answers: Iterable[AnswerRow],
    source_models: Iterable[str] = (),
    description: str = "",
) -> Population:
    """Write a population folder and open it; a population that stood there is replaced, its other files are kept.

    The new folder takes the place of the old one as a whole, so that two writers are never mixed. Only a process that
    is killed between putting the old folder aside and the new one there leaves both under hidden names beside it.
    """
    place = Path(os.path.realpath(folder))  # a link stays, the folder that it points to is replaced
    with unwritable(place):
        names = {file.name for file in place.iterdir()} if place.exists() else set()
    if names and MANIFEST not in names:
        raise UnwritableError(f"output {place} has no {MANIFEST}, expected a population, or an empty folder or none")
    with private_folder(place.parent, place) as content:
        for file, items in ((DOCUMENTS, documents), (QUESTIONS, questions), (ANSWERS, answers)):
            write_rows(content / file, items)
        facts = {"name": name, "version": version, "licence": licence, "description": description}
        seal_population(content, features=features, source_models=source_models, **facts)
        with unwritable(place):
            if place.is_dir():
                ours = shutil.ignore_patterns(DOCUMENTS, QUESTIONS, ANSWERS, MANIFEST)
                shutil.copytree(place, content, symlinks=True, dirs_exist_ok=True, ignore=ours)
            _put(content, place)
    return Population(folder)


def _put(content: Path, folder: Path) -> None:
    try:
        content.rename(folder)
        return
    except OSError as error:
        # a folder that is not empty cannot be renamed over: it is put aside first
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    aside = folder.with_name(private_name())
    try:
        with suppress(FileNotFoundError):  # another writer has put it aside
            folder.rename(aside)
        _put(content, folder)
    # also for Ctrl-C: the old population must not stay aside
    except BaseException:
        with suppress(OSError):
            aside.rename(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def seal_population(
    folder: Path, *, features: Iterable[Feature], source_models: Iterable[str] = (), **facts: Any
) -> Population:
    """Write the manifest of a folder whose three JSON Lines files are complete, and open it.

    The facts are name, version, licence and description.
    """
    files = {file: file_digest(folder / file) for file in (DOCUMENTS, QUESTIONS, ANSWERS)}
    # in the files, nothing is held in memory
    lines = {file.removesuffix(".jsonl"): sum(1 for _ in placed_lines(folder / file)) for file in files}
    prompts = {row.prompt.strip() for row in rows(folder / QUESTIONS, Question)}
    prompts = prompts or {row.prompt.strip() for row in rows(folder / DOCUMENTS, Document)}
    features, counts = tuple(features), Counts(prompts=len(prompts), **lines)
    manifest = Manifest(
        features=features,
        source_models=tuple(source_models),
        counts=counts,
        digest=identity(features, files, counts),
        files=files,
        **facts,
    )
    write_lines(folder / MANIFEST, [manifest.model_dump_json(indent=1) + "\n"])
    # opened at once: what could not be read again is no population
    population = Population(folder)
    population.check_answers()
    return population


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
    manifest, prompts = population.manifest, len(population.prompts)
    totals = survey(population, lambda done: progress("counting", done, prompts))
    counts: list[tuple[str, object]] = [
        *((name, getattr(manifest.counts, name)) for name in ("prompts", "documents", "questions", "answers")),
        ("words per document", words(totals)),
        *((label.replace("_", " "), value) for label, value in cut_line(totals.cut_words).items()),
    ]
    for reader in population.readers:
        answers = f"{totals.answered[reader]}, {totals.unspecified[reader]} not specified"
        counts.append((f"answers by {plain(reader)}", answers))
    features: list[tuple[object, ...]] = []
    for feature in population.features:
        name, (documents, half_width, needed) = feature.name, totals.power(feature.name)
        asked = totals.questions_of[name], totals.prompts_with[name]
        known = documents, f"±{half_width:.2f}" if documents else "not known", needed or "not known"
        features.append((name.replace("_", " "), plain(feature.definition), *asked, *known))
    models = [(plain(name) or "not said", count) for name, count in totals.documents_of.most_common()]
    text = TEXT.format(
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
        counts=table(("what", "count"), counts),
        spread=SPREAD,
        margin=MARGIN,
        features=table(("feature", "what", "questions", "prompts", "documents", "known to", "needed"), features),
        # a population of answers alone names its models in the manifest only
        models=table(("model", "documents"), models or [(plain(name), "") for name in manifest.source_models]),
        made=table(("what", ""), [(label, plain(str(value))) for label, value in provenance.items()]),
    )
    write_lines(population.folder / CARD, [text])


def table(head: Sequence[str], rows: Iterable[Sequence[object]], figures: str = ":--") -> str:
    lines = [head, [":--", *[figures] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def plain(text: str) -> str:
    """Text from outside, on one line and without what Markdown would read in a table."""
    return " ".join(text.split()).translate({ord("|"): "/", ord("<"): "(", ord(">"): ")", ord("`"): "'"})


def words(totals: Survey) -> str:
    return _extent(totals.words) if totals.words else "no documents"


def cut_line(cut_words: Sequence[int]) -> dict[str, str]:
    """How many documents a model has cut, and by how many words each; nothing where it has cut none."""
    return {"cut_by_a_model": f"{len(cut_words)}, by {_extent(cut_words)} words"} if cut_words else {}


def _extent(counts: Sequence[int]) -> str:
    return f"{min(counts)} to {max(counts)}, median {statistics.median(counts):.0f}"
