"""What a language model reads: story and question, with the rater, the explanation or the curiosity score."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from typing import Any

from genie_inspect.engines.curiosity.votes import ExplainedVote, Values
from genie_inspect.errors import EngineFailedError
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.templates import Instruction

RATER, EXPLANATION, VERDICT = (
    Instruction(f"curiosity_{name}", frozenset({"data"})) for name in ("rater", "explanation", "verdict")
)
DECIMALS = 2  # of the curiosity score as text: a third would be a token a number that no rater's taste reaches


class Prompts:
    """Prompts of at most so many tokens, whose story is cut where it is too long.

    Args:
        tokenizer: The base model's; its chat template is used where it has one, as a server uses it.
        length: Tokens.
    """

    def __init__(self, tokenizer: Any, length: int) -> None:
        self.tokenizer, self.length = tokenizer, length

    def forward(self, vote: ExplainedVote) -> list[int]:
        """Tokens of story, question and rater."""
        return self._tokens(RATER, vote, {"rater": vote.rater})

    def inverse(self, vote: ExplainedVote) -> list[int]:
        """Tokens of story, question and explanation."""
        return self._tokens(EXPLANATION, vote, {"explanation": vote.explanation or ""})

    def verdict(self, vote: ExplainedVote, curiosity: Values) -> list[int]:
        """Tokens of story, question and curiosity score, up to where the answer begins."""
        return self._tokens(VERDICT, vote, {"curiosity": [round(float(part), DECIMALS) for part in curiosity]})

    def answers(self) -> tuple[int, int]:
        """The tokens that `no` and `yes` begin with.

        Raises:
            EngineFailedError: If they begin alike.
        """
        no, yes = (self._encoded(word)[0] for word in ("no", "yes"))
        if no == yes:
            raise EngineFailedError("the base model's tokenizer begins 'yes' and 'no' alike, expected two tokens")
        return no, yes

    def _tokens(self, instruction: Instruction, vote: ExplainedVote, more: Mapping[str, object]) -> list[int]:
        template = instruction.template()
        tokens = self._filled(template, vote.text, vote.question, more)
        if len(tokens) <= self.length:
            return tokens
        story = self._encoded(vote.text)

        def cut(kept: int) -> list[int]:
            return self._filled(template, self.tokenizer.decode(story[:kept]), vote.question, more)

        # tried, not reckoned: in JSON an escape takes more tokens than what it stands for
        kept = bisect(range(len(story)), self.length, key=lambda kept: len(cut(kept))) - 1
        if kept < 1:
            raise EngineFailedError(
                f"question, explanation and instruction take more than {self.length} tokens beside the story: "
                "give a larger length"
            )
        return cut(kept)

    def _filled(self, template: Any, text: str, question: str, more: Mapping[str, object]) -> list[int]:
        prompt = template.fill(data=fenced({"story": text, "question": question, **more}))
        if not self.tokenizer.chat_template:
            return list(self.tokenizer.encode(prompt, add_special_tokens=True))
        message = [{"role": "user", "content": prompt}]
        return self._encoded(self.tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True))

    def _encoded(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))


def padded(rows: Sequence[Sequence[int]]) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """Token rows of one length, what of them counts, and the places of their tokens.

    Padded on the left, so that the last column is the last token of every row.

    >>> padded([[5], [6, 7]])
    ([[5, 5], [6, 7]], [[0, 1], [1, 1]], [[0, 0], [0, 1]])
    """
    widest = max(map(len, rows))
    gaps = [widest - len(row) for row in rows]
    return (
        [[row[0]] * gap + list(row) for row, gap in zip(rows, gaps, strict=True)],
        [[0] * gap + [1] * len(row) for row, gap in zip(rows, gaps, strict=True)],
        [[0] * gap + list(range(len(row))) for row, gap in zip(rows, gaps, strict=True)],
    )
