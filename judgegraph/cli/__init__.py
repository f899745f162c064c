"""The command line: each command parses, calls and prints; the work lives elsewhere."""

from judgegraph.cli.main import main

__all__ = ["main"]
