"""A population from somebody's table."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio import to_thread
from pydantic import Field

from genie_inspect.building.collecting import Cleaner, new_population
from genie_inspect.building.interviewing import Progress, no_progress
from genie_inspect.building.questions import LINE, read_questions
from genie_inspect.errors import PopulationError
from genie_inspect.files.json_lines import SHOWN
from genie_inspect.files.writing import DATA, check_unused
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, QUESTIONS, read_features
from genie_inspect.populations.prompts import open_table
from genie_inspect.populations.schema import AnswerRow, Document, Question, Row, document_id, parsed, question_id
from genie_inspect.prompting.answers import is_unspecified, normalised
from genie_inspect.samples import no_document
from genie_inspect.signature import digest

PRESETS = DATA / "presets"
FIELDS = ("document", "prompt", "text", "model", "question", "answer", "feature")
NEEDED = (
    "documents need prompt and text, with questions to them also question and feature; answers without documents need "
    "prompt, document (an id), question, feature and answer"
)
_PARTS = re.compile(r"[/&,]|(?:\b|_)and(?:\b|_)")  # what joins two words for one feature
Key = tuple[str, str, str]  # a document as its source names it: id, prompt, model


class Preset(Row):
    """A mapping of known columns: `data/presets/<name>.json`, or a file of the user's own."""

    about: str = ""
    reader: str = "imported"
    features: str = "starter"
    columns: dict[str, str]
    names: dict[str, str] = Field(default_factory=dict)  # other words for the features


def read_mapping(
    pairs: Sequence[str], preset: Mapping[str, str], columns: Sequence[str], source: str
) -> tuple[dict[str, str], str]:
    """Which column each field is in, checked against the table; and what was read otherwise than its name says."""
    has = f"it has {', '.join(columns) or 'none'}"
    mapping = dict(preset)
    for pair in pairs:
        name, equals, column = pair.partition("=")
        if not equals or name not in FIELDS:
            raise PopulationError(f"map is {pair!r}, expected FIELD=COLUMN with one of the fields {', '.join(FIELDS)}")
        mapping[name] = column
    for name, column in mapping.items():
        if column not in columns:
            raise PopulationError(f"map {name}={column}: {source} has no such column, {has}")
    if not preset:
        same = {name: name for name in FIELDS if name in columns and name not in {*mapping, *mapping.values()}}
        if not {"question", "feature"} <= {*mapping, *same}:
            # a question without its feature cannot be asked: a column of that name is about something else
            same = {name: column for name, column in same.items() if name not in ("question", "answer", "feature")}
        mapping |= same
    note = ""
    if "document" in mapping and not {"text", "question", "answer"} & mapping.keys():
        # ids of nothing: whoever has documents and no text calls the text so
        mapping["text"] = mapping.pop("document")
        note = (
            f"column {mapping['text']!r} is read as text: in every file of a population a document's words are its "
            "text, and document is its id"
        )
    asks = bool({"question", "answer", "feature"} & mapping.keys())
    needed = ["prompt"] + (["question", "feature"] if asks else [])
    if "text" not in mapping:
        needed += ["answer", "document"] if asks else ["text"]
    if missing := [name for name in needed if name not in mapping]:
        raise PopulationError(
            f"no column of {source} is mapped to {' and '.join(missing)}: {has}. Use "
            f"{' '.join(f'--map {name}=COLUMN' for name in missing)}; {NEEDED}"
        )
    return mapping, note


@dataclass(frozen=True, slots=True)
class Import:
    """The source of an import, its mapping, and the manifest fields of the new population."""

    source: str
    output: Path
    name: str
    licence: str
    version: str = "1"
    description: str = ""
    features: str | None = None
    questions: Path | None = None  # a file or population whose questions are taken beside the table's
    mapping: Sequence[str] = ()
    preset: str | None = None
    reader: str | None = None
    split: str = "train"
    dry_run: bool = False


class Mapped:
    """Documents, questions and answers of the rows of a table that were taken in, and counts of what was not."""

    def __init__(self, order: Import, progress: Progress) -> None:
        preset = Preset(columns={})
        if order.preset:
            bundled = sorted(path.stem for path in PRESETS.glob("*.json"))
            path = PRESETS / f"{order.preset}.json" if order.preset in bundled else Path(order.preset)
            if not path.is_file():
                raise PopulationError(f"preset is {order.preset!r}, expected {', '.join(bundled)} or a JSON file")
            preset = parsed(path.read_bytes(), Preset, str(path))
        self.features = read_features(order.features or preset.features)
        self.names = preset.names
        self.reader = order.reader or preset.reader
        columns, rows = open_table(order.source, order.split)
        self.mapping, self.note = read_mapping(order.mapping, preset.columns, columns, order.source)
        self.rows = 0
        self.dropped: Counter[str] = Counter()  # rows, or parts of rows, by reason
        self.renamed: Counter[str] = Counter()  # features that were called otherwise, `word = feature`
        self.answered: dict[Key, None] = {}  # in the order of the table
        self.texts: dict[Key, str] = {}
        self.feature_votes: dict[tuple[str, str], Counter[str]] = {}
        self.answer_texts: dict[tuple[Key, str], str | None] = {}
        self.contradicted: set[tuple[Key, str]] = set()
        alone = 0
        for row in rows:
            self.rows += 1
            self._take({name: row.get(column) for name, column in self.mapping.items()})
            # a row that is a question and nothing else; of JSON Lines its columns may be new
            text, question, answer = (row.get(self.mapping.get(name, name)) for name in ("text", "question", "answer"))
            alone += "text" in self.mapping and text is None and answer is None and question is not None
        progress("rows", self.rows, self.rows)
        if alone:
            raise PopulationError(
                f"{order.source}: {alone} of {self.rows} rows are a question without a text. Questions go in a file of "
                f"their own, --questions FILE, one a line: {LINE}"
            )

    def documents(self) -> list[Document]:
        documents = (
            Document(id=document_id(prompt, text), prompt=prompt, text=text, model=model)
            for (_, prompt, model), text in self.texts.items()
        )
        return list({document.id: document for document in documents}.values())

    def questions(self) -> list[Question]:
        questions: list[Question] = []
        for (prompt, text), votes in self.feature_votes.items():
            if votes:
                feature = votes.most_common(1)[0][0]
                questions.append(Question(id=question_id(prompt, text), prompt=prompt, feature=feature, text=text))
            if len(votes) > 1:
                self.dropped["question of two features, the more frequent taken"] += 1
        return questions

    def answers(self, questions: Sequence[Question]) -> Iterator[AnswerRow]:
        """The answers to these questions; what contradicts itself is left out."""
        ids = {question.id for question in questions}
        # an id for every document: that of its text, else the source's own; sources number them anew for each prompt
        sharing = Counter(key[0] for key in self.answered)
        names = {key: key[0] if sharing[key[0]] == 1 else f"{key[0]}@{digest(*key[1:])}" for key in self.answered}
        names |= {key: document_id(key[1], text) for key, text in self.texts.items()}
        for (key, text), answer in self.answer_texts.items():
            question = question_id(key[1], text)
            if question not in ids:
                self.dropped["answer to an unknown question"] += 1
            elif (key, text) in self.contradicted:
                self.dropped["answers that contradict each other, neither taken"] += 1
            else:
                yield AnswerRow(document=names[key], question=question, reader=self.reader, text=answer)

    def _take(self, row: Mapping[str, str | None]) -> None:
        prompt, text, question = row.get("prompt"), row.get("text"), row.get("question")
        if prompt is None:
            self.dropped["no prompt"] += 1
            return
        # a source without ids: the text's digest tells documents apart
        key = (row.get("document") or digest(text or ""), prompt, row.get("model") or "")
        if "text" in self.mapping:
            if reason := "no text" if text is None else no_document(text):
                self.dropped[reason] += 1
                return
            # tables of answers repeat the document in every row
            self.texts.setdefault(key, text or "")
        if "question" not in self.mapping:
            return
        if question is None:
            self.dropped["answer to an unknown question"] += 1
            return
        # rows may disagree on a question's feature, so that they vote
        votes = self.feature_votes.setdefault((prompt, question), Counter())
        if feature := self._feature(row.get("feature")):
            votes[feature] += 1
        if "answer" not in self.mapping:
            return
        self.answered.setdefault(key)
        answer, place = row.get("answer"), (key, question)
        if answer is None:
            self.dropped["no answer"] += 1
            return
        said = None if is_unspecified(answer) else answer
        if place not in self.answer_texts:
            self.answer_texts[place] = said
        # None and "" alike: neither says anything
        elif normalised(self.answer_texts[place] or "") == normalised(said or ""):
            self.dropped["answer appears twice"] += 1
        else:
            self.contradicted.add(place)

    def _feature(self, word: str | None) -> str:
        """The feature of this name, or of another word for it; empty where there is none."""
        feature_names = {feature.name for feature in self.features}

        def named(part: str) -> str:
            plain = re.sub(r"[\W_]+", "_", part.casefold()).strip("_")
            name = plain if plain in feature_names else self.names.get(plain, "")
            return name if name in feature_names else ""

        if not word:
            self.dropped["no feature"] += 1
            return ""
        # "Event / plot" and "tone and style" are of one feature where both words are
        parts = {named(word)} - {""} or {named(part) for part in _PARTS.split(word)}
        name = parts.pop() if len(parts) == 1 else ""
        if not name:
            self.dropped[f"unknown feature {word!r}"] += 1
        elif name != word:
            self.renamed[f"{word} = {name}"] += 1
        return name


def import_population(order: Import, progress: Progress = no_progress) -> dict[str, Any]:
    check_unused(order.output)
    mapped = Mapped(order, progress)
    return _written(order, mapped, mapped.documents(), progress)


async def import_cleaned(order: Import, cleaner: Cleaner, progress: Progress = no_progress) -> dict[str, Any]:
    """Import a table of documents, each cut where it falls apart."""
    check_unused(order.output)
    mapped = await to_thread.run_sync(Mapped, order, progress)
    if mapped.answer_texts:
        raise PopulationError(
            f"{order.source} has answers about its whole texts, which therefore cannot be cut. Import it without "
            "--clean-by-model, or without its answers"
        )
    cleaned = await cleaner.cleaned(mapped.documents(), mapped.dropped, progress)
    # without their broken ends two may be the same
    documents = list({document.id: document for document in cleaned}.values())
    mapped.dropped["duplicate"] += len(cleaned) - len(documents)
    return _written(order, mapped, documents, progress, cleaner)


def _written(
    order: Import, mapped: Mapped, documents: Sequence[Document], progress: Progress, cleaner: Cleaner | None = None
) -> dict[str, Any]:
    """Write the population of these documents, and of the table's questions and answers, unless it is a dry run."""
    models = Counter(document.model for document in documents)
    if cleaner is None:
        # documents that only answers are about have models too
        models = Counter(model for _, _, model in dict.fromkeys([*mapped.texts, *mapped.answered]))
    prompts = {document.prompt for document in documents}
    # a prompt may have lost all its documents; of answers alone there never were any
    questions = [question for question in mapped.questions() if question.prompt in prompts or not mapped.texts]
    if order.questions is not None:
        given = read_questions(order.questions, mapped.features)
        others = [question for question in given if question.prompt.strip() in prompts]
        if prompts and not others:
            raise PopulationError(
                f"none of the {len(given)} questions of {order.questions} has a prompt of {order.source}. The first "
                f"prompts are {given[0].prompt[:SHOWN]!r} and {documents[0].prompt[:SHOWN]!r}. They must be the same"
            )
        mapped.dropped["question to a prompt without texts"] += len(given) - len(others)
        # by id: a question that stands in both is taken once
        questions = list({question.id: question for question in [*questions, *others]}.values())
    answers = list(mapped.answers(questions))
    # the most frequent reasons, so that a table of nonsense does not fill the screen
    dropped = {reason: count for reason, count in mapped.dropped.most_common(12) if count}
    if not documents and not answers:
        raise PopulationError(f"nothing in {order.source} could be used: {dropped or 'it has no rows'}")
    questions_of = Counter(question.prompt for question in questions)
    # every document that answers are about could answer each question of its prompt
    missing_answers = sum(questions_of[prompt] for _, prompt, _ in mapped.answered) - len(answers)
    population = ""
    if not order.dry_run:
        provenance = {
            "Imported from": order.source + (f", preset {order.preset}" if order.preset else ""),
            "Documents by model": ", ".join(f"{count} {model or 'not said'}" for model, count in models.most_common()),
            "Not used": ", ".join(f"{count} {reason}" for reason, count in dropped.items()) or "nothing",
            "Features in other words": ", ".join(mapped.renamed) or "none",
            "Answers missing": missing_answers,
            **(cleaner.card if cleaner else {}),
        }
        rows = {QUESTIONS: questions, DOCUMENTS: documents, ANSWERS: answers}
        facts = {name: getattr(order, name) for name in ("name", "version", "licence", "description")}
        facts |= {"features": mapped.features, "source_models": sorted(filter(None, models))}
        population = new_population(order.output, progress, provenance, rows, **facts)["population"]
    return {
        "population": population,
        "rows": mapped.rows,
        "documents": len(documents),
        "documents_answered": len({answer.document for answer in answers}),
        "questions": len(questions),
        "answers": len(answers),
        "unspecified": sum(answer.text is None for answer in answers),
        "missing_answers": missing_answers,
        **({"cleaned": dict(cleaner.counts)} if cleaner else {}),
        "dropped": dropped,
        "renamed_features": dict(mapped.renamed),
        "columns": dict(mapped.mapping),
        "note": mapped.note,
    }
