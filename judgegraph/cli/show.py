"""`judgegraph show`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from judgegraph.cli.main import printable
from judgegraph.cli.options import CRITIC_HELP, SETTING_HELP, graph_of

AS_HELP = "Mermaid to hold beside a paper, a picture (SVG), or lines of text. Default: by FILE's suffix, else mermaid."


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
    from judgegraph.runtime.claim import is_manifest
    from judgegraph.runtime.folder import Folder

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
