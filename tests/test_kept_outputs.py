"""What commands print and write, kept whole: `pytest tests/test_kept_outputs.py --snapshot-update` keeps it anew.

What a user sees of a command, from figures to commas, is held here; tests beside a module hold what no output shows.
What differs from run to run (ids, times, places) is masked, and figures are kept to six digits.
"""

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner
from inspect_ai import eval as evaluate
from inspect_ai.model import ModelAPI, ModelOutput, modelapi
from syrupy.assertion import SnapshotAssertion
from tests.documented import VOTES, personal, released
from tests.scripted import output
from tests.willing import Willing

from genie_inspect.cli import main
from genie_inspect.files.writing import DATA
from genie_inspect.populations.interventions import Interventions
from genie_inspect.populations.population import open_population
from genie_inspect.signature import digest
from genie_inspect.solvers.prompting_methods import outline, trim

TELLER = "bundled/inventive"


def evaluated(task: str, model: str = TELLER, grader: str = "bundled/grader", **given: Any) -> None:
    (log,) = evaluate(
        f"genie_inspect/{task}",
        model=model,
        model_roles={"grader": grader},
        max_samples=1,  # one after another, so that each gets the same
        log_dir="logs",
        display="none",
        score_display=False,
        **{"limit": 4, **given},
    )
    assert log.status == "success", log.error


def panels() -> None:
    for model in ("bundled/ordinary", TELLER):
        evaluated("synthetic_prompts", model, epochs=3, task_args={"panel": "cheap,close_reading,expression_novelty"})


def grid() -> None:
    for solver in (None, outline(), trim()):
        evaluated("synthetic_prompts", epochs=2, solver=solver, task_args={"judge": "offline", "panel": "cheap"})


def studied() -> None:
    pairs = Interventions("starter")
    firsts = {pairs.original(text).prompt: pairs.original(text).id for text in reversed(list(pairs.texts()))}.values()
    few = [text for text in pairs.texts() if pairs.original(text).id in firsts]  # one original per prompt
    kept = [text for text in few if text.kind != "edit" or text.feature in {"perspective", "style"}]
    Path("few.jsonl").write_text("".join(text.model_dump_json() + "\n" for text in kept), encoding="utf-8")
    evaluated("metric_study", limit=None, task_args={"pairs": "few.jsonl", "judge": "list,embedding", "panel": "cheap"})


def stories() -> None:
    released(Path())
    Path("votes.jsonl").write_text(VOTES, encoding="utf-8")
    asked = {"stories": "ttcw_short_stories.json", "references": "fine.jsonl", "setups": "all"}
    evaluated("ttcw_stories", "mockllm/model", grader="willing/large", limit=None, task_args=asked)


def texts() -> None:
    shutil.copytree(DATA / "starter", "mine")
    rows = [json.loads(line) for line in (DATA / "starter" / "documents.jsonl").read_text("utf-8").splitlines()]
    own = [{"prompt": row["prompt"], "text": row["text"]} for row in [*rows[:3], *rows[24:27]]]
    Path("own-texts").mkdir()
    for number, row in enumerate(own):
        Path("own-texts", f"{number}.txt").write_text(row["text"], encoding="utf-8")
    Path("texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own), encoding="utf-8")


def plain() -> None:
    shutil.copytree(DATA / "starter", "mine")
    Path("prompts.txt").write_text("\n".join(open_population("starter").prompts[:2]), encoding="utf-8")
    evaluated("population_prompts", "willing/small", epochs=4, task_args={"prompts": "prompts.txt"})


SCENES: dict[str, tuple[Callable[[], None], str]] = {
    "results": (
        panels,
        """
        summary logs --scorer genie
        summary logs --nearest --json
        compare logs --baseline bundled/inventive
        compare logs --baseline bundled/inventive --keys plot,style --family run --csv compared.csv --json
        report logs -o report.html
        report logs -o report.html --baseline bundled/inventive --json
        export logs --json
        export logs -o frame.csv
        export logs --wide -o wide.csv
        show LOG castle-spaceship-3613
        repeats logs --top 3
        population size logs
        close-reading novelty logs
        close-reading novelty logs --baseline bundled/inventive --json
        """,
    ),
    "strategies": (
        grid,
        """
        summary logs
        compare logs --baseline generate --length-matched --picture compared.svg
        compare logs --baseline generate --equivalence bootstrap --margin 0.1 --power-at 0.5 --json
        report logs -o report.html --baseline generate
        """,
    ),
    "metric_study": (
        studied,
        """
        validate logs --published --picture study.svg
        validate logs --csv effects.csv --json
        report logs -o study.html
        edits check few.jsonl -o checked --grader bundled/grader --json
        edits check checked --to ann.csv
        edits check checked --from ann.csv
        """,
    ),
    "personal": (
        lambda: personal(Path()),
        """
        rater fit votes.jsonl --scores logs/ -o taste --picture fit.svg
        rater fit votes.jsonl --scores logs/ -o other --leave-out story-1 --json
        rater power votes.jsonl --scores logs/ --repeats 3 --json
        rater forget taste r1
        rater curiosity explained.jsonl -o mine
        rater curiosity explained.jsonl --explanation held-out --json
        """,
    ),
    "ttcw": (
        stories,
        """
        agreement annotations_claudev2.jsonl --votes ttcw_annotations.json --published-averages --picture agreement.svg
        agreement logs --votes ttcw_annotations.json --leave-out '*_NewYorker' --json
        ttcw setups logs --votes ttcw_annotations.json --leave-out '*_NewYorker'
        ttcw cutoffs logs --votes ttcw_annotations.json --leave-out '*_NewYorker' --picture cutoffs.svg
        ttcw words ttcw_short_stories.json --references fine.jsonl
        ttcw totals --votes ttcw_annotations.json --picture totals.svg --json
        cost --task ttcw_stories -T stories=ttcw_short_stories.json -T references=fine.jsonl -T setups=all
        ttcw extract-plots my-stories/ -o references.jsonl --grader willing/large
        """,
    ),
    "judges": (
        texts,
        """
        cost --epochs 5 --grader willing/large --price-input 2.5 --price-output 10
        cost --judge list --judge embedding --panel litbench/generative --json
        calibrate --ratings mine/second_ratings.jsonl --pairs 150 --grader bundled/grader --judge list --judge embedding
        calibrate --ratings mine/second_ratings.jsonl --pairs 150 --grader bundled/grader --picture agreed.svg --json
        calibrate --pairs 30 --export rated.csv
        check-reader --reader bundled/grader --documents 8
        check-reader --reader willing/small --documents 8 --export ann.csv
        check-reader --reader willing/small --documents 8 --json
        cache info --json
        cache export kept.jsonl
        cache clear --yes
        cache import kept.jsonl
        """,
    ),
    "populations": (
        texts,
        """
        population import texts.jsonl -o own --name own --licence CC-BY-4.0 --json
        population check own
        population check mine --spread 0.5
        population show mine
        population sample mine -o few --per-prompt 6 --name starter-48
        population merge own own -o both --name both --licence MIT
        population size few --judge offline
        population reference-scores mine --judge offline --dry-run
        questions write own -o questions --grader willing/large
        questions review questions/questions.jsonl --blind --count 4 --to ann.csv
        questions review questions/questions.jsonl --from ann.csv --blind
        features discover --task stories -o features --grader willing/large --json
        features map features --taxonomy starter --grader willing/large
        prompts write --domain sea -o sea.jsonl --grader willing/large --count 5 --seed 0
        prompts sample texts.jsonl -o some.jsonl --count 3 --column text
        build-index own-texts index
        """,
    ),
    "built": (
        plain,
        """
        batch requests logs --step read --grader openai/gpt-4o -o read.jsonl
        batch status logs --grader openai/gpt-4o --json
        population build logs -o castles --name castles --licence MIT --grader willing/large --dry-run
        population build logs -o castles --name castles --licence MIT --grader willing/large --near-duplicates 1
        edits write logs -o pairs --editor willing/large --population mine --per-prompt 1 --dry-run
        edits write logs -o pairs --editor willing/large --population mine --per-prompt 1
        """,
    ),
}
CHANGING = [
    (re.compile(r", genie-inspect=[^\s,]+"), ""),  # a log names it where it is installed from this folder
    (re.compile(rf"(?<![\w.]){re.escape(version('genie_inspect'))}(?![\w.])"), "VERSION"),
    (re.compile(r'(?<="bytes": )\d+'), "BYTES"),
    (re.compile(r'(?<=\.npz": ")\w+'), "DIGEST"),  # of weights, whose last bits are another machine's
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d[-:]\d\d([-:]\d\d)?(\.\d+)?([+-]\d\d[:-]\d\d|Z)?"), "TIME"),
    # the logs of a run over midnight are of two days
    (re.compile(r"\b20\d\d-\d\d-\d\d\b( to 20\d\d-\d\d-\d\d\b)?"), "DATE"),
    (re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{22}(?![A-Za-z0-9])"), "ID"),
]
FIGURE = re.compile(r"-?\d+\.\d{7,}(e-?\d+)?")
SHOWN = (".csv", ".html", ".json", ".jsonl", ".md", ".svg")
SHOWN_WHOLE = 3_000  # characters; of what is longer the rest is kept as a digest


class WillingAPI(ModelAPI):
    """A model that has a reply to everything, without a server: where it stands would be in its identity."""

    told = Willing()

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:  # noqa: A002
        return output(self.told.reply(input[-1].text))


modelapi(name="willing")(WillingAPI)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and a willing model that begins with its first story."""
    monkeypatch.setattr(WillingAPI, "told", Willing())
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def masked(text: str, place: Path) -> str:
    for changing, name in ((re.compile(re.escape(str(place))), "HERE"), *CHANGING):
        text = changing.sub(name, text)
    return FIGURE.sub(lambda figure: f"{float(figure[0]):.6g}", text)


def words(page: str) -> str:
    """What a page or picture says: its text, and of each mark the label that names its values."""
    soup = BeautifulSoup(page, "html.parser")
    for hidden in soup(["style", "script"]):
        hidden.decompose()
    labels = [tag["aria-label"] for tag in soup.select("[aria-roledescription][aria-label]")]
    return "\n".join([*map(str, labels), soup.get_text("\n", strip=True)])


def short(text: str) -> str:
    """The beginning of a text that is long, and a digest of it all."""
    return text if len(text) <= SHOWN_WHOLE else f"{text[:SHOWN_WHOLE]}\n... {len(text)} characters, {digest(text)}"


@pytest.mark.filterwarnings("always::genie_inspect.errors.GenieWarning")
@pytest.mark.parametrize("scene", SCENES)
def test_what_commands_print_and_write_is_what_was_kept(scene: str, place: Path, snapshot: SnapshotAssertion) -> None:
    prepare, lines = SCENES[scene]
    prepare()
    seen = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    for line in lines.strip().splitlines():
        command = line.strip().replace("LOG", str(next(iter(sorted(place.rglob("*.eval"))), "LOG")))
        done = CliRunner().invoke(main, shlex.split(command), prog_name="genie", catch_exceptions=False)
        said = [f"{done.exit_code}\n{short(masked(done.output, place))}"]
        for path in sorted(place.rglob("*")):
            if path.is_file() and path.suffix in SHOWN and seen.get(path) != path.stat().st_mtime_ns:
                text = path.read_text(encoding="utf-8")
                text = words(text) if path.suffix in {".html", ".svg"} else text
                said += [f"--- {path.relative_to(place)}", short(masked(text, place))]
                seen[path] = path.stat().st_mtime_ns
        assert "\n".join(said) == snapshot(name=line.strip())


def helps(command: click.Command, path: tuple[str, ...] = ("genie",)) -> Iterator[str]:
    """What `--help` of a command and of each below it prints."""
    context = click.Context(command, info_name=" ".join(path), max_content_width=120, terminal_width=120)
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from helps(below, (*path, name))


def test_what_help_prints_is_what_was_kept(snapshot: SnapshotAssertion) -> None:
    assert "\n\n".join(helps(main)) == snapshot
