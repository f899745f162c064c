"""The last lines of a run: what it took, how it ended, how much could be read."""

import re

import pytest

from judgegraph.data.samples import Rejection
from judgegraph.runs.folder import Folder
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.types import Sample, Scale, Score
from judgegraph.views.run import costs, coverage_line, print_run

CALLS = {"requests": 250, "replies": 240, "prompt_tokens": 30_000, "completion_tokens": 1234}
SPENT = {
    "calls": 240, "prompt_tokens": 30_000, "completion_tokens": 1234, "usd": 0.314, "estimated": 0, "unpriced": 0,
}  # fmt: skip
SAVED = {"ledger": {"hits": 10, "joined": 2, "paid": 240}}


def manifest(state="finished", calls=(), spent=(), **more):
    both = {"calls": {**CALLS, **dict(calls)}, "spent": {**SPENT, **dict(spent)}}
    return {"signature": "sig", "state": state, **both, **more}


def item(name="s", status="ok", reason=""):
    score = Score(criterion="Coherence", agent="a", value=3.0, scale=Scale(low=1, high=5))
    return Item(sample=Sample(id=name, output="t"), status=status, reason=reason, scores=[score] * (status == "ok"))


BAD = Rejection(file="rows.csv", line=2, reason="no output")


def printed(capsys, about, items=(), rejected=(), gate=None, folder=None):
    run = Run(about, items)
    summary = run.summary()
    print_run(Run(about, items, folder) if folder is None else _Kept(about, items, folder), summary, rejected, gate)
    return " ".join(capsys.readouterr().out.split())


class _Kept(Run):
    """A run in a folder that holds no items."""

    @property
    def items(self):
        return iter(self.held)


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (manifest(), "240 calls, 31,234 tokens, $0.31"),
        (manifest(calls=SAVED), "240 calls (12 saved), 31,234 tokens, $0.31"),
        (manifest(spent={"estimated": 3}), "240 calls, 31,234 tokens (estimated for 3 calls), $0.31"),
        (manifest(spent={"unpriced": 1}), "240 calls, 31,234 tokens, $0.31 (price unknown for 1 call)"),
        (manifest(spent={"usd": 0.0, "unpriced": 240}), "240 calls, 31,234 tokens, price unknown"),
        (manifest(spent={"usd": 0.0}), "240 calls, 31,234 tokens"),
        ({"calls": CALLS}, "240 calls, 31,234 tokens"),
    ],
    ids=["all known", "saved", "estimated", "a price unknown", "all prices unknown", "free", "an older run"],
)
def test_what_a_run_took_is_told_with_what_is_not_known(about, said):
    assert ", ".join(costs(about)) == said


@pytest.mark.parametrize(
    ("budget", "spent", "said"),
    [
        ({"calls": 240, "tokens": None, "usd": None}, {}, "240 of 240 calls"),
        ({"calls": 1000, "tokens": 31_300, "usd": None}, {}, "31,234 of 31,300 tokens"),
        ({"calls": 1000, "tokens": None, "usd": 0.32}, {}, "$0.31 of $0.32"),
    ],
)
def test_a_budget_that_ended_a_run_is_named_with_how_to_go_on(budget, spent, said, capsys, tmp_path):
    items = [item(), item("t", "over_budget", "r"), item("u", "over_budget", "r")]
    about = manifest("over_budget", spent=spent, budget=budget)
    end = rf"stopped by the budget: {re.escape(said)}; 2 samples are over it; the same command with --budget-\w+ [\d.]+"
    assert re.search(rf"{end}, and --out FOLDER, goes on", printed(capsys, about, items))
    kept = printed(capsys, about, items, folder=Folder(tmp_path))
    assert re.search(rf"{end} goes on saved in", kept.replace("coverage 0.333 (Coherence): 1 of 3 scores ", ""))


@pytest.mark.parametrize(
    ("share", "gate", "said"),
    [
        (0.9648, 0.98, "coverage 0.965 (Coherence), below 0.98"),
        (0.97999, 0.98, "coverage 0.97999 (Coherence), below 0.98"),
        (1.0, None, "coverage 1.000 (Coherence)"),
        (0.29, None, "coverage 0.290 (Coherence)"),
    ],
)
def test_coverage_is_never_rounded_to_what_it_does_not_reach(share, gate, said):
    assert coverage_line(share, "Coherence", gate) == said


@pytest.mark.parametrize(
    ("items", "rejected", "gate", "said"),
    [
        ([item()], (), None, None),
        ([item()], (), 1.0, "coverage 1.000 (Coherence)"),
        ([item()], [BAD], None, "coverage 0.500 (Coherence)"),
        (
            [item()],
            [BAD],
            0.9,
            "coverage 0.500 (Coherence), below 0.9",
        ),
    ],
)
def test_coverage_is_told_where_it_is_asked_for_or_not_whole(items, rejected, gate, said, capsys):
    told = printed(capsys, manifest(), items, rejected, gate)
    assert (said in told) if said else ("coverage" not in told)


def test_several_kinds_of_failure_are_added_up_by_status(capsys):
    items = [item(), item("a", "timeout", "r1"), item("b", "timeout", "r2"), item("c", "provider_error", "r")]
    assert "failed: 2 timeout, 1 provider error" in printed(capsys, manifest(), items)
    assert "failed:" not in printed(capsys, manifest(), items[:2])


def test_a_retry_of_a_run_that_was_stopped_says_how_that_goes_on(capsys, tmp_path):
    said = printed(capsys, manifest("stopped"), [item()], folder=Folder(tmp_path))
    assert f"yet: the same command without --retry-failed goes on saved in {tmp_path}" in said


def test_what_the_server_failed_may_be_judged_again_and_is_not_counted_as_calls(capsys, tmp_path):
    lost = Score(criterion="Coherence", agent="a", status="provider_error", reason="HTTP 503")
    items = [item(), item("t").model_copy(update={"scores": (lost,)})]
    said = printed(capsys, manifest(spent={"estimated": 3, "unanswered": 3}), items, folder=Folder(tmp_path))
    assert "(estimated for 3 requests)" in said
    assert "1 score failed by the judge's server: the same command and --retry-failed may judge them" in said
