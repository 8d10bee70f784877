"""A model that notes what it is asked and says nothing: so a plan of requests is what a run would ask."""

from collections.abc import Callable
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput

from genie_inspect.building.stand_ins.stand_in import StandIn, last_text
from genie_inspect.scale.bodies import chat_body, check_provider

Note = Callable[[dict[str, Any]], None]


class Collecting(StandIn):
    """Stands in for a model under its name and settings.

    Args:
        model: The model that shall be asked.
        note: Takes the body of each request.

    Raises:
        UnknownChoiceError: If its provider takes requests of another form.
    """

    def __init__(self, model: Model, note: Note) -> None:
        check_provider(model)
        super().__init__(model)
        self._note = note
        self._nothing = ModelOutput.from_content(str(model), "")

    async def reply(self, messages: str | list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """Nothing, after the request was noted."""
        self._note(chat_body(self.model, last_text(messages), config))
        return self._nothing
