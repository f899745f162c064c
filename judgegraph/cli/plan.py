"""`judgegraph plan`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.main import FAILURE, OVER_BUDGET, wide
from judgegraph.cli.options import (
    COST,
    PACE,
    SUBJECT,
    Command,
    Grouped,
    check,
    columns,
    criteria_of,
    data_format,
    evaluation,
    evidence_left_out,
    examples,
    folder,
    graph_of,
    judge_of,
    refuse_unwired,
)
from judgegraph.errors import printable
from judgegraph.evidence import content_text
from judgegraph.prompts import Prompt, known, load
from judgegraph.views.blocks import counted

if TYPE_CHECKING:
    from judgegraph.data.samples import Samples
    from judgegraph.planning.forecast import Forecast


EVERY = 5.0  # seconds between two lines of progress


def as_run(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Options that `judgegraph run` has too."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.command(cls=Grouped, context_settings={"show_default": True})
@click.argument("method", required=False)
@click.argument("data", required=False, type=click.Path(exists=True, dir_okay=False))
@as_run(*SUBJECT, examples)
@click.option(
    "--alignment", metavar="RUN", type=click.Path(exists=True, file_okay=False),
    help="Say instead, of a run's folder and without METHOD and DATA, which assistants the plan of that run assigned "
    "to which criterion, and what came of asking them.",
)  # fmt: skip
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), callback=folder,
    help="A run's folder: what it has finished and what its ledger holds is left out. Only a pilot writes there.",
)  # fmt: skip
@click.option("--ledger", type=click.Path(dir_okay=False), help="A file of model calls.  [default: the one in --out]")
@as_run(*PACE, *COST)
@data_format
@click.option("--strict", is_flag=True, help="Stop at the first bad row.")
@click.option(
    "--pilot", metavar="N", type=click.IntRange(1),
    help="Judge the first N samples, which is paid for, and project the rest; needs --ledger or --out.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan(
    method: str | None, data: str | None, alignment: str | None, pilot: int | None, as_json: bool, **given: Any
) -> None:
    """Say what running METHOD over DATA will ask for and cost, before anything is spent.

    METHOD is a name (see `judgegraph methods`), a graph file, or file.py:factory. It, DATA and options are those of
    `judgegraph run`; what says how fast it goes and how much it may cost binds
    a pilot. Calls that depend on no reply are exact; for the others it says the lowest and the highest number. Where
    code of your own decides what is asked, both hold as far as several kinds of invented replies show. What the
    ledger holds is not counted as cost. Without --pilot nothing is sent for the calls of agents, and of nodes that
    ask with jg.ask, no key is needed, and no file is written; the nodes of a graph of your own do run, so one that
    calls a model some other way really calls it.

    Exit codes: 0, 1 failure, an incomplete plan or a pilot without any score, 2 usage, 3 the budget ended the pilot.
    """
    from judgegraph.data.load import load
    from judgegraph.meta.cells import before_a_run
    from judgegraph.planning.forecast import plan as planned
    from judgegraph.runs.identity import details

    if alignment is not None:
        from judgegraph.cli.lists import print_alignment

        print_alignment(alignment, as_json)
        return
    if method is None or data is None:
        raise click.UsageError(f"Missing argument '{'METHOD' if method is None else 'DATA'}'.")
    given["retry_failed"] = False
    check(given)
    if pilot and not (given["ledger"] or given["out"]):
        raise click.UsageError(
            "--pilot pays for its calls: name --ledger FILE or --out FOLDER for them, where the run will find them"
        )
    run = evaluation(given)
    del run["retry_failed"]
    samples = load(
        data, fields=columns(given), limit=given["limit"], strict=given["strict"], format=given["data_format"]
    )
    judge = judge_of(given["judge"], given["base_url"], given["temperature"], given["max_tokens"])
    graph = graph_of(
        method, criteria=criteria_of(given), judge=judge, settings=given["settings"], critic=given["critic"]
    )  # fmt: skip
    refuse_unwired(graph)
    for line in before_a_run(samples, details(graph)["criteria"]):
        click.echo(printable(line), err=True)
    forecast = planned(graph, samples, **run, pilot=pilot or 0, on_sample=_teller(as_json))
    if as_json:
        rejected = [rejection.model_dump() for rejection in samples.rejected]
        click.echo(json.dumps({**forecast.to_dict(), "rejected": rejected}, indent=1))
    elif not _only_bad(forecast, samples):
        from judgegraph.views.plan import plan as laid_out
        from judgegraph.views.terminal import show

        show(laid_out(forecast, samples.rejected, given["out"]))
    sys.exit(_ended(forecast, samples))


def _only_bad(forecast: Forecast, samples: Samples) -> bool:
    return bool(samples.rejected) and not (forecast.samples or forecast.finished)


def _ended(forecast: Forecast, samples: Samples) -> int:
    """The exit code; data without a single sample is told."""
    if _only_bad(forecast, samples):
        rows = len(samples.rejected)
        few = "the only row is" if rows == 1 else f"all {rows:,} rows are"
        click.echo(printable(f"{samples.rejected[0]} ({few} bad: there is nothing to plan)"), err=True)
        return FAILURE
    pilot = forecast.pilot
    if pilot is not None and pilot.over_budget:
        return OVER_BUDGET
    return 0 if forecast.complete and not (pilot and pilot.failure) else FAILURE


def _teller(quiet: bool) -> Callable[[int], None] | None:
    """A line now and then, for a plan that takes long."""
    if quiet:
        return None
    last = time.monotonic()

    def tell(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            click.echo(f"planned {counted(done, 'sample')} so far", err=True)

    return tell


# `judgegraph probe`.


NAMES, PADDINGS = ("swap", "padded", "self"), ("repeated", "polite", "restated")


@click.command(cls=Grouped, context_settings={"show_default": True})
@click.argument("method")
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@as_run(*SUBJECT, examples)
@click.option(
    "-p", "--probe", "probes", multiple=True, type=click.Choice(NAMES), help="Which; repeat for more.  [default: all]"
)
@click.option(
    "--padding", "kinds", multiple=True, type=click.Choice(PADDINGS), help="Of padded copies.  [default: all]"
)
@click.option("--own", multiple=True, metavar="SYSTEM", help="A meta.system that is the judge's own model.")
@click.option("--confidence", type=click.FloatRange(0.5, 0.999), default=0.95, help="Of intervals.")
@click.option("--resamples", metavar="N", type=click.IntRange(100), default=1000, help="Of the bootstrap.")
@click.option(
    "-o", "--out", type=click.Path(file_okay=False), callback=folder,
    help="A folder for the run; the same command goes on where it was stopped.",
)  # fmt: skip
@click.option("--ledger", type=click.Path(dir_okay=False), help="A file of model calls that are not paid for again.")
@as_run(*PACE, *COST)
@data_format
@click.option("--strict", is_flag=True, help="Stop at the first bad row.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@wide
def probe(method: str, data: str, **given: Any) -> None:
    """Measure how far METHOD's judge is moved by what should not move it, on the samples of DATA.

    \b
    swap    pairs with their two sides exchanged: does the verdict stay?
    padded  copies that are longer and say no more: do they score higher, or win against their original?
    self    outputs of the judge's own model (meta.system): higher than others that people (human) score alike?

    METHOD, DATA and options are those of `judgegraph run`. Each sample is judged once as it is, and once more for each
    copy: a single output once for each kind of padding, a pair once exchanged and twice for each kind.

    Exit codes: 0, 1 failure or nothing judged, 2 usage, 3 the budget ended it.
    """
    from judgegraph.data.load import load
    from judgegraph.meta.probes import probe as measured
    from judgegraph.views.probes import probes
    from judgegraph.views.terminal import show

    check(given | {"retry_failed": False, "gate": None})
    samples = load(
        data, fields=columns(given), limit=given["limit"], strict=given["strict"], format=given["data_format"]
    )
    judge = judge_of(given["judge"], given["base_url"], given["temperature"], given["max_tokens"])
    graph = graph_of(
        method, criteria=criteria_of(given), judge=judge, settings=given["settings"], critic=given["critic"]
    )  # fmt: skip
    refuse_unwired(graph)
    found = measured(
        graph, samples, given["probes"] or NAMES, kinds=given["kinds"] or PADDINGS, own=given["own"],
        confidence=given["confidence"], resamples=given["resamples"], **_settings(given),
    )  # fmt: skip
    if given["as_json"]:
        click.echo(json.dumps(found.to_dict() | {"rejected": [r.model_dump() for r in samples.rejected]}, indent=1))
    else:
        show(probes(found))
        if samples.rejected:
            click.echo(f"{counted(len(samples.rejected), 'row')} rejected; judgegraph run says which", err=True)
    if found.state == "over_budget":
        sys.exit(OVER_BUDGET)
    if not found.judged:
        click.echo(printable(f"nothing was judged: {found.why}"), err=True)
        sys.exit(FAILURE)


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    settings = evaluation(given | {"retry_failed": False})
    del settings["retry_failed"]
    return settings


# `judgegraph prompts`.


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
    from judgegraph.compiled import agents_of
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
    from judgegraph.compiled import run_sync
    from judgegraph.data.load import load as load_samples
    from judgegraph.models.prices import Prices
    from judgegraph.planning.dry_run import DryRun

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
