"""Numbers, counts, shares, money, times and intervals, as every view writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping

SCORE, COEFFICIENT = 2, 3  # digits behind the point: of a score, and of a coefficient in a table of agreement
UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))  # of a time, the largest first
NONE = "-"


def counted(count: int, one: str, many: str = "") -> str:
    """ "1 sample", "2,000 samples"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def count_text(number: float | None) -> str:
    """1,288; "" for None."""
    return "" if number is None else f"{number:,.0f}"


def counts(found: Mapping[str, int]) -> str:
    """ok 94, refused 2: the greatest first."""
    return ", ".join(f"{name} {n:,}" for name, n in sorted(found.items(), key=lambda pair: -pair[1]) if n)


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


def chance(p: float) -> str:
    """0.012, < 0.001; of .05 so many digits that one sees on which side it lies; "-" where there is none."""
    if math.isnan(p):
        return NONE
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
