"""What a story, a grader or a population says is shown in explanations as the text that it is, by every scorer."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Scorer
from markdown_it import MarkdownIt
from tests.left_out import rest_with_ci
from tests.scripted import FEATURES, OWL, Script, saying

from genie_inspect.populations.schema import Document, Question
from genie_inspect.populations.writing import write_population
from genie_inspect.prompting.fence import unfenced
from genie_inspect.scorers.close_reading import close_reading
from genie_inspect.scorers.coherence import coherence
from genie_inspect.scorers.compression import compression
from genie_inspect.scorers.cosine import cosine
from genie_inspect.scorers.creativity_index import creativity_index
from genie_inspect.scorers.expression_novelty import expression_novelty
from genie_inspect.scorers.genie import genie
from genie_inspect.scorers.litbench import litbench
from genie_inspect.scorers.novelty_bench import novelty_bench
from genie_inspect.scorers.partition import partition
from genie_inspect.scorers.ttcw import ttcw

MARKUP = (
    "![seen](http://127.0.0.1/seen.png) <img src=//127.0.0.1/seen> [l](//127.0.0.1/l) <http://127.0.0.1/a> "
    "**b** *i* `c` ~~s~~ <b>h</b> | x |\n\n# H\n\n- item\n\n---\n\n[r]: http://127.0.0.1/r\n"
)
STORY = f"The grey owl sat on the old barn and looked at the far white sea. {MARKUP}"
RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
OF_OURS = {"p", "br", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "strong"}
Made = Callable[[str], Scorer]
SCORERS: dict[str, Made] = {
    "genie": lambda folder: genie(folder, judge="list"),
    "genie, pairwise": lambda folder: genie(folder, judge="pairwise"),
    "genie, embedded": lambda folder: genie(folder, judge="embedded"),
    "cosine": cosine,
    "compression": compression,
    "creativity_index": creativity_index,
    "expression_novelty": expression_novelty,
    "partition": partition,
    "partition, embedded": lambda folder: partition(folder, "embedded"),
    "litbench": litbench,
    "close_reading": lambda folder: close_reading(sensical=True),
    "coherence": lambda folder: coherence(),
    "ttcw": lambda folder: ttcw(),
    "ttcw, alone": lambda folder: ttcw(reference=False),
    "novelty_bench": lambda folder: novelty_bench(equivalence="grader", quality="grader"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A population whose ids, prompts, questions and documents are markup."""
    folder = tmp_path_factory.mktemp("markdown") / "population"
    texts = [STORY.replace("grey", "white"), f"{STORY} It snowed.", STORY]
    write_population(
        folder,
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
    return str(folder)


def helping(request: str) -> str:
    """A grader that does as it is told, with as much markup as it can."""
    data = unfenced(request)
    if "questions" in data:
        return json.dumps(dict.fromkeys(data["questions"], f"an owl {MARKUP}"))
    if "others" in data:
        return json.dumps(dict.fromkeys(data["others"], 2))
    if "other_replies" in data:
        return json.dumps(dict.fromkeys(data["other_replies"], "same"))
    if "aspect" in data:
        quoted = "seen](http://127.0.0.1/seen.png) <img src" if data["aspect"] == "novel" else "- item"
        return json.dumps([{"expression": quoted, "reason": MARKUP}, {"expression": "# H", "reason": MARKUP}])
    return f"{MARKUP} A: {MARKUP}\nRating: 3\n[[A>B]]" if "story_a" in data else f"{MARKUP}\nRating: 3"


GRADERS = {
    "helps": helping,
    "babbles": lambda request: MARKUP,
    "is brief": lambda request: f"{MARKUP[:60]}\n[[A>B]]",
    "says yes": lambda request: f"{MARKUP}\n[[YES]]",
}


def tags(markdown: str) -> set[str]:
    """The names of the HTML elements that a viewer makes of Markdown, text and attributes left aside."""
    parsed = RENDERER.parse(markdown)
    return {token.tag for block in parsed for token in [block, *(block.children or [])] if token.tag}


# each scorer has four graders: among every third pair are all scorers and all graders
@pytest.mark.parametrize(
    ("name", "grader"), rest_with_ci(list(product(SCORERS, GRADERS)), "quotes of every scorer's other graders", every=3)
)
def test_nothing_that_is_quoted_becomes_markup(name: str, grader: str, folder: str, tmp_path: Path) -> None:
    (log,) = evaluate(
        Task(dataset=[Sample(input=OWL, target=f"A fine bee. {MARKUP}")], scorer=SCORERS[name](folder)),
        model=saying(STORY).model(),
        model_roles={"grader": Script(GRADERS[grader]).model()},
        log_dir=str(tmp_path / "logs"),
        display="none",
        log_realtime=False,
    )
    assert log.status == "success", log.error
    assert log.samples
    for score in (log.samples[0].scores or {}).values():
        assert score.explanation
        assert tags(score.explanation) <= OF_OURS, score.explanation
        assert "<http://" not in score.explanation


@pytest.mark.parametrize("name", ["ttcw", "coherence", "cosine", "partition, embedded", "creativity_index", "genie"])
def test_these_scorers_quote_so_that_the_test_above_can_fail(name: str, folder: str, tmp_path: Path) -> None:
    (log,) = evaluate(
        Task(dataset=[Sample(input=OWL, target=f"A fine bee. {MARKUP}")], scorer=SCORERS[name](folder)),
        model=saying(STORY).model(),
        model_roles={"grader": Script(GRADERS["babbles"]).model()},
        log_dir=str(tmp_path / "logs"),
        display="none",
        log_realtime=False,
    )
    assert log.samples
    quoted = [score.explanation or "" for score in (log.samples[0].scores or {}).values()]
    assert any("127.0.0.1" in explanation for explanation in quoted)
