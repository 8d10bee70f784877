"""How much a text adds to the documents of its prompt when they are compressed together: the scorer `compression`."""

import math
from functools import partial

from anyio import to_thread

from genie_inspect.measures.compression import CompressedMembers
from genie_inspect.scorers.assessment import Compared
from genie_inspect.scorers.outcome import Measurement, Warm

KEYS = ("compression_novelty",)
ALONE = "what one document adds to the others needs two documents in the population"


class Added:
    """Measures what texts add to the documents of each prompt, which are compressed once."""

    def __init__(self, codec: str) -> None:
        self.codec = codec
        self._warm: Warm[CompressedMembers] = Warm()

    async def __call__(self, text: str, prompt: str, others: Compared) -> Measurement:
        """How much more a text adds to the documents than one of them does."""
        # a population document that is scored is compared with the others alone: another population
        compressed = await self._warm.get((prompt, others.left_out), partial(self._compressed, others))
        if math.isnan(compressed.members):
            return Measurement({"compression_novelty": math.nan}, f"Not measured: {ALONE}.", reason=ALONE)
        added = await to_thread.run_sync(compressed.added, text)
        return Measurement(
            {"compression_novelty": added - compressed.members},
            f"The compression ratio ({self.codec}) falls by {added:.4f} with the document in the place of one of the "
            f"population's, and by {compressed.members:.4f} with that one itself (means over those that make way).",
            {"added": added, "members": compressed.members},
        )

    async def _compressed(self, others: Compared) -> CompressedMembers:
        texts = [document.text for document in others.documents]
        return await to_thread.run_sync(CompressedMembers, texts, self.codec)
