"""The package from Python: every registered name is at hand, and importing it loads nothing."""

import subprocess
import sys

import pytest

import genie_inspect
from genie_inspect import _registry
from genie_inspect.reports.summary import frame

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


def test_the_type_checker_knows_the_names_and_their_options() -> None:
    # where it does not, mypy says that the comment ignores nothing
    with pytest.raises(TypeError, match="embedding"):
        genie_inspect.cosine(embedding="static")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="epochs"):
        genie_inspect.ttcw_scorer(epochs=5)  # type: ignore[call-arg]


def test_to_import_the_package_loads_nothing_of_its_own_nor_inspect() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "genie_inspect" in loaded
    assert [name for name in done.stdout.split() if name.startswith("genie_inspect.")] == []
    assert loaded - {"genie_inspect"} <= set(sys.stdlib_module_names)


def test_a_name_that_is_none_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="module 'genie_inspect' has no attribute 'cosines'"):
        genie_inspect.cosines  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'cosines'"):
        exec("from genie_inspect import cosines")
