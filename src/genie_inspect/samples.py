"""What Inspect's samples are to us: where one has its prompt, its document and what solvers left."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from inspect_ai.log import EvalSample
from inspect_ai.solver import TaskState

from genie_inspect.prompting import texts
from genie_inspect.prompting.texts import LONGEST, TOO_LONG, has_word, whole_text

REFUSAL, NO_RESPONSE, FAILED = texts.REFUSAL, "no_response", "generation failed"


def document_of(sample: TaskState | EvalSample) -> str:
    """The text that the model wrote, as it stands but for halves of characters.

    Empty where generation failed, and where it is beyond the limit: nothing splits, encodes or logs it again.
    """
    text = sample.output.completion if sample.output.choices else ""
    return whole_text(text) if len(text) <= LONGEST else ""


def is_cut(sample: TaskState | EvalSample) -> bool:
    """Whether the document ends where the tokens that were allowed for it did, and not where its writer ended it."""
    return sample.output.stop_reason in {"max_tokens", "model_length"} if sample.output.choices else False


def unusable(sample: TaskState | EvalSample) -> str:
    """Why a sample has no document, as a reason for the log; empty when it has one.

    A text without a single letter or digit is no document, and neither is a refusal in words.
    """
    # an EvalSample is one of a log, where a sample that failed has an error and may lack its output
    if isinstance(sample, EvalSample) and sample.error is not None:
        return FAILED
    # nobody answered: as a sample that failed looks when its log is scored again
    if not sample.output.choices:
        return sample.output.error or FAILED
    # a provider's filter can cut a document in its middle: what stands there is no story either
    if sample.output.stop_reason == "content_filter":
        return REFUSAL
    if len(sample.output.completion) > LONGEST:
        return TOO_LONG
    reason = no_document(document_of(sample))
    return sample.output.error or reason if reason == NO_RESPONSE else reason  # a strategy says there what failed


def no_document(text: str) -> str:
    """Why a text is no document, as a reason for the log; empty when it is one."""
    if len(text) > LONGEST:
        return TOO_LONG
    if not has_word(text):
        return NO_RESPONSE
    return REFUSAL if texts.refuses(text) else ""


KEY = "intervention"
"""Where a dataset puts it in a sample's metadata."""


@dataclass(frozen=True, slots=True)
class InterventionFacts:
    """What was done to a text."""

    kind: str
    """`original`, `edit` or `paraphrase`."""
    original: str
    """The id of the text that it was made of; an original's own."""
    feature: str = ""
    """Which an edit changed."""
    alternative: str = ""
    """The value that the edit gave it."""
    original_text: str = ""
    """Of an edit or paraphrase; nothing is compared with the text that it was made of."""

    def as_metadata(self) -> dict[str, Any]:
        """For a sample's metadata; `intervention_of` reads it back."""
        return {KEY: asdict(self)}


def intervention_of(sample: TaskState | EvalSample) -> InterventionFacts | None:
    """What was done to the sample's text; None where the sample is none of a metric study."""
    return intervention_in(sample.metadata)


def intervention_in(metadata: Mapping[str, Any] | None) -> InterventionFacts | None:
    """The same of a sample's metadata."""
    facts = (metadata or {}).get(KEY)
    # a log is untrusted: what does not have this shape is not ours
    if not isinstance(facts, dict) or set(facts) != set(InterventionFacts.__slots__):
        return None
    return InterventionFacts(**facts) if all(isinstance(value, str) for value in facts.values()) else None


def made_of(sample: TaskState | EvalSample) -> str:
    """The text that the sample's was made of, with which it is not compared; empty where it was made of none."""
    facts = intervention_of(sample)
    return facts.original_text if facts else ""


def is_original(sample: TaskState | EvalSample) -> bool:
    """Whether the sample's is a text of a metric study of which others were made."""
    facts = intervention_of(sample)
    return facts is not None and facts.kind == "original"


PROMPT_KEY = "prompt"
"""Where a dataset puts the prompt in a sample's metadata, when its input says more or something else."""


def prompt_of(sample: TaskState | EvalSample) -> str:
    """The prompt that a sample's document answers, the same while it is scored and in the log.

    Metadata `prompt` where the dataset sets it, else the text of the input: of several messages the last that a user
    wrote, as in Inspect's own `input_text`.
    """
    stated = (sample.metadata or {}).get(PROMPT_KEY)
    # whole characters, no space around: a prompt is compared as text with those of the population
    return whole_text(str(_input_text(sample) if stated is None else stated)).strip()


def _input_text(sample: TaskState | EvalSample) -> str:
    if isinstance(sample.input, str):
        return sample.input
    return next((message.text for message in reversed(sample.input) if message.role == "user"), "")


GENERATIONS = "generations"
"""Several replies to one prompt, which are judged as a set."""
EARLIER = "earlier"
"""The documents that negative sampling wrote before the last one, oldest first."""
ORIGINAL = "original"
"""The document before the solver `trim` cut it."""
PLAN = "plan"
"""The outline, by part."""
RESPONSES = "responses"
"""The responses of verbalized sampling, each with its probability."""
UNSCORED = "unscored"
"""Why every scorer of the task leaves the sample unscored."""

RESPONSES_ASKED, RESPONSES_PARSED = "responses_asked", "responses_parsed"
"""In the sample's metadata: how many responses verbalized sampling asked for, and how many could be read."""
RESPONSES_DISTINCT = "responses_distinct"
"""And how many of those have a text of their own."""


def keep_generations(state: TaskState, texts: Iterable[str]) -> None:
    """Put the texts in the sample's store, empty ones included."""
    state.store.set(GENERATIONS, list(map(whole_text, texts)))


def kept_generations(state: TaskState) -> list[str]:
    """The texts in the sample's store; none when no solver left any."""
    texts: list[str] = state.store.get(GENERATIONS, [])
    return list(map(whole_text, texts))


STORY_KEY = "existing_story"
"""Where a dataset puts it in a sample's metadata."""


@dataclass(frozen=True, slots=True)
class StoryFacts:
    """A story that exists."""

    id: str
    reference: str = ""
    """The id or title of the story that it is held against; empty where it has none."""
    reference_words: int = 0

    def as_metadata(self) -> dict[str, Any]:
        """For a sample's metadata; `story_of` reads it back."""
        return {STORY_KEY: asdict(self)}


def story_of(sample: EvalSample) -> StoryFacts | None:
    """What a sample says of its story; None where it names none."""
    facts = (sample.metadata or {}).get(STORY_KEY)
    # a log is untrusted: what does not have this shape is not ours
    if not isinstance(facts, dict) or set(facts) != set(StoryFacts.__slots__):
        return None
    kinds = {"id": str, "reference": str, "reference_words": int}
    return StoryFacts(**facts) if all(isinstance(facts[name], kind) for name, kind in kinds.items()) else None
