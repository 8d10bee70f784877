"""What ships with the package: prompts, questions, the starter population, recordings, the static embedder.

It is read and never written: an installed package may be read-only, shared, or a clone that others have changed.
"""

import os
from pathlib import Path

import platformdirs

DATA = Path(__file__).parents[1] / "data"
FOLDER_VARIABLE = "GENIE_DATA_DIR"


def data_folder() -> Path:
    """$GENIE_DATA_DIR, else the user's data folder for genie-inspect."""
    return Path(os.environ.get(FOLDER_VARIABLE) or platformdirs.user_data_dir("genie-inspect"))


def own_folder(folder: Path) -> Path | None:
    """Where this user's results about a shipped folder stand; None for a folder that does not ship."""
    place = folder.resolve()
    return data_folder() / place.relative_to(DATA.resolve()) if place.is_relative_to(DATA.resolve()) else None
