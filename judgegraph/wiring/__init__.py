"""Whether a graph is wired: read from its agents' signatures and its edges, before anything is asked."""
