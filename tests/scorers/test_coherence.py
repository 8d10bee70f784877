import re
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest
from tests.scripted import is_unscored, metadata, saying, scored, values

from genie_inspect.scorers.coherence import coherence


def test_the_graders_rating_is_the_score_and_the_document_stays_as_it_is(tmp_path: Path) -> None:
    grader = saying("It hangs together.\nRating: 4")
    score = scored(coherence(), saying("An owl flew."), grader, tmp_path)
    assert values(score) == {"coherence_rating": 4}
    assert (score.answer, score.explanation) == ("An owl flew.", "Coherence 4.0.")
    signature = metadata(score)["signature"]
    assert re.match(r"measure:coherence\|by:grader\(mockllm/model@[0-9a-f]{12},template=", signature)


@pytest.mark.parametrize("reply", ["Rating: 0", "Rating: 6", "Rating: 3.5", "3 or 4"])
def test_a_rating_out_of_range_is_none(tmp_path: Path, reply: str) -> None:
    assert is_unscored(scored(coherence(), saying("An owl flew."), saying(reply), tmp_path))


def test_a_reward_model_that_cannot_be_loaded_costs_the_score_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Missing:
        """What transformers says of a model that the hub does not have."""

        @staticmethod
        def from_pretrained(*args: object, **options: object) -> None:
            raise OSError("made/up is no model of the hub")

    named = ("AutoTokenizer", "AutoConfig", "AutoModelForSequenceClassification")
    for name, contents in {"torch": {}, "transformers": dict.fromkeys(named, Missing)}.items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        module.__dict__.update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    score = scored(coherence(by="reward/made/up"), saying("An owl flew."), None, tmp_path)
    assert score.reason == "engine_failed"
    assert is_unscored(score)
    assert "is no model of the hub" in (score.explanation or "")
    assert metadata(score)["signature"].startswith("measure:coherence|by:reward(made/up")
