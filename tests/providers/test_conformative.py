from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model
from tests.engines.tiny_models import tiny_model

from genie_inspect.engines.identity import folder_digest, identified
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.providers.joint_decoding import ConformativeAPI

PROMPTS = ("Write about an owl.", "Write about a castle.", "Write a story about a spaceship and a dog.", "Write.")


@pytest.fixture(scope="module")
def name(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch", reason="needs the extra `local`")
    pytest.importorskip("transformers", reason="needs the extra `local`")
    folder = tmp_path_factory.mktemp("models")
    return f"{tiny_model(folder / 'base', seed=1)}+{tiny_model(folder / 'instruct', seed=2)}"


def run(name: str, folder: Path, connections: int, **model_args: Any) -> EvalLog:
    model = get_model(f"conformative/{name}", memoize=False, **model_args)
    task = Task(dataset=MemoryDataset([Sample(input=prompt) for prompt in PROMPTS]))
    log = evaluate(
        task, model=model, max_connections=connections, temperature=0.7, top_p=0.9, seed=7, max_tokens=16,
        display="none", log_dir=str(folder),
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    return log


def texts(log: EvalLog) -> list[str]:
    return [sample.output.completion for sample in log.samples or []]


def test_four_calls_at_once_get_the_texts_of_four_calls_alone(name: str, tmp_path: Path) -> None:
    together, alone = run(name, tmp_path, 4), run(name, tmp_path, 1)
    assert texts(together) == texts(alone)
    assert all(texts(together))


def test_the_signature_says_both_models_the_weight_and_what_the_base_sees(name: str, tmp_path: Path) -> None:
    log = run(name, tmp_path, 4, base_weight=0.25, base_sees="chat")
    base, instruct = (identified(Path(folder).name, folder_digest(folder)) for folder in name.split("+"))
    for sample in log.samples or []:
        signature = (sample.output.metadata or {})["signature"]
        assert f"base:{base}|instruct:{instruct}|base_weight:0.25|base_sees:chat" in signature
        assert sample.output.usage is not None
        assert sample.output.usage.output_tokens > 0


def test_whether_the_base_sees_the_chat_template_changes_the_text(name: str, tmp_path: Path) -> None:
    assert texts(run(name, tmp_path, 4, base_sees="plain")) != texts(run(name, tmp_path, 4, base_sees="chat"))


@pytest.mark.parametrize(("base_sees", "is_plain"), [("plain", True), ("chat", False)])
def test_only_a_plain_text_is_begun_by_the_base_models_tokenizer(name: str, base_sees: str, is_plain: bool) -> None:
    api = ConformativeAPI(name, base_sees=base_sees)
    request = api._request([ChatMessageUser(content="Write.")], GenerateConfig())
    assert request.is_base_plain is is_plain
    assert request.base == ("Write.\n\n" if is_plain else request.instruct)


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        *((model, {}, r"expected conformative/<base>\+<instruct>") for model in ("gpt", "+instruct", "a+b+c")),
        ("a+b", {"weigth": 0.5}, "got weigth"),
        ("a+b", {"base_sees": "all"}, "base_sees is 'all', expected one of plain, chat"),
        ("a+b", {"base_weight": 2}, "base_weight is 2"),
    ],
)
def test_what_cannot_be_decoded_is_refused_before_anything_is_loaded(
    model: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(PrerequisiteError, match=message):
        ConformativeAPI(model, **arguments)


async def test_a_setting_that_cannot_be_followed_is_refused(name: str) -> None:
    model = get_model(f"conformative/{name}", memoize=False)
    with pytest.raises(PrerequisiteError, match="know no top_k"):
        await model.generate("Write.", config=GenerateConfig(top_k=5))


async def test_a_batch_that_fails_fails_each_of_its_calls(name: str) -> None:
    model = get_model(f"conformative/{name}", memoize=False)
    model.api.models.base.lm_head = None  # type: ignore[attr-defined]  # a model that breaks in the middle
    with pytest.raises(TypeError, match="not callable"):
        await model.generate("Write.")
