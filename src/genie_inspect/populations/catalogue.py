"""Which population a name stands for."""

from pathlib import Path

from genie_inspect.errors import PopulationError
from genie_inspect.files.shipped import DATA
from genie_inspect.populations.population import MANIFEST, Population

BUNDLED = {"starter": DATA / "starter", "abstracts": DATA / "examples" / "abstracts"}
NONE = "none"


def open_population(name: str | Path) -> Population:
    """The bundled population of that name, or the one in that folder.

    Raises:
        PopulationError: If it is neither.
    """
    folder = BUNDLED.get(str(name), Path(name))
    try:
        is_there = (folder / MANIFEST).is_file()
    except OSError as error:
        raise PopulationError(f"population {str(name)!r} cannot be read: {error.strerror or error}") from error
    if not is_there:
        raise PopulationError(
            f"population is {str(name)!r}, expected {', '.join(sorted(BUNDLED))} or a folder that holds {MANIFEST}"
        )
    return Population(folder)
