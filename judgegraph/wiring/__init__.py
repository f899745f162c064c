"""Whether a graph is wired: read from its agents' signatures and its edges, before anything is asked.

`drawn` reads a graph, by annotations and, for functions of one's own (`functions`), by their source; `paths` looks at
the ways that a run may take, `graph` at each agent and what it is given, `meaning` at who writes which scores and who
looks at them. `check` is the front.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judgegraph.wiring.code import Finding
    from judgegraph.wiring.drawn import Drawn


def findings(graph: Any) -> list[Finding]:
    """Everything that is wrong with a StateGraph or a compiled graph, errors first; subgraphs included."""
    from judgegraph.wiring.drawn import drawn

    return findings_of(drawn(graph))


def of_a_run(graph: Any) -> list[Finding]:
    """The same of a graph that is run over samples: it is given nothing else, no criteria either."""
    from judgegraph.wiring.drawn import drawn
    from judgegraph.wiring.graph import without_criteria
    from judgegraph.wiring.meaning import unanswered

    read = drawn(graph)
    read = replace(read, brought=frozenset({"sample"}))
    return [*findings_of(read), *without_criteria(read), *unanswered(read)]


def findings_of(graph: Drawn) -> list[Finding]:
    """Of a graph that was read already; the graphs of its assistants included."""
    from judgegraph.wiring import graph as agents
    from judgegraph.wiring import meaning as stages
    from judgegraph.wiring.drawn import lies, lost, made, misread, missing, misspelt, misused, unhanded
    from judgegraph.wiring.graph import assistants, templates, unfit_criteria
    from judgegraph.wiring.meaning import misnamed, same_scores, unapplied, unfit
    from judgegraph.wiring.paths import (
        dead_ends,
        empty_fan_outs,
        lacking,
        never_run,
        reducers,
        run_twice,
        side_by_side,
        too_many,
        unbounded,
        unmapped,
        unreached,
    )

    checks = (
        made, lost, unreached, misspelt, misread, lies,
        misused, unhanded, missing, lacking, never_run, run_twice,
        empty_fan_outs, unbounded, side_by_side, reducers, agents.judges,
        dead_ends, unmapped, too_many, templates, unfit_criteria,
    )  # fmt: skip
    found = [finding for part in graph.everywhere() for check in checks for finding in agreed(check, part)]
    for whole in (
        same_scores,
        stages.elsewhere,
        stages.unseen,
        stages.votes_reviewed,
        stages.astray,
        stages.miscompared,
        stages.silent,
        stages.of_one,
        stages.misspelt,
        unfit,
        unapplied,
        misnamed,
        assistants,
    ):
        found += whole(graph)
    found += [finding for part in graph.everywhere() for asked in agents.asked(part) for finding in findings_of(asked)]
    return sorted(dict.fromkeys(found), key=lambda finding: finding.severity != "error")


def agreed(check: Callable[[Drawn], Iterator[Finding]], graph: Drawn) -> list[Finding]:
    """What holds whether conditions of which it cannot be seen name one node or several."""
    told, other = list(check(graph)), graph.otherwise
    if not told or other is None:
        return told
    also = {(finding.code, finding.node, finding.key) for finding in check(other)}
    return [finding for finding in told if (finding.code, finding.node, finding.key) in also]
