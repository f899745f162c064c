"""Where a command draws: as wide as the terminal, or as COLUMNS says, or as wide as a page."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgegraph.errors import printable
from judgegraph.runs.summary import Line, Summary, moves_of

if TYPE_CHECKING:
    from judgegraph.planning.forecast import Forecast
    from judgegraph.runs.worker import Progress
    from judgegraph.types import Score

PAGE = 100


def screen() -> Console:
    """Colours are for terminals alone, and none where NO_COLOR is set."""
    known = Console().is_terminal or os.environ.get("COLUMNS", "").isdigit()
    return Console(width=None if known else PAGE, highlight=False)


def side_by_side(widths: Sequence[int], room: int) -> Iterator[range]:
    """Which columns fit beside one another, in their order: a range of places for each table that is needed.

    Args:
        widths: of each column, the gap before it included. room: what the columns that every table repeats leave.
    """
    start = taken = 0
    for place, width in enumerate(widths):
        if taken + width > room and place > start:
            yield range(start, place)
            start, taken = place, 0
        taken += width
    yield range(start, len(widths))


# The closing table of a run: a line per criterion, with what fits the terminal.


GAP = 2  # columns between two of the table
NAME = 16  # columns that a criterion's name keeps; longer ones are folded
SPARE = ("sd", "scale", "critic", "draft")  # what goes first where the terminal is narrow


def plain(text: str) -> Text:
    """Inert: neither markup nor control characters."""
    return Text(printable(text))


AT_WORST = (
    "at worst: instead of more, if each reply can be read only at the last of its asks (3 unless set) and choices "
    "come one a call"
)


def plan_columns(forecast: Forecast) -> Iterator[str]:
    """What the columns of a plan's table mean, a line each."""
    exact = "with every kind of invented reply" if forecast.own_code else "whatever is replied"
    yield f"exact: asked for {exact}; more: lowest\u2013highest beside these when every reply can be read"
    if forecast.total.rest[2] > forecast.total.rest[1]:
        yield AT_WORST


def counted(count: int, one: str, many: str = "") -> str:
    """ "1 sample", "2,000 samples"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def rejected_lines(rejected: Sequence[Any], most: int) -> list[str]:
    """Rows of the data that are no samples, each reason once: the first row with it, and which others have it too."""
    alike: dict[tuple[str, str], list[Any]] = {}
    for row in rejected:
        alike.setdefault((row.field, row.reason), []).append(row)
    found = []
    for first, *others in list(alike.values())[:most]:
        places = ", ".join(str(row.line) for row in others[:8]) + (", ..." if len(others) > 8 else "")
        more = f" (and {len(others):,} more for this reason: {first.unit} {places})" if others else ""
        found.append(f"  {first}{more}")
    left = len(alike) - most
    return [*found, f"  and {counted(left, 'more reason')}; --json has every row"] if left > 0 else found


def names(rows: Sequence[Line] | Sequence[Score]) -> list[str]:
    """What each row is called: its criterion, the side of a pair, and the agent where several judged the same."""
    agents: dict[tuple[str, ...], set[str]] = {}
    for x in rows:
        agents.setdefault((x.criterion, x.stage, x.of), set()).add(x.agent)
    return [
        x.criterion
        + (" (rival)" if x.of == "rival" else "")
        + (f" ({x.agent})" if len(agents[x.criterion, x.stage, x.of]) > 1 else "")
        for x in rows
    ]


def score_table(summary: Summary, lines: Sequence[Line], width: int) -> Table:
    """Criterion, scale, how many could be read, the mean before and after the critic, its spread and moves."""
    columns = _columns(summary, lines)
    for spare in SPARE:
        if _width(columns) > width:
            columns.pop(spare, None)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for name, cells in columns.items():
        if name == "criterion":
            table.add_column(name, overflow="fold", min_width=_name_width(cells))
        else:
            table.add_column(name, justify="left" if name == "critic" else "right", no_wrap=True)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(plain, row))
    return table


def _columns(summary: Summary, lines: Sequence[Line]) -> dict[str, list[str]]:
    drafts = [summary.lines.get(x.draft) if x.draft else None for x in lines]
    columns = {
        "criterion": names(lines),
        "scale": ["labels" if x.labels else str(x.scale or "") for x in lines],
        "n ok": [f"{x.n_ok}/{x.n}" for x in lines],
        "draft": [draft_text(x, draft) if draft else "" for x, draft in zip(lines, drafts, strict=True)],
        "score": [mean_text(x) for x in lines],
        "sd": [f"{x.sd:.2f}" if x.sd is not None else "" for x in lines],
        "critic": [moves_of(x, whole=True) for x in lines],
    }
    return columns if any(drafts) else {k: v for k, v in columns.items() if k not in ("draft", "critic")}


def _width(columns: dict[str, list[str]]) -> int:
    widths = {name: max(cell_len(cell) for cell in (name, *cells)) for name, cells in columns.items()}
    return sum(widths.values()) - widths["criterion"] + _name_width(columns["criterion"]) + GAP * (len(columns) - 1)


def _name_width(names: Sequence[str]) -> int:
    return min(NAME, max(cell_len(name) for name in ("criterion", *names)))


WINDOW = 60.0  # seconds that the rate looks back
STEP = 0.5  # seconds between two points of it at least
UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


class Pace:
    """Samples per second of the last minute: what a ledger answered at the start says nothing of what is left."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def add(self, seconds: float, done: int) -> None:
        """So many are done at so many seconds after the start; those of an earlier process are in the first."""
        if not self._points or seconds - self._points[-1][0] >= STEP:
            self._points.append((seconds, done))
        while seconds - self._points[0][0] > WINDOW and len(self._points) > 2:
            self._points.popleft()

    def rate(self, seconds: float, done: int) -> float | None:
        """Samples per second up to now, None where nothing can be said."""
        if not self._points:
            return None
        since, before = self._points[0]
        return (done - before) / (seconds - since) if seconds > since and done > before else None


def state_line(now: Progress, total: int | None, pace: Pace, *, ended: bool = False) -> str:
    """Such as "120 of 1,000 samples, 8.3/s, 1 min 46 s left, 240 calls (12 saved), 0.31 USD, failed: 2 timeout"."""
    of = f" of {total:,}" if total is not None else ""
    samples = f"{now.done:,}{of} {'sample' if (total or now.done) == 1 else 'samples'}"
    parts = [samples, time_taken(now.seconds)] if ended else [samples]
    return ", ".join([*parts, *details(now, total, pace, ended=ended)])


def details(now: Progress, total: int | None, pace: Pace, *, ended: bool = False) -> list[str]:
    """What stands behind the number of samples."""
    rate = (now.done - now.resumed) / now.seconds if ended and now.seconds else pace.rate(now.seconds, now.done)
    parts = [f"{rate:.1f}/s" if rate < 100 else f"{rate:,.0f}/s"] if rate else []
    if rate and total is not None and total > now.done and not ended:
        parts.append(f"{time_taken((total - now.done) / rate)} left")
    in_session = [f"{now.calls_now:,} now"] if now.resumed and now.calls_now != now.calls else []
    in_session += [f"{now.saved:,} saved"] if now.saved else []
    if now.outages and not ended:
        parts.append(paused(now.outages))
    if now.held_back and not ended:
        parts.append(f"held back by the server for {time_taken(max(1.0, now.held_back))} more")
    if now.waiting and not ended:
        parts.append(f"waiting for {counted(now.waiting, 'call')} of another run with this ledger")
    calls = f"{now.calls:,} of {counted(cap, 'call')}" if (cap := _cap(now, "calls")) else counted(now.calls, "call")
    parts.append(calls + (f" ({', '.join(in_session)})" if in_session else ""))
    if now.unanswered:
        parts.append(unanswered(now.unanswered))
    parts += _spent(now)
    if now.mean is not None and not ended:
        parts.append(
            f"mean {now.mean:.2f} on {now.scale}" if now.scale else f"mean {now.mean:.2f} of 1, on several scales"
        )
    failed = failures(now.by_status)
    return [*parts, f"failed: {failed}"] if failed else parts


def _cap(now: Progress, name: str) -> Any:
    return getattr(now.budget, name, None)


def _spent(now: Progress) -> list[str]:
    """Money, or tokens where nothing has a price; beside the caps of a budget."""
    tokens = now.prompt_tokens + now.completion_tokens
    if usd := _cap(now, "usd"):
        found = [f"{money(now.usd or 0.0)} of {money(usd)} USD"]
    else:
        found = [] if _cap(now, "tokens") and not now.usd else [cost(now.usd, tokens)]
    if most := _cap(now, "tokens"):
        found.append(f"{tokens:,} of {most:,} tokens")
    return found


def unanswered(requests: int) -> str:
    """ "3 requests without a reply of use", beside the calls that were answered."""
    return f"{counted(requests, 'request')} without a reply of use"


def paused(outages: Mapping[str, tuple[str, float]]) -> str:
    """ "paused: openai:m at http://localhost:8000/v1: no connection for 12 s"; the first of several, and how many."""
    (judge, (what, seconds)), more = next(iter(outages.items())), len(outages) - 1
    others = f" and {more:,} more" if more else ""
    return f"paused: {judge}: {what} for {time_taken(seconds)}{others}"


def failures(by_status: Mapping[str, int]) -> str:
    """ "2 timeout, 1 refused", the most frequent first; "" where every sample is ok."""
    bad = sorted(((s, n) for s, n in by_status.items() if s != "ok" and n), key=lambda one: -one[1])
    return ", ".join(f"{n:,} {status}" for status, n in bad)


def cost(usd: float | None, tokens: int) -> str:
    """ "0.31 USD"; tokens where no price is known, or nothing costs anything."""
    return f"{money(usd)} USD" if usd else counted(tokens, "token")


def money(usd: float) -> str:
    """With two digits behind the point, four for a small sum."""
    return f"{usd:,.2f}" if usd >= 1 or not usd else f"{usd:.2f}" if usd >= 0.1 else f"{usd:.4f}"


def time_taken(seconds: float) -> str:
    """ "46 s", "1 min 46 s", "2 h 3 min", "3 d 4 h"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    place = next(place for place, (_, size) in enumerate(UNITS) if whole >= size)
    (large, size), (small, part) = UNITS[place : place + 2]
    rest = whole % size // part
    return f"{whole // size} {large}" + (f" {rest} {small}" if rest else "")


def mean_text(line: Line) -> str:
    """Of labels the most frequent; with what the missing ones could make of the mean."""
    if line.labels:
        ((label, count),) = line.labels.most_common(1)
        return f"{label} ({count})"
    if line.mean is None:
        return "-"
    missing = line.n > line.values and line.bounds
    return f"{line.mean:.2f}" + (f" [{missing[0]:.2f}, {missing[1]:.2f}]" if missing else "")


def draft_text(line: Line, draft: Line) -> str:
    """Of the drafts beside final scores; where these are not all, it says how many they are."""
    if draft.labels or draft.mean is None or line.paired == line.values == draft.values:
        return mean_text(draft)
    mean, n = (line.before, line.paired) if line.paired else (draft.mean, draft.values)
    return f"{mean:.2f} (n {n})"


def members(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Criterion x judge: what answers were combined from, (heading, rows); the last column is the answer's."""
    votes = summary.votes
    judges = list(dict.fromkeys(line.agent for line in votes))
    places = dict.fromkeys((line.criterion, line.of) for line in votes)
    met = {(line.criterion, line.of, line.agent): line for line in votes}
    rows = []
    for criterion, of in places:
        cells = [met.get((criterion, of, judge)) for judge in judges]
        answers = [x for x in summary.answers.values() if (x.criterion, x.of) == (criterion, of)]
        name = criterion + (" (rival)" if of == "rival" else "")
        many = {x.n_ok for x in answers}
        rows.append([name, *(_of_member(x, many) if x else "" for x in cells), ", ".join(map(mean_text, answers))])
    return ["criterion", *judges, "answer"], rows


def _of_member(line: Line, many: Collection[int]) -> str:
    """Its mean, and of how many samples where the answers are of another number."""
    said = mean_text(line)
    return said if line.labels or line.n_ok in many or not line.n_ok else f"{said} (n {line.n_ok:,})"
