"""Steps as a tree of text: what stands in it, what is cut, and that nothing in it drives a terminal."""

import pytest
from rich.cells import cell_len

from judgegraph.trace.record import Step
from judgegraph.types import Scale
from judgegraph.views.blocks import Cut, bars, cut, likeliest
from judgegraph.views.traces import tree_text

FIVE = Scale(low=1, high=5)
CALL = {
    "prompt": "evaluate@b0ec41a0", "form": "ratings", "n": 2, "repeat": 1, "requests": 3, "from": "paid",
    "prompt_tokens": 1234, "completion_tokens": 56, "usd": 0.0012,
}  # fmt: skip
MODEL = Step("model", "m", 1.0, 90.0, "ok", CALL, messages=(("user", "Is it good?"),), replies=("Yes.", "No."))
AGENT = Step("agent", "Evaluator", 0.5, 95.0, "ok", {"judge": "m", "prompt": "evaluate@b0ec41a0"}, steps=(MODEL,))
NODE = Step("node", "evaluate", 0.5, 95.0, "ok", {
    "reads": {"sample": None, "scores": 8}, "writes": {"scores": ["a", "b"], "notes": 1, "overall": 2.5},
}, steps=(AGENT,))  # fmt: skip
TOOL = Step("tool", "rouge-l", 96.0, 3000.0, "skipped", {"value": 0.33333})
BROKEN = Step("node", "rectify", 96.0, 0.2, "agent_error", {"error": "ValueError: no"})
ROOT = Step("graph", "sageval", 0.0, 3100.0, steps=(NODE, TOOL, BROKEN))
WHOLE = """\
graph sageval  3.1 s  1 model call
├── node evaluate  95 ms  1 model call
│   reads: sample, scores (8)  writes: scores (2), notes (1), overall (2.5)
│   └── agent Evaluator  95 ms
│       judge: m  prompt: evaluate@b0ec41a0
│       └── model m  90 ms  paid  1,234 + 56 tokens  $0.0012  2 retries
│           prompt: evaluate@b0ec41a0  form: ratings  repeat: 1  choices asked
│           for: 2
│           asked (user): Is it good?
│           reply 1: Yes.
│           reply 2: No.
├── tool rouge-l  3.0 s  gave 0.3333  skipped
└── node rectify  0.2 ms  agent error
    ValueError: no"""


def test_a_tree_says_what_was_done():
    assert tree_text(ROOT, 80) == WHOLE


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_tree_keeps_to_its_width_and_loses_nothing(width):
    told = tree_text(ROOT, width)
    assert max(cell_len(line) for line in told.splitlines()) <= width
    assert [word for word in ("1,234", "ratings", "ValueError:", "overall") if word not in told] == []


@pytest.mark.parametrize(("source", "said"), [("ledger", "from the ledger"), ("joined", "shared with another call")])
def test_what_was_not_paid_for_says_from_where_it_came(source, said):
    step = Step("model", "m", 0, 1, "ok", {"from": source, "prompt_tokens": 1, "completion_tokens": 2, "usd": None})
    assert said in tree_text(step)
    assert "price unknown" in tree_text(step)


BAD = "a\x1b[2J\x9b31m\r\x08\x7f\u202eb[bold]c[/bold]\ud800"


def test_nothing_in_a_tree_drives_a_terminal_or_is_taken_for_markup():
    about = {
        "error": BAD,
        "judge": BAD,
        "prompt": BAD,
        "reader": BAD,
        "form": BAD,
        "reads": {BAD: 1},
        "writes": {BAD: [BAD]},
    }
    for kind in ("graph", "node", "agent", "model", "tool"):
        step = Step(
            kind, BAD, 0, 1, "agent_error", about | {"value": BAD, "from": BAD}, messages=((BAD, BAD),), replies=(BAD,)
        )
        told = tree_text(Step("graph", "g", 0, 1, steps=(step,)), 200)
        assert not [c for c in told if c != "\n" and not c.isprintable()]
        assert "[bold]c[/bold]" in told


def test_long_texts_are_cut_with_their_length():
    text = "\n".join(f"line {n} of a long text" for n in range(100))
    call = Step("model", "m", 0, 1, "ok", {}, messages=(("user", text),), replies=("a\tb\r\nc",))
    told = tree_text(call)
    lines = [f"line {n} of a long text" for n in range(4)]
    assert told.splitlines()[1:5] == [
        f"asked (user): {lines[0]}",
        *lines[1:3],
        f"{lines[3]}… ({len(text):,} characters)",
    ]
    assert "reply: a   b\nc" in told
    assert cut("x" * 5000, 320, lines=4) == Cut("x" * 320, 4680)
    assert cut("a\n\n\nb", 320, lines=4).text == "a\nb"
    assert cut(text, 10_000) == Cut(text)


BARS = [
    ({"4": 0.5, "5": 0.5}, FIVE, "▁▁▁▅▅", "___=="),
    ({"4": 1.0}, FIVE, "▁▁▁█▁", "___#_"),
    ({"good": 1.0}, Scale(labels=("bad", "good")), "▁█", "_#"),
    ({"3.5": 0.2, "1": 0.8}, None, "▇▂", "*."),
    ({"x": 0.2, "y": 0.8}, None, "▂▇", ".*"),
    ({}, FIVE, "", ""),
    ({"1": 0.0}, FIVE, "", ""),
]


@pytest.mark.parametrize(("shares", "scale", "blocks", "letters"), BARS, ids=range(len(BARS)))
def test_a_distribution_is_a_bar_for_each_point_in_order(shares, scale, blocks, letters):
    assert bars(shares, scale) == blocks
    assert bars(shares, scale, plain=True) == letters


def test_many_points_share_bars():
    wide = Scale(low=1, high=100)
    assert bars({"100": 1.0}, wide) == "▁" * 19 + "█"
    assert bars({str(n): 0.01 for n in range(1, 101)}, wide) == "▁" * 20


def test_the_likeliest_points_are_told_in_percent():
    assert likeliest({"3": 0.2, "4": 0.7, "5": 0.1}) == "4: 70 %, 3: 20 %"
    assert likeliest({"4": 1.0, "5": 0.001}) == "4: 100 %"
    assert likeliest({}) == ""


def test_a_step_as_json_has_all_below_it():
    told = ROOT.to_dict()
    assert told["steps"][0]["steps"][0]["steps"][0]["messages"] == [{"role": "user", "text": "Is it good?"}]
    assert told["steps"][0]["steps"][0]["steps"][0]["replies"] == ["Yes.", "No."]
    assert "steps" not in told["steps"][1]
    assert [step.name for step in ROOT.walk()] == ["sageval", "evaluate", "Evaluator", "m", "rouge-l", "rectify"]
