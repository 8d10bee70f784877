"""The instructions of a critic: each part from the user's own folder, and all of them in the digest."""

from pathlib import Path

import pytest

from genie_inspect.critic.instructions import Instructions
from genie_inspect.errors import UnknownChoiceError


@pytest.mark.parametrize("reference", [True, False])
@pytest.mark.parametrize("part", ["stories", "test", "scale"])
def test_each_part_may_be_the_user_s_own_and_changes_the_digest(tmp_path: Path, part: str, reference: bool) -> None:
    usual = Instructions.load(reference=reference)
    own = getattr(usual, part)
    (tmp_path / f"{own.name}.md").write_text(own.text + "\nThink.", encoding="utf-8")
    mine = Instructions.load(reference=reference, folder=tmp_path)
    assert getattr(mine, part).text.strip().endswith("Think.")
    assert mine.digest != usual.digest


def test_other_labels_at_the_end_are_another_digest_and_unknown_ones_are_refused() -> None:
    assert Instructions.load(5).form.pattern != Instructions.load(7).form.pattern
    usual = Instructions.load(5)
    other = Instructions(usual.stories, usual.test, usual.scale, Instructions.load(7).form, usual.read, usual.analyses)
    assert other.digest != usual.digest
    with pytest.raises(UnknownChoiceError, match="levels is 4, expected one of 3, 5, 7"):
        Instructions.load(4)
