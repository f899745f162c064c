"""What `judgegraph agents`, `tools` and `methods` say of a part: a row each, as JSON or as lines of text."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import click

from judgegraph.cli.main import printable
from judgegraph.errors import JudgegraphError, one_line
from judgegraph.registry import Disabled, Part

WIDEST = 100  # columns of text: longer lines are hard to read


@dataclass(frozen=True, kw_only=True)
class Row:
    """One part, as it is listed.

    Attributes:
        name: what to write to get it: "PACKAGE:NAME" where two packages share the name, with "(MODULE:ATTRIBUTE)"
            behind where one package has it twice.
        reads, writes: keys of the state, "?" behind what may be missing, a text where they are none or not
            known before; None where nothing is known.
        disabled: why it cannot be used, "" where it can.
    """

    name: str
    kind: str
    package: str
    version: str
    about: str = ""
    reads: Sequence[str] | str | None = None
    writes: Sequence[str] | str | None = None
    disabled: str = ""


def rows(parts: Iterable[Part], told: Callable[[Part], dict[str, Any]]) -> list[Row]:
    """A row for each part, by package, ours first; what cannot be loaded says why.

    Args:
        told: what to say of a part: about, reads, writes. It may load it.
    """
    listed = tuple(parts)
    called = _names(listed)
    found = []
    for part in sorted(listed, key=lambda part: not part.ours):
        shown = called[part]
        common = {"kind": part.kind, "package": part.package, "version": part.version}
        try:
            with redirect_stdout(sys.stderr):  # what a package prints when it is imported is none of our answer
                found.append(Row(name=shown, **common, **told(part)))
        except Disabled as error:
            found.append(Row(name=shown, **common, disabled=error.reason))
        except JudgegraphError as error:
            found.append(Row(name=shown, **common, disabled=str(error)))
        except Exception as error:  # a description is code too
            if part.ours:
                raise
            found.append(Row(name=shown, **common, disabled=one_line(f"{type(error).__name__}: {error}")))
    return found


def _names(listed: Sequence[Part]) -> dict[Part, str]:
    """What each is listed as; a disabled one takes no other's name away."""
    sharing = Counter((part.kind, part.name) for part in listed)
    off = {part for part in listed if sharing[part.kind, part.name] > 1 and _off(part)}
    clashing = Counter((part.kind, part.name) for part in listed if part not in off)
    twice = Counter((part.kind, part.exact) for part in listed)
    found = {}
    for part in listed:
        if part not in off and clashing[part.kind, part.name] == 1:
            found[part] = part.name
        else:
            found[part] = part.exact if twice[part.kind, part.exact] == 1 else f"{part.exact} ({part.target})"
    return found


def _off(part: Part) -> bool:
    with redirect_stdout(sys.stderr):
        return part.disabled


def first_line(thing: Any) -> str:
    """The first line of a docstring; a dataclass without one of its own has none."""
    said = getattr(thing, "__doc__", None)
    doc = said.strip() if isinstance(said, str) else ""
    name = getattr(thing, "__name__", type(thing).__name__)
    line = doc.splitlines()[0] if doc and not doc.startswith(f"{name}(") else ""
    return one_line(line, 160)


def as_json(found: Sequence[Row], more: Callable[[Row], Mapping[str, Any]] = lambda _: {}) -> str:
    """Name -> row, with more to say of it; a name that two kinds share stands as "KIND/NAME"."""
    several = Counter(row.name for row in found)
    keys = [f"{row.kind}/{row.name}" if several[row.name] > 1 else row.name for row in found]
    return json.dumps({key: {**asdict(row), **more(row)} for key, row in zip(keys, found, strict=True)}, indent=1)


def print_rows(found: Sequence[Row], *, headings: bool, kinds: bool = False, margin: str = "") -> None:
    """Rows under their packages: name, kind, first line, what is read and written, within the terminal's width.

    Without headings they stand behind `margin`.
    """
    width = min(WIDEST, shutil.get_terminal_size().columns)
    column = min(24, max((len(row.name) for row in found), default=0)) + 2
    for (package, version), group in groupby(found, lambda row: (row.package, row.version)):
        if headings:
            click.echo(printable(f"{one_line(package, 80)} {one_line(version, 40)}".rstrip()))
        for row in group:
            click.echo("\n".join(_lines(row, column, width, "  " if headings else margin, kinds)))


def _lines(row: Row, column: int, width: int, margin: str, kinds: bool) -> Iterator[str]:
    name = one_line(row.name, 80)
    indent = margin + " " * column
    texts = [f"{row.kind}: {row.about}" if kinds and row.about else row.kind if kinds else row.about]
    if row.disabled:
        texts = [f"disabled: {one_line(row.disabled, 400)}"]
    elif (wiring := _wiring(row)) != "":
        texts.append(wiring)
    lines = [line for text in texts for line in textwrap.wrap(printable(text), max(16, width - len(indent)))]
    head = f"{margin}{name:<{column}}"
    if len(name) > column - 2:
        yield head.rstrip()
    elif lines:
        yield (head + lines.pop(0)).rstrip()
    else:
        yield head.rstrip()
    yield from (indent + line for line in lines)


def _wiring(row: Row) -> str:
    """ "reads sample, criteria?; writes scores", "" where nothing is known."""
    said = (_listed("reads ", row.reads), _listed("writes ", row.writes))
    return "; ".join(filter(None, said))


def _listed(verb: str, keys: Sequence[str] | str | None) -> str:
    if keys is None:
        return ""
    text = keys if isinstance(keys, str) else ", ".join(keys)
    return f"{verb}{one_line(text, 600) or 'nothing'}"
