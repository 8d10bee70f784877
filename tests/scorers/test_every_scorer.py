"""What holds of every scorer, in each of its settings: keys, signature, reasons, text that stays text, metrics."""

import inspect
import json
import math
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    ModelOutput,
)
from inspect_ai.scorer import SampleScore, Score, Scorer, Target
from inspect_ai.tool import ToolCall
from inspect_ai.util import registry_info
from markdown_it import MarkdownIt
from tests.every_scorer import COMPARING, EVERY_SCORER, MAKERS, NO_MEASURE, SCORERS, graded
from tests.left_out import rest_with_ci
from tests.scripted import (
    FEATURES,
    OWL,
    Script,
    evaluated,
    is_unscored,
    metadata,
    output,
    saying,
    scored,
    scores,
    small_population,
    values,
)
from tests.scripted import written as told

from genie_inspect.engines.embedders import embedder
from genie_inspect.graders.grader import PrerequisiteError, RefusedError
from genie_inspect.logs.measures import keys_to_test
from genie_inspect.logs.reading import ScoredLog
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.populations.writing import write_population
from genie_inspect.prompting.templates import unfenced
from genie_inspect.scorers.genie import UNKNOWN_PROMPT
from genie_inspect.scorers.outcome import ACCEPTED, NO_DOCUMENTS
from genie_inspect.signature import Signature
from genie_inspect.solvers.generations import generations

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # clients that Inspect and openai leave open
STORY = "A brown owl counted the trains that went by under the bridge all night."
HALF = "An owl \ud83d sat on a clock.\ude00 It struck."
UNKNOWN = "Write about a cod that cannot sleep. " * 10


def calling() -> ModelOutput:
    """A reply that is a tool call and no text."""
    made = output("")
    made.message.tool_calls = [ToolCall(id="1", function="search", arguments={"query": "owls"})]
    made.choices[0].stop_reason = "tool_calls"
    return made


def failing() -> ModelOutput:
    raise RuntimeError("the connection was lost")


def several() -> ModelOutput:
    made = output(STORY)
    made.choices = [*made.choices, *output("Another owl.").choices]
    return made


# by sample: what the model says, and why there is no document where there is none
REPLIES: Mapping[str, tuple[Callable[[], ModelOutput], str]] = {
    "failed": (failing, "generation failed"),
    "truncated": (lambda: output(STORY, "max_tokens"), ""),
    "empty": (lambda: output(""), "no_response"),
    "blank": (lambda: output(" \n"), "no_response"),
    "refused": (lambda: output("I cannot write that.", "content_filter"), "refusal"),
    "refused in words": (lambda: output("I’m sorry, but I can’t help with that."), "refusal"),
    "calling": (calling, "no_response"),
    "choices": (several, ""),
    "messages": (lambda: output(STORY), ""),
    **{sign: (partial(output, sign), "no_response") for sign in (".", "\u200b\u200b", "___", "…?! \u2014")},
}
MESSAGES: tuple[ChatMessage, ...] = (
    ChatMessageUser(content="Write about a train."),
    ChatMessageAssistant(content="A train came late."),
    ChatMessageUser(content=OWL),
)


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Population:
    return small_population(tmp_path_factory.mktemp("every") / "population")


def written(folder: Path, reply: Callable[[str], ModelOutput], *samples: Sample) -> EvalLog:
    """A log without scores, in which each sample has a reply to its last message."""
    return evaluated([], Script(reply), None, folder, samples, generations(2), fail_on_error=False)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """A log in which one sample failed, and others are as models sometimes leave them."""
    samples = [Sample(id=name, input=name, metadata={"prompt": OWL}) for name in REPLIES if name != "messages"]
    samples.append(Sample(id="messages", input=list(MESSAGES)))
    replies = {**REPLIES, OWL: REPLIES["messages"]}
    return written(tmp_path_factory.mktemp("logs"), lambda asked: replies[asked][0](), *samples)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """A log of a story to a prompt that the population has, and of one to a prompt that it lacks."""
    samples = [Sample(id=name, input=name, metadata={"prompt": name}) for name in (OWL, UNKNOWN)]
    told = cycle([STORY, "A red fox sang."])  # two replies that differ, for novelty_bench
    return written(tmp_path_factory.mktemp("story"), lambda asked: output(next(told)), *samples)


def rescored(log: EvalLog, scorer: Scorer, grader: Script) -> dict[str, Score]:
    roles = {"grader": grader.model()}
    done = score(log, scorer, model_roles=roles, action="overwrite", display="none")
    assert done.status == "success", done.error
    return {str(sample.id): next(iter((sample.scores or {}).values())) for sample in done.samples or []}


def assert_same_but_for_values(name: str, found: Mapping[str, Score]) -> None:
    """Hold scores of one scorer to what a log needs: the same keys, the scorer's signature, a prompt."""
    assert len({tuple(values(score)) for score in found.values()}) == 1
    for one in found.values():
        facts = one.metadata or {}
        assert facts["signature"].startswith(f"measure:{name.split()[0]}|")
        assert ("prompt" in facts) == (name != "coherence")
        assert one.explanation
    if name != "novelty_bench":  # whose signature says how many replies there are
        assert len({metadata(one)["signature"] for one in found.values()}) == 1


@EVERY_SCORER
def test_a_document_has_a_value_under_every_key_and_what_is_none_nan_and_a_reason(
    name: str, log: EvalLog, population: Population
) -> None:
    grader = Script(graded)
    found = rescored(log, SCORERS[name](str(population.folder)), grader)
    assert_same_but_for_values(name, found)
    measure, keys = name.split()[0], list(values(found["choices"]))
    by_measure = ScoredLog("", log, (), {measure: (Signature(metadata(found["choices"])["signature"]),)})
    assert keys_to_test(by_measure.declared(measure), keys) == tuple(keys if measure == "genie" else keys[:1])
    assert all(by_measure.known_range(measure, key) for key in keys if key != "compression_novelty")
    assert {sample: one.reason or "" for sample, one in found.items()} == {
        sample: reason for sample, (_, reason) in REPLIES.items()
    }
    for sample, (_, reason) in REPLIES.items():
        signature = Signature(metadata(found[sample])["signature"])
        for key, value in values(found[sample]).items():
            assert math.isnan(value) == bool(reason)
            low, high = ScoredLog("", log, (), {name: (signature,)}).known_range(name, key) or (-math.inf, math.inf)
            assert reason or low <= value <= high
        if reason:
            assert (found[sample].explanation or "").startswith("Not scored: ")
    assert all(found[sample].answer == STORY for sample in ("truncated", "choices", "messages"))


@EVERY_SCORER
def test_half_a_character_is_scored_as_its_replacement_and_reaches_no_grader(
    name: str, population: Population, tmp_path: Path
) -> None:
    grader = Script(graded)
    made = SCORERS[name](str(population.folder))
    one = scored(made, saying(HALF), grader, tmp_path, solver=generations(2))
    assert one.reason is None
    assert not any(map(math.isnan, values(one).values()))
    assert one.answer == "An owl \ufffd sat on a clock.\ufffd It struck."
    assert all("\ud83d" not in request and "\\ud83d" not in request for request in grader.requests)


def unreachable(request: str) -> str:
    raise ConnectionError("no route | <b>")


@pytest.mark.parametrize("reply", [unreachable, lambda request: "Lovely.", lambda request: request])
@EVERY_SCORER
def test_a_grader_that_fails_babbles_or_repeats_its_request_leaves_a_document_unscored_with_a_reason(
    name: str, reply: Callable[[str], str], story: EvalLog, population: Population
) -> None:
    grader = Script(reply)
    found = rescored(story, SCORERS[name](str(population.folder)), grader)
    assert_same_but_for_values(name, found)
    one, unknown = found[OWL], found[UNKNOWN]
    if not grader.requests:
        assert not any(map(math.isnan, values(one).values()))
    elif reply is unreachable:
        assert is_unscored(one)
        assert one.reason == "grader_failed"
        assert "ConnectionError: no route" in (one.explanation or "")
    elif name != "novelty_bench":  # of which the kinds are not known, and no reason is
        assert is_unscored(one)
        assert one.reason
    if name in COMPARING:
        assert unknown.reason == (UNKNOWN_PROMPT if name.startswith("genie") else NO_DOCUMENTS)
        assert is_unscored(unknown)
    if name != "coherence":
        assert metadata(unknown)["prompt"] == UNKNOWN.strip()[:159] + "…"


@pytest.mark.parametrize("name", COMPARING)
def test_a_text_of_the_population_is_left_out_of_its_own_comparison_whatever_was_scored_before(
    name: str, population: Population, tmp_path: Path
) -> None:
    own, scorer = population.documents(OWL)[1], name.split()[0]
    found = []
    for texts in ([f" {own.text}\n"], [STORY, f" {own.text}\n"]):
        made = SCORERS[name](str(population.folder))
        done = evaluated(made, saying(*texts), Script(graded), tmp_path, [OWL] * len(texts), max_samples=1)
        found.append(scores(done, scorer)[-1])
    alone, after = found
    assert alone.metadata
    assert (alone.metadata["left_out"], alone.metadata["documents"]) == ([own.id], 2)
    assert "it was left out" in (alone.explanation or "")
    assert (values(after), after.metadata, after.explanation) == (values(alone), alone.metadata, alone.explanation)


@pytest.mark.parametrize("name", COMPARING)
def test_a_population_that_lacks_documents_or_questions_is_refused_in_the_name_of_what_needs_them(
    name: str, tmp_path: Path
) -> None:
    folder = str(small_population(tmp_path / "answers", documents={}).folder)
    if name.startswith("genie"):
        bare = str(small_population(tmp_path / "documents", questions={}).folder)
        with pytest.raises(PrerequisiteError, match=r"^measure genie .* population small-1"):
            SCORERS[name](bare)
    if name.startswith("genie") and name != "genie offline":
        SCORERS[name](folder)
        return
    measure = "judge=offline" if name.startswith("genie") else f"measure {name.split()[0]}"
    with pytest.raises(PrerequisiteError, match=f"^{measure} compares with documents, and population small-1"):
        SCORERS[name](folder)


# by option a value that cannot be used, and what the line says that refuses it
REFUSED = {
    "population": ("nowhere", "is 'nowhere', expected abstracts, starter or a folder with population.json"),
    "embedder": (
        "word2vec",
        "is 'word2vec', expected static, openai/<model>[#<tokens that it reads>] or sentence-transformers/"
        "<hub id or folder>",
    ),
    "corpus": ("nowhere", f"is 'nowhere', expected {ACCEPTED}"),
    "equivalence": (
        "bert",
        "is 'bert', expected grader, embedding, classifier or classifier/<hub id or folder>",
    ),
    "templates": ("nowhere", "folder 'nowhere' does not exist, expected a folder of *.md files"),
    "examples": ("nowhere", "nowhere cannot be read: No such file or directory"),
}


@pytest.mark.parametrize(
    ("name", "option"),
    [
        (name, option)
        for name, made in MAKERS.items()
        for option in inspect.signature(made).parameters
        if option in REFUSED and name not in NO_MEASURE
    ],
)
def test_an_option_that_many_scorers_have_is_refused_by_each_in_one_line(name: str, option: str) -> None:
    value, said = REFUSED[option]
    with pytest.raises(RefusedError) as refused:
        MAKERS[name](**{option: value})
    assert str(refused.value).startswith(said if option == "examples" else f"{option} {said}")


# from where to where values go, as docs and reports say
RANGES: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "close_reading": {"*_per_100_words": (0, None)},
    "coherence": {"coherence_rating": (1, 5)},
    "compression": {},
    "cosine": {"cosine_*": (0, 2)},
    "creativity_index": {"creativity_index_mean": (0, 1), "creativity_index_sum": (0, 8), "creativity_index_*": (0, 1)},
    "expression_novelty": {"log_perplexity_mean": (0, None), "novel_expression_share": (0, 1)},
    "genie": {"plot": (0, 1), "*": (0, 1)},
    "litbench": {"litbench_win_rate": (0, 1), "litbench_order_bias": (-1, 1)},
    "novelty_bench": {"distinct": (1, "k"), "utility": (0, 10)},
    "partition": {"partition_*": (0, 1)},
    "ttcw": {"*_total": (0, None), "*": (0, 1)},
}


@EVERY_SCORER
def test_every_scorer_declares_what_it_means_and_shows_mean_error_and_interval_under_inspects_names(
    name: str, population: Population
) -> None:
    declared = registry_info(SCORERS[name](str(population.folder))).metadata
    assert declared["headline"]
    assert "igher is" in declared["meaning"]
    assert declared["meaning"].endswith(".")
    # nothing that reports do not read
    assert {"headline", "meaning"} <= declared.keys() <= {"headline", "meaning", "ranges", "metrics"}
    by_key = declared["metrics"] if isinstance(declared["metrics"], dict) else declared["metrics"][0]
    ranges = declared.get("ranges", {})
    assert ranges == RANGES.get(name.split()[0], ranges)
    # columns come in that order
    assert list(by_key) == list(dict.fromkeys([*ranges, "*"]) if name != "coherence" else ["*"])
    alone = [SampleScore(score=Score(value=0.5))]
    for own in by_key.values():
        assert [registry_info(metric).name for metric in own] == [
            f"inspect_ai/{one}" for one in ("mean", "stderr", "ci")
        ]
        assert math.isnan(own[1](alone))
        assert all(map(math.isnan, own[2](alone).values()))


MARKUP = (
    "![seen](http://127.0.0.1/seen.png) <img src=//127.0.0.1/seen> [l](//127.0.0.1/l) <http://127.0.0.1/a> "
    "**b** *i* `c` ~~s~~ <b>h</b> | x |\n\n# H\n\n- item\n\n---\n\n[r]: http://127.0.0.1/r\n"
)
QUOTING = f"The grey owl sat on the old barn and looked at the far white sea. {MARKUP}"
RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
OF_OURS = {"p", "br", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "strong"}


@pytest.fixture(scope="module")
def marked_up(tmp_path_factory: pytest.TempPathFactory) -> Population:
    """A population whose ids, questions and documents are markup."""
    texts = [QUOTING.replace("grey", "white"), f"{QUOTING} It snowed.", QUOTING]
    return write_population(
        tmp_path_factory.mktemp("markdown") / "population",
        name=f"p{MARKUP}",
        version="1",
        licence="MIT",
        features=FEATURES,
        documents=[Document(id=f"{number}{MARKUP}", prompt=OWL, text=text) for number, text in enumerate(texts)],
        questions=[
            Question(id=f"{name}{MARKUP}", prompt=OWL, feature=name, text=f"What {name}? {MARKUP}")
            for name in ("plot", "style")
        ],
        answers=[],
    )


def helping(request: str) -> str:
    """A grader that does as it is told, with as much markup as it can."""
    data = unfenced(request)
    for asked, said in {"questions": f"an owl {MARKUP}", "others": 2, "other_replies": "same"}.items():
        if asked in data:
            return json.dumps(dict.fromkeys(data[asked], said))
    if "aspect" in data:
        quoted = "seen](http://127.0.0.1/seen.png) <img src" if data["aspect"] == "novel" else "- item"
        return json.dumps([{"expression": quoted, "reason": MARKUP}, {"expression": "# H", "reason": MARKUP}])
    return f"{MARKUP} A: {MARKUP}\nRating: 3\n[[A>B]]" if "story_a" in data else f"{MARKUP}\nRating: 3"


GRADERS: dict[str, Callable[[str], str]] = {
    "helps": helping,
    "babbles": lambda request: MARKUP,
    "is brief": lambda request: f"{MARKUP[:60]}\n[[A>B]]",
    "says yes": lambda request: f"{MARKUP}\n[[YES]]",
}
PAIRS: list[Any] = rest_with_ci(list(product([*SCORERS, "ttcw beside"], GRADERS)), "other graders' quotes", every=3)


# each scorer has four graders: among every third pair are all scorers and all graders
@pytest.mark.parametrize(("name", "grader"), PAIRS)
def test_nothing_that_is_quoted_becomes_markup(name: str, grader: str, marked_up: Population, tmp_path: Path) -> None:
    made = MAKERS["ttcw"]() if name == "ttcw beside" else SCORERS[name](str(marked_up.folder))
    beside = Sample(input=OWL, target=f"A fine bee. {MARKUP}")
    one = scored(made, saying(QUOTING), Script(GRADERS[grader]), tmp_path, prompts=[beside])
    said = one.explanation or ""
    assert {t.tag for block in RENDERER.parse(said) for t in [block, *(block.children or [])] if t.tag} <= OF_OURS, said
    assert "<http://" not in said
    # else nothing could become markup
    assert "127.0.0.1" in said or not name.startswith(("cosine", "creativity_index", "partition embedding"))


STATIC = embedder().identity


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "options", "facts"),
    [
        ("cosine", {}, {"embedder": STATIC}),
        ("compression", {"codec": "xz"}, {"codec": "xz"}),
        ("compression", {}, {"codec": f"gzip(zlib {zlib.ZLIB_RUNTIME_VERSION})"}),
        ("creativity_index", {}, {"corpus": "population", "matcher": "exact"}),
        ("creativity_index", {"matcher": "near"}, {"corpus": "population", "matcher": f"near({STATIC})"}),
        ("expression_novelty", {"case": "kept"}, {"corpus": "population", "floor": "1.2e-10", "case": "kept"}),
        (
            "partition",
            {"equivalence": "embedding", "threshold": 0.5},
            {"equivalence": f"embedding({STATIC},threshold=0.5)"},
        ),
    ],
)
async def test_a_signature_has_the_options_that_numbers_depend_on(
    name: str, options: dict[str, Any], facts: dict[str, str], population: Population
) -> None:
    score = await MAKERS[name](str(population.folder), **options)(told(STORY, OWL), Target(""))
    assert score
    expected = {"measure": name, "version": "2-A", **facts, "population": population.name}
    assert Signature(metadata(score)["signature"]).facts == expected
