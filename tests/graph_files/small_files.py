"""A small graph file, and how tests write one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import judgegraph as jg

FILE = """\
name: small
criteria: forms
judges:
  strong: {model: "openai:m", base_url: "http://host:8000/v1"}
nodes:
  evaluate: evaluator
  critique: {use: sage, with: {calls: three}}
  rectify: rectify
edges:
  - start -> evaluate -> critique
  - critique -> rectify -> end
"""


def written(folder: Path, text: str = FILE, name: str = "small.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def graph(folder: Path, nodes: str, edges: str, head: str = "criteria: summary", **settings: Any) -> Any:
    """A graph of nodes and edges, one a line."""
    listed = "".join(f"  {line.strip()}\n" for line in nodes.strip().splitlines())
    drawn = "".join(f"  - {line.strip()}\n" for line in edges.strip().splitlines())
    return jg.load_graph(written(folder, f"name: small\n{head}\nnodes:\n{listed}edges:\n{drawn}"), **settings)
