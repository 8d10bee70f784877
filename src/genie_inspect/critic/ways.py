"""The ways of asking a critic that the study's ablations compare, by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from genie_inspect.critic.instructions import AFTER, Analyse
from genie_inspect.errors import UnknownChoiceError


@dataclass(frozen=True, slots=True)
class Way:
    """One way of asking."""

    name: str
    said: str
    """In words."""
    levels: int = 5
    analyse: Analyse = True
    reference: bool = True

    @property
    def facts(self) -> dict[str, str]:
        """What the signature of a score says of it."""
        scale = {"levels": str(self.levels)} if self.reference else {}
        return scale | {"analyse": str(self.analyse).lower(), "reference": str(self.reference).lower()}


_ALL = (
    Way("both", "reference, analyse then rate"),
    Way("baseline", "alone, yes or no", analyse=False, reference=False),
    Way("reference_only", "reference, rate only", analyse=False),
    Way("analysis_only", "alone, analyse then yes or no", reference=False),
    Way("rate_first", "reference, rate then analyse", analyse=AFTER),
    Way("levels_3", "reference, 3 levels", levels=3),
    Way("levels_7", "reference, 7 levels", levels=7),
)
WAYS = {way.name: way for way in _ALL}
PUBLISHED, EVERY = "published", "all"
_GROUPS = {PUBLISHED: ("both", "baseline"), EVERY: tuple(WAYS)}


def ways_of(names: str | Iterable[str]) -> list[Way]:
    """The ways of asking that an option names, each once.

    Args:
        names: Names, in a list or with commas between them; `published` is the study's and its baseline, `all` all.

    Raises:
        UnknownChoiceError: If one is not known, or none is named.
    """
    listed = names.split(",") if isinstance(names, str) else list(names)
    single = [part for name in listed for part in _GROUPS.get(str(name).strip(), (str(name).strip(),))]
    unknown = [name for name in single if name not in WAYS]
    if unknown or not single:
        raise UnknownChoiceError("ways", unknown[0] if unknown else names, f"some of {', '.join([*_GROUPS, *WAYS])}")
    return [WAYS[name] for name in dict.fromkeys(single)]


def way_said(facts: Mapping[str, str]) -> str:
    """In words how a critic was asked, by the facts of a score's signature.

    >>> way_said({"levels": "5", "analyse": "true", "reference": "true"})
    'reference, analyse then rate'
    >>> way_said({"levels": "3", "analyse": "false", "reference": "true"})
    'levels=3 analyse=false reference=true'
    """
    told = {name: facts[name] for name in ("levels", "analyse", "reference") if name in facts}
    named = next((way.said for way in _ALL if way.facts == told), "")
    return named or " ".join(f"{name}={value}" for name, value in told.items())
