import re
from pathlib import Path

import pytest
from inspect_ai import eval as evaluate
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import get_model
from tests.scripted import saying

from genie_inspect.engines.embedders.choices import embedder
from genie_inspect.errors import TemplateError, UnknownChoiceError
from genie_inspect.judges.cache import Cache
from genie_inspect.judges.choices import cache_for, check_judge, grader_for, reader_and_judge
from genie_inspect.judges.embedded import EmbeddedReader


@pytest.mark.parametrize("judge", ["list", "pairwise", "embedded"])
def test_every_judge_that_is_named_is_accepted(judge: str) -> None:
    check_judge(judge)


@pytest.mark.parametrize("judge", ["", "List", "gpt-4o", "embedded "])
def test_an_unknown_judge_is_refused_with_its_value_and_what_would_work(judge: str) -> None:
    with pytest.raises(UnknownChoiceError) as caught:
        check_judge(judge)
    assert repr(judge) in str(caught.value)
    assert "list, pairwise, logit, embedded" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "blanks"),
    [
        ("read", ["count", "data"]),
        ("rate_list", ["count", "data"]),
        ("rate_pair", ["data"]),
        ("rate_logit", ["data"]),
    ],
)
def test_a_template_with_other_blanks_is_refused_whatever_the_judge(
    name: str, blanks: list[str], tmp_path: Path
) -> None:
    (tmp_path / f"{name}.md").write_text("Compare $this with $that.", encoding="utf-8")
    message = f"{name}.md has the blanks ['that', 'this'], expected {blanks}"
    with pytest.raises(TemplateError, match=re.escape(message)):
        check_judge("list", tmp_path)


def test_a_templates_folder_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="does not exist"):
        check_judge("list", tmp_path / "nowhere")


@pytest.mark.parametrize("judge", ["list", "pairwise"])
def test_a_judge_that_asks_a_model_needs_the_grader_role(judge: str) -> None:
    with pytest.raises(PrerequisiteError, match="judge=embedded"):
        grader_for(judge)


def test_the_embedded_judge_needs_nobody() -> None:
    assert grader_for("embedded") is None


@pytest.mark.parametrize(
    ("judge", "signature"), [("list", "list(mockllm/model"), ("pairwise", "pairwise(mockllm/model")]
)
def test_reader_and_judge_carry_the_model_in_their_signatures(judge: str, signature: str) -> None:
    reader, rater = reader_and_judge(judge, saying("").model(), embedder(), {})
    assert reader.signature.startswith("grader(mockllm/model@")
    assert rater.signature.startswith(signature)


def test_the_embedded_pair_carries_the_embedder_in_its_signatures() -> None:
    reader, rater = reader_and_judge("embedded", None, embedder(), {})
    assert reader.signature == f"embedded({embedder().identity})"
    assert rater.signature.startswith(f"embedded({embedder().identity},anchors=")
    words = {"plot": ("rain",)}
    reader, _ = reader_and_judge("embedded", None, embedder(), words)
    assert isinstance(reader, EmbeddedReader)
    assert reader.words == words


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("logit", "^grader for judge=logit is 'bundled/grader', expected a provider with log probabilities: .*vllm$"),
        ("logits", "^judge is 'logits', expected one of list, pairwise, logit, embedded$"),
    ],
)
def test_a_judge_that_cannot_work_ends_a_run_in_one_line_before_anything_is_generated(judge: str, said: str) -> None:
    roles = {"grader": "bundled/grader"}
    with pytest.raises(PrerequisiteError) as caught:
        evaluate(
            "genie_inspect/synthetic_prompts", task_args={"judge": judge}, model="bundled/inventive", model_roles=roles
        )
    assert re.fullmatch(said, str(caught.value.message))


@pytest.mark.parametrize(("judge", "name"), [("list", "rate_list"), ("pairwise", "rate_pair"), ("logit", "rate_logit")])
def test_templates_of_the_users_reach_the_reader_and_the_judge(judge: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "read.md").write_text("READ $count\n$data", encoding="utf-8")
    (tmp_path / f"{name}.md").write_text("RATE\n$data" + (" $count" if judge == "list" else ""), encoding="utf-8")
    model = saying("").model()
    reader, rater = reader_and_judge(judge, model, embedder(), {})
    own_reader, own_rater = reader_and_judge(judge, model, embedder(), {}, tmp_path)
    assert own_reader.signature != reader.signature
    assert own_rater.signature != rater.signature


def test_a_replay_is_not_kept_and_what_any_other_model_says_is(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache_for(get_model("bundled/grader"), cache) is None
    assert cache_for(saying("").model(), cache) is cache
    assert cache_for(saying("").model(), None) is None
