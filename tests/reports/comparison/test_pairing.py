"""Which documents of two runs are pairs, and what stands on either side."""

import math

import pytest
from tests.reports.made_runs import made_run

from genie_inspect.logs.evidence import Evidence
from genie_inspect.logs.files import LogError
from genie_inspect.logs.scored_log import ScoredDocument
from genie_inspect.logs.scores import Scores
from genie_inspect.reports.comparison.pairing import paired

NAN = math.nan


def document(prompt: str, text: str, plot: float, earlier: str = "", used: int = 1, **more: float) -> ScoredDocument:
    """A document of a prompt, with a plot and perhaps other keys."""
    evidence = Evidence(coverage={"plot": (used, 4)})
    scores = {"genie": Scores({"plot": plot} | more, evidence=evidence), "echo": Scores({"echo": plot / 2})}
    return ScoredDocument(text, 1, prompt, text, 1, scores, earlier=earlier)


MORE = {"genie": Scores({"plot": 0.9, "agent": 0.1}), "echo": Scores({"echo": 0.45, "tail": 0.2})}
BASE = made_run(
    document("a", "a1", 0.1),
    document("b", "b1", 0.3, used=2),
    document("a", "a2", 0.2),
    ScoredDocument("c1", 1, "c", "c1", 1, MORE),
)


def test_prompts_that_both_have_are_paired_by_their_means_in_the_order_of_the_baseline() -> None:
    other = made_run(
        document("b", "x", 0.5, used=4),
        document("d", "y", 0.9),
        document("a", "z", 0.6, style=0.7),
        document("a", "w", 0.8),
    )
    found = paired(BASE, other, ["echo", "genie"])
    assert (found.by, found.strays, found.instances) == ("prompt", 0, (None,) * 5)
    # by scorer as they were asked for, then by key as the scores have them, the baseline's first
    keys = {"echo": ("echo", "tail"), "genie": ("plot", "agent", "style")}
    assert found.keys == tuple((scorer, key) for scorer, own in keys.items() for key in own)
    assert list(found.before) == [
        pytest.approx((0.075, NAN, 0.15, NAN, NAN), nan_ok=True),
        pytest.approx((0.15, NAN, 0.3, NAN, NAN), nan_ok=True),
    ]
    assert list(found.after) == [
        pytest.approx((0.35, NAN, 0.7, NAN, 0.7), nan_ok=True),
        pytest.approx((0.25, NAN, 0.5, NAN, NAN), nan_ok=True),
    ]
    # over the paired documents: a1, a2 and b1; z, w and x
    before, after = found.evidence["genie"]
    assert (before.coverage, after.coverage) == ({"plot": (4, 12)}, {"plot": (6, 12)})
    assert found.evidence["echo"] == (Evidence(), Evidence())


def test_documents_that_were_each_written_after_one_of_the_baseline_are_paired_with_it() -> None:
    other = made_run(
        document("b", "x", 0.5, earlier="b1"),
        document("a", "y", 0.6, earlier="a2"),
        document("a", "z", NAN, earlier="a1", style=0.5),
    )
    found = paired(BASE, other, ["genie"])
    assert (found.by, found.strays) == ("instance", 0)
    assert [key for _, key in found.keys] == ["plot", "agent", "style"]
    # a1 has no partner with a plot, and so does not count
    assert list(found.before) == [
        pytest.approx((0.3, NAN, NAN), nan_ok=True),
        pytest.approx((0.2, NAN, NAN), nan_ok=True),
    ]
    assert list(found.after) == [
        pytest.approx((0.5, NAN, NAN), nan_ok=True),
        pytest.approx((0.6, NAN, NAN), nan_ok=True),
    ]
    assert found.instances == (2, 0, 0)
    assert [part.coverage for part in found.evidence["genie"]] == [{"plot": (4, 12)}, {"plot": (3, 12)}]


@pytest.mark.parametrize(
    ("earlier", "prompt", "strays"),
    [("c9", "c", 1), ("", "c", 0), ("a1", "c", 1)],
    ids=["unknown", "none", "elsewhere"],
)
def test_one_document_without_its_partner_leaves_prompts_paired(earlier: str, prompt: str, strays: int) -> None:
    other = made_run(document("b", "x", 0.5, earlier="b1"), document(prompt, "y", 0.6, earlier=earlier))
    found = paired(BASE, other, ["genie"])
    assert (found.by, found.strays, found.instances) == ("prompt", strays, (None, None))


def test_a_document_without_any_score_needs_no_partner_and_one_with_some_score_does() -> None:
    silent = ScoredDocument("s", 1, "c", "s", 1, {"genie": Scores({"plot": NAN}), "echo": Scores({})}, earlier="c9")
    half = ScoredDocument("s", 1, "c", "s", 1, {"genie": Scores({"plot": NAN}), "echo": Scores({"echo": 1})})
    other = document("b", "x", 0.5, earlier="b1")
    assert paired(BASE, made_run(other, silent), ["genie"]).by == "instance"
    assert paired(BASE, made_run(other, half), ["genie"]).by == "prompt"


def test_a_documents_partner_is_the_text_that_stood_in_the_baseline() -> None:
    # the baseline's own first drafts are no documents of it
    base = made_run(document("a", "final", 0.2, earlier="draft"), document("a", "other", 0.4))
    assert paired(base, made_run(document("a", "x", 0.5, earlier="draft")), ["genie"]).by == "prompt"
    assert paired(base, made_run(document("a", "x", 0.5, earlier="final")), ["genie"]).before == ((0.2,),)


def test_without_a_common_prompt_both_logs_are_named_with_their_first() -> None:
    with pytest.raises(LogError) as caught:
        paired(BASE, made_run(document("d", "x", 0.5), label="other"), ["genie"])
    assert str(caught.value) == "run.eval and other.eval share no prompt: the first has 'a', the second 'd'"
    with pytest.raises(LogError, match="the first has 'a', the second 'none'"):
        paired(BASE, made_run(), ["genie"])
