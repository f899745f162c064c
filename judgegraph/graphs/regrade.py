"""A correction and its original, each judged alone by the criteria that the original was judged by.

    START -> recall -> weigh (guide -> judge, and judge_rival) -> merge -> END
             recall -> merge (no criteria)

Neither call shows the other text, or says which of them is the correction. The samples are a Fennec run's corrections
(`judgegraph.meta.corrected` makes them): `output` is the correction, `rival` the original, and
`meta["corrected"]["judged_by"]` holds the criteria with their guidelines, so that none is written anew.

Source: Fennec, section 5.3 and table 4, where another model than the corrector scores the responses before and after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph.agents.criteria import GuidelineWriter
from judgegraph.agents.judge import Judge
from judgegraph.agents.merge import Merge
from judgegraph.agents.pairwise import Comparer
from judgegraph.calls import JudgeLike
from judgegraph.errors import DataError, one_line
from judgegraph.graphs.fennec import TASK, Branch, Builder, Compiled, Result, State, weigh
from judgegraph.graphs.settings import Temperature, checked, named
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import Asked, Criterion, Notes, Sample, given_criteria, key_of, sample_of

CORRECTED, JUDGED_BY = "corrected", "judged_by"


class Recalling(TypedDict):  # what it reads
    sample: Sample


class Recalled(TypedDict):  # what it writes
    criteria: list[Criterion]
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class RecalledCriteria:
    """The criteria that a correction's original was judged by, or given ones; it asks nobody.

    Attributes:
        criteria: given ones, in the place of the sample's.
    """

    criteria: Sequence[Criterion] = ()
    name: str = "recalled-criteria"

    async def __call__(self, state: Recalling) -> Recalled:
        if self.criteria:
            return {"criteria": list(self.criteria), "notes": {}}
        sample = sample_of(state)
        about = sample.meta.get(CORRECTED)
        held = about.get(JUDGED_BY) if isinstance(about, Mapping) else None
        if not isinstance(held, Sequence) or isinstance(held, str):
            raise DataError(
                f"sample {one_line(sample.id, 60)}: no criteria in meta.{CORRECTED}.{JUDGED_BY}; "
                "judgegraph.meta.corrected.corrections_of makes such samples of a run"
            )
        return {"criteria": given_criteria({"criteria": held}), "notes": {}}


@checked("regrade")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike | None = None, task: str | None = None,
    temperature: Temperature | None = 0.0, name: str = "",
) -> Builder:  # fmt: skip
    """The graph.

    Args:
        judge: who judges. criteria: a set's name, a file, or criteria, in the place of the run's own.
        task: one sentence that says what kind of text is judged. temperature: of every call.
        name: put before the agents' names.

    Raises:
        ConfigError: a setting has none of its values. CriteriaError: no such criteria.
    """
    given = criteria_set(criteria) if criteria is not None else None
    common: dict[str, Any] = {"temperature": temperature, "task": task or (given.task if given else TASK)}
    names = [named(name, role) for role in ("recalled-criteria", "guideline-writer", "judge", "comparer", "merge")]
    recall = RecalledCriteria(criteria=given.criteria if given else (), name=names[0])
    guide = GuidelineWriter(judge=judge, name=names[1], **common)
    single = Judge(judge=judge, name=names[2], **common)
    merge = Merge(mode="apart", judge_name=names[2], comparer=names[3], name=names[4])

    def each_criterion(state: State) -> list[Send] | str:
        sample = sample_of(state)
        return [
            Send("weigh", Branch(sample=sample, criterion=one, branches={key_of(one.name, recall.name): one}))
            for one in given_criteria(state)
        ] or "merge"

    graph = StateGraph(State, input_schema=Asked, output_schema=Result)
    graph.add_node("recall", recall)
    graph.add_node("weigh", weigh("apart", guide, single, Comparer(judge=judge, name=names[3], **common)))
    graph.add_node("merge", merge, defer=True)
    graph.add_edge(START, "recall")
    graph.add_conditional_edges("recall", each_criterion, ["weigh", "merge"])
    graph.add_edge("weigh", "merge")
    graph.add_edge("merge", END)
    return graph


def regrade(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """The graph, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="regrade")
