"""From logs to a population: collect, question, choose, read, write."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio import to_thread

from genie_inspect.building.collecting import ASKED, Cleaner, Collected, stratified
from genie_inspect.building.interviewing import Progress, appearing, in_batches, left_out, no_progress
from genie_inspect.building.questions import MOST, QuestionWriter, passed, read_questions, rejected, write_record
from genie_inspect.errors import PopulationError, UnknownChoiceError, UnreadableReplyError, check_between
from genie_inspect.files.writing import check_unused, giving_way, private_folder, written
from genie_inspect.graders.cache import Cache
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.instrument import Instrument
from genie_inspect.graders.quality import COHERENCE, HIGHEST, LOWEST, REWARD, CoherenceRater, GraderCoherence, rewarded
from genie_inspect.graders.reader import READ, GraderReader
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, QUESTIONS, Population
from genie_inspect.populations.reference_scores import (
    REFERENCE_SCORES,
    ReferenceScores,
    with_measured,
    write_reference_scores,
)
from genie_inspect.populations.schema import AnswerRow, Document, Feature, Question, Row
from genie_inspect.populations.survey import THRESHOLD, NearDuplicates
from genie_inspect.populations.writing import seal_population, write_card
from genie_inspect.samples import REFUSAL
from genie_inspect.scorers.assessor import Assessor

PROMPTS_AT_ONCE = 8  # so that a prompt with few documents does not leave the model idle
GRADER, NONE = "grader", "none"


@dataclass(slots=True)
class Built:
    population: str = ""
    generations: int = 0
    documents: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    coherence_unrated: int = 0
    prompts_without_documents: int = 0
    questions: int = 0
    rejected_questions: dict[str, int] = field(default_factory=dict)
    answers: int = 0
    unspecified: int = 0
    unreadable_answers: int = 0  # they are not on record and are read again by whoever scores
    unreadable_replies: int = 0  # about questions
    asked_again: int = 0
    cleaned: dict[str, int] | None = None


async def build(
    output: Path, model: RecordedModel, work: Path, progress: Progress = no_progress, **options: Any
) -> Built:
    """Make a population of logs; the options are the fields of `Builder`."""
    check_unused(output)
    builder = Builder(output, model, work, progress, **options)
    # of two builders with one work folder neither may read what the other collected
    with giving_way(output), private_folder(work, output) as scratch:
        return await builder.build(scratch)


@dataclass
class Builder:
    output: Path
    model: RecordedModel
    work: Path
    progress: Progress
    logs: Sequence[str]
    name: str
    licence: str
    features: tuple[Feature, ...]
    version: str = "1"
    description: str = ""
    questions: Path | None = None  # a file or population whose questions are asked; None has them written
    least: int = 2  # questions a feature that are written for each prompt
    most: int = MOST
    per_prompt: int = 50
    seed: int = 0
    near_duplicates: float = THRESHOLD
    coherence: str = GRADER  # or `reward/<hub id or folder>` of ArmoRM, or `none`
    min_coherence: float | None = None  # on the rater's own scale; its middle unless given
    clean_by_model: bool = False
    templates: Path | None = None
    reference_scores: str = (
        NONE  # the judge, `list` or `pairwise`, with which the documents are compared with each other
    )

    def __post_init__(self) -> None:
        self.built = Built()
        self.dropped: Counter[str] = Counter()
        self.cleaner = Cleaner(self.model, self.templates) if self.clean_by_model else None
        # the rater of coherence, and the least rating with which a document joins
        self.rater: tuple[CoherenceRater, float] | None = None
        least = self.min_coherence
        if self.coherence == GRADER:
            if least is not None:
                check_between("min_coherence", least, LOWEST, HIGHEST, "as the grader rates")
            # 3 of the grader's 1 to 5 is its middle
            self.rater = (
                GraderCoherence(self.model, COHERENCE.template(self.templates)),
                3.0 if least is None else least,
            )
        elif rater := rewarded(self.coherence):
            # ArmoRM's coherence is rewards[2] * 5 - 0.5, and 2.0 the study's threshold (arXiv 2606.12790)
            self.rater = rater, 2.0 if least is None else least
        elif self.coherence != NONE:
            raise UnknownChoiceError("coherence", self.coherence, f"{GRADER}, {REWARD}<hub id or folder> or {NONE}")
        self.reader = GraderReader(self.model, READ.template(self.templates))
        # documents that were read, also those that then did not join; and whose coherence was asked for
        self.readings = self.rated = 0

    async def build(self, scratch: Path) -> Built:
        built = self.built
        questions = read_questions(self.questions, self.features) if self.questions else None
        # questions that were supplied say which prompts the population has
        prompts = {question.prompt for question in questions} if questions is not None else None
        # in a thread, because Inspect reads logs outside of event loops
        collected = await to_thread.run_sync(Collected, self.logs, scratch / "collected.jsonl", prompts, self.progress)
        built.generations, self.dropped = collected.generations, collected.dropped
        if questions is None:
            writer = QuestionWriter(self.model, self.features, self.least, self.most, self.templates)
            record = await writer.write(list(collected.begins), self.progress)
            # also where no question passes: it says why
            write_record(self.work, record)
            questions, built.rejected_questions = passed(record), rejected(record)
            built.unreadable_replies, built.asked_again = writer.unreadable, writer.asked_again
        # of a prompt without documents nothing can be asked
        questions = [question for question in questions if question.prompt in collected.begins]
        if not questions:
            reasons = [f"{count} {reason}" for reason, count in built.rejected_questions.items()]
            why = ", ".join([*reasons, f"{built.unreadable_replies} unreadable replies"])
            raise PopulationError(f"no question is left to ask: {why}. The record of every step is in {self.work}")
        with appearing(self.output, self.work) as folder:
            await self._fill(folder, questions, collected)
            facts = {name: getattr(self, name) for name in ("name", "version", "licence", "description")}
            population = seal_population(
                folder, features=self.features, source_models=sorted(collected.models), **facts
            )
            built.population = population.name
            write_card(population, self._provenance(), self.progress)
            if self.reference_scores != NONE:
                instrument = Instrument(
                    self.reference_scores, templates=str(self.templates) if self.templates else None
                )
                # a cache of this run alone: a dry run's made-up ratings must not come into the user's
                parts = instrument.reader_and_judge(self.model, self.features, cache=Cache(scratch))
                result = await left_out(Assessor(Population(folder), *parts), self.progress)
                write_reference_scores(folder / REFERENCE_SCORES, with_measured(ReferenceScores(), result.measured))
        return built

    async def _fill(self, folder: Path, questions: Sequence[Question], collected: Collected) -> None:
        """Choose and read the documents, some prompts at a time; the files grow in the order of the questions."""
        built = self.built
        questions_of: dict[str, list[Question]] = {}
        for question in questions:
            questions_of.setdefault(question.prompt, []).append(question)
        # writing questions may fail for a prompt whose documents were collected
        for prompt in collected.begins.keys() - questions_of.keys():
            self.dropped["prompt without questions"] += len(collected.begins[prompt])
        before = self.model.tally.requests
        with ExitStack() as stack:
            files = [stack.enter_context(written(folder / name)) for name in (QUESTIONS, DOCUMENTS, ANSWERS)]
            # in order, however the requests came back: reruns write the same bytes
            async for prompt, (chosen, read) in in_batches(
                lambda prompt: self._chosen(prompt, collected.documents(prompt), questions_of[prompt]),
                list(questions_of),
                PROMPTS_AT_ONCE,
                "reading documents",
                self.progress,
            ):
                # of a prompt without documents nobody is asked
                included = questions_of[prompt] if chosen else []
                by_file: tuple[Sequence[Row], ...] = (included, chosen, read)
                for file, rows in zip(files, by_file, strict=True):
                    file.writelines(row.model_dump_json().encode() + b"\n" for row in rows)
                built.questions += len(included)
                built.prompts_without_documents += not chosen
        asked = self.readings + (self.rated if self.coherence == GRADER else 0)
        if self.cleaner is not None:
            built.cleaned = dict(self.cleaner.counts)
            asked += self.cleaner.counts[ASKED]
        # more requests than documents were asked about: replies that could not be read
        built.asked_again += self.model.tally.requests - before - asked
        built.dropped = {reason: count for reason, count in self.dropped.most_common() if count}
        if not built.documents:
            reasons = ", ".join(f"{count} {reason}" for reason, count in built.dropped.items())
            raise PopulationError(f"no document is left of {built.generations} generations: {reasons}")

    async def _chosen(
        self, prompt: str, documents: Sequence[Document], questions: Sequence[Question]
    ) -> tuple[list[Document], list[AnswerRow]]:
        """A seeded sample of a prompt's documents, every model as equally as can be, and their answers.

        No more documents are cleaned, rated for coherence and read than are needed to fill the sample.
        """
        # before the sample is drawn: a near-duplicate must not take a place in it
        distinct = self._distinct(documents, NearDuplicates(self.near_duplicates))
        waiting = stratified(distinct, lambda document: document.model, self.seed, prompt)
        chosen: list[Document] = []
        answers: list[AnswerRow] = []
        seen_cut = NearDuplicates(self.near_duplicates)
        while waiting and len(chosen) < self.per_prompt:
            missing = self.per_prompt - len(chosen)
            taken, waiting = waiting[:missing], waiting[missing:]
            if self.cleaner is not None:
                # without their broken ends two may be nearly the same
                taken = self._distinct(await self.cleaner.cleaned(taken, self.dropped), seen_cut)
            attempts, read = await self._read(await self._coherent(taken), questions)
            chosen += attempts
            answers += read
        self.dropped["not sampled"] += len(waiting)
        return chosen, answers

    def _distinct(self, documents: Sequence[Document], seen: NearDuplicates) -> list[Document]:
        distinct = [document for document in documents if seen.twin(document.text) is None]
        self.dropped["near-duplicate"] += len(documents) - len(distinct)
        return distinct

    async def _coherent(self, documents: list[Document]) -> list[Document]:
        if self.rater is None:
            return documents
        rater, least = self.rater

        async def rating_of(document: Document) -> float | None:
            with suppress(UnreadableReplyError):
                return await rater.rate(document.prompt, document.text)
            return None

        ratings = await gathered(*map(rating_of, documents))
        # what could not be rated joins, and is counted: a rater's fault is not the document's
        is_coherent = [rating is None or rating >= least for rating in ratings]
        self.dropped["incoherent"] += is_coherent.count(False)
        self.built.coherence_unrated += ratings.count(None)
        self.rated += len(ratings)
        return [document for document, joins in zip(documents, is_coherent, strict=True) if joins]

    async def _read(
        self, documents: Sequence[Document], questions: Sequence[Question]
    ) -> tuple[list[Document], list[AnswerRow]]:
        """The documents that the reader takes for attempts at the task, and what they answer."""
        readings = await gathered(*(self.reader.read(document.text, questions) for document in documents))
        attempts: list[Document] = []
        answers: list[AnswerRow] = []
        for document, reading in zip(documents, readings, strict=True):
            if not reading.is_attempt:
                continue
            attempts.append(document)
            self.built.unreadable_answers += len(reading.faults)
            for index, (question, answer) in enumerate(zip(questions, reading.answers, strict=True)):
                if index not in reading.faults:
                    place = {"document": document.id, "question": question.id, "reader": self.reader.signature}
                    answers.append(AnswerRow(**place, text=answer.text if answer else None))
        self.readings += len(documents)
        # a refusal in words, which the reader knows and no rule does
        self.dropped[REFUSAL] += len(documents) - len(attempts)
        self.built.documents += len(attempts)
        self.built.answers += len(answers)
        self.built.unspecified += sum(answer.text is None for answer in answers)
        return attempts, answers

    def _provenance(self) -> dict[str, str]:
        # the card is all that a reader of the population has of how it was built
        built = self.built
        counted = ", ".join(f"{count} {reason}" for reason, count in built.dropped.items())
        questions = f"from {self.questions.name}" if self.questions else "written, filtered and mapped by the grader"
        said = f"{built.answers}: {built.unspecified} not specified; {built.unreadable_answers} more unreadable"
        return {
            "Generations found in logs": str(built.generations),
            "Dropped": counted or "none",
            "Coherence": f"by {self.coherence}; {built.coherence_unrated} unreadable and kept",
            "Documents per prompt": f"at most {self.per_prompt}, stratified by model, seed {self.seed}",
            "Near-duplicates": f"dropped from {self.near_duplicates:.0%} shared runs of five words",
            "Questions": questions,
            "Reference scores": f"by judge={self.reference_scores}" if self.reference_scores != NONE else NONE,
            "Answers": said,
            **(self.cleaner.card if self.cleaner else {}),
        }
