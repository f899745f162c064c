"""How far a run is, in words: on a terminal beside a bar, elsewhere as lines now and then."""

import asyncio
import io
import os
import pty
import re
import select
import sys
from contextlib import contextmanager
from dataclasses import replace

import pytest
from langgraph.graph import END, START, StateGraph
from rich.console import Console

import judgegraph as jg
import judgegraph.cli.run as module
from judgegraph.cli.run import progress
from judgegraph.graphs import g_eval
from judgegraph.runs import worker as work
from judgegraph.runs.worker import Progress
from judgegraph.types import EvalState, Sample
from judgegraph.views.run import Pace, state_line

NOW = Progress(
    done=120, resumed=0, by_status={"ok": 117, "refused": 1, "timeout": 2}, requests=250, calls=240, saved=12,
    prompt_tokens=30_000, completion_tokens=1234, usd=0.31, seconds=14.4,
)  # fmt: skip


def line(now=NOW, total=1000, since=(0.0, 0), **more):
    pace = Pace()
    pace.add(*since)
    pace.add(now.seconds, now.done)
    return state_line(now, total, pace, **more)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            line(),
            "120 of 1,000 samples, 8.3/s, 1 min 46 s left, 240 calls (12 saved), $0.31, failed: 2 timeout, 1 refused",
        ),
        (
            line(replace(NOW, budget=jg.Budget(usd=2, calls=500), mean=3.416, scale="1-5", by_status={})),
            "120 of 1,000 samples, 8.3/s, 1 min 46 s left, 240 of 500 calls (12 saved), $0.31 of $2.00, "
            "mean 3.42 on 1-5",
        ),
        (
            line(replace(NOW, usd=None, budget=jg.Budget(tokens=50_000), mean=0.6, saved=0, by_status={})),
            "120 of 1,000 samples, 8.3/s, 1 min 46 s left, 240 calls, 31,234 of 50,000 tokens, "
            "mean 0.60 of 1, on several scales",
        ),
        (
            line(replace(NOW, usd=None, saved=0, by_status={"ok": 120}), total=None),
            "120 samples, 8.3/s, 240 calls, 31,234 tokens",
        ),
        (
            line(replace(NOW, resumed=100, by_status={}), since=(0.4, 100)),
            "120 of 1,000 samples, 1.4/s, 10 min 16 s left, 240 calls (12 saved), $0.31",
        ),
        (
            line(replace(NOW, done=1000, resumed=100, by_status={}), ended=True),
            "1,000 of 1,000 samples, 14 s, 62.5/s, 240 calls (12 saved), $0.31",
        ),
        (line(replace(NOW, done=0, by_status={}, calls=0, saved=0)), "0 of 1,000 samples, 0 calls, $0.31"),
        (
            line(Progress(done=1, resumed=0, calls=1, seconds=2.0, usd=None), total=1),
            "1 of 1 sample, 0.5/s, 1 call, 0 tokens",
        ),
    ],
    ids=[
        "all of it",
        "a budget and a mean",
        "a budget of tokens",
        "tokens where no price is known",
        "resumed ones were no work",
        "the last",
        "the first",
        "one",
    ],
)
def test_a_line_says_how_far_a_run_is(said, expected):
    assert said == expected


def test_the_rate_is_of_the_last_minute():
    pace = Pace()
    for second in range(10):
        pace.add(second, 1000 * (second + 1))  # found in a ledger
    for second in range(10, 120):
        pace.add(second, 10_000 + second)
    assert pace.rate(119, 10_119) == pytest.approx(1.0, abs=0.02)
    assert len(pace._points) < 80


def test_without_a_terminal_lines_come_at_the_start_every_ten_seconds_and_at_the_end(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with progress("judging 30 samples", lambda: 30) as tick:
        for second in range(1, 26):
            now[0] = float(second)
            tick(Progress(done=second, resumed=0, calls=second, seconds=float(second), usd=None))
    out, told = capsys.readouterr()
    assert out == ""
    assert [text.split(",")[0] for text in told.splitlines()] == [
        "judging 30 samples", "10 of 30 samples", "20 of 30 samples", "25 of 30 samples",
    ]  # fmt: skip


def test_a_run_that_never_began_has_no_last_line(capsys):
    with progress("judging 30 samples", lambda: 30):
        pass
    assert capsys.readouterr().err == "judging 30 samples\n"


def test_a_run_that_is_stopped_says_how_far_it_came(capsys):
    def stopped():
        with progress("judging 30 samples", lambda: 30) as tick:
            tick(Progress(done=3, resumed=0, calls=3, seconds=1.0, usd=None))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert capsys.readouterr().err.splitlines()[-1].startswith("3 of 30 samples, 1 s")


class Full(io.StringIO):
    def write(self, text):
        raise OSError(28, "No space left on device")


def test_lines_that_cannot_be_written_do_not_end_a_run(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Full())
    monkeypatch.setattr(module, "EVERY", 0.0)
    with progress("judging", lambda: None) as tick:
        tick(NOW)
    assert tick.now is NOW


@contextmanager
def terminal(monkeypatch, width):
    """stderr is one; gives what to ask for what was written there."""
    main, side = pty.openpty()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(side, "w") as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", file)

        def written():
            file.flush()
            parts = []
            while select.select([main], [], [], 0.1)[0]:
                parts.append(os.read(main, 100_000))
            return b"".join(parts).decode()

        yield written
    os.close(main)


def test_on_a_terminal_a_bar_has_the_same_words_and_is_gone_afterwards(monkeypatch):
    with terminal(monkeypatch, 100) as written:
        with progress("judging 1,000 samples", lambda: 1000) as tick:
            tick(replace(NOW, seconds=0.0, done=0))
            tick(replace(NOW, saved=0, by_status={"ok": 118, "timeout": 2}))
            tick.bar.refresh()
            tick.say("finishing 64 samples in flight")
        shown = written()
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert "120/1,000, 8.3/s, 1 min 46 s left, 240 calls, $0.31, failed: 2 ti" in plain
    assert "judging" not in plain  # the bar says it
    assert "finishing 64 samples in flight\r\n" in plain
    assert "\x1b[?25h" in shown  # the cursor is back
    assert shown.endswith("\x1b[2K")  # and the line is empty


def test_a_bar_stays_on_one_line_however_narrow(monkeypatch):
    with terminal(monkeypatch, 50), progress("judging", lambda: 1000) as tick:
        tick(replace(NOW, seconds=0.0, done=0))
        tick(NOW)
        console = Console(width=50, file=io.StringIO())
        console.print(tick.bar.get_renderable())
    said = console.file.getvalue()
    assert said.count("\n") == 1
    assert "120/1,000, 8.3/s, 1 min" in said


def test_a_silent_stand_has_a_reason():
    assert "held back by the server for 4 min 55 s more" in line(replace(NOW, held_back=295.0))
    assert "held back" not in line(replace(NOW, held_back=295.0), ended=True)


def test_finished_samples_that_are_not_among_those_of_a_limit_have_no_total(capsys):
    with progress("judging 5 samples", lambda: 5) as tick:
        tick(Progress(done=10, resumed=10, seconds=1.0))
    assert capsys.readouterr().err.splitlines()[-1].startswith("10 samples, 1 s")


@pytest.mark.parametrize(("cut", "said"), [(False, "3 of 8 samples"), (True, "3 samples")])
def test_a_retry_counts_what_failed(cut, said, capsys):
    with progress("judging again", lambda: 40, cut=cut) as tick:
        tick(Progress(done=35, resumed=32, again=8, seconds=1.0))
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"{said}, 1 s")


def test_progress_is_told_by_the_clock_too(monkeypatch):
    monkeypatch.setattr(work, "BEAT", 0.05)
    told = []

    async def slow(state):
        await asyncio.sleep(0.5)
        return {"overall": 1.0}

    graph = StateGraph(EvalState)
    graph.add_node("slow", slow)
    graph.add_edge(START, "slow")
    graph.add_edge("slow", END)
    two = [Sample(id=f"s{i}", output="t") for i in range(2)]
    jg.evaluate(graph.compile(), two, on_progress=told.append)
    assert [now.in_flight for now in told if not now.done][:3] == [2, 2, 2]
    assert told[-1].in_flight == 0


def test_the_running_mean_is_that_of_the_samples_that_were_judged(tmp_path):
    seen: list[Progress] = []
    samples = [Sample(id=f"s{at}", query="What?", output="word " * (at + 3)) for at in range(6)]
    run = jg.evaluate(g_eval(criteria="summary"), [*samples, Sample(id="empty", output="")], on_progress=seen.append)
    assert seen[-1].scale == "1-5"
    assert seen[-1].mean == pytest.approx(1 + 4 * run.summary().headline[""].value)
