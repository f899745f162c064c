"""`judgegraph repair`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from judgegraph.cli.main import FAILURE
from judgegraph.errors import printable

if TYPE_CHECKING:
    from judgegraph.runs.repair import Part, Repair

NAMED = 20  # damaged lines of a file


@click.command()
@click.argument("run", type=click.Path(exists=True))
@click.option("-o", "--out", metavar="DIR", type=click.Path(), help="Write what is sound as a new folder; of a ledger, "
              "as a new file.")  # fmt: skip
@click.option("--in-place", is_flag=True, help="Put what is sound in the place of what is damaged, which is moved to "
              "damaged-1 beside it; sound files stay as they are.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def repair(run: str, out: str | None, in_place: bool, as_json: bool) -> None:
    """Say what is sound of RUN, the folder of a run or a ledger's file; with --out or --in-place salvage it.

    Items, journeys and prompts are looked at line by line, and replies row by row: each has a checksum. Lines of items
    that are copies, lack the checksum that others have, or are gone are named too. What SQLite cannot reach of a
    damaged ledger is taken from its pages. The index of the items is made again. Nothing is lost: damaged files stay
    where they are, or are moved.

    The same `judgegraph run` command goes on then (with --out DIR, in DIR), and pays for what was lost alone. Without
    a manifest it begins anew, and finds its replies in the ledger. A ledger that several runs share is repaired by its
    own name, while no run uses it.

    Exit codes: 0 all is sound or what is sound was written, 1 something is damaged and nothing was written, or failure,
    2 usage.
    """
    from judgegraph.runs.repair import repair as repaired

    if out is not None and in_place:
        raise click.UsageError("--out writes a new folder, --in-place changes this one: give one of the two")
    found = repaired(run, out=out, in_place=in_place)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1).replace("\x7f", "\\u007f"))
    else:
        _print(found)
    if not found.sound and found.written is None:
        click.get_current_context().exit(FAILURE)


def _print(found: Repair) -> None:
    for part in found.parts:
        click.echo(printable(f"{part.name}: {_counts(part)}"))
        for note in part.notes[:NAMED]:
            click.echo(printable(f"  {note}"))
        if len(part.notes) > NAMED:
            click.echo(f"  and {len(part.notes) - NAMED:,} more; --json names them")
    click.echo(printable(_end(found)))


def _counts(part: Part) -> str:
    """Such as "sound, 32 lines" and "damaged; 31 of 32 lines are sound, 2 lines are gone"."""
    if part.sound is None:
        return part.state
    if part.state == "sound":
        return f"sound, {part.sound:,} {part.what}"
    of = f" of {part.sound + part.lost - part.gone:,}" if part.lost is not None else ""
    gone = f", {part.gone:,} {'line is' if part.gone == 1 else 'lines are'} gone" if part.gone else ""
    return f"{part.state}; {part.sound:,}{of} {part.what} are sound{gone}"


def _end(found: Repair) -> str:
    if found.written is not None:
        moved = f"; the damaged files are in {found.backup}" if found.backup else ""
        goes = "goes on" if found.goes_on else "begins anew, from the ledger's replies"
        return f"what is sound is in {found.written}{moved}. The same `judgegraph run` command {goes} there"
    if found.sound:
        return "all is sound; nothing was written"
    return "nothing was written: --in-place puts what is sound in its place, --out DIR writes it elsewhere"
