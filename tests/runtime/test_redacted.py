"""Redaction: in whatever text or name of an item a canary sits, no view of the redacted trace lets it out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.cli import main
from judgegraph.runs.item import Item
from judgegraph.traces.redact import Names, known_names, redacted_item
from judgegraph.types import (
    Comparison,
    Correction,
    Criterion,
    EvalState,
    Finding,
    Note,
    Plan,
    Rectification,
    Sample,
    Scale,
    Score,
    Suggestion,
    keyed,
)

C = "canary"
LABELS = Scale(labels=("good", "bad"))
SET_UP = Criterion(name="Depth", definition="It is deep.")
OWN = Criterion(name=f"{C}-own", definition=f"{C} d", steps=(f"{C} s",), guideline=f"{C} g")
DRAFT = Score(
    criterion=f"{C}-own", agent=f"{C} a", stage=f"{C} stage", value=2, reason=f"{C} r", reader=f"{C} reader",
    raw=f"{C} raw", notes=(f"{C} n",), distribution={"2": 0.5, f"{C} point": 0.5},
)  # fmt: skip
SCORES = (
    DRAFT,
    Score(criterion=f"{C}-own", agent=f"{C} a", value=3, draft=DRAFT.key),
    Score(criterion="Depth", agent="evaluator", value=4, reason=f"{C} r"),
    Score(criterion="Depth", agent="evaluator", stage="aspects:canary-target", value=4),
    Score(criterion="Tone", agent="evaluator", label="good", scale=LABELS),
)
SAMPLE = Sample(
    id="s1", query=f"{C} q", source={f"{C} k": f"{C} v"}, output=f"{C} o", rival=f"{C} r", reference=f"{C} ref",
    human={"Depth": 3, "Tone": ["good", f"{C} said"], f"{C} key": f"{C} text"},
    meta={f"{C} meta": [f"{C} v", {f"{C} deep": 1}], "group": f"{C} group"},
)  # fmt: skip


class State(EvalState, total=False):
    canary_key: Any


async def canaries(state: State) -> State:
    async def tool() -> None:
        from judgegraph.trace.record import span

        with span("tool", f"{C} tool", {"value": f"{C} value"}):
            pass

    await tool()
    await jg.ask("embedded", f"{C} prompt")
    return {
        "scores": keyed(*SCORES),
        "rectifications": keyed(Rectification(criterion=f"{C}-own", agent=f"{C} a", label=f"{C} l", reason=f"{C} r")),
        "suggestions": [
            Suggestion(kind="criterion", criterion=f"{C} new", definition=f"{C} d", reason=f"{C}", agent=f"{C} a")
        ],
        "criteria": [OWN],
        "aspects": {"Depth": [OWN], f"{C}-own": [OWN], f"{C} t/{C} chains": [OWN]},
        "branches": {f"{C}-own/{C} a": OWN, f"{C} any": OWN},
        "plan": Plan(text=f"{C} p", alignment={f"{C}-own": (f"{C} tool",)}, usage={f"{C} tool": f"{C} use"}),
        "findings": {f"{C} tool": Finding(assistant=f"{C} tool", value=f"{C} v", reason=f"{C} r")},
        "comparisons": keyed(
            Comparison(criterion=f"{C}-own", agent=f"{C} a", verdict="A", reason=f"{C}", raw=C, notes=(C,))
        ),
        "corrections": keyed(
            Correction(
                text=f"{C} t", original=f"{C} o", agent=f"{C} a", criteria=(f"{C}-own",), rule=C, by=(DRAFT,), reason=C
            )
        ),
        "notes": keyed(Note(agent=f"{C} a", text=f"{C} t")),
        "canary_key": {f"{C} inner": [f"{C} text"]},
    }


async def failing(state: EvalState) -> EvalState:
    if state["sample"].id == "s2":
        raise ValueError(f"{C} error")
    return {}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> jg.Run:
    made = StateGraph(State)
    made.add_node("write", canaries)
    made.add_node("judge", Evaluator(criteria=[SET_UP], stage="draft"))
    made.add_node("fail", failing)
    for before, after in ((START, "write"), ("write", "judge"), ("judge", "fail"), ("fail", END)):
        made.add_edge(before, after)
    given = [SAMPLE, SAMPLE.model_copy(update={"id": "s2"})]
    return jg.evaluate(made.compile(name="hostile"), given, out=tmp_path_factory.mktemp("redacted") / "run")


def views(run: jg.Run, out: Path) -> dict[str, str]:
    """What a person or a program may be shown of a redacted run."""
    from click.testing import CliRunner

    found = {}
    for sample in ("s1", "s2"):
        trace = run.trace(sample, redact=True)
        found |= {
            f"{sample} text": str(trace), f"{sample} html": trace._repr_html_(),
            f"{sample} json": json.dumps(trace.to_dict(), ensure_ascii=False), f"{sample} repr": repr(trace),
        }  # fmt: skip
        for more in ((), ("--full",), ("--json",)):
            done = CliRunner().invoke(
                main, ["trace", str(run.folder.path), "--sample", sample, "--redact", "texts", *more]
            )
            assert done.exit_code == 0, done.output
            found[f"{sample} cli {more}"] = done.output
    for more in ((), ("--json",)):
        done = CliRunner().invoke(main, ["trace", str(run.folder.path), "--redact", "texts", *more])
        assert done.exit_code == 0, done.output
        found[f"list {more}"] = done.output
    found["report"] = jg.write_report(run, out / "report.html", redact=("texts",)).read_text()
    return found


def test_no_view_of_a_redacted_trace_holds_a_canary(run: jg.Run, tmp_path: Path):
    assert C in str(run.trace("s1"))
    for name, shown in views(run, tmp_path).items():
        at = shown.find(C)
        assert C not in shown, (name, shown[max(0, at - 200) : at + 100])


def test_no_canary_goes_to_a_collector(run: jg.Run):
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    sent: list[bytes] = []
    for redact in (False, True):
        exporter = InMemorySpanExporter()
        run.export_otel(exporter=exporter, redact=redact)
        sent.append(encode_spans(exporter.get_finished_spans()).SerializeToString())
    assert C.encode() in sent[0]
    assert C.encode() not in sent[1]
    assert b"criterion-1" in sent[1]


def test_a_name_has_one_number_wherever_it_stands_in_a_sample(run: jg.Run):
    found = run.trace("s1", redact=True)
    item = found.item
    draft, final, *_ = item.scores
    assert (draft.criterion, draft.agent, draft.stage) == ("criterion-1", "agent-1", "stage-1")
    assert final.draft == draft.key
    assert [a.name for a in item.aspects["Depth"]] == ["criterion-1"]
    assert item.branches["criterion-1/agent-1"].name == "criterion-1"
    assert item.rectifications[0].key == "criterion-1/agent-1"
    assert item.comparisons[0].criterion == item.corrections[0].criteria[0] == item.corrections[0].by[0].criterion
    assert item.findings[0].assistant == "assistant-1"
    (tool,) = [step for step in found.root.walk() if step.kind == "tool"]
    assert tool.name == "assistant-1"
    writes = found.root.steps[0].about["writes"]
    assert writes["scores"] == [score.key for score in item.scores[: len(SCORES)]]
    assert writes["comparisons"] == [item.comparisons[0].key]
    assert writes["aspects"] == list(item.aspects)
    assert writes["branches"] == list(item.branches)
    wrote = {score.key for step in found.root.steps for score in step.scores}
    assert wrote == {score.key for score in item.scores}


def test_what_the_run_was_set_up_with_stays_and_numbers_and_labels_of_scales_too(run: jg.Run):
    bare, item = (run.trace("s1", redact=redact).item for redact in (False, True))
    assert [score.value for score in item.scores] == [score.value for score in bare.scores]
    assert "Depth/evaluator/final/0" in {score.key for score in item.scores}
    (tone,) = [score for score in item.scores if score.label == "good"]
    assert re.fullmatch(r"criterion-\d", tone.criterion)
    assert item.sample.human["Depth"] == 3
    assert ["good", "[redacted, 11 characters]"] in item.sample.human.values()
    assert [node.name for node in run.trace("s1", redact=True).root.steps] == ["write", "judge", "fail"]


def test_of_two_names_none_takes_the_others_place():
    names = Names(known_names({"criteria": [{"name": "criterion-1"}]}))
    keys = [names.key("scores", key) for key in ("criterion-1/a/final/0", "x/a/final/0", "x%2Fa/final/0", "y", "y/")]
    assert len(set(keys)) == len(keys)
    assert keys[:2] == ["criterion-1/agent-1/final/0", "criterion-2/agent-1/final/0"]
    item = Item(sample=Sample(id="s", output="o", meta={"ab": 1, "cd": 2}), other={"aa": "x", "bb": "y"})
    told = redacted_item(item, known_names({}))
    assert list(told.sample.meta.values()) == [1, 2]
    assert len(told.other) == 2
