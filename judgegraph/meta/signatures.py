"""The line that stands with each number: every choice behind it."""

from __future__ import annotations

from judgegraph.errors import ConfigError
from judgegraph.meta.answers import Answers
from judgegraph.meta.conventions import Conventions
from judgegraph.stats.arrays import Level, Unit

AGREE = "orders:agree, else tie"  # how two orders of a pair became one verdict


def unit_of(answers: Answers, conventions: Conventions, level: Level) -> Unit:
    """What the bootstrap draws.

    Raises:
        ConfigError: the level or the unit needs groups or systems, and there are none.
    """
    lacking = {name for name, codes in (("group", answers.group), ("system", answers.system)) if codes is None}
    if level in lacking:
        raise ConfigError(_lacks(answers, f"level {level}", level))
    unit = conventions.unit
    if unit is None:
        if level == "system":
            return "system" if "group" in lacking else "both"
        return "item" if "group" in lacking else "group"
    for name in ("group", "system"):
        if unit in (name, "both") and name in lacking:
            raise ConfigError(_lacks(answers, f"unit {unit}", name))
    return "group" if unit == "both" and answers.kind != "number" else unit  # of labels one of the two is drawn


def _lacks(answers: Answers, what: str, name: str) -> str:
    of = f"{answers.criterion}: " if answers.criterion else ""
    return (
        f"{of}{what} needs the {name} of each item: of a table name its column with --{name}; the samples of a run "
        f"hold it as meta.{name}, or --{name} KEY says which key of meta it is"
    )


def unread_rule(answers: Answers, conventions: Conventions) -> str:
    """What really happens to an answer that could not be read; numbers and labels have no tie."""
    if conventions.unreadable == "tie":
        return "tie" if answers.kind == "verdict" else "drop"
    return "wrong" if conventions.unreadable == "zero" and answers.kind != "number" else conventions.unreadable


def signature(
    answers: Answers, conventions: Conventions, statistic: str, level: Level, n: int, *more: str,
    made: int | None = None, wilson: bool = False,
) -> str:  # fmt: skip
    """Such as `kendall-b|level:group|n:1200|unreadable:drop|constant:skip|...|seed:0`.

    Args:
        made: resamples that were made, where they are not those of the conventions; 0: the number has no interval.
        wilson: its interval is Wilson's, and no resample was made.
    """
    c = conventions
    made = c.resamples if made is None else made
    unit = unit_of(answers, c, level)
    parts = [statistic, f"level:{level}", f"n:{n}", f"unreadable:{unread_rule(answers, c)}"]
    parts += [f"constant:{c.constant}"] if answers.kind == "number" else []
    parts += [f"duplicates:{c.duplicates}", f"annotators:{answers.rule}"]
    parts += [f"order:{'<'.join(answers.order)}"] if answers.order else []
    if made:
        how = "interval:wilson" if wilson else f"resamples:{made}"
        parts += [f"unit:{unit}", how, f"confidence:{c.confidence:g}"]
    return "|".join(part.replace("|", "/") for part in (*parts, *more, f"seed:{c.seed}"))
