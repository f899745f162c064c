"""What `make site` does beside mkdocs: the index page, the API page, and links that lead out of docs/."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

DOCS = Path(__file__).parent
OUTWARD = re.compile(r"\[([^\]]*)\]\(\.\./([^)\s]+)\)")
API = """# Reference

What `import judgegraph as jg` brings. [What is public](api.md) lists the other names.

::: judgegraph
    options:
      show_root_heading: false
      show_root_toc_entry: false
      members: {names}
"""


def on_files(files: Files, config: Any) -> Files:
    """The index is docs/README.md; the API is made of docstrings."""
    import judgegraph

    names = [name for name in judgegraph.__all__ if not name.startswith("_")]
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=index))
    files.append(File.generated(config, "reference.md", content=API.format(names=names)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """A file beside docs/ is no page of the site: its link becomes its name."""
    return OUTWARD.sub(r"\1 (`\2` in the repository)", markdown)
