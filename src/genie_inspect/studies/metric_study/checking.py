"""Were the edits good: is the new value there, did the feature's answers change, did others' stay; and the verbs.

Source: validity, accuracy and invasiveness in the sensitivity study of Genie (arXiv 2606.12790), which asked people.
Deviation: accuracy is told by answers; one has changed where a judge rates it 1 or 2 of 4 beside the original's.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress, product
from pathlib import Path
from typing import Any

import click

from genie_inspect.building.interviewing import Progress, appearing
from genie_inspect.cli import VerbGroup
from genie_inspect.cli.options import (
    DRY_RUN,
    FILE,
    POPULATION,
    TEMPLATES,
    Answer,
    answering,
    fact_lines,
    option,
    output_option,
    seed_option,
)
from genie_inspect.cli.running import run_asking
from genie_inspect.cli.tables import record_table
from genie_inspect.cli.terminal import Unbroken
from genie_inspect.errors import InterventionsError
from genie_inspect.files.tables import Table, csv_rows, csv_text, yes_or_no
from genie_inspect.files.writing import write_lines
from genie_inspect.graders.cache import Cache
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.instrument import Instrument
from genie_inspect.graders.protocols import Judge, Reader, Reading, reading_anew
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.populations.interventions import (
    INTERVENTIONS,
    LEFT_OUT,
    PARAPHRASE,
    Changed,
    Edit,
    Interventions,
    LeftOut,
    rows_of,
)
from genie_inspect.populations.population import Population, open_population
from genie_inspect.populations.schema import Question, Row, write_rows
from genie_inspect.prompting.answers import NO, YES, normalised
from genie_inspect.statistics.agreement import randolph_kappa
from genie_inspect.studies.metric_study.writing import CHECK, Editor, length_ratio, words_changed

ANOTHER = 2  # ratings up to it say that an answer is another one; 3 is "the same general idea"
PAIRS_AT_ONCE = 16


class Checked(Row):
    """What was seen of one edit or paraphrase; shares are from 0 to 1, None where nothing could be said."""

    id: str
    kind: str
    feature: str
    valid: bool | None  # whether the text has the new value; of a paraphrase None
    effect: float | None  # share of the feature's questions whose answer changed; of a paraphrase None
    invasiveness: float | None  # share of the others whose answer changed; of a paraphrase that of all questions
    words_changed: float
    length_ratio: float


async def check_texts(
    interventions: Interventions,
    population: Population,
    reader: Reader,
    judge: Judge,
    editor: Editor,
    done: Callable[[int], None] = lambda _: None,
) -> list[Checked]:
    definitions = {feature.name: feature.definition for feature in population.features}
    checked: list[Checked] = []
    readings: dict[str, Reading] = {}  # of the originals, by their ids

    async def looked_at(text: Changed) -> Checked:
        original, before = interventions.original(text), readings[text.original]
        questions = population.questions(original.prompt)
        after = await reader.read(text.text, questions)
        changes = await gathered(
            *(_has_changed(judge, question, index, before, after) for index, question in enumerate(questions))
        )
        feature, verdict = "", None
        if isinstance(text, Edit):
            feature = text.feature
            about = {"feature": feature, "definition": definitions.get(feature, ""), "value": text.alternative}
            verdict = await editor.chosen(CHECK, {"text": text.text, **about}, (YES, NO))
        is_about = [question.feature == feature for question in questions]
        return Checked(
            id=text.id,
            kind=text.kind,
            feature=feature,
            valid=None if verdict is None else verdict == YES,
            effect=_share(list(compress(changes, is_about))),
            invasiveness=_share([change for change, own in zip(changes, is_about, strict=True) if not own]),
            words_changed=words_changed(original.text, text.text),
            length_ratio=length_ratio(original.text, text.text),
        )

    for start in range(0, len(interventions.changed), PAIRS_AT_ONCE):
        part = interventions.changed[start : start + PAIRS_AT_ONCE]
        fresh = {text.original: interventions.original(text) for text in part if text.original not in readings}
        read = (reader.read(one.text, population.questions(one.prompt)) for one in fresh.values())
        with reading_anew():  # by the reader of what was made of them
            readings |= zip(fresh, await gathered(*read), strict=True)
        checked += await gathered(*map(looked_at, part))
        done(len(checked))
    return checked


async def _has_changed(judge: Judge, question: Question, index: int, before: Reading, after: Reading) -> bool | None:
    """Whether a question has another answer; None where nobody can say."""
    # not to have been read is something else than to be silent
    if index in before.faults or index in after.faults:
        return None
    answer, other = after.answers[index], before.answers[index]
    if answer is None or other is None:
        # what the text says now and did not say before is another answer
        return answer is not other
    if normalised(answer.text) == normalised(other.text):
        return False
    rating = (await judge.rate(question, answer, (other,))).ratings[0]
    return None if rating is None or not 1 <= rating <= 4 else rating <= ANOTHER


def _share(values: Sequence[float | bool | None]) -> float | None:
    """The mean, or share, of those that there are; None without any."""
    there = [float(value) for value in values if value is not None]
    return sum(there) / len(there) if there else None


def faults(checked: Sequence[Checked], most_invasive: float, most_paraphrased: float) -> list[LeftOut]:
    """What is no good, by shares of answers: of others' that an edit may change, and of all that a paraphrase may."""

    def fault(row: Checked) -> str:
        if row.words_changed == 0:
            return "it says what its original says, word for word"
        if row.valid is False:
            return "the new value is not there"
        if row.feature and row.effect == 0:
            return "no answer about the feature changed"
        limit, others = (most_invasive, "other features") if row.feature else (most_paraphrased, "any feature")
        if row.invasiveness is not None and row.invasiveness > limit:
            return f"{row.invasiveness:.0%} of the answers about {others} changed, more than {limit:.0%}"
        return ""

    return [LeftOut(id=row.id, reason=reason) for row in checked if (reason := fault(row))]


CHECKS = "checks.jsonl"
MEANS = ("valid", "effect", "invasiveness", "words_changed", "length_ratio")


async def check_interventions(
    output: Path,
    model: RecordedModel,
    work: Path,
    progress: Progress,
    *,
    interventions: Interventions,
    population: Population,
    judge: str,
    most_invasive: float,
    most_paraphrased: float,
    templates: Path | None,
) -> list[dict[str, Any]]:
    """A row a feature in the order in which they come, the paraphrases last: counts, and means, NaN without any."""
    if not any(population.questions(original.prompt) for original in interventions.originals.values()):
        raise InterventionsError(f"{population.name} has no question for any prompt of {interventions.file}")
    instrument, total = Instrument(judge, templates=str(templates) if templates else None), len(interventions.changed)
    # a cache of this check alone: a dry run's made-up ratings must not come into the user's
    grading = instrument.reader_and_judge(model, population.features, cache=Cache(work))
    checked = await check_texts(
        interventions, population, *grading, Editor(model, templates), lambda n: progress("checking texts", n, total)
    )
    bad = faults(checked, most_invasive, most_paraphrased)
    with appearing(output, work) as folder:
        write_rows(folder / INTERVENTIONS, [*interventions.originals.values(), *interventions.changed])
        write_rows(folder / CHECKS, checked)
        write_rows(folder / LEFT_OUT, bad)
    left_out = {row.id for row in bad}
    groups: dict[str, list[Checked]] = {}
    for row in sorted(checked, key=lambda row: row.kind == PARAPHRASE):
        groups.setdefault(row.feature or PARAPHRASE, []).append(row)
    return [
        {
            "feature": feature,
            "texts": len(rows),
            "left_out": sum(row.id in left_out for row in rows),
            **{name: mean_of([getattr(row, name) for row in rows]) for name in MEANS},
        }
        for feature, rows in groups.items()
    ]


def mean_of(values: Sequence[float | bool | None]) -> float:
    """Of those that there are; NaN without any."""
    mean = _share(values)
    return math.nan if mean is None else mean


CRITERIA = ("valid", "effective", "invasive")
COLUMNS = ("id", "prompt", "original", "edited", "feature", "value", *CRITERIA, "note")
INSTRUCTIONS = """\
# How to fill in the table

Each row shows a text and what an editor made of it to give one feature another value. Read both and write yes or no:

- `valid`: the edited text has the value in the column `value`.
- `effective`: somebody who describes this feature in both texts would describe it otherwise.
- `invasive`: something changed that has nothing to do with this feature or follows from it.

Leave a cell empty where you cannot say, and write in `note` what should be known. Decide each row by itself, and do not
talk about rows with others who fill in the same table: how far you agree is what is measured.
"""
Votes = dict[str, dict[str, bool]]  # by edit and criterion


def write_tables(path: Path, interventions: Interventions, seed: int = 0) -> int:
    """Write the table of all edits in a shuffled order, and beside it how to fill it in; returns how many rows."""
    edits = [text for text in interventions.changed if isinstance(text, Edit)]
    if not edits:
        raise InterventionsError(f"{interventions.file} has no edit that people could check")
    # rows of one original or feature together would be judged together
    random.Random(seed).shuffle(edits)  # noqa: S311  # an order, no secret
    originals = [interventions.original(edit) for edit in edits]
    rows = [
        (edit.id, original.prompt, original.text, edit.text, edit.feature, edit.alternative, *[""] * len(CRITERIA), "")
        for edit, original in zip(edits, originals, strict=True)
    ]
    write_lines(path, [csv_text(COLUMNS, rows)], new=True)
    write_lines(path.with_suffix(".md"), [INSTRUCTIONS], new=True)
    return len(rows)


def read_table(path: Path, interventions: Interventions) -> Votes:
    edits = {text.id for text in interventions.changed if isinstance(text, Edit)}
    votes: Votes = {}
    for number, row in csv_rows(path, ("id", *CRITERIA), InterventionsError):
        where, name = f"{path}, row {number}", row["id"].strip()
        if name not in edits or name in votes:
            what = "appears twice" if name in votes else f"is not an edit of {interventions.file}"
            raise InterventionsError(f"{where}: id {name!r} {what}")
        said = {criterion: yes_or_no(row, criterion, where, InterventionsError) for criterion in CRITERIA}
        votes[name] = {criterion: vote for criterion, vote in said.items() if vote is not None}
    return votes


def people_figures(tables: Sequence[Votes], interventions: Interventions, most_invasive: float) -> list[dict[str, Any]]:
    """What people say of the edits: a row a feature and criterion, beside what a check said that stands with them.

    `good` is the share that most of the voters find good: valid, effective, not invasive; a tie is not good. `kappa` is
    free-marginal, of the edits with the most votes; NaN where these have fewer than two. `agreement` is the share of
    edits on which the check says what most people say; NaN without a check.
    """
    checks = interventions.file.parent / CHECKS
    verdicts: dict[tuple[str, str], bool | None] = {}
    for row in rows_of(checks, Checked) if checks.is_file() else ():
        verdicts[row.id, "valid"] = row.valid
        verdicts[row.id, "effective"] = None if row.effect is None else row.effect > 0
        verdicts[row.id, "invasive"] = None if row.invasiveness is None else row.invasiveness > most_invasive
    features: dict[str, list[str]] = {}
    for text in interventions.changed:
        if isinstance(text, Edit):
            features.setdefault(text.feature, []).append(text.id)
    rows = []
    for feature, criterion in product(features, CRITERIA):
        counts = []
        majority: dict[str, bool] = {}
        for edit in features[feature]:
            votes = Counter(table[edit][criterion] for table in tables if criterion in table.get(edit, {}))
            if votes:
                counts.append((votes[True], votes[False]))
                # an even split is no majority, and so not good
                is_even = votes[True] == votes[False]
                majority[edit] = votes[True] > votes[False] or (is_even and criterion == "invasive")
        checked = {edit: verdict for edit in majority if (verdict := verdicts.get((edit, criterion))) is not None}
        # the kappa is of edits that all have the same number of votes
        complete = [row for row in counts if sum(row) == max(map(sum, counts))]
        rows.append(
            {
                "feature": feature,
                "criterion": criterion,
                "edits": len(counts),
                "good": mean_of([said != (criterion == "invasive") for said in majority.values()]),
                "kappa": float(randolph_kappa(complete)) if complete and sum(complete[0]) > 1 else math.nan,
                "agreement": mean_of([verdict == majority[edit] for edit, verdict in checked.items()]),
            }
        )
    return rows


VERBS = {
    "write": (".studies.metric_study.writing:write", "Edit documents along every feature, and paraphrase them."),
    "check": (f"{__name__}:check", "Check whether edits changed their feature and nothing else."),
}


@click.group(cls=VerbGroup, sections={"Commands": VERBS})
def edits() -> None:
    """Write and check the edits and paraphrases by which a metric is tested.

    \b
    Example: genie edits check pairs -o checked --grader openai/gpt-4o
    """


SHARE = click.FloatRange(0, 1)
CHECK_KEY = (
    "valid: edits that have the new value; effect: the feature's answers that changed; invasive: the others that"
    " changed (of paraphrases all answers); words: share changed; size: words over the original's."
)
HEADS = {"left_out": "left\nout", "invasiveness": "invasive", "words_changed": "words", "length_ratio": "size"}
PEOPLE_KEY = (
    "good: what most people call valid, effective, not invasive; kappa: free-marginal, 1 alike, 0 as by chance; as the"
    " check: share on which the check says what most people say."
)


@click.command()
@click.argument("pairs")
@output_option(help="Folder for the checked texts, with --grader.", required=False)
@option("--grader", metavar="MODEL", help="Model that reads and compares.")
@POPULATION
@option("--judge", default="list", help="Judge mode: list, pairwise or logit.")
@option("--most-invasive", default=0.5, type=SHARE, help="Largest share of other answers that an edit changes.")
@option("--most-paraphrased", default=0.25, type=SHARE, help="Largest share of answers that a paraphrase changes.")
@option("--to", "table", type=FILE, help="Instead, write a CSV table for people to judge.")
@option("--from", "tables", multiple=True, type=FILE, help="Instead, read the table of a person; repeatable.")
@seed_option(help="Random seed for the rows of --to.")
@TEMPLATES
@DRY_RUN
@answering()
def check(
    pairs: str,
    output: Path | None,
    grader: str | None,
    population: str,
    most_invasive: float,
    table: Path | None,
    tables: tuple[Path, ...],
    seed: int,
    dry_run: bool,
    **given: Any,
) -> Answer | dict[str, Any]:
    """Check whether edits changed their feature and nothing else.

    The grader reads the originals and the texts of PAIRS and compares their answers. Texts that fail are in
    left_out.jsonl, with the reason. People can judge the edits too, each in a table: then it is shown how well they
    agree with each other and with the check.

    \b
    Example: genie edits check pairs -o checked --grader openai/gpt-4o
             genie edits check checked --from ann.csv --from bob.csv
    """
    ways = (grader is not None, table is not None, bool(tables))
    if sum(ways) != 1 or (grader is None) != (output is None):
        raise click.UsageError("give one of --grader MODEL with --output FOLDER, --to TABLE, and --from TABLE")
    interventions = Interventions(pairs)
    if table is not None:
        return {"table": str(table), "edits": write_tables(table, interventions, seed)}
    if grader is None or output is None:
        votes = [read_table(path, interventions) for path in tables]
        rows = people_figures(votes, interventions, most_invasive)
        shown = record_table(f"{len(votes)} people", rows, {"agreement": "as the check"})
        return Answer({"people": len(votes), "figures": rows}, [shown, Unbroken(PEOPLE_KEY)])
    work = partial(
        check_interventions,
        interventions=interventions,
        population=open_population(population),
        most_invasive=most_invasive,
        **given,
    )
    checks, spent = run_asking(work, grader, output, dry_run=dry_run)
    facts = spent if dry_run else {"folder": str(output), **spent}
    # a rehearsal's answers are made up
    parts: list[Table | str] = (
        [] if dry_run else [record_table("edits and paraphrases", checks, HEADS), Unbroken(CHECK_KEY)]
    )
    return Answer({**facts, "checks": checks}, [*parts, *fact_lines(facts)])
