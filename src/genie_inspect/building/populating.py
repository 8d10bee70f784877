"""From logs to a population: collect, question, choose, read, write."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from anyio import to_thread

from genie_inspect.building.choosing import (
    ASKED,
    GRADER,
    NONE,
    RATED,
    UNRATED,
    Built,
    Chooser,
    Cleaner,
    Plan,
    card_line,
)
from genie_inspect.building.collecting import Collected, collect_documents
from genie_inspect.building.interviewing import (
    Interviewer,
    Progress,
    appearing,
    interview_templates,
    left_out,
    no_progress,
)
from genie_inspect.building.question_writing import QuestionWriter
from genie_inspect.building.questions import read_questions, write_record
from genie_inspect.errors import PopulationError, UnknownChoiceError
from genie_inspect.files.folders import check_unused, giving_way, private_folder
from genie_inspect.files.writing import written
from genie_inspect.graders.cache import Cache
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.instrument import Instrument
from genie_inspect.graders.protocols import Reading
from genie_inspect.graders.quality import COHERENCE, HIGHEST, LOWEST, REWARD, CoherenceRater, GraderCoherence, rewarded
from genie_inspect.graders.reader import READ, GraderReader
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.options import check_between
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, QUESTIONS, Population
from genie_inspect.populations.schema import AnswerRow, Document, Question, Row
from genie_inspect.populations.writing import seal_population, write_card
from genie_inspect.populations.yardstick import YARDSTICK, Yardstick, with_measured, write_yardstick
from genie_inspect.samples import REFUSAL
from genie_inspect.scorers.assessor import Assessor

PROMPTS_AT_ONCE = 8  # so that a prompt with few documents does not leave the model idle
COLLECTED = "collected.jsonl"


async def build(plan: Plan, model: RecordedModel, work: Path, progress: Progress = no_progress) -> Built:
    check_unused(plan.output)
    builder = Builder(plan, model, work, progress)
    # of two builders with one work folder neither may read what the other collected
    with giving_way(plan.output), private_folder(work, plan.output) as scratch:
        return await builder.build(scratch)


class Builder:
    def __init__(self, plan: Plan, model: RecordedModel, work: Path, progress: Progress) -> None:
        self.plan = plan
        self.model = model
        self.work = work
        self.progress = progress
        self.built = Built()
        self.dropped: Counter[str] = Counter()
        self.cleaner = Cleaner(model, plan.templates) if plan.clean_by_model else None
        rater, least = _rater(plan, model)
        self.chooser = Chooser(plan.per_prompt, plan.seed, plan.near_duplicates, rater, least, self.cleaner)
        self.reader = GraderReader(model, READ.template(plan.templates))
        self.readings = 0
        """Documents that were read, also those that then did not join."""

    async def build(self, scratch: Path) -> Built:
        """The population, whose logs are collected in a scratch folder."""
        plan, built = self.plan, self.built
        supplied = read_questions(plan.questions, plan.features) if plan.questions else None
        # questions that were supplied say which prompts the population has
        prompts = {question.prompt for question in supplied} if supplied is not None else None
        # in a thread, because Inspect reads logs outside of event loops
        collected = await to_thread.run_sync(collect_documents, plan.logs, scratch / COLLECTED, prompts, self.progress)
        built.generations, self.dropped = collected.generations, collected.dropped
        questions = supplied if supplied is not None else await self._written(list(collected.begins))
        # of a prompt without documents nothing can be asked
        questions = [question for question in questions if question.prompt in collected.begins]
        if not questions:
            reasons = [f"{count} {reason}" for reason, count in built.rejected_questions.items()]
            why = ", ".join([*reasons, f"{built.unreadable_replies} unreadable replies"])
            raise PopulationError(f"no question is left to ask: {why}; every step's record stands in {self.work}")
        with appearing(plan.output, self.work) as folder:
            await self._fill(folder, questions, collected)
            self._seal(folder, sorted(collected.models))
            if plan.yardstick != NONE:
                await self._measure(Population(folder), scratch)
        return built

    async def _written(self, prompts: list[str]) -> list[Question]:
        # the records of the steps are written even where no question passes: they say why
        interviewer = Interviewer(self.model, interview_templates(self.plan.templates))
        writer = QuestionWriter(interviewer, self.plan.features, self.plan.wanted)
        record = await writer.write(prompts, lambda done: self.progress("writing questions", done, len(prompts)))
        write_record(self.work, record)
        self.built.rejected_questions = record.rejected
        self.built.unreadable_replies = interviewer.unreadable
        self.built.asked_again = interviewer.asked_again
        return record.questions

    async def _fill(self, folder: Path, questions: Sequence[Question], collected: Collected) -> None:
        """Choose and read the documents, some prompts at a time; the files grow in the order of the questions."""
        questions_of: dict[str, list[Question]] = {}
        for question in questions:
            questions_of.setdefault(question.prompt, []).append(question)
        # writing questions may fail for a prompt whose documents were collected
        for prompt in collected.begins.keys() - questions_of.keys():
            self.dropped["prompt without questions"] += len(collected.begins[prompt])

        async def prompt_rows(prompt: str) -> tuple[list[Document], list[AnswerRow]]:
            answers: list[AnswerRow] = []
            attempts = partial(self._attempts, questions_of[prompt], answers)
            return await self.chooser.choose(collected.documents(prompt), self.dropped, attempts), answers

        prompts, before = list(questions_of), self.model.tally.requests
        with ExitStack() as stack:
            names = (QUESTIONS, DOCUMENTS, ANSWERS)
            files = [stack.enter_context(written(folder / name)) for name in names]
            for start in range(0, len(prompts), PROMPTS_AT_ONCE):
                batch = prompts[start : start + PROMPTS_AT_ONCE]
                # in order, however the requests came back: reruns write the same bytes
                for prompt, (chosen, read) in zip(batch, await gathered(*map(prompt_rows, batch)), strict=True):
                    # of a prompt without documents nobody is asked
                    included = questions_of[prompt] if chosen else []
                    by_file: tuple[Sequence[Row], ...] = (included, chosen, read)
                    for file, rows in zip(files, by_file, strict=True):
                        file.writelines(row.model_dump_json().encode() + b"\n" for row in rows)
                    self.built.questions += len(included)
                    self.built.prompts_without_documents += not chosen
                self.progress("reading documents", min(start + PROMPTS_AT_ONCE, len(prompts)), len(prompts))
        self._count(self.model.tally.requests - before)
        if not self.built.documents:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self.built.dropped.items())
            raise PopulationError(f"no document is left of {self.built.generations} generations: {reasons}")

    async def _attempts(
        self, questions: Sequence[Question], answers: list[AnswerRow], documents: Sequence[Document]
    ) -> list[Document]:
        """The documents that the reader takes for attempts at the task; their answers are appended to `answers`."""
        readings = await gathered(*(self.reader.read(document.text, questions) for document in documents))
        attempts: list[Document] = []
        for document, reading in zip(documents, readings, strict=True):
            if reading.is_attempt:
                attempts.append(document)
                answers += self._answers(document, questions, reading)
        self.readings += len(documents)
        # a refusal in words, which the reader knows and no rule does
        self.dropped[REFUSAL] += len(documents) - len(attempts)
        self.built.documents += len(attempts)
        return attempts

    def _answers(self, document: Document, questions: Sequence[Question], reading: Reading) -> list[AnswerRow]:
        reader = self.reader.signature
        answers = [
            AnswerRow(document=document.id, question=question.id, reader=reader, text=answer.text if answer else None)
            for index, (question, answer) in enumerate(zip(questions, reading.answers, strict=True))
            if index not in reading.faults
        ]
        self.built.unreadable_answers += len(reading.faults)
        self.built.answers += len(answers)
        self.built.unspecified += sum(answer.text is None for answer in answers)
        return answers

    def _count(self, requests: int) -> None:
        """Put the counts of choosing and reading into the result; `requests` is how many both took."""
        asked = 0
        if self.cleaner is not None:
            self.built.cleaned, asked = dict(self.cleaner.counts), self.cleaner.counts[ASKED]
        self.built.coherence_unrated, rated = self.dropped.pop(UNRATED, 0), self.dropped.pop(RATED, 0)
        self.built.dropped = {reason: count for reason, count in self.dropped.most_common() if count}
        # more requests than readings and ratings: replies that could not be read
        needed = asked + self.readings + (rated if self.plan.coherence == GRADER else 0)
        self.built.asked_again += requests - needed

    def _seal(self, folder: Path, models: Sequence[str]) -> None:
        plan = self.plan
        population = seal_population(
            folder,
            name=plan.name,
            version=plan.version,
            licence=plan.licence,
            features=plan.features,
            source_models=models,
            description=plan.description,
        )
        self.built.population = population.name
        write_card(population, self.built.provenance(plan) | card_line(self.cleaner), self.progress)

    async def _measure(self, population: Population, scratch: Path) -> None:
        """Compare the documents with each other, and keep how novel each is among them."""
        plan, model = self.plan, self.model
        templates = str(plan.templates) if plan.templates else None
        instrument = Instrument(plan.yardstick, templates=templates)
        # a cache of this run alone: a dry run's made-up ratings must not come into the user's
        parts = instrument.reader_and_judge(model, population.features, cache=Cache(scratch))
        result = await left_out(Assessor(population, *parts), self.progress)
        write_yardstick(population.folder / YARDSTICK, with_measured(Yardstick(), result.measured))


def _rater(plan: Plan, model: RecordedModel) -> tuple[CoherenceRater | None, float]:
    """The rater of coherence, and the least rating with which a document joins (see the plan's options)."""
    least = plan.min_coherence
    if plan.coherence == NONE:
        return None, 0.0
    if plan.coherence == GRADER:
        if least is not None:
            check_between("min_coherence", least, LOWEST, HIGHEST, "as the grader rates")
        # 3 of the grader's 1 to 5 is its middle
        return GraderCoherence(model, COHERENCE.template(plan.templates)), 3.0 if least is None else least
    if rater := rewarded(plan.coherence):
        # ArmoRM's coherence is rewards[2] * 5 - 0.5, and 2.0 the study's threshold (arXiv 2606.12790)
        return rater, 2.0 if least is None else least
    raise UnknownChoiceError("coherence", plan.coherence, f"{GRADER}, {REWARD}<hub id or folder> or {NONE}")
