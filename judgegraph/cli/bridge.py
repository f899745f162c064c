"""`judgegraph bridge`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgegraph.cli.main import FAILURE, OVER_BUDGET
from judgegraph.cli.options import COST, PACE, SUBJECT, Finite, Grouped, check, columns, folder, judge_of
from judgegraph.cli.plan import as_run
from judgegraph.cli.run import evaluated
from judgegraph.errors import counted, printable, status_text

if TYPE_CHECKING:
    from judgegraph.bridging.bridge import Branched, Bridge, Gathered
    from judgegraph.runs.run import Run


VERDICTS = {"a": "A", "b": "B", "tie": "tie"}
WHO = (*SUBJECT[1:3], SUBJECT[4], *SUBJECT[7:9])  # judge, address, tokens, fields, limit


class Bridging(Grouped):
    """Its options under headings."""

    groups = {
        "What is read": ("format", "fields", "labels", "scale", "origins", "branching", "limit"),
        "By whom it is written and judged": (
            "judge", "writer_judge", "base_url", "max_tokens", "rewrite", "points",
        ),
        "Where it goes": ("to", "shares", "seed", "yes", "dry_run"),
        "Where the run is kept": ("out", "ledger", "retry_failed"),
        "How fast": ("concurrency", "rpm", "tpm", "timeout", "patience", "max_prompt"),
        "How much it may cost": ("budget_calls", "budget_tokens", "budget_usd", "prices"),
    }  # fmt: skip


@click.command(cls=Bridging, context_settings={"show_default": True})
@click.argument("data", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("--as", "format", metavar="FORMAT", help="autoj, autoj-critiques, pandalm, prometheus or plain.  "
              "[default: told by its columns]")  # fmt: skip
@click.option("--label", "labels", multiple=True, metavar="WORD=VERDICT", help="What a label of a plain file means: A, "
              "B or tie, as in --label 0=A; repeat for each.")  # fmt: skip
@click.option(
    "--scale", metavar="LOW-HIGH", help="Of the scores in a plain file without a column 'scale', such as 1-10."
)
@click.option("--origin", "origins", multiple=True, metavar="TEXT", help="Where DATA comes from, and its licence, for "
              "the data card; once for each DATA, then for each --branching, in their order.")  # fmt: skip
@click.option("--branching", multiple=True, metavar="RUN", type=click.Path(exists=True, file_okay=False),
              help="A run of fennec, whose criteria, judgements and corrections join; may be repeated.")  # fmt: skip
@as_run(*WHO)
@click.option("--writer-judge", metavar="JUDGE", help="Who writes criteria and guidelines.  [default: --judge]")
@click.option("--rewrite", is_flag=True, help="Write criterion and guideline anew also where a record brings its own.")
@click.option("--points", type=Finite(0, 4), default=0.5, help="Of 1-5: how far off a single response's score may be "
              "when it is judged anew.")  # fmt: skip
@click.option("--to", metavar="FOLDER", type=click.Path(file_okay=False), callback=folder,
              help="Write the training set, as a new folder; without it nothing but the run is written.")  # fmt: skip
@click.option("--shares", metavar="V,T", default="0.05,0.05", help="Of queries, for validation and for test.")
@click.option("--seed", type=int, default=0, help="Of the splits.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Read, name the rejects, say what would be asked; ask and write nothing.")
@click.option("-o", "--out", type=click.Path(file_okay=False), callback=folder,
              help="A folder for the run; the same command goes on where it was stopped.")  # fmt: skip
@click.option("--ledger", type=click.Path(dir_okay=False), help="A file of model calls that are not paid for again.")
@click.option("--retry-failed", is_flag=True, help="Judge again what failed in the run in --out, and nothing else.")
@as_run(*PACE, *COST)
@click.option("--strict", is_flag=True, help="Stop at the first bad row, before any call.")
@click.option("--all", "every", is_flag=True, help="List every reject.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with every reject.")
def bridge(data: tuple[str, ...], **given: Any) -> None:
    """Make training data of the foreign judgements in DATA, and of runs of fennec, for a judge that works as Fennec.

    A judgement is a verdict on two responses, or a score of one on any scale. A judge writes the criterion and the
    guideline it may have been made by, from query, responses and judgement; then each is judged anew by these, without
    the judgement in view. What does not hold is rejected with its reason: another verdict, another score, or one that
    changes with the order of the responses.

    Files of Auto-J, PandaLM and Prometheus are known by their columns. Of any other, name the columns: -f
    query=question -f output=answer_a -f rival=answer_b -f verdict=winner; of scores -f score=rating --scale 1-10.
    Fields: id, query, source, reference, output, rival, verdict, score, rival_score, scale, reason, judge, criterion,
    definition, guideline.

    Counts and rejects are printed before anything is written. --to FOLDER is a new folder with chat-format rows in
    train, validation and test, split by query, and a data card; `datasets` loads it, TRL's trainers take it as it is.

    Exit codes: 0, 1 failure or no judgement holds, 2 usage, 3 the budget ended it, 130 or 143 stopped.
    """
    given.update(trace=True, redact=(), grace=10.0, reference=True)
    _check(data, given)
    gathered, runs = _gathered(data, given), _branched(data, given)
    if given["dry_run"]:
        _plan(gathered, given)
        sys.exit(0 if runs or (gathered and gathered.samples) else FAILURE)
    run = _run(gathered, data, given) if gathered is not None and gathered.samples else None
    found = _bridged(gathered, run, runs, given)
    written = _shown(found, given)
    if given["as_json"]:
        where = {"out": given["out"], "written": str(written) if written else None}
        click.echo(json.dumps({**found.to_dict(), **where}, indent=1).replace("\x7f", "\\u007f"))
    if run is not None and run.manifest.get("state") == "over_budget":
        sys.exit(OVER_BUDGET)
    if not found.training_set.size:
        click.echo("no row came of it", err=True)
        sys.exit(FAILURE)
    if given["to"] and found.unfinished:
        sys.exit(FAILURE)


def _check(data: tuple[str, ...], given: dict[str, Any]) -> None:
    from judgegraph.bridging.bridge import refuse_used

    check(given)
    if not data and not given["branching"]:
        raise click.UsageError("name DATA, a file of judgements, or --branching RUN")
    many = len(data) + len(given["branching"])
    if len(given["origins"]) > many:
        raise click.UsageError(f"--origin is given once for each DATA and each --branching; there are {many}")
    if given["to"] and given["as_json"] and not given["yes"]:
        raise click.UsageError("--json asks nothing: give --yes too, to write the training set")
    if given["to"]:
        refuse_used(Path(given["to"]))
    given["parts"] = _shares(given["shares"])


def _shares(text: str) -> tuple[float, float]:
    try:
        validation, test = (float(part) for part in text.split(","))
    except ValueError:
        raise click.UsageError(f"--shares takes two numbers, such as 0.05,0.05; got {text!r}") from None
    if not (validation >= 0 and test >= 0 and validation + test < 1):
        raise click.UsageError(f"--shares: each is 0 or more, both together below 1; got {text!r}")
    return validation, test


def _gathered(data: tuple[str, ...], given: dict[str, Any]) -> Gathered | None:
    """What was read of the files.

    Raises:
        DataError: a bad row, with --strict; or a file in which there is none but bad ones, alone.
    """
    if not data:
        return None
    from judgegraph.bridging.bridge import gather
    from judgegraph.bridging.records import Reading, read_records
    from judgegraph.errors import DataError

    how = Reading(columns(given), _labels(given["labels"]), _scale(given["scale"]))
    records = []
    for at, path in enumerate(data):
        origin = given["origins"][at] if at < len(given["origins"]) else ""
        prefix = f"{at + 1}:" if len(data) > 1 else ""
        found = read_records(
            path, format=given["format"], how=how, limit=given["limit"], origin=origin, prefix=prefix
        )  # fmt: skip
        if given["strict"] and found.rejected:
            raise DataError(str(found.rejected[0]))
        records.append(found)
    gathered = gather(records)
    if not gathered.samples and not given["branching"]:
        first = next(one for rejects in gathered.rejects for one in rejects)
        others = f" (so are all of {gathered.read:,} rows: --dry-run --all lists them)" if gathered.read > 1 else ""
        if not given["dry_run"]:
            raise DataError(f"nothing to bridge: {first}{others}")
    return gathered


def _branched(data: tuple[str, ...], given: dict[str, Any]) -> list[Branched]:
    """The runs of --branching, before anything is paid for."""
    if not given["branching"]:
        return []
    from judgegraph.bridging.bridge import branched

    return branched(given["branching"], given["origins"][len(data) :])


def _labels(texts: tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for text in texts:
        word, equals, verdict = text.rpartition("=")
        if not equals or verdict.strip().lower() not in VERDICTS:
            raise click.UsageError(f"--label takes WORD=A, WORD=B or WORD=tie; got {text!r}")
        found[word] = VERDICTS[verdict.strip().lower()]
    return found


def _scale(text: str | None) -> Any:
    if text is None:
        return None
    from judgegraph.errors import ValueRefused
    from judgegraph.types import Scale

    try:
        return Scale.of(text)
    except ValueRefused:
        raise click.UsageError(f"--scale takes LOW-HIGH, such as 1-10; got {text!r}") from None


def _graph(given: dict[str, Any]) -> Any:
    from judgegraph.graphs.bridging import bridging

    judge = judge_of(given["judge"], given["base_url"], None, given["max_tokens"])
    return bridging(judge or "embedded", writer_judge=given["writer_judge"], rewrite=given["rewrite"])


def _plan(gathered: Gathered | None, given: dict[str, Any]) -> None:
    """What would be asked; nothing is asked, and nothing written."""
    from judgegraph.planning.forecast import plan
    from judgegraph.views.bridge import gathered as laid_out
    from judgegraph.views.plan import plan as plan_layout
    from judgegraph.views.terminal import show

    forecast = None
    if gathered is not None and gathered.samples:
        forecast = plan(_graph(given), gathered.samples, ledger=given["ledger"], prices=given["prices"])
    if given["as_json"]:
        rejects = [one.to_dict() for of in gathered.rejects for one in of] if gathered else []
        read = {"read": gathered.read, "to_bridge": len(gathered.samples)} if gathered else {"read": 0, "to_bridge": 0}
        asked = forecast.to_dict() if forecast else None
        click.echo(json.dumps({**read, "rejects": rejects, "plan": asked}, indent=1).replace("\x7f", "\\u007f"))
        return
    if gathered is not None:
        show(laid_out(gathered, given["every"]))
    if forecast is not None:
        click.echo("")
        show(plan_layout(forecast, [], given["out"]))
    click.echo("a dry run: nothing was asked, and nothing written")


def _run(gathered: Gathered, data: tuple[str, ...], given: dict[str, Any]) -> Run:
    from judgegraph.cli.options import refuse_unwired
    from judgegraph.wiring.check import destinations

    graph = _graph(given)
    refuse_unwired(graph)
    rejects = sum(map(len, gathered.rejects))
    for line in (f"{counted(gathered.read, 'judgement')} read, {rejects:,} of them rejected", *destinations(graph)):
        click.echo(printable(line), err=True)
    name = ", ".join(gathered.names[:3]) + (", ..." if len(data) > 3 else "")
    return evaluated(graph, gathered.samples, name, lambda: len(gathered.samples), given)


def _bridged(gathered: Gathered | None, run: Run | None, runs: list[Branched], given: dict[str, Any]) -> Bridge:
    from judgegraph.bridging.bridge import bridge as made

    return made(
        gathered, run, branching=runs, points=given["points"], shares=given["parts"], seed=given["seed"]
    )  # fmt: skip


def _shown(found: Bridge, given: dict[str, Any]) -> Path | None:
    """Counts and rejects first, then, where that is wanted and there is anything, the folder."""
    from judgegraph.bridging.bridge import write
    from judgegraph.views.bridge import bridge as laid_out
    from judgegraph.views.terminal import show

    if not given["as_json"]:
        show(laid_out(found, given["every"]))
    if not given["to"] or not found.training_set.size:
        return None
    if found.unfinished:
        click.echo(printable(f"{given['to']}: not written, as the run is {found.unfinished}"), err=True)
        return None
    if not given["yes"] and not click.confirm(f"Write the training set to {printable(given['to'])}?"):
        click.echo("nothing was written")
        return None
    written = write(found.training_set, given["to"], found.signature)
    if not given["as_json"]:
        click.echo(printable(f"{written}: {counted(found.training_set.size, 'row')}; README.md is the data card"))
    return written


# `judgegraph corrected`.


class Correcting(Grouped):
    """Its options under headings."""

    groups = {
        "As samples": ("out",),
        "By whom they are judged": ("judge", "base_url", "max_tokens", "criteria", "same_judge"),
        "Where it is kept": ("to", "ledger", "retry_failed"),
        "How fast": ("concurrency", "rpm", "tpm", "timeout", "patience", "max_prompt"),
        "How much it may cost": ("budget_calls", "budget_tokens", "budget_usd", "prices"),
    }  # fmt: skip


@click.command(cls=Correcting, context_settings={"show_default": True})
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--out", metavar="FILE.jsonl", type=click.Path(dir_okay=False), help="Write them as samples.")
@click.option(
    "-j", "--judge", help="Judge each correction and its original: another judge than the one that corrected."
)
@as_run(SUBJECT[0], SUBJECT[2], SUBJECT[4])
@click.option("--same-judge", is_flag=True, help="Let the judge that corrected judge its own work; the result says so.")
@click.option("--to", metavar="FOLDER", type=click.Path(file_okay=False), callback=folder, help="A folder for the "
              "judgements and gain.json; the same command goes on where it was stopped.")  # fmt: skip
@click.option("--ledger", type=click.Path(dir_okay=False), help="A file of model calls that are not paid for again.")
@click.option("--retry-failed", is_flag=True, help="Judge again what failed in the run in --to, and nothing else.")
@as_run(*PACE, *COST)
@click.option("--confidence", type=click.FloatRange(0.5, 0.999), default=0.95, help="Of intervals.")
@click.option("--resamples", metavar="N", type=click.IntRange(100), default=1000, help="Of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def corrected(run: str, **given: Any) -> None:
    """Judge what the corrections of RUN, a folder, gained; or write them as samples.

    With --judge each correction and its original are scored, each alone, by the criteria that the original was judged
    by (or those of --criteria): the gain overall and per criterion, with intervals and a sign test. Responses that came
    back unchanged are counted apart. What people said of the original does not travel along. The judge that corrected
    is refused, as it would judge its own work.

    With --out they become samples, `output` the correction and `rival` the original, with what they were corrected by
    in `meta.corrected`: judge them with `judgegraph run fennec-both FILE.jsonl` side by side in both orders, or
    fennec-apart each alone.

    Exit codes: 0, 1 failure, nothing was corrected or nothing scored, 2 usage, 3 the budget ended it.
    """
    from judgegraph.runs.run import Run

    _refuse(given)
    found = Run.load(run)
    if given["out"]:
        _write(run, found, given["out"], quiet=given["as_json"])
    if given["judge"]:
        sys.exit(_judge(run, found, given))


def _refuse(given: dict[str, Any]) -> None:
    if not given["out"] and not given["judge"]:
        raise click.UsageError("--judge NAME says what was gained, --out FILE.jsonl writes samples: give one or both")
    if given["out"] and Path(given["out"]).suffix != ".jsonl":
        raise click.UsageError(f"--out {given['out']}: it ends in .jsonl")
    idle = [f"--{name.replace('_', '-')}" for name in ("criteria", "base_url", "to", "ledger", "same_judge")
            if given[name]] if not given["judge"] else []  # fmt: skip
    if idle:
        raise click.UsageError(f"{', '.join(idle)} would do nothing without --judge")
    check({**given, "out": given["to"]})


def _write(run: str, found: Any, out: str, *, quiet: bool) -> None:
    from judgegraph.errors import ConfigError
    from judgegraph.views.blocks import counted

    statuses = found.summary().corrections
    if not statuses["ok"]:
        raise ConfigError(f"{run}: no response was corrected{_statuses_in_words(statuses)}")
    written = found.export_corrected(out)
    line = printable(f"{out}: {counted(written, 'correction')}{_statuses_in_words(statuses)}")
    click.echo(line, err=quiet)


def _statuses_in_words(statuses: Mapping[str, int]) -> str:
    failed = ", ".join(f"{count} {status_text(status)}" for status, count in statuses.items() if status != "ok")
    return f"; left out: {failed}" if failed else ""


def _judge(path: str, run: Any, given: dict[str, Any]) -> int:
    """Judges, prints, saves; gives the exit code."""
    from judgegraph.graphs.regrade import regrade
    from judgegraph.meta.corrected import corrections_of, gain_of, judge_of_graph, refuse_same
    from judgegraph.views.probes import correction_gain
    from judgegraph.views.terminal import show
    from judgegraph.wiring.check import destinations

    judge = judge_of(given["judge"], given["base_url"], None, given["max_tokens"])
    graph = regrade(judge, criteria=given["criteria"])
    same = refuse_same(run, graph, allowed=given["same_judge"])
    samples = corrections_of(run)
    for line in destinations(graph):
        click.echo(printable(line), err=True)
    settings = {**given, "out": given["to"], "grace": 10.0, "trace": True, "redact": (), "limit": None}
    judged = evaluated(graph, samples, f"corrections in {Path(path).name}", lambda: len(samples), settings)
    found = gain_of(
        run, judged, judge=judge_of_graph(graph), same_judge=same, confidence=given["confidence"],
        resamples=given["resamples"],
    )  # fmt: skip
    saved = found.save(given["to"]) if given["to"] else None
    if given["as_json"]:
        shown = json.dumps({**found.to_dict(), "saved": str(saved) if saved else None}, indent=1)
        click.echo(shown.replace("\x7f", "\\u007f"))
    else:
        show(correction_gain(found))
        if saved:
            click.echo(printable(f"saved in {saved}"))
    if judged.manifest.get("state") == "over_budget":
        return OVER_BUDGET
    return 0 if found.overall is not None and found.overall.n else FAILURE
