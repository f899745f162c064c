"""`judgegraph review`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.main import printable
from judgegraph.cli.options import SETTING_HELP, graph_of, judge_of
from judgegraph.errors import DataError, one_line

if TYPE_CHECKING:
    from judgegraph.types import Criterion, Sample

CHOICES = {"a": "accept", "e": "edit", "r": "reject"}


@click.command(context_settings={"show_default": True})
@click.argument("method")
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@click.option("-c", "--criteria", metavar="SET", help="A criteria set: a built-in name or a YAML or JSON file.")
@click.option("-j", "--judge", help="embedded, openai:MODEL, or PROVIDER:MODEL.  [default: embedded]")
@click.option("--base-url", metavar="URL", help="Of any OpenAI-compatible server; then --judge openai:MODEL.")
@click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP)
@click.option("-n", "--limit", metavar="N", type=click.IntRange(1), default=1, help="At most so many samples.")
@click.option(
    "--ledger", type=click.Path(dir_okay=False), help="A file of model calls: what it holds is not paid again."
)
@click.option("--save", type=click.Path(dir_okay=False), help="Write the criteria, as decided, to this YAML file.")
def review(method: str, data: str, **given: Any) -> None:
    """Judge samples of DATA by METHOD, and decide on the criteria that its critic suggests.

    Where the critic suggests a changed definition or a new criterion, you accept, edit or reject it, and the sample is
    judged again by the new criteria, as are all samples after it. METHOD is one with a critic, such as sageval. What
    --save writes is a criteria set for `judgegraph run METHOD DATA --criteria FILE`.
    """
    from judgegraph.runtime.load import load

    save = Path(given["save"]) if given["save"] else None
    if save is not None and (save.exists() or save.suffix not in (".yaml", ".yml")):
        raise click.UsageError(f"--save {save}: {'it exists already' if save.exists() else 'it ends in .yaml'}")
    judge = judge_of(given["judge"], given["base_url"])
    graph = graph_of(method, criteria=given["criteria"], judge=judge, settings=given["settings"])
    decided = asyncio.run(_reviewed(graph, load(data, limit=given["limit"]), given["ledger"]))
    if save is not None and decided:
        _write(save, decided)
        click.echo(f"criteria: {len(decided)}, in {printable(str(save))}")


async def _reviewed(graph: Any, samples: Any, ledger: str | None) -> list[Criterion]:
    from langgraph.checkpoint.memory import InMemorySaver

    from judgegraph.calls.context import CallContext, context
    from judgegraph.calls.ledger import Ledger
    from judgegraph.compose.with_person import with_person
    from judgegraph.runtime.serde import serializer

    asking = with_person(graph).compile(checkpointer=InMemorySaver(serde=serializer()))
    criteria: list[Criterion] = []
    with closing(Ledger(ledger)) as kept:
        before = context.set(CallContext(ledger=kept))
        try:
            for sample in samples:
                criteria = await _one(asking, sample, criteria)
        finally:
            context.reset(before)
    return criteria


async def _one(graph: Any, sample: Sample, criteria: Sequence[Criterion]) -> list[Criterion]:
    """One sample to its end; gives the criteria as they are then."""
    from langgraph.types import Command

    config = {"configurable": {"thread_id": sample.id}}
    click.echo(f"\n{printable(one_line(sample.id, 80))}")
    state = await graph.ainvoke({"sample": sample, **({"criteria": list(criteria)} if criteria else {})}, config)
    first = _finals(state)
    while pending := state.get("__interrupt__"):
        asked = pending[0].value
        if "wrong" in asked:
            click.echo(printable(f"  {asked['wrong']}"))
        answers = [_answer(number, one) for number, one in enumerate(asked["suggestions"], 1)]
        state = await graph.ainvoke(Command(resume=answers), config)
    _print(first, _finals(state))
    return list(state.get("criteria") or criteria)


def _answer(number: int, suggestion: Mapping[str, Any]) -> Any:
    kind = "new criterion" if suggestion["kind"] == "criterion" else "changed definition of"
    click.echo(printable(f"  {number}. {kind} {one_line(suggestion['criterion'], 80)}"))
    for key in ("definition", "reason"):
        if suggestion.get(key):
            click.echo(printable(f"     {key}: {one_line(suggestion[key], 400)}"))
    chosen = click.prompt("     accept, edit or reject", type=click.Choice(list(CHOICES)), show_choices=True)
    if chosen != "e":
        return CHOICES[chosen]
    edited = {"definition": click.prompt("     definition", default=suggestion["definition"])}
    if suggestion["kind"] == "criterion":
        edited["name"] = click.prompt("     name", default=suggestion["criterion"])
    return edited


def _finals(state: Mapping[str, Any]) -> dict[str, str]:
    """Criterion -> its final answer, as text."""
    finals = [s for s in (state.get("scores") or {}).values() if s.stage == "final"]
    return {s.criterion: f"{s.value:.2f}" if s.value is not None else s.label or s.status for s in finals}


def _print(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    width = max(map(len, after), default=0)
    for name, value in after.items():
        was = before.get(name)
        moved = "  (new)" if was is None else f"  (was {was})" if was != value else ""
        click.echo(printable(f"  {one_line(name, 80):<{min(width, 80)}}  {value}{moved}"))


def _write(path: Path, criteria: Sequence[Criterion]) -> None:
    import yaml

    listed = [
        {**one.model_dump(mode="json", exclude_defaults=True, exclude={"scale"}), "scale": _scale(one)}
        for one in criteria
    ]
    text = yaml.safe_dump({"name": path.stem, "criteria": listed}, sort_keys=False, allow_unicode=True, width=110)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None


def _scale(criterion: Criterion) -> Any:
    return list(criterion.scale.labels) or str(criterion.scale)
