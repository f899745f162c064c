"""Templates a linguist can edit, criteria sets, and how values are written into a prompt."""

from judgegraph.prompts.template import Prompt, Rendered, examples_text, known, load, material

__all__ = ["Prompt", "Rendered", "examples_text", "known", "load", "material"]
