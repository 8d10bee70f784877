"""The features of a kind of text: asked for several times, like names put together.

Source: Genie (arXiv 2606.12790), section 3. Deviation: the words of a feature, which the embedded reader uses, are
those of the names and descriptions in its cluster.
"""

import json
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genie_inspect.asking.gathering import gathered
from genie_inspect.building.interviewing import Interviewer, interview_templates
from genie_inspect.building.stand_ins.recorded_model import RecordedModel
from genie_inspect.building.work import Progress, appearing, no_progress
from genie_inspect.engines.clustering import check_clustering, clusters
from genie_inspect.engines.embedders.choices import embedder as chosen_embedder
from genie_inspect.errors import PopulationError
from genie_inspect.files.writing import write_lines
from genie_inspect.populations.features import write_features
from genie_inspect.populations.schema import Feature
from genie_inspect.prompting.replies import LONGEST_ANSWER, numbered_answers

MOST_FEATURES = 30  # in one reply
MOST_WORDS = 12
LONGEST_NAME = 40
TEMPERATURE = 1.0  # samples shall differ
FEATURES, SAID = "features.json", "said.jsonl"
_SEPARATOR = re.compile(r"/|&|\band/or\b|\band\b|\bor\b", re.IGNORECASE)
# words that say nothing about a feature
_COMMON = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "by",
        "for",
        "from",
        "how",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "that",
        "the",
        "their",
        "this",
        "to",
        "what",
        "which",
        "with",
    ]
)


@dataclass(frozen=True, slots=True)
class Search:
    """Task, samples, clustering and embedder of a search for features."""

    task: str
    samples: int = 10
    method: str = "k-means"
    embedder: str = "static"
    templates: Path | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """One feature as one reply names it."""

    name: str
    description: str


async def discover_features(
    search: Search, output: Path, model: RecordedModel, work: Path, progress: Progress = no_progress
) -> dict[str, Any]:
    """Write a folder with the features and with every name that a reply gave; it appears when it is complete.

    Raises:
        PopulationError: If no reply could be read.
        MissingExtraError: If scikit-learn is not installed.
        GraderFailedError: If the model cannot be reached; running again goes on from there.
    """
    check_clustering(search.method)
    engine = chosen_embedder(search.embedder)
    interviewer = Interviewer(model, interview_templates(search.templates))
    replies = await _replies(search, interviewer, progress)
    mentions = [mention for reply in replies for mention in reply]
    if not mentions:
        raise PopulationError(f"none of {search.samples} replies names a feature in the form that was asked for")
    # as many clusters as a reply names features, on average
    count = round(statistics.mean(len(reply) for reply in replies if reply))
    labels = clusters(engine.embed([mention.name for mention in mentions]), count, search.method)
    features = tuple(_features(mentions, labels))
    if not features:
        raise PopulationError(
            f"{search.method} found no cluster among {len(mentions)} names: take k-means, or more samples"
        )
    with appearing(output, work) as folder:
        write_features(folder / FEATURES, features)
        lines = (
            {"cluster": label, "name": mention.name, "description": mention.description}
            for mention, label in zip(mentions, labels, strict=True)
        )
        write_lines(folder / SAID, (json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return {
        "features": {feature.name: feature.definition for feature in features},
        "names_said": len(mentions),
        "in_no_cluster": sum(label < 0 for label in labels),
        "unreadable_replies": sum(not reply for reply in replies),
    }


async def _replies(search: Search, interviewer: Interviewer, progress: Progress) -> list[list[Named]]:
    """The features that each sampled reply names; an unreadable reply names none."""
    done = 0

    async def reply() -> list[Named]:
        nonlocal done
        items = await interviewer.list_items(
            "list_features", MOST_FEATURES, {"task": search.task}, None, numbered_answers, temperature=TEMPERATURE
        )
        done += 1
        progress("asking for features", done, search.samples)
        return list(split(items))

    return await gathered(*(reply() for _ in range(search.samples)))


def split(items: Sequence[str]) -> Iterator[Named]:
    """Features with names of one idea each: "Tone and mood: how it feels" is two.

    >>> [mention.name for mention in split(["Tone and mood: how it feels", "Plot"])]
    ['tone', 'mood', 'plot']
    """
    for text in items:
        name, _, description = text.partition(":")
        # cut before it is split: a reply may be anything
        for part in _SEPARATOR.split(name[:LONGEST_ANSWER]):
            plain = " ".join(re.findall(r"\w+", part.casefold()))
            if plain:
                yield Named(plain, " ".join(description.split()) or part.strip())


def _features(mentions: Sequence[Named], labels: Sequence[int]) -> Iterator[Feature]:
    """A feature a cluster, the largest first: its most frequent name, and that name's most frequent description."""
    keys: set[str] = set()
    # a label below 0 is noise, which hdbscan puts in no cluster
    sizes = Counter(label for label in labels if label >= 0)
    for label, _ in sizes.most_common():
        members = [member for member, cluster in zip(mentions, labels, strict=True) if cluster == label]
        # the most frequent name that is a key and belongs to no larger cluster
        names = [name for name, _ in Counter(member.name for member in members).most_common() if _key(name)]
        name = next((name for name in names if _key(name) not in keys), None)
        if name is None:
            continue
        keys.add(_key(name))
        described = Counter(member.description for member in members if member.name == name).most_common(1)[0][0]
        yield Feature(name=_key(name), definition=described, words=_words(members))


def _key(name: str) -> str:
    """The name as a scorer's key; empty when it has no letter to begin with."""
    return re.sub(r"[^a-z0-9]+", "_", name).strip("_0123456789")[:LONGEST_NAME].rstrip("_")


def _words(members: Sequence[Named]) -> tuple[str, ...]:
    counts = Counter(
        word
        for member in members
        for word in re.findall(r"[^\W\d_]{3,}", f"{member.name} {member.description}".casefold())
    )
    return tuple(word for word, _ in counts.most_common() if word not in _COMMON)[:MOST_WORDS]
