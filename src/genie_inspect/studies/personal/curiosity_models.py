"""The curiosity model on a causal language model with LoRA.

Forward and inverse model are one function f, as the study writes them: one adapter with a vector head reads story,
question and rater, or story, question and explanation. Its loss is 1 less the cosine of the two vectors, plus lambda
times the cross-entropy of the rater, read from the second. The difference of the two vectors, each at length 1, stands
as numbers after story and question in the prompt of a second adapter, which is trained to answer yes or no.

Deviation from the study: on its single logits the cosine is 1 or -1 and has no gradient; here f ends in a vector.
"""

import math
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from genie_inspect.engines.identity import check_model, check_unchanged, device, folder_facts, model_identity
from genie_inspect.engines.requests import engine_failures
from genie_inspect.errors import EngineFailedError, MissingExtraError
from genie_inspect.prompting.templates import Instruction
from genie_inspect.studies.personal.curiosity_vectors import (
    ExplainedVote,
    Explanation,
    LoraSettings,
    RaterMeans,
    Values,
    check_both_verdicts,
    check_readable,
    explained,
)

if TYPE_CHECKING:
    import torch

RowT = TypeVar("RowT")


def train(
    parameters: Sequence[Any],
    rows: Sequence[RowT],
    loss_of: Callable[[Sequence[RowT]], "torch.Tensor"],
    settings: LoraSettings,
) -> list[float]:
    import torch

    group = settings.batch * settings.accumulation
    steps = settings.epochs * math.ceil(len(rows) / group)
    optimizer = torch.optim.AdamW(parameters, lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step, steps, settings.warmup))
    generator = torch.Generator().manual_seed(settings.seed)
    losses = []
    for _ in range(settings.epochs):
        order = torch.randperm(len(rows), generator=generator).tolist()
        for start in range(0, len(rows), group):
            step_rows = [rows[index] for index in order[start : start + group]]
            total = 0.0
            for first in range(0, len(step_rows), settings.batch):
                batch = step_rows[first : first + settings.batch]
                # the last batch may be smaller: each row counts alike
                loss = loss_of(batch) * len(batch) / len(step_rows)
                with engine_failures("training"):
                    loss.backward()
                total += loss.item()
            losses.append(total)
            torch.nn.utils.clip_grad_norm_(parameters, settings.clip)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    return losses


def rate(step: int, steps: int, warmup: float) -> float:
    """Share of the learning rate at a step: rises to 1 over the warm-up, then falls to 0 as half a cosine.

    >>> [round(rate(step, 10, 0.2), 2) for step in (0, 1, 2, 6, 10)]
    [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    rising = math.ceil(steps * warmup)
    if step < rising:
        return (step + 1) / rising
    return (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising))) / 2


RATER, EXPLANATION, PROMPTS_VERDICT = (
    Instruction(f"curiosity_{name}", frozenset({"data"})) for name in ("rater", "explanation", "verdict")
)
DECIMALS = 2  # of the curiosity score as text: a third would be a token a number that no rater's taste reaches
CURIOSITY, VERDICT = "curiosity", "verdict"  # the two adapters
HEADS = "heads.safetensors"
EXTRA = "personal"


class Prompts:
    """Prompts of at most so many tokens, whose story is cut where it is too long."""

    def __init__(self, tokenizer: Any, length: int) -> None:
        self.tokenizer, self.length = tokenizer, length

    def forward(self, vote: ExplainedVote) -> list[int]:
        return self._tokens(RATER, vote, {"rater": vote.rater})

    def inverse(self, vote: ExplainedVote) -> list[int]:
        return self._tokens(EXPLANATION, vote, {"explanation": vote.explanation or ""})

    def verdict(self, vote: ExplainedVote, curiosity: Values) -> list[int]:
        return self._tokens(PROMPTS_VERDICT, vote, {"curiosity": [round(float(part), DECIMALS) for part in curiosity]})

    def answers(self) -> tuple[int, int]:
        """The tokens that `no` and `yes` begin with."""
        no, yes = (self._encoded(word)[0] for word in ("no", "yes"))
        if no == yes:
            raise EngineFailedError(
                "the base model's tokenizer has the same first token for 'yes' and 'no', expected two"
            )
        return no, yes

    def _tokens(self, instruction: Instruction, vote: ExplainedVote, more: Mapping[str, object]) -> list[int]:
        template, story = instruction.template(), self._encoded(vote.text)

        def filled(text: str) -> list[int]:
            prompt = template.request({"story": text, "question": vote.question, **more})
            if not self.tokenizer.chat_template:
                return list(self.tokenizer.encode(prompt, add_special_tokens=True))
            message = [{"role": "user", "content": prompt}]
            return self._encoded(
                self.tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
            )

        def cut(kept: int) -> list[int]:
            return filled(self.tokenizer.decode(story[:kept]))

        tokens = filled(vote.text)
        if len(tokens) <= self.length:
            return tokens
        # tried, not reckoned: in JSON an escape takes more tokens than what it stands for
        kept = bisect(range(len(story)), self.length, key=lambda kept: len(cut(kept))) - 1
        if kept < 1:
            raise EngineFailedError(
                f"question, explanation and instruction take more than {self.length} tokens beside the story: "
                "give a larger length"
            )
        return cut(kept)

    def _encoded(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))


class LanguageCuriosity:
    means: RaterMeans

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
        return f"lora({model_identity(self.base, self._facts)})"

    def fit(self, votes: Sequence[ExplainedVote]) -> Self:
        """Train f on votes with explanations, note each rater's mean inverse vector, and train the verdicts on all."""
        having = explained(votes, self.explanation)
        check_both_verdicts(votes)
        import torch

        self.load(sorted({vote.rater for vote in having}))
        train(self._learning(CURIOSITY) + list(self.heads.parameters()), having, self.curiosity_loss, self.settings)
        self.means = RaterMeans(having, self.inverse(having))
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
        return self

    def load(self, raters: Sequence[str]) -> None:
        """Load the base anew, with two adapters and heads that have learned nothing."""
        import torch
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM, AutoTokenizer

        own, local = self.settings, {"trust_remote_code": False, "local_files_only": True}
        torch.manual_seed(own.seed)
        with engine_failures(f"loading the base {self.base}"):
            self.prompts = Prompts(AutoTokenizer.from_pretrained(self.base, **local), own.length)
            model = AutoModelForCausalLM.from_pretrained(self.base, dtype="auto", use_safetensors=True, **local)
            # activations of 4 stories of 4,096 tokens fill a large device: they are computed again on the way back
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            facts = {"r": own.rank, "lora_alpha": own.alpha, "lora_dropout": own.dropout}
            low_rank = partial(LoraConfig, **facts, target_modules="all-linear", task_type="CAUSAL_LM")
            self.model: Any = get_peft_model(model.to(device()), low_rank(), adapter_name=CURIOSITY)
            self.model.add_adapter(VERDICT, low_rank())
        check_unchanged(self.base, self._facts)
        self.raters = list(raters)
        hidden = self.model.get_input_embeddings().weight.shape[1]
        vector, rater = torch.nn.Linear(hidden, own.width), torch.nn.Linear(own.width, len(raters))
        self.heads = torch.nn.ModuleDict({"vector": vector, "rater": rater}).to(device())

    def curiosity_loss(self, votes: Sequence[ExplainedVote]) -> "torch.Tensor":
        """1 less the mean cosine of forward and inverse vectors, plus lambda times the raters' cross-entropy."""
        import torch

        readings = (self.prompts.forward, self.prompts.inverse)
        forward, inverse = (self._vectors([read(vote) for vote in votes]) for read in readings)
        apart = 1 - torch.nn.functional.cosine_similarity(forward, inverse).mean()
        raters = torch.tensor([self.raters.index(vote.rater) for vote in votes], device=device())
        told = torch.nn.functional.cross_entropy(self.heads["rater"](inverse), raters)
        return apart + self.settings.rater_weight * told

    def curiosity(self, votes: Sequence[ExplainedVote]) -> Values:
        """Forward less inverse vector, or less the mean that stands for it."""
        forward = self._unit([self.prompts.forward(vote) for vote in votes])
        return forward - (self.inverse(votes) if self.explanation == "held-out" else self.means.rows(votes))

    def inverse(self, votes: Sequence[ExplainedVote]) -> Values:
        return self._unit([self.prompts.inverse(vote) for vote in votes])

    def probabilities(self, votes: Sequence[ExplainedVote]) -> Values:
        check_readable(votes, self.explanation)
        import torch

        prompts = list(map(self.prompts.verdict, votes, self.curiosity(votes)))
        answers = list(self.prompts.answers())
        self.model.set_adapter(VERDICT)
        logits = self._read(prompts, lambda rows: self._next(rows)[:, answers])
        return np.asarray(torch.softmax(logits, dim=1)[:, 1].numpy().astype(np.float64))

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

    def _learning(self, adapter: str) -> list[Any]:
        self.model.set_adapter(adapter)
        self.model.train()
        return [part for part in self.model.parameters() if part.requires_grad]

    def _unit(self, prompts: Sequence[list[int]]) -> Values:
        import torch

        self.model.set_adapter(CURIOSITY)
        rows = torch.nn.functional.normalize(self._read(prompts, self._vectors))
        return np.asarray(rows.numpy().astype(np.float64))

    def _read(self, prompts: Sequence[list[int]], read: Callable[[Sequence[list[int]]], "torch.Tensor"]) -> Any:
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
        """Padded on the left, so that the last column is the last token of every row."""
        import torch

        gaps = [max(map(len, prompts)) - len(tokens) for tokens in prompts]
        rows = torch.tensor([[tokens[0]] * gap + tokens for tokens, gap in zip(prompts, gaps, strict=True)])
        places = torch.arange(rows.shape[1]) - torch.tensor(gaps)[:, None]
        batch = {"input_ids": rows, "attention_mask": (places >= 0).long(), "position_ids": places.clamp(min=0)}
        return {name: part.to(device()) for name, part in batch.items()} | {"use_cache": False}
