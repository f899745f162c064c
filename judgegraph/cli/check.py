"""`judgegraph check`."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.main import FAILURE
from judgegraph.cli.options import CRITIC_HELP, SETTING_HELP, Finite, address, graph_of
from judgegraph.errors import ConfigError, printable

if TYPE_CHECKING:
    from rich.table import Table

    from judgegraph.doctor import Diagnosis


SENDS_NOTHING = "every judge here is embedded and sends nothing"


@click.command()
@click.argument("method")
@click.option("--critic", metavar="NAME", help=CRITIC_HELP)
@click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP)
@click.option("--calls/--no-calls", default=True, help="Count its model calls too, by invented replies.")
@click.option("--json", "as_json", is_flag=True, help="Nodes, findings and calls as one JSON object.")
def check(method: str, critic: str | None, settings: tuple[str, ...], calls: bool, as_json: bool) -> None:
    """Prove that METHOD's graph is wired, before anything is asked, and count what it will ask.

    Every key that a node reads is written before, on every path; every node is reached; joins run once; loops have a
    bound; no two nodes of one step write a key that nothing joins.

    METHOD is a name (see `judgegraph methods`), a graph file, or file.py:factory.

    Model calls are counted by running the graph with invented replies; nothing is sent. Each node is told with the
    fields of its template that make a call anew for a sample, and with those that all samples share. Nodes of your own
    run then too, and what they write is checked as in a run; --no-calls runs none.

    Exit codes: 0 wired, 1 not, with a line for each mistake: node, key and cure.
    """
    from judgegraph.wiring.check import check as checked
    from judgegraph.wiring.check import destinations, runs_own

    try:
        graph = graph_of(method, criteria=None, judge=None, settings=settings, critic=critic)
    except ConfigError as error:
        graph = getattr(error, "graph", None)  # of a graph file whose wiring alone is wrong
        if not as_json or graph is None:
            raise
    wiring = checked(graph, strict=False)
    if calls and wiring.ok and runs_own(graph):
        from judgegraph.planning.dry_run import dry_check

        wiring = replace(wiring, findings=(*wiring.findings, *dry_check(graph)))
    counts = wiring.calls if calls and wiring.ok else None
    if as_json:
        from judgegraph.calls.estimate import to_dict

        sent = {"destinations": destinations(graph)}
        click.echo(json.dumps(wiring.to_dict() | sent | ({"calls": to_dict(counts)} if counts else {}), indent=1))
    else:
        if wiring.ok:
            _say(
                "\n".join(
                    [*map(str, (wiring, counts) if counts else (wiring,)), *(destinations(graph) or [SENDS_NOTHING])]
                )
            )
        else:
            _say("\n".join(f"{finding.severity}: {finding}" for finding in wiring.findings), err=True)
    sys.exit(0 if wiring.ok else FAILURE)


# `judgegraph show`.


AS_HELP = "Mermaid to hold beside a paper, a picture (SVG), or lines of text. Default: by FILE's suffix, else mermaid."


def _say(text: str, *, err: bool = False) -> None:
    """Print lines of a text, on a terminal folded to its width, what goes on further in; elsewhere as they are."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=err, highlight=False)
    whole = not (console.is_terminal or os.environ.get("COLUMNS", "").isdigit())
    for line in text.splitlines():
        further = " " * (len(line) - len(line.lstrip(" ")) + 2)
        folder = TextWrapper(console.width, subsequent_indent=further, break_long_words=False, break_on_hyphens=False)
        folded = [line] if whole else folder.wrap(printable(line))
        for part in folded or [""]:
            console.print(Text(printable(part)), soft_wrap=True)


@click.command()
@click.argument("method")
@click.option("--critic", metavar="NAME", help=CRITIC_HELP)
@click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP)
@click.option("--as", "form", type=click.Choice(["mermaid", "text", "svg"]), help=AS_HELP)
@click.option("-o", "--out", metavar="FILE", type=click.Path(dir_okay=False), help="Where it goes, not the terminal.")
@click.option("--json", "as_json", is_flag=True, help="Nodes and edges as one JSON object.")
def show(
    method: str, critic: str | None, settings: tuple[str, ...], form: str | None, out: str | None, as_json: bool
) -> None:
    """Draw METHOD's graph, as Mermaid, as text or as a picture; without network.

    METHOD is a name (see `judgegraph methods`), a graph file, or file.py:factory.
    """
    if as_json and form is not None:
        raise click.UsageError("--json and --as are two forms: give one")
    graph = graph_of(method, criteria=None, judge=None, settings=settings, critic=critic)
    if as_json:
        text = json.dumps(graph.get_graph(xray=True).to_json(), indent=1, default=str) + "\n"
    else:
        text = _drawn(graph, form, out)
    if out is None:
        click.echo(printable(text), nl=False)
    else:
        _write(Path(out), text)


def _drawn(graph: object, form: str | None, out: str | None) -> str:
    from judgegraph.report.drawing import FORMS, Drawing

    ending = Path(out or "").suffix
    if form is None and ending and ending.lower() not in FORMS:
        raise click.UsageError(f"--out {out}: a drawing is kept as {', '.join(FORMS)}; name it so, or say --as FORM")
    text: str = getattr(Drawing(graph), form or FORMS.get(ending.lower(), "mermaid"))
    return text


def _of_a_run(path: Path) -> bool:
    """Whether it is a file that a run in its folder needs, by whatever link it is reached."""
    from judgegraph.runs.folder import Folder, is_manifest

    real = Path(os.path.realpath(path))
    folder = Folder(real.parent)
    manifest = folder.earlier()
    return is_manifest(manifest) and folder.owns(real, manifest.get("ledger"))


def _write(path: Path, text: str) -> None:
    from judgegraph.errors import ConfigError

    if _of_a_run(path):
        raise ConfigError(f"--out {path} is a file of a run; name another one")
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigError(f"--out {path} cannot be written: {error.strerror or error}") from None
    click.echo(printable(f"{path}: written"))


# `judgegraph doctor`.


MARKS = {True: "ok", False: "differs", None: "-"}


@click.command(context_settings={"show_default": True})
@click.option("-j", "--judge", default="embedded", help="embedded, openai:MODEL, or PROVIDER:MODEL.")
@click.option(
    "--base-url", metavar="URL", callback=address, help="Of any OpenAI-compatible server; then --judge openai:MODEL."
)
@click.option("--api-key-env", metavar="NAME", default="OPENAI_API_KEY", help="The variable that holds the key.")
@click.option("--timeout", metavar="SECONDS", type=Finite(0, min_open=True), default=30.0, help="For one request.")
@click.option("--no-save", is_flag=True, help="Do not keep what was found; runs will learn it by themselves.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def doctor(
    judge: str, base_url: str | None, api_key_env: str, timeout: float, no_save: bool, as_json: bool
) -> None:  # fmt: skip
    """Measure what a judge's endpoint really does, by about twenty small requests, and name what differs.

    What was found of an endpoint is kept for 30 days in the user's cache folder ($JUDGEGRAPH_CACHE), without any key;
    runs use it instead of finding it out by failing. Exit code 1 where the endpoint cannot be used at all.
    """
    from judgegraph.calls import Endpoint
    from judgegraph.compiled import run_sync
    from judgegraph.doctor import examine

    if base_url is not None and judge == "embedded":
        raise click.UsageError("--base-url names a server for a model: give it too, as --judge openai:MODEL")
    endpoint = Endpoint(model=judge, base_url=base_url, api_key_env=api_key_env)
    found = run_sync(examine(endpoint, timeout=timeout, save=not no_save))
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1))
    else:
        _print(found)


def _print(found: Diagnosis) -> None:

    from judgegraph.views.terminal import plain, screen

    console = screen()
    where = f" at {found.address}" if found.address else ""
    console.print(plain(f"{found.judge}{where}"), style="bold")
    console.print(_table(found))
    if found.deviations:
        console.print("\nwhat this means for a run:")
    for probe in found.deviations:
        console.print(plain(f"  {probe.name}: {probe.deviation}"), style="yellow", soft_wrap=True)
    console.print(plain("\n" + _cost(found)), soft_wrap=True)  # a path stays in one piece


def _table(found: Diagnosis) -> Table:
    from rich.table import Table

    from judgegraph.views.terminal import plain

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("probe", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("found", overflow="fold")
    styles: dict[Any, str] = {True: "green", False: "yellow", None: "dim"}
    for probe in found.probes:
        table.add_row(plain(probe.name), f"[{styles[probe.ok]}]{MARKS[probe.ok]}", plain(probe.found))
    return table


def _cost(found: Diagnosis) -> str:
    """How many requests it took, how long one takes, what was written where."""
    from judgegraph.views.blocks import counted, money

    parts = [counted(found.requests, "request")]
    tokens = found.prompt_tokens + found.completion_tokens
    if tokens and found.replies:
        parts.append(f"{counted(tokens, 'token')}, {tokens / found.replies:.0f} a reply")
    if found.usd and found.replies:
        parts.append(f"{money(found.usd)}, {money(found.usd / found.replies)} a reply")
    if found.latency is not None:
        parts.append(f"a call takes {found.latency:.2g} s (median)")
    kept = f"kept in {found.saved}" if found.saved else f"nothing was kept: {found.unsaved}"
    return f"{', '.join(parts)}; {kept}"
