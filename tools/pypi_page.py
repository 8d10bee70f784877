"""README.md as PyPI shows it: PyPI has no files of the repository, so links and pictures get absolute addresses.

The build runs this. `REPOSITORY_URL` says where the repository is, as `https://host/owner/name`; the release workflow
sets it. Where it is not set, as in a build for oneself, the page is README.md as it stands.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")


class PyPIPage(MetadataHookInterface):
    """What hatchling asks for the fields `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in both fields, with the files of the tag of this version."""
        repository = os.environ.get("REPOSITORY_URL", "").rstrip("/")
        tag = f"v{metadata['version']}"
        page = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(page, repository, tag)}
        metadata["urls"] = addresses(repository, tag)


def absolute(page: str, repository: str, tag: str) -> str:
    """A page whose relative links lead to the files of a tag, and pictures to their bytes.

    Args:
        page: Markdown.
        repository: Address of the repository; where it is not known, empty, and the page stays as it is.
        tag: Name of the release's tag.
    """
    places = {"!": f"{repository}/raw/{tag}", "": f"{repository}/blob/{tag}"}
    return _RELATIVE.sub(lambda link: f"{link[1]}{link[2]}({places[link[1]]}/{link[3]})", page) if repository else page


def addresses(repository: str, tag: str) -> dict[str, str]:
    """What PyPI links beside the page: the paper, and where the repository is known what stands there."""
    paper = {"Paper": "https://arxiv.org/abs/2606.12790"}
    if not repository:
        return paper
    files = f"{repository}/blob/{tag}"
    places = {"Documentation": f"{files}/docs/tutorial.md", "Changelog": f"{files}/CHANGELOG.md"}
    return {"Source": repository, "Issues": f"{repository}/issues"} | places | paper
