"""CheckEval: questions to answer with yes or no, written once for a criterion; its score is the share of yes.

    START -> chain -> END

There is one chain per criterion, a graph of its own: `checklist -> answer -> share`. It is CoAScore
(`judgegraph/graphs/coascore.py`) with questions in the place of aspects: the same fan-out, the same rater, which asks
again for what is missing; and a share of yes, which may be weighed by probability, in the place of a fuser.

Source: Lee et al. 2024, arXiv:2403.18771: seed questions, diversification, elaboration, a filter, one call
for all questions of an aspect, the share of yes. There people write the seeds; give yours as `steps` of a criterion.
Wording ours.
"""

from __future__ import annotations

from typing import Any

from judgegraph.agents.checklist import ChecklistWriter, More, YesShare
from judgegraph.agents.judge import Rater
from judgegraph.calls import JudgeLike, Reader
from judgegraph.calls.ratings import STATED
from judgegraph.errors import ConfigError
from judgegraph.graphs.coascore import Builder, Compiled, chain_of_nodes, side_by_side
from judgegraph.graphs.settings import UpToFifty, checked, named
from judgegraph.prompts.criteria import CriteriaLike, criteria_set

SEEDS = 5


@checked("checkeval")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "summary", questions: UpToFifty = SEEDS,
    more: More = "none", sift: bool = False, given: bool = False, weighted: bool = False,
    writer_judge: JudgeLike | None = None, task: str | None = None, name: str = "",
) -> Builder:  # fmt: skip
    """CheckEval as a graph to go on building with.

    Args:
        judge: who answers the questions, and who writes them where `writer_judge` is None.
        criteria: name of a set, a file, or criteria. One with labels has no share of yes and is skipped.
        questions: seeds for a criterion, 1 to 50.
        more: "diversify", "elaborate" or "both" ask for up to as many more questions each; "none" does not.
        sift: let the writer drop questions that are off the criterion or asked twice.
        given: a criterion's own steps are its questions; nothing is written.
        weighted: a question counts by the probability of its yes, where the judge gives log-probabilities.
        task: one sentence that says what kind of text is judged; None: that of the criteria set.
        name: put before the agents' names and behind the checklists' keys, for two of these in one graph.

    Raises:
        ConfigError: a setting has none of its values, or would do nothing. CriteriaError: no such criteria.
    """
    idle = {"questions": questions != SEEDS, "more": more != "none", "sift": sift, "writer_judge": writer_judge}
    if given and (said := [key for key, value in idle.items() if value]):
        raise ConfigError(f"checkeval: {', '.join(said)} would do nothing, as given: true takes the criteria's steps")
    chosen = criteria_set(criteria)
    common: dict[str, Any] = {"task": task or chosen.task, "chains": name}
    writer = ChecklistWriter(
        judge=writer_judge or judge, criteria=chosen.criteria, count=questions, more=more, sift=sift, given=given,
        name=named(name, "checklist-writer"), **common,
    )  # fmt: skip
    answering = Rater(
        judge=judge, prompt="answer_checklist", reader=Reader("weighted", samples=1) if weighted else STATED,
        name=named(name, "checker"), **common,
    )  # fmt: skip
    share = YesShare(criteria=chosen.criteria, probable=weighted, name=named(name, "yes-share"), chains=name)
    return side_by_side(chain_of_nodes({"checklist": writer, "answer": answering, "share": share}), chosen.criteria)


def checkeval(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """CheckEval, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="checkeval")
