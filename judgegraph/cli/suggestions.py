"""`judgegraph suggestions`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from judgegraph.runs.run import Run


@click.command(context_settings={"show_default": True})
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--by", type=click.Choice(["auto", "embeddings", "letters"]), default="auto",
    help="How alike suggestions are: by embeddings (extra semantic), by their letters, or by what is installed.",
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="List every topic.")
@click.option("--worth", is_flag=True, help="Say of every criterion of the run whether it earns its place.")
@click.option("--criterion", "criteria", multiple=True, metavar="NAME", help="Say it of this one; repeat for more.")
@click.option("--labels", metavar="FILE.jsonl", type=click.Path(exists=True, dir_okay=False),
              help="People's judgements, as judgegraph view writes them; then --worth.")  # fmt: skip
@click.option("--target", metavar="NAME", help="People's criterion that agreement is with.  [default: overall, or all]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def suggestions(run: str, **given: Any) -> None:
    """Say what the critics of RUN, a folder, suggest, by topic; and whether criteria earn their place.

    Near-duplicates are one suggestion, and what is alike is one topic with the name of its most central one. A
    suggestion changes no score of its run; `judgegraph review RUN` takes topics into a new criteria set.

    With --worth, --criterion or --labels: of criteria that RUN was judged by, what each adds to agreement with people,
    beside all others of the set, fitted on other samples than it is held against ("earned", "not shown"); without
    labels, how far the others say the same ("redundant with X").
    """
    from judgegraph.runs.run import Run

    found = Run.load(run)
    if given["worth"] or given["criteria"] or given["labels"] or given["target"]:
        _worth(found, given)
        return
    from judgegraph.views.suggestions import suggestions as laid_out
    from judgegraph.views.terminal import show

    topics = found.suggestions(given["by"])
    if given["as_json"]:
        click.echo(json.dumps(topics.to_dict(), indent=1))
    else:
        show(laid_out(topics, given["every"]), more="; --all lists them, --json has {}")


def _worth(run: Run, given: dict[str, Any]) -> None:
    from judgegraph.meta.criterion_worth import criteria_worth
    from judgegraph.runs.labels import LabelledRun, Labels
    from judgegraph.views.suggestions import criteria_worth as laid_out
    from judgegraph.views.terminal import show

    if given["labels"]:
        run = LabelledRun.of(run, Labels.load(given["labels"]))
        if run.unknown:
            click.echo(f"labels of {run.unknown:,} samples that the run has not: left out", err=True)
    found = criteria_worth(run, given["criteria"], target=given["target"])
    if given["as_json"]:
        click.echo(json.dumps(found.to_dict(), indent=1))
    else:
        show(laid_out(found))
