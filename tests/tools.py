"""The scripts of `tools/` and `benchmarks/`, to be tried."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def tool_named(name: str, folder: str = "tools") -> ModuleType:
    """A script as a module; it finds the others of its folder as it does when it is run."""
    path = str(ROOT / folder)
    if path not in sys.path:
        sys.path.append(path)
    return importlib.import_module(name)
