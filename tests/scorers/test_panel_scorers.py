"""Cosine, compression, Creativity Index and partition through real evaluations on a small population."""

import json
import math
import re
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
from inspect_ai.scorer import SampleScore, Score, Scorer
from tests.measures.test_partition import prose
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

from genie_inspect.engines.corpora import CopiedRun, Copies
from genie_inspect.engines.embedders import embedder
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.measures.compression import compression_novelty, compression_ratio
from genie_inspect.measures.infinity_gram import log_perplexity, novel_share
from genie_inspect.measures.partition import Classes
from genie_inspect.measures.tokens import tokens
from genie_inspect.populations.population import Population
from genie_inspect.prompting.fence import unfenced
from genie_inspect.scorers.compression import ALONE
from genie_inspect.scorers.compression import compression as compression_scorer
from genie_inspect.scorers.compression import compression_ratio as compression_metric
from genie_inspect.scorers.cosine import UNKNOWN_WORDS
from genie_inspect.scorers.cosine import cosine as cosine_scorer
from genie_inspect.scorers.cosine import measurement as cosine_measurement
from genie_inspect.scorers.creativity_index import KEYS as CREATIVITY_KEYS
from genie_inspect.scorers.creativity_index import creativity_index as creativity_scorer
from genie_inspect.scorers.creativity_index import measurement as creativity_measurement
from genie_inspect.scorers.expression_novelty import KEYS as EXPRESSION_KEYS
from genie_inspect.scorers.expression_novelty import NOTHING, expression_novelty
from genie_inspect.scorers.partition import SHOWN
from genie_inspect.scorers.partition import measurement as partition_measurement
from genie_inspect.scorers.partition import partition as partition_scorer

STORY = "A brown owl counted the trains."


@pytest.fixture
def population(tmp_path: Path) -> Population:
    return small_population(tmp_path / "population")


def made(name: str, population: Population) -> Scorer:
    folder = str(population.folder)
    return {
        "cosine": lambda: cosine_scorer(folder),
        "compression": lambda: compression_scorer(folder),
        "creativity_index": lambda: creativity_scorer(folder),
        "expression_novelty": lambda: expression_novelty(folder),
        "partition": lambda: partition_scorer(folder, "embedded"),
    }[name]()


def scored(name: str, population: Population, text: str, tmp_path: Path) -> Score:
    log = evaluated(made(name, population), saying(text), None, tmp_path)
    (score,) = scores(log, name)
    return score


def test_a_text_that_the_embedder_cannot_read_has_no_distance(population: Population, tmp_path: Path) -> None:
    assert not np.any(embedder().embed(["\U00012000"]))
    score = scored("cosine", population, "\U00012000", tmp_path)
    assert score.reason == "the embedder static knows 0% of its letters (Cuneiform): it was made for English"
    assert is_unscored(score)


def turns(ordered: list[str], text: str) -> tuple[float, float]:
    """What a text adds in the place of each document, and what that document adds, both as means."""
    others = [[*ordered[:place], *ordered[place + 1 :]] for place in range(len(ordered))]
    added = fmean(compression_novelty(rest, text) for rest in others)
    return added, fmean(compression_novelty(rest, own) for rest, own in zip(others, ordered, strict=True))


@pytest.mark.parametrize("codec", ["gzip", "xz", "zstd"])
@pytest.mark.parametrize("size", [2, 3, 6, 12])
def test_documents_like_those_of_the_population_are_at_0_whatever_its_size(
    size: int, codec: str, tmp_path: Path
) -> None:
    # of 24 documents written alike, the first are the population and eight others are scored
    told = [prose(seed, 200) for seed in range(24)]
    like = small_population(tmp_path / "population", documents={OWL: told[:size]})
    measure = compression_scorer(str(like.folder), codec)
    log = evaluated(measure, saying(*told[16:]), None, tmp_path, epochs=8, max_samples=1)
    found = [values(score)["compression_novelty"] for score in scores(log, "compression")]
    assert abs(fmean(found)) < 2 * stdev(found) / math.sqrt(8) + 5e-4


def test_against_one_document_compression_says_nothing(tmp_path: Path) -> None:
    alone = small_population(tmp_path / "population", documents={OWL: [DOCUMENTS[OWL][0]]})
    score = scored("compression", alone, STORY, tmp_path)
    assert math.isnan(values(score)["compression_novelty"])
    assert score.reason == ALONE


def test_beside_compression_stands_the_ratio_of_all_generations(population: Population, tmp_path: Path) -> None:
    told = ["A brown owl counted the trains.", "An owl ate the clock.", "Owls, owls, owls."]
    log = evaluated(compression_scorer(str(population.folder)), saying(*told), None, tmp_path, epochs=3, max_samples=1)
    assert log.results
    metrics = {name: metric for score in log.results.scores for name, metric in score.metrics.items()}
    assert metrics["compression_ratio"].value == compression_ratio(sorted(told))
    # Inspect's tables make columns of them
    assert not [name for name in metrics if "/" in name]


def test_creativity_index_shows_what_is_copied_and_from_where(population: Population, tmp_path: Path) -> None:
    source = population.documents(OWL)[2]
    score = scored("creativity_index", population, f"Truly: {source.text} It ran.", tmp_path)
    # ten tokens: Truly : Old owl on a clock . It ran . (the source's are six, its end included)
    assert values(score)["creativity_index_5"] == pytest.approx(1 - 6 / 11, abs=5e-4)
    assert values(score)["creativity_index_7"] == 1
    assert values(score)["creativity_index_mean"] == pytest.approx((2 * (1 - 6 / 11) + 6) / 8, abs=5e-4)
    assert f"| Old owl on a clock. | 6 | {source.id}, from token 1 |" in (score.explanation or "")


def test_a_folder_of_texts_is_a_corpus(population: Population, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "owls.txt").write_text("Nobody saw: a brown owl counted the trains.")
    scorer = creativity_scorer(str(population.folder), corpus=str(tmp_path / "corpus"))
    (score,) = scores(
        evaluated(scorer, saying("It was a brown owl counted the trains."), None, tmp_path), "creativity_index"
    )
    assert "owls.txt, from token 4" in (score.explanation or "")
    assert score.metadata
    assert re.search(r"\|corpus:folder\(corpus\)@[0-9a-f]{12}\|", score.metadata["signature"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"corpus": "nowhere"}, "corpus is 'nowhere', expected population, a folder of texts"),
        ({"corpus": "infini-gram:http://127.0.0.1:9/"}, "expected infini-gram:<service url>#<index>"),
        ({"corpus": "infini-gram:http:///"}, "address cannot be read, expected http://<host>"),
        ({"corpus": "infini-gram:HTTP://me:PW@host/"}, "belong in ~/.netrc"),
        ({"corpus": "infini-gram:http://me:PW/x@host/#v4"}, "belong in ~/.netrc"),
        ({"corpus": "infini-gram:http://host/?key=PW#v4"}, "belong in ~/.netrc"),
        ({"corpus": "http://me:PW@host/#v4"}, "corpus is 'http://host/', expected population"),
        ({"corpus": "infinigram:http://host/?key=PW"}, "corpus is 'infinigram:http://host/', expected population"),
        (
            {"corpus": "infini-gram:https://host/"},
            "corpus is 'infini-gram:https://host/', expected infini-gram:<service url>#<index>",
        ),
        ({"corpus": "infini-gram:x", "matcher": "near"}, "looks up exact runs only"),
    ],
)
def test_what_is_no_corpus_or_matcher_is_refused_in_one_line(options: dict[str, str], message: str) -> None:
    with pytest.raises(PrerequisiteError, match=message) as caught:
        creativity_scorer(**options)
    assert "PW" not in str(caught.value)


def test_a_service_that_does_not_answer_is_refused_when_the_scorer_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.requests.FIRST_WAIT", 0.001)
    with pytest.raises(PrerequisiteError, match="look-up failed: ConnectError"):
        creativity_scorer(corpus="infini-gram:http://127.0.0.1:9/#v4_test")


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
    ("story", "novel", "share"),
    [("Grey owl, late.", 0.0, 1 - 1 / 3), ("Brown owl counting.", 1.0, 1.0)],
)
def test_partition_asks_the_grader_and_says_how_rare_the_class_is(
    story: str, novel: float, share: float, population: Population, tmp_path: Path
) -> None:
    grader = Script(same_animal)
    log = evaluated(partition_scorer(str(population.folder)), saying(story), grader, tmp_path)
    (score,) = scores(log, "partition")
    assert values(score) == {"partition_novel": novel, "partition_share": pytest.approx(share, abs=5e-4)}
    # two calls partition three documents, one places the story: each compares with every class at most once
    assert sorted(len(data["other_replies"]) for data in grader.data) == [1, 2, 3]
    assert score.metadata
    assert "equivalence:grader(mockllm/model" in score.metadata["signature"]


def test_the_population_is_partitioned_once_for_all_samples(population: Population, tmp_path: Path) -> None:
    grader = Script(same_animal)
    evaluated(partition_scorer(str(population.folder)), saying("Brown owl."), grader, tmp_path, epochs=4)
    assert len(grader.requests) == 2 + 4


def test_documents_without_a_class_are_in_no_share(population: Population, tmp_path: Path) -> None:
    grader = Script(lambda request: "Hm." if unfenced(request)["reply"].startswith("Old") else same_animal(request))
    log = evaluated(partition_scorer(str(population.folder)), saying("Grey owl, late."), grader, tmp_path)
    (score,) = scores(log, "partition")
    # of three documents two have a class, one of them that of the story
    assert values(score) == {"partition_novel": 0.0, "partition_share": 1 - 1 / 2}
    assert "1 more could not be put in a class" in (score.explanation or "")


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

    log = evaluated(
        partition_scorer(str(population.folder)), saying(STORY), Script(moody), tmp_path, epochs=2, max_samples=1
    )
    assert sorted(values(score)["partition_novel"] for score in scores(log, "partition")) == [0.0, 1.0]


def test_where_the_embedder_can_read_nothing_of_the_population_there_is_no_distance(tmp_path: Path) -> None:
    unreadable = small_population(tmp_path / "unreadable", documents={OWL: ("\U00012000", "\U00012001 \U00012002")})
    score = scored("cosine", unreadable, STORY, tmp_path)
    assert score.reason == UNKNOWN_WORDS
    assert is_unscored(score)


def test_compression_shows_what_the_document_and_what_the_populations_own_add(
    population: Population, tmp_path: Path
) -> None:
    ordered = [document.text for document in sorted(population.documents(OWL), key=lambda document: document.id)]
    added, members = turns(ordered, STORY)
    score = scored("compression", population, STORY, tmp_path)
    assert f"(gzip) falls by {added:.4f} with the document" in (score.explanation or "")
    assert f"and by {members:.4f} with that one itself" in (score.explanation or "")
    metadata = score.metadata or {}
    assert (metadata["added"], metadata["members"]) == (added, members)


@pytest.mark.parametrize("codec", ["gzip", "xz"])
def test_the_ratio_of_all_generations_does_not_depend_on_which_came_first_and_silence_counts_as_nothing(
    codec: str,
) -> None:
    told = [
        "So the owl by the clock counted, so the owl counted.",
        "Down by the clock the owl counted all the trains that stopped",
        "a brown owl by the clock counted the trains.",
    ]
    given = [SampleScore(score=Score(value=0.0, answer=text)) for text in (told[0], None, told[1], told[2])]
    ratio: Any = compression_metric(codec)
    expected = compression_ratio(sorted(["", *told]), codec)
    assert expected != compression_ratio([told[0], "", *told[1:]], codec), "the order makes a difference"
    assert ratio(given) == ratio(given[::-1]) == expected


def runs(*lengths: int) -> tuple[CopiedRun, ...]:
    return tuple(CopiedRun(f"run of {length} " * 20, length, f"d-{length}, from token 4") for length in lengths)


def test_a_text_without_copied_runs_is_its_own_at_every_length() -> None:
    found = creativity_measurement(Copies([0, 4, 3, 2, 1], ()))
    assert list(found.value) == list(CREATIVITY_KEYS)
    assert found.value == {key: 8.0 if key.endswith("sum") else 1.0 for key in CREATIVITY_KEYS}
    # the shortest run that counts has five tokens
    assert found.explanation == "No run of 5 or more of its 5 tokens stands in the corpus."
    assert found.metadata == {"tokens": 5, "runs": 0, "longest": [], "left_out_of_corpus": []}


def test_the_longest_runs_are_shown_three_in_the_log_and_ten_to_a_reader() -> None:
    found = creativity_measurement(Copies([5] * 40, runs(*range(5, 17)), left_out=("d-0",)))
    assert found.metadata["tokens"] == 40
    assert found.metadata["runs"] == 12
    assert found.metadata["left_out_of_corpus"] == ["d-0"]
    longest = [(run["tokens"], run["where"]) for run in found.metadata["longest"]]
    assert longest == [(length, f"d-{length}, from token 4") for length in (16, 15, 14)]
    assert {len(run["words"]) for run in found.metadata["longest"]} == {160}
    lines = found.explanation.splitlines()
    assert lines[0] == "| copied words | tokens | where |"
    assert [line.split(" | ")[1] for line in lines[2:12]] == [str(length) for length in range(16, 6, -1)]
    assert lines[13] == "12 runs of 5 or more tokens stand in the corpus."


def test_the_mean_and_the_nearest_distance_are_told_with_the_nearest_document() -> None:
    vectors = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]])
    found = cosine_measurement(np.array([0.6, 0.8]), ["d-a", "d*b", "d-c"], vectors)
    # cosines 0.6, 1 and -0.6
    assert found.value["cosine_mean"] == (0.4 + 0 + 1.6) / 3
    assert abs(found.value["cosine_nearest"]) < 1e-12
    assert found.metadata == {"nearest": "d*b"}
    apart = cosine_measurement(np.array([0.8, 0.6]), ["d-a", "d*b", "d-c"], vectors)
    # 1 less 0.8, 0.96 and -0.8; shown with three digits, and markup as text
    assert apart.explanation == "Mean cosine distance 0.680; nearest is d\\*b at 0.040."


def classes(*labels: int | None) -> Classes[str]:
    """Documents of these classes; None could not be put in one."""
    made: Classes[str] = Classes()
    for place, label in enumerate(labels):
        if label is None:
            made.labels.append(None)
        else:
            made.labels.append(label)
            if label == len(made.founders):
                made.founders.append(f"text {place}")
    return made


def ids(count: int) -> list[str]:
    return [f"d-{place}" for place in range(count)]


def test_a_document_shares_its_class_with_its_members_of_those_that_have_one() -> None:
    new = partition_measurement(2, classes(0, 1), ids(2))
    assert new.value == {"partition_novel": 1.0, "partition_share": 1.0}
    assert new.explanation.endswith("this one is a class of its own.")
    found = partition_measurement(0, classes(0, 1, 0, None), ids(4))
    assert found.value == {"partition_novel": 0.0, "partition_share": 1 - 2 / 3}
    assert found.metadata == {"classes": 2, "undecided": 1, "class": 0, "members": ["d-0", "d-2"]}
    assert found.explanation == (
        "Classes among 3 documents of the population: 2; this one is in one class with 2 of them, such as d-0. "
        "1 more could not be put in a class and do not count."
    )


def test_of_a_large_class_twenty_members_are_kept() -> None:
    assert SHOWN == 20
    assert partition_measurement(0, classes(*[0] * 25), ids(25)).metadata["members"] == ids(20)


def test_what_cannot_be_told_is_not_measured_and_says_why() -> None:
    unread = partition_measurement(None, classes(0), ids(1))
    assert unread.value == {}
    assert unread.reason == "the judge's replies could not be read"
    alone = partition_measurement(0, classes(None, None), ids(2))
    assert alone.reason == "no document of the population has a class"
    assert alone.metadata["undecided"] == 2


def test_near_verbatim_runs_of_the_populations_documents_are_copied_too(tmp_path: Path) -> None:
    told = {OWL: ("and the boat came to the harbour in the morning",)}
    folder, text = str(small_population(tmp_path, told, {}).folder), "the boats came to the harbours in the morning"
    for matcher, index in (("exact", 1), ("near", 0)):
        log = evaluated(creativity_scorer(folder, matcher=matcher), saying(text), None, tmp_path)
        assert values(scores(log, "creativity_index")[0])["creativity_index_5"] == index


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
    log = evaluated(expression_novelty(str(tales.folder), **options), saying(text), None, tmp_path)
    (score,) = scores(log, "expression_novelty")
    return score


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
    assert [line.split(" | ")[0][2:].replace("\\", "") for line in lines] == [row["text"] for row in order]
    known = next(row for row in order if row["novel_share"] == 0)
    assert f"| {known['text']} | {known['log_perplexity']:.2f} | 0% |" in lines
    assert "2 of 3 expressions have 15% or more novel n-grams." in (score.explanation or "")
    long = expressed(tales, " ".join(f"the sky {number} sang." for number in range(30)), tmp_path)
    assert "The 20 least likely of 30. 30 of 30 expressions" in (long.explanation or "")


def test_a_capital_at_the_head_makes_nothing_new_unless_case_is_kept(tales: Population, tmp_path: Path) -> None:
    text = "Snow began to fall on it."
    either, kept = expressed(tales, text, tmp_path), expressed(tales, text, tmp_path, case="kept")
    assert (values(either)["novel_expression_share"], values(kept)["novel_expression_share"]) == (0, 1)
    assert values(either)["log_perplexity_mean"] < values(kept)["log_perplexity_mean"]
    # neither "I" nor a word of capitals is made small
    for text in ("I SLEPT", "NASA slept"):
        (row,) = rows(expressed(tales, text, tmp_path))
        assert row["log_perplexity"] == pytest.approx(log_perplexity(text.split(), [tokens(told) for told in TOLD]))


def test_expressions_are_looked_up_in_a_folder_of_texts(tales: Population, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "sky.txt").write_text("Somebody came, and unbuttoned the sky.")
    score = expressed(tales, "They came and unbuttoned the sky.", tmp_path, corpus=str(tmp_path / "corpus"))
    assert rows(score)[0]["novel_share"] == 1 / 6
    assert "|corpus:folder(corpus)@" in metadata(score)["signature"]


@pytest.mark.parametrize("text", ["Hush!", "Yes, no; maybe.", "月。"])
def test_a_text_without_expressions_is_unscored_with_the_reason(tales: Population, tmp_path: Path, text: str) -> None:
    score = expressed(tales, text, tmp_path)
    assert score.reason == NOTHING == "no expression of two words or more"
    assert tuple(values(score)) == EXPRESSION_KEYS
    assert is_unscored(score)
