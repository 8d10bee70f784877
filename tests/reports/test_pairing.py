"""Which documents of two runs are pairs, and what stands on either side."""

import math
import re
from dataclasses import replace

import pytest
from tests.reports.made_logs import made_run

from genie_inspect.logs.evidence import Evidence
from genie_inspect.logs.files import LogError
from genie_inspect.logs.reading import ScoredDocument, ScoredLog
from genie_inspect.logs.scores import LEFT_OUT, Scores
from genie_inspect.reports.pairing import Options, baselines, paired, selected

NAN = math.nan


def document(prompt: str, text: str, plot: float, earlier: str = "", used: int = 1, **more: float) -> ScoredDocument:
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
    assert (found.by, found.strays, found.prompts, found.instances) == ("prompt", 0, 4, (None,) * 5)
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
    assert list(found.before) == [pytest.approx((plot, NAN, NAN), nan_ok=True) for plot in (0.3, 0.2)]
    assert list(found.after) == [pytest.approx((plot, NAN, NAN), nan_ok=True) for plot in (0.5, 0.6)]
    assert found.instances == (2, 0, 0)
    assert [part.coverage for part in found.evidence["genie"]] == [{"plot": (4, 12)}, {"plot": (3, 12)}]


def test_one_document_without_its_partner_leaves_prompts_paired_unless_it_has_no_score() -> None:
    # unknown, none, and elsewhere
    for earlier, strays in (("c9", 1), ("", 0), ("a1", 1)):
        other = made_run(document("b", "x", 0.5, earlier="b1"), document("c", "y", 0.6, earlier=earlier))
        found = paired(BASE, other, ["genie"])
        assert (found.by, found.strays, found.instances) == ("prompt", strays, (None, None))
    silent = ScoredDocument("s", 1, "c", "s", 1, {"genie": Scores({"plot": NAN}), "echo": Scores({})}, earlier="c9")
    half = ScoredDocument("s", 1, "c", "s", 1, {"genie": Scores({"plot": NAN}), "echo": Scores({"echo": 1})})
    partnered = document("b", "x", 0.5, earlier="b1")
    assert paired(BASE, made_run(partnered, silent), ["genie"]).by == "instance"
    assert paired(BASE, made_run(partnered, half), ["genie"]).by == "prompt"
    # the baseline's own first drafts are no documents of it
    base = made_run(document("a", "final", 0.2, earlier="draft"), document("a", "other", 0.4))
    assert paired(base, made_run(document("a", "x", 0.5, earlier="draft")), ["genie"]).by == "prompt"
    assert paired(base, made_run(document("a", "x", 0.5, earlier="final")), ["genie"]).before == ((0.2,),)


def test_without_a_common_prompt_both_logs_are_named_with_their_first() -> None:
    for other, first in ((made_run(document("d", "x", 0.5)), "d"), (made_run(), "none")):
        with pytest.raises(LogError, match=f"run.eval and run.eval share no prompt: .* 'a', the second '{first}'"):
            paired(BASE, other, ["genie"])


def told(prompt: str, text: str, **plot: float) -> ScoredDocument:
    """A document whose plot is the mean over the questions that it answered; NaN where one was not used."""
    used = [value for value in plot.values() if not math.isnan(value)]
    scores = {"genie": Scores({"plot": sum(used) / len(used)}, questions={"plot": plot})}
    return ScoredDocument(text, 1, prompt, text, 1, scores)


def test_differences_are_over_the_questions_that_both_sides_answered() -> None:
    # nothing changed, but the least novel question was lost: .5 against .7
    base, run = made_run(told("a", "x", p=0.2, q=0.6, r=0.8)), made_run(told("a", "y", p=NAN, q=0.6, r=0.8))
    found = paired(base, run, ["genie"])
    assert (found.before[0][0], found.after[0][0]) == pytest.approx((0.7, 0.7))
    assert found.questions == ((2, 3),)
    # a question that one of a prompt's documents answered counts by that one
    base = made_run(told("a", "x", p=0.2, q=0.6), told("a", "y", p=NAN, q=0.8))
    found = paired(base, made_run(told("a", "z", p=0.4, q=0.6)), ["genie"])
    # before: p .2, q .7, where the two documents have (.4 + .8) / 2
    assert (found.before[0][0], found.after[0][0]) == pytest.approx((0.45, 0.5))
    assert found.questions == ((2, 2),)
    # a prompt without a common question is no pair
    found = paired(made_run(told("a", "x", p=0.2, q=NAN)), made_run(told("a", "y", p=NAN, q=0.8)), ["genie"])
    assert math.isnan(found.before[0][0])
    assert found.questions == ((0, 2),)


def test_questions_are_counted_prompt_by_prompt_and_only_where_every_document_has_its_table() -> None:
    base = made_run(told("a", "x", p=0.2, q=0.6), told("b", "y", p=0.2, q=0.4), document("c", "z", 0.5))
    run = made_run(told("a", "u", p=0.3, q=0.7), told("b", "v", p=0.2, q=NAN), told("c", "w", p=0.3))
    found = paired(base, run, ["genie"])
    assert [row[0] for row in found.before] == pytest.approx([0.4, 0.2, 0.5])
    assert [row[0] for row in found.after] == pytest.approx([0.5, 0.2, 0.3])
    assert found.questions == ((3, 4),)


def test_documents_in_pairs_have_questions_of_their_own_in_common() -> None:
    base = made_run(told("a", "x", p=0.2, q=0.6), told("a", "y", p=NAN, q=0.8))
    chained = [replace(told("a", "u", p=0.4, q=0.6), earlier="x"), replace(told("a", "v", p=0.1, q=0.8), earlier="y")]
    found = paired(base, made_run(*chained), ["genie"])
    # .4 to .5, and by q alone .8 to .8
    assert (found.by, found.questions) == ("instance", ((3, 4),))
    assert (found.before[0][0], found.after[0][0]) == pytest.approx((0.6, 0.65))


def selection_document(
    words: int = 6, population: float = 6, coherence: float | None = 3, value: float = 0.9
) -> ScoredDocument:
    """A document with a score, a score against documents of like length, and perhaps a rating."""
    scores = {"genie": Scores({"plot": value}, matched={"plot": 0.4}, population_words=population)}
    if coherence is not None:
        scores["coherence"] = Scores({"coherence_rating": coherence})
    return ScoredDocument("x", 1, "prompt", "digest", words, scores)


def test_a_document_is_kept_from_the_least_coherence_on_and_with_its_matched_score_where_lengths_are_alike() -> None:
    # its score stays what it was where lengths are not matched
    ratings = {3.0: 0.9, 2.9: NAN, NAN: NAN, None: NAN}
    # a band of 6 / 1.5 to 6 * 1.5 words
    lengths = {(4, 6): 0.4, (9, 6): 0.4, (3, 6): NAN, (10, 6): NAN, (90, NAN): 0.4}
    for options, documents in (
        (Options(min_coherence=3), [(selection_document(coherence=own), value) for own, value in ratings.items()]),
        (Options(length_matched=True), [(selection_document(*own), value) for own, value in lengths.items()]),
    ):
        for document, value in documents:
            found, left_out = selected(made_run(document, selection_document(coherence=5)), options)
            first, last = found.documents
            assert first.value("genie", "plot") == pytest.approx(value, nan_ok=True)
            assert first.why_unscored("genie") == (LEFT_OUT if math.isnan(value) else "")
            assert last.value("genie", "plot") in {0.9, 0.4}
            assert left_out == math.isnan(value)


def test_what_the_selection_asks_for_must_stand_in_the_log() -> None:
    with pytest.raises(LogError, match=r"^run.eval has no coherence, rate it with: inspect score run.eval --scorer "):
        selected(made_run(selection_document(coherence=None)), Options(min_coherence=3))
    with pytest.raises(LogError, match=r"^run.eval does not say how long the population's documents are\. Score it"):
        selected(made_run(selection_document(population=NAN)), Options(length_matched=True))
    # of a log without any score nobody expects it, and of one document it is enough
    silent = made_run(selection_document(population=NAN, value=NAN, coherence=NAN))
    some = made_run(selection_document(population=NAN), selection_document())
    assert [selected(one, Options(length_matched=True))[1] for one in (silent, some)] == [0, 0]


def run(label: str, model: str, strategy: str) -> ScoredLog:
    return made_run(label=label, model=model, strategy=strategy, folder="folder/")


RUNS = (run("plain a", "m/a", "generate"), run("outlined a", "m/a", "outline"), run("outlined b", "m/b", "outline"))


def test_a_run_is_named_by_label_strategy_model_or_file() -> None:
    for name, place in (("plain a", 0), ("generate", 0), ("m/b", 2), ("folder/outlined a.eval", 1)):
        assert baselines(RUNS, name) == {other: place for other in range(3) if other != place}
    assert baselines(RUNS, "outlined a.eval") == {0: 1, 2: 1}


def test_of_several_baselines_each_run_has_that_of_its_model_and_two_that_decode_as_one_that_of_the_second() -> None:
    assert baselines((*RUNS, run("plain b", "m/b", "generate")), "generate") == {1: 0, 2: 3}
    plain = (run("plain a", "m/a", "generate"), run("plain b", "m/b", "generate"))
    assert baselines([*plain, run("both", "conformative/base+b", "generate both")], "generate") == {2: 1}


LABELS, WAY_OUT = "; ".join(run.label for run in RUNS), "name one of these, or a log file"
AGAIN = (*RUNS[:2], run("again a", "m/a", "outline"), RUNS[2])


@pytest.mark.parametrize(
    ("runs", "name", "said"),
    [
        (RUNS, "plan", f"baseline is 'plan', expected one of: {LABELS}"),
        # a task is a name too
        (RUNS, "made", f"baseline 'made' names every log, expected another to compare with it: {LABELS}"),
        # two, none of them its own model's: all are named
        (RUNS, "m/a", "the baseline of outlined b is not clear, it could be plain a; outlined a: " + WAY_OUT),
        # of several only those of its own model
        (AGAIN, "outline", "the baseline of plain a is not clear, it could be outlined a; again a: " + WAY_OUT),
    ],
)
def test_a_name_that_leaves_it_open_is_refused_with_those_that_there_are(
    runs: tuple[ScoredLog, ...], name: str, said: str
) -> None:
    with pytest.raises(LogError, match=f"^{re.escape(said)}$"):
        baselines(runs, name)
