"""Which population a name stands for."""

from functools import lru_cache
from pathlib import Path

from genie_inspect.errors import PopulationError
from genie_inspect.files.shipped import DATA
from genie_inspect.populations.files import file_state
from genie_inspect.populations.population import MANIFEST, Population

BUNDLED = {"starter": DATA / "starter", "abstracts": DATA / "examples" / "abstracts"}
NONE = "none"


def open_population(name: str | Path) -> Population:
    """The bundled population of that name, or the one in that folder; opened once, while its files stay as they are.

    Raises:
        PopulationError: If it is neither.
    """
    folder = BUNDLED.get(str(name), Path(name))
    try:
        is_there = (folder / MANIFEST).is_file()
        state = _state(folder) if is_there else ()
    except OSError as error:
        raise PopulationError(f"population {str(name)!r} cannot be read: {error.strerror or error}") from error
    if not is_there:
        raise PopulationError(
            f"population is {str(name)!r}, expected {', '.join(sorted(BUNDLED))} or a folder that holds {MANIFEST}"
        )
    return _opened(folder, state)


@lru_cache(maxsize=2)  # what is written and what it is compared with; a large one takes hundreds of megabytes
def _opened(folder: Path, state: tuple[tuple[object, ...], ...]) -> Population:
    """All scorers of a run share what was read."""
    return Population(folder)


def _state(folder: Path) -> tuple[tuple[object, ...], ...]:
    """What tells whether a folder's files are the same as before."""
    return tuple((path.name, *file_state(path.stat())) for path in sorted(folder.iterdir()))
