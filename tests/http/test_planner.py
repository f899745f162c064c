"""The planner of Fusion-Eval over HTTP: assistants are called at once; the judge sees who has no value, and why."""

import time

from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import fusion_eval


async def test_of_three_that_are_called_at_once_one_has_a_value_and_two_are_absent(server, tmp_path):
    """One is slow, and waits for the others: called one after the other, it would wait in vain; one raises; and one,
    coverage as it is, lacks a source."""
    seen: dict[str, float] = {}

    def slow(sample):
        deadline = time.monotonic() + 5
        while "raises" not in seen and time.monotonic() < deadline:
            time.sleep(0.005)
        seen["slow"] = deadline - time.monotonic()
        return 0.9

    def raises(sample):
        seen["raises"] = 0.0
        raise OSError("the index is gone")

    own = [jg.Metric(name=f.__name__, about=f"about {f.__name__}", measure=f) for f in (slow, raises)]
    sample = jg.Sample(id="s1", query="Why?", output="It is blue.")
    site = server("tools-all")
    graph = fusion_eval(site.judge(), criteria=[jg.Criterion(name="Clarity")], assistants=[*own, "coverage"])
    run = await jg.aevaluate(graph, [sample], out=tmp_path / "run")
    assert seen["slow"] > 0
    bodies = [one["body"] for one in site.seen]
    (asked,) = [body for body in bodies if "tools" in body]
    assert {tool["function"]["name"] for tool in asked["tools"]} == {"slow", "raises", "coverage"}
    shown = str(bodies[-1]["messages"][-1]["content"])
    told = shown.partition("<findings")[2]  # behind the plan
    lines = [line for line in told.splitlines() if line.startswith(("- slow", "- raises", "- coverage"))]
    assert lines == [
        "- slow: 0.9", "- raises: absent (OSError: the index is gone)",
        "- coverage: absent (the sample has no source)",
    ]  # fmt: skip
    (item,) = run.items
    found = {finding.assistant: finding.status for finding in item.findings}
    assert found == {"slow": "ok", "raises": "agent_error", "coverage": "skipped"}
    assert {score.status for score in item.scores} == {"ok"}
    printed = CliRunner().invoke(main, ["trace", str(tmp_path / "run"), "--sample", "s1"]).output
    for word in ("slow", "raises", "coverage", "the index is gone", "the sample has no source"):
        assert word in printed
