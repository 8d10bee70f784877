"""The features of a kind of text: asked for several times, like names put together.

Source: Genie (arXiv 2606.12790), section 3. Deviation: the words of a feature, which the offline reader uses, are
those of the names and descriptions in its cluster.
"""

import json
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai.model import GenerateConfig

from genie_inspect.building.interviewing import Interviewer, Progress, appearing, no_progress, reported
from genie_inspect.engines.embedders import embedder as chosen_embedder
from genie_inspect.errors import MissingExtraError, PopulationError, UnknownChoiceError
from genie_inspect.files.writing import clear_left, write_lines
from genie_inspect.graders.grader import identified_model
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.populations.population import read_features, write_features
from genie_inspect.populations.schema import Feature
from genie_inspect.prompting.replies import LONGEST_ANSWER, numbered_answers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


METHODS = ("k-means", "agglomerative", "hdbscan")
VARIANCE = 0.95  # kept before k-means (arXiv 2606.12790)
SMALLEST = 3  # members of an HDBSCAN cluster (arXiv 2606.12790)


def check_clustering(method: str) -> None:
    from importlib.util import find_spec

    if method not in METHODS:
        raise UnknownChoiceError("method", method, "one of " + ", ".join(METHODS))
    if find_spec("sklearn") is None:
        raise MissingExtraError(f"clustering by {method}", "discovery")


def clusters(vectors: "NDArray[np.float64]", count: int, method: str, seed: int = 0) -> list[int]:
    """A label from 0 for each vector; -1 where HDBSCAN finds it belongs to none."""
    import numpy as np
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
    from sklearn.decomposition import PCA

    distinct = len(np.unique(vectors, axis=0))
    # scikit-learn warns or fails when asked for more clusters than there are distinct points
    count = max(1, min(count, distinct))
    if distinct < 2:
        return [0] * len(vectors)
    model: Any
    if method == "k-means":
        vectors = PCA(VARIANCE, svd_solver="full", random_state=seed).fit_transform(vectors)
        left = len(np.unique(vectors.round(6), axis=0))  # what the components that went held apart may be one point now
        model = KMeans(min(count, left), n_init=10, random_state=seed)
    elif method == "agglomerative":
        model = AgglomerativeClustering(count, linkage="ward")
    else:
        model = HDBSCAN(min_cluster_size=min(SMALLEST, len(vectors)), copy=True)
    return [int(label) for label in model.fit_predict(vectors)]


MOST_FEATURES = 30  # in one reply
MOST_WORDS = 12
LONGEST_NAME = 40
TEMPERATURE = 1.0  # samples shall differ
FEATURES, SAID = "features.json", "said.jsonl"
_SEPARATOR = re.compile(r"/|&|\band/or\b|\band\b|\bor\b", re.IGNORECASE)
# words that say nothing about a feature
_COMMON = frozenset(
    {"a", "an", "and", "are", "as", "at", "by", "for", "from", "how", "in", "is", "it", "its"}
    | {"of", "on", "or", "that", "the", "their", "this", "to", "what", "which", "with"}
)


async def discover_features(
    output: Path,
    model: RecordedModel,
    work: Path,
    progress: Progress = no_progress,
    *,
    task: str,
    samples: int = 10,
    method: str = "k-means",
    embedder: str = "static",
    templates: Path | None = None,
) -> dict[str, Any]:
    """Write a folder with the features and with every name that a reply gave; it appears when it is complete."""
    check_clustering(method)
    engine = chosen_embedder(embedder)
    interviewer = Interviewer(model, templates)

    async def reply(_: int) -> list[tuple[str, str]]:
        items = await interviewer.list_items(
            "list_features", MOST_FEATURES, {"task": task}, None, numbered_answers, temperature=TEMPERATURE
        )
        return list(split(items))

    replies = await reported(reply, range(samples), "asking for features", progress)
    mentions = [mention for mentions in replies for mention in mentions]
    if not mentions:
        raise PopulationError(f"none of {samples} replies names a feature in the form that was asked for")
    # as many clusters as a reply names features, on average
    count = round(statistics.mean(len(mentions) for mentions in replies if mentions))
    labels = clusters(engine.embed([name for name, _ in mentions]), count, method)
    features = tuple(_features(mentions, labels))
    if not features:
        raise PopulationError(f"{method} found no cluster among {len(mentions)} names: take k-means, or more samples")
    with appearing(output, work) as folder:
        write_features(folder / FEATURES, features)
        said = zip(labels, mentions, strict=True)
        lines = ({"cluster": label, "name": name, "description": meaning} for label, (name, meaning) in said)
        write_lines(folder / SAID, (json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return {
        "features": {feature.name: feature.definition for feature in features},
        "names_said": len(mentions),
        "in_no_cluster": sum(label < 0 for label in labels),
        "unreadable_replies": sum(not mentions for mentions in replies),
    }


def split(items: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Features with names of one idea each: "Tone and mood: how it feels" is two."""
    for text in items:
        name, _, description = text.partition(":")
        # cut before it is split: a reply may be anything
        for part in _SEPARATOR.split(name[:LONGEST_ANSWER]):
            plain = " ".join(re.findall(r"\w+", part.casefold()))
            if plain:
                yield plain, " ".join(description.split()) or part.strip()


def _features(mentions: Sequence[tuple[str, str]], labels: Sequence[int]) -> Iterator[Feature]:
    """One feature per cluster, the largest first: its most frequent name, and that name's most frequent description."""
    keys = {""}  # a name that has no letter to begin with is no scorer's key
    # a label below 0 is noise, which hdbscan puts in no cluster
    for label, _ in Counter(label for label in labels if label >= 0).most_common():
        members = [member for member, cluster in zip(mentions, labels, strict=True) if cluster == label]
        for name, _ in Counter(name for name, _ in members).most_common():
            key = re.sub(r"[^a-z0-9]+", "_", name).strip("_0123456789")[:LONGEST_NAME].rstrip("_")
            # the most frequent name that is a key and belongs to no larger cluster
            if key not in keys:
                break
        else:
            continue
        keys.add(key)
        described = Counter(description for other, description in members if other == name).most_common(1)[0][0]
        words = Counter(word for member in members for word in re.findall(r"[^\W\d_]{3,}", " ".join(member).casefold()))
        telling = [word for word, _ in words.most_common() if word not in _COMMON]
        yield Feature(name=key, definition=described, words=tuple(telling[:MOST_WORDS]))


MAPPING = "mapping.json"
NONE = "none"
INSTRUCTION = "map_features"


def features_to_map(folder: Path, taxonomy: str) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
    if not (folder / FEATURES).is_file():
        raise PopulationError(f"{folder} has no {FEATURES}, expected a folder that genie features discover wrote")
    named = read_features(taxonomy)
    if any(feature.name == NONE for feature in named):
        raise PopulationError(
            f"taxonomy {taxonomy} has a feature {NONE!r}, a name that is reserved for `no counterpart`"
        )
    return read_features(folder / FEATURES), named


async def map_features(
    discovered: tuple[Feature, ...],
    taxonomy: tuple[Feature, ...],
    templates: Path | None,
    output: Path,
    model: RecordedModel,
    work: Path,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Write a file with the mapping, the definitions that it rests on, and what is left on either side."""
    interviewer = Interviewer(model, templates)
    ours, theirs = ({feature.name: feature.definition for feature in features} for features in (discovered, taxonomy))
    items = [f"{name}: {definition}" for name, definition in ours.items()]
    chosen = await interviewer.sort_items(INSTRUCTION, items, {"taxonomy": theirs}, [*theirs, NONE], "features")
    progress("mapping features", len(items), len(items))
    if not any(chosen):
        raise PopulationError(
            f"no reply of {model} names a feature of the taxonomy or {NONE!r}. Use another grader, or remove {work} to "
            "ask this one again"
        )
    counterparts = dict(zip(ours, chosen, strict=True))
    mapping = {name: choice for name, choice in counterparts.items() if choice not in (None, NONE)}
    result = {
        "mapping": mapping,
        "no_counterpart": [name for name, choice in counterparts.items() if choice == NONE],
        "nothing_maps_to": [name for name in theirs if name not in mapping.values()],
        "unreadable": [name for name, choice in counterparts.items() if choice is None],
    }
    asked = identified_model(model, (GenerateConfig(temperature=0.0), None))
    mapped_by = f"{INSTRUCTION}({asked},template={interviewer.templates[INSTRUCTION].digest})"
    facts = {"mapped_by": mapped_by, **result, "discovered": ours, "taxonomy": theirs}
    write_lines(output, [json.dumps(facts, ensure_ascii=False, indent=1) + "\n"], new=True)
    clear_left(work)
    return result
