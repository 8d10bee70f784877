"""Models that answer in a model's place: from what is on record, or as a rehearsal."""

import sqlite3
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, ModelUsage

from genie_inspect.engines.embedders import static_token_count
from genie_inspect.errors import PopulationError
from genie_inspect.files.store import connected, is_damage
from genie_inspect.graders import instrument, quality  # noqa: F401  # whose instructions are rehearsed
from genie_inspect.graders.grader import identified_model
from genie_inspect.prompting.templates import instruction_of, unfenced
from genie_inspect.signature import digest


class StandIn(Model):
    def __init__(self, model: Model) -> None:
        super().__init__(model.api, model.config, model.model_args)
        self.model = model

    @property
    def explicit_base_url(self) -> str | None:
        """The model's own: it belongs to what identifies it, by which replies on record are found."""
        return self.model.explicit_base_url

    async def generate(
        self,
        input: str | list[ChatMessage],  # noqa: A002  # Inspect's own name
        tools: Sequence[Any] | Any = (),
        tool_choice: Any = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  # Inspect's own signature
        *args: Any,
        **options: Any,
    ) -> ModelOutput:
        return await self.reply(input, config)

    @abstractmethod
    async def reply(self, messages: str | list[ChatMessage], config: GenerateConfig) -> ModelOutput: ...


def last_text(messages: str | list[ChatMessage]) -> str:
    return messages if isinstance(messages, str) else messages[-1].text


FILE = "replies.sqlite"
SHOWN = 120  # characters of what is wrong with a record
SCHEMA = """
create table if not exists replies (
    request text not null, turn integer not null, output text not null, primary key (request, turn)
) without rowid
"""


@dataclass(slots=True)
class Tally:
    calls: int = 0  # replies that a model gave now
    recorded: int = 0  # replies that were on record
    input_tokens: int = 0  # of the calls made now, as the provider counts them
    output_tokens: int = 0

    @property
    def requests(self) -> int:
        return self.calls + self.recorded


class ReplyRecord:
    """Replies on disk, by request and by how often the same request was made before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._readable():
            self._connection = connected(path, SCHEMA)

    def reply(self, request: str, turn: int) -> ModelOutput | None:
        select = "select output from replies where request = ? and turn = ?"
        with self._readable():
            row = self._connection.execute(select, (request, turn)).fetchone()
            return ModelOutput.model_validate_json(row[0]) if row else None

    def keep(self, request: str, turn: int, output: ModelOutput) -> None:
        text = output.model_dump_json(exclude_none=True)
        with self._readable(), self._connection:
            # two processes may ask the same: either reply will do
            self._connection.execute("insert or replace into replies values (?, ?, ?)", (request, turn, text))

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Damage ends the run, other than with a cache: what is on record was paid for, and may yet be mended."""
        try:
            yield
        except (sqlite3.DatabaseError, ValueError) as error:  # ValueError: of what is no reply
            reason = " ".join(str(error).split())[:SHOWN]
            if isinstance(error, sqlite3.OperationalError) and not is_damage(error):  # locked, no permission, no space
                raise PopulationError(f"the record of replies {self.path} cannot be used: {reason}") from error
            raise PopulationError(
                f"{self.path} is not a readable record of replies ({reason}). Remove it to start again"
            ) from error


class RecordedModel(StandIn):
    """Answers from a record where it can: the n-th time that a run makes a request gets the n-th reply on record."""

    def __init__(self, model: Model, record: ReplyRecord, *, keep_cut: bool = True) -> None:
        super().__init__(model)
        self.keep_cut, self.tally, self._record = keep_cut, Tally(), record
        self._turns: Counter[str] = Counter()
        self._identities: dict[str, str] = {}  # of the model, by the settings of a request

    async def reply(self, messages: str | list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """The reply on record, else the model's, on record before it is returned."""
        parts = [messages] if isinstance(messages, str) else [one.model_dump_json(exclude={"id"}) for one in messages]
        # the model and its settings are in it: another temperature is another request
        if (settings := config.model_dump_json()) not in self._identities:
            self._identities[settings] = identified_model(self.model, (config, None))
        request = digest(self._identities[settings], "\n".join(parts))
        # before the first await, so that equal requests at once get different turns
        turn, self._turns[request] = self._turns[request], self._turns[request] + 1
        output = self._record.reply(request, turn)
        if output is not None:
            self.tally.recorded += 1
            return output
        output = await self.model.generate(messages, config=config)
        # an error is no reply: the next run asks again
        if not output.error and (self.keep_cut or output.stop_reason != "max_tokens"):
            self._record.keep(request, turn, output)
        self.tally.calls += 1
        if output.usage is not None:
            self.tally.input_tokens += output.usage.input_tokens
            self.tally.output_tokens += output.usage.output_tokens
        return output


TOKENS_A_REPLY_ITEM = 12  # of a short answer or question, as the recorded readings have them


class Rehearsal(StandIn):
    """Stands in for a model under its name; counts tokens with the static embedder's tokenizer."""

    async def reply(self, messages: str | list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        request = last_text(messages)
        data = unfenced(request)
        reply = rehearsed(data)
        instruction = instruction_of(data)
        is_prose = instruction is not None and instruction.is_prose
        # else as `fenced` writes the items
        tokens = static_token_count(reply) if is_prose else TOKENS_A_REPLY_ITEM * max(1, reply.count('":"'))
        output = ModelOutput.from_content(str(self), reply)
        # a dry run reports these as an estimate of the real run's tokens
        output.usage = usage(static_token_count(request), tokens)
        return output


def usage(input_tokens: int, output_tokens: int) -> ModelUsage:
    return ModelUsage(input_tokens=input_tokens, output_tokens=output_tokens, total_tokens=input_tokens + output_tokens)


def rehearsed(data: dict[str, Any]) -> str:
    """A readable reply to a request that carries this data."""
    instruction = instruction_of(data)
    if instruction is None or instruction.rehearsed is None:
        raise ValueError(f"no instruction is known by {', '.join(sorted(data))}, expected the data of one of ours")
    return instruction.rehearsed(data)
