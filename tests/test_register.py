"""What Inspect's register and gallery read of this project; by the register's functions where they are there."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from inspect_ai import Task
from inspect_ai._util.registry import registry_info  # Inspect tells a name's kind in no public way
from inspect_ai.log import read_eval_log
from tests.documented import blocks

from genie_inspect import _registry
from genie_inspect.signature import TASKS

ROOT = Path(__file__).parents[1]
ROOM = ROOT / "src" / "genie_inspect" / "tasks"
PAGE = (ROOT / "docs" / "register.md").read_text(encoding="utf-8")
READ = 5_000  # characters of a task's file that the register's bot reads
LONGEST = 80  # words of a description
COMMIT = "0123456789abcdef" * 2 + "01234567"
ENTRIES = yaml.safe_load((ROOT / "docs" / "register.yaml").read_text(encoding="utf-8"))
((EXTENSION,),) = (yaml.safe_load(text) for language, text in blocks(PAGE) if language == "yaml")
SOURCES = {
    path.stem: (address, path, int(line))
    for address, name, line in re.findall(r"`(https://github\.com/OWNER/genie-inspect/blob/COMMIT/(\S+)#L(\d+))`", PAGE)
    for path in [ROOT / name]
}
needs_the_bot = pytest.mark.skipif(find_spec("register_tooling") is None, reason="inspect_evals 0.26 is not installed")


def test_every_task_has_a_file_of_its_name() -> None:
    tasks = {name for name, made in vars(_registry).items() if name[0] != "_" and registry_info(made).type == "task"}
    assert tasks == TASKS.keys() == {path.stem for path in ROOM.glob("*.py") if decorated(path)}


def decorated(path: Path) -> list[ast.FunctionDef]:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return [
        each for each in body if isinstance(each, ast.FunctionDef) and "task" in map(ast.unparse, each.decorator_list)
    ]


@pytest.mark.parametrize("name", TASKS)
def test_the_file_of_a_task_is_read_whole_and_shows_dataset_solver_and_scorers_in_its_one_function(name: str) -> None:
    path = ROOM / f"{name}.py"
    assert len(path.read_text(encoding="utf-8")) < READ
    (function,) = decorated(path)
    assert function.name == name
    (made,) = (
        call for call in ast.walk(function) if isinstance(call, ast.Call) and ast.unparse(call.func) == Task.__name__
    )
    assert {"dataset", "solver", "scorer", "version"} <= {word.arg for word in made.keywords}


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_leads_to_the_decorator_of_its_task(name: str) -> None:
    entry, (address, path, line) = ENTRIES[name], SOURCES[name]
    assert path.read_text(encoding="utf-8").splitlines()[line - 1] == "@task"
    assert entry["tasks"] == [{"name": name, "task_path": path.relative_to(ROOT).as_posix()}]
    assert address.startswith(f"{entry['source']['repository_url']}/blob/{entry['source']['repository_commit']}/")
    assert f"| `{name}` | `{entry['arxiv']}` | `{address}` |" in PAGE
    assert len(entry["description"].split()) <= LONGEST
    assert set(entry) == {
        *("full_title", "common_title", "paper_title", "description", "contributors", "tasks", "arxiv", "source"),
    }


def test_the_gallerys_entry_has_its_form() -> None:
    assert EXTENSION.keys() == {"name", "description", "author", "categories"}
    assert all(re.fullmatch(r"\[.+\]\(https://\S+\)", EXTENSION[field]) for field in ("name", "author"))
    assert EXTENSION["categories"] == ["Analysis"]


@needs_the_bot
@pytest.mark.parametrize("name", ENTRIES)
def test_the_registers_bot_takes_an_entry(name: str) -> None:
    from register_tooling.arxiv_client import ArxivPaper, parse_arxiv_id
    from register_tooling.deriver import DerivationInputs, build_prompt
    from register_tooling.source_url import parse_source_url
    from register_tooling.task_resolver import resolve_task

    address, path, _ = SOURCES[name]
    parsed = parse_source_url(address.replace("COMMIT", COMMIT))
    source = path.read_text(encoding="utf-8")
    assert parsed.is_permalink
    assert parsed.task_path == path.relative_to(ROOT).as_posix()
    assert resolve_task(source, line_anchor=parsed.line_anchor).name == name
    arxiv, _ = parse_arxiv_id(ENTRIES[name]["arxiv"])
    paper = ArxivPaper(arxiv_id=arxiv, version=None, title="", abstract="", authors=[])
    inputs = DerivationInputs(
        arxiv_paper=paper, arxiv_full_text="", task_name=name, task_path=parsed.task_path, task_source=source
    )
    prompt, _, cut = build_prompt(inputs)
    assert not cut
    assert source in prompt


@needs_the_bot
@pytest.mark.parametrize("name", ENTRIES)
def test_the_register_reads_an_entry(name: str) -> None:
    from inspect_evals.metadata import ExternalEvalMetadata

    entry: dict[str, Any] = ENTRIES[name]
    read = ExternalEvalMetadata.model_validate({"id": name, **entry})
    assert (read.title, read.package) == (entry["full_title"], "genie-inspect")


@pytest.mark.parametrize("storyteller", ["inventive", "ordinary"])
def test_a_full_log_of_todays_task_stands_beside_the_page_and_names_no_machine(storyteller: str) -> None:
    name = f"logs/synthetic_prompts_{storyteller}.eval"
    assert f"]({name})" in PAGE
    log = read_eval_log(str(ROOT / "docs" / name))
    assert (log.status, log.eval.model, len(log.samples or [])) == ("success", f"bundled/{storyteller}", 40)
    assert log.eval.task_version == TASKS["synthetic_prompts"]
    assert log.eval.revision is None
    assert not re.findall(r"(?:/|[A-Z]:\\+)(?:home|Users|root|tmp|work|var|usr)[/\\]", log.model_dump_json())
