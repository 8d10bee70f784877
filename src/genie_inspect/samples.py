"""What Inspect's samples are to us: where one has its prompt, its document and what solvers left."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

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


PROMPT_KEY = "prompt"  # where a dataset puts the prompt in a sample's metadata, when its input says something else


def prompt_of(sample: TaskState | EvalSample) -> str:
    """The prompt that a sample's document answers, the same while it is scored and in the log.

    Metadata `prompt` where the dataset sets it, else the text of the input: of several messages the last that a user
    wrote, as in Inspect's own `input_text`.
    """
    stated, given = (sample.metadata or {}).get(PROMPT_KEY), sample.input
    if not isinstance(given, str):
        given = next((message.text for message in reversed(given) if message.role == "user"), "")
    # whole characters, no space around: a prompt is compared as text with those of the population
    return whole_text(str(given if stated is None else stated)).strip()


# in the sample's store: what solvers leave there
GENERATIONS = "generations"  # several replies to one prompt, which are judged as a set
EARLIER = "earlier"  # the documents that negative sampling wrote before the last one, oldest first
ORIGINAL = "original"  # the document before the solver `trim` cut it
PLAN = "plan"  # the outline, by part
RESPONSES = "responses"  # the responses of verbalized sampling, each with its probability
UNSCORED = "unscored"  # why every scorer of the task leaves the sample unscored
# in its metadata: how many responses verbalized sampling asked for, how many could be read, and how many of these have
# a text of their own
RESPONSES_ASKED, RESPONSES_PARSED = "responses_asked", "responses_parsed"
RESPONSES_DISTINCT = "responses_distinct"


def keep_generations(state: TaskState, texts: Iterable[str]) -> None:
    """Put the texts in the sample's store, empty ones included."""
    state.store.set(GENERATIONS, list(map(whole_text, texts)))


def kept_generations(state: TaskState) -> list[str]:
    """The texts in the sample's store; none when no solver left any."""
    texts: list[str] = state.store.get(GENERATIONS, [])
    return list(map(whole_text, texts))


class Facts:
    """What a dataset says of a sample under a key of its metadata."""

    __slots__: tuple[str, ...] = ()
    key: ClassVar[str]

    def as_metadata(self) -> dict[str, Any]:
        return {self.key: {name: getattr(self, name) for name in self.__slots__}}

    @classmethod
    def of(cls, metadata: Mapping[str, Any] | None) -> Self | None:
        """What `as_metadata` put there; None where a sample says nothing of the kind."""
        facts = (metadata or {}).get(cls.key)
        # a log is untrusted: what does not have this shape is not ours
        if not isinstance(facts, dict) or set(facts) != set(cls.__slots__):
            return None
        kinds = cls.__annotations__
        return cls(**facts) if all(isinstance(value, kinds[name]) for name, value in facts.items()) else None


@dataclass(frozen=True, slots=True)
class InterventionFacts(Facts):
    """What was done to a text."""

    key = "intervention"
    kind: str  # `original`, `edit` or `paraphrase`
    original: str  # the id of the text that it was made of; an original's own
    feature: str = ""  # which an edit changed
    alternative: str = ""  # the value that the edit gave it
    original_text: str = ""  # of an edit or paraphrase; nothing is compared with the text that it was made of


def made_of(sample: TaskState | EvalSample) -> str:
    """The text that the sample's was made of, with which it is not compared; empty where it was made of none."""
    facts = InterventionFacts.of(sample.metadata)
    return facts.original_text if facts else ""


def is_original(sample: TaskState | EvalSample) -> bool:
    """Whether the sample's is a text of a metric study of which others were made."""
    facts = InterventionFacts.of(sample.metadata)
    return facts is not None and facts.kind == "original"


@dataclass(frozen=True, slots=True)
class StoryFacts(Facts):
    """A story that exists."""

    key = "existing_story"
    id: str
    reference: str = ""  # the id or title of the story that it is held against; empty where it has none
    reference_words: int = 0
