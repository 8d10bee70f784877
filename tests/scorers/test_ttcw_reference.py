"""Who judges beside a reference story, and what of it the critic reads."""

from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import Model
from tests.scripted import Script, saying

from genie_inspect.scorers.ttcw import ttcw

RUBRIC = "name: mine\ntests:\n- id: pace\n  name: pace\n  question: Is it quick?\n"


def judged(folder: Path, roles: dict[str, str | Model], target: str) -> EvalLog:
    (folder / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    critic = ttcw(str(folder / "rubric.yaml"), cache=False)
    (log,) = evaluate(
        Task([Sample(input="Write about a bee.", target=target)], scorer=critic),
        model=saying("A story about a bee.").model(),
        model_roles=roles,
        log_dir=str(folder),
        display="none",
    )
    return log


def test_half_a_character_in_the_reference_is_read_as_its_replacement(tmp_path: Path) -> None:
    critic = Script(lambda request: "[[A=B]]")
    assert judged(tmp_path, {"grader": critic.model()}, "A bee \ud83d flew.").status == "success"
    assert len(critic.requests) == 2, "one test in both orders"
    assert all("A bee \N{REPLACEMENT CHARACTER} flew." in request for request in critic.requests)


@pytest.mark.parametrize(
    ("roles", "message"),
    [({}, "Name one:"), ({"grader": "bundled/grader"}, "bundled/grader has its readings on record")],
)
def test_only_a_real_grader_can_be_the_critic(roles: dict[str, str | Model], message: str, tmp_path: Path) -> None:
    log = judged(tmp_path, roles, "A fine story.")
    assert log.status == "error"
    assert log.error is not None
    assert message in log.error.message
    assert "judge=embedded" not in log.error.message
