"""The two adapters of the curiosity model on a language model: what they learn, say and leave in a folder."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genie_inspect.engines.curiosity.explanations import Explanation, RaterMeans, check_readable, curiosity
from genie_inspect.engines.curiosity.prompts import Prompts, padded
from genie_inspect.engines.curiosity.settings import LoraSettings
from genie_inspect.engines.curiosity.training import train
from genie_inspect.engines.curiosity.votes import ExplainedVote, Values
from genie_inspect.engines.failures import engine_failures
from genie_inspect.engines.models.folders import device

if TYPE_CHECKING:
    import torch

CURIOSITY, VERDICT = "curiosity", "verdict"
HEADS = "heads.safetensors"


class FittedLanguageModel:
    """A base model with an adapter for curiosity and one for verdicts.

    Args:
        model: With both adapters.
        tokenizer: The base model's.
        raters: Whom the inverse model tells apart.
        explanation: What the curiosity score reads.
        settings: Of training.
    """

    def __init__(
        self, model: Any, tokenizer: Any, raters: Sequence[str], explanation: Explanation, settings: LoraSettings
    ) -> None:
        import torch

        self.model, self.raters, self.explanation, self.settings = model, list(raters), explanation, settings
        self.prompts = Prompts(tokenizer, settings.length)
        hidden = model.get_input_embeddings().weight.shape[1]
        self.heads = torch.nn.ModuleDict(
            {
                "vector": torch.nn.Linear(hidden, settings.width),
                "rater": torch.nn.Linear(settings.width, len(self.raters)),
            }
        ).to(device())
        self.means: RaterMeans

    def learn_curiosity(self, votes: Sequence[ExplainedVote]) -> None:
        """Train f on votes with explanations, and note each rater's mean inverse vector."""
        parameters = self._learning(CURIOSITY) + list(self.heads.parameters())
        train(parameters, votes, self.curiosity_loss, self.settings)
        self.means = RaterMeans(votes, self.inverse(votes))

    def learn_verdicts(self, votes: Sequence[ExplainedVote]) -> None:
        """Train the classifier on the curiosity that f now gives."""
        import torch

        scores = self.curiosity(votes)
        no, yes = self.prompts.answers()
        rows = [
            (self.prompts.verdict(vote, score), yes if vote.verdict else no)
            for vote, score in zip(votes, scores, strict=True)
        ]

        def loss(batch: Sequence[tuple[list[int], int]]) -> "torch.Tensor":
            answers = torch.tensor([answer for _, answer in batch], device=device())
            return torch.nn.functional.cross_entropy(self._next([tokens for tokens, _ in batch]), answers)

        train(self._learning(VERDICT), rows, loss, self.settings)

    def curiosity_loss(self, votes: Sequence[ExplainedVote]) -> "torch.Tensor":
        """1 less the mean cosine of forward and inverse vectors, plus lambda times the raters' cross-entropy."""
        import torch

        forward, inverse = (self._vectors([read(vote) for vote in votes]) for read in self._readings())
        apart = 1 - torch.nn.functional.cosine_similarity(forward, inverse).mean()
        raters = torch.tensor([self.raters.index(vote.rater) for vote in votes], device=device())
        told = torch.nn.functional.cross_entropy(self.heads["rater"](inverse), raters)
        return apart + self.settings.rater_weight * told

    def curiosity(self, votes: Sequence[ExplainedVote]) -> Values:
        """Forward less inverse vector, or less the mean that stands for it."""
        forward = self._unit([self.prompts.forward(vote) for vote in votes])
        return curiosity(votes, forward, self.inverse, self.means, self.explanation)

    def inverse(self, votes: Sequence[ExplainedVote]) -> Values:
        """Inverse vectors of votes with explanations, each at length 1."""
        return self._unit([self.prompts.inverse(vote) for vote in votes])

    def probabilities(self, votes: Sequence[ExplainedVote]) -> Values:
        """Probability of yes among yes and no for each vote.

        Raises:
            UnfittableError: If it reads explanations and a vote has none.
            EngineFailedError: If the model breaks off.
        """
        check_readable(votes, self.explanation)
        import torch

        pairs = zip(votes, self.curiosity(votes), strict=True)
        prompts = [self.prompts.verdict(vote, score) for vote, score in pairs]
        answers = list(self.prompts.answers())
        self.model.set_adapter(VERDICT)
        logits = self._read(prompts, lambda rows: self._next(rows)[:, answers])
        chances: Values = torch.softmax(logits, dim=1)[:, 1].numpy().astype(np.float64)
        return chances

    def save(self, folder: Path) -> None:
        """Write both adapters in PEFT's format, and the heads with the raters' means, all as safetensors."""
        import torch
        from safetensors.torch import save_file

        with engine_failures(f"saving adapters in {folder}"):
            # whether embeddings changed would be asked of a hub; they never do
            self.model.save_pretrained(folder, save_embedding_layers=False)
            weights = {name: part.detach().cpu().contiguous() for name, part in self.heads.state_dict().items()}
            means = np.array([*self.means.by_rater.values(), self.means.everybody])
            save_file({**weights, "rater_means": torch.from_numpy(means)}, folder / HEADS)
            (folder / "README.md").unlink(missing_ok=True)  # a model card of blanks

    def _readings(self) -> tuple[Callable[[ExplainedVote], list[int]], Callable[[ExplainedVote], list[int]]]:
        return self.prompts.forward, self.prompts.inverse

    def _learning(self, adapter: str) -> list[Any]:
        """The weights of an adapter, which alone is trained from now on."""
        self.model.set_adapter(adapter)
        self.model.train()
        return [part for part in self.model.parameters() if part.requires_grad]

    def _unit(self, prompts: Sequence[list[int]]) -> Values:
        import torch

        self.model.set_adapter(CURIOSITY)
        rows: Values = torch.nn.functional.normalize(self._read(prompts, self._vectors)).numpy().astype(np.float64)
        return rows

    def _read(self, prompts: Sequence[list[int]], read: Callable[[Sequence[list[int]]], "torch.Tensor"]) -> Any:
        """What is read of the prompts, batch by batch, without learning."""
        import torch

        self.model.eval()
        size = self.settings.batch
        with torch.inference_mode():
            parts = [read(prompts[start : start + size]).cpu() for start in range(0, len(prompts), size)]
        return torch.cat(parts)

    def _vectors(self, prompts: Sequence[list[int]]) -> "torch.Tensor":
        with engine_failures("the base model"):
            # the body without the head that names tokens: its table of a whole vocabulary is not needed
            output = self.model.get_base_model().base_model(**self._batch(prompts))
        vectors: torch.Tensor = self.heads["vector"](output.last_hidden_state[:, -1].float())
        return vectors

    def _next(self, prompts: Sequence[list[int]]) -> "torch.Tensor":
        with engine_failures("the base model"):
            logits: torch.Tensor = self.model(**self._batch(prompts), logits_to_keep=1).logits[:, -1].float()
        return logits

    def _batch(self, prompts: Sequence[list[int]]) -> dict[str, Any]:
        import torch

        names = ("input_ids", "attention_mask", "position_ids")
        batch = (torch.tensor(rows, device=device()) for rows in padded(prompts))
        return {**dict(zip(names, batch, strict=True)), "use_cache": False}
