"""docs/commands.md, made of the commands: `python tests/docs/commands_page.py docs/commands.md` writes it anew.

All but the examples is generated. They are written by hand in the page itself, between the line "For example:" and the
next title, and stay as they are; tests/docs runs them.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from judgegraph.cli.main import COMMANDS, main

WIDTH = 120
TITLE, EXAMPLE = "## judgegraph ", "For example:"
USUAL = "Exit codes: 0, 1 failure, 2 usage."  # of commands that say nothing of theirs
_CODES = re.compile(r"(?:^|(?<=[.:] ))Exit codes: .*", re.S)
_EXTRA = re.compile(r"\s*\[((?:default: |required|[^\[\]]*\bx[<>]|[^\[\]]*[<>]=?x\b)[^\[\]]*)\]")
_HEAD = """\
# Commands

This page is made of the commands (`make docs`); the tests compare it with them, and run its examples on the embedded
judge. `judgegraph COMMAND --help` prints the same, `judgegraph --version` the version. In the column of defaults and
ranges `x` is the value that is given."""


class Sheet(click.HelpFormatter):
    """Takes what --help would print as it is: headings with rows of option and text, not wrapped to any width."""

    def __init__(self) -> None:
        super().__init__(width=80)
        self.found: list[tuple[str, list[tuple[str, str]]]] = []

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        self.found.append((name, []))
        yield

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        self.found[-1][1].extend(row for row in rows if not row[0].endswith("--help"))


def page(examples: Mapping[str, str]) -> str:
    """The whole page, with the examples of the commands that have some."""
    about = cleandoc(main.help or "")
    listed = [f"| [`{name}`](#judgegraph-{name}) | {_cell(line)} |" for name, (_, line) in COMMANDS.items()]
    parts = [_HEAD, _codes(about), "\n".join(["| command | for |", "|---|---|", *listed])]
    for name in COMMANDS:
        parts += [TITLE + name, *_about(name)]
        if name in examples:
            parts += [EXAMPLE, examples[name]]
    return "\n\n".join(parts) + "\n"


def examples_of(text: str) -> dict[str, str]:
    """Command -> what a page has between "For example:" and the next title; a title in a fence is none."""
    found: dict[str, list[str]] = {}
    name, inside, fenced = "", False, False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            name, inside = line.removeprefix(TITLE), False
        elif line == EXAMPLE and not fenced:
            inside = True
        elif inside:
            found.setdefault(name, []).append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in found.items()}


def _about(name: str) -> Iterator[str]:
    """Usage, what it does, arguments, options, exit codes."""
    command = main.get_command(click.Context(main), name)
    if command is None or isinstance(command, click.Group):
        raise TypeError(f"{name} is no command that this page can describe: a group of commands needs sections here")
    with click.Context(command, info_name=name, **command.context_settings) as ctx:
        yield "    " + " ".join(["judgegraph", name, *command.collect_usage_pieces(ctx)])
        text = cleandoc(command.help or "")
        yield from _paragraphs(text)
        yield from _arguments(command)
        sheet = Sheet()
        command.format_options(ctx, sheet)
        for heading, rows in sheet.found:
            if rows:
                yield _table((heading, "", "default, range"), [_option(*row) for row in rows])
        yield _codes(text)


def _paragraphs(text: str) -> Iterator[str]:
    """Of a docstring, without its exit codes; what click leaves as it is (behind a \\b) is set apart as code."""
    for part in text.split("\n\n"):
        if part.startswith("\b\n"):
            yield "\n".join(f"    {line}" for line in part.splitlines()[1:])
        elif told := _CODES.sub("", " ".join(part.split())).strip():
            yield _wrapped(told)


def _codes(text: str) -> str:
    told = (_CODES.search(" ".join(part.split())) for part in text.split("\n\n"))
    return _wrapped(next((m[0] for m in told if m), USUAL))


def _arguments(command: click.Command) -> Iterator[str]:
    rows = []
    for argument in (p for p in command.params if isinstance(p, click.Argument)):
        more = ("; may be left out" if not argument.required else "") + ("; several" if argument.nargs != 1 else "")
        rows.append((_code(argument.human_readable_name), _cell(_type(argument.type) + more)))
    if rows:
        yield _table(("Arguments", ""), rows)


def _type(kind: click.ParamType[Any]) -> str:
    if isinstance(kind, click.Choice):
        return " or ".join(str(choice) for choice in kind.choices)
    if isinstance(kind, click.Path):
        what = " or ".join(word for word, may in (("file", kind.file_okay), ("folder", kind.dir_okay)) if may)
        return f"a {what} that is there" if kind.exists else f"a {what}"
    return "text"


def _option(name: str, text: str) -> tuple[str, str, str]:
    """Its cells; what click and we put in brackets behind the text has a column of its own."""
    text = " ".join(text.split())
    extras = [part.removeprefix("default: ") for extra in _EXTRA.findall(text) for part in re.split("; (?=.*x)", extra)]
    ranges = [_code(extra) if re.search("x[<>]", extra) else _cell(extra) for extra in extras]
    return _code(name), _cell(_EXTRA.sub("", text)), "; ".join(ranges)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Without the last column where nothing stands in it."""
    wide = len(head) if any(row[-1] for row in rows) else len(head) - 1
    lines = [f"|{''.join(f' {cell} |' if cell else ' |' for cell in row[:wide])}" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * wide, *lines[1:]])


def _plain(text: str) -> str:
    """As text of Markdown: what is not between backticks means nothing to it."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\|<*\[\]])", r"\\\1", part) for part in parts)


def _wrapped(text: str) -> str:
    return textwrap.fill(_plain(text), WIDTH, break_long_words=False, break_on_hyphens=False)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", _plain(text))


def _code(text: str) -> str:
    return "`" + text.replace("|", r"\|") + "`"


def write(path: Path) -> list[str]:
    """Write the page anew with the examples that it has; gives the commands that lack one."""
    examples = examples_of(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(page(examples), encoding="utf-8")
    return [name for name in COMMANDS if name not in examples]


if __name__ == "__main__":
    for lacking in write(Path(sys.argv[1])):
        print(f"{sys.argv[1]}: no example of {lacking} yet; write one below the line {EXAMPLE!r}", file=sys.stderr)
