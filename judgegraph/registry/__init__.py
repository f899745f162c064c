"""Names to parts: methods, agents, critics and assistants, ours and other packages'. Imports no graph library."""

from judgegraph.compiled import MethodSpec, declare, spec_of
from judgegraph.registry.lookup import (
    builder_of,
    factory,
    find,
    find_agent,
    is_made,
    load,
    make,
    names,
    part_of,
    parts,
    register,
    settings_of,
)
from judgegraph.registry.shipped import ABOUT, KINDS, METHODS, VARIANTS, Disabled, Kind, Part, Variant, keys_of, usable

__all__ = [
    "ABOUT", "KINDS", "METHODS", "VARIANTS", "Disabled", "Kind", "MethodSpec", "Part", "Variant", "builder_of",
    "declare", "factory", "find", "find_agent", "is_made", "keys_of", "load", "make", "names", "part_of", "parts",
    "register", "settings_of", "spec_of", "usable",
]  # fmt: skip
