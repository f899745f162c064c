"""`judgegraph view`."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import click

from judgegraph.errors import ConfigError, ExtraError, printable

PORT = 8730


@click.command(context_settings={"show_default": True})
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN...]", type=click.Path(exists=True, file_okay=False))
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, help="Where it listens; 0 takes a free one.")
@click.option("--host", default="127.0.0.1", help="Any but this machine's own asks browsers for a token.")
@click.option(
    "--labels", metavar="FILE.jsonl", type=click.Path(dir_okay=False),
    help="Where your judgements go.  [default: RUN.labels.jsonl, beside the run]",
)  # fmt: skip
def view(runs: tuple[str, ...], port: int, host: str, labels: str | None) -> None:
    """Look at RUNs, folders, in a browser: a local web app, until Ctrl-C.

    A table of the samples is searched, filtered and sorted; a sample shows what was judged beside the scores and their
    reasons, and the trace below. Several runs are held beside one another, sample by sample. A run that goes on is
    followed. Scores of your own are written to a file that `judgegraph meta RUN --labels FILE` reads.

    It listens to this machine alone, and has no script; nothing is written to a run. It needs the extra 'view'.
    """
    for run in runs:
        _refuse_no_run(run)
    if len({Path(run).resolve() for run in runs}) < len(runs):
        raise click.UsageError("a run is given twice")
    try:
        from judgegraph.webview.app import LOOPBACK, View
    except ImportError:
        raise ExtraError("judgegraph view", "view") from None
    token = "" if _is_own(host) else secrets.token_urlsafe(24)
    with (
        closing(_listening(host, port)) as listener,
        closing(View(runs, labels=labels, token=token, hosts=(*LOOPBACK, host))) as app,
    ):
        number = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        click.echo(printable(f"http://{shown}:{number}/{f'?token={token}' if token else ''}  (Ctrl-C ends it)"))
        app.start()
        with suppress(KeyboardInterrupt):
            _serve(app.guarded, listener)


def _refuse_no_run(run: str) -> None:
    from judgegraph.cli.options import refuse_traces

    refuse_traces(run)


def _is_own(host: str) -> bool:
    """Whether an address is of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        ConfigError: the address is another's, or taken.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        cure = "; another runs there: --port 0 takes a free one" if port else ""
        raise ConfigError(f"--host {host} --port {port}: {error.strerror or error}{cure}") from None


def _serve(app: Any, listener: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])
