r"""Put people's votes into a log, beside what the critic said of the same stories.

inspect score LOG --scorer scorers/people_votes.py -S votes=$PWD/votes.jsonl -S model=openai/gpt-4o-mini \
    --action append --overwrite
"""

import json
import math
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from inspect_ai.scorer import Scorer, precomputed_scores, scorer

from genie_inspect.agreement.votes import VotedStory, VotesError, prompt_of, read_votes, writer_of
from genie_inspect.graders.grader import refusals
from genie_inspect.scorers.stderr import per_key


@scorer(metrics=per_key({"*": (0, 1)}))
def people(votes: str, model: str) -> Scorer:
    """Share of people who pass a story, test by test (`people_01`, ...); samples without a vote are unscored."""
    with refusals(), TemporaryDirectory() as folder:
        stories = [story for story in read_votes(Path(votes)) if writer_of(story.story) == model]
        if not stories:
            raise VotesError(f"{votes} has no story by {model!r}, expected ids as `genie agreement` has them")
        tests = sorted({test for story in stories for test in story.by_test()})
        file = Path(folder, "people.json")
        file.write_text(json.dumps([_record(story, tests) for story in stories]), encoding="utf-8")
        return precomputed_scores(str(file))


def _record(story: VotedStory, tests: list[str]) -> dict[str, object]:
    """A story as Inspect takes scores from elsewhere: every test in every sample, NaN where nobody voted."""
    cast = story.by_test()
    shares = {f"people_{test}": fmean(cast[test]) if cast.get(test) else math.nan for test in tests}
    epoch = story.story.partition("#")[2]
    told = f"{len(story.votes)} people: {', '.join(story.votes)}."
    return {"id": prompt_of(story.story), "epoch": int(epoch) if epoch else None, "value": shares, "explanation": told}
