"""Who is held out together: single votes, as the study has it, or whole plots."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.votes import VotesError
from genie_inspect.engines.curiosity.votes import ExplainedVote

SHOWN = 3  # copies that an error names
Folds = NDArray[np.intp]
"""The fold of each vote, from 0."""


def by_rows(votes: Sequence[ExplainedVote], folds: int, seed: int = 0) -> Folds:
    """Single votes, as many yes in each fold as in the others: a story stands in several folds.

    Raises:
        VotesError: If there are fewer yes, or fewer no, than folds.
    """
    verdicts = np.array([vote.verdict for vote in votes])
    fold_of = np.empty(len(votes), dtype=np.intp)
    generator = np.random.default_rng(seed)
    for verdict, name in ((True, "yes"), (False, "no")):
        places = np.flatnonzero(verdicts == verdict)
        if len(places) < folds:
            raise VotesError(
                f"{len(places)} of {len(votes)} votes say {name}, expected at least {folds}, one for each fold"
            )
        fold_of[generator.permutation(places)] = np.arange(len(places)) % folds
    return fold_of


def by_plots(votes: Sequence[ExplainedVote], folds: int, seed: int = 0) -> Folds:
    """Whole plots, each dealt to the fold that has the fewest yes so far, those with many yes first.

    Raises:
        VotesError: If there are fewer plots than folds, a fold holds no yes, or stories of two plots have one text.
    """
    _check_copies(votes)
    plots = sorted({vote.plot for vote in votes})
    if len(plots) < folds:
        raise VotesError(f"{len(plots)} plots, expected at least {folds}, one for each fold: ask for fewer folds")
    yes = {plot: sum(vote.verdict for vote in votes if vote.plot == plot) for plot in plots}
    shuffled = [plots[index] for index in np.random.default_rng(seed).permutation(len(plots))]
    dealt: list[list[str]] = [[] for _ in range(folds)]
    for plot in sorted(shuffled, key=lambda plot: -yes[plot]):
        # by yes, then by size, so that plots without a yes are spread as well
        min(dealt, key=lambda fold: (sum(yes[name] for name in fold), len(fold))).append(plot)
    for number, fold in enumerate(dealt, start=1):
        if not sum(yes[plot] for plot in fold):
            raise VotesError(
                f"fold {number} of {folds} (plots {', '.join(fold) or 'none'}) holds no yes: ask for fewer folds"
            )
    fold_of = {plot: number for number, fold in enumerate(dealt) for plot in fold}
    return np.array([fold_of[vote.plot] for vote in votes], dtype=np.intp)


def _check_copies(votes: Sequence[ExplainedVote]) -> None:
    """Refuse a text that stands under two plots: held out with one of them, it would be learnt with the other."""
    first: dict[str, ExplainedVote] = {}
    copies: dict[str, str] = {}
    for vote in votes:
        # whatever its case and spacing
        original = first.setdefault(" ".join(vote.text.casefold().split()), vote)
        if original.plot != vote.plot:
            copies[vote.story] = f"{vote.story!r} (plot {vote.plot!r}) of {original.story!r} (plot {original.plot!r})"
    if copies:
        named = ", ".join(list(copies.values())[:SHOWN]) + (", ..." if len(copies) > SHOWN else "")
        raise VotesError(
            f"{len(copies)} stories are copies of a story of another plot, expected each text under one plot (give "
            f"copies one plot): {named}"
        )
