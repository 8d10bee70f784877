import sys

import pytest

from genie_inspect.engines.conformative import Conformative
from genie_inspect.errors import MissingExtraError


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match="needs the extra local: pip install"):
        Conformative("base", "instruct")
