"""Does a way of asking make a model less predictable? Baseline and every strategy, one task each.

    inspect eval-set tasks/prompting_methods.py --model openai/gpt-4o-mini --model-role grader=openai/gpt-4o \
        --log-dir logs/grid
    genie compare logs/grid --baseline grid_baseline --keys perspective,plot --family run

Three strategies by six features are 18 tests, of which none can hold with the starter's 8 prompts: name the features
that you test before you look, and let each strategy be a question of its own.

Copy this file, change what you study, and commit it beside your results.
"""

from inspect_ai import Task, task, task_with
from inspect_ai.solver import Solver, generate

from genie_inspect.solvers.prompting_methods import negative_sampling, outline, verbalized_sampling
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts


def _asked(solver: Solver, population: str, judge: str, cache: bool) -> Task:
    return task_with(synthetic_prompts(population, judge, cache=cache), solver=solver)


@task
def grid_baseline(population: str = "starter", judge: str = "list", cache: bool = True) -> Task:
    """The prompt as it is."""
    return _asked(generate(), population, judge, cache)


@task
def grid_verbalized_sampling(population: str = "starter", judge: str = "list", cache: bool = True) -> Task:
    """Five answers with their probabilities in one reply, one of them at random."""
    return _asked(verbalized_sampling(k=5), population, judge, cache)


@task
def grid_outline(population: str = "starter", judge: str = "list", cache: bool = True) -> Task:
    """A plan in four parts, then the story."""
    return _asked(outline(), population, judge, cache)


@task
def grid_negative_sampling(population: str = "starter", judge: str = "list", cache: bool = True) -> Task:
    """A story, then one unlike it."""
    return _asked(negative_sampling(rounds=1), population, judge, cache)
