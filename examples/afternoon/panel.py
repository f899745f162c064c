"""Three judges score summaries; where they disagree, a critic from another package reviews what they came to.

pip install -e examples/plugin_critic
python examples/afternoon/panel.py DATA.json
judgegraph run examples/afternoon/panel.py:panel DATA.json -f id=doc_id -f output=system_output
"""

import sys
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from scipy.stats import spearmanr

import judgegraph as jg

HERE = Path(__file__).parent
JUDGES = ("llm-score", "g-eval", "coascore")  # three methods; three models would stand here just as well
FIELDS = {"id": "doc_id", "output": "system_output", "human.Consistency": "scores.consistency"}


def panel(judge: Any = "embedded", critic: Any = "evidence-critic") -> Any:
    """Judges side by side, their mean as a draft, and a critic behind a gate."""
    given: Any = {"judge": judge, "criteria": HERE / "criteria.yaml"}
    apart = jg.disagree(above=0.1)  # more than a tenth of the scale between two of them
    g = StateGraph(jg.EvalState)
    g.add_node("jury", jg.panel(*JUDGES, combine="mean", stage="draft", name="jury", **given))
    g.add_node("critique", jg.critique(critic, when=apart, **given))
    g.add_edge(START, "jury")
    g.add_edge("jury", "critique")
    g.add_edge("critique", END)
    return g.compile(name="panel")


def main(data: str) -> None:
    """Judge 200 samples, and print how each judge, the jury and the critic agree with people."""
    graph = panel()
    print(jg.check(graph).name, "is wired")
    run = jg.evaluate(graph, jg.load(data, fields=FIELDS, limit=200), out="runs/afternoon")
    pairs: dict[str, list[tuple[Any, float]]] = {}
    asked = 0
    for item in run.items:
        finals = [s for s in item.scores if s.stage in ("ballot", "draft") or s.agent == "evidence-critic"]
        for score in finals:
            if score.criterion == "Consistency" and score.value is not None:  # None where no reply could be read
                pairs.setdefault(score.agent, []).append((item.sample.human["Consistency"], score.value))
        asked += any("the critic was asked" in note for score in finals for note in score.notes)
    for agent, both in pairs.items():
        print(f"{agent:<16} n {len(both)}, Spearman {spearmanr(both).statistic:.2f}")
    print(f"the critic was asked about {asked} of {run.summary().samples.total()} samples")


if __name__ == "__main__":
    main(sys.argv[1])
