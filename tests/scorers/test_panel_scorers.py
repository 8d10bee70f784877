"""Cosine, compression, Creativity Index and partition through real evaluations on a small population."""

import json
import math
import re
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
from inspect_ai.scorer import Score, Scorer
from tests import scripted
from tests.engines.servers import EmbeddingServer, serving
from tests.measures.test_genie import prose
from tests.scripted import (
    DOCUMENTS,
    OWL,
    Script,
    evaluated,
    is_unscored,
    metadata,
    saying,
    scores,
    small_population,
    values,
)

from genie_inspect import compression, cosine, creativity_index, expression_novelty, partition
from genie_inspect.engines.embedders import cosine_distances, embedder
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.measures.compression import compression_novelty, compression_ratio
from genie_inspect.measures.infinity_gram import log_perplexity, novel_share
from genie_inspect.measures.tokens import tokens
from genie_inspect.populations.population import Population
from genie_inspect.prompting.templates import unfenced
from genie_inspect.scorers.compression import ALONE
from genie_inspect.scorers.cosine import UNKNOWN_WORDS
from genie_inspect.scorers.creativity_index import KEYS as CREATIVITY_KEYS
from genie_inspect.scorers.expression_novelty import KEYS as EXPRESSION_KEYS
from genie_inspect.scorers.expression_novelty import NOTHING

STORY = "A brown owl counted the trains."


def scored(made: Scorer, text: str, tmp_path: Path, grader: Script | None = None) -> Score:
    return scripted.scored(made, saying(text), grader, tmp_path)


def test_no_text_is_embedded_again_by_a_later_run(
    population: Population, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(EmbeddingServer(vector=lambda text: (len(text) + 1.0, float(text.count("e"))))) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        for _run in range(2):
            scored(cosine(str(population.folder), embedder="openai/tiny"), STORY, tmp_path)
    assert sorted(served.texts) == sorted([STORY, *DOCUMENTS[OWL]])


def test_a_text_or_a_population_that_the_embedder_cannot_read_has_no_distance(
    population: Population, tmp_path: Path
) -> None:
    assert not np.any(embedder().embed(["\U00012000"]))
    unreadable = small_population(tmp_path / "unreadable", documents={OWL: ("\U00012000", "\U00012001 \U00012002")})
    unknown = "the embedder static knows 0% of its letters (Cuneiform): it was made for English"
    for folder, text, reason in (
        (population.folder, "\U00012000", unknown), (unreadable.folder, STORY, UNKNOWN_WORDS)
    ):  # fmt: skip
        score = scored(cosine(str(folder)), text, tmp_path)
        assert score.reason == reason
        assert is_unscored(score)


def turns(ordered: list[str], text: str) -> tuple[float, float]:
    """What a text adds in the place of each document, and what that document adds, both as means."""
    others = [[*ordered[:place], *ordered[place + 1 :]] for place in range(len(ordered))]
    added = fmean(compression_novelty(rest, text) for rest in others)
    return added, fmean(compression_novelty(rest, own) for rest, own in zip(others, ordered, strict=True))


@pytest.mark.parametrize(("size", "codec"), [(2, "xz"), (12, "gzip"), (12, "zstd")])
def test_documents_like_those_of_the_population_are_at_0_whatever_its_size(
    size: int, codec: str, tmp_path: Path
) -> None:
    # of 24 documents written alike, the first are the population and eight others are scored
    told = [prose(seed, 200) for seed in range(24)]
    like = small_population(tmp_path / "population", documents={OWL: told[:size]})
    measure = compression(str(like.folder), codec)
    log = evaluated(measure, saying(*told[16:]), None, tmp_path, epochs=8, max_samples=1)
    found = [values(score)["compression_novelty"] for score in scores(log, "compression")]
    assert abs(fmean(found)) < 2 * stdev(found) / math.sqrt(8) + 5e-4


def test_against_one_document_compression_says_nothing(tmp_path: Path) -> None:
    alone = small_population(tmp_path / "population", documents={OWL: [DOCUMENTS[OWL][0]]})
    score = scored(compression(str(alone.folder)), STORY, tmp_path)
    assert math.isnan(values(score)["compression_novelty"])
    assert score.reason == ALONE


def test_creativity_index_shows_what_is_copied_and_from_where(population: Population, tmp_path: Path) -> None:
    source = population.documents(OWL)[2]
    score = scored(creativity_index(str(population.folder)), f"Truly: {source.text} It ran.", tmp_path)
    # ten tokens: Truly : Old owl on a clock . It ran . (the source's are six, its end included)
    assert values(score)["creativity_index_5"] == pytest.approx(1 - 6 / 11, abs=5e-4)
    assert values(score)["creativity_index_7"] == 1
    assert values(score)["creativity_index_mean"] == pytest.approx((2 * (1 - 6 / 11) + 6) / 8, abs=5e-4)
    assert f"| Old owl on a clock. | 6 | {source.id}, from token 1 |" in (score.explanation or "")


def test_a_folder_of_texts_is_a_corpus(population: Population, tmp_path: Path) -> None:
    (corpus := tmp_path / "corpus").mkdir()
    (corpus / "owls.txt").write_text("Nobody saw: a brown owl counted the trains.")
    text = "It was a brown owl counted the trains."
    copied, new = (
        scored(made(str(population.folder), corpus=str(corpus)), text, tmp_path)
        for made in (creativity_index, expression_novelty)
    )
    assert "owls.txt, from token 4" in (copied.explanation or "")
    # of eight words two, "It was", stand nowhere in it
    assert rows(new)[0]["novel_share"] == 2 / 8
    for score in (copied, new):
        assert re.search(r"\|corpus:folder\(corpus\)@[0-9a-f]{12}\|", metadata(score)["signature"])


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ("nowhere", "corpus is 'nowhere', expected population, a folder of texts"),
        ("infini-gram:http://127.0.0.1:9/", "expected infini-gram:<service url>#<index>"),
        ("infini-gram:http:///", "address cannot be read, expected http://<host>"),
        ("infini-gram:HTTP://me:PW@host/", "belong in ~/.netrc"),
        ("infini-gram:http://me:PW/x@host/#v4", "belong in ~/.netrc"),
        ("infini-gram:http://host/?key=PW#v4", "belong in ~/.netrc"),
        ("http://me:PW@host/#v4", "corpus is 'http://host/', expected population"),
        ("infinigram:http://host/?key=PW", "corpus is 'infinigram:http://host/', expected population"),
        ("infini-gram:https://host/", "corpus is 'infini-gram:https://host/', expected infini-gram:<service url>#<ind"),
        # one that does not answer is refused when the scorer is made
        ("infini-gram:http://127.0.0.1:9/#v4_test", "look-up failed: ConnectError"),
    ],
)
def test_what_is_no_corpus_is_refused_in_one_line(corpus: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.requests.FIRST_WAIT", 0.001)
    with pytest.raises(PrerequisiteError, match=message) as caught:
        creativity_index(corpus=corpus)
    assert "PW" not in str(caught.value)
    with pytest.raises(PrerequisiteError, match="looks up exact runs only"):
        creativity_index(corpus="infini-gram:x", matcher="near")


def same_animal(request: str) -> str:
    """A grader to whom stories of owls of one colour are the same."""
    data = unfenced(request)
    colour = data["reply"].split()[0]
    return json.dumps(
        {
            number: "same" if other.split()[0] == colour else "different"
            for number, other in data["other_replies"].items()
        }
    )


@pytest.mark.parametrize(
    ("story", "novel", "share"), [("Grey owl, late.", 0.0, 1 - 1 / 3), ("Brown owl counting.", 1.0, 1.0)]
)
def test_partition_asks_the_grader_and_says_how_rare_the_class_is(
    story: str, novel: float, share: float, population: Population, tmp_path: Path
) -> None:
    grader = Script(same_animal)
    score = scored(partition(str(population.folder)), story, tmp_path, grader)
    assert values(score) == {"partition_novel": novel, "partition_share": pytest.approx(share, abs=5e-4)}
    # two calls partition three documents, one places the story: each compares with every class at most once
    assert sorted(len(data["other_replies"]) for data in grader.data) == [1, 2, 3]
    assert "equivalence:grader(mockllm/model" in metadata(score)["signature"]


def test_the_population_is_partitioned_once_for_all_samples(population: Population, tmp_path: Path) -> None:
    grader = Script(same_animal)
    evaluated(partition(str(population.folder)), saying("Brown owl."), grader, tmp_path, epochs=4)
    assert len(grader.requests) == 2 + 4


def test_documents_without_a_class_are_in_no_share(population: Population, tmp_path: Path) -> None:
    (grey,) = [document for document in population.documents(OWL) if document.text.startswith("Grey")]
    unread = ("Old", "Hm?")
    grader = Script(lambda request: "Hm." if unfenced(request)["reply"].startswith(unread) else same_animal(request))
    log = evaluated(partition(str(population.folder)), saying("Grey owl, late.", "Hm?"), grader, tmp_path, epochs=2)
    score, undecided = sorted(scores(log, "partition"), key=lambda score: score.answer or "")
    # of three documents two have a class, one of them that of the story
    assert values(score) == {"partition_novel": 0.0, "partition_share": 1 - 1 / 2}
    assert metadata(score)["members"] == [grey.id]
    assert (metadata(score)["classes"], metadata(score)["undecided"]) == (2, 1)
    assert (score.explanation or "").startswith(
        "Classes among 2 documents of the population: 2; this one is in one class with 1 of them, such as "
        f"{grey.id}. 1 more could not be put in a class and do not count."
    )
    assert undecided.reason == "the judge's replies could not be read"
    assert is_unscored(undecided)


def test_a_grader_that_contradicts_itself_between_epochs_is_scored_as_it_said(
    population: Population, tmp_path: Path
) -> None:
    moods = iter(["different", "same"])

    def moody(request: str) -> str:
        data = unfenced(request)
        if data["reply"] != STORY:
            return same_animal(request)
        mood = next(moods)
        return json.dumps(dict.fromkeys(data["other_replies"], mood))

    log = evaluated(partition(str(population.folder)), saying(STORY), Script(moody), tmp_path, epochs=2, max_samples=1)
    assert sorted(values(score)["partition_novel"] for score in scores(log, "partition")) == [0.0, 1.0]


def test_compression_shows_what_the_document_and_what_the_populations_own_add(
    population: Population, tmp_path: Path
) -> None:
    ordered = [document.text for document in sorted(population.documents(OWL), key=lambda document: document.id)]
    added, members = turns(ordered, STORY)
    score = scored(compression(str(population.folder)), STORY, tmp_path)
    assert f"(gzip) falls by {added:.4f} with the document" in (score.explanation or "")
    assert f"and by {members:.4f} with that one itself" in (score.explanation or "")
    metadata = score.metadata or {}
    assert (metadata["added"], metadata["members"]) == (added, members)


def test_beside_compression_stands_the_ratio_of_all_generations_whichever_came_first_silence_counting_as_nothing(
    population: Population, tmp_path: Path
) -> None:
    told = [
        "So the owl by the clock counted, so the owl counted.",
        "",
        "Down by the clock the owl counted all the trains that stopped",
        "a brown owl by the clock counted the trains.",
    ]
    expected = compression_ratio(sorted(told))
    assert expected != compression_ratio(told), "the order makes a difference"
    for texts in (told, told[::-1]):
        log = evaluated(compression(str(population.folder)), saying(*texts), None, tmp_path, epochs=4, max_samples=1)
        assert log.results
        metrics = {name: metric for score in log.results.scores for name, metric in score.metrics.items()}
        assert metrics["compression_ratio"].value == expected
        # Inspect's tables make columns of them
        assert not [name for name in metrics if "/" in name]


def test_a_text_without_copied_runs_is_its_own_at_every_length(population: Population, tmp_path: Path) -> None:
    # the shortest run that counts has five tokens, and "owl on a clock" has four
    score = scored(creativity_index(str(population.folder)), "An owl on a clock", tmp_path)
    assert values(score) == {key: 8.0 if key.endswith("sum") else 1.0 for key in CREATIVITY_KEYS}
    assert (score.explanation or "").startswith("No run of 5 or more of its 5 tokens is in the corpus.")
    facts = {"tokens": 5, "runs": 0, "longest": [], "left_out_of_corpus": []}
    assert facts.items() <= metadata(score).items()


def test_the_longest_runs_are_shown_three_in_the_log_and_ten_to_a_reader(tmp_path: Path) -> None:
    copied = [" ".join(f"anunlikelyword{size}x{place}" for place in range(size)) for size in range(5, 17)]
    population = small_population(tmp_path / "population", documents={OWL: copied})
    ids = {document.text: document.id for document in population.documents(OWL)}
    score = scored(creativity_index(str(population.folder)), ". ".join(copied), tmp_path)
    facts = metadata(score)
    assert (facts["runs"], facts["tokens"]) == (12, sum(range(5, 17)) + 11)
    assert facts["longest"] == [
        {"words": text[:160], "tokens": len(text.split()), "where": f"{ids[text]}, from token 1"}
        for text in (copied[-1], copied[-2], copied[-3])
    ]
    lines = (score.explanation or "").splitlines()
    assert lines[0] == "| copied words | tokens | where |"
    assert [line.split(" | ")[1] for line in lines[2:12]] == [str(length) for length in range(16, 6, -1)]
    assert lines[13] == "12 runs of 5 or more tokens are in the corpus."
    own = scored(creativity_index(str(population.folder)), copied[3], tmp_path)
    assert (metadata(own)["left_out_of_corpus"], metadata(own)["runs"]) == ([ids[copied[3]]], 0)


def test_the_mean_and_the_nearest_distance_are_told_with_the_nearest_document(
    population: Population, tmp_path: Path
) -> None:
    ordered = sorted(population.documents(OWL), key=lambda document: document.id)
    target, *vectors = embedder().embed([STORY, *(document.text for document in ordered)])
    apart = cosine_distances(target, vectors)
    score = scored(cosine(str(population.folder)), STORY, tmp_path)
    mean, least = apart.mean(), apart.min()
    assert values(score) == pytest.approx({"cosine_mean": mean, "cosine_nearest": least}, abs=5e-4)
    nearest = ordered[apart.argmin()].id
    assert metadata(score)["nearest"] == nearest
    assert f"Mean cosine distance {mean:.3f}; nearest is {nearest} at {least:.3f}." in (score.explanation or "")


def test_of_a_large_class_twenty_members_are_kept(tmp_path: Path) -> None:
    many = small_population(tmp_path / "many", documents={OWL: [f"Grey owl {number}." for number in range(25)]})
    facts = metadata(scored(partition(str(many.folder)), "Grey owl.", tmp_path, Script(same_animal)))
    assert facts["members"] == sorted(document.id for document in many.documents(OWL))[:20]
    assert (facts["classes"], facts["class"], facts["undecided"]) == (1, 0, 0)


def test_near_verbatim_runs_of_the_populations_documents_are_copied_too(tmp_path: Path) -> None:
    told = {OWL: ("and the boat came to the harbour in the morning",)}
    folder, text = str(small_population(tmp_path, told, {}).folder), "the boats came to the harbours in the morning"
    for matcher, index in (("exact", 1), ("near", 0)):
        score = scored(creativity_index(folder, matcher=matcher), text, tmp_path)
        assert values(score)["creativity_index_5"] == index


TOLD = (
    "The grey owl flew over the barns and slept until the morning came.",
    "A white owl sat in the snow, and the snow began to fall on it.",
    "An old owl lived on a clock; nobody heard it when the clock struck.",
)


TALE = "The grey owl flew over the barns. The “old owl” sat in the snow — and unbuttoned the sky. Hush!"


@pytest.fixture
def tales(tmp_path: Path) -> Population:
    return small_population(tmp_path / "population", documents={OWL: TOLD})


def expressed(tales: Population, text: str, tmp_path: Path, **options: Any) -> Score:
    return scored(expression_novelty(str(tales.folder), **options), text, tmp_path)


def rows(score: Score) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = metadata(score)["expressions"]
    return found


def test_every_expression_has_a_row_and_the_values_are_made_of_the_rows(tales: Population, tmp_path: Path) -> None:
    score = expressed(tales, TALE, tmp_path)
    found = rows(score)
    assert [row["text"] for row in found] == [
        "The grey owl flew over the barns", 'The "old owl" sat in the snow', "and unbuttoned the sky"
    ]  # fmt: skip
    assert [TALE[row["start"] : row["end"]] for row in found] == [
        "The grey owl flew over the barns", "The “old owl” sat in the snow", "and unbuttoned the sky"
    ]  # fmt: skip
    corpus = [tokens(text) for text in TOLD]
    for row in found:
        forms = [tokens(text) for text in (row["text"], row["text"].replace("The", "the", 1))]
        assert row["log_perplexity"] == pytest.approx(min(log_perplexity(form, corpus) for form in forms))
        assert row["novel_share"] == pytest.approx(min(novel_share(form, corpus) for form in forms))
    mean = sum(row["log_perplexity"] for row in found) / 3
    # the first stands in the population as it is; of the others a quotation mark and "unbuttoned" do not
    assert [row["novel_share"] >= 0.15 for row in found] == [False, True, True]
    assert values(score) == {
        "log_perplexity_mean": pytest.approx(mean, abs=5e-3), "novel_expression_share": pytest.approx(2 / 3, abs=5e-4)
    }  # fmt: skip


def test_the_explanation_lists_expressions_by_perplexity_with_their_share_of_novel_ngrams(
    tales: Population, tmp_path: Path
) -> None:
    score = expressed(tales, TALE, tmp_path)
    lines = [line for line in (score.explanation or "").splitlines() if line.startswith("| ")][1:]
    order = sorted(rows(score), key=lambda row: -row["log_perplexity"])
    assert [line.split(" | ")[2][:-2].replace("\\", "") for line in lines] == [row["text"] for row in order]
    assert len({line.index(" | ", 20) for line in lines}) == 1, "figures stand under each other"
    known = next(row for row in order if row["novel_share"] == 0)
    assert f"| {known['log_perplexity']:14.2f} |            0% | {known['text']} |" in lines
    assert "2 of 3 expressions have 15% or more novel n-grams." in (score.explanation or "")
    long = expressed(tales, " ".join(f"the sky {number} sang." for number in range(30)), tmp_path)
    assert "The 20 least likely of 30. 30 of 30 expressions" in (long.explanation or "")
    # one new word of nine is not enough
    mild = expressed(tales, "The grey owl flew over the barns and unbuttoned.", tmp_path)
    assert 0 < rows(mild)[0]["novel_share"] < 0.15
    assert values(mild)["novel_expression_share"] == 0


def test_a_capital_at_the_head_makes_nothing_new_unless_case_is_kept(tales: Population, tmp_path: Path) -> None:
    text = "Snow began to fall on it."
    either, kept = expressed(tales, text, tmp_path), expressed(tales, text, tmp_path, case="kept")
    assert (values(either)["novel_expression_share"], values(kept)["novel_expression_share"]) == (0, 1)
    assert values(either)["log_perplexity_mean"] < values(kept)["log_perplexity_mean"]
    # neither "I" nor a word of capitals is made small
    for text in ("I SLEPT", "NASA slept"):
        (row,) = rows(expressed(tales, text, tmp_path))
        assert row["log_perplexity"] == pytest.approx(log_perplexity(text.split(), [tokens(told) for told in TOLD]))


@pytest.mark.parametrize("text", ["Hush!", "Yes, no; maybe.", "月。"])
def test_a_text_without_expressions_is_unscored_with_the_reason(tales: Population, tmp_path: Path, text: str) -> None:
    score = expressed(tales, text, tmp_path)
    assert score.reason == NOTHING == "no expression of two words or more"
    assert tuple(values(score)) == EXPRESSION_KEYS
    assert is_unscored(score)
