"""What can be said about a population: its faults, its counts, what it can tell."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from genie_inspect.building.interviewing import Progress, no_progress
from genie_inspect.errors import PopulationError
from genie_inspect.files.json_lines import RowT, placed_lines
from genie_inspect.populations.population import (
    ANSWERS,
    BUNDLED,
    DOCUMENTS,
    QUESTIONS,
    Population,
    open_population,
    read_manifest,
)
from genie_inspect.populations.reference_scores import reference_scores_of
from genie_inspect.populations.schema import AnswerRow, Document, Question, file_digest, parsed
from genie_inspect.populations.survey import CONFIDENCE, MARGIN, SPREAD, Survey, survey
from genie_inspect.populations.writing import cut_line, words


def faults(folder: Path) -> dict[str, tuple[int, str]]:
    """The kinds of fault in the files of a population, in the order in which they are met: how many, and the first."""
    manifest, files = read_manifest(folder), (DOCUMENTS, QUESTIONS, ANSWERS)
    faults: dict[str, tuple[int, str]] = {}
    lines = Counter[str]()

    def add(kind: str, where: str) -> None:
        count, first = faults.get(kind, (0, where))
        faults[kind] = count + 1, first

    def readable(name: str, kind: type[RowT]) -> Iterator[tuple[str, RowT]]:
        """The readable rows of a file, streamed, with their places; the others are faults."""
        for number, _, line in placed_lines(folder / name) if (folder / name).is_file() else ():
            lines[name] += 1
            where = f"{name}, line {number}"
            try:
                yield where, parsed(line, kind, where)
            except PopulationError as error:
                add(f"unreadable row in {name}", str(error))

    for name in files:
        if not (folder / name).is_file():
            add("missing file", name)
        # goes on: the rows of a changed file may show what was changed
        elif file_digest(folder / name) != manifest.files.get(name):
            add("digest differs from population.json", name)
    prompt_of_question: dict[str, str] = {}
    feature_names = {feature.name for feature in manifest.features}
    for where, question in readable(QUESTIONS, Question):
        if question.id in prompt_of_question:
            add("question id appears twice", where)
        if question.feature not in feature_names:
            add("question of an unknown feature", f"{where}: {question.feature}")
        prompt_of_question[question.id] = question.prompt
    prompts, prompt_of_document = set(prompt_of_question.values()), dict[str, str]()
    names = {prompt: prompt for prompt in prompts}  # one text object a prompt, however many documents it has
    for where, document in readable(DOCUMENTS, Document):
        if document.id in prompt_of_document:
            add("document id appears twice", where)
        # without any question it is a population of documents alone
        if prompts and document.prompt not in names:
            add("document whose prompt has no questions", f"{where}: {document.id}")
        prompt_of_document[document.id] = names.setdefault(document.prompt, document.prompt)
    for prompt in prompts.difference(prompt_of_document.values()) if prompt_of_document else ():
        add("prompt without documents", prompt)
    seen: set[int] = set()  # of numbers, because there may be millions of answers
    for where, answer in readable(ANSWERS, AnswerRow):
        key = hash((answer.reader, answer.document, answer.question))
        if key in seen:
            add("answer appears twice", where)
        seen.add(key)
        # without any document it is a population of answers alone
        if prompt_of_document and answer.document not in prompt_of_document:
            add("answer about an unknown document", f"{where}: {answer.document}")
        elif answer.question not in prompt_of_question:
            add("answer to an unknown question", f"{where}: {answer.question}")
        elif prompt_of_document and prompt_of_document[answer.document] != prompt_of_question[answer.question]:
            add("answer to a question of another prompt", where)
    # as `Population` counts them: space around a prompt does not make it another one
    distinct = {prompt.strip() for prompt in (prompt_of_question or prompt_of_document).values()}
    counts = {"prompts": len(distinct), **{name.removesuffix(".jsonl"): lines[name] for name in files}}
    for label, count in counts.items():
        listed = getattr(manifest.counts, label)
        if listed != count:
            add("count differs from population.json", f"{label}: {listed:,} listed, {count:,} there")
    try:
        reference_scores_of(folder)
    except PopulationError as error:
        add("unusable reference scores", str(error))
    return faults


BEGINNING = 100  # characters of a document
SHOWN = 20  # ids in a list
NO_QUESTIONS = "no questions: genie has nothing to ask, -T panel=cheap compares documents (or: genie questions write)"


def inspected(
    folder: Path, spread: float | None = None, progress: Progress = no_progress
) -> tuple[bool, dict[str, Any], str]:
    """Whether a population is sound; its faults, or what it holds where there are none, as JSON and as text."""
    progress("checking files", 0, 1)
    # a population with faults cannot be opened, so that nothing of it can be counted
    wrong = faults(BUNDLED.get(str(folder), folder))
    progress("checking files", 1, 1)
    result: dict[str, Any] = {
        "faults": [{"kind": kind, "count": count, "first": first} for kind, (count, first) in wrong.items()]
    }
    if wrong:
        lines = [f"FAULT {kind}: {count}, first: {first}" for kind, (count, first) in wrong.items()]
        lines.append("restore the files, or write the population again; nothing else was counted")
        return False, result, "\n".join(lines)
    population = open_population(folder)
    totals = survey(population, lambda done: progress("counting", done, len(population.prompts)))
    spread = SPREAD if spread is None else spread
    counted = counts(population, totals)
    lines, features = [], {}
    for label, value in counted.items():
        shown = ", ".join(f"{name} {count}" for name, count in value.items()) if isinstance(value, dict) else value
        lines += [f"{label.replace('_', ' ')}: {shown}"] if shown != "" else []
    # six features without a question each would say the same six times over
    lines.append(NO_QUESTIONS if population.documents_alone else f"power, at a spread of similarities of {spread}:")
    for feature in population.features:
        documents, half_width, needed = totals.power(feature.name, spread)
        # NaN without documents, which JSON does not have
        known = round(half_width, 4) if documents else None
        features[feature.name] = {"documents": documents, "margin": known, "needed": needed}
        precise = f"±{half_width:.2f} at {CONFIDENCE:.0%}; {needed} needed for ±{MARGIN}"
        said = f"{documents} documents: {precise}" if documents else "no document answers a question"
        lines += [] if population.documents_alone else [f"  {feature.name}: {said}"]
    result |= counted | {"power": {"spread": spread, "confidence": CONFIDENCE, "features": features}}
    return True, result, "\n".join(lines)


def counts(population: Population, totals: Survey) -> dict[str, Any]:
    manifest, by_prompt = population.manifest, totals.documents_by_prompt
    prompts, answered = manifest.counts.prompts, sum(totals.answered.values()) + sum(totals.unspecified.values())
    result: dict[str, Any] = {
        "population": population.name,
        "licence": manifest.licence,
        **manifest.counts.model_dump(),
        "documents_a_prompt": f"{min(by_prompt)} to {max(by_prompt)}" if by_prompt else "none",
        "documents_by_model": {name or "not said": count for name, count in totals.documents_of.most_common()},
        "words_a_document": words(totals),
        **cut_line(totals.cut_words),
        "refusals": f"{len(totals.refusals)}: {', '.join(totals.refusals[:SHOWN])}" if totals.refusals else "none",
        "near_duplicates": totals.near_duplicates,
        "questions_by_feature": {feature.name: totals.questions_of[feature.name] for feature in population.features},
        "prompts_without": {
            f.name: missing for f in population.features if (missing := prompts - totals.prompts_with[f.name])
        },
        "answers_by_reader": dict(totals.answered + totals.unspecified),
        "not_specified": f"{sum(totals.unspecified.values()) / answered:.1%}" if answered else "nothing read",
    }
    for reader in population.readers:
        missing = totals.expected_answers - totals.answered[reader] - totals.unspecified[reader]
        # a reader that stopped halfway, or replies that could not be read
        if missing:
            result[f"not answered by {reader}"] = f"{missing} of {totals.expected_answers}"
    if population.answers_alone:
        result["documents_by_model"] = "recorded answers alone: measures that compare documents cannot use it"
    return result


def overview(folder: Path) -> dict[str, Any]:
    """The manifest's facts and the prompts of a population, without a count of its words and answers."""
    population = open_population(folder)
    manifest = population.manifest
    documents_by_prompt: dict[str, int] = {}
    cut_words: list[int] = []
    for prompt in population.prompts:
        documents = population.documents(prompt)
        documents_by_prompt[prompt] = len(documents)
        cut_words += [document.cut_words for document in documents if document.cut_words is not None]
    return {
        "population": population.name,
        "description": manifest.description,
        "licence": manifest.licence,
        **manifest.counts.model_dump(),
        **cut_line(cut_words),
        "models": ", ".join(manifest.source_models),
        "readers": ", ".join(population.readers),
        **{f"feature {feature.name}": feature.definition for feature in population.features},
        "questions_by_prompt": {prompt: len(population.questions(prompt)) for prompt in population.prompts},
        "documents_by_prompt": documents_by_prompt,
    }


def prompt_view(folder: Path, part: str) -> dict[str, Any]:
    population = open_population(folder)
    matches = [prompt for prompt in population.prompts if part.casefold() in prompt.casefold()]
    # part of a prompt is enough as long as it says which
    if len(matches) != 1:
        listed = "; ".join(repr(prompt[:60]) for prompt in (matches or population.prompts)[:5])
        raise PopulationError(f"{len(matches)} prompts contain {part!r}, expected one: {listed}")
    prompt = matches[0]
    lines: dict[str, Any] = {"prompt": prompt}
    repeated: Counter[str] = Counter()
    for question in population.questions(prompt):
        repeated[question.feature] += 1
        lines[f"{question.feature} {repeated[question.feature]}"] = question.text
    for document in population.documents(prompt):
        beginning = " ".join(document.text.split())[:BEGINNING]
        cut_words = f", cut by {document.cut_words} words" if document.cut_words else ""
        lines[document.id] = f"({document.model or 'model not said'}{cut_words}) {beginning}"
    return lines
