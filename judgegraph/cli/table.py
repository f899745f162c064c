"""The closing table of a run: a line per criterion, with what fits the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from judgegraph.errors import printable
from judgegraph.runtime.display import draft_text, mean_text
from judgegraph.runtime.summary import Line, Summary
from judgegraph.types import Score

GAP = 2  # columns between two of the table
NAME = 16  # columns that a criterion's name keeps; longer ones are folded
SPARE = ("sd", "scale", "critic", "draft")  # what goes first where the terminal is narrow


def plain(text: str) -> Text:
    """Inert: neither markup nor control characters."""
    return Text(printable(text))


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
        "critic": [_moves(x) for x in lines],
    }
    return columns if any(drafts) else {k: v for k, v in columns.items() if k not in ("draft", "critic")}


def _width(columns: dict[str, list[str]]) -> int:
    widths = {name: max(cell_len(cell) for cell in (name, *cells)) for name, cells in columns.items()}
    return sum(widths.values()) - widths["criterion"] + _name_width(columns["criterion"]) + GAP * (len(columns) - 1)


def _name_width(names: Sequence[str]) -> int:
    return min(NAME, max(cell_len(name) for name in ("criterion", *names)))


def _moves(line: Line) -> str:
    """How often the critic changed a score, and which way; "" where there was none to review."""
    other = line.changed - line.down - line.up
    said = [f"{n} {way}" for n, way in ((line.down, "down"), (line.up, "up"), (other, "changed")) if n]
    kept = f"kept {'all' if line.reviewed == line.n else line.reviewed}" if line.reviewed else ""
    return ", ".join(said) or kept
