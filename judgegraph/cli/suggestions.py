"""`judgegraph suggestions`."""

from __future__ import annotations

import json
from typing import Any

import click


@click.command(context_settings={"show_default": True})
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--by", type=click.Choice(["auto", "embeddings", "letters"]), default="auto",
    help="How alike suggestions are: by embeddings (extra semantic), by their letters, or by what is installed.",
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="List every topic.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def suggestions(run: str, **given: Any) -> None:
    """Say what the critics of RUN, a folder, suggest: new criteria and changed definitions, by topic.

    Near-duplicates are one suggestion, and what is alike is one topic with the name of its most central one. A
    suggestion changes no score of its run; `judgegraph review RUN` takes topics into a new criteria set.

    """
    from judgegraph.runs.run import Run
    from judgegraph.views.terminal_suggestions import print_suggestions

    found = Run.load(run).suggestions(given["by"])
    if given["as_json"]:
        click.echo(json.dumps(found.to_dict(), indent=1))
    else:
        print_suggestions(found, given["every"])
