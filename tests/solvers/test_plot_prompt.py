"""The set-up step that makes a prompt of a reference story."""

from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.solver import generate
from tests.critics import comparing
from tests.scripted import saying

from genie_inspect.graders.grader import RefusedError
from genie_inspect.prompting.templates import load_template
from genie_inspect.solvers.plot_prompt import drawn_plot, plot_prompt


@pytest.mark.parametrize(
    ("words", "asked"), [(32, "about 32 words"), (841, "about 840 words"), (1500, "about 1500 words")]
)
def test_the_length_is_asked_for_as_a_person_would(
    words: int, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    writer = saying("A new story.")
    metadata = {"title": "Bee", "plot": "A bee counts.", "words": words}
    [log] = evaluate(
        Task(dataset=[Sample(input="-", target="A bee.", metadata=metadata)], setup=plot_prompt(), solver=generate()),
        model=writer.model(),
        model_roles={"grader": comparing(lambda a, b, aspect: 0).model()},
        display="none",
    )
    assert log.status == "success", log.error
    assert asked in writer.requests[0]


def test_a_sample_without_what_it_needs_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    writer = saying("A new story.")
    [log] = evaluate(
        Task(dataset=[Sample(input="Write.")], setup=plot_prompt(), solver=generate()),
        model=writer.model(),
        model_roles={"grader": comparing(lambda a, b, aspect: 0).model()},
        display="none",
    )
    assert log.error
    assert "plot_prompt needs plot, title, words in a sample's metadata" in log.error.message
    assert not writer.requests


async def test_a_plot_that_is_asked_for_again_does_not_come_from_the_providers_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect-cache"))
    script = saying(" ", " ", "A bee counts.")
    model = get_model("mockllm/model", custom_outputs=script, memoize=False, config=GenerateConfig(cache=True))
    assert await drawn_plot(model, load_template("draw_plot", {"data"}), "A long story.") == "A bee counts."
    assert len(script.requests) == 3


def test_templates_that_cannot_be_used_are_refused_in_one_line() -> None:
    with pytest.raises(RefusedError, match="'missing' does not exist"):
        plot_prompt("missing")
