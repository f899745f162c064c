"""Whether a graph is wired: read from its agents' signatures and its edges, before anything is asked.

`drawn` reads a graph, `steps` plays all runs that its conditions allow without running a node, and one module each
looks at the result: `keys`, `payloads`, `joins`, `loops`, `reach`, `writers`, `agents`, `scores`. `findings` puts them
together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judgegraph.wiring.drawn import Drawn
    from judgegraph.wiring.finding import Finding


def findings(graph: Any) -> list[Finding]:
    """Everything that is wrong with a StateGraph or a compiled graph, errors first; subgraphs included."""
    from judgegraph.wiring.drawn import drawn

    return findings_of(drawn(graph))


def of_a_run(graph: Any) -> list[Finding]:
    """The same of a graph that is run over samples: it is given nothing else, no criteria either."""
    from judgegraph.wiring.drawn import drawn
    from judgegraph.wiring.materials import without_criteria
    from judgegraph.wiring.stages import unanswered

    read = drawn(graph)
    read = replace(read, brought=frozenset({"sample"}))
    return [*findings_of(read), *without_criteria(read), *unanswered(read)]


def findings_of(graph: Drawn) -> list[Finding]:
    """Of a graph that was read already; the graphs of its assistants included."""
    from judgegraph.wiring import (
        agents,
        joins,
        keys,
        loops,
        materials,
        own_functions,
        payloads,
        reach,
        routes,
        scales,
        scores,
        stages,
        verdicts,
        writers,
    )

    checks = (
        own_functions.made, routes.lost, reach.unreached, keys.misspelt, keys.misread, own_functions.lies,
        own_functions.misused, own_functions.unhanded, keys.missing, payloads.lacking, joins.never_run, joins.run_twice,
        joins.empty_fan_outs, loops.unbounded, writers.side_by_side, writers.reducers, agents.judges,
        reach.dead_ends, reach.unmapped, reach.too_many, materials.templates, materials.unfit_criteria,
    )  # fmt: skip
    found = [finding for part in graph.everywhere() for check in checks for finding in agreed(check, part)]
    for whole in (
        scores.same_scores,
        stages.unseen,
        stages.votes_reviewed,
        stages.astray,
        stages.misspelt,
        scales.unfit,
        verdicts.unapplied,
        verdicts.misnamed,
        materials.assistants,
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
