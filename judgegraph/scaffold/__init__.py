"""Packages to start from: a plug-in for judgegraph, complete and tested, under a name of one's own."""

from judgegraph.scaffold.package_name import PackageName
from judgegraph.scaffold.write import KINDS, write

__all__ = ["KINDS", "PackageName", "write"]
