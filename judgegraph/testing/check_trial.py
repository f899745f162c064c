"""What holds of every call of an agent, whatever the state and the judge."""

from __future__ import annotations

from collections.abc import Iterator

from judgegraph.testing.check_shape import Declared
from judgegraph.testing.check_written import values_in, written_badly
from judgegraph.testing.conformance import Breach
from judgegraph.testing.error_leaves import told
from judgegraph.testing.trial import Trial
from judgegraph.types import Rectification, Score


def breaches(trial: Trial, keys: Declared, may_raise: bool) -> Iterator[Breach]:
    """Everything that one call shows by itself."""
    yield from _end(trial, may_raise)
    for key in sorted(trial.touched - set(keys.reads or ())):
        yield Breach("undeclared-read", f"it asks the state for '{key}'", trial.case)
    for key in sorted(map(str, set(trial.written) - (keys.writes or set(trial.written)))):
        yield Breach("undeclared-write", f"it writes '{key}'", trial.case)
    if trial.state_changed:
        yield Breach("mutates-state", "the state is another afterwards", trial.case)
    if trial.itself_changed:
        yield Breach("mutates-itself", "the agent is another afterwards", trial.case)
    if trial.leaked and not trial.hung:
        yield Breach("leaked-task", f"{trial.leaked} tasks go on after it has ended", trial.case)
    yield from written_badly(trial)
    yield from _strangers(trial)


def _end(trial: Trial, may_raise: bool) -> Iterator[Breach]:
    if trial.hung:
        yield Breach("hangs", "it did not end", trial.case)
    elif trial.error is not None and not may_raise:
        yield Breach("raises", told(trial.error), trial.case)
    elif trial.error is None and trial.result is not trial.written:
        yield Breach("undeclared-write", f"it returned a {type(trial.result).__name__}, no mapping", trial.case)


def _strangers(trial: Trial) -> Iterator[Breach]:
    """Rectifications of what nobody scored."""
    scores = trial.state.get("scores")
    if scores is None:
        return
    known = {score.criterion for score in values_in(scores) if isinstance(score, Score)}
    for value in values_in(trial.written):
        if isinstance(value, Rectification) and value.criterion not in known:
            yield Breach("unknown-criterion", f"it rectifies {value.criterion!r}, which has no score", trial.case)
