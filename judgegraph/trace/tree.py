"""Steps as a tree on a terminal; whatever it shows is inert there."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from judgegraph.errors import printable
from judgegraph.trace.step import Step

LINES, LENGTH = 4, 320  # of a text that is not shown whole
DETAIL, TROUBLE, TITLE = "dim", "red", "bold"
FINE = ("ok", "skipped", "abstained")
TOLD = {"judge": "judge", "prompt": "prompt", "reader": "reader"}  # of an agent


@dataclass(frozen=True)
class Look:
    """How much is shown. full: texts whole; plain: no character beyond ASCII of our own."""

    full: bool = False
    plain: bool = False

    @property
    def dots(self) -> str:
        """What stands for what is left out."""
        return "..." if self.plain else "…"


USUAL = Look()


def tree_of(step: Step, look: Look = USUAL) -> Tree:
    """The step with all below it, each with its times, and what was read, written, asked and answered."""
    tree = Tree(label(step, look), guide_style=DETAIL)
    _grow(tree, step, look)
    return tree


def tree_text(step: Step, width: int = 100, look: Look = USUAL) -> str:
    """The same as plain text."""
    console = Console(
        file=io.StringIO(), width=width, color_system=None, highlight=False, force_terminal=False,
        force_jupyter=False,  # else rich would show it in a notebook, and there were no text
    )  # fmt: skip
    console.print(tree_of(step, look))
    return "\n".join(line.rstrip() for line in str(console.file.getvalue()).splitlines())  # type: ignore[attr-defined]


def _grow(tree: Tree, step: Step, look: Look) -> None:
    for below in step.steps:
        _grow(tree.add(label(below, look)), below, look)


def label(step: Step, look: Look = USUAL) -> Text:
    """What a step's own lines say."""
    text = Text(overflow="fold")
    text.append(inert(f"{step.kind} "), DETAIL)
    text.append(inert(step.name, 80), TITLE)
    for said in (milliseconds(step.ms), *facts(step)):
        text.append(inert(f"  {said}"))
    if step.status not in FINE:
        text.append(inert(f"  {step.status}"), TROUBLE)
    elif step.status != "ok":
        text.append(inert(f"  {step.status}"), DETAIL)
    if step.about.get("error"):
        text.append(inert(f"\n{step.about['error']}"), TROUBLE)
    for said in flow(step):
        text.append(inert(f"\n{said}"), DETAIL)
    for who, said in step.texts():
        text.append(inert(f"\n{who}: "), DETAIL)
        text.append(excerpt(said, look))
    return text


def facts(step: Step) -> Iterator[str]:
    """Beside its name: who was asked, what a tool said, what a call took."""
    about = step.about
    if step.kind == "agent":
        yield from (f"{name} {about[key]}" for key, name in TOLD.items() if about.get(key))
    elif step.kind == "tool" and about.get("value") is not None:
        yield _number(about["value"])
    elif step.kind == "model":
        if about.get("from"):
            yield {"ledger": "from the ledger", "joined": "joined"}.get(str(about["from"]), str(about["from"]))
        if retries := int(about.get("requests") or 1) - 1:
            yield f"{retries} {'retry' if retries == 1 else 'retries'}"
        if about.get("prompt_tokens") is not None:
            yield f"{about['prompt_tokens']:,}+{about.get('completion_tokens') or 0:,} tokens"
            yield money(about.get("usd"))


def flow(step: Step) -> Iterator[str]:
    """What went in and came out."""
    about = step.about
    if step.kind == "model":
        repeat = f"  repeat {about['repeat']}" if about.get("repeat") else ""
        choices = f"  {about['n']} choices" if (about.get("n") or 1) > 1 else ""
        form = f"  form {about['form']}" if about.get("form") else ""
        if said := f"{about.get('prompt') or ''}{form}{choices}{repeat}".strip():
            yield said
    reads, writes = _sizes(about.get("reads")), _sizes(about.get("writes"))
    if reads or writes:
        yield "  ".join([*([f"read: {reads}"] if reads else []), *([f"wrote: {writes}"] if writes else [])])


def _sizes(keys: Any) -> str:
    """Such as "sample, scores(8)"."""
    if not isinstance(keys, Mapping):
        return ""
    return ", ".join(f"{key}{_size(value)}" for key, value in keys.items())


def _size(value: Any) -> str:
    if isinstance(value, list):
        return f"({len(value)})"
    if isinstance(value, float):
        return f" = {value:.4g}"
    return f"({value})" if isinstance(value, int) and not isinstance(value, bool) else ""


def excerpt(text: str, look: Look = USUAL) -> str:
    """A text in its first lines, and how long it is; whole where all is wanted."""
    shown = inert(text.strip())
    if look.full:
        return shown
    lines = [line for line in shown.split("\n") if line.strip()]
    head = "\n".join(lines[:LINES])[:LENGTH].rstrip()
    return head if len(head) >= len("\n".join(lines)) else f"{head}{look.dots} ({len(text):,} characters)"


def inert(text: Any, most: int = 0) -> str:
    """Nothing in it drives a terminal; of a longer one than `most` the first of it."""
    said = printable(str(text).replace("\r\n", "\n").expandtabs(4))
    return said[:most] if most else said


def milliseconds(ms: float) -> str:
    """Such as "0.4 ms", "93 ms", "2.41 s", "3 min 12 s"."""
    if ms < 999.5:
        return f"{ms:.1f} ms" if ms < 9.95 else f"{ms:.0f} ms"
    seconds = ms / 1000
    return f"{seconds:.2f} s" if seconds < 119.5 else f"{int(seconds + 0.5) // 60} min {int(seconds + 0.5) % 60} s"


def money(usd: Any) -> str:
    """Such as "$0.0012"; "price unknown" for none."""
    if not isinstance(usd, int | float):
        return "price unknown"
    return f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
