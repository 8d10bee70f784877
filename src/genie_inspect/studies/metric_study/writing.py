"""Edits and paraphrases of documents by a model, one document after another: `genie edits write`.

Source: the sensitivity study of Genie (arXiv 2606.12790): alternatives proposed without sight of the population, an
edit for each, three paraphrases. Deviation: one alternative is drawn where the study takes three.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, TypeVar

import click
from inspect_ai.model import GenerateConfig, Model

from genie_inspect.building.collecting import Collected
from genie_inspect.building.interviewing import Progress, appearing, rehearsed_questions
from genie_inspect.cli.options import (
    AT_LEAST_1,
    DRY_RUN,
    FEATURES,
    TEMPLATES,
    answering,
    option,
    output_option,
    seed_option,
)
from genie_inspect.cli.running import asked
from genie_inspect.engines.identity import identity
from genie_inspect.errors import InterventionsError, UnreadableReplyError
from genie_inspect.graders.grader import RECORDED, gathered, unmet
from genie_inspect.graders.protocols import Reader
from genie_inspect.graders.readable import readable
from genie_inspect.graders.reader import READ, GraderReader
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.logs.files import log_files
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.interventions import EDIT as EDITED
from genie_inspect.populations.interventions import (
    INTERVENTIONS,
    ORIGINAL,
    Changed,
    Edit,
    Original,
    Paraphrase,
    StudyText,
    drawn,
    intervention_id,
)
from genie_inspect.populations.interventions import PARAPHRASE as PARAPHRASED
from genie_inspect.populations.population import BUNDLED, MANIFEST, Population, open_population, read_features
from genie_inspect.populations.schema import Document, Feature, Question, Row, write_rows
from genie_inspect.prompting.answers import NO, YES
from genie_inspect.prompting.forms import Form, answers_form, choices_form
from genie_inspect.prompting.replies import numbered_answers, numbered_choices
from genie_inspect.prompting.templates import Instruction, Template, fenced
from genie_inspect.prompting.texts import spoken
from genie_inspect.samples import no_document
from genie_inspect.signature import digest

T = TypeVar("T")
KEEP = "keep"


def _changed(data: dict[str, Any]) -> str:
    # as long as the text, and told apart by its first word: texts that are the same would be left out
    return " ".join([digest(str(data)), *data["text"].split()[1:]])


def _instruction(name: str, keys: str, rehearsed: Callable[[dict[str, Any]], str], **more: Any) -> Instruction:
    return Instruction(name, keys=frozenset(keys.split()), rehearsed=rehearsed, is_prose=True, **more)


COUNTED = frozenset({"count", "data"})
PROPOSE, EDIT, PARAPHRASE, SCREEN, CHECK = INSTRUCTIONS = (
    _instruction(
        "propose_alternatives", "prompt text feature definition reader count", rehearsed_questions, blanks=COUNTED
    ),
    _instruction("edit_feature", "prompt text feature definition reader value", _changed),
    _instruction("paraphrase", "text version", _changed, blanks=COUNTED),
    _instruction("screen_edit", "text changed", lambda data: fenced({"1": KEEP})),
    _instruction(
        "check_edit",
        "text feature definition value",
        lambda data: fenced({"1": YES}),
        recorded=lambda record, data: json.dumps({"1": YES if record.has_value(data["text"], data["value"]) else NO}),
    ),
)
VERDICTS = (KEEP, "no prose", "no edit", "unfinished")
TOKENS_A_WORD = 2  # room for scripts in which a word takes more
SPARE_TOKENS = 200
TOKENS_A_VALUE = 60
ALTERNATIVES = 5
DOCUMENTS_AT_ONCE = 16
NO_ANSWER = "the document does not say"


class Rejected(Row):
    original: str
    kind: str
    feature: str = ""
    alternative: str = ""
    reason: str
    text: str = ""


class Editor:
    """Asks one model for edits, paraphrases and verdicts on them; every request is fenced."""

    def __init__(self, model: Model, templates: Path | None = None) -> None:
        self.model = model
        self.templates: Mapping[str, Template] = {i.name: i.template(templates) for i in INSTRUCTIONS}
        self.unreadable = 0  # requests to which no reply could be read

    async def edit(
        self, document: Document, feature: Feature, answers: Mapping[Question, str], seed: int
    ) -> Changed | Rejected:
        """The document with another value of a feature, one by chance of those that are proposed."""

        def proposals(reply: str) -> tuple[str, ...]:
            values = numbered_answers(reply, ALTERNATIVES)
            if not values:
                raise UnreadableReplyError("the reply proposes nothing")
            return tuple(dict.fromkeys(values[number] for number in sorted(values)))

        own = {question.text: answer for question, answer in answers.items() if question.feature == feature.name}
        named = {"feature": feature.name, "definition": feature.definition, "reader": own}
        data = {"prompt": document.prompt, "text": document.text, **named}
        about = {"original": document.id, "kind": EDITED, "feature": feature.name}
        count = {"count": ALTERNATIVES}
        tokens, form = SPARE_TOKENS + TOKENS_A_VALUE * ALTERNATIVES, answers_form(ALTERNATIVES)
        alternatives = await self._asked(PROPOSE, data | count, proposals, tokens, form, temperature=1.0, **count)
        if not alternatives:
            return Rejected(**about, reason="no alternative proposed")
        about["alternative"] = drawn(alternatives, document.id, feature.name, seed)
        text, reason = await self._text(EDIT, {**data, "value": about["alternative"]}, document.text)
        if reason:
            return Rejected(**about, reason=reason, text=text)
        name = intervention_id(document.id, EDITED, feature.name, text)
        made = {"id": name, "alternatives": alternatives, "text": text, "writer": str(self.model)}
        return Edit.model_validate({**about, **made})

    async def paraphrase(self, document: Document, number: int) -> Changed | Rejected:
        data = {"text": document.text, "version": number}
        text, reason = await self._text(PARAPHRASE, data, document.text, count=number)
        if reason:
            return Rejected(original=document.id, kind=PARAPHRASED, reason=reason, text=text)
        name = intervention_id(document.id, PARAPHRASED, "", text)
        return Paraphrase(kind=PARAPHRASED, id=name, original=document.id, text=text, writer=str(self.model))

    async def chosen(self, instruction: Instruction, data: Mapping[str, Any], choices: tuple[str, ...]) -> str | None:
        """One of the choices; None where no reply is one."""

        def read(reply: str) -> str:
            verdict = numbered_choices(reply, 1, choices).get(1)
            if verdict is None:
                raise UnreadableReplyError(f"the reply is not one of {', '.join(choices)}")
            return verdict

        return await self._asked(instruction, data, read, SPARE_TOKENS, choices_form(1, choices))

    async def _text(
        self, instruction: Instruction, data: Mapping[str, Any], original: str, **blanks: Any
    ) -> tuple[str, str]:
        """What is made of a document, and why it cannot be used: what can be seen first, which costs nothing."""

        def read(reply: str) -> str:
            text = spoken(reply).strip()
            if not text:
                raise UnreadableReplyError("the reply is not a text")
            return text

        tokens = SPARE_TOKENS + TOKENS_A_WORD * word_count(original)
        text = await self._asked(instruction, data, read, tokens, temperature=0.7, **blanks)
        if not text:
            return "", "no text in the reply"
        if reason := visible_fault(original, text):
            return text, reason
        verdict = await self.chosen(SCREEN, {"text": original, "changed": text}, VERDICTS)
        # what could not be judged cannot be used
        return text, "" if verdict == KEEP else verdict or "unreadable verdict"

    async def _asked(
        self,
        instruction: Instruction,
        data: Mapping[str, Any],
        read: Callable[[str], T],
        max_tokens: int,
        form: Form | None = None,
        temperature: float = 0.0,
        **blanks: Any,
    ) -> T | None:
        """What the first readable reply says; None where there is none."""
        request = self.templates[instruction.name].request(data, **blanks)
        config = GenerateConfig(temperature=temperature, max_tokens=max_tokens)
        try:
            return await readable(self.model, request, config, read, form)
        except UnreadableReplyError:
            self.unreadable += 1
            return None


LENGTHS = (0.5, 2.0)  # words over the original's between which a text can be the same one with a feature changed


def visible_fault(original: str, changed: str) -> str:
    """Why a changed text cannot be used, as far as that can be seen; empty where nothing is."""
    if reason := no_document(changed):
        return reason
    if identity(changed) == identity(original):
        return "no edit"
    ratio = length_ratio(original, changed)
    if not LENGTHS[0] <= ratio <= LENGTHS[1]:
        return "too short" if ratio < 1 else "too long"
    return ""


def length_ratio(original: str, changed: str) -> float:
    return word_count(changed) / word_count(original)


def words_changed(original: str, changed: str) -> float:
    """Share of words that are not common to both in one order, 0 (the same words) to 1 (none in common).

    >>> words_changed("the owl flew home", "the owl walked home")
    0.25
    """
    before, after = original.split(), changed.split()
    # autojunk would take frequent words of long texts for noise
    common = sum(block.size for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks())
    return 1 - common / max(len(before), len(after))


Answers = Mapping[str, str | None]  # by question id; a question without an entry is still to be read
Material = tuple[Document, Sequence[Question], Answers]


async def write_texts(
    editor: Editor,
    reader: Reader,
    materials: Sequence[Material],
    features: Sequence[Feature],
    paraphrases: int,
    seed: int = 0,
    done: Callable[[int], None] = lambda _: None,
) -> tuple[list[StudyText], list[Rejected]]:
    """Each original, followed by what was made of it; and what was rejected."""
    texts: list[StudyText] = []
    rejected: list[Rejected] = []

    async def changes(
        document: Document, questions: Sequence[Question], on_record: Answers
    ) -> list[Changed | Rejected]:
        # the document's own answers: those on record, the others read now
        missing = [question for question in questions if question.id not in on_record]
        fresh = (await reader.read(document.text, missing)).answers if missing else ()
        known = dict(on_record)
        known |= {q.id: answer.text if answer else None for q, answer in zip(missing, fresh, strict=True)}
        answers = {question: known[question.id] or NO_ANSWER for question in questions}
        return await gathered(
            *(editor.edit(document, feature, answers, seed) for feature in features),
            *(editor.paraphrase(document, number) for number in range(1, paraphrases + 1)),
        )

    for start in range(0, len(materials), DOCUMENTS_AT_ONCE):
        part = materials[start : start + DOCUMENTS_AT_ONCE]
        for (own, *_), made in zip(part, await gathered(*starmap(changes, part)), strict=True):
            texts.append(Original(kind=ORIGINAL, id=own.id, prompt=own.prompt, text=own.text, writer=own.model))
            kept: dict[str, Changed] = {}
            for result in made:
                if isinstance(result, Rejected):
                    rejected.append(result)
                elif kept.setdefault(result.id, result) is not result:
                    # a model that says twice the same has paraphrased once
                    twice = {"original": own.id, "kind": result.kind, "text": result.text}
                    rejected.append(Rejected(**twice, reason="is there twice"))
            texts += kept.values()
        done(start + len(part))
    return texts, rejected


SOURCES_FILE, REJECTED = "documents.jsonl", "rejected.jsonl"


def materials(
    sources: Sequence[str], population: Population | None, limit: int | None, work: Path, progress: Progress
) -> list[Material]:
    own = None
    if len(sources) == 1 and (sources[0] in BUNDLED or (Path(sources[0]) / MANIFEST).is_file()):
        own = open_population(sources[0])
        own.require_documents("an edit of a feature")
    asks = own or population
    if asks is None:
        raise InterventionsError("documents of logs need --population: whose questions are asked about them")
    asks.require_questions("an edit of a feature")
    # of a population or collected, documents are had by prompt
    source = own or Collected(log_files(sources), work / SOURCES_FILE, set(asks.prompts), progress)
    made: list[Material] = []
    for prompt in asks.prompts:
        # a population's recorded answers about its own documents; of several readers the first one's
        answers: dict[str, dict[str, str | None]] = {}
        for reader in own.readers if own else ():
            for (document, question), text in asks.answers(reader, prompt).items():
                answers.setdefault(document, {}).setdefault(question, text)
        for chosen in sorted(source.documents(prompt), key=lambda document: document.id)[:limit]:
            made.append((chosen, asks.questions(prompt), answers.get(chosen.id, {})))
    if not made:
        raise InterventionsError(
            f"{', '.join(sources)} has no document for a prompt that {asks.name} has questions for"
        )
    return made


async def write_interventions(
    output: Path,
    model: RecordedModel,
    work: Path,
    progress: Progress,
    *,
    sources: Sequence[str],
    features: Sequence[Feature],
    population: Population | None,
    per_prompt: int | None,
    paraphrases: int,
    seed: int,
    templates: Path | None,
) -> dict[str, Any]:
    editor = Editor(model, templates)
    documents = materials(sources, population, per_prompt, work, progress)
    reader = GraderReader(model, READ.template(templates))
    texts, rejected = await write_texts(
        editor,
        reader,
        documents,
        features,
        paraphrases,
        seed,
        lambda done: progress("editing documents", done, len(documents)),
    )
    kinds = Counter(text.kind for text in texts)
    reasons = dict(Counter(f"{row.feature or row.kind}: {row.reason}" for row in rejected).most_common())
    if not kinds[EDITED] + kinds[PARAPHRASED]:
        write_rows(work / REJECTED, rejected)
        counts = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
        raise InterventionsError(f"no edit and no paraphrase can be used: {counts} (record: {work / REJECTED})")
    with appearing(output, work) as folder:
        write_rows(folder / INTERVENTIONS, texts)
        write_rows(folder / REJECTED, rejected)
    edits = Counter(text.feature for text in texts if text.kind == EDITED)
    return {
        "originals": len(documents),
        "edits": {feature.name: edits[feature.name] for feature in features},
        "paraphrases": kinds[PARAPHRASED],
        "rejected": reasons,
        "unreadable_requests": editor.unreadable,
    }


@click.command()
@click.argument("sources", nargs=-1, required=True)
@output_option(help="Folder to make.")
@option("--editor", required=True, metavar="MODEL", help="Model that edits, paraphrases and screens.")
@FEATURES
@option("--population", help="Population whose questions are asked about logs.")
@option("--per-prompt", type=AT_LEAST_1, help="Maximum documents per prompt. Default: all.")
@option("--paraphrases", default=3, type=click.IntRange(min=0), help="Paraphrases per document.")
@seed_option(help="Random seed for drawing values.")
@TEMPLATES
@DRY_RUN
@answering()
def write(
    output: Path, editor: str, features: str, population: str | None, dry_run: bool, **given: Any
) -> dict[str, Any]:
    """Edit documents along every feature, and paraphrase them.

    SOURCES is a population or Inspect logs. For each document and feature the model proposes five other values; one is
    drawn, and the text is changed to it in as few words as possible. Rejected texts, with reasons, are in
    rejected.jsonl. Replies are kept in OUTPUT.work: a killed run continues.

    \b
    Example: genie edits write starter -o pairs --editor openai/gpt-4o --per-prompt 2 --dry-run
    """
    # whatever a recording holds, it is no editor of other texts
    if editor.split("/", 1)[0] == RECORDED:
        raise unmet(f"--editor {editor} only replays recorded texts. Name a model that can edit")
    asks = open_population(population) if population else None
    work = partial(write_interventions, features=read_features(features), population=asks, **given)
    return asked(work, editor, output, dry_run=dry_run, option="--editor")
