"""Templates a linguist can edit, criteria sets, and how values are written into a prompt."""

from judgegraph.prompts.template import Prompt, Rendered, evidence_of, examples_text, known, load, material, parse

__all__ = ["Prompt", "Rendered", "evidence_of", "examples_text", "known", "load", "material", "parse"]
