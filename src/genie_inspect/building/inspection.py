"""What can be said about a population: its faults, its counts, what it can tell."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from genie_inspect.building.work import Progress, no_progress
from genie_inspect.errors import PopulationError
from genie_inspect.populations.card import cut_line, words
from genie_inspect.populations.catalogue import BUNDLED, open_population
from genie_inspect.populations.check import Fault, faults
from genie_inspect.populations.population import Population
from genie_inspect.populations.survey import CONFIDENCE, MARGIN, SPREAD, Power, Survey, survey

BEGINNING = 100  # characters of a document
SHOWN = 20  # ids in a list
NO_QUESTIONS = "no questions: genie has nothing to ask, -T panel=cheap compares documents (or: genie questions write)"


@dataclass(frozen=True, slots=True)
class Inspected:
    """The faults; the rest is there only where there are none."""

    faults: list[Fault]
    population: Population | None = None
    totals: Survey | None = None
    power: dict[str, Power] | None = None
    spread: float = SPREAD

    def as_dict(self) -> dict[str, Any]:
        """For scripts."""
        result: dict[str, Any] = {"faults": [asdict(fault) for fault in self.faults]}
        if self.population is not None and self.totals is not None and self.power is not None:
            result |= counts(self.population, self.totals)
            powers = {name: asdict(power) for name, power in self.power.items()}
            for power in powers.values():
                # NaN without documents, which JSON does not have
                power["margin"] = None if not power["documents"] else round(power["margin"], 4)
            result["power"] = {"spread": self.spread, "confidence": CONFIDENCE, "features": powers}
        return result

    def text(self) -> str:
        """For people."""
        lines = [f"FAULT {fault.kind}: {fault.count}, first: {fault.first}" for fault in self.faults]
        if self.population is None or self.totals is None or self.power is None:
            return "\n".join([*lines, "restore the files, or write the population again; nothing else was counted"])
        for label, value in counts(self.population, self.totals).items():
            shown = ", ".join(f"{name} {count}" for name, count in value.items()) if isinstance(value, dict) else value
            lines += [f"{label.replace('_', ' ')}: {shown}"] if shown != "" else []
        if self.population.documents_alone:
            # six features without a question each would say the same six times over
            return "\n".join([*lines, NO_QUESTIONS])
        lines.append(f"power, at a spread of similarities of {self.spread}:")
        lines += [f"  {name}: {power_sentence(power)}" for name, power in self.power.items()]
        return "\n".join(lines)


def inspected(folder: Path, spread: float | None = None, progress: Progress = no_progress) -> Inspected:
    """Everything that is wrong with a population, or everything that it holds.

    Args:
        folder: A bundled population's name or a folder.
        spread: Standard deviation of similarities; the study's when None.
        progress: Told how far it is.

    Raises:
        PopulationError: If it is no population at all.
    """
    place = BUNDLED.get(str(folder), folder)
    progress("checking files", 0, 1)
    # a population with faults cannot be opened, so that nothing of it can be counted
    wrong = faults(place)
    progress("checking files", 1, 1)
    if wrong:
        return Inspected(wrong)
    population = open_population(folder)
    totals = survey(population, lambda done: progress("counting", done, len(population.prompts)))
    used = SPREAD if spread is None else spread
    power = {feature.name: totals.power(feature.name, used) for feature in population.features}
    return Inspected([], population, totals, power, used)


def power_sentence(power: Power) -> str:
    """The power as a sentence: "12 documents: ±0.19 at 98%; 43 needed for ±0.1"."""
    if not power.documents:
        return "no document answers a question"
    return f"{power.documents} documents: ±{power.margin:.2f} at {CONFIDENCE:.0%}; {power.needed} needed for ±{MARGIN}"


def counts(population: Population, totals: Survey) -> dict[str, Any]:
    """Counts of a population, by label."""
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
    """The questions and the beginnings of the documents of the one prompt that holds this text.

    Raises:
        PopulationError: If no prompt or more than one holds it.
    """
    population = open_population(folder)
    matches = [prompt for prompt in population.prompts if part.casefold() in prompt.casefold()]
    # part of a prompt is enough as long as it says which
    if len(matches) != 1:
        listed = "; ".join(repr(prompt[:60]) for prompt in (matches or population.prompts)[:5])
        raise PopulationError(f"{len(matches)} prompts hold {part!r}, expected one: {listed}")
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
