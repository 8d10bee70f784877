"""`--rewordings` of `genie calibrate` and `genie check-reader`: whether other words of the instruction say the same."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import anyio

from genie_inspect.agreement import rewordings
from genie_inspect.agreement.calibration import ALL
from genie_inspect.agreement.raters import CalibrationError, Rater, recorded_reader
from genie_inspect.agreement.readers import rated_targets, read_again, reader_fitness, reading_novelties
from genie_inspect.agreement.rewordings import Stability, stability_verdict
from genie_inspect.cli import options as cli
from genie_inspect.cli.running import machine_ratings, named_model, progress_bar, told_by
from genie_inspect.cli.tables import counted, figure
from genie_inspect.files.tables import Table
from genie_inspect.graders.instrument import Instrument, mode_of
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document
from genie_inspect.prompting.templates import ORIGINAL, REWORDINGS
from genie_inspect.reports.charts import in_words

DOCUMENTS = 24
SHIPPED = ",".join((ORIGINAL, *REWORDINGS))
KEY = (
    "alpha: Krippendorff's among the wordings, {of}. document, wording, both: shares of the variance of novelty of the "
    "documents, of the wordings, and of the two together with chance. one moves, mean moves: how far one document's "
    "score and a mean over many documents move when the instruction is reworded (standard deviations). lowest, "
    "highest: mean novelty of the documents, and the wording that gives it."
)
HEADS = (
    *("feature", "alpha", "document", "wording", "both"),
    *("one moves", "mean moves", "lowest", "highest"),
)
READER_KEY = (
    "left out, reach: as in genie check-reader, over all features. novelty: of the reader's answers among the recorded "
    "answers of the prompt's other documents."
)


def reworded_raters(
    opened: Population,
    judges: Sequence[str],
    reader: str | None,
    documents: Sequence[Document],
    graders: Sequence[str],
    templates: str | None,
    *,
    fresh: bool,
) -> cli.Answer:
    """How far each grader's scores depend on the words of the rating instruction."""
    if not graders:
        raise CalibrationError("--rewordings asks a model. Name it with --grader PROVIDER/MODEL")
    if not all(mode_of(judge).asks_pairs for judge in judges):
        raise CalibrationError(f"--rewordings needs a judge that rates pairs, got {', '.join(judges)}")
    several = {judge: _several(Instrument(judge, templates=templates or SHIPPED)) for judge in judges}
    for judge, by_wording in several.items():
        name = mode_of(judge).instruction.name
        if len({each.mode_templates[name].digest for each in by_wording.values()}) < len(by_wording):
            raise CalibrationError(
                f"--rewordings with judge={judge} needs another {name}.md in each wording, got the same in some of "
                f"{', '.join(by_wording)}"
            )
    record = recorded_reader(opened, reader)
    targets = rewordings.targets_of(opened, record, documents)
    if not targets:
        raise CalibrationError(f"population {opened.name} has no pair of different answers to compare")
    rows: list[list[Stability]] = []
    signatures: dict[str, str] = {}
    lost: list[Table | str] = []
    for grader, model in [(grader, named_model(grader)) for grader in dict.fromkeys(graders)]:
        for judge, by_wording in several.items():
            name, chunk = f"{judge}({grader})", mode_of(judge).chunk
            raters = [
                Rater(wording, each.reader_and_judge(model, anew=fresh)[1], chunk, swaps=False)
                for wording, each in by_wording.items()
            ]
            ratings = {rated.name: rated for rated in machine_ratings(raters, targets)}
            signatures |= {f"{name} {wording}": rated.signature for wording, rated in ratings.items()}
            lost += [
                f"{name} {wording}, unusable: {counted(Counter(rated.faults.values()))}"
                for wording, rated in ratings.items()
                if rated.faults
            ]
            novelties = {
                wording: rewordings.rated_novelties(opened, record, documents, targets, rated)
                for wording, rated in ratings.items()
            }
            alphas = rewordings.rating_alphas(targets, list(ratings.values()))
            rows.append(_stability(opened, name, novelties, documents, alphas))
    facts = {
        "population": opened.name,
        "documents": len(documents),
        "pairs": sum(len(target.others) for target in targets),
        "raters": signatures,
    }
    return _answer(facts, rows, lost, KEY.format(of="of ratings"))


def reworded_readers(
    opened: Population,
    readers: Sequence[str],
    judge: Rater,
    documents: Sequence[Document],
    record: str | None,
    templates: str | None,
    answer_length: str,
) -> cli.Answer:
    """How far novelty depends on the words in which each reader is asked to read."""
    several = _several(Instrument("embedding", templates=templates or SHIPPED, answer_length=answer_length))
    features = [feature.name for feature in opened.features]
    rows: list[list[Stability]] = []
    signatures: dict[str, str] = {}
    parts: list[Table | str] = []
    for name in dict.fromkeys(readers):
        model, cells, novelties = named_model(name), list[list[str]](), dict[str, dict[rewordings.Place, float]]()
        for wording, each in several.items():
            asked, _ = each.reader_and_judge(model)
            signatures[f"{name} {wording}"] = asked.signature
            with progress_bar() as progress:
                told = told_by(progress, f"reading: {name} {wording}", len(documents))
                pairs = anyio.run(read_again, opened, asked, documents, record, told)
            (ratings,) = machine_ratings([judge], rated_targets(pairs))
            novelties[wording] = reading_novelties(pairs, ratings)
            whole = reader_fitness(name, pairs, ratings, features)[-1]
            faults = counted(whole.faults)
            cells.append([wording, str(whole.asked), figure(whole.left_out, ".0%"), figure(whole.reach, ".0%"), faults])
        parts.append(Table(f"{name} by wording", ("wording", "asked", "left out", "reach", "unusable"), cells))
        rows.append(_stability(opened, name, novelties, documents))
    facts = {"population": opened.name, "documents": len(documents), "readers": signatures}
    facts["judge"] = judge.judge.signature
    return _answer(facts, rows, [*parts, READER_KEY], KEY.format(of="of the novelty of answers"))


def _several(instrument: Instrument) -> dict[str, Instrument]:
    if len(instrument.wordings) < 2:
        raise CalibrationError(
            f"--rewordings compares wordings, and --templates names one ({instrument.templates}). Name several: "
            f"--templates {ORIGINAL},{instrument.templates}"
        )
    return {str(each.templates): each for each in instrument.wordings}


def _stability(
    opened: Population,
    name: str,
    novelties: dict[str, dict[rewordings.Place, float]],
    documents: Sequence[Document],
    alphas: dict[str, float] | None = None,
) -> list[Stability]:
    questions = [question for prompt in opened.prompts for question in opened.questions(prompt)]
    models = {document.id: document.model for document in documents}
    features = [feature.name for feature in opened.features]
    rows = rewordings.stability(name, novelties, questions, models, features, alphas)
    if not rows:
        raise CalibrationError(f"{name} gave nothing that could be compared in all of {', '.join(novelties)}")
    return rows


def _answer(facts: dict[str, Any], every: list[list[Stability]], beside: list[Table | str], key: str) -> cli.Answer:
    sentences = [sentence for rows in every for sentence in stability_verdict(rows)]
    facts |= {"verdict": sentences, "stability": [asdict(row) for rows in every for row in rows]}
    return cli.Answer(facts, [*map(_table, every), key, *beside, *sentences])


def _table(rows: Sequence[Stability]) -> Table:
    cells: list[list[str] | None] = []
    for row in rows:
        if row.feature == ALL:
            cells.append(None)
        shares = [figure(share, ".0%", "") for share in (row.document, row.wording, row.interaction)]
        moves = [figure(value, ".3f", "") for value in (row.document_moves, row.mean_moves)]
        means = sorted((mean, wording) for wording, mean in row.means.items())
        ends = [f"{mean:.3f} {wording}" for mean, wording in (*means[:1], *means[-1:])] or ["", ""]
        cells.append([in_words(row.feature), figure(row.alpha, ".2f", ""), *shares, *moves, *ends])
    title = f"{rows[0].rater}: {rows[-1].documents} documents in {len(rows[-1].means)} wordings"
    return Table(title, HEADS, cells, look="narrow")
