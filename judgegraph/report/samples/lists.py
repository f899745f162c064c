"""The samples that a reader wants first: most moved, most uncertain, failed, dearest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judgegraph.report.amounts import count, money, number, share, time
from judgegraph.report.samples.causes import causes
from judgegraph.report.visible import line
from judgegraph.runtime.run import Run
from judgegraph.runtime.standing import Standing, tops


@dataclass(frozen=True)
class Listing:
    """A list of samples. Attributes: key: of its anchor. about: one sentence. samples: (id, why it is here)."""

    key: str
    title: str
    about: str
    samples: tuple[tuple[str, str], ...]


def listings(run: Run, most: int) -> list[Listing]:
    """At most `most` samples in each. A list without samples is left out, but for that of failures: it says so."""
    found = tops(run, dict.fromkeys(("change", "doubt", "failures", "cost", "time"), most))
    priced = any(one.usd for one in found["cost"])
    dear = found["cost"] if priced else found["time"]
    why = causes(run, {one.id for one in found["failures"] if one.failures})
    lists = [
        _listing("moved", "Most moved by the critic", "The largest step from a draft to its final score, as a share of "
                 "the scale; a changed label counts as the whole scale.", found["change"], lambda x: x.change, _moved),
        _listing("uncertain", "Most uncertain", "The score that is furthest from certain: 0 % where one answer holds "
                 "all; 100 % where a number's halves lie at both ends, or all labels are as likely.",
                 found["doubt"], lambda x: x.doubt, _doubt),
        _listing("failed", "Failed", "Samples of which something failed: the graph, a score, a tool.",
                 found["failures"], lambda x: x.failures, lambda x: why.get(x.id, "")),
        _listing("dearest", "Dearest" if priced else "Slowest", "What cost most." if priced else
                 "What took longest; nothing here has a price.", dear, lambda x: x.usd if priced else x.ms,
                 _cost if priced else _time),
    ]  # fmt: skip
    return [one for one in lists if one.samples or one.key == "failed"]


def _listing(
    key: str, title: str, about: str, found: list[Standing], weight: Callable[[Standing], float | None],
    why: Callable[[Standing], str],
) -> Listing:  # fmt: skip
    return Listing(key, title, about, tuple((one.id, why(one)) for one in found if weight(one)))


def _moved(one: Standing) -> str:
    return f"{line(one.changed_criterion or '', 80)} {_answer(one.changed_from)} → {_answer(one.changed_to)}"


def _answer(value: float | str | None) -> str:
    return line(value, 40) if isinstance(value, str) else number(value)


def _doubt(one: Standing) -> str:
    return f"{line(one.doubt_criterion or '', 80)} {share(one.doubt or 0)} uncertain"


def _cost(one: Standing) -> str:
    return f"{money(one.usd)}, {count(one.tokens)} tokens"


def _time(one: Standing) -> str:
    return time(one.ms)
