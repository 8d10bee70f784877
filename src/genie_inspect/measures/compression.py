"""Compression ratio: how much a text repeats what a population has already said.

Source: Shaib et al. 2024 (arXiv 2403.00553). Deviation: compressed once (the published package gzips the gzip), not
rounded, and codecs with a window long enough to see a whole population beside gzip, which sees 32 KB.
"""

import lzma
import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from genie_inspect.errors import UnknownChoiceError

GZIP_LEVEL = 9
GZIP_FORMAT = 31  # zlib's window bits for the largest window within gzip's header and trailer
XZ_DICTIONARY = 1 << 23  # bytes, that of lzma's default preset 6
LARGEST_XZ_DICTIONARY = 1 << 26  # some 700 MB of memory while compressing
ZSTD_LEVEL = 12
LARGEST_ZSTD_WINDOW = 27  # log2 of bytes
# each is one compression per text; the spread of the starter's stories is with 8 what it is with all 24
MOST_TURNS = 8


def compression_ratio(texts: Iterable[str], codec: str = "gzip") -> float:
    """Original bytes over compressed bytes of the texts joined by one space, in UTF-8; higher = more redundant.

    The order of the texts matters. `gzip` (level 9) sees the last 32 KB, `xz` up to 64 MB, `zstd` (level 12) up to 128
    MB. NaN when there is not one byte to compress.
    """
    size, whole = _compressed_size(codec), _joined(texts)
    return len(whole) / size(whole) if whole else math.nan


def compression_novelty(population: "Iterable[str] | CompressedPopulation", text: str, codec: str = "gzip") -> float:
    """Ratio of the population less ratio of the population with the text behind it; higher = the text adds more.

    Its level depends on the population's size: nearly any text makes a small population more redundant, so that most
    values are below 0 (the starter's stories under gzip: mean -0.18 against one other story, -0.01 against 23).
    `CompressedMembers` takes that level off. NaN when the population is empty. One that was compressed before keeps its
    codec.
    """
    compressed = population if isinstance(population, CompressedPopulation) else CompressedPopulation(population, codec)
    return compressed.ratio - compressed.ratio_with(text)


class CompressedPopulation:
    """A population that many texts are compared with; under gzip each costs its own length alone."""

    def __init__(self, texts: Iterable[str], codec: str = "gzip") -> None:
        self._size = _compressed_size(codec)
        whole = _joined(texts)
        self._length = len(whole)
        self.ratio = len(whole) / self._size(whole) if whole else math.nan  # of the population alone
        # the compressor's state after the population is copied for each text; other codecs compress everything again
        self._state = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, GZIP_FORMAT) if codec == "gzip" else None
        self._written = len(self._state.compress(whole)) if self._state else 0
        self._whole = b"" if self._state else whole  # the state stands for it

    def ratio_with(self, text: str) -> float:
        """Ratio of the population with the text behind it; NaN when the population is empty."""
        if not self._length:
            return math.nan
        # the space that joins texts counts as part of the text that is added
        added = _joined(["", text])
        if self._state is None:
            size = self._size(self._whole + added)
        else:
            # a flush ends a stream, so it is done on a copy
            state = self._state.copy()
            size = self._written + len(state.compress(added)) + len(state.flush())
        return (self._length + len(added)) / size


class CompressedMembers:
    """A population whose own texts are the zero: each in turn makes way, and a new text takes its place.

    Both are put behind the same other texts, so that the population's size cancels out.
    """

    def __init__(self, texts: Sequence[str], codec: str = "gzip") -> None:
        turns = min(len(texts), MOST_TURNS)
        leaving = [turn * len(texts) // turns for turn in range(turns)]
        self._others = [CompressedPopulation([*texts[:place], *texts[place + 1 :]], codec) for place in leaving]
        # mean novelty of the texts that make way, each against the others; NaN with fewer than two texts
        self.members = self._mean([texts[place] for place in leaving])

    def added(self, text: str) -> float:
        """Mean novelty of the text in the place of each; NaN where `members` is."""
        return self._mean([text] * len(self._others))

    def _mean(self, texts: Sequence[str]) -> float:
        return fmean(map(compression_novelty, self._others, texts)) if texts else math.nan


def codec_version(codec: str) -> str:
    """The codec with the version of its library where one is known: another version may write other bytes."""
    _compressed_size(codec)
    if codec == "gzip":
        return f"gzip(zlib {zlib.ZLIB_RUNTIME_VERSION})"
    if codec == "zstd":
        import zstandard

        return f"zstd({'.'.join(map(str, zstandard.ZSTD_VERSION))})"
    return codec


def _joined(texts: Iterable[str]) -> bytes:
    # half a character of a cut reply has no UTF-8 of its own, and must not end the run
    return " ".join(texts).encode("utf-8", "surrogatepass")


def _compressed_size(codec: str) -> Callable[[bytes], int]:
    if codec not in CODECS:
        raise UnknownChoiceError("codec", codec, "one of " + ", ".join(CODECS))
    return CODECS[codec]


def _xz_size(data: bytes) -> int:
    # as large as the data: the beginning of the population must be in reach when the text is compressed
    dictionary = min(max(XZ_DICTIONARY, 1 << len(data).bit_length()), LARGEST_XZ_DICTIONARY)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": lzma.PRESET_DEFAULT, "dict_size": dictionary}]
    return len(lzma.compress(data, filters=filters))


def _zstd_size(data: bytes) -> int:
    import zstandard  # Inspect brings it: it writes its logs with it

    # as for xz; long-distance matching finds repeats that are further away than zstd's usual tables reach
    window = min(max(zstandard.WINDOWLOG_MIN, len(data).bit_length()), LARGEST_ZSTD_WINDOW)
    settings = zstandard.ZstdCompressionParameters.from_level(ZSTD_LEVEL, window_log=window, enable_ldm=True)
    return len(zstandard.ZstdCompressor(compression_params=settings).compress(data))


CODECS: dict[str, Callable[[bytes], int]] = {
    "gzip": lambda data: len(zlib.compress(data, GZIP_LEVEL, GZIP_FORMAT)),
    "xz": _xz_size,
    "zstd": _zstd_size,
}
