"""Two originals with an edit and a paraphrase each, in a file: what tests of several rooms share."""

from pathlib import Path

from tests.scripted import FOX, OWL

from genie_inspect.populations.interventions import INTERVENTIONS, Edit, Interventions, Original, Paraphrase, StudyText
from genie_inspect.populations.schema import write_rows

GREY, RED = "A grey owl sits on the barn.", "A red fox runs at dawn."
OWL_EDIT, OWL_AGAIN = "A grey owl burns down the barn.", "Upon the barn there sits an owl of grey."
FOX_EDIT = "A red fox ran, alas, at dawn."
TEXTS: tuple[StudyText, ...] = (
    Original(kind="original", id="d-owl", prompt=OWL, text=GREY, writer="ann"),
    Edit(
        kind="edit",
        id="i-owl",
        original="d-owl",
        feature="plot",
        alternatives=("a fire", "a flood"),
        alternative="a fire",
        text=OWL_EDIT,
        writer="bob",
    ),
    Paraphrase(kind="paraphrase", id="i-again", original="d-owl", text=OWL_AGAIN),
    Original(kind="original", id="d-fox", prompt=FOX, text=RED),
    Edit(kind="edit", id="i-fox", original="d-fox", feature="style", alternative="lament", text=FOX_EDIT),
)


def pairs(folder: Path, texts: tuple[StudyText, ...] = TEXTS) -> Interventions:
    folder.mkdir(exist_ok=True)
    write_rows(folder / INTERVENTIONS, texts)
    return Interventions(folder)
