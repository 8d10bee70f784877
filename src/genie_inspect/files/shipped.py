"""What ships with the package: prompts, questions, the starter population, recordings, the static embedder."""

from pathlib import Path

import genie_inspect

DATA = Path(genie_inspect.__file__).parent / "data"
