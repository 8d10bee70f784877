"""`genie index`: a folder of texts into an infini-gram index."""

from pathlib import Path

import click

from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo


@click.command()
@click.argument("texts", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
def index(texts: Path, folder: Path) -> None:
    """Build the index of a corpus too large for memory, for corpus=infini-gram:FOLDER.

    TEXTS is a folder of *.txt and *.md (a document each) and *.jsonl (a document a line, field "text"); FOLDER is where
    the index is written, whole or not at all. Needs the extra infini-gram.

    \b
    Example: genie index corpus/ corpus-index/
    """
    with shown_errors():
        # imported here, so that a missing extra is one line as any other error
        from genie_inspect.engines.corpora.infini_gram_build import build_index

        with console(stderr=True).status("reading") as status:
            manifest = build_index(texts, folder, status.update)
    echo(f"{folder}: {manifest.documents:,} documents, {manifest.symbols:,} symbols")
    echo(f"use it with: -S corpus=infini-gram:{folder}")
