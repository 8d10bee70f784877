"""The scorer `ttcw`: a story against a fine human one, test by test, both ways round."""

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from genie_inspect.asking.grader import grader
from genie_inspect.errors import GraderFailedError, UnknownChoiceError
from genie_inspect.samples.document import unusable
from genie_inspect.scorers.outcome import unscored
from genie_inspect.signature import signature

NO_REFERENCE = "no reference story"


@scorer(metrics={"*": [mean(), stderr()]})
def ttcw(
    rubric: str = "ttcw",
    levels: int = 5,
    cutoff: int = -2,
    analyse: bool = True,
    reference: bool = True,
    templates: str | None = None,
) -> Scorer:
    """Which of fourteen tests of creative writing a story passes beside a fine human story, the sample's target.

    Keys are `ttcw_total` (tests passed, 0 to 14), a share of passed tests for each dimension (`ttcw_fluency`,
    `ttcw_flexibility`, `ttcw_originality`, `ttcw_elaboration`) and the tests `ttcw_01` to `ttcw_14` (1 pass, 0 fail);
    NaN where nothing could be judged. The total counts the judged tests; how many those are is in the metadata.

    Args:
        rubric: `ttcw`, `gomez_williams`, or a YAML or JSON file; its name begins the keys.
        levels: Labels that the critic chooses from: 5, 3 or 7.
        cutoff: A test passes from this score on; scores go from 1 - levels to levels - 1.
        analyse: Whether the critic analyses before it chooses.
        reference: Whether there is a reference story; without one the critic compares with the standard of a fine
            story as it knows it, one request a test, and the verdict counts for both orders.
        templates: A folder of your own instruction templates.

    Raises:
        UnknownChoiceError: If an option has a value that cannot be used.
        RubricError: If the file is no rubric.

    Source: the reference-based TTCW study, with the tests of Chakrabarty et al. 2024 (arXiv 2309.14556). Deviation: the
    study does not say how it asks without a reference; its wording of the instructions is not ours.
    """
    from genie_inspect.judges.critic import Critic, Instructions
    from genie_inspect.judges.rubrics import load_rubric
    from genie_inspect.scorers.critique import Critique
    from genie_inspect.scorers.critique_explanation import evidence, explained

    tests = load_rubric(rubric)
    instructions = Instructions.load(levels, analyse=analyse, reference=reference, folder=templates)
    if not 2 - levels <= cutoff <= levels - 1:
        raise UnknownChoiceError("cutoff", cutoff, f"{2 - levels} to {levels - 1} with levels={levels}")

    async def score(state: TaskState, target: Target) -> Score:
        critic, text = Critic(grader("ttcw", replaceable=False), instructions), state.output.completion
        facts = {
            "signature": signature(
                "ttcw",
                judge=critic.signature,
                rubric=f"{tests.name}@{tests.digest}",
                levels=str(levels),
                analyse=str(analyse).lower(),
                reference=str(reference).lower(),
                stories=str(state.metadata.get("references", "unknown")),
                cutoff=str(cutoff),
            ),
            "judge": critic.signature,
        }
        reason = unusable(state) or (NO_REFERENCE if reference and not target.text.strip() else "")
        if reason:
            return unscored(tests.keys, reason, f"Not scored: {reason}.", text, facts)
        try:
            comparisons = await critic.compare(text, target.text if reference else None, tests.tests)
        except GraderFailedError as error:
            return unscored(tests.keys, "grader_failed", f"Not scored: {error}", text, facts)
        found = Critique(tests, tuple(comparisons), cutoff)
        return Score(
            value=dict(found.value),
            answer=text,
            explanation=explained(found, text, target.text if reference else ""),
            reason=None if found.judged else "invalid_response_format",
            metadata=evidence(found, **facts),
        )

    return score
