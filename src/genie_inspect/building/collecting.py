"""Documents out of Inspect logs: trimmed, without what is no document, counted by reason."""

import warnings
from array import array
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspect_ai.log import resolve_sample_attachments

from genie_inspect.building.choosing import is_degenerate, stratified, trimmed
from genie_inspect.building.interviewing import Progress, no_progress
from genie_inspect.errors import GenieWarning, PopulationError
from genie_inspect.files.folders import new_folder
from genie_inspect.files.printable import one_line
from genie_inspect.logs.files import MOST_SAID, log_header, samples
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, QUESTIONS, Population, open_population
from genie_inspect.populations.schema import (
    AnswerRow,
    Document,
    Feature,
    Question,
    document_id,
    placed_rows,
    rows_at,
    write_rows,
)
from genie_inspect.populations.writing import seal_population, write_card
from genie_inspect.samples import NO_RESPONSE, document_of, prompt_of, unusable

# what a generation does not need; attachments are where long texts stand
UNREAD = {"events", "events_data", "store", "messages", "scores"}


@dataclass(slots=True)
class Collected:
    """Documents in a file, with an index by prompt: logs may hold more text than memory."""

    path: Path
    generations: int = 0
    dropped: Counter[str] = field(default_factory=Counter)  # generations that became no document, by reason
    models: Counter[str] = field(default_factory=Counter)
    begins: dict[str, "array[int]"] = field(default_factory=dict)  # by prompt, the first byte of each document

    def documents(self, prompt: str) -> list[Document]:
        return list(rows_at(self.path, self.begins.get(prompt, ()), Document))


def collect_documents(
    logs: Sequence[str], path: Path, prompts: Container[str] | None, progress: Progress = no_progress
) -> Collected:
    collected = Collected(path)
    write_rows(path, _documents(logs, prompts, collected, progress))
    for _, begin, row in placed_rows(path, Document):
        collected.begins.setdefault(row.prompt, array("Q")).append(begin)
        collected.models[row.model] += 1
    if not collected.begins:
        dropped = ", ".join(f"{count} {reason}" for reason, count in collected.dropped.most_common())
        raise PopulationError(f"no document in {len(logs)} logs: {dropped or 'they hold no samples'}")
    return collected


def _documents(
    logs: Sequence[str], prompts: Container[str] | None, collected: Collected, progress: Progress
) -> Iterator[Document]:
    seen: set[str] = set()
    prompts_of_task = prompts
    for number, log in enumerate(logs, start=1):
        prompts_of_log: dict[str, None] = {}
        # a log that was cut short has documents too
        header, errors, before = log_header(log, finished=False), Counter[str](), collected.generations
        for sample in samples(log, UNREAD):
            collected.generations += 1
            prompt = prompt_of(sample)
            prompts_of_log.setdefault(prompt)
            if sample.error is not None:
                errors[sample.error.message] += 1
            sample = resolve_sample_attachments(sample, "full")
            reason = unusable(sample) or ("degenerate" if is_degenerate(document_of(sample)) else "")
            reason = reason or ("another prompt" if prompts is not None and prompt not in prompts else "")
            text = "" if reason else trimmed(document_of(sample))
            # models that repeat a document word for word count once, whichever log has it
            identity = document_id(prompt, text)
            reason = reason or ("" if text else NO_RESPONSE) or ("duplicate" if identity in seen else "")
            if reason:
                collected.dropped[reason] += 1
                continue
            seen.add(identity)
            yield Document(id=identity, prompt=prompt, text=text, model=header.eval.model)
        generations, lacks = collected.generations - before, []
        if errors:
            mostly = one_line(errors.most_common(1)[0][0])[:MOST_SAID]
            lacks.append(f"{errors.total()} of {generations} generations failed, mostly with {mostly!r}")
        if header.status != "success":
            planned = len(header.eval.dataset.sample_ids or ()) * (header.eval.config.epochs or 1)
            lacks.append(f"the run did not finish ({header.status}): {generations} of {planned} generations are there")
        # what a log lacks may be the documents of its hardest prompts
        if lacks:
            warnings.warn(f"{log}: {'; '.join(lacks)}. The population is made of the rest", GenieWarning, 2)
        # the first log says what the task is
        prompts_of_task = prompts_of_log if prompts_of_task is None else prompts_of_task
        if not any(prompt in prompts_of_task for prompt in prompts_of_log):
            whose = "the questions' prompts" if prompts is not None else f"the prompts of {logs[0]}"
            first = f", its first is {next(iter(prompts_of_log))[:80]!r}" if prompts_of_log else ": it holds no samples"
            raise PopulationError(f"{log} has none of {whose}{first}")
        progress("reading logs", number, len(logs))


def merged(
    folders: Sequence[Path],
    output: Path,
    progress: Progress = no_progress,
    *,
    name: str,
    version: str,
    licence: str,
    description: str = "",
) -> dict[str, Any]:
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
    population = new_population(
        output,
        documents=_union(prompts, sources, Population.documents),
        questions=_union(prompts, sources, Population.questions),
        answers=_union_of_answers(prompts, sources),
        features=sources[0].features,
        models={model for source in sources for model in source.manifest.source_models},
        facts={"name": name, "version": version, "licence": licence, "description": description},
        provenance={"Merged from": ", ".join(source.name for source in sources)},
        progress=progress,
    )
    return {"population": population.name, **population.manifest.counts.model_dump()}


def new_population(
    output: Path,
    *,
    documents: Iterable[Document],
    questions: Iterable[Question],
    answers: Iterable[AnswerRow],
    features: Iterable[Feature],
    models: Iterable[str],
    facts: dict[str, str],
    provenance: dict[str, Any],
    progress: Progress,
) -> Population:
    """Write a population and its card; the folder appears when it is complete."""
    with new_folder(output) as folder:
        write_rows(folder / QUESTIONS, questions)
        write_rows(folder / DOCUMENTS, documents)
        write_rows(folder / ANSWERS, answers)
        population = seal_population(folder, features=features, source_models=sorted(models), **facts)
        write_card(population, provenance, progress)
    return population


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
            yield from _answers(whole, prompt, ids if not whole.answers_alone else None)

    manifest = whole.manifest
    population = new_population(
        output,
        documents=(document for prompt in chosen for document in documents(prompt)),
        questions=(question for prompt in chosen for question in whole.questions(prompt)),
        answers=answers(),
        features=whole.features,
        models=manifest.source_models,
        facts={
            "name": name or f"{manifest.name}-sample",
            **manifest.model_dump(include={"version", "licence", "description"}),
        },
        provenance={"Sampled from": f"{whole.name}, seed {seed}"},
        progress=progress,
    )
    return {"population": population.name, **population.manifest.counts.model_dump()}


def _union(prompts: Iterable[str], sources: Sequence[Population], rows_of: Any) -> Iterator[Any]:
    for prompt in prompts:
        seen: dict[str, Document | Question] = {}
        for source in sources:
            for row in rows_of(source, prompt):
                # one id with two contents: which of them a score rests on would be left to chance
                if seen.setdefault(row.id, row) != row:
                    raise PopulationError(f"{source.name}: {row.id} says something else than in another population")
        yield from seen.values()


def _union_of_answers(prompts: Iterable[str], sources: Sequence[Population]) -> Iterator[AnswerRow]:
    for prompt in prompts:
        # a reader that answered twice in different runs: the first population counts
        seen: set[tuple[str, str, str]] = set()
        for source in sources:
            for answer in _answers(source, prompt):
                place = (answer.reader, answer.document, answer.question)
                # of a reader that answered twice in different runs the first population counts
                if place not in seen:
                    seen.add(place)
                    yield answer


def _answers(source: Population, prompt: str, documents: set[str] | None = None) -> Iterator[AnswerRow]:
    for reader in source.readers:
        for (document, question), text in source.answers(reader, prompt).items():
            if documents is None or document in documents:
                yield AnswerRow(document=document, question=question, reader=reader, text=text)
