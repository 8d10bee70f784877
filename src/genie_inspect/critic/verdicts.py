"""Every verdict of a critic is asked for once: with a new cutoff the verdicts on record are counted again."""

from collections.abc import Awaitable, Callable, Sequence
from weakref import WeakValueDictionary

import anyio

from genie_inspect.critic.rubrics import Test
from genie_inspect.judges.cache import Cache, Verdict, VerdictKey
from genie_inspect.signature import digest


class VerdictMemo:
    """The verdicts of a critic by stories and test, kept for this run and for later ones.

    Args:
        cache: Where verdicts are kept; None keeps nothing and asks for each anew.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        self.cache = cache
        # a lock lives as long as somebody asks: kept for good, those of a thousand stories would be 28 MB
        self._asking: WeakValueDictionary[VerdictKey, anyio.Lock] = WeakValueDictionary()

    def recorded(self, key: VerdictKey) -> Verdict | None:
        """The verdict on record; None when there is none."""
        return self.cache.verdict(key) if self.cache else None

    async def verdict(self, key: VerdictKey, ask: Callable[[], Awaitable[Verdict]]) -> Verdict:
        """The verdict on record, or else the one that is asked for, which is kept before anything is made of it.

        Two samples that ask for the same at the same time ask once.

        Args:
            key: What is asked.
            ask: Makes the requests; what it raises where there is no verdict, such as UnreadableReplyError, is raised
                again and leaves nothing on record.
        """
        if self.cache is None:
            return await ask()
        async with self._asking.setdefault(key, anyio.Lock()):
            verdict = self.cache.verdict(key)
            if verdict is None:
                verdict = await ask()
                # before anything else is done with it, so that a crash repeats no call
                self.cache.keep_verdict(key, verdict)
            return verdict


def verdict_key(judge: str, stories: Sequence[str], test: Test) -> VerdictKey:
    """The key of a question to a critic, under which its verdict is on record.

    Args:
        judge: The critic's signature.
        stories: Story A and story B as they are shown, or one story alone.
        test: What is asked of them.
    """
    first, second = (*map(digest, stories), "")[:2]
    return VerdictKey(judge, first, second, test.digest)
