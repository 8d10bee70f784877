"""How long a study takes on an engine, from its tokens: a small model of reading, writing and requests in flight.

An engine reads tokens at one rate and writes them at another, both of all its requests together, and one after the
other: it takes the sum. Where every request takes some seconds whatever it holds, as over a network, no more than the
connections are under way at a time; the slower of the two counts. This package prepares and takes what is asked, in
one process: its own seconds come on top, since replies that come together are taken one after the other while nothing
new is asked. Left out: the start of an engine, the last requests of a run, which no longer fill it, and long contexts,
in which each token costs more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from genie_inspect.asking.cost import Cost
from genie_inspect.costs.engines import Engine
from genie_inspect.costs.estimate import TaskCost
from genie_inspect.errors import GenieError

HOUR = 3_600.0
CALL_SECONDS, PAIR_SECONDS = 0.0008, 0.00008
"""Of one core, for a request and for each of its pairs: measured by benchmarks/judging.py and benchmarks/scale.py."""
TOKENS, FLIGHT, OURS, WINDOW = "tokens", "requests in flight", "this process", "its terms"
ROUNDS = 2
"""Of files: what is judged are the answers that a reading brings."""
STEPS = ("reading", "population", "rating")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a study takes on an engine."""

    engine: Engine
    seconds: Mapping[str, float]
    """By step; nothing where only a round as a whole has a limit."""
    wall: float
    """Seconds."""
    bound: str
    """What sets the pace of most of them."""
    money: float | None = None
    """Where there is a price."""

    @property
    def gpu_hours(self) -> float:
        """Of all GPUs together; 0 where they are somebody else's."""
        return gpu_hours(self.wall, self.engine)


def gpu_hours(seconds: float, engine: Engine) -> float:
    """Hours of all GPUs together."""
    return seconds / HOUR * engine.all_gpus


def steps(task: TaskCost) -> list[tuple[Cost, float]]:
    """What each step asks, in the order of `STEPS`, and the pairs that it judges."""
    return [(getattr(task, step), task.judged if step == "rating" else 0.0) for step in STEPS]


def step_seconds(cost: Cost, pairs: float, engine: Engine) -> dict[str, float]:
    """Seconds of a step by what they go to.

    Args:
        cost: What is asked.
        pairs: Pairs that are judged by it.
        engine: Who is asked.
    """
    tokens = token_seconds(cost, engine)
    flight = cost.calls * engine.latency / engine.connections if engine.connections else 0.0
    theirs = {FLIGHT: flight} if flight > tokens else {TOKENS: tokens}
    return theirs | {OURS: cost.calls * CALL_SECONDS + pairs * PAIR_SECONDS}


def token_seconds(cost: Cost, engine: Engine) -> float:
    """Seconds in which an engine reads and writes; 0 where nothing says how fast it does."""
    if not (engine.prefill and engine.decode):
        return 0.0
    read = cost.tokens_in * (1 - engine.cached) / engine.prefill
    return (read + cost.tokens_out / engine.decode) / engine.copies


def plan(task: TaskCost, engine: Engine, prices: tuple[float, float] | None, gpu_hour: float | None = None) -> Plan:
    """What a study takes on an engine.

    Args:
        task: What it asks.
        engine: Who is asked.
        prices: Of a million tokens in and out, where somebody else's engine bills them.
        gpu_hour: Of an hour of one GPU.

    Raises:
        GenieError: If nothing says how fast the engine is.
    """
    billed = task.total.money(*prices) * engine.price_share if prices else None
    if engine.window:
        rounds = ROUNDS if task.rating.calls else 1
        return Plan(engine, {}, engine.window * HOUR * rounds, WINDOW, billed)
    if not (engine.prefill and engine.decode) and not (engine.latency and engine.connections):
        raise GenieError(
            f"engine {engine.name} has neither a window nor both prefill and decode, nor both latency and connections: "
            "nothing says how fast it is"
        )
    parts = {step: step_seconds(*asked, engine) for step, asked in zip(STEPS, steps(task), strict=True)}
    seconds = {step: sum(part.values()) for step, part in parts.items()}
    longest = parts[max(seconds, key=lambda step: seconds[step])]
    bound, wall = max(longest, key=lambda name: longest[name]), sum(seconds.values())
    rented = None if gpu_hour is None else gpu_hour * gpu_hours(wall, engine)
    return Plan(engine, seconds, wall, bound, rented if engine.gpus else billed)


def as_measured(engine: Engine, runs: Sequence[tuple[Cost, float]], source: str) -> Engine:
    """The engine with both of its rates scaled so that a copy of it takes the seconds that runs took.

    Args:
        engine: One that reads and writes at some rate.
        runs: What each asked, and its seconds.
        source: What the runs are.

    Raises:
        GenieError: If the engine has no rates, or the runs have no tokens or no time.
    """
    if not (engine.prefill and engine.decode):
        raise GenieError(f"engine {engine.name} has no prefill and decode that a log could scale: give both")
    expected = sum(token_seconds(cost, engine) for cost, _ in runs) * engine.copies
    took = sum(seconds for _, seconds in runs)
    if not (expected and took):
        raise GenieError(f"{source} has no tokens or no time: nothing says how fast its engine was")
    scale = expected / took
    return engine.told(f"measured: {source}", prefill=engine.prefill * scale, decode=engine.decode * scale)
