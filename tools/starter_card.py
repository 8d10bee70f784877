"""The tables of the starter population's card: what repeats in it, who agrees on it, what its storytellers score.

Print them, or put them in place of those in the card; `--released` takes a released run as JSON Lines with the fields
`prompt` and `generations`, whose stories stand beside the starter's:

    python tools/starter_card.py
    python tools/starter_card.py --write --released noveltybench_texts_first50.jsonl
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean

import click
from measure_embedding_fit import table as fit_table
from starter_agreement import agreement_table
from starter_marking import marked_table, read_twice_table
from starter_scores import score_table

from genie_inspect.graders.embedding_judge import shipped_fit
from genie_inspect.measures.compression import compression_ratio
from genie_inspect.measures.tokens import tokens
from genie_inspect.providers.replay import Record, starter_record

TELLER, ENDING = "Who tells the story?", "What kind of ending does the story have?"
OUTSIDE = "a narrator outside"
QUOTED = re.compile(r'"[^"]*"')
PAST, PRESENT = (re.compile(rf"\b(?:{words})\b") for words in ("was|were|had|did|said", "is|are|has|does|says"))
NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}")
CALENDAR = frozenset(
    (
        *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Sundays", "Thursdays"),
        *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
        *("November", "December", "Christmas", "Mrs", "Sir"),
    )
)
SAMPLED = 10  # documents a prompt that are compared with as many generations of the released run
RELEASED = ("Write a short fable about a lemur", "Write a short story that has three main characters")
"""The released run's two prompts that ask for a story of more than five sentences."""

Table = list[Sequence[object]]


def repetition(texts: Sequence[str]) -> tuple[float, float, float]:
    """Share of a document's 3-grams that stand in another one too, distinct 3-grams of all, gzip ratio."""
    grams = [list(zip(*(words[place:] for place in range(3)), strict=False)) for words in map(lowered, texts)]
    holders = Counter(chain.from_iterable(map(set, grams)))
    every = list(chain.from_iterable(grams))
    shared = fmean(fmean(holders[gram] > 1 for gram in set(own)) for own in grams)
    return shared, len(set(every)) / len(every), compression_ratio(texts)


def lowered(text: str) -> list[str]:
    """Tokens of a text in lower case."""
    return [token.lower() for token in tokens(text)]


def repetition_table(record: Record, released: Mapping[str, Sequence[str]]) -> Table:
    """A row a set of documents: the starter's prompts, its storytellers, the released run."""
    population = record.population
    texts = {prompt: [document.text for document in population.documents(prompt)] for prompt in population.prompts}
    told = {name: [s.text for s in record.stories if s.storyteller == name] for name in ("ordinary", "inventive")}
    sets: dict[str, Iterable[Sequence[str]]] = {
        f"starter, {SAMPLED} documents per prompt": [each[:SAMPLED] for each in texts.values()],
        **({"Gemini 1.5 Pro, 10 per prompt, 2 prompts": released.values()} if released else {}),
        "starter, all documents of a prompt": texts.values(),
        **{f"`bundled/{name}`, its 16 stories together": [stories] for name, stories in told.items()},
    }
    rows: Table = [("documents", "shared 3-grams", "distinct 3-grams", "gzip ratio")]
    for name, groups in sets.items():
        shared, distinct, ratio = (fmean(values) for values in zip(*map(repetition, groups), strict=True))
        rows.append((name, f"{shared:.0%}", f"{distinct:.2f}", f"{ratio:.2f}"))
    return rows


def sameness_table(record: Record) -> Table:
    """A row a prompt: its most frequent name and opening, person and tense, the commonest words on its endings."""
    population = record.population
    rows: Table = [("prompt", "most frequent name", "most frequent opening", "first person", "past tense", "endings")]
    for prompt in population.prompts:
        texts = [document.text for document in population.documents(prompt)]
        names = Counter(name for text in texts for name in sorted(set(NAME.findall(text)) - CALENDAR))
        openings = Counter(" ".join(text.split()[:3]) for text in texts)
        tellers = [record.answer(text, TELLER) or "" for text in texts]
        endings = Counter(word for text in texts for word in sorted(set(lowered(record.answer(text, ENDING) or ""))))
        (name, named), (opening, opened) = names.most_common(1)[0], openings.most_common(1)[0]
        moods = ", ".join(f"{word} {count}" for word, count in endings.most_common(12) if len(word) > 3)
        rows.append(
            (
                prompt.removeprefix("Write a story about ").rstrip("."),
                f"{name} ({named})",
                f"{opening} ({opened})",
                sum(not teller.startswith(OUTSIDE) for teller in tellers),
                sum(map(is_past, texts)),
                moods,
            )
        )
    return rows


def is_past(text: str) -> bool:
    """Whether a story is told in the past: by its commonest verbs, speech left out."""
    told = QUOTED.sub(" ", text)
    return len(PAST.findall(told)) > len(PRESENT.findall(told))


def answer_table(record: Record) -> Table:
    """A row a feature: its questions, how many documents answer them, how many answers are distinct."""
    population = record.population
    rows: Table = [("feature", "questions", "documents that answer", "fewest", "distinct answers")]
    for feature in population.features:
        answers = [
            [record.answer(document.text, question.text) for document in population.documents(prompt)]
            for prompt in population.prompts
            for question in population.questions(prompt)
            if question.feature == feature.name
        ]
        shares = [fmean(answer is not None for answer in each) for each in answers]
        distinct = [len({answer for answer in each if answer}) / sum(map(bool, each)) for each in answers]
        rows.append(
            (feature.name, len(answers), f"{fmean(shares):.0%}", f"{min(shares):.0%}", f"{fmean(distinct):.0%}")
        )
    return rows


def markdown(rows: Table) -> str:
    """A Markdown table; the first row is its head."""
    head, *body = (f"| {' | '.join(map(str, row))} |" for row in rows)
    return "\n".join([head, f"|:--{'|--:' * (len(rows[0]) - 1)}|", *body])


def with_table(card: str, name: str, table: str) -> str:
    """The card with a table between the marks of its name."""
    begin, end = f"<!-- {name} -->\n", "<!-- end -->"
    before, _, rest = card.partition(begin)
    return f"{before}{begin}\n{table}\n\n{end}{rest.partition(end)[2]}"


def released_run(path: Path | None) -> dict[str, list[str]]:
    """The stories of a released run, by prompt."""
    if path is None:
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["prompt"]: line["generations"] for line in lines if line["prompt"].startswith(RELEASED)}


@click.command()
@click.option("--released", type=click.Path(path_type=Path, exists=True), help="A released run, JSON Lines.")
@click.option("--write", is_flag=True, help="Put the tables into the card.")
def main(released: Path | None, *, write: bool) -> None:
    """Print the tables of the starter's card, or write them into it."""
    record = starter_record()
    tables = {
        "repetition": markdown(repetition_table(record, released_run(released))),
        "sameness": markdown(sameness_table(record)),
        "answers": markdown(answer_table(record)),
        "agreement": markdown(agreement_table(record)),
        "vectors": "\n".join(fit_table(shipped_fit())),
        "scores": markdown(score_table()),
        "marked": markdown(marked_table(record)),
        "read twice": markdown(read_twice_table(record)),
    }
    card = record.folder / "README.md"
    text = card.read_text(encoding="utf-8")
    for name, table in tables.items():
        print(f"{name}\n\n{table}\n")
        text = with_table(text, name, table)
    if write:
        card.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
