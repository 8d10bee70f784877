"""Is a measure to be trusted: originals, edits of one feature each and paraphrases, scored by any scorers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inspect_ai import Task, task

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import Scorer

    from genie_inspect.populations.interventions import Interventions
    from genie_inspect.populations.population import Population

NAME = "metric_study"


@task
def metric_study(
    pairs: str = "starter",
    population: str = "starter",
    judge: str | list[str] = "list",
    embedder: str = "static",
    templates: str | None = None,
    panel: str | list[str] = "none",
    scorer: str | list[str] | dict[str, Any] | None = None,
    cache: bool = True,
    answer_length: str = "concise",
) -> Task:
    """How far measures move when one feature of a text is edited, and when all is said in other words.

    Nothing is written: every text is a sample of its own, scored as any document is; a text is compared neither with
    itself nor with the text of which it was made. `genie study LOG` reads the log. Any `--model` will do, for instance
    `mockllm/model`.

    Args:
        pairs: `starter`, or the folder or file that `genie interventions write` makes.
        population: `starter` or the folder of a population: what texts are compared with. Prompts that it does not hold
            are unscored.
        judge: As for `synthetic_prompts`, or several: Genie once with each.
        embedder: As for `synthetic_prompts`.
        templates: As for `synthetic_prompts`.
        panel: As for `synthetic_prompts`.
        scorer: Further scorers by name, as `inspect score --scorer` takes them (`genie_inspect/ttcw`,
            `my_scorer.py@name`), also alone, with `judge=none`; with options as a mapping, `{"genie_inspect/ttcw":
            {"reference": false}}`. A sample's target, with which `ttcw` compares, is the population's first document
            for its prompt that is neither the text nor its original.
        cache: As for `synthetic_prompts`.
        answer_length: As for `synthetic_prompts`.

    Raises:
        RefusedError: If an option cannot be used; before anything is asked.
    """
    from genie_inspect.errors import InterventionsError, UnknownChoiceError
    from genie_inspect.graders.grader import refusals
    from genie_inspect.populations.interventions import Interventions
    from genie_inspect.populations.population import NONE, open_population
    from genie_inspect.solvers.generations import recorded
    from genie_inspect.tasks.novelty import novelty_task
    from genie_inspect.tasks.novelty_measures import NoveltyMeasures

    with refusals():
        if population == NONE:
            raise UnknownChoiceError("population", population, "starter or the folder of a population")
        interventions = Interventions(pairs)
        judges = judge.split(",") if isinstance(judge, str) else judge
        if not isinstance(judges, list) or not judges or not all(isinstance(name, str) for name in judges):
            raise UnknownChoiceError("judge", judge, "a judge, or several with commas between them")
        first, *others = (name.strip() for name in judges)
        measures = NoveltyMeasures(
            population, first, embedder, templates, cache, panel, answer_length, others, _scorers(scorer)
        )
        if not interventions.changed:
            raise InterventionsError(
                f"{interventions.file} has no edit and no paraphrase of use: {len(interventions.left_out)} are left "
                f"out, {len(interventions.orphans)} lack their original"
            )
        samples = _samples(interventions, open_population(population))
        novelty = novelty_task(NAME, (), measures, recorded(), samples)
    facts = {"interventions": interventions.name, "left_out": len(interventions.left_out)}
    novelty.metadata = {**(novelty.metadata or {}), **facts}
    return novelty


def _scorers(named: "str | Sequence[str] | Mapping[str, Any] | None") -> "list[Scorer]":
    """Scorers by their names; their metrics, whoever's they are, count the study's originals."""
    from genie_inspect.errors import UnknownChoiceError
    from genie_inspect.inspect_private import PrerequisiteError, loaded_scorer, with_metrics
    from genie_inspect.scorers.stderr import of_originals

    if not isinstance(named, Mapping):
        names = named.split(",") if isinstance(named, str) else named or ()
        named = {name.strip(): {} for name in names if name.strip()}
    scorers = []
    for name, options in named.items():
        try:
            scorers.append(with_metrics(loaded_scorer(name, options or {}), of_originals))
        except (PrerequisiteError, TypeError, ValueError, OSError) as error:
            accepted = f"an installed scorer's name or file.py@name, with options that it takes ({error})"
            raise UnknownChoiceError("scorer", name, accepted) from error
    return scorers


def _samples(interventions: "Interventions", population: "Population") -> "list[Sample]":
    """A sample for each text, the original before what was made of it."""
    from inspect_ai.dataset import Sample

    from genie_inspect.populations.interventions import Edit, Original
    from genie_inspect.samples import PROMPT_KEY, InterventionFacts
    from genie_inspect.scorers.assessment import Others
    from genie_inspect.solvers.generations import DOCUMENT

    samples = []
    for text in interventions.texts():
        original = interventions.original(text)
        if isinstance(text, Original):
            facts = InterventionFacts(text.kind, text.id)
        else:
            feature, alternative = (text.feature, text.alternative) if isinstance(text, Edit) else ("", "")
            facts = InterventionFacts(text.kind, original.id, feature, alternative, original.text)
        metadata = {PROMPT_KEY: original.prompt, DOCUMENT: text.text, **facts.as_metadata()}
        # the population's first document for the prompt that is neither of the texts
        documents = sorted(population.documents(original.prompt), key=lambda document: document.id)
        others = Others(documents).than(text.text, original.text).documents
        target = others[0].text if others else ""
        samples.append(Sample(input=original.prompt, id=text.id, target=target, metadata=metadata))
    return samples
