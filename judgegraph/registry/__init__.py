"""Names to parts: methods, agents, critics and assistants, ours and other packages'. Imports no graph library."""

from judgegraph.registry.decorators import register
from judgegraph.registry.find import find, find_agent
from judgegraph.registry.keys import keys_of
from judgegraph.registry.make import is_made, make, settings_of
from judgegraph.registry.methods import builder_of, factory
from judgegraph.registry.part import KINDS, Disabled, Kind, Part, usable
from judgegraph.registry.parts import load, names, part_of, parts
from judgegraph.registry.shipped import ABOUT, METHODS
from judgegraph.registry.variants import VARIANTS, Variant

__all__ = [
    "ABOUT", "KINDS", "METHODS", "VARIANTS", "Disabled", "Kind", "Part", "Variant", "builder_of", "factory", "find",
    "find_agent", "is_made", "keys_of", "load", "make", "names", "part_of", "parts", "register", "settings_of",
    "usable",
]  # fmt: skip
