"""The scorer `ttcw`: a story against a fine human one, test by test, both ways round; or alone."""

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from inspect_ai.model import Model
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.scorers.stderr import per_key

if TYPE_CHECKING:
    from genie_inspect.graders.critic import Critique, Judgement, Opinion
    from genie_inspect.graders.rubrics import Analyse

LEVELS = 5
NO_REFERENCE = "no reference story"
WIDTHS = (200, 120, 60, 0)
PHRASES = 160  # characters of the critic's words on each order in the table, and of the prompt in the metadata
BIASED = 0.5  # share of tests in which the same place wins both times, from which the critic is called biased
LIKE_LENGTH = 1.5  # stories whose lengths differ by more do not compare well
SIDES = ("reference", "candidate")
DEGREES = {1: "better", 2: "much better", 3: "better by far"}
ANSWERS = ("no", "yes")
COMPARED = (
    "| test | reference first | candidate first | score | pass | the grader in short |",
    "|:--|:--|:--|--:|:--|:--|",
)
ALONE = ("| test | yes/no | the grader in short |", "|:--|:--|:--|")

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
        levels: Labels that the grader chooses from: 5, 3 or 7.
        cutoff: A test passes from this score on; scores go from 1 - levels to levels - 1. Unless given -2 with 5
            levels, as published, and by the same share of the scale -1 with 3 and -3 with 7, which are ours.
        analyse: Whether the grader analyses before it chooses; `after`: it chooses first, then says why.
        reference: Whether there is a reference story. Without one the grader sees the candidate alone and says yes or
            no, one request a test; a test passes on yes, and levels and cutoff do not apply.
        templates: A folder of your own instruction templates.
        cache: Whether kept verdicts are used and new ones are kept; false asks again.
        prefix: What the keys begin with, unless given the rubric's name: two of these scorers in one run need two.

    Raises:
        RefusedError: If an option has a value that cannot be used, or the file is not a rubric.

    Source: the reference-based TTCW study, with the tests of Chakrabarty et al. 2024 (arXiv 2309.14556). Deviation: the
    wording of the instructions is ours. `reference=false` is its ablation without a reference, with `analyse=false` its
    baseline.
    """
    from genie_inspect.graders.cache import Cache, Memo
    from genie_inspect.graders.critic import Critic, Critique
    from genie_inspect.graders.grader import bound_when_scored, grader, refusals
    from genie_inspect.graders.instrument import cache_for
    from genie_inspect.graders.rubrics import Instructions, load_rubric, renamed
    from genie_inspect.measures.likert import scale_cutoff
    from genie_inspect.prompting.texts import has_word, whole_text
    from genie_inspect.samples import document_of, prompt_of
    from genie_inspect.scorers.explanation import cut
    from genie_inspect.scorers.outcome import Measurement, nothing, scored_or_reason
    from genie_inspect.signature import signature

    with refusals():
        tests = load_rubric(rubric)
        for option, value, default in (("levels", levels, LEVELS), ("cutoff", cutoff, None)):
            if not reference and value != default:
                raise UnknownChoiceError(option, value, "nothing with reference=false: the grader says yes or no")
        instructions = Instructions.load(levels, analyse=analyse, reference=reference, folder=templates)
        # below, every story would pass, and above none
        if cutoff is not None and cutoff not in range(2 - levels, levels):
            raise UnknownChoiceError("cutoff", cutoff, f"{2 - levels} to {levels - 1} with levels={levels}")
        passes_from = (scale_cutoff(levels) if cutoff is None else int(cutoff)) if reference else None
        keyed = tests if prefix is None else renamed(tests, prefix)
    # known by its own name whatever its keys begin with
    settings = {"rubric": f"{tests.name}@{tests.digest}"} | ({"levels": str(levels)} if reference else {})
    settings |= {"analyse": str(analyse).lower(), "reference": str(reference).lower()}

    def critic_of(model: Model) -> Critic:
        return Critic(model, instructions, Memo(cache_for(model, Cache() if cache else None)))

    critic_by = bound_when_scored(partial(grader, "ttcw", replaceable=False), critic_of)

    async def score(state: TaskState, target: Target) -> Score:
        critic, text = critic_by(), document_of(state)
        # without a reference there is nothing to compare: the candidate stands alone
        beside = whole_text(target.text) if reference else None
        depends_on = settings | {"stories": str(state.metadata.get("references", "unknown"))}
        if passes_from is not None:
            depends_on["cutoff"] = str(passes_from)
        facts = {
            "signature": signature("ttcw", version="1-A", judge=critic.signature, **depends_on),
            "judge": critic.signature,
            "prompt": cut(prompt_of(state), PHRASES),
        }

        async def measured() -> Measurement:
            # a reference of nothing but punctuation would lose every test
            if not (beside is None or has_word(beside)):
                return nothing(NO_REFERENCE, "scored")
            critique = Critique(keyed, tuple(await critic.compare(text, beside, keyed.tests)), passes_from)
            shown = explained(critique, text, beside or "")
            reason = None if critique.judged else "invalid_response_format"
            return Measurement(critique.value, shown, evidence(critique, **facts), reason)

        return await scored_or_reason(state, keyed.keys, facts, measured)

    return score


def explained(critique: "Critique", candidate: str, reference: str) -> str:
    """A Markdown table with a row a test: verdicts, score, pass, the critic's phrases; then what to know."""
    from genie_inspect.graders.rubrics import TOTAL
    from genie_inspect.prompting.replies import analysis
    from genie_inspect.scorers.explanation import cell, cut

    def worded(opinion: "Opinion", place: int) -> str:
        """One verdict by what the stories are: "reference better", "even"; of a story alone yes or no."""
        if opinion.points is None:
            return f"none: {cell(cut(opinion.fault, PHRASES))}"
        if critique.is_alone:
            return ANSWERS[opinion.points]
        if opinion.points == 0:
            return "even"
        return f"{SIDES[place if opinion.points > 0 else 1 - place]} {DEGREES[abs(opinion.points)]}"

    rows = [*(ALONE if critique.is_alone else COMPARED)]
    for judgement in critique.judgements:
        cells = [f"{judgement.test.id} {cell(judgement.test.name)}"]
        cells += [worded(opinion, place) for place, opinion in enumerate(judgement.opinions)]
        if not critique.is_alone:
            score, result = judgement.score, critique.result(judgement)
            shown = "" if score is None else f"{score:+d}" if score else "0"
            cells.append(shown if judgement.agree else f"{shown} ⇄")
            cells.append("not judged" if math.isnan(result) else ANSWERS[int(result)])
        replies = (cell(cut(analysis(opinion.reply), PHRASES)) for opinion in judgement.opinions if opinion.reply)
        cells.append("; ".join(replies))
        rows.append("| " + " | ".join(cells) + " |")

    judged, total = len(critique.judged), critique.value[critique.rubric.key(TOTAL)]
    passed = (
        "**No test could be judged.**" if math.isnan(total) else f"**Passed {total:.0f} of {judged} judged tests.**"
    )
    notes = [passed if critique.is_alone else f"{passed} A test passes from a score of {critique.cutoff} on."]
    if missing := len(critique.judgements) - judged:
        faults = "; ".join(f"{count} {cell(cut(fault, PHRASES))}" for fault, count in critique.faults.items())
        notes.append(f"{missing} of {len(critique.judgements)} tests are not judged, verdicts missing: {faults}.")
    if critique.disagreeing:
        notes.append(f"The two orders name different stories in {len(critique.disagreeing)} of {judged} tests (⇄).")
    place, wins = max(zip(("first", "second"), critique.won_by_place, strict=True), key=lambda pair: pair[1])
    # a preference for a place cancels in the score, but a critic that has it tells nothing about the stories
    if wins and wins >= BIASED * judged:
        notes.append(
            f"**The grader is biased by position:** whichever story came {place} won both times in {wins} of {judged} "
            "tests. Such a preference cancels in the score; by itself it scores 0, and 0 passes at any cutoff up to 0."
        )
    words, expected = len(candidate.split()), len(reference.split())
    if expected and max(words, expected) > LIKE_LENGTH * min(words, expected):
        notes.append(f"Unlike lengths, which do not compare well: {words} words, the reference has {expected}.")
    return "\n".join([*rows, "", *(f"{note}\n" for note in notes)]).rstrip()


def evidence(critique: "Critique", **facts: Any) -> dict[str, Any]:
    """Score metadata of at most 8 KB: the facts, coverage, faults, how far the orders agree, and the tests."""
    from genie_inspect.graders.rubrics import TOTAL
    from genie_inspect.prompting.replies import analysis
    from genie_inspect.scorers.explanation import cut, fitted, rounded

    judged, rubric = {judgement.test.id for judgement in critique.judged}, critique.rubric
    parts = {TOTAL: [test.id for test in rubric.tests]}
    parts |= {name: [test.id for test in rubric.tests if test.dimension == name] for name in rubric.dimensions}
    parts |= {test.id: [test.id] for test in rubric.tests}
    counts = {**facts, "judged": len(judged), "not_judged": len(critique.judgements) - len(judged)}
    counts["ratings"] = critique.ratings
    if not critique.is_alone:
        # a critic's preference for a place
        first, second = critique.won_by_place
        counts |= {
            "order_disagreement": rounded(len(critique.disagreeing) / len(judged)) if judged else None,
            "position_bias": rounded(critique.position_bias),
            "first_place_wins_both": first,
            "second_place_wins_both": second,
        }
    counts |= {
        "faults": {cut(fault, WIDTHS[0]): count for fault, count in critique.faults.items()},
        # judged tests of all tests behind each key, as reports read it
        "coverage": {rubric.key(part): f"{len(judged & set(ids))}/{len(ids)}" for part, ids in parts.items()},
    }

    def row(judgement: "Judgement", width: int) -> dict[str, Any]:
        result = critique.result(judgement)
        facts: dict[str, Any] = {
            "id": judgement.test.id,
            "verdicts": [opinion.points for opinion in judgement.opinions],
            "pass": None if math.isnan(result) else bool(result),
        }
        if not critique.is_alone:
            facts |= {"score": judgement.score, "orders_agree": judgement.agree if judgement.verdicts else None}
        if width:
            facts["critic"] = [cut(analysis(opinion.reply) or opinion.fault, width) for opinion in judgement.opinions]
        return facts

    # narrower and narrower phrases until the metadata fits; at width 0 they go
    tables = ([row(judgement, width) for judgement in critique.judgements] for width in WIDTHS)
    return fitted(counts, "tests", tables, len(critique.judgements))
