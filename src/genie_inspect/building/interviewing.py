"""Requests of the building steps: one template, numbered items; items that a reply lacks are asked for again."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from inspect_ai.model import GenerateConfig, Model

from genie_inspect.asking.gathering import gathered
from genie_inspect.asking.grader import ask
from genie_inspect.asking.readable import ANEW, until_complete, until_read
from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.fence import fenced
from genie_inspect.prompting.forms import Form, choices_form
from genie_inspect.prompting.replies import numbered_choices
from genie_inspect.prompting.templates import Instruction, Template

T = TypeVar("T")
TOKENS_AN_ITEM = 60  # of a question or a feature with its description
ITEMS_A_REQUEST = 20  # sorted by one
SPARE_TOKENS = 200  # for what a model says around its list
INSTRUCTIONS = tuple(
    Instruction(name, frozenset({"count", "data"}))
    for name in (
        "list_features",
        "pair_concepts",
        "list_aspects",
        "write_questions",
        "write_feature_questions",
        "filter_questions",
        "map_questions",
        "map_features",
    )
)
Parser = Callable[[str, int], dict[int, T]]


def interview_templates(folder: Path | str | None = None) -> dict[str, Template]:
    """The templates of the building steps, by name; those in a folder of the user's own in place of the bundled ones.

    Raises:
        TemplateError: If the folder is missing, or a template in it has other blanks than ours.
    """
    return {instruction.name: instruction.template(folder) for instruction in INSTRUCTIONS}


class Interviewer:
    """Sends requests to one model, and counts the replies that could not be used.

    Args:
        model: Who is asked.
        templates: As from `interview_templates`; the bundled ones unless given.
    """

    def __init__(self, model: Model, templates: Mapping[str, Template] | None = None) -> None:
        self.model = model
        self.templates = templates or interview_templates()
        self.unreadable = 0
        """Replies that held nothing, or lacked something that was asked for."""
        self.asked_again = 0
        """Requests that only such a reply made necessary."""

    async def list_items(
        self, template: str, count: int, data: Mapping[str, Any], form: Form | None, parse: Parser[T], **config: Any
    ) -> list[T]:
        """The items of one reply, in the order of their numbers; asked again while no item can be read."""

        async def attempt(settings: GenerateConfig) -> list[T]:
            values = await self._once(template, count, data, form, parse, settings, **config)
            if not values:
                raise UnreadableReplyError(f"the reply to {template} holds nothing that was asked for")
            return [values[number] for number in sorted(values)]

        try:
            return await until_read(attempt)
        except UnreadableReplyError:
            return []

    async def sort_items(
        self, template: str, items: Sequence[str], data: Mapping[str, Any], choices: Sequence[str], under: str
    ) -> list[str | None]:
        """One of the choices for each item, in their order, some items a request; None where none comes.

        Args:
            template: Which instruction.
            items: What is sorted.
            data: What every request shows beside its items.
            choices: What an item may be.
            under: The key of the data under which a request has its items by number.
        """
        parts = [items[start : start + ITEMS_A_REQUEST] for start in range(0, len(items), ITEMS_A_REQUEST)]
        sorts = (self._sorted(template, part, data, choices, under) for part in parts)
        return [choice for part in await gathered(*sorts) for choice in part]

    async def _sorted(
        self, template: str, items: Sequence[str], data: Mapping[str, Any], choices: Sequence[str], under: str
    ) -> list[str | None]:
        """As `sort_items`, of the items of one request; those that its reply lacks are asked for again."""
        parse = partial(numbered_choices, choices=choices)

        async def attempt(missing: Sequence[int], settings: GenerateConfig) -> dict[int, str]:
            # numbered anew: a request for the rest has no gaps, which models would fill
            numbered = {str(number): items[index] for number, index in enumerate(missing, start=1)}
            form = choices_form(len(missing), choices)
            values = await self._once(template, len(missing), {**data, under: numbered}, form, parse, settings)
            return {missing[number - 1]: value for number, value in values.items()}

        values = await until_complete(range(len(items)), attempt)
        return [values.get(index) for index in range(len(items))]

    async def _once(
        self,
        template: str,
        count: int,
        data: Mapping[str, Any],
        form: Form | None,
        parse: Parser[T],
        settings: GenerateConfig,
        **config: Any,
    ) -> dict[int, T]:
        # ANEW marks the settings of a repeated request
        self.asked_again += settings == ANEW
        request = self.templates[template].fill(count=count, data=fenced(data))
        limit = SPARE_TOKENS + TOKENS_AN_ITEM * count
        config_of_request = GenerateConfig(**{"temperature": 0.0, "max_tokens": limit, **config})
        values = parse(await ask(self.model, request, config_of_request.merge(settings), form), count)
        # without a form a reply may hold fewer items than were asked for
        self.unreadable += len(values) < count if form is not None else not values
        return values
