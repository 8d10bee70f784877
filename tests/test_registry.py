import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai._util.registry import (  # Inspect lists what it has registered in no public way
    registry_find,
    registry_info,
)
from inspect_ai.model import get_model

import genie_inspect
from genie_inspect import _registry
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.reports.summary import frame

IMPORTS = """
import sys, inspect_ai
loaded = set(sys.modules)
import genie_inspect._registry
print(*sorted(set(sys.modules) - loaded))
"""
HEAVY = {
    *("torch", "transformers", "sentence_transformers", "datasets", "sklearn"),
    *("scipy", "model2vec", "numpy", "openai"),
}
REGISTERED = {name: registry_info(made) for name, made in vars(_registry).items() if not name.startswith("_")}
WITH_OPTIONS = [name for name, info in REGISTERED.items() if info.type in ("scorer", "solver", "task")]


def test_what_the_registry_exports_is_what_inspect_has_registered_under_the_package() -> None:
    found = registry_find(lambda info: info.name.startswith("genie_inspect/"))
    registered = [(registry_info(made).type, registry_info(made).name) for made in found]
    assert sorted(registered) == sorted((info.type, info.name) for info in REGISTERED.values())
    names = {("scorer", "genie"), ("task", "writing_prompts"), ("solver", "require_grader"), ("modelapi", "bundled")}
    assert {(kind, f"genie_inspect/{name}") for kind, name in names} <= set(registered)


def test_the_entry_point_carries_the_name_of_the_import_package_and_loads() -> None:
    from importlib.metadata import entry_points

    (entry,) = [entry for entry in entry_points(group="inspect_ai") if entry.value.startswith("genie_inspect")]
    assert entry.name == "genie_inspect"
    assert entry.load() is _registry


def test_models_are_named_without_the_package_and_made_when_they_are_asked_for() -> None:
    assert str(get_model("bundled/inventive")) == "bundled/inventive"
    with pytest.raises(PrerequisiteError, match=r"'conformative/one', expected conformative/<base>\+<instruct>"):
        get_model("conformative/one")


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_every_option_of_a_registered_name_is_documented_and_has_a_plain_default(name: str) -> None:
    registered: Callable[..., Any] = getattr(_registry, name)
    _, _, after = inspect.cleandoc(registered.__doc__ or "").partition("\nArgs:\n")
    documented = re.findall(r"^    (\w+):", after.split("\n\n")[0], re.MULTILINE)
    options = inspect.signature(registered).parameters.values()
    assert [option.name for option in options] == documented
    assert {option.kind for option in options} <= {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    # of all names only these cannot be made without being told something
    required = {"require_grader": ["judge"], "personal": ["rater"]}.get(name, [])
    assert [option.name for option in options if option.default is inspect.Parameter.empty] == required
    assert all(isinstance(option.default, str | int | float | bool | tuple | None | type) for option in options)


def test_the_registry_imports_nothing_heavy_and_of_ours_what_names_need() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "genie_inspect._registry" in modules
    assert not HEAVY & {module.split(".")[0] for module in modules}
    homes = set(re.findall(r"^from (\S+) import", inspect.getsource(_registry), re.MULTILINE))
    rooms = {home.rpartition(".")[0] for home in homes}
    ours = {module for module in modules if module.split(".")[0] == "genie_inspect"}
    # a file a name and the wires; beside them errors, the metric of all scorers, and two modules of defaults: all of it
    # takes a fiftieth of the time that Inspect takes, and took a tenth when what runs behind the names was loaded too
    beside = "_registry errors measures measures.genie measures.partition scorers.stderr studies"
    assert ours - homes - rooms == {f"genie_inspect.{name}" for name in beside.split()}


SOURCES = Path(__file__).parent.parent / "src" / "genie_inspect"


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a package by its path, without what Python compiled."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.skipif(not SOURCES.is_dir(), reason="the sources are not beside the tests")
def test_the_installed_package_has_every_file_of_the_sources_and_no_other() -> None:
    sources, installed = files(SOURCES), files(Path(genie_inspect.__file__).parent)
    assert len(sources) > 100
    assert installed.keys() == sources.keys()
    assert [name for name in sources if installed[name] != sources[name]] == []


LOADED = "import sys; before = set(sys.modules); import genie_inspect; print(*sorted(set(sys.modules) - before))"


def test_all_names_of_the_registry_and_the_frame_are_names_of_the_package() -> None:
    names = [name for name in vars(_registry) if not name.startswith("_")]
    assert {"cosine", "novelty_bench", "ttcw_scorer", "bundled"} <= set(names)
    imported: dict[str, object] = {}
    exec("from genie_inspect import *", imported)
    assert (
        imported.keys() - {"__builtins__"}
        == {*names, "frame", "score_texts", "score_texts_async"}
        <= set(dir(genie_inspect))
    )
    for name in names:
        assert getattr(genie_inspect, name) is getattr(_registry, name)
    assert genie_inspect.frame is frame


def test_to_import_the_package_loads_nothing_of_its_own_nor_inspect() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "genie_inspect" in loaded
    assert [name for name in done.stdout.split() if name.startswith("genie_inspect.")] == []
    assert loaded - {"genie_inspect"} <= set(sys.stdlib_module_names)
