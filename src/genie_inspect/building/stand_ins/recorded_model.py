"""A model whose every reply is on record, so that a killed run goes on without asking anything twice."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput

from genie_inspect.asking.identity import identified_model
from genie_inspect.building.stand_ins.stand_in import StandIn
from genie_inspect.engines.sqlite_file import connected, is_damage
from genie_inspect.errors import PopulationError
from genie_inspect.signature import digest

FILE = "replies.sqlite"
SHOWN = 120  # characters of what is wrong with a record
SCHEMA = """
create table if not exists replies (
    request text not null, turn integer not null, output text not null, primary key (request, turn)
) without rowid
"""


@dataclass(slots=True)
class Tally:
    """Requests of a run and the tokens that they took."""

    calls: int = 0
    """Replies that a model gave now."""
    recorded: int = 0
    """Replies that were on record."""
    input_tokens: int = 0
    output_tokens: int = 0
    """Tokens of the calls made now, as the provider counts them."""

    @property
    def requests(self) -> int:
        """All requests, however they were answered."""
        return self.calls + self.recorded


class ReplyRecord:
    """Replies on disk, by request and by how often the same request was made before.

    A reply is on record before anybody reads it; a process that is killed loses none.

    Args:
        path: The record's file; it is made when missing.

    Raises:
        PopulationError: If the file is there and is no record, or cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._readable():
            self._connection = connected(path, SCHEMA)

    def reply(self, request: str, turn: int) -> ModelOutput | None:
        """The reply on record; None when there is none.

        Raises:
            PopulationError: If the record is damaged there, or cannot be used any more.
        """
        select = "select output from replies where request = ? and turn = ?"
        with self._readable():
            row = self._connection.execute(select, (request, turn)).fetchone()
            return ModelOutput.model_validate_json(row[0]) if row else None

    def keep(self, request: str, turn: int, output: ModelOutput) -> None:
        """Put a reply on record.

        Raises:
            PopulationError: If the record is damaged, or cannot be used any more.
        """
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
                f"{self.path} is no readable record of replies ({reason}): remove it to start anew"
            ) from error


class RecordedModel(StandIn):
    """A model that answers from a record where it can.

    The n-th time that a run makes a request gets the n-th reply on record, so that asking again after an unreadable
    reply, or ten times for ten samples, goes the same way in every run.

    Args:
        model: Who is asked for what is not on record.
        record: Where replies are kept.
        keep_cut: Whether a reply is kept that was cut off at its allowance: a text is a text, half a sentence is none.
    """

    def __init__(self, model: Model, record: ReplyRecord, *, keep_cut: bool = True) -> None:
        super().__init__(model)
        self.keep_cut = keep_cut
        self.tally = Tally()
        self._record = record
        self._turns: Counter[str] = Counter()

    async def reply(self, messages: str | list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """The reply on record, else the model's, on record before it is returned."""
        text = (
            messages
            if isinstance(messages, str)
            else "\n".join(message.model_dump_json(exclude={"id"}) for message in messages)
        )
        # the model and its settings are in it: another temperature is another request
        request = digest(identified_model(self.model, (config, None)), text)
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
        self._count(output)
        return output

    def _count(self, output: ModelOutput) -> None:
        self.tally.calls += 1
        if output.usage is not None:
            self.tally.input_tokens += output.usage.input_tokens
            self.tally.output_tokens += output.usage.output_tokens
