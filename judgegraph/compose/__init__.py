"""Helpers where LangGraph is clumsy: each makes one node, so that composing stays `add_node` and `add_edge`."""
