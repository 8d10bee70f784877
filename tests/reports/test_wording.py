"""Words that documents use more than general English does, and its word list."""

import math
import sys
from pathlib import Path

import pytest
from tests.cli.called import as_json, genie
from tests.reports.made_logs import made_log
from tests.reports.test_repeats import ENDS, answered
from tests.scripted import OWL

from genie_inspect.engines.corpora import english_frequencies
from genie_inspect.reports.wording import Wording, shared_wording

FILLER = "and so it was that she would go there with them when they were what they should be "  # 18 function words
GERMAN = "Die Frau saß im Haus und wartete lange auf den Abend, der nicht kommen wollte. "


def found(own: list[tuple[str, str]], english: dict[str, float]) -> list[Wording]:
    return [one for one in shared_wording(own, [], english) if one.what == "word_against_english"]


def test_a_word_stands_out_where_more_documents_have_it_than_its_frequency_says() -> None:
    # 3 of 4 documents of 19, 19, 19 and 37 words
    own = [("One.", FILLER + "lantern"), ("Two.", FILLER + "Lantern"), ("One.", FILLER + "LANTERN")]
    own.append(("Two.", FILLER * 2 + "rain"))
    (lantern,) = found(own, {"lantern": 0.001, "rain": 0.001, "and": 0.02})
    shares = [1 - 0.999**words for words in (19, 19, 19, 37)]
    mean = sum(shares) / 4
    # of the list's three words it is the only one that is tested; at least 3 of 4 at the mean share
    p = 4 * mean**3 * (1 - mean) + mean**4
    assert lantern[:6] == ("word_against_english", "lantern", 3, 4, 0, 0)
    assert (lantern.p_value, lantern.expected) == pytest.approx((3 * p, sum(shares)))


def test_every_word_of_the_list_is_one_of_the_family() -> None:
    own = [("One.", FILLER + "lantern"), ("Two.", FILLER + "lantern")]
    several = {f"word{number}": 0.0 for number in range(1_000)} | {"lantern": 0.0005}
    p = (1 - 0.9995**19) ** 2
    assert p < 0.05 < 1_001 * p
    assert len(found(own, {"lantern": 0.0005})) == 1
    assert found(own, several) == []


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ((FILLER + "lantern", FILLER + "rain"), "one document has it"),
        ((FILLER + "and", FILLER + "and"), "a function word"),
        ((FILLER + "zorble", FILLER + "zorble"), "not on the list"),
        ((FILLER + "fox", FILLER + "fox"), "in the prompt"),
        ((FILLER + "to Mara", FILLER + "to Mara"), "a name"),
        ((FILLER + "common", FILLER + "common"), "as common as that"),
        ((GERMAN * 2 + "lantern", GERMAN * 2 + "lantern"), "not English"),
        ((FILLER + "lantern-like", FILLER + "don't"), "no two documents have it"),
    ],
)
def test_what_is_no_overused_word(texts: tuple[str, str], why: str) -> None:
    english = {"lantern": 1e-6, "and": 1e-6, "fox": 1e-6, "mara": 1e-6, "common": 0.05, "don": 1e-6, "rain": 1e-6}
    assert found([("A fox.", texts[0]), ("Another fox.", texts[1])], english) == [], why


def test_a_word_in_less_than_twice_the_expected_documents_is_no_overuse_however_sure() -> None:
    own = [(f"{number % 2}.", FILLER + "lantern") for number in range(40)]
    # expected in 70% of documents of 19 words, and in 40%
    assert found(own, {"lantern": 1 - 0.3 ** (1 / 19)}) == []
    assert len(found(own, {"lantern": 1 - 0.6 ** (1 / 19)})) == 1


def test_words_keep_their_apostrophes_as_the_list_has_them() -> None:
    own = [("One.", FILLER + "o’clock"), ("Two.", FILLER + "O'Clock")]
    assert [one.text for one in found(own, {"o'clock": 1e-6, "clock": 1e-6})] == ["o'clock"]


def test_a_word_of_one_prompt_tells_of_its_subject_unless_there_is_but_one() -> None:
    own = [("One.", FILLER + "lantern"), ("One.", FILLER + "a lantern"), ("Two.", FILLER)]
    english = {"lantern": 1e-6}
    assert found(own, english) == []
    assert [one.text for one in found(own[:2], english)] == ["lantern"]


def english_log(folder: Path) -> str:
    """Two documents in English with one word in common, two copies, and one in German."""
    texts = [FILLER + "lantern rose", FILLER + "lantern fell", FILLER + "lantern fell", GERMAN * 2]
    return made_log(folder, [answered((ENDS, "x"))] * 4, prompts=[OWL] * 4, texts=texts)


def test_the_command_compares_with_a_list_of_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.cli.repeats.english_frequencies", lambda: {"lantern": 1e-4})
    arguments = ("repeats", english_log(tmp_path), "--population", "none", "--words-against", "english")
    (value,) = as_json(*arguments)
    (lantern,) = [one for one in value["wording"] if one["what"] == "word_against_english"]
    assert (lantern["text"], lantern["given"], lantern["documents"]) == ("lantern", 2, 2)
    assert lantern["expected"] == pytest.approx(2 * (1 - (1 - 1e-4) ** 20))
    assert value["english_documents"] == 2
    said = " ".join(genie(*arguments).stdout.split())
    assert "other words; expected by general English" in said
    assert "2 of 2, expected 0.004" in said
    assert "2 of its 3 different documents are in English, and words are compared in these alone." in said
    assert "Fiction has its own words" in said
    # by default it is the population
    plain = genie(*arguments[:4]).stdout
    assert "expected by general English" not in plain
    assert "population's documents have less often" in " ".join(plain.split())
    assert "english_documents" not in as_json(*arguments[:4])[0]


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    # before anything is read
    result = genie("repeats", tmp_path / "nothing", "--words-against", "english")
    assert result.exit_code == 1
    assert "pip install 'genie-inspect[words]'. --words-against population needs none" in result.stderr


def test_the_list_of_general_english_has_what_stories_use_too_often() -> None:
    pytest.importorskip("wordfreq", reason="needs the extra `words`")
    # as wordfreq says: Zipf value = log10 of uses in a billion words
    assert math.log10(english_frequencies()["the"] * 1e9) == pytest.approx(7.73)
    (value,) = as_json("repeats", "starter", "--words-against", "english")
    words = [one for one in value["wording"] if one["what"] == "word_against_english"]
    assert words[0]["text"] == "stood"
    assert (words[0]["given"], words[0]["documents"]) == (78, 176)
    assert words[0]["expected"] < 2
