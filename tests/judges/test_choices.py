import re
from pathlib import Path

import pytest
from inspect_ai import eval as evaluate
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import get_model
from tests.scripted import saying

from genie_inspect.judges.cache import Cache
from genie_inspect.judges.choices import cache_for, graders_for, mode_of
from genie_inspect.judges.instrument import Instrument


@pytest.mark.parametrize("judge", ["list", "pairwise", "vectors", "vectors/fit.json"])
def test_a_judge_that_asks_a_model_needs_the_grader_role(judge: str) -> None:
    with pytest.raises(PrerequisiteError, match="judge=embedded"):
        graders_for(judge)


def test_the_embedded_judge_needs_nobody() -> None:
    assert graders_for("embedded") == ()


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("logit", "^grader for judge=logit is 'bundled/grader', expected a provider with log probabilities: .*vllm$"),
        ("logits", "^judge is 'logits', expected one of list, pairwise, logit, vectors, embedded, none$"),
        ("pairwise/2", "^judge is 'pairwise/2', expected one of list, pairwise, logit, vectors, embedded, none$"),
        ("list/", "^judge is 'list/', expected one of list, pairwise, logit, vectors, embedded, none$"),
        ("list/1", "^judge is 'list/1', expected how many answers list is shown in a call, such as list/10$"),
        ("list/ten", "^judge is 'list/ten', expected how many answers list is shown in a call, such as list/10$"),
    ],
)
def test_a_judge_that_cannot_work_ends_a_run_in_one_line_before_anything_is_generated(judge: str, said: str) -> None:
    roles = {"grader": "bundled/grader"}
    with pytest.raises(PrerequisiteError) as caught:
        evaluate(
            "genie_inspect/synthetic_prompts", task_args={"judge": judge}, model="bundled/inventive", model_roles=roles
        )
    assert re.fullmatch(said, str(caught.value.message))


def test_a_replay_is_not_kept_and_what_any_other_model_says_is(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache_for(get_model("bundled/grader"), cache) is None
    assert cache_for(saying("").model(), cache) is cache
    assert cache_for(saying("").model(), None) is None


def test_a_list_judge_says_in_its_signature_how_many_answers_it_is_shown() -> None:
    model = saying("").model()
    few, usual = (Instrument(judge).reader_and_judge(model)[1].signature for judge in ("list/10", "list"))
    assert few == usual.replace("chunk=50", "chunk=10") != usual
    assert (mode_of("list/10").name, mode_of("list/10").chunk) == ("list/10", 10)
    assert mode_of("list").chunk == 50
