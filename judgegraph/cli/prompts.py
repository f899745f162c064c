"""`judgegraph prompts`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from judgegraph.cli.options import SUBJECT, columns, criteria_of, evidence_left_out, examples, graph_of, judge_of
from judgegraph.errors import printable
from judgegraph.evidence import content_text
from judgegraph.prompts import Prompt, known, load
from judgegraph.views.amounts import counted

ROLES = {"human": "user", "ai": "assistant"}  # as prompts call them


def subject(command: Any) -> Any:
    """The options that say what is judged, and by whom."""
    for option in reversed((*SUBJECT, examples)):
        command = option(command)
    return command


@click.command()
@click.argument("method", required=False)
@subject
@click.option(
    "--render", "data", metavar="DATA", type=click.Path(exists=True, dir_okay=False),
    help="Print what the first samples of a data file are asked, not the templates; --limit N for more than one.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def prompts(method: str | None, data: str | None, as_json: bool, **given: Any) -> None:
    """Print the prompts of METHOD: as templates, or with --render as a sample gets them. Nothing is sent.

    METHOD is a name (see `judgegraph methods`), a graph file, or file.py:factory; without it the templates are listed.
    What a template puts in stands as $name, and a section whose tag ends in "?" is left out where it is empty. Of
    rendered prompts, what a judge said before (a draft, a guideline) is invented, as no judge is asked.
    """
    if method is None:
        if data is not None:
            raise click.UsageError("--render needs a METHOD")
        _print(as_json, {name: load(name).source for name in known()}, (f"{n:<24}{load(n).source}" for n in known()))
        return
    judge = judge_of(given["judge"], given["base_url"], given["temperature"], given["max_tokens"])
    graph = graph_of(
        method, criteria=criteria_of(given), judge=judge, settings=given["settings"], critic=given["critic"]
    )  # fmt: skip
    if data is None:
        found = _templates(graph)
        _print(as_json, [_described(*one) for one in found], _template_lines(method, found))
    else:
        asked, invented = _rendered(graph, data, given)
        _print(as_json, asked, _message_lines(asked, invented))


def _print(as_json: bool, value: Any, lines: Iterator[str]) -> None:
    click.echo(json.dumps(value, indent=1, ensure_ascii=False) if as_json else printable("\n".join(lines)))


Found = list[tuple[str, Prompt, list[str]]]  # node, its template, fields that this leaves out


def _templates(graph: Any) -> Found:
    """Every agent's node with the template that it asks by."""
    from judgegraph.registry.lookup import agents_of
    from judgegraph.wiring.graph import left_out_of

    found = []
    for node, agent in agents_of(graph):
        listed = getattr(agent, "prompts", None)
        names = listed if isinstance(listed, tuple) else [getattr(agent, "prompt", None)]
        found += [(node, load(name), left_out_of(agent, name)) for name in names if isinstance(name, str) and name]
    return found


def _described(node: str, prompt: Prompt, lacks: list[str]) -> dict[str, Any]:
    about: dict[str, Any] = {"node": node, "prompt": prompt.name, "digest": prompt.digest, "source": prompt.source}
    about |= {"left_out": lacks} if lacks else {}
    return about | {"fields": sorted(prompt.fields), "messages": [{"role": r, "text": t} for r, t in prompt.parts]}


def _template_lines(method: str, found: Found) -> Iterator[str]:
    yield f"{method} asks by {counted(len({prompt.name for _, prompt, _ in found}), 'template')}"
    for node, prompt, lacks in found:
        yield ""
        yield f"node {node}: template {prompt.name}@{prompt.digest}"
        yield f"fields: {', '.join(f'${name}' for name in sorted(prompt.fields))}"
        if lacks:
            yield f"leaves out: {', '.join(f'${name}' for name in lacks)}"
        yield f"source: {prompt.source}" if prompt.source else "source: not said"
        for role, text in prompt.parts:
            yield f"--- {role}"
            yield text


def _rendered(graph: Any, data: str, given: dict[str, Any]) -> tuple[list[dict[str, Any]], bool]:
    """What the first samples are asked, call by call; whether any of it quotes an invented reply."""
    from judgegraph.calls.ledger import ReadOnlyLedger
    from judgegraph.data.load import load as load_samples
    from judgegraph.models.prices import Prices
    from judgegraph.planning.dry_run import DryRun
    from judgegraph.sync import run_sync

    samples = load_samples(data, fields=columns(given), limit=given["limit"] or 1)
    dry_run = DryRun(graph, ReadOnlyLedger(None), Prices.load(None))
    asked = []
    for sample in samples:
        shown = sample.without(*evidence_left_out(given), *([] if given["reference"] else ["reference"]))
        for node, call in run_sync(dry_run.prompts(shown)):
            messages = [{"role": ROLES.get(m.type, m.type), "text": content_text(m.content)} for m in call.messages]
            about = {"sample": sample.id, "node": node, "prompt": call.prompt, "form": call.form}
            asked.append({**about, "messages": messages})
    return asked, dry_run.invented


def _message_lines(asked: list[dict[str, Any]], invented: bool) -> Iterator[str]:
    samples = len({one["sample"] for one in asked})
    told = f"{counted(len(asked), 'call')} for {counted(samples, 'sample')}; nothing was sent"
    yield f"{told}: what a judge said before and a prompt quotes is invented" if invented else told
    for number, one in enumerate(asked, 1):
        yield ""
        yield f"call {number}: sample {one['sample']}, node {one['node']}, {one['prompt'] or 'no template'}"
        for message in one["messages"]:
            yield f"--- {message['role']}"
            yield message["text"]
