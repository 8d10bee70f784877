"""The scorer `ttcw`: a story against a fine human one, test by test, both ways round; or alone."""

from functools import partial
from typing import TYPE_CHECKING

from inspect_ai.model import Model
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.scorers.stderr import per_key

if TYPE_CHECKING:
    from genie_inspect.graders.critic import Critic
    from genie_inspect.graders.rubrics import Analyse, Rubric
    from genie_inspect.scorers.examination import Examination

LEVELS = 5

RANGES = {"*_total": (0, None), "*": (0, 1)}


@scorer(
    metrics=per_key(RANGES),
    headline="*_total",
    ranges=RANGES,
    meaning="Tests of creative writing that it passes beside a fine human story; 0: none. Higher is better.",
)
def ttcw(
    rubric: str = "ttcw",
    levels: int = LEVELS,
    cutoff: int | None = None,
    analyse: "Analyse" = True,
    reference: bool = True,
    templates: str | None = None,
    cache: bool = True,
    prefix: str | None = None,
) -> Scorer:
    """Which of fourteen tests of creative writing a story passes beside a fine human story, the sample's target.

    Keys are `ttcw_total` (tests passed, 0 to 14), a share of passed tests for each dimension (`ttcw_fluency`,
    `ttcw_flexibility`, `ttcw_originality`, `ttcw_elaboration`) and the tests `ttcw_01` to `ttcw_14` (1 pass, 0 fail);
    NaN where nothing could be judged. The total counts the judged tests; how many those are is in the metadata.

    Args:
        rubric: `ttcw`, `gomez_williams`, or a YAML or JSON file; its name begins the keys.
        levels: Labels that the critic chooses from: 5, 3 or 7.
        cutoff: A test passes from this score on; scores go from 1 - levels to levels - 1. Unless given -2 with 5
            levels, as published, and by the same share of the scale -1 with 3 and -3 with 7, which are ours.
        analyse: Whether the critic analyses before it chooses; `after`: it chooses first and says why then.
        reference: Whether there is a reference story. Without one the critic sees the candidate alone and says yes or
            no, one request a test; a test passes on yes, and levels and cutoff do not apply.
        templates: A folder of your own instruction templates.
        cache: Whether verdicts that a critic once gave are looked up and kept; false asks anew.
        prefix: What the keys begin with, unless given the rubric's name: two of these scorers in one run need two.

    Raises:
        RefusedError: If an option has a value that cannot be used, or the file is no rubric.

    Source: the reference-based TTCW study, with the tests of Chakrabarty et al. 2024 (arXiv 2309.14556). Deviation: the
    wording of the instructions is ours. `reference=false` is its ablation without a reference, with `analyse=false` its
    baseline.
    """
    from dataclasses import replace

    from genie_inspect.graders.grader import refusals
    from genie_inspect.graders.rubrics import load_rubric, renamed

    with refusals():
        tests = load_rubric(rubric)
        examination = _examination(tests, levels, cutoff, templates, analyse=analyse, reference=reference)
        keyed = tests if prefix is None else renamed(tests, prefix)
    return _scorer(replace(examination, rubric=keyed), cache=cache)


def _examination(
    rubric: "Rubric",
    levels: int,
    cutoff: int | None,
    templates: str | None,
    *,
    analyse: "Analyse",
    reference: bool,
) -> "Examination":
    """How stories are put to the tests, by the scorer's options."""
    from genie_inspect.graders.rubrics import Instructions
    from genie_inspect.scorers.examination import Examination

    if not reference:
        _refuse_scale(levels, cutoff)
    scale = {"levels": str(levels)} if reference else {}
    return Examination(
        rubric,
        Instructions.load(levels, analyse=analyse, reference=reference, folder=templates),
        _cutoff(levels, cutoff) if reference else None,
        # known by its own name whatever its keys begin with
        {"rubric": f"{rubric.name}@{rubric.digest}", **scale}
        | {"analyse": str(analyse).lower(), "reference": str(reference).lower()},
    )


def _scorer(examination: "Examination", *, cache: bool) -> Scorer:
    """Puts the story of each sample to the tests, beside the sample's target or alone."""
    from genie_inspect.graders.cache import Cache
    from genie_inspect.graders.critic import Critic, VerdictMemo
    from genie_inspect.graders.grader import bound_when_scored, grader
    from genie_inspect.graders.instrument import cache_for
    from genie_inspect.prompting.texts import whole_text

    def critic_of(model: Model) -> "Critic":
        return Critic(model, examination.instructions, VerdictMemo(cache_for(model, Cache() if cache else None)))

    critic_by = bound_when_scored(partial(grader, "ttcw", replaceable=False), critic_of)

    async def score(state: TaskState, target: Target) -> Score:
        critic = critic_by()
        # without a cutoff there is nothing to compare: the candidate stands alone
        reference = None if examination.cutoff is None else whole_text(target.text)
        return await examination.score(critic, state, reference)

    return score


def _cutoff(levels: int, cutoff: int | None) -> int:
    """The cutoff in force with a reference."""
    from genie_inspect.measures.likert import scale_cutoff

    if cutoff is None:
        return scale_cutoff(levels)
    # below, every story would pass, and above none
    if cutoff not in range(2 - levels, levels):
        raise UnknownChoiceError("cutoff", cutoff, f"{2 - levels} to {levels - 1} with levels={levels}")
    return int(cutoff)


def _refuse_scale(levels: int, cutoff: int | None) -> None:
    """Refuse what says something of a scale that there is not without a reference."""
    for option, value, default in (("levels", levels, LEVELS), ("cutoff", cutoff, None)):
        if value != default:
            raise UnknownChoiceError(option, value, "nothing with reference=false: the critic says yes or no")
