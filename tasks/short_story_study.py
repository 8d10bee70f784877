"""A study with its settings frozen: short stories on the starter population's prompts, as published.

    inspect eval tasks/short_story_study.py --model openai/gpt-4o-mini --model-role grader=openai/gpt-4o

Copy this file, change what you study, and commit it beside your results.
"""

from inspect_ai import Task, task, task_with
from inspect_ai.model import GenerateConfig

from genie_inspect.tasks.synthetic_prompts import synthetic_prompts


@task
def short_story_study(judge: str = "pairwise", cache: bool = True) -> Task:
    """Five stories a prompt at T 0.7, judged pair by pair as the study does."""
    study = synthetic_prompts(population="starter", judge=judge, cache=cache)
    return task_with(study, epochs=5, config=GenerateConfig(temperature=0.7, top_p=0.9, max_tokens=750))
