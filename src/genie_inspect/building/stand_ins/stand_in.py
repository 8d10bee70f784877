"""A model that answers in the place of another, under its name, limits and settings."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput


class StandIn(Model):
    """What it replies is up to the kind; whoever asks for anything else gets that of the model behind it.

    Args:
        model: The model in whose place it stands.
    """

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
        """What the kind replies; none of ours is given tools."""
        return await self.reply(input, config)

    @abstractmethod
    async def reply(self, messages: str | list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """The reply to a request."""


def last_text(messages: str | list[ChatMessage]) -> str:
    """The text of a request, or of its last message."""
    return messages if isinstance(messages, str) else messages[-1].text
