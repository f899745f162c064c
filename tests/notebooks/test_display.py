"""What a notebook shows of a run: whole, readable without colours of its own, and inert whatever was judged."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.graphs import coascore, fennec, sageval
from judgegraph.runs.run import Table
from judgegraph.trace.record import Step
from judgegraph.traces.read import FolderTrace
from judgegraph.types import Note, Notes, Scores, Suggestion, keyed
from judgegraph.views.notebook import LONG, fold, table, text

TAGS = {"div", "p", "pre", "b", "table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"}
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)></td></table></details></div>\x1b[31m\u202e&amp;"
SEEN = HOSTILE.replace("\x1b", "\ufffd").replace("\u202e", "\ufffd")
NAME = f"a {HOSTILE}"


class Page(HTMLParser):
    """What a browser would make of it: tags in their order, attributes, texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[tuple[str, str]] = set()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{tag} closes what it did not open"

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


def page_of(value: Any) -> Page:
    """Parsed, and held against what no output may have."""
    html = value._repr_html_()
    page = Page(html)
    assert page.open == []
    assert set(page.tags) <= TAGS
    assert {name for name, _ in page.attributes} <= {"style", "class", "scope", "open"}
    for name, value in page.attributes:
        assert name != "style" or not any(word in value for word in ("color", "background", "url", "position")), value
    assert not any(c in html for c in "\x1b\x00\u202e\u2066\u200f")
    return page


class Case(TypedDict):
    sample: jg.Sample


class Written(TypedDict):
    scores: Scores
    suggestions: list[Suggestion]
    notes: Notes


def hostile_graph(value: float, *, name: str = "hostile"):
    """Writes hostile names, reasons and advice; fails at the sample that asks for it."""

    async def judge(state: Case) -> Written:
        if state["sample"].output == "fail":
            raise ValueError(HOSTILE)
        said = {"criterion": NAME, "scale": jg.Scale.of("1-5"), "reason": HOSTILE, "reader": HOSTILE}
        draft = jg.Score(agent=NAME, stage="draft", value=2, distribution={"2": 0.5, "3": 0.5}, **said)
        final = jg.Score(agent=HOSTILE, value=value, draft=draft.key, **said)
        labels = jg.Score(criterion="Tone", agent="x", label=NAME, scale=jg.Scale.of([NAME, "plain"]), reason=HOSTILE)
        other = jg.Score(criterion=NAME, agent="y", stage=HOSTILE, status="unreadable", reason=HOSTILE, raw=HOSTILE)
        advice = Suggestion(kind="criterion", criterion=NAME, definition=HOSTILE, reason=HOSTILE, agent="x")
        note = Note(agent=NAME, text=HOSTILE)
        return {"scores": keyed(draft, final, labels, other), "suggestions": [advice], "notes": keyed(note)}

    g = StateGraph(jg.EvalState)
    g.add_node("judge", judge)
    g.add_edge(START, "judge")
    g.add_edge("judge", END)
    return g.compile(name=name)


def samples_of(*outputs: str) -> list[jg.Sample]:
    return [
        jg.Sample(id=f"{n} {HOSTILE}", output=output, human={NAME: n + 1.0}, meta={"system": HOSTILE, "group": f"g{n}"})
        for n, output in enumerate(outputs)
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> jg.Run:
    folder = tmp_path_factory.mktemp("runs")
    return jg.evaluate(hostile_graph(4), samples_of("a", "b", "c", "fail"), out=folder / "hostile")


SHOWN = {  # what is shown -> from a hostile run
    "run": lambda run: run,
    "summary": lambda run: run.summary(),
    "scores": lambda run: run.scores(),
    "trace": lambda run: run.trace(f"0 {HOSTILE}"),
    "trace of a failure": lambda run: run.trace(f"3 {HOSTILE}"),
    "trace of a plain run": lambda run: FolderTrace(1, f"0 {HOSTILE}", 0.0, run.trace(f"3 {HOSTILE}").root),
    "step": lambda run: run.trace(f"3 {HOSTILE}").root,
    "plan": lambda run: jg.plan(hostile_graph(4), samples_of("fail", "fail")),
    "agreement": lambda run: jg.agreement(run, resamples=100),
    "critic": lambda run: jg.critic_worth(run),
    "difference": lambda run: jg.diff_runs(run, jg.evaluate(hostile_graph(5), samples_of("a", "b", "c", "d"))),
}


@pytest.mark.parametrize("shown", SHOWN.values(), ids=list(SHOWN))
def test_hostile_texts_are_read_and_do_nothing(run: jg.Run, shown: Any):
    value = shown(run)
    page = page_of(value)
    assert "<script>alert(1)</script>" in page.text
    assert SEEN[:40] in page.text
    assert not {"script", "img"} & set(page.tags)


@pytest.mark.parametrize("shown", SHOWN.values(), ids=list(SHOWN))
def test_as_plain_text_it_is_short_and_drives_no_terminal(run: jg.Run, shown: Any):
    value = shown(run)
    data, _ = DisplayFormatter().format(value)
    assert data["text/html"].startswith('<div class="jg-shown">')
    assert "\x1b" not in data["text/plain"]
    assert "\u202e" not in data["text/plain"]
    assert len(data["text/plain"]) < 6_000


def test_a_drawing_says_as_plain_text_what_is_drawn():
    drawing = jg.show("sageval")
    data, _ = DisplayFormatter().format(drawing)
    assert data["text/plain"] == str(drawing)
    assert "START -> evaluate" in data["text/plain"]
    assert "<svg" in data["text/html"]


def test_every_hostile_input_is_inert_in_a_run(shared: Path, tmp_path: Path):
    kinds = ("html_script", "terminal_escape", "rtl", "inject_closing_tag", "combining", "nul", "yaml_tag")
    rows = map(json.loads, (shared / "hostile/inputs.jsonl").read_text().splitlines())
    found = [row["sample"] for row in rows if row["kind"] in kinds]
    samples = [jg.Sample(id=row["id"], output=row["output"], source=row["source"]) for row in found]
    assert len(samples) == len(kinds)
    run = jg.evaluate(coascore(aspects=2, criteria="general"), samples, out=tmp_path / "run")
    for value in (run, run.scores(), *(run.trace(sample.id) for sample in samples)):
        page_of(value)


def test_a_run_says_what_was_judged_and_what_it_took(examples):
    run = jg.evaluate(sageval(criteria="summary"), examples("articles", 8))
    page = page_of(run)
    assert "run of sageval: 8 samples, 16 calls" in page.text
    assert page.text.count("8/8") == 4
    assert "draft" in page.text
    assert run.signature in page.text
    line = run.summary().line("Consistency")
    assert line is not None
    assert f"{line.mean:.2f}" in page.text


def test_a_summary_of_pairs_tells_verdicts_and_of_aspects_puts_them_behind_a_click(examples):
    pairs = jg.evaluate(fennec(orders="both"), examples("pairs", 3)).summary()
    assert "verdicts: " in page_of(pairs).text
    assert "same verdict in both orders: " in page_of(pairs).text
    chains = jg.evaluate(coascore(), examples("articles", 2)).summary()
    page = page_of(chains)
    assert "44 lines: all scores by agent and stage" in page.text


def test_a_table_shows_its_first_rows_and_their_count():
    rows = [{"id": f"s{n}", "criterion": "Clarity", "value": n / 3, "status": "ok"} for n in range(1_234)]
    page = page_of(Table(rows))
    assert "1,234 scores, the first 10" in page.text
    assert page.tags.count("tr") == 11
    assert "s9" in page.text
    assert "s10" not in page.text
    assert page_of(Table([])).text.strip().startswith("0 scores")


def test_a_trace_opens_at_its_nodes_and_holds_messages_and_reply(examples, tmp_path: Path):
    run = jg.evaluate(sageval(criteria="summary"), examples("articles", 2), out=tmp_path / "run")
    trace = run.trace("mill-bridge.s2")
    page = page_of(trace)
    steps = list(trace.root.walk())
    calls = [step for step in steps if step.kind == "model"]
    judged = 2 + 3  # what was judged with its query, source and output, and the trace
    assert page.tags.count("details") == judged + len(steps) + sum(len(c.messages) + len(c.replies) for c in calls)
    assert calls[0].messages[0][1].strip()[:60] in page.text
    assert calls[0].replies[0][:60] in page.text
    hidden = page_of(run.trace("mill-bridge.s2", redact=True)).text
    assert calls[0].replies[0][:60] not in hidden
    assert "[redacted, " in hidden


def test_what_failed_is_open_and_a_run_in_memory_says_that_it_was_not_traced(run: jg.Run):
    html = run.trace(f"3 {HOSTILE}")._repr_html_()
    assert html.count("<details") == html.count(" open>") + 2  # what was judged, and its output
    memory = jg.evaluate(hostile_graph(4), samples_of("a"))
    assert "No spans were recorded" in page_of(memory.trace(f"0 {HOSTILE}")).text


def test_a_step_is_a_tree_as_text_and_folds_as_html():
    step = Step("graph", "g", 0.0, 12.0, steps=(Step("node", "n", 0.0, 3.0, "timeout"),))
    assert str(step).splitlines()[1] == "└── node n  3.0 ms  timeout"
    assert page_of(step).tags.count("details") == 2


def test_long_texts_are_cut_and_told_how_long_they_are():
    assert text("x" * 30_000).endswith(f"x… ({30_000:,} characters)")
    assert len(text("x" * 30_000)) < LONG + 40
    assert text("a\tb\r\nc") == "a   b\nc"
    assert text("\x07\u2067") == "\ufffd\ufffd"


def test_a_fold_and_a_table_say_what_they_hold():
    assert "<details" in fold(text("more"), table("t", ("a", "b"), [("<1>", 2)], ("b",)))
    html = table("t", ("a", "b"), [("<1>", 2)], ("b",))
    assert '<th scope="row"' in html
    assert "&lt;1&gt;" in html
    assert html.count("text-align:right") == 2
    with pytest.raises(ValueError, match="zip"):
        table("t", ("a", "b"), [("only one",)])
