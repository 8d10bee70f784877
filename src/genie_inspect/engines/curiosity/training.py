"""One way of training for both parts of the curiosity model: AdamW, a rate that rises and falls as a cosine."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from genie_inspect.engines.curiosity.settings import LoraSettings
from genie_inspect.engines.failures import engine_failures

if TYPE_CHECKING:
    import torch

RowT = TypeVar("RowT")


def train(
    parameters: Sequence[Any],
    rows: Sequence[RowT],
    loss_of: Callable[[Sequence[RowT]], "torch.Tensor"],
    settings: LoraSettings,
) -> list[float]:
    """Train parameters in place.

    Args:
        parameters: Torch's.
        rows: What a batch is made of.
        loss_of: Mean loss of a batch.
        settings: Epochs, batches and rate.

    Returns:
        The mean loss of each step.
    """
    import torch

    group = settings.batch * settings.accumulation
    steps = settings.epochs * math.ceil(len(rows) / group)
    optimizer = torch.optim.AdamW(parameters, lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step, steps, settings.warmup))
    generator = torch.Generator().manual_seed(settings.seed)
    losses = []
    for _ in range(settings.epochs):
        order = torch.randperm(len(rows), generator=generator).tolist()
        for start in range(0, len(rows), group):
            losses.append(_step([rows[index] for index in order[start : start + group]], loss_of, settings.batch))
            torch.nn.utils.clip_grad_norm_(parameters, settings.clip)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    return losses


def _step(rows: Sequence[RowT], loss_of: Callable[[Sequence[RowT]], "torch.Tensor"], size: int) -> float:
    """Gradients of the mean loss over some rows, which are read in batches."""
    total = 0.0
    for start in range(0, len(rows), size):
        batch = rows[start : start + size]
        # the last batch may be smaller: each row counts alike
        loss = loss_of(batch) * len(batch) / len(rows)
        with engine_failures("training"):
            loss.backward()
        total += loss.item()
    return total


def rate(step: int, steps: int, warmup: float) -> float:
    """Share of the learning rate at a step: rises to 1 over the warm-up, then falls to 0 as half a cosine.

    >>> [round(rate(step, 10, 0.2), 2) for step in (0, 1, 2, 6, 10)]
    [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    rising = math.ceil(steps * warmup)
    if step < rising:
        return (step + 1) / rising
    return (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising))) / 2
