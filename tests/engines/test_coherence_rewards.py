import json
from pathlib import Path

import pytest
from tests.engines.tiny_models import tiny_model

from genie_inspect.errors import EngineFailedError

torch = pytest.importorskip("torch", reason="needs the extra `reward`")
pytest.importorskip("transformers", reason="needs the extra `reward`")

from genie_inspect.engines.classifiers import CoherenceRewards  # noqa: E402  # torch may be missing

PROMPT, STORY = "Write about an owl.", "The castle stood above the river."


@pytest.fixture
def armorm(tmp_path: Path) -> Path:
    """A tiny model of ArmoRM's making: a Llama, a linear layer of 19 rewards, and code of its own in the config."""
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "armorm"
    tiny_model(folder, seed=5)
    weights = load_file(folder / "model.safetensors")
    weights = {name: tensor for name, tensor in weights.items() if not name.startswith("lm_head")}
    weights["regression_layer.weight"] = torch.randn(19, 32)
    weights["gating.layers.0.weight"] = torch.randn(4, 32)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "architectures": ["LlamaForRewardModelWithGating"],
        "auto_map": {"AutoModelForSequenceClassification": "modeling_custom.LlamaForRewardModelWithGating"},
        "num_objectives": 19,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_coherence_is_the_third_reward_of_the_last_token_on_its_own_scale(armorm: Path) -> None:
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, LlamaConfig, LlamaModel

    found = CoherenceRewards(str(armorm)).coherence(PROMPT, STORY)

    weights = load_file(armorm / "model.safetensors")
    plain = LlamaModel(LlamaConfig.from_pretrained(armorm)).eval()
    plain.load_state_dict({n.removeprefix("model."): t for n, t in weights.items() if n.startswith("model.")})
    tokenizer = AutoTokenizer.from_pretrained(armorm)
    conversation = [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": STORY}]
    text = tokenizer.apply_chat_template(conversation, tokenize=False)
    with torch.inference_mode():
        hidden = plain(**tokenizer(text, return_tensors="pt", add_special_tokens=False)).last_hidden_state[0, -1]
    assert found == pytest.approx(float(weights["regression_layer.weight"][2] @ hidden) * 5 - 0.5, abs=1e-4)


def test_a_model_without_such_a_layer_is_refused_by_name(tmp_path: Path) -> None:
    plain = tiny_model(tmp_path / "plain", seed=6)
    with pytest.raises(EngineFailedError, match=r"is no model of ArmoRM's making: it lacks score.weight"):
        CoherenceRewards(plain).coherence(PROMPT, STORY)


def test_a_reward_model_that_breaks_off_or_changes_is_one_error_that_names_it(armorm: Path) -> None:
    model, other = CoherenceRewards(str(armorm)), CoherenceRewards(str(armorm))
    model._loaded[1].score = None  # a model that breaks in the middle
    with pytest.raises(EngineFailedError, match=rf"reward model {armorm} failed: TypeError"):
        model.coherence(PROMPT, STORY)
    (armorm / "config.json").write_text((armorm / "config.json").read_text() + " ")
    with pytest.raises(EngineFailedError, match="has changed since the run's scores were named after it"):
        other.coherence(PROMPT, STORY)


def test_a_folder_without_a_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(EngineFailedError, match=str(tmp_path)):
        CoherenceRewards(str(tmp_path)).coherence(PROMPT, STORY)
