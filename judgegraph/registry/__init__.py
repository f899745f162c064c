"""Names to parts: methods, agents, critics and assistants, ours and other packages'. Imports no graph library."""

from judgegraph.registry.make import make
from judgegraph.registry.methods import factory
from judgegraph.registry.parts import Kind, load, names, register
from judgegraph.registry.shipped import ABOUT, METHODS

__all__ = ["ABOUT", "METHODS", "Kind", "factory", "load", "make", "names", "register"]
