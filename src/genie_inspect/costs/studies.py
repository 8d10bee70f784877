"""What a study will ask that is not there yet: so many documents against a population of some size."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce
from itertools import cycle, islice
from operator import add
from pathlib import Path

from genie_inspect.costs.estimate import Known, TaskCost, task_cost
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.judges.instrument import Instrument
from genie_inspect.populations.population import Population
from genie_inspect.populations.writing import write_population

PROMPT = "Write a story."


@dataclass(frozen=True, slots=True)
class Study:
    """How much is to be scored; what is None is as in the population that it is planned by."""

    documents: int
    """New ones, of all prompts together."""
    prompts: int | None = None
    population: int | None = None
    """Documents for each prompt."""
    questions: int | None = None
    """For each prompt."""

    @property
    def is_there(self) -> bool:
        """Whether the population is the very one that will be compared with."""
        return self.prompts is None and self.population is None and self.questions is None


def study_in(text: str) -> Study:
    """A study as it is written: `documents=4500,prompts=50,population=50,questions=17`.

    Raises:
        UnknownChoiceError: If a part has another form.
    """
    known = [field.name for field in fields(Study)]
    values: dict[str, int] = {}
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in known or name in values or not value.isdecimal() or not 0 < int(value[:10]) < 10**9:
            accepted = f"documents=4500, and any of {', '.join(known[1:])} alike, each once and from 1"
            raise UnknownChoiceError("--study", text, accepted)
        values[name] = int(value)
    if "documents" not in values:
        raise UnknownChoiceError("--study", text, "documents=4500 among its parts")
    return Study(**values)


def study_cost(study: Study, like: Population, instrument: Instrument, known: Known) -> TaskCost:
    """What a study asks of one grader, its documents spread evenly over the prompts.

    Args:
        study: How much.
        like: The population that is compared with, or that one of another size is made up from: its documents and
            questions, repeated, of which nobody has read anything.
        instrument: One whose judge asks a grader.
        known: Who reads and judges.
    """
    if study.is_there:
        return task_cost(like, _spread(study.documents, like.prompts), instrument, known)
    prompts = study.prompts or len(like.prompts)
    each, more = divmod(study.documents, prompts)
    # of what is made up nothing can be on record
    nobody = Known(as_json=known.as_json, keeps_none=not known.keeps)
    with tempfile.TemporaryDirectory() as folder:
        made = made_up(study, like, Path(folder) / "population")
        # some prompts may have a document more than the others
        sizes = {each: prompts - more, each + 1: more}
        parts = [task_cost(made, {PROMPT: size}, instrument, nobody) * times for size, times in sizes.items() if times]
    return reduce(add, parts)


def made_up(study: Study, like: Population, folder: Path) -> Population:
    """A population of the study's size for one prompt, of the documents and questions of another."""
    documents = [document for prompt in like.prompts for document in like.documents(prompt)]
    questions = [question for prompt in like.prompts for question in like.questions(prompt)]
    # of what the study does not say, as many as the other has for a prompt
    documents_wanted = study.population or round(len(documents) / len(like.prompts))
    questions_wanted = study.questions or round(len(questions) / len(like.prompts))
    return write_population(
        folder,
        name="planned",
        version="1",
        licence="none",
        features=like.features,
        documents=(
            document.model_copy(update={"id": f"d-{number}", "prompt": PROMPT})
            for number, document in enumerate(islice(cycle(documents), documents_wanted))
        ),
        questions=(
            question.model_copy(update={"id": f"q-{number}", "prompt": PROMPT})
            for number, question in enumerate(islice(cycle(questions), questions_wanted))
        ),
        answers=[],
    )


def _spread(documents: int, prompts: Sequence[str]) -> dict[str, int]:
    each, more = divmod(documents, len(prompts))
    return {prompt: each + (number < more) for number, prompt in enumerate(prompts)}
