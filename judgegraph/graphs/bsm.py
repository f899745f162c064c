"""Branch-Solve-Merge: criteria for the question, both responses scored by each of them in both orders, sums compared.

    START -> branch -> solve (one per criterion, side by side) -> merge -> END
             branch -> merge (no criteria)

It is Fennec (`judgegraph/graphs/fennec.py`), its direct heir, without guidelines and without correction: the same
writer of criteria, judge, comparer and merge. What differs is how the two orders of a pair come together: where they
do not give the same verdict, it is a tie.

Source: Saha et al. 2024, "Branch-Solve-Merge Improves Large Language Model Evaluation and Generation", NAACL,
arXiv:2310.15123. Wording of the prompts ours (Fennec's, without its guideline section).
"""

from __future__ import annotations

from typing import Any, Literal

from judgegraph.agents.criteria import CriteriaWriter
from judgegraph.agents.judge import Judge
from judgegraph.agents.merge import Merge
from judgegraph.agents.pairwise import Comparer, Orders
from judgegraph.calls import JudgeLike
from judgegraph.errors import ConfigError
from judgegraph.graphs.fennec import Builder, Compiled, branching, weigh
from judgegraph.graphs.settings import Temperature, UpToFifty, checked, named
from judgegraph.prompts.criteria import CriteriaLike, criteria_set

TASK = "an assistant's response to a user's query"


@checked("bsm")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike | None = None, branches: UpToFifty = 5,
    mode: Literal["auto", "single", "pair"] = "auto", orders: Orders = "both",
    both: Literal["agree-else-tie", "mean"] = "agree-else-tie", task: str | None = None,
    temperature: Temperature | None = 0.0, name: str = "",
) -> Builder:  # fmt: skip
    """Branch-Solve-Merge as a graph to go on building with.

    Args:
        judge: of all three steps. criteria: replace what `branch` would write: a set's name, a file, or criteria.
        branches: criteria for a question, of which the paper asks for at most 5.
        mode: "pair" as in the paper, "single" scores the output alone, "auto" a pair where there is a rival.
        orders: of a pair: "both" as in the paper, or "AB" or "BA" alone.
        both: what the two orders come to: "agree-else-tie" as in the paper, or the "mean" of their sums, as Fennec has.
        task: one sentence that says what kind of text is judged; None: that of the criteria set.
        temperature: of every call; None leaves it to the judge.
        name: put before the agents' names, for two of these in one graph: "a-comparer".

    Raises:
        ConfigError: a setting has none of its values, or would do nothing. CriteriaError: no such criteria.
    """
    if mode == "single" and (orders != "both" or both != "agree-else-tie"):
        raise ConfigError("bsm: orders and both would do nothing, as mode: 'single' compares nothing; leave them out")
    if orders != "both" and both != "agree-else-tie":
        raise ConfigError(f"bsm: both: '{both}' would do nothing in one order; set orders: 'both'")
    given = criteria_set(criteria) if criteria is not None else None
    common: dict[str, Any] = {"temperature": temperature, "judge": judge}
    common["task"] = task or (given.task if given else TASK)
    names = [named(name, role) for role in ("criteria-writer", "judge", "comparer", "merge")]
    branch = CriteriaWriter(
        criteria=given.criteria if given else (), count=branches, pairs_only=mode == "pair", name=names[0], **common
    )
    solve = weigh(mode, None, Judge(name=names[1], **common), Comparer(orders=orders, name=names[2], **common))
    merge = Merge(mode=mode, judge_name=names[1], comparer=names[2], both=both, name=names[3])
    return branching(branch, solve, merge, node="solve")


def bsm(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """Branch-Solve-Merge, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="bsm")
