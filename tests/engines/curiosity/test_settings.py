import pytest

from genie_inspect.engines.curiosity.settings import LoraSettings, VectorSettings, settings_of
from genie_inspect.errors import UnknownChoiceError

STATED = {
    "rater_weight": 1,
    "rank": 16,
    "alpha": 32,
    "dropout": 0.1,
    "epochs": 3,
    "batch": 4,
    "accumulation": 8,
    "length": 4096,
    "warmup": 0.1,
}


def test_the_settings_that_the_study_states_are_the_defaults() -> None:
    settings = LoraSettings().model_dump()
    assert {name: settings[name] for name in STATED} == STATED
    assert set(settings) - set(STATED) == {"learning_rate", "width", "clip", "seed"}


def test_settings_are_given_by_name() -> None:
    settings = settings_of(LoraSettings, ["epochs=1", "learning_rate=1e-3"])
    assert (settings.epochs, settings.learning_rate, settings.rank) == (1, 0.001, 16)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownChoiceError, match="setting is 'epochs', expected one of rater_weight, ridge, penalty"):
        settings_of(VectorSettings, ["epochs=1"])


@pytest.mark.parametrize("pair", ["ridge=0", "ridge=much", "ridge", "penalty=-1"])
def test_a_value_out_of_range_is_refused(pair: str) -> None:
    with pytest.raises(UnknownChoiceError, match=f"setting is '{pair}', expected a value in range"):
        settings_of(VectorSettings, [pair])


def test_a_vector_of_one_number_is_refused_because_its_cosine_has_no_gradient() -> None:
    with pytest.raises(UnknownChoiceError, match="width"):
        settings_of(LoraSettings, ["width=1"])
