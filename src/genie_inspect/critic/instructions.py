"""The instructions of a critic, and the labels that it chooses from."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal, Self

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.prompting.first_labels import up_to_label
from genie_inspect.prompting.forms import Form, label_form
from genie_inspect.prompting.panel_replies import YES_NO, yes_or_no
from genie_inspect.prompting.replies import LEVELS, labels, verdict
from genie_inspect.prompting.templates import Template, load_template
from genie_inspect.signature import digest

AFTER: Final = "after"
"""An analysis behind the label."""
Analyse = bool | Literal["after"]
_FORMS = {True: "analyse", False: "label", AFTER: "rate"}


@dataclass(frozen=True)
class Instructions:
    """One way of asking a critic."""

    stories: Template
    """The part that holds the stories: shared by all tests."""
    test: Template
    """The part that names the aspect."""
    scale: Template
    form: Form
    """What a reply holds: one of the labels, and where it is asked for an analysis."""
    read: Callable[[str], int]
    """Points in a reply: of story A over story B; of a story alone 1 = yes, 0 = no."""
    analyses: bool
    """Whether the critic analyses, before it chooses or behind."""

    @classmethod
    def load(
        cls, levels: int = 5, *, analyse: Analyse = True, reference: bool = True, folder: Path | str | None = None
    ) -> Self:
        """The instructions for one way of asking.

        Args:
            levels: How many labels there are to choose from with a reference: 3, 5 or 7.
            analyse: Whether the critic analyses before it chooses; `after`: it chooses, and says why then.
            reference: Whether the candidate is compared with a reference story, or stands alone and gets a yes or no.
            folder: A folder with templates of the user's own.

        Raises:
            UnknownChoiceError: If there is no scale with so many levels, or no such order.
            TemplateError: If a template of the user's has other blanks than ours.
        """
        if levels not in LEVELS:
            raise UnknownChoiceError("levels", levels, "one of " + ", ".join(map(str, LEVELS)))
        if not (isinstance(analyse, bool) or analyse == AFTER):
            raise UnknownChoiceError("analyse", analyse, f"true, false or {AFTER}")
        stories, test = ("critic_pair", "critic") if reference else ("critic_alone", "critic_alone")
        choices = labels(levels) if reference else YES_NO
        # the parser belongs to the labels: one for another scale would read other verdicts
        read = partial(verdict, levels=levels) if reference else yes_or_no
        return cls(
            load_template(stories, {"data"}, folder),
            load_template(f"{test}_{_FORMS[analyse]}", {"scale", "data"}, folder),
            load_template(f"scale_{levels}" if reference else "scale_yes_no", set(), folder),
            label_form(choices, analysed=analyse is True, reasons=analyse == AFTER),
            (lambda reply: read(up_to_label(reply))) if analyse == AFTER else read,
            bool(analyse),
        )

    @property
    def digest(self) -> str:
        """Twelve hex digits of the texts and of the labels that count."""
        return digest(self.stories.text, self.test.text, self.scale.text, self.form.pattern)
