import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engines.tiny_models import tiny_model
from tests.studies.personal.made import HABIT, SAID, STORIES, votes, with_other

torch = pytest.importorskip("torch", reason="needs the extra `personal`")
transformers = pytest.importorskip("transformers", reason="needs the extra `personal`")
peft = pytest.importorskip("peft", reason="needs the extra `personal`")

from genie_inspect.errors import EngineFailedError, UnfittableError  # noqa: E402  # torch may be missing
from genie_inspect.studies.personal.curiosity_models import LanguageCuriosity, train  # noqa: E402
from genie_inspect.studies.personal.curiosity_vectors import EXPLANATIONS, Explanation, LoraSettings  # noqa: E402

QUICK = LoraSettings(epochs=1, length=480, learning_rate=0.01, accumulation=1)
LEARNED, OUT = votes(4), votes(6)[8:]
Fitted = dict[Explanation, LanguageCuriosity]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_model(tmp_path_factory.mktemp("models") / "base", seed=1)


@pytest.fixture(scope="module")
def fitted(base: str) -> Fitted:
    return {reading: LanguageCuriosity(base, reading, QUICK).fit(LEARNED) for reading in EXPLANATIONS}


def test_without_the_explanation_nothing_held_out_is_read(fitted: Fitted) -> None:
    chances = fitted["none"].probabilities(OUT)
    assert fitted["none"].probabilities(with_other(OUT, explanation="fresh")).tolist() == chances.tolist()
    assert fitted["none"].probabilities(with_other(OUT, explanation=None)).tolist() == chances.tolist()


def test_held_out_reads_the_explanation(fitted: Fitted) -> None:
    scores = fitted["held-out"].curiosity(OUT)
    assert not np.allclose(fitted["held-out"].curiosity(with_other(OUT, explanation="dull dull dull")), scores)
    with pytest.raises(UnfittableError, match="4 of 4 votes have no explanation"):
        fitted["held-out"].probabilities(with_other(OUT, explanation=None))


def test_the_curiosity_is_the_difference_of_two_vectors_of_length_one(fitted: Fitted) -> None:
    one = fitted["held-out"]
    inverse = one.inverse(OUT)
    assert np.linalg.norm(inverse, axis=1) == pytest.approx([1] * 4, abs=1e-5)
    assert np.linalg.norm(one.curiosity(OUT) + inverse, axis=1) == pytest.approx([1] * 4, abs=1e-5)


def test_a_vote_is_read_alike_alone_and_among_others(fitted: Fitted) -> None:
    together = fitted["none"].probabilities(OUT)
    assert [fitted["none"].probabilities([vote])[0] for vote in OUT] == pytest.approx(together.tolist(), abs=1e-4)


def test_the_loss_is_one_less_the_cosine_plus_lambda_times_the_raters_cross_entropy(fitted: Fitted) -> None:
    one = fitted["none"]
    one.model.set_adapter("curiosity")
    one.model.eval()
    with torch.inference_mode():
        loss = float(one.curiosity_loss(LEARNED))
        forward, inverse = (
            one._vectors([read(vote) for vote in LEARNED]) for read in (one.prompts.forward, one.prompts.inverse)
        )
        told = torch.log_softmax(one.heads["rater"](inverse), dim=1).numpy()
        cosines = (forward * inverse).sum(dim=1) / forward.norm(dim=1) / inverse.norm(dim=1)
    places = [("ann", "bob").index(vote.rater) for vote in LEARNED]
    cross_entropy = -np.mean([row[place] for row, place in zip(told, places, strict=True)])
    assert loss == pytest.approx(1 - float(cosines.mean()) + cross_entropy, abs=1e-5)


def test_training_lowers_the_loss(base: str) -> None:
    settings = QUICK.model_copy(update={"epochs": 6, "dropout": 0.0})
    one = LanguageCuriosity(base, "none", settings)
    one.load(["ann", "bob"])
    parameters = one._learning("curiosity") + list(one.heads.parameters())
    losses = train(parameters, LEARNED, one.curiosity_loss, settings)
    assert len(losses) == 12  # 8 votes in batches of 4, six times
    assert losses[-1] < losses[0] - 0.2


def test_each_adapter_is_trained_alone_and_the_base_stays(base: str, fitted: Fitted) -> None:
    plain = transformers.AutoModelForCausalLM.from_pretrained(base).state_dict()
    state = fitted["none"].model.state_dict()
    weights = {name.replace("base_model.model.", "").replace(".base_layer", ""): part for name, part in state.items()}
    assert all(torch.equal(weights[name], part) for name, part in plain.items())
    for adapter in ("curiosity", "verdict"):
        moved = [part.abs().max() for name, part in state.items() if f"lora_B.{adapter}" in name]
        assert len(moved) == 14  # seven matrices in each of two layers
        assert all(change > 0 for change in moved)


def test_the_same_seed_gives_the_same_model(base: str, fitted: Fitted) -> None:
    again = LanguageCuriosity(base, "none", QUICK).fit(LEARNED)
    assert again.probabilities(OUT).tolist() == fitted["none"].probabilities(OUT).tolist()


def test_adapters_are_saved_as_peft_and_vllm_read_them(base: str, fitted: Fitted, tmp_path: Path) -> None:
    one = fitted["none"]
    one.save(tmp_path)
    prompts = [one.prompts.verdict(vote, np.zeros(8)) for vote in OUT]
    one.model.set_adapter("verdict")
    expected = one._read(prompts, one._next)
    plain = transformers.AutoModelForCausalLM.from_pretrained(base)
    model = peft.PeftModel.from_pretrained(plain, tmp_path / "verdict").eval()
    with torch.inference_mode():
        logits = [model(input_ids=torch.tensor([tokens])).logits[0, -1] for tokens in prompts]
    assert torch.allclose(torch.stack(logits), expected, atol=1e-4)


def test_what_is_saved_holds_no_pickle_and_no_text_of_a_vote(fitted: Fitted, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    fitted["held-out"].save(tmp_path)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    adapters = {
        f"{name}/adapter_{part}" for name in ("curiosity", "verdict") for part in ("config.json", "model.safetensors")
    }
    assert files == {"heads.safetensors", *adapters}
    heads = load_file(tmp_path / "heads.safetensors")
    assert {name: tuple(part.shape) for name, part in heads.items()} == {
        "vector.weight": (8, 32),
        "vector.bias": (8,),
        "rater.weight": (2, 8),
        "rater.bias": (2,),
        "rater_means": (3, 8),
    }
    content = b"".join((tmp_path / file).read_bytes() for file in files).decode("latin-1")
    for text in (*STORIES, *SAID.values(), *HABIT.values(), "Is it original"):
        assert text not in content


def test_no_hub_is_asked(base: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("somebody is asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    LanguageCuriosity(base, "none", QUICK).fit(LEARNED).save(tmp_path)


def test_a_folder_that_lacks_weights_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EngineFailedError, match="has no weights"):
        LanguageCuriosity(str(tmp_path), "none")


def test_a_broken_folder_is_one_line(base: str, tmp_path: Path) -> None:
    for path in Path(base).iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "config.json").write_text('{"model_type": "unheard-of"}')
    with pytest.raises(EngineFailedError, match=r"loading the base .* failed"):
        LanguageCuriosity(str(tmp_path), "none", QUICK).fit(LEARNED)


def test_every_row_of_a_step_counts_alike() -> None:
    weight = torch.nn.Parameter(torch.tensor([0.0]))
    settings = LoraSettings(epochs=1, batch=2, accumulation=2)
    losses = train([weight], [3.0, 3.0, 6.0], lambda batch: (weight + torch.tensor(batch)).mean(), settings)
    assert losses == pytest.approx([4])  # (3 + 3 + 6) / 3, in whatever batches
