"""Requests of the building steps: one template, numbered items; items that a reply lacks are asked for again."""

import math
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, TypeVar

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.engines.embedders import static_words
from genie_inspect.errors import GraderFailedError, RefusalError, UnreadableReplyError
from genie_inspect.files.writing import clear_left, new_folder, unwritable
from genie_inspect.graders.grader import ask, gathered
from genie_inspect.graders.protocols import GRADER_FAILED
from genie_inspect.graders.readable import ANEW, until_complete, until_read
from genie_inspect.graders.stand_ins import FILE, RecordedModel, ReplyRecord
from genie_inspect.logs.evidence import together
from genie_inspect.logs.files import LogError
from genie_inspect.logs.reading import one_signature, read_logs
from genie_inspect.measures.genie import Tally
from genie_inspect.populations.reference_scores import Measured
from genie_inspect.populations.schema import Document
from genie_inspect.prompting.forms import Form, choices_form
from genie_inspect.prompting.replies import numbered_choices
from genie_inspect.prompting.templates import Instruction, fenced, numbered
from genie_inspect.samples import REFUSAL
from genie_inspect.scorers.assessment import Assessment
from genie_inspect.scorers.assessor import Assessor, Jury
from genie_inspect.signature import digest
from genie_inspect.statistics.descriptive import Interval, Spread, pooled, prompt_interval

T = TypeVar("T")
ItemT = TypeVar("ItemT")
TOKENS_AN_ITEM = 60  # of a question or a feature with its description
ITEMS_A_REQUEST = 20  # sorted by one
SPARE_TOKENS = 200  # for what a model says around its list


def _numbered(count: int, text: str) -> str:
    return fenced({str(number): text.format(number) for number in range(1, count + 1)})


def _pairs(data: dict[str, Any]) -> str:
    # words at random, which are far from each other as the pairs of a willing model are
    words = iter(random.Random(digest(str(data))).sample(static_words(), 2 * data["count"]))  # noqa: S311
    return fenced({str(n): f"{next(words)}; {next(words)}" for n in range(1, data["count"] + 1)})


def rehearsed_questions(data: dict[str, Any]) -> str:
    matter = digest(str(data))  # so that no two requests bring the same questions
    return _numbered(data["count"], f"What is said of matter {{}} of {matter}?")


# by the keys of the data, what a rehearsal replies
INSTRUCTIONS = tuple(
    Instruction(name, frozenset({"count", "data"}), frozenset(keys.split()), rehearsed)
    for name, keys, rehearsed in (
        ("list_features", "task", lambda data: _numbered(6, "feature {}: what it covers")),
        ("pair_concepts", "domain count", _pairs),
        ("list_aspects", "prompt count", lambda data: _numbered(data["count"], "aspect {}: one side; another side")),
        ("write_questions", "prompt aspect count", rehearsed_questions),
        ("write_feature_questions", "prompt feature count existing", rehearsed_questions),
        ("filter_questions", "prompt questions", lambda data: fenced(dict.fromkeys(data["questions"], "keep"))),
        (
            "map_questions",
            "features questions",
            lambda data: fenced(dict(zip(data["questions"], cycle(data["features"]), strict=False))),
        ),
        (
            "map_features",
            "features taxonomy",
            lambda data: fenced(dict.fromkeys(data["features"], next(iter(data["taxonomy"])))),
        ),
    )
)
Parser = Callable[[str, int], dict[int, T]]


class Interviewer:
    """Sends requests to one model, and counts the replies that could not be used."""

    def __init__(self, model: Model, templates: Path | None = None) -> None:
        self.model = model
        # all of them, before anybody is asked; a user's folder replaces bundled ones
        self.templates = {instruction.name: instruction.template(templates) for instruction in INSTRUCTIONS}
        self.unreadable = 0  # replies that held nothing, or lacked something that was asked for
        self.asked_again = 0  # requests that only such a reply made necessary

    async def list_items(
        self,
        template: str,
        count: int,
        data: Mapping[str, Any],
        form: Form | None,
        parse: Parser[T],
        temperature: float = 0.0,
    ) -> list[T]:
        """The items of one reply, in the order of their numbers; asked again while no item can be read."""

        async def attempt(settings: GenerateConfig) -> list[T]:
            values = await self._once(template, count, data, form, parse, settings, temperature)
            if not values:
                raise UnreadableReplyError(f"the reply to {template} has nothing that was asked for")
            return [values[number] for number in sorted(values)]

        try:
            return await until_read(attempt)
        except UnreadableReplyError:
            return []

    async def sort_items(
        self, template: str, items: Sequence[str], data: Mapping[str, Any], choices: Sequence[str], under: str
    ) -> list[str | None]:
        """One of the choices for each item, in their order, some items a request; None where none comes."""
        parse = partial(numbered_choices, choices=choices)

        async def chosen(part: Sequence[str]) -> list[str | None]:
            async def attempt(missing: Sequence[int], settings: GenerateConfig) -> dict[int, str]:
                # numbered anew: a request for the rest has no gaps, which models would fill
                asked = {**data, under: numbered(part[index] for index in missing)}
                form = choices_form(len(missing), choices)
                values = await self._once(template, len(missing), asked, form, parse, settings)
                return {missing[number - 1]: value for number, value in values.items()}

            values = await until_complete(range(len(part)), attempt)
            return [values.get(index) for index in range(len(part))]

        parts = [items[start : start + ITEMS_A_REQUEST] for start in range(0, len(items), ITEMS_A_REQUEST)]
        return [choice for part in await gathered(*map(chosen, parts)) for choice in part]

    async def _once(
        self,
        template: str,
        count: int,
        data: Mapping[str, Any],
        form: Form | None,
        parse: Parser[T],
        settings: GenerateConfig,
        temperature: float = 0.0,
    ) -> dict[int, T]:
        # ANEW marks the settings of a repeated request
        self.asked_again += settings == ANEW
        request = self.templates[template].request(data, count=count)
        usual = GenerateConfig(temperature=temperature, max_tokens=SPARE_TOKENS + TOKENS_AN_ITEM * count)
        values = parse(await ask(self.model, request, usual.merge(settings), form), count)
        # without a form a reply may hold fewer items than were asked for
        self.unreadable += len(values) < count if form is not None else not values
        return values


Progress = Callable[[str, int, int], None]


def no_progress(step: str, done: int, total: int) -> None:
    """The default of every `progress` parameter: does nothing."""


async def reported(
    ask: Callable[[ItemT], Awaitable[T]], items: Sequence[ItemT], step: str, progress: Progress
) -> list[T]:
    """What came of each item, in their order; all are asked about side by side, each is reported when it is done."""
    done = 0

    async def one(item: ItemT) -> T:
        nonlocal done
        result = await ask(item)
        done += 1
        progress(step, done, len(items))
        return result

    return await gathered(*map(one, items))


async def in_batches(
    ask: Callable[[ItemT], Awaitable[T]], items: Sequence[ItemT], size: int, step: str, progress: Progress
) -> AsyncIterator[tuple[ItemT, T]]:
    """Each item with what came of it, in their order; so many at once, and reported when whoever asked has them."""
    for start in range(0, len(items), size):
        batch = items[start : start + size]
        for item, result in zip(batch, await gathered(*map(ask, batch)), strict=True):
            yield item, result
        progress(step, start + len(batch), len(items))


def work_folder(output: Path) -> Path:
    folder = record_folder(output)
    with unwritable(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def record_folder(output: Path) -> Path:
    return Path(os.path.abspath(output) + ".work")


def recorded(model: Model, work: Path, *, keep_cut: bool = True) -> RecordedModel:
    return RecordedModel(model, ReplyRecord(work / FILE), keep_cut=keep_cut)


@contextmanager
def appearing(output: Path, work: Path) -> Iterator[Path]:
    """A folder to write in, which becomes the output when all is done, and only then; see `new_folder`."""
    # on the same disk as the output: only there is a rename one step
    with new_folder(output, work) as folder:
        yield folder
    clear_left(work)


@dataclass(frozen=True, slots=True)
class LeftOut:
    measured: Measured
    means: Mapping[str, Interval]
    spread: Mapping[str, Spread]  # by feature, of the similarities of one document to the others, within questions
    missing: Mapping[str, int]  # documents, answers and ratings that could not be had, by reason


async def left_out(assessor: Assessor | Jury, progress: Progress = no_progress) -> LeftOut:
    """Each document of a population compared with the others of its prompt."""
    population, features = assessor.population, [feature.name for feature in assessor.population.features]
    population.require_documents("a reference score")
    population.require_questions("a reference score")
    missing: Counter[str] = Counter()
    spreads: dict[str, list[Spread]] = {feature: [] for feature in features}
    novelties: dict[str, list[float]] = {feature: [] for feature in features}
    ratings: dict[str, dict[str, tuple[Tally, ...]]] = {}
    prompts: list[str] = []
    done, total = 0, population.manifest.counts.documents

    async def assessed(document: Document) -> Assessment | None:
        nonlocal done
        assessment: Assessment | None = None
        with suppress(RefusalError):
            assessment = await assessor.assess(document.text, document.prompt)
        # unlike a score, which says that it is poorer, reference scores are kept for all later scores
        if assessment and (lost := assessment.faults.get(GRADER_FAILED, 0)):
            raise GraderFailedError(f"the grader failed on {lost} ratings of document {document.id}: run it again")
        done += 1
        progress("leaving one out", done, total)
        return assessment

    for prompt in population.prompts:
        # a prompt at a time: a large population need not be in memory
        documents = population.documents(prompt)
        prompts += [prompt] * len(documents)
        for document, assessment in zip(documents, await gathered(*map(assessed, documents)), strict=True):
            novelty = assessment.novelty if assessment else dict.fromkeys(features, math.nan)
            for feature in features:
                novelties[feature].append(novelty[feature])
            for feature, spread in assessment.spread.items() if assessment else ():
                spreads[feature].append(spread)
            missing.update(assessment.faults if assessment else [REFUSAL])
            ratings[document.id] = assessment.tallies if assessment else {}
    return LeftOut(
        Measured(signature=assessor.signature, ratings=ratings),
        {feature: prompt_interval(values, prompts, bounds=(0.0, 1.0)) for feature, values in novelties.items()},
        {feature: pooled(parts) for feature, parts in spreads.items()},
        dict(missing),
    )


def logged_spreads(paths: Iterable[str], signature: str = "") -> tuple[dict[str, Spread], str]:
    """The spread by feature in scores by `genie`, over all documents of the logs; and their signature."""
    logs = read_logs(paths, signature=signature)
    signed = one_signature(logs, "genie")
    scores = [document.scores["genie"] for log in logs for document in log.documents if "genie" in document.scores]
    spreads = dict(together([score.evidence for score in scores]).spread)
    if not spreads:
        raise LogError(
            f"{', '.join(log.file for log in logs[:3])}: no score by genie says how far similarities lie apart; "
            "score again: inspect score LOG --scorer genie_inspect/genie"
        )
    return spreads, signed
