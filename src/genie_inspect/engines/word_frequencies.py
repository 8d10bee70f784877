"""How often general English has each word, by the word list of `wordfreq`: the extra `words`."""

from collections.abc import Mapping
from typing import cast

from genie_inspect.errors import MissingExtraError

EXTRA = "words"


def english_frequencies() -> Mapping[str, float]:
    """By word in small letters its share of all words; of about 320,000 words, none rarer than 1 in 100 million.

    Raises:
        MissingExtraError: If wordfreq is not installed.

    Source: wordfreq 3.1.1 (Speer 2022), from Wikipedia, subtitles, news, books, the web, Twitter and Reddit up to 2021.
    """
    try:
        from wordfreq import get_frequency_dict
    except ImportError:
        raise MissingExtraError("--words-against english", EXTRA, "--words-against population needs none") from None
    return cast(Mapping[str, float], get_frequency_dict("en", wordlist="large"))
