"""How results are drawn: as HTML in a notebook, as text on a terminal. Importing this registers a form for each."""

from __future__ import annotations

from judgegraph.meta import display as meta_display
from judgegraph.runtime import display as run_display
from judgegraph.trace import step_html

__all__ = ["meta_display", "run_display", "step_html"]
