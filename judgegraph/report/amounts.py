"""Times, money and counts as people read them."""

from __future__ import annotations


def count(number: float | None) -> str:
    """1,288; "" for None."""
    return "" if number is None else f"{number:,.0f}"


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 sample", "2,000 samples"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def time(ms: float | None) -> str:
    """0.4 ms, 35 ms, 1.2 s, 3 min 20 s; "" for None."""
    if ms is None:
        return ""
    if ms < 1000:
        return f"{ms:.1f} ms" if ms < 10 else f"{ms:.0f} ms"
    if ms < 120_000:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(round(ms / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


def money(usd: float | None) -> str:
    """$0.00, $0.0012, $12.30; "" where it is not known."""
    if usd is None:
        return ""
    return f"${usd:,.2f}" if usd == 0 or usd >= 0.1 else f"${usd:.4f}" if usd >= 0.0001 else "under $0.0001"


def cost(usd: float, calls: int, unpriced: int, least: str = "") -> str:
    """What calls were paid for; a price that is not known is never told as nothing. least: "at least " where it is."""
    if not unpriced:
        return f"{least}{money(usd)}"
    if unpriced >= calls:
        return f"price unknown ({least}{counted(unpriced, 'call')})"
    return f"{least}{money(usd)}, and {least}{counted(unpriced, 'call')} of unknown price"


def number(value: float | None, digits: int = 2) -> str:
    """3.00 as 3, 3.5 as 3.50, 3.256 as 3.26; "" for None."""
    if value is None:
        return ""
    whole, _, part = f"{value:.{digits}f}".partition(".")
    part = part.rstrip("0")
    return f"{whole}.{part:0<2}" if part else whole


def share(part: float) -> str:
    """0.984 as 98 %; what is not all is never said to be, nor is a little said to be nothing."""
    percent = 100 * part
    if percent in (0, 100) or 0.5 < percent < 99.5:
        return f"{percent:.0f} %"
    if 0 < percent < 0.01:
        return "<0.01 %"
    return ">99.99 %" if 99.99 < percent < 100 else f"{percent:.2f} %"
