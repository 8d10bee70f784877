"""The reference of the documentation site, written from the code: commands, tasks, scorers, solvers, Python.

`tools/docs_pages.py` lays these pages out. None of them is in the repository, so that they cannot differ from the code.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import griffe
from griffe2md import ConfigDict, prepare_context, prepare_env
from inspect_ai.util import registry_info

from genie_inspect import _HOMES, _registry
from genie_inspect.cli import main

SOURCES = Path(__file__).parents[1] / "src"
KINDS: dict[str, tuple[str, str, str]] = {
    "tasks": ("task", "Tasks and their options", "Run one with `inspect eval genie_inspect/NAME -T option=value`."),
    "scorers": (
        "scorer",
        "Scorers and their keys",
        "A task names its scorers. On a log: `inspect score LOG --scorer genie_inspect/NAME -S option=value`.",
    ),
    "solvers": (
        "solver",
        "Solvers and their options",
        "Run one with `inspect eval TASK --solver genie_inspect/NAME -S option=value`.",
    ),
}
PYTHON: dict[str, dict[str, tuple[str, ...]]] = {
    "Scores": {"": ("score_texts", "score_texts_async", "frame")},
    "Arithmetic": {
        "measures.genie": ("similarity", "question_novelty", "feature_novelty"),
        "measures.partition": ("partition", "distinct_count", "utility", "reward_level"),
        "measures.compression": ("compression_ratio", "compression_novelty"),
        "measures.ngrams": ("match_lengths", "coverage", "creativity_index"),
        "measures.tokens": ("split_expressions",),
        "measures.infinity_gram": ("probability", "log_perplexity", "novel_share"),
        "measures.likert": ("test_score", "passes"),
        "measures.marks": ("matches", "agreement"),
        "prompting.replies": ("verdict",),
    },
    "Statistics": {
        "statistics.bootstrap": ("paired_bootstrap",),
        "statistics.equivalence": ("tost",),
        "statistics.effect": ("cohens_d", "minimum_population", "margin"),
        "statistics.ranking": ("spearman", "kendall", "pairwise_accuracy"),
        "statistics.agreement": ("krippendorff_alpha", "randolph_kappa", "fleiss_kappa", "cohen_kappa"),
        "statistics.mixed": ("mixed_logistic",),
    },
}
"""What is for others to import, by heading and module; of the package itself by no module."""
STYLE: ConfigDict = {
    "docstring_section_style": "table",
    "line_length": 100,
    "show_root_full_path": False,
    "signature_crossrefs": False,
}
_TEMPLATES = prepare_env()  # once, because `render_object_docs` compiles all templates for each object


@cache
def pages() -> dict[str, str]:
    """The text of each page by its name."""
    package = griffe.load(
        "genie_inspect",
        search_paths=[SOURCES],
        docstring_parser="google",
        docstring_options={"returns_multiple_items": False},
    )
    made = {"commands": "\n".join(["# Commands\n", *_commands(main, "genie")])}
    for page, (kind, title, how) in KINDS.items():
        parts = [f"# {title}\n\n{how}\n"]
        for name, thing in sorted(vars(_registry).items()):
            if not name.startswith("_") and (info := registry_info(thing)).type == kind:
                path = f"{thing.__module__}.{thing.__name__}".removeprefix("genie_inspect.")
                parts += [_rendered(package[path]), *_keys(info.metadata)]
        made[page] = "\n".join(parts)
    parts = ["# Python\n"]
    for heading, modules in PYTHON.items():
        parts.append(f"## {heading}\n")
        for module, names in modules.items():
            for name in names:
                home = _HOMES[name] if not module else f"genie_inspect.{module}"
                shown = _rendered(package[f"{home}.{name}".removeprefix("genie_inspect.")], level=3)
                where = f"from {home if module else 'genie_inspect'} import {name}"
                parts.append(shown.replace("\n\n", f"\n\n`{where}`\n\n", 1))
    return made | {"python": "\n".join(parts)}


def _rendered(thing: Any, level: int = 2) -> str:
    template = _TEMPLATES.get_template(f"{thing.kind.value}.md.jinja")
    shown = template.render(**prepare_context(thing, {**STYLE, "heading_level": level}))
    text = re.sub(r"\[([^\[\]]+)\]\(#[^)]*\)", r"\1", shown)  # these types have no page
    # outside of code a name in angle brackets would be a tag
    return re.sub(r"(`[^`]*`)|<(?!/?code>)", lambda found: found[1] or "&lt;", text)


def _keys(facts: dict[str, Any]) -> Iterator[str]:
    """What a scorer's decorator says of its keys."""
    if ranges := facts.get("ranges"):
        ends = (
            f"`{key}` {' to '.join('open' if end is None else str(end) for end in of)}" for key, of in ranges.items()
        )
        yield f"**Ranges by key** (`*`: all others): {', '.join(ends)}.\n"
    if meaning := facts.get("meaning"):
        yield f"**How to read it:** {meaning}\n"


def _commands(command: click.Command, name: str, level: int = 2) -> Iterator[str]:
    """The help of a command and of those in its group."""
    context = click.Context(command, info_name=name, max_content_width=100, terminal_width=100)
    yield f"{'#' * level} `{name}`\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            if (found := command.get_command(context, verb)) is not None:
                yield from _commands(found, f"{name} {verb}", level + (level < 3))
