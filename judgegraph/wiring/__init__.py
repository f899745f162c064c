"""Whether a graph is wired: read from its agents' signatures and its edges, before anything is asked.

`drawn` reads a graph, by annotations and, for functions of one's own (`functions`), by their source; `graph` looks at
each agent, what it is given, and the ways that a run may take, `meaning` at who writes which scores and who looks at
them. `check` is the front.
"""
