"""Discovered features mapped to a taxonomy by a model, each to one of its features or to none.

Source: Genie (arXiv 2606.12790), table 7, which maps by hand.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.model import GenerateConfig

from genie_inspect.asking.identity import identified_model
from genie_inspect.building.features.discovering import FEATURES
from genie_inspect.building.interviewing import Interviewer, interview_templates
from genie_inspect.building.stand_ins.recorded_model import RecordedModel
from genie_inspect.building.work import Progress, no_progress
from genie_inspect.errors import PopulationError
from genie_inspect.files.folders import clear_left
from genie_inspect.files.writing import write_lines
from genie_inspect.populations.features import read_features
from genie_inspect.populations.schema import Feature

MAPPING = "mapping.json"
NONE = "none"
INSTRUCTION = "map_features"


@dataclass(frozen=True, slots=True)
class FeatureMap:
    """Discovered features, and which of a taxonomy's each of them is."""

    discovered: tuple[Feature, ...]
    taxonomy: tuple[Feature, ...]
    counterparts: dict[str, str | None]
    """By discovered feature the taxonomy's, None where none covers it; what no reply could be read of is absent."""

    @property
    def no_counterpart(self) -> list[str]:
        """Discovered features that none of the taxonomy covers."""
        return [name for name, counterpart in self.counterparts.items() if counterpart is None]

    @property
    def unreadable(self) -> list[str]:
        """Discovered features of which no reply says one of the taxonomy's names, or none."""
        return [feature.name for feature in self.discovered if feature.name not in self.counterparts]

    @property
    def nothing_maps_to(self) -> list[str]:
        """Features of the taxonomy that were not discovered."""
        mapped = set(self.counterparts.values())
        return [feature.name for feature in self.taxonomy if feature.name not in mapped]

    def shown(self, name: str) -> str:
        """The counterpart of a discovered feature, or why it has none."""
        return self.counterparts[name] or NONE if name in self.counterparts else "unreadable"

    def as_dict(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "mapping": {
                name: counterpart for name, counterpart in self.counterparts.items() if counterpart is not None
            },
            "no_counterpart": self.no_counterpart,
            "nothing_maps_to": self.nothing_maps_to,
            "unreadable": self.unreadable,
        }


def discovered_features(folder: Path) -> tuple[Feature, ...]:
    """The features that `genie features discover` wrote to a folder.

    Raises:
        PopulationError: If it did not.
    """
    if not (folder / FEATURES).is_file():
        raise PopulationError(f"{folder} holds no {FEATURES}, expected a folder that genie features discover wrote")
    return read_features(folder / FEATURES)


def read_taxonomy(source: str) -> tuple[Feature, ...]:
    """The features of a taxonomy; see `read_features`.

    Raises:
        PopulationError: If there are none, or one is called as what has no counterpart is.
    """
    features = read_features(source)
    if any(feature.name == NONE for feature in features):
        raise PopulationError(f"taxonomy {source} has a feature {NONE!r}, which says that there is no counterpart")
    return features


async def map_features(
    discovered: tuple[Feature, ...],
    taxonomy: tuple[Feature, ...],
    templates: Path | None,
    output: Path,
    model: RecordedModel,
    work: Path,
    progress: Progress = no_progress,
) -> FeatureMap:
    """Write a file with the mapping, the definitions that it rests on, and what is left on either side.

    Raises:
        PopulationError: If no reply names a feature of the taxonomy, or none.
        GraderFailedError: If the model cannot be reached; running again goes on from there.
        UnwritableError: If the file cannot be written.
    """
    interviewer = Interviewer(model, interview_templates(templates))
    items = [f"{name}: {definition}" for name, definition in _definitions(discovered).items()]
    definitions = _definitions(taxonomy)
    choices = [*definitions, NONE]
    chosen = await interviewer.sort_items(INSTRUCTION, items, {"taxonomy": definitions}, choices, "features")
    progress("mapping features", len(items), len(items))
    counterparts = {
        feature.name: None if name == NONE else name
        for feature, name in zip(discovered, chosen, strict=True)
        if name is not None
    }
    if not counterparts:
        raise PopulationError(
            f"no reply of {model} names a feature of the taxonomy or {NONE!r}: take another grader, or remove "
            f"{work} to ask this one anew"
        )
    mapped = FeatureMap(discovered, taxonomy, counterparts)
    write_lines(output, [json.dumps(_facts(mapped, interviewer), ensure_ascii=False, indent=1) + "\n"], new=True)
    clear_left(work)
    return mapped


def _facts(mapped: FeatureMap, interviewer: Interviewer) -> dict[str, Any]:
    """What the file holds: by whom, what came of it, and the definitions that it rests on."""
    model = identified_model(interviewer.model, (GenerateConfig(temperature=0.0), None))
    return {
        "mapped_by": f"{INSTRUCTION}({model},template={interviewer.templates[INSTRUCTION].digest})",
        **mapped.as_dict(),
        "discovered": _definitions(mapped.discovered),
        "taxonomy": _definitions(mapped.taxonomy),
    }


def _definitions(features: tuple[Feature, ...]) -> dict[str, str]:
    return {feature.name: feature.definition for feature in features}
