"""What a result is laid out as, once: paragraphs, tables, charts, folds and findings, which each view draws.

A terminal, a page and a notebook draw all of them; Markdown and LaTeX the tables. Every string is plain text, which
whoever draws it makes inert.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from judgegraph.errors import counted as counted
from judgegraph.errors import one_line, status_text

if TYPE_CHECKING:
    from judgegraph.types import Scale

Look = Literal["", "lead", "title", "bad", "note", "fine"]


@dataclass(frozen=True)
class Para:
    """A paragraph.

    Attributes:
        look: "lead" the conclusion, "title" what stands over the blocks below it, "bad" what failed, "note" what to
            mind, "fine" what a number rests on. whole: it is not folded, so that it can be copied.
        indent: columns on a terminal that all its lines stand to the right.
    """

    text: str
    look: Look = ""
    whole: bool = False
    indent: int = 0


@dataclass(frozen=True)
class Picture:
    """A chart; a terminal draws none.

    Attributes:
        svg: made by our own charts, which escape every text in it; the page takes it as it is.
        alt: one sentence that says what it shows.
    """

    svg: str
    alt: str


@dataclass(frozen=True)
class Grid:
    """A table; the first cell of a row is its header.

    Attributes:
        numeric: the columns, from 0, that are set to the right. names: so many first columns say what a row is of;
            a table that is too wide is drawn in parts, each with these.
        left: rows that are not shown, and `rest` what they are ("criterion", "criteria").
        spare: columns that a narrow terminal leaves out, the first first, and says so; --wide draws them. What has
            still no room is drawn in parts.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | Picture, ...], ...]
    numeric: frozenset[int] = frozenset()
    names: int = 1
    left: int = 0
    rest: tuple[str, str] = ("row", "rows")
    spare: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fold:
    """Blocks that are behind a click; a terminal, which has none, shows them below one another.

    Attributes:
        kind: what a page's style knows it by: "fold", "texts" or "trace".
    """

    summary: str
    blocks: tuple[Block, ...] = field(default=())
    kind: str = "fold"


@dataclass(frozen=True)
class Finding:
    """A sentence that answers a question about the run.

    Attributes:
        section: the key of the part of the page with its numbers. command: what to do or to look at next, "" for none.
    """

    text: str
    section: str
    command: str = ""


@dataclass(frozen=True)
class Findings:
    """What a run found, one below the other; where: key of a part that the page has -> its title."""

    rows: tuple[Finding, ...]
    where: Mapping[str, str]


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        key: its anchor, of ours: lower case letters and dashes.
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = field(default=())


# A sample: its answers, what was said of it, what was judged, and the steps of its trace.


@dataclass(frozen=True)
class Cut:
    """A text of which at most a beginning is shown; `more` says how many characters of it are not."""

    text: str
    more: int = 0

    def __bool__(self) -> bool:
        return bool(self.text or self.more)


def cut(text: str, most: int, lines: int = 0) -> Cut:
    """The beginning of a text, of at most `most` characters and, where `lines` says so, of as many lines with words."""
    shown = text[:most]
    if lines:
        shown = "\n".join([line for line in text.strip().split("\n") if line.strip()][:lines])[:most].rstrip()
    return Cut(shown, max(0, len(text.strip() if lines else text) - len(shown)))


def in_line(text: str, most: int) -> str:
    """One line of at most `most` characters, ending in "…" where it was longer."""
    found = " ".join(text[: 4 * most + 4].split())
    return found if len(found) <= most else found[: max(0, most - 1)].rstrip() + "…"


def in_words_of(text: str, most: int) -> str:
    """As `in_line`, and never cut within a word that is no long one."""
    found = in_line(text, most)
    start, _, torn = found.removesuffix("…").rpartition(" ")
    whole = not found.endswith("…") or " ".join(text[: 4 * most + 4].split())[len(found) - 1 :].startswith(" ")
    return found if whole or not start or len(torn) > most // 3 else f"{start} …"


@dataclass(frozen=True)
class ScoreDistribution:
    """How likely each point or label of a score is. words: the likeliest ones, in the order of the scale."""

    stage: str
    shares: Mapping[str, float]
    scale: Scale | None
    answer: float | str | None
    words: str


@dataclass(frozen=True)
class ScoreRow:
    """A criterion's score, with the draft that it rectifies where there is one.

    Attributes:
        name: the criterion, with the side of a pair and the agent where several judged it. scale: "1-5".
        draft, final: the answer as text. moved: "up", "down", "changed" or "". is_unchanged: a draft that was read
            stood. why: (who, reason) of each that gave one. distributions: of the draft and of the score. human: what
            people said. facts: how it was read, and what else is worth knowing.
        step: of the run that is judged, which it speaks of; 0 for none. failed: there is no answer.
    """

    name: str
    scale: str
    draft: str
    final: str
    moved: str
    is_unchanged: bool
    why: tuple[tuple[str, Cut], ...]
    distributions: tuple[ScoreDistribution, ...]
    human: str
    facts: tuple[str, ...]
    step: int = 0
    failed: bool = False


@dataclass(frozen=True)
class Answers:
    """The scores of a sample, a row each; `left` more are not shown."""

    rows: tuple[ScoreRow, ...]
    left: int = 0


@dataclass(frozen=True)
class Facts:
    """Names with their values, beside one another."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Remarks:
    """(who, what was said), one below the other."""

    rows: tuple[tuple[str, Cut], ...]


@dataclass(frozen=True)
class Texts:
    """(title, text) with line breaks; a text of several parts, as the steps of a run are, numbers them from 1."""

    rows: tuple[tuple[str, tuple[Cut, ...]], ...]


@dataclass(frozen=True)
class StepView:
    """A step of a trace with those below it.

    Attributes:
        facts: what stands beside its name. about: (name, value) behind a click. error: what went wrong.
        texts: (title, text) of messages and replies. left: steps below it that are not shown.
        opened: it stands open: few steps are below it, so a call is found without a click for each step above it.
    """

    kind: str
    name: str
    ms: str
    status: str
    facts: tuple[str, ...]
    about: tuple[tuple[str, str], ...]
    error: str
    texts: tuple[tuple[str, Cut], ...]
    steps: tuple[StepView, ...]
    left: int = 0
    opened: bool = False


Block = Para | Grid | Picture | Fold | Findings | Answers | Facts | Remarks | Texts | StepView


def columns(
    caption: str, cells: Mapping[str, Sequence[str]], *, texts: Iterable[str] = (), names: int = 1, most: int = 60,
    rest: tuple[str, str] = ("row", "rows"), spare: tuple[str, ...] = (), more: int = 0,
) -> Grid:  # fmt: skip
    """A table of named columns, numbers but for the first ones and `texts`.

    Columns in which no row says anything are left out; rows beyond `most` are counted.

    Args:
        cells: name -> its cells, as many in each column. more: rows that are not among them.
    """
    said = {name: column for name, column in cells.items() if any(column)}
    head, first = [*said], [name for name in [*cells][:names] if name in said]
    left = frozenset([*first, *texts])
    rows = [*zip(*said.values(), strict=True)]
    numeric = frozenset(at for at, name in enumerate(head) if name not in left)
    return Grid(
        caption, tuple(head), tuple(rows[:most]), numeric, len(first), max(0, len(rows) - most) + more, rest, spare
    )


def filled(caption: str, head: Sequence[str], rows: Sequence[tuple[str, ...]], numeric: frozenset[int]) -> Grid:
    """A table without the columns in which no row says anything."""
    kept = [at for at in range(len(head)) if any(row[at] for row in rows)]
    body = tuple(tuple(row[at] for at in kept) for row in rows)
    right = frozenset(new for new, at in enumerate(kept) if at in numeric)
    return Grid(caption, tuple(head[at] for at in kept), body, right)


def grids(blocks: Iterable[Block]) -> Iterator[Grid]:
    """The tables, those in folds too."""
    for one in blocks:
        if isinstance(one, Grid):
            yield one
        elif isinstance(one, Fold):
            yield from grids(one.blocks)


# Tables as text for a paper or a page.


def table_text(grid: Grid, form: str) -> str:
    """A table as "latex" (booktabs) or "markdown"; whatever a cell holds is escaped."""
    rows = [[cell if isinstance(cell, str) else cell.alt for cell in row] for row in grid.rows]
    return _latex(grid, rows) if form == "latex" else _markdown(grid, rows)


def captioned(grid: Grid, form: str, caption: str, notes: Sequence[str]) -> str:
    """The same with a caption above and notes below it: as "latex" a whole table to be pasted."""
    table = table_text(grid, form)
    if form != "latex":
        return "\n\n".join([one_line(caption, 400), table, *(one_line(note, 400) for note in notes)])
    return "\n".join([
        r"\begin{table}  % \usepackage{booktabs}", r"\centering", rf"\caption{{{_tex(caption)}}}", table,
        *(rf"\par{{\footnotesize {_tex(note)}}}" for note in notes), r"\end{table}",
    ])  # fmt: skip


def _latex(grid: Grid, rows: Sequence[Sequence[str]]) -> str:
    lines = [" & ".join(map(_tex, row)) + r" \\" for row in (grid.head, *rows)]
    sides = "".join("r" if at in grid.numeric else "l" for at in range(len(grid.head)))
    return "\n".join([
        rf"\begin{{tabular}}{{{sides}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule",
        r"\end{tabular}",
    ])  # fmt: skip


def _tex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {sign: f"\\{sign}" for sign in "&%$#_{}"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    told = "".join(special.get(sign, sign) for sign in one_line(text, 400))
    told = re.sub(r"(?<![\w.-])-(?=\d)", "$-$", told)  # a minus, no hyphen
    return f"{{}}{told}" if told[:1] in ("[", "*") else told  # the line break before would take it for its option


def _markdown(grid: Grid, rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(one_line(cell, 200).replace("|", "\\|") for cell in cells) + " |"

    sides = "".join("|---:" if at in grid.numeric else "|---" for at in range(len(grid.head)))
    return "\n".join([line(grid.head), f"{sides}|", *map(line, rows)])


# Numbers, counts, shares, money, times and intervals, as every view writes them.


SCORE, COEFFICIENT = 2, 3  # digits behind the point: of a score, and of a coefficient in a table of agreement
UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))  # of a time, the largest first
NONE = "-"
READ_FIRST = ("spearman", "accuracy", "consistency", "kappa")  # left out of no table for want of room


def count_text(number: float | None) -> str:
    """1,288; "" for None."""
    return "" if number is None else f"{number:,.0f}"


def counts(found: Mapping[str, int]) -> str:
    """ok 94, refused 2: the greatest first."""
    return ", ".join(f"{name} {n:,}" for name, n in sorted(found.items(), key=lambda pair: -pair[1]) if n)


def endings(by_status: Mapping[str, int]) -> str:
    """over the budget 3, timeout 1: how those ended that are not ok, the most frequent first."""
    return counts({status_text(status): n for status, n in by_status.items() if status != "ok"})


def number_text(value: float | None, digits: int = SCORE) -> str:
    """3.20; "-" where there is none, and never "-0.00"."""
    if value is None or math.isnan(value):
        return NONE
    return f"{round(value, digits) + 0.0:.{digits}f}"


def number(value: float | None, digits: int = SCORE) -> str:
    """3.00 as 3, 3.5 as 3.50, 3.256 as 3.26; "" for None."""
    if value is None:
        return ""
    whole, _, part = f"{value:.{digits}f}".partition(".")
    part = part.rstrip("0")
    return f"{whole}.{part:0<2}" if part else whole


def signed(value: float | None, digits: int = SCORE) -> str:
    """+0.25, -1.00, 0.00; "-" where there is none."""
    text = number_text(value, digits)
    return f"+{text}" if text[:1] not in "-0" or (text[:1] == "0" and float(text)) else text


def within(low: float, high: float, digits: int = SCORE, *, sign: bool = False) -> str:
    """[0.10, 0.32]; "" where there is no interval."""
    if math.isnan(low) or math.isnan(high):
        return ""
    ends = [signed(end, digits) if sign else number_text(end, digits) for end in (low, high)]
    return f"[{', '.join(ends)}]"


def valued(value: float, low: float, high: float, digits: int = SCORE, *, sign: bool = False) -> str:
    """A number with its interval."""
    shown = signed(value, digits) if sign else number_text(value, digits)
    return shown if shown == NONE else f"{shown} {within(low, high, digits)}".strip()


def chance(p: float, least: bool = False) -> str:
    """0.012, < 0.001; of .05 so many digits that one sees on which side it lies; "-" where there is none.

    Args:
        least: so many resamples cannot give a smaller one, and more of them might: no more than a bound is known.
    """
    if math.isnan(p):
        return NONE
    if least and 0.0005 <= p < 1:
        return f"< {math.ceil(1000 * p - 1e-6) / 1000:.3f}"
    text = "< 0.001" if p < 0.0005 else f"{p:.3f}"
    return f"{p:.4f}" if text == "0.050" else text


def percent(part: float, whole: float) -> str:
    """40 %, <1 %, >99 %; "" of nothing."""
    if not whole:
        return ""
    share = 100 * part / whole
    return "<1 %" if 0 < share <= 0.5 else ">99 %" if 99.5 <= share < 100 else f"{share:.0f} %"


def share(part: float) -> str:
    """0.984 as 98 %; what is not all is never said to be, nor is a little said to be nothing."""
    percent = 100 * part
    if percent in (0, 100) or 0.5 < percent < 99.5:
        return f"{percent:.0f} %"
    if 0 < percent < 0.01:
        return "<0.01 %"
    return ">99.99 %" if 99.99 < percent < 100 else f"{percent:.2f} %"


def portion(part: float, below: float | None = None) -> str:
    """Of 1, rounded: 0.967; with more digits where less than all would be 1.000, more than none 0.000, or what lies
    below a bound be that bound."""
    for digits in range(COEFFICIENT, 12):
        text = f"{part:.{digits}f}"
        if (0 < part < 1 and float(text) in (0, 1)) or (below is not None and part < below <= float(text)):
            continue
        return text
    return f"{part:.12g}"


def money(usd: float | None) -> str:
    """US dollars: $0.00, $0.0012, $12.30; "price unknown" for None."""
    if usd is None:
        return "price unknown"
    sign, usd = ("-", -usd) if usd < 0 else ("", usd)
    text = f"${usd:,.2f}" if usd == 0 or usd >= 0.1 else f"${usd:.4f}" if usd >= 0.0001 else "under $0.0001"
    return sign + text


def cost(usd: float, calls: int, unpriced: int, least: str = "") -> str:
    """What calls were paid for; a price that is not known is never told as nothing. least: "at least " where it is."""
    if not unpriced:
        return f"{least}{money(usd)}"
    if unpriced >= calls:
        return f"price unknown ({least}{counted(unpriced, 'call')})"
    return f"{least}{money(usd)}, and {least}{counted(unpriced, 'call')} of unknown price"


def span(low: str, high: str) -> str:
    """Two written amounts as their range, 3–5; one where they are alike."""
    return low if low == high else f"{low}\u2013{high}"


def duration(ms: float | None) -> str:
    """0.4 ms, 35 ms, 1.2 s, 3 min 20 s, 2 h 3 min; "" for None."""
    if ms is None:
        return ""
    if ms < 999.5:
        return f"{ms:.1f} ms" if ms < 9.95 else f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 119_950 else whole_seconds(ms / 1000)


def whole_seconds(seconds: float) -> str:
    """ "46 s", "1 min 46 s", "2 h 3 min", "3 d 4 h"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    place = next(place for place, (_, size) in enumerate(UNITS) if whole >= size)
    (large, size), (small, part) = UNITS[place : place + 2]
    rest = whole % size // part
    return f"{whole // size} {large}" + (f" {rest} {small}" if rest else "")


def more(count: int, one: str = "", many: str = "", indent: str = "") -> Iterator[Block]:
    """A list that is cut says so."""
    if count > 0:
        what = counted(count, f"more {one}", f"more {many or one + 's'}" if one else "more")
        yield Para(f"{indent}and {what}".rstrip())


def rejected_lines(rejected: Sequence[Any], most: int) -> list[str]:
    """Rows of the data that are no samples, each reason once: the first row with it, and which others have it too."""
    alike: dict[tuple[str, str], list[Any]] = {}
    for row in rejected:
        alike.setdefault((row.field, row.reason), []).append(row)
    found = []
    for first, *others in list(alike.values())[:most]:
        places = ", ".join(str(row.line) for row in others[:8]) + (", ..." if len(others) > 8 else "")
        rest = f" (and {len(others):,} more for this reason: {first.unit} {places})" if others else ""
        found.append(f"  {first}{rest}")
    left = len(alike) - most
    return [*found, f"  and {counted(left, 'more reason')}; --json has every row"] if left > 0 else found


# A distribution as small bars, one character a point.


BARS, LETTERS = "▁▂▃▄▅▆▇█", "_.:-=+*#"  # from nothing to all, each an eighth; letters where blocks cannot be written
POINTS = 20  # points; of more, neighbours share a bar


def bars(shares: Mapping[str, float], scale: Scale | None = None, *, plain: bool = False) -> str:
    """A bar for each point of the scale in its order, those without a share too; "" for nothing.

    Args:
        shares: point or label -> share, at least 0. plain: letters in place of blocks.
    """
    total = sum(shares.values())
    if not shares or total <= 0:
        return ""
    heights = _pooled([shares.get(point, 0.0) / total for point in _points(shares, scale)])
    marks = LETTERS if plain else BARS
    return "".join(marks[min(len(marks) - 1, round(height * (len(marks) - 1)))] for height in heights)


def likeliest(shares: Mapping[str, float], count: int = 2) -> str:
    """The points with most of it, such as "4: 72 %, 5: 20 %"; those of under half a percent are not told."""
    total = sum(shares.values())
    ranked = sorted(shares.items(), key=lambda one: -one[1])[:count] if total > 0 else []
    return ", ".join(f"{point}: {100 * share / total:.0f} %" for point, share in ranked if share / total >= 0.005)


def _points(shares: Mapping[str, float], scale: Scale | None) -> list[str]:
    if scale is not None and scale.labels:
        return [*scale.labels, *(label for label in shares if label not in scale.labels)]
    known = {str(point): float(point) for point in (scale.points if scale is not None else ())}
    try:
        return sorted(known | {point: float(point) for point in shares}, key=lambda point: float(point))
    except ValueError:
        return list(shares)


def _pooled(heights: list[float]) -> list[float]:
    if len(heights) <= POINTS:
        return heights
    width = len(heights) / POINTS
    return [sum(heights[round(i * width) : round((i + 1) * width)]) for i in range(POINTS)]
