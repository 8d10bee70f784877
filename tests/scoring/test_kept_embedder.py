import numpy as np
import pytest

from genie_inspect.engines.embedders.choices import embedder
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.judges.cache import cache_folder
from genie_inspect.scoring.kept_embedder import kept_embedder


def test_what_an_embedder_made_of_a_text_is_kept_beside_what_models_have_said() -> None:
    kept = kept_embedder("static")
    assert kept.identity == embedder("static").identity
    assert np.allclose(kept.embed(["An owl waits."]), embedder("static").embed(["An owl waits."]), atol=1e-6)
    assert any(path.is_file() for path in cache_folder().iterdir())


def test_an_unknown_embedder_is_refused() -> None:
    with pytest.raises(UnknownChoiceError, match="embedder is 'word2vec'"):
        kept_embedder("word2vec")
