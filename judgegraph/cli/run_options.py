"""The options of `judgegraph run`, in groups, and what is made of them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from judgegraph.cli.options import CRITIC_HELP, SETTING_HELP

Command = TypeVar("Command", bound=Callable[..., Any])
GROUPS = {  # heading of --help -> options; what stands nowhere comes last
    "What is judged, and by whom": (
        "criteria", "judge", "base_url", "temperature", "max_tokens", "critic", "settings", "fields", "limit",
    ),
    "Where it is kept": ("out", "ledger", "retry_failed", "trace", "redact"),
    "How fast": ("concurrency", "rpm", "tpm", "timeout", "patience", "max_prompt"),
    "How much it may cost": ("budget_calls", "budget_tokens", "budget_usd", "prices"),
}  # fmt: skip


class Finite(click.FloatRange):
    """A range without nan and infinity, which compare with no bound as one expects."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


class TokenCap(click.IntRange):
    """A whole number, 0 or more; "none" is 0."""

    def __init__(self) -> None:
        super().__init__(0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return int(super().convert(0 if str(value).strip().lower() == "none" else value, param, ctx))


class Grouped(click.Command):
    """A command with so many options that --help has them under headings."""

    groups = GROUPS

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        records = {p.name: record for p in options if (record := p.get_help_record(ctx)) is not None}
        for heading, names in self.groups.items():
            if found := [records.pop(name) for name in names if name in records]:
                with formatter.section(heading):
                    formatter.write_dl(found)
        with formatter.section("How it ends"):
            formatter.write_dl(list(records.values()))


def address(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.match(r"https?://[^/]", value, re.IGNORECASE):
        raise click.BadParameter("it starts with http:// or https://, such as http://localhost:8000/v1", ctx, param)
    return value


def folder(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty; name a folder", ctx, param)
    return value


SUBJECT = (
    click.option("-c", "--criteria", metavar="SET", help="A criteria set: a built-in name or a YAML or JSON file."),
    click.option("-j", "--judge", help="embedded, openai:MODEL, or PROVIDER:MODEL.  [default: embedded]"),
    click.option(
        "--base-url", metavar="URL", callback=address,
        help="Of any OpenAI-compatible server; then --judge openai:MODEL.",
    ),
    click.option(
        "--temperature", metavar="T", type=Finite(0),
        help="Of calls whose agent or reader names none; weighted scores are read at 0 and sampled at 1.",
    ),
    click.option(
        "--max-tokens", metavar="N", type=TokenCap(),
        help="At most so many tokens in a reply; 0 or none sends no limit.  [default: what its form needs, generously]",
    ),
    click.option("--critic", metavar="NAME", help=CRITIC_HELP),
    click.option("-s", "--setting", "settings", multiple=True, metavar="KEY=VALUE", help=SETTING_HELP),
    click.option("-f", "--field", "fields", multiple=True, metavar="FIELD=COLUMN", help="Read FIELD from COLUMN."),
    click.option("-n", "--limit", metavar="N", type=click.IntRange(1), help="At most so many samples."),
)  # fmt: skip
_PLACE = (
    click.option(
        "-o", "--out", type=click.Path(file_okay=False), callback=folder,
        help="A folder for the run; the same command goes on where it was stopped.",
    ),
    click.option(
        "--ledger", type=click.Path(dir_okay=False),
        help="A file of all model calls, which runs may share: what it holds is not paid for again."
        "  [default: ledger.sqlite in --out]",
    ),
    click.option("--retry-failed", is_flag=True, help="Judge again what failed in the run in --out, and nothing else."),
    click.option(
        "--trace/--no-trace", default=True, help="Record in --out what was done for each sample, and when.",
        show_default=True,
    ),
    click.option(
        "--redact", type=click.Choice(["texts"]), multiple=True,
        help="Keep no prompt and no message of an error in the trace.",
    ),
)  # fmt: skip
PACE = (
    click.option(
        "--concurrency",
        metavar="N",
        type=click.IntRange(1),
        default=64,
        help="Samples, and calls per judge, in flight at once.",
    ),
    click.option(
        "--rpm", metavar="N", type=click.IntRange(1), help="Requests per minute to a judge; of several, to each."
    ),
    click.option(
        "--tpm", metavar="N", type=click.IntRange(1), help="Tokens per minute to and from a judge; of several, of each."
    ),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=Finite(0, min_open=True),
        default=600.0,
        help="For one sample, retries included.",
    ),
    click.option(
        "--max-prompt",
        metavar="N",
        type=click.IntRange(1),
        help="Characters of one prompt at most; a longer one is not sent, and its scores are too_large."
        "  [default: 400,000]",
    ),
    click.option(
        "--patience",
        metavar="SECONDS",
        type=Finite(0),
        help="For a server that is out: the run pauses so long.  [default: 600; 10 where it never answered]",
    ),
)
COST = (
    click.option("--budget-calls", metavar="N", type=click.IntRange(1), help="At most so many model calls."),
    click.option(
        "--budget-tokens", metavar="N", type=click.IntRange(1), help="At most so many tokens, of prompts and replies."
    ),
    click.option("--budget-usd", metavar="USD", type=Finite(0, min_open=True), help="At most so many US dollars."),
    click.option("--prices", type=click.Path(exists=True, dir_okay=False), help="A price table of your own, by model."),
)
_END = (
    click.option(
        "--grace", metavar="SECONDS", type=Finite(0), default=10.0,
        help="After Ctrl-C, for the samples in flight; what is not finished by then is left for the next run.",
    ),
    click.option(
        "--coverage", "gate", type=Finite(0, 1), metavar="SHARE",
        help="From 0 to 1: exit code 4 where less than this share of the scores could be read.",
    ),
    click.option("--strict", is_flag=True, help="Stop at the first bad row, before any call."),
    click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object."),
)  # fmt: skip


def run_options(command: Command) -> Command:
    """Decorates a command with all of them."""
    for option in reversed((*SUBJECT, *_PLACE, *PACE, *COST, *_END)):
        command = option(command)
    return command


def check(given: Mapping[str, Any]) -> None:
    """Refuse options that make no sense together.

    Raises:
        UsageError: with what to do.
    """
    if given["base_url"] is not None and given["judge"] in (None, "embedded"):
        raise click.UsageError("--base-url names a server for a model: give it too, as --judge openai:MODEL")
    if given["retry_failed"]:
        if not given["out"]:
            raise click.UsageError("--retry-failed takes up a run: name its folder with --out")
        if not (Path(given["out"]) / "manifest.json").exists():
            raise click.UsageError(f"--retry-failed takes up a run, and {given['out']} holds none")


def columns(given: Mapping[str, Any]) -> dict[str, str]:
    """Field of a sample -> column, of --field."""
    pairs = [text.partition("=") for text in given["fields"]]
    for pair in pairs:
        if not pair[1]:
            raise click.UsageError(f"--field takes FIELD=COLUMN, got {''.join(pair)!r}")
    return {name: column for name, _, column in pairs}


def evaluation(given: Mapping[str, Any]) -> dict[str, Any]:
    """What `evaluate` takes, of the command line."""
    from judgegraph.calls.budget import Budget

    cap = {name: given[f"budget_{name}"] for name in ("calls", "tokens", "usd")}
    named = {"rpm": "rpm", "tpm": "tpm", "patience": "patience", "prompt": "max_prompt"}
    pace = {name: given[option] for name, option in named.items() if given.get(option) is not None}
    plain = ("out", "ledger", "concurrency", "timeout", "prices", "retry_failed")
    if pace:
        from judgegraph.calls.limits import Limits
    return {
        **{name: given[name] for name in plain},
        **{name: given[name] for name in ("trace", "redact", "grace") if name in given},  # a plan and a probe keep none
        "budget": Budget(**cap) if any(value is not None for value in cap.values()) else None,
        "limits": Limits(**pace) if pace else None,
    }
