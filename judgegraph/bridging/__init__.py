"""Bridging: judgements of other projects made into training data with criteria and guidelines."""

from judgegraph.bridging.bridge import bridge, gather
from judgegraph.bridging.records import Reading, read_records

__all__ = ["Reading", "bridge", "gather", "read_records"]
