"""How many requests one story's fourteen tests take on a vLLM server, and how much of them its prefix cache serves.

    VLLM_BASE_URL=http://127.0.0.1:8123/v1 python benchmarks/ttcw_vllm.py tiny

Candidate and reference are the two bundled stories, so that nothing but the tests is measured; replies are held to the
labels. Beside the way in which the critic asks stand two others: the aspect before the stories, and all requests at
once, without the first test going ahead. Nobody else may use the server meanwhile.
"""

import argparse
import os
import re
import time
import urllib.request
import uuid
from collections.abc import Sequence
from functools import partial

import anyio
from inspect_ai.model import GenerateConfig, get_model

from genie_inspect.graders.cache import Verdict
from genie_inspect.graders.critic import Critic, Judgement, orders_of
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.rubrics import Instructions, Test, load_rubric
from genie_inspect.populations.stories import reference_stories

COUNTERS = {
    "requests": "request_success_total",
    "prompt": "prefix_cache_queries_total",
    "hits": "prefix_cache_hits_total",
    "written": "generation_tokens_total",
}


class AspectFirst(Critic):
    """Asks with the aspect before the stories."""

    async def _attempt(self, request: tuple[str, str], settings: GenerateConfig) -> Verdict:
        shown, aspect = request
        return await super()._attempt((aspect, shown), settings)


class AllAtOnce(Critic):
    """Asks all tests together."""

    async def compare(self, candidate: str, reference: str | None, tests: Sequence[Test]) -> list[Judgement]:
        """One judgement a test, in order."""
        orders = orders_of(candidate, reference)
        return await gathered(*(self._compare(orders, test) for test in tests))


WAYS = {"stories first (as it is)": Critic, "all at once": AllAtOnce, "aspect first": AspectFirst}


def counters(server: str) -> dict[str, float]:
    """The server's counters so far."""
    with urllib.request.urlopen(f"{server}/metrics", timeout=10) as reply:
        text = reply.read().decode()
    return {
        name: sum(map(float, re.findall(rf"^vllm:{metric}\{{[^\n]*\}} (\S+)$", text, re.MULTILINE)))
        for name, metric in COUNTERS.items()
    }


async def measured(server: str, model: str, way: type[Critic], *, analyse: bool) -> str:
    """One row of the table."""
    critic = way(get_model(f"vllm/{model}", base_url=f"{server}/v1"), Instructions.load(analyse=analyse))
    # what the cache has seen in an earlier row must not help this one
    reference, candidate = (f"{uuid.uuid4()} {story.story}" for story in reference_stories("bundled"))
    before, start = counters(server), time.perf_counter()
    found = await critic.compare(candidate, reference, load_rubric("ttcw").tests)
    seconds = time.perf_counter() - start
    used = {name: value - before[name] for name, value in counters(server).items()}
    judged, hits = sum(judgement.is_judged for judgement in found), used["hits"] / used["prompt"]
    return (
        f"{judged} of {len(found)} | {used['requests']:.0f} | {used['prompt']:,.0f} | {hits:.0%} | "
        f"{used['written']:,.0f} | {seconds:.1f}"
    )


def main() -> None:
    """Print a row for each way of asking."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="tiny")
    model = parser.parse_args().model
    server = os.environ.get("VLLM_BASE_URL", "").removesuffix("/v1")
    if not server:
        print("skipped: no VLLM_BASE_URL")
        return
    print("| replies | request | tests judged | requests | prompt tokens | from the cache | tokens written | seconds |")
    print("|:--|:--|--:|--:|--:|--:|--:|--:|")
    for replies, analyse in (("label alone", False), ("analysis and label", True)):
        for name, way in WAYS.items():
            row = anyio.run(partial(measured, server, model, way, analyse=analyse))
            print(f"| {replies} | {name} | {row} |")


if __name__ == "__main__":
    main()
