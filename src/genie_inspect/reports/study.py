"""What a metric study shows of each measure, from a log or from a file of anybody's scores."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from genie_inspect.errors import InterventionsError
from genie_inspect.files.json_lines import SHOWN, json_objects
from genie_inspect.files.tables import csv_rows
from genie_inspect.files.values import MOST, cell_number
from genie_inspect.logs.evidence import Share, mapping
from genie_inspect.logs.files import LogError, each_log, samples
from genie_inspect.logs.measures import GENIE
from genie_inspect.logs.reading import ScoredDocument, ScoredLog, one_signature, read_scored_log
from genie_inspect.logs.scores import NONE, Scores
from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.reports.effects import (
    LENGTH,
    WORDS,
    Effect,
    StudyKey,
    StudyTexts,
    effects_of,
    intervention_of,
    keys_of,
    kind_of,
    texts_of,
)
from genie_inspect.samples import InterventionFacts
from genie_inspect.signature import Signature
from genie_inspect.statistics.effect import ROUNDING
from genie_inspect.statistics.ranking import kendall


@dataclass(frozen=True, slots=True)
class StudiedMeasure:
    """One measure: a number of the text as a whole, or a scorer that gives each feature its own."""

    name: str  # the scorer where it scores by feature, else the key; with what tells it apart from another of that name
    scorer: str
    signature: Signature
    keys: tuple[str, ...]  # the one, or one a feature
    is_by_feature: bool
    effects: tuple[Effect, ...]  # of each intervention on each key
    has_originals: bool = True  # else edits of other features replace them, which may have moved the others' scores

    @property
    def is_length(self) -> bool:
        return self.scorer == LENGTH

    @property
    def printed_as(self) -> str:
        """Under which name the study behind Genie would have printed it: `genie`, or the key of a measure of texts."""
        return self.signature.measure or self.scorer if self.is_by_feature else self.keys[0]

    @property
    def own(self) -> list[Effect]:
        """Of each edit its effect on the key that should move."""
        return [effect for effect in self.effects if effect.is_own]

    @property
    def paraphrases(self) -> list[Effect]:
        return [effect for effect in self.effects if effect.is_paraphrase]

    @property
    def is_constant(self) -> bool:
        originals = [before for effect in self.effects for before, _ in effect.pairs.rows.values()]
        alike = all(math.isclose(value, originals[0], rel_tol=ROUNDING) for value in originals)
        return bool(originals) and alike and all(effect.is_constant for effect in self.effects if effect.pairs.rows)

    @property
    def decimals(self) -> int:
        """With how many its differences show: three, or more where texts differ by little."""
        if self.is_length:
            return 1
        spreads = [effect.difference.spread for effect in self.effects if effect.difference.spread > 0]
        return min(6, max(3, 1 - math.floor(math.log10(max(spreads, default=1.0)))))

    @property
    def shares(self) -> dict[str, float]:
        """How far each intervention moves it, whichever way, between the nearest (0) and the farthest (1) text.

        Of edits by the edited feature's own key, of paraphrases over all keys.
        """
        # by original, so that a measure of which one text went far does not look moved by all
        sizes: dict[str, list[float]] = {}
        for effect in filter(lambda effect: effect.is_judged, self.effects):
            sizes.setdefault(effect.intervention, []).extend(effect.pairs.sizes.values())
        every = [size for own in sizes.values() for size in own]
        low, high = min(every, default=0.0), max(every, default=0.0)
        return {one: (fmean(own) - low) / (high - low) for one, own in sizes.items() if own and low < high}

    def row(self, intervention: str) -> list[Effect]:
        return [effect for effect in self.effects if effect.intervention == intervention]

    def deltas(self, intervention: str) -> dict[str, float]:
        """By original the difference that an intervention makes; none where no one key of it should move."""
        effects = [effect for effect in self.row(intervention) if effect.is_own or len(self.keys) == 1]
        return {name: after - before for effect in effects[:1] for name, (before, after) in effect.pairs.rows.items()}


def measures_of(
    effects: Sequence[Effect], signatures: Mapping[str, Signature], *, has_originals: bool = True
) -> Iterator[StudiedMeasure]:
    """The tested keys: those of features by scorer, others one by one."""
    groups: dict[tuple[str, str], list[Effect]] = {}
    for effect in effects:
        if effect.key.tested:
            groups.setdefault((effect.key.scorer, "" if effect.key.feature else effect.key.name), []).append(effect)
    signed = [signatures.get(scorer, NONE) for scorer, _ in groups]
    measures = [key or own.measure or scorer for (scorer, key), own in zip(groups, signed, strict=True)]
    for ((scorer, key), own), signature, measure in zip(groups.items(), signed, measures, strict=True):
        judges = [one.judge for one, other in zip(signed, measures, strict=True) if other == measure]
        # no two names are alike: of scorer, key and judge as much as tells it from the others
        if scorer == LENGTH:
            name = "length in words"
        elif measures.count(measure) == 1:
            name = key or scorer
        # Inspect numbers scorers of one name: which of them is which, the judge says
        elif signature.judge and judges.count(signature.judge) == 1:
            name = f"{measure} ({signature.judge})"
        else:
            name = f"{scorer}: {key}" if key and key != scorer else scorer
        keys = tuple(dict.fromkeys(effect.key.name for effect in own))
        yield StudiedMeasure(name, scorer, signature, keys, not key, tuple(own), has_originals)


CUT = "…"  # how an answer ends that the score's metadata had no room for


def answer_changes(file: str, scorers: Collection[str]) -> dict[tuple[str, str, str], Share]:
    """By scorer, intervention and feature: answers that changed, of those that the log has of the original, too."""
    originals: dict[tuple[str, str, int], dict[str, str]] = {}
    changed: list[tuple[tuple[str, str, int], InterventionFacts, list[Mapping[str, Any]]]] = []
    for sample in samples(file):
        facts = InterventionFacts.of(sample.metadata)
        for scorer, score in (sample.scores or {}).items() if facts else ():
            table = (score.metadata or {}).get("questions")
            rows = map(mapping, table) if isinstance(table, list) else ()
            # what has another form, or no room was for, is no answer
            texts = ("id", "feature", "answer")
            answers = [row for row in rows if all(isinstance(row.get(name), str) for name in texts)]
            if facts and scorer in scorers:
                place = scorer, facts.original, sample.epoch
                if facts.kind != ORIGINAL:
                    changed.append((place, facts, answers))
                elif answers:
                    originals[place] = {row["id"]: row["answer"] for row in answers}
    counts: dict[tuple[str, str, str], list[bool]] = {}
    for place, facts, answers in changed:
        before = originals.get(place, {})
        for row in {row["id"]: row for row in answers if row["id"] in before}.values():
            differs = _differs(before[row["id"]], row["answer"])
            counts.setdefault((place[0], intervention_of(facts), row["feature"]), []).append(differs)
    return {key: (sum(differing), len(differing)) for key, differing in counts.items()}


def _differs(before: str, after: str) -> bool:
    """Whether two answers are other words; case, space and the last point make none.

    >>> _differs("In rain.", "in  rain"), _differs("in a long, long ra…", "in a long, long rainy night")
    (False, False)
    """
    sides = [" ".join(side.casefold().split()).rstrip(".") for side in (before, after)]
    # of an answer that was cut only the beginning is known
    known = min((len(side) - 1 for side in sides if side.endswith(CUT)), default=None)
    return sides[0][:known] != sides[1][:known]


@dataclass(frozen=True, slots=True)
class Study:
    file: str
    label: str  # its name among the logs that it is read with
    texts: StudyTexts
    signatures: Mapping[str, Signature]  # by scorer
    effects: tuple[Effect, ...]  # of every key, also of those that are not tested
    measures: tuple[StudiedMeasure, ...]  # those that are tested; by feature first
    # by two measures and intervention: Kendall's tau-b between their differences, which says whether the same texts
    # move them (NaN where one of them puts nothing in order), and of how many originals
    agreements: Mapping[tuple[str, str, str], tuple[float, int]]
    answers: Mapping[tuple[str, str, str], Share]  # as `answer_changes` has them
    model: str = ""  # that of the log; empty where the scores are from a file
    names_prompts: bool = True  # else each original is a prompt of its own
    unstudied: tuple[str, ...] = ()  # keys that need originals, where there are none


def study(path: str | Path, scorers: Sequence[str] = ()) -> Study:
    """The study that a log holds, or a file of scores (.csv, .jsonl)."""
    if Path(path).suffix in (".csv", ".jsonl"):
        texts, keys, names_prompts, left_out = read_study_scores(Path(path))
        chosen = _chosen(path, scorers, dict.fromkeys(key.scorer for key in keys))
        keys = [key for key in keys if key.scorer in chosen]
        facts = {"file": str(path), "label": Path(path).name, "names_prompts": names_prompts, "unstudied": left_out}
        return _studied(texts, keys, dict.fromkeys(chosen, NONE), answers={}, **facts)
    logs = each_log([path], read_scored_log)
    studies = [log for log in logs if log.is_study]
    if not studies:
        raise LogError(f"{path} is not a metric study, expected a log of genie_inspect/metric_study")
    if len(studies) > 1:
        files = ", ".join(log.file for log in studies)
        raise LogError(f"{path} has {len(studies)} metric studies, expected one: {files}")
    return study_of(studies[0], scorers)


def study_of(log: ScoredLog, scorers: Sequence[str] = ()) -> Study:
    texts = texts_of((*log.documents, *log.changed))
    if not texts.originals:
        raise LogError(f"{log.file} is a metric study without originals, expected those that its texts were made of")
    if not any(texts.changed.values()):
        raise LogError(f"{log.file} is a metric study without any edit or paraphrase of its originals")
    if not log.signatures:
        raise LogError(f"{log.file} has no scores by any scorer, score it with: inspect score {log.file} --scorer ...")
    chosen = _chosen(log.file, scorers, log.signatures)
    keys = [key for scorer in chosen for key in keys_of(log, scorer, texts.changed.keys() - {PARAPHRASE})]
    signatures = {scorer: one_signature([log], scorer) for scorer in chosen}
    facts = {"file": log.file, "label": log.label, "model": log.model, "answers": answer_changes(log.file, chosen)}
    return _studied(texts, [*keys, WORDS], signatures, **facts)


def _chosen(file: str | Path, scorers: Sequence[str], known: Iterable[str]) -> list[str]:
    known = list(known)
    for scorer in scorers:
        if scorer not in known:
            raise LogError(f"{file} has no scores by {scorer!r}, its scorers: {', '.join(known)}")
    return list(scorers) or known


def _studied(texts: StudyTexts, keys: Sequence[StudyKey], signatures: Mapping[str, Signature], **facts: Any) -> Study:
    effects = effects_of(texts, keys)
    every = measures_of(effects, signatures, has_originals=bool(texts.originals))
    measures = tuple(sorted(every, key=lambda measure: not measure.is_by_feature))
    agreements = {}
    for first, second in combinations(measures, 2):
        for intervention in texts.changed:
            one, other = first.deltas(intervention), second.deltas(intervention)
            if both := [name for name in one if name in other]:
                tau = kendall([one[name] for name in both], [other[name] for name in both])
                agreements[first.name, second.name, intervention] = tau, len(both)
    return Study(texts=texts, signatures=signatures, effects=effects, measures=measures, agreements=agreements, **facts)


NEEDED = ("original", "edited", "key", "value")
OPTIONAL = ("id", "prompt", "scorer")
EXPECTED = f"{', '.join(NEEDED)} and, where known, {', '.join(OPTIONAL)}"
_NAME = re.compile(r"[^\W\d_]\w*")


def read_study_scores(path: Path) -> tuple[StudyTexts, list[StudyKey], bool, tuple[str, ...]]:
    """The texts and keys of a file, whether it names prompts, and keys that are left out.

    Without originals those are left out that score texts as a whole: edits of other features move them too.
    """
    rows = list(_rows(path))
    if not rows:
        raise InterventionsError(f"{path} has no scores, expected rows of {EXPECTED}")
    texts = texts_of(_documents(rows), stand_ins=True)
    if not any(texts.changed.values()):
        raise InterventionsError(f"{path} has no edit or paraphrase of an original that it has")
    keys = dict.fromkeys((row["scorer"], row["key"]) for row in rows)
    edited = dict.fromkeys(row["edited"] for row in rows if row["edited"] not in ("", PARAPHRASE))
    studied = [StudyKey(scorer, key, key if key in edited or scorer == GENIE else "", True) for scorer, key in keys]
    kept = [key for key in studied if key.feature or texts.originals]
    if not texts.originals and (len(edited) < 2 or not kept):
        raise InterventionsError(
            f"{path} has no originals (rows whose edited is empty); edits of two features or more could replace "
            f"them, with scores by feature: it has edits of {', '.join(edited) or 'none'}, keys "
            f"{', '.join(key for _, key in keys)}"
        )
    return texts, kept, bool(rows[0]["prompt"]), tuple(key.name for key in studied if key not in kept)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The checked rows of a file, each with `where` it stands.

    `edited` is a feature, `paraphrase`, or nothing of an original; `value` is NaN where the text was not scored.
    """
    is_table = path.suffix == ".csv"
    lines: Iterator[tuple[int, Mapping[str, Any]]]
    lines = csv_rows(path, NEEDED, InterventionsError) if is_table else json_objects(path, InterventionsError)
    for number, line in lines:
        where = f"{path}, {'row' if is_table else 'line'} {number}"
        if unknown := [name for name in line if name not in NEEDED + OPTIONAL]:
            raise InterventionsError(f"{where} has a column {unknown[0]!r}, expected {EXPECTED}")
        if missing := [name for name in NEEDED if name not in line]:
            raise InterventionsError(f"{where} has no {missing[0]}, expected {EXPECTED}")
        row: dict[str, Any] = {"where": where}
        for name in (*NEEDED[:3], *OPTIONAL):
            text = line.get(name)
            if isinstance(text, bool) or not isinstance(text, str | int | None):
                raise InterventionsError(f"{where}: {name} is {str(text)[:SHOWN]!r}, expected text")
            row[name] = "" if text is None else str(text).strip()
        if empty := [name for name in ("original", "key") if not row[name]]:
            raise InterventionsError(f"{where}: {empty[0]} is empty, expected a name")
        # as features are written: `Social Atmosphere` and `social_atmosphere` are one
        edited, row["key"] = ("_".join(row[name].casefold().split()) for name in ("edited", "key"))
        if edited == ORIGINAL or (edited and not _NAME.fullmatch(edited)):
            raise InterventionsError(
                f"{where}: edited is {row['edited'][:SHOWN]!r}, expected the name of a feature, {PARAPHRASE}, or "
                "nothing of an original"
            )
        value = line["value"]
        is_missing = value is None or (isinstance(value, str) and not value.strip())
        score = math.nan if is_missing or isinstance(value, bool) else cell_number(value)
        if math.isnan(score) and not is_missing:
            shown = repr(str(value)[:SHOWN])
            raise InterventionsError(f"{where}: value is {shown}, expected a number of at most {MOST:g}, or nothing")
        yield row | {"edited": edited, "scorer": row["scorer"] or "scores", "value": score}


def _documents(rows: Sequence[Mapping[str, Any]]) -> Iterator[ScoredDocument]:
    """The texts with their values, in the order of the file; without ids a key's second value is the next text's."""
    originals: dict[str, Mapping[str, Any]] = {}
    named: dict[str, Mapping[str, Any]] = {}
    values: Counter[tuple[str, ...]] = Counter()
    texts: dict[tuple[str, str, str], dict[str, dict[str, float]]] = {}
    for row in rows:
        where, original, edited, prompt, name = (row[part] for part in ("where", "original", "edited", "prompt", "id"))
        if bool(prompt) != bool(rows[0]["prompt"]):
            raise InterventionsError(f"{where}: prompt is {prompt[:SHOWN]!r}, expected one in every row or in none")
        first = originals.setdefault(original, row)
        if prompt != first["prompt"]:
            raise InterventionsError(
                f"{where}: original {original!r} has the prompt {prompt[:SHOWN]!r}, expected "
                f"{first['prompt'][:SHOWN]!r} as in {first['where']}"
            )
        first = named.setdefault(name, row) if name else row
        if (first["original"], first["edited"]) != (original, edited):
            raise InterventionsError(
                f"{where}: text {name!r} is {_made(row)}, expected {_made(first)} as in {first['where']}"
            )
        # without ids several values of an edit are of several texts
        place = (original, edited, name, row["scorer"], row["key"])
        if values[place] and (name or not edited):
            raise InterventionsError(f"{where}: {_made(row)} has a second value of {row['key']}, expected one")
        values[place] += 1
        scores = texts.setdefault((original, edited, name or str(values[place])), {})
        scores.setdefault(row["scorer"], {})[row["key"]] = row["value"]
    for (original, edited, name), scores in texts.items():
        kind = kind_of(edited) if edited else ORIGINAL
        facts = InterventionFacts(kind, original, edited if kind == EDIT else "")
        own = {scorer: Scores(values_by_key) for scorer, values_by_key in scores.items()}
        prompt = originals[original]["prompt"] or original
        yield ScoredDocument(name, epoch=1, prompt=prompt, text="", words=math.nan, scores=own, intervention=facts)


def _made(row: Mapping[str, Any]) -> str:
    edited = row["edited"]
    what = "original" if not edited else PARAPHRASE if edited == PARAPHRASE else f"an edit of {edited} of"
    return f"{what} {row['original']!r}"
