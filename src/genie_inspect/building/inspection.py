"""What can be said about a population: its faults, its counts, what it can tell."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from genie_inspect.building.work import Progress, no_progress
from genie_inspect.errors import PopulationError
from genie_inspect.populations.card import words
from genie_inspect.populations.catalogue import BUNDLED, open_population
from genie_inspect.populations.check import Fault, faults
from genie_inspect.populations.population import Population
from genie_inspect.populations.survey import CONFIDENCE, MARGIN, SPREAD, Power, Survey, survey

BEGINNING = 100  # characters of a document
SHOWN = 20  # ids in a list


@dataclass(frozen=True, slots=True)
class Inspected:
    """The faults; the rest is there only where there are none."""

    faults: list[Fault]
    population: Population | None = None
    found: Survey | None = None
    power: dict[str, Power] | None = None
    spread: float = SPREAD

    def as_dict(self) -> dict[str, Any]:
        """For scripts."""
        result: dict[str, Any] = {"faults": [asdict(fault) for fault in self.faults]}
        if self.population is not None and self.found is not None and self.power is not None:
            result |= counts(self.population, self.found)
            powers = {name: asdict(power) for name, power in self.power.items()}
            for power in powers.values():
                power["margin"] = None if not power["documents"] else round(power["margin"], 4)
            result["power"] = {"spread": self.spread, "confidence": CONFIDENCE, "features": powers}
        return result

    def text(self) -> str:
        """For people."""
        lines = [f"FAULT {fault.kind}: {fault.count}, first: {fault.first}" for fault in self.faults]
        if self.population is None or self.found is None or self.power is None:
            return "\n".join([*lines, "restore the files, or write the population again; nothing else was counted"])
        for label, value in counts(self.population, self.found).items():
            shown = ", ".join(f"{name} {count}" for name, count in value.items()) if isinstance(value, dict) else value
            lines += [f"{label.replace('_', ' ')}: {shown}"] if shown != "" else []
        lines.append(f"power, at a spread of similarities of {self.spread}:")
        lines += [f"  {name}: {told(power)}" for name, power in self.power.items()]
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
    wrong = faults(place)
    progress("checking files", 1, 1)
    if wrong:
        return Inspected(wrong)
    population = open_population(folder)
    found = survey(population, lambda done: progress("counting", done, len(population.prompts)))
    used = SPREAD if spread is None else spread
    power = {feature.name: found.power(feature.name, used) for feature in population.features}
    return Inspected([], population, found, power, used)


def told(power: Power) -> str:
    """The power as a sentence: "12 documents: ±0.19 at 98%; 43 needed for ±0.1"."""
    if not power.documents:
        return "no document answers a question"
    return f"{power.documents} documents: ±{power.margin:.2f} at {CONFIDENCE:.0%}; {power.needed} needed for ±{MARGIN}"


def counts(population: Population, found: Survey) -> dict[str, Any]:
    """What a population holds, label by label."""
    manifest, by_prompt = population.manifest, found.documents_by_prompt
    prompts, answered = manifest.counts.prompts, sum(found.answered.values()) + sum(found.unspecified.values())
    result: dict[str, Any] = {
        "population": population.name,
        "licence": manifest.licence,
        **manifest.counts.model_dump(),
        "documents_a_prompt": f"{min(by_prompt)} to {max(by_prompt)}" if by_prompt else "none",
        "documents_by_model": {name or "not said": count for name, count in found.documents_of.most_common()},
        "words_a_document": words(found),
        "refusals": f"{len(found.refusals)}: {', '.join(found.refusals[:SHOWN])}" if found.refusals else "none",
        "near_duplicates": found.near_duplicates,
        "questions_by_feature": {feature.name: found.questions_of[feature.name] for feature in population.features},
        "prompts_without": {
            f.name: missing for f in population.features if (missing := prompts - found.prompts_with[f.name])
        },
        "answers_by_reader": dict(found.answered + found.unspecified),
        "not_specified": f"{sum(found.unspecified.values()) / answered:.1%}" if answered else "nothing read",
    }
    for reader in population.readers:
        missing = found.expected_answers - found.answered[reader] - found.unspecified[reader]
        if missing:
            result[f"not answered by {reader}"] = f"{missing} of {found.expected_answers}"
    if population.answers_alone:
        result["documents_by_model"] = "recorded answers alone: measures that compare documents cannot use it"
    return result


def overview(folder: Path) -> dict[str, Any]:
    """What a population says of itself, without counting."""
    population = open_population(folder)
    manifest = population.manifest
    return {
        "population": population.name,
        "description": manifest.description,
        "licence": manifest.licence,
        **manifest.counts.model_dump(),
        "models": ", ".join(manifest.source_models),
        "readers": ", ".join(population.readers),
        **{f"feature {feature.name}": feature.definition for feature in population.features},
        "prompts_by_text": {prompt: len(population.questions(prompt)) for prompt in population.prompts},
    }


def prompt_view(folder: Path, part: str) -> dict[str, Any]:
    """The questions and the beginnings of the documents of the one prompt that holds this text.

    Raises:
        PopulationError: If no prompt or more than one holds it.
    """
    population = open_population(folder)
    found = [prompt for prompt in population.prompts if part.casefold() in prompt.casefold()]
    if len(found) != 1:
        few = "; ".join(repr(prompt[:60]) for prompt in (found or population.prompts)[:5])
        raise PopulationError(f"{len(found)} prompts hold {part!r}, expected one: {few}")
    prompt = found[0]
    lines: dict[str, Any] = {"prompt": prompt}
    repeated: Counter[str] = Counter()
    for question in population.questions(prompt):
        repeated[question.feature] += 1
        lines[f"{question.feature} {repeated[question.feature]}"] = question.text
    for document in population.documents(prompt):
        beginning = " ".join(document.text.split())[:BEGINNING]
        lines[document.id] = f"({document.model or 'model not said'}) {beginning}"
    return lines
