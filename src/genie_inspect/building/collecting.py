"""Which documents a population takes: out of logs, cleaned, and out of other populations, merged or drawn by a plan."""

import random
import re
import warnings
from array import array
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from inspect_ai.log import resolve_sample_attachments
from inspect_ai.model import GenerateConfig, Model

from genie_inspect.building.interviewing import Progress, no_progress, reported
from genie_inspect.errors import GenieWarning, PopulationError, UnreadableReplyError
from genie_inspect.files.values import one_line
from genie_inspect.files.writing import new_folder
from genie_inspect.graders.readable import Asker, readable
from genie_inspect.logs.files import MOST_SAID, log_header, samples
from genie_inspect.measures.marks import QuotedText
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, QUESTIONS, Population, open_population
from genie_inspect.populations.schema import (
    AnswerRow,
    Document,
    Question,
    Row,
    document_id,
    placed_rows,
    rows_at,
    write_rows,
)
from genie_inspect.populations.writing import seal_population, write_card
from genie_inspect.prompting.forms import LAST, last_form, last_sound_sentence, written_text
from genie_inspect.prompting.templates import Instruction, Template, fenced
from genie_inspect.prompting.texts import has_word, last_sentence, without_repeated_tail
from genie_inspect.samples import NO_RESPONSE, document_of, prompt_of, unusable
from genie_inspect.scripts import SENTENCE_ENDS, WIDE_ENDS
from genie_inspect.signature import digest

ItemT = TypeVar("ItemT")

# what a generation does not need; attachments are where long texts stand
UNREAD = {"events", "events_data", "store", "messages", "scores"}


class Collected:
    """The documents of logs: trimmed, without what is no document, counted by reason.

    They stand in a file, with an index by prompt, because logs may hold more text than memory.
    """

    def __init__(
        self, logs: Sequence[str], path: Path, prompts: Container[str] | None, progress: Progress = no_progress
    ) -> None:
        self.path = path
        self.generations = 0
        self.dropped: Counter[str] = Counter()  # generations that became no document, by reason
        self.models: set[str] = set()
        self.begins: dict[str, array[int]] = {}  # by prompt, the first byte of each document
        write_rows(path, self._documents(logs, prompts, progress))
        for _, begin, row in placed_rows(path, Document):
            self.begins.setdefault(row.prompt, array("Q")).append(begin)
            self.models.add(row.model)
        if not self.begins:
            dropped = ", ".join(f"{count} {reason}" for reason, count in self.dropped.most_common())
            raise PopulationError(f"no document in {len(logs)} logs: {dropped or 'they hold no samples'}")

    def documents(self, prompt: str) -> list[Document]:
        return list(rows_at(self.path, self.begins.get(prompt, ()), Document))

    def _documents(self, logs: Sequence[str], prompts: Container[str] | None, progress: Progress) -> Iterator[Document]:
        seen: set[str] = set()
        prompts_of_task = prompts
        for number, log in enumerate(logs, start=1):
            prompts_of_log: dict[str, None] = {}
            # a log that was cut short has documents too
            header, errors, before = log_header(log, finished=False), Counter[str](), self.generations
            for sample in samples(log, UNREAD):
                self.generations += 1
                prompt = prompt_of(sample)
                prompts_of_log.setdefault(prompt)
                if sample.error is not None:
                    errors[sample.error.message] += 1
                sample = resolve_sample_attachments(sample, "full")
                reason = unusable(sample)
                text, is_degenerate = ("", False) if reason else trimmed(document_of(sample))
                identity = document_id(prompt, text)
                faults = {
                    "degenerate": is_degenerate,
                    "another prompt": prompts is not None and prompt not in prompts,
                    NO_RESPONSE: not text,
                    # models that repeat a document word for word count once, whichever log has it
                    "duplicate": identity in seen,
                }
                if reason := reason or next((fault for fault, is_so in faults.items() if is_so), ""):
                    self.dropped[reason] += 1
                    continue
                seen.add(identity)
                yield Document(id=identity, prompt=prompt, text=text, model=header.eval.model)
            generations, lacks = self.generations - before, []
            if errors:
                mostly = one_line(errors.most_common(1)[0][0])[:MOST_SAID]
                lacks.append(f"{errors.total()} of {generations} generations failed, mostly with {mostly!r}")
            if header.status != "success":
                planned = len(header.eval.dataset.sample_ids or ()) * (header.eval.config.epochs or 1)
                there = f"{generations} of {planned} generations are there"
                lacks.append(f"the run did not finish ({header.status}): {there}")
            # what a log lacks may be the documents of its hardest prompts
            if lacks:
                warnings.warn(f"{log}: {'; '.join(lacks)}. The population is made of the rest", GenieWarning, 2)
            # the first log says what the task is
            prompts_of_task = prompts_of_log if prompts_of_task is None else prompts_of_task
            if not any(prompt in prompts_of_task for prompt in prompts_of_log):
                whose = "the questions' prompts" if prompts is not None else f"the prompts of {logs[0]}"
                shown = next(iter(prompts_of_log), "")[:80]
                first = f", its first is {shown!r}" if prompts_of_log else ": it has no samples"
                raise PopulationError(f"{log} has none of {whose}{first}")
            progress("reading logs", number, len(logs))


# marks of chat templates that a model wrote out as text: <|im_end|>, </s>, [/INST]
_CHAT_MARKS = re.compile(r"<\|[a-z_]{2,20}\|>|</?s>|\[/?INST\]")
_MARK, _CLOSERS = rf"[{SENTENCE_ENDS}{WIDE_ENDS}]", r"[\"'”’)\]*_»」』]*"
_CLOSING = re.compile(f"{_MARK}*{_CLOSERS}")
_SENTENCE_END = re.compile(rf"{_MARK}{_CLOSERS}\Z")
_LINE_END = re.compile(r"[ \t]*(?:[\r\n]|\Z)")


def trimmed(generation: str) -> tuple[str, bool]:
    r"""The generation without thoughts, chat marks, outer space, and the repetitions of a degenerate tail.

    Empty when there is no word in it. Also whether that tail was more than half of what the model said.
    """
    try:
        text = _CHAT_MARKS.sub("", written_text(generation)).strip()
    except UnreadableReplyError:
        return "", False
    rest = without_repeated_tail(text)
    return rest.strip(), loses_most(text, rest)


def loses_most(text: str, rest: str) -> bool:
    return 2 * len(rest) < len(text)


def up_to_sentence(text: str, sentence: str) -> str | None:
    """The text up to the end of one of its sentences, the last time that it stands there; None where it does not.

    What a model copies is found as a close reader's quotes are. It must end as a sentence does, so that a word or two,
    which stand in any text, cut none.
    """
    place = QuotedText(text).find(sentence, last=True)
    if place is None:
        return None
    closing = _CLOSING.match(text, place[1])
    begin, end = place[0], closing.end() if closing else place[1]
    ends = _SENTENCE_END.search(text[begin:end]) or _LINE_END.match(text, end)
    return text[:end] if ends else None


INSTRUCTION = Instruction(
    "last_sound_sentence",
    keys=frozenset({"writing"}),
    # that it holds together: so that all later steps are counted
    rehearsed=lambda data: fenced({LAST: last_sentence(data["writing"])}),
    is_prose=True,
)
CONFIG = GenerateConfig(temperature=0.0, max_tokens=400)  # the longest sentence of the shipped stories has some 120
ASKED, CUT, WORDS = "asked about", "cut", "words cut"
ABSENT, UNREADABLE = "kept whole: the sentence is not in the text", "kept whole: the reply could not be read"
BROKEN = "falls apart in its first half"


class Cleaner(Asker[Template]):
    """Asks a model for the last sound sentence of documents, and cuts what stands behind it."""

    name = INSTRUCTION.name
    requests = ((CONFIG, last_form()),)

    def __init__(self, model: Model, templates: Path | None = None) -> None:
        super().__init__(model, INSTRUCTION.template(templates))
        self.counts: Counter[str] = Counter()  # documents that were asked about, by what came of it; and words cut

    @property
    def card(self) -> dict[str, str]:
        counted = ", ".join(f"{count} {what}" for what, count in self.counts.items() if count)
        return {"Broken ends": f"looked for by {self.signature}: {counted}"}

    async def cleaned(
        self, documents: Sequence[Document], dropped: Counter[str], progress: Progress = no_progress
    ) -> list[Document]:
        """The documents in their order, cut where they fall apart; without those that do so in their first half."""

        async def sentence_of(document: Document) -> str | None:
            request = self.template.request({"writing": document.text})
            with suppress(UnreadableReplyError):
                return await readable(self.model, request, CONFIG, last_sound_sentence, last_form())
            return None

        sentences = await reported(sentence_of, documents, "looking for broken ends", progress)
        self.counts[ASKED] += len(documents)
        cut = [self._cut(document, sentence) for document, sentence in zip(documents, sentences, strict=True)]
        dropped[BROKEN] += cut.count(None)
        return [document for document in cut if document is not None]

    def _cut(self, document: Document, sentence: str | None) -> Document | None:
        """The document up to the sentence; None where most of it would be gone."""
        if sentence is None:
            self.counts[UNREADABLE] += 1
            return document
        # an empty sentence says that none is sound
        rest = up_to_sentence(document.text, sentence) if sentence else ""
        if rest is None:
            self.counts[ABSENT] += 1
            return document
        gone = document.text[len(rest) :]
        if not has_word(gone):
            return document
        if loses_most(document.text, rest):
            return None
        self.counts[CUT] += 1
        self.counts[WORDS] += word_count(gone)
        identity = document_id(document.prompt, rest)
        return document.model_copy(update={"id": identity, "text": rest, "cut_words": word_count(gone)})


def stratified(items: Iterable[ItemT], stratum: Callable[[ItemT], str], *seed: object) -> list[ItemT]:
    """All items in a seeded order of which every beginning takes the strata as equally as can be."""
    chance = random.Random(digest(*map(str, seed)))  # noqa: S311  # a sample, no secret
    groups: dict[str, list[ItemT]] = {}
    for item in items:
        groups.setdefault(stratum(item), []).append(item)
    # sorted, so that the order of the items' strata does not matter
    for name in sorted(groups):
        chance.shuffle(groups[name])
    # who comes first in each round is drawn too: else the first name would gain a place
    order = sorted(groups)
    chance.shuffle(order)
    rounds = zip_longest(*(groups[name] for name in order), fillvalue=None)
    return [item for turn in rounds for item in turn if item is not None]


def new_population(
    output: Path, progress: Progress, provenance: Mapping[str, Any], rows: Mapping[str, Iterable[Row]], **facts: Any
) -> dict[str, Any]:
    """Write a population of these rows by file, and its card; the folder appears when it is complete."""
    with new_folder(output) as folder:
        for name, items in rows.items():
            write_rows(folder / name, items)
        population = seal_population(folder, **facts)
        write_card(population, provenance, progress)
    return {"population": population.name, **population.manifest.counts.model_dump()}


def merged(folders: Sequence[Path], output: Path, progress: Progress = no_progress, **facts: str) -> dict[str, Any]:
    """Write the union of populations; what stands in two of them stands in it once."""
    sources = [open_population(folder) for folder in folders]
    for source in sources[1:]:
        # questions are mapped to features: of other definitions they would not mean the same
        if source.features != sources[0].features:
            ours, theirs = (", ".join(f.name for f in one.features) for one in (source, sources[0]))
            raise PopulationError(
                f"{source.name} has other features than {sources[0].name}, or other definitions of them: "
                f"{ours} against {theirs}"
            )
    prompts = list(dict.fromkeys(prompt for source in sources for prompt in source.prompts))

    def union(rows_of: Callable[[Population, str], Iterable[Any]]) -> Iterator[Any]:
        for prompt in prompts:
            rows: dict[object, Document | Question | AnswerRow] = {}
            for source in sources:
                for row in rows_of(source, prompt):
                    # of a reader that answered twice in different runs the first population counts
                    if isinstance(row, AnswerRow):
                        rows.setdefault((row.reader, row.document, row.question), row)
                    # one id with two contents: which of them a score rests on would be left to chance
                    elif rows.setdefault(row.id, row) != row:
                        raise PopulationError(f"{source.name}: {row.id} says something else than in another population")
            yield from rows.values()

    return new_population(
        output,
        progress,
        {"Merged from": ", ".join(source.name for source in sources)},
        {QUESTIONS: union(Population.questions), DOCUMENTS: union(Population.documents), ANSWERS: union(_answers)},
        features=sources[0].features,
        source_models=sorted({model for source in sources for model in source.manifest.source_models}),
        **facts,
    )


def sampled(
    source: Path,
    output: Path,
    progress: Progress = no_progress,
    *,
    per_prompt: int | None = None,
    prompts: int | None = None,
    seed: int = 0,
    name: str | None = None,
) -> dict[str, Any]:
    """Write a smaller population, drawn by a seed, every model as equally as can be; None takes all."""
    whole = open_population(source)
    if per_prompt is not None and whole.answers_alone:
        raise PopulationError(
            f"population {whole.name} has only answers: its prompts can be sampled, its documents not"
        )
    drawn = set(stratified(whole.prompts, lambda _: "", seed)[:prompts])
    # drawn by chance, written in the order of the file
    chosen = [prompt for prompt in whole.prompts if prompt in drawn]

    def documents(prompt: str) -> list[Document]:
        # seeded by prompt, so that it is drawn alike in both passes below
        return stratified(whole.documents(prompt), lambda document: document.model, seed, prompt)[:per_prompt]

    def answers() -> Iterator[AnswerRow]:
        for prompt in chosen:
            ids = {document.id for document in documents(prompt)}
            yield from (row for row in _answers(whole, prompt) if whole.answers_alone or row.document in ids)

    rows: dict[str, Iterable[Row]] = {
        QUESTIONS: (question for prompt in chosen for question in whole.questions(prompt)),
        DOCUMENTS: (document for prompt in chosen for document in documents(prompt)),
        ANSWERS: answers(),
    }
    return new_population(
        output,
        progress,
        {"Sampled from": f"{whole.name}, seed {seed}"},
        rows,
        name=name or f"{whole.manifest.name}-sample",
        features=whole.features,
        source_models=sorted(whole.manifest.source_models),
        **whole.manifest.model_dump(include={"version", "licence", "description"}),
    )


def _answers(source: Population, prompt: str) -> Iterator[AnswerRow]:
    for reader in source.readers:
        for (document, question), text in source.answers(reader, prompt).items():
            yield AnswerRow(document=document, question=question, reader=reader, text=text)
