"""The curiosity model on a causal language model with LoRA.

Forward and inverse model are one function f, as the study writes them: one adapter with a vector head reads story,
question and rater, or story, question and explanation. Its loss is 1 less the cosine of the two vectors, plus lambda
times the cross-entropy of the rater, read from the second. The difference of the two vectors, each at length 1, stands
as numbers after story and question in the prompt of a second adapter, which is trained to answer yes or no.

Deviation from the study: on its single logits the cosine is 1 or -1 and has no gradient; here f ends in a vector.
"""

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from genie_inspect.engines.curiosity.adapters import CURIOSITY, VERDICT, FittedLanguageModel
from genie_inspect.engines.curiosity.explanations import Explanation, check_both_verdicts, explained
from genie_inspect.engines.curiosity.settings import LoraSettings
from genie_inspect.engines.curiosity.votes import ExplainedVote
from genie_inspect.engines.failures import engine_failures
from genie_inspect.engines.models.folders import check_model, check_unchanged, device, folder_facts, model_identity
from genie_inspect.errors import EngineFailedError, MissingExtraError

EXTRA = "personal"


class LanguageCuriosity:
    """The curiosity model on a folder with a causal model.

    Args:
        base: Folder with configuration, tokenizer and weights in safetensors; runs no code from it, asks no hub.
        explanation: What the curiosity score reads.
        settings: The study's, unless given.

    Raises:
        MissingExtraError: If torch, transformers or peft is not installed.
        EngineFailedError: If there is no such folder, or it lacks something.
    """

    def __init__(self, base: str, explanation: Explanation, settings: LoraSettings | None = None) -> None:
        if find_spec("peft") is None:
            raise MissingExtraError("the curiosity model on a base model", EXTRA)
        if not Path(base).is_dir():
            raise EngineFailedError(f"base {base} does not exist, expected a folder with a causal model")
        check_model(base, "the curiosity model", EXTRA)
        self.base, self.explanation = base, explanation
        self.settings = settings or LoraSettings()
        self._facts = folder_facts(base)

    @property
    def name(self) -> str:
        """`lora(<folder and digest>)`."""
        return f"lora({model_identity(self.base, self._facts)})"

    def settings_used(self) -> dict[str, int | float]:
        """Every setting by its name."""
        return self.settings.model_dump()

    def fit(self, votes: Sequence[ExplainedVote]) -> FittedLanguageModel:
        """Both adapters, trained on these votes alone.

        Raises:
            UnfittableError: If explanations are missing, by one rater alone, or the verdicts are all alike.
            EngineFailedError: If the model cannot be loaded, or breaks off.
        """
        having = explained(votes, self.explanation)
        check_both_verdicts(votes)
        import torch

        torch.manual_seed(self.settings.seed)
        with engine_failures(f"loading the base {self.base}"):
            model, tokenizer = self._loaded()
        check_unchanged(self.base, self._facts)
        raters = sorted({vote.rater for vote in having})
        fitted = FittedLanguageModel(model, tokenizer, raters, self.explanation, self.settings)
        fitted.learn_curiosity(having)
        fitted.learn_verdicts(votes)
        return fitted

    def _loaded(self) -> tuple[Any, Any]:
        """The base with two new adapters, and its tokenizer."""
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM, AutoTokenizer

        local: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
        tokenizer = AutoTokenizer.from_pretrained(self.base, **local)
        model = AutoModelForCausalLM.from_pretrained(self.base, dtype="auto", use_safetensors=True, **local)
        # activations of 4 stories of 4,096 tokens fill a large device: they are computed again on the way back
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        low_rank = partial(
            LoraConfig,
            r=self.settings.rank,
            lora_alpha=self.settings.alpha,
            lora_dropout=self.settings.dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        adapted = get_peft_model(model.to(device()), low_rank(), adapter_name=CURIOSITY)
        adapted.add_adapter(VERDICT, low_rank())
        return adapted, tokenizer
