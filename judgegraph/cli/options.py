"""What several commands take: a method with its settings, and a judge."""

from __future__ import annotations

import inspect
import math
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

import click
import yaml

from judgegraph.cli.main import wide
from judgegraph.errors import ConfigError, DataError, JudgegraphError, leaves, meant_of, one_line, printable
from judgegraph.evidence import EVIDENCE
from judgegraph.registry import factory

if TYPE_CHECKING:
    from judgegraph.prompts.criteria import CriteriaSet

# Folders that a command takes for a run's, though they are another's.


def refuse_traces(path: str) -> None:
    """Say what can be done with a folder of `jg.tracing`, where only a run's will do.

    Raises:
        DataError: it is such a one.
    """
    from judgegraph.runs.folder import MANIFEST
    from judgegraph.trace.record import SPANS
    from judgegraph.views.trace import quoted

    if (Path(path) / SPANS).exists() and not (Path(path) / MANIFEST).exists():
        name = quoted(path)
        raise DataError(
            f"{path} holds traces and no run, as `jg.tracing` writes them: it has no scores. "
            f"`judgegraph trace {name}` shows them, `judgegraph export {name} --otlp URL` sends them"
        )


# The text of a setting on the command line, read as the setting's annotation says.


SWITCHES = {"true": True, "yes": True, "false": False, "no": False}
NOTHING = ("none", "null", "")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?", re.IGNORECASE)


def value_of(text: str, hint: Any) -> Any:
    """A setting's value; text that its annotation cannot be read from stays text, for the check to refuse.

    Args:
        hint: an annotation. Switches are true, false, yes or no; a list is "a,b" or "[a, b]"; what has no
            annotation is read as YAML.
    """
    kinds, word = leaves(hint), text.strip()
    listed = [value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
    if Any in kinds:
        return _yaml(text)
    if found := [value for value in listed if str(value) == word]:
        return found[0]
    if NoneType in kinds and word.lower() in NOTHING and not any(map(_is_agent, kinds)):  # of an agent it is a name
        return None
    if bool in kinds and word.lower() in SWITCHES:
        return SWITCHES[word.lower()]
    if int in kinds and _WHOLE.fullmatch(word):
        return int(word)
    if float in kinds and _NUMBER.fullmatch(word):
        return float(word)
    lists = [kind for kind in kinds if _is_list(kind)]
    if any(_holds_text(kind) for kind in lists):
        return _names(word)
    return _yaml(text) if lists and str not in kinds else text


def unreadable(hint: Any) -> str:
    """Why no text can be such a setting, "" where one can."""
    kinds = leaves(hint)
    simple = (str, int, float, bool, Any)
    if any(kind in simple or get_origin(kind) is Literal or _is_list(kind) for kind in kinds):
        return ""
    return "takes an agent, only from Python" if any(map(_is_agent, kinds)) else "takes an object, only from Python"


def _is_list(kind: Any) -> bool:
    return (get_origin(kind) or kind) in (list, tuple, set, dict, Sequence, Mapping)


def _holds_text(kind: Any) -> bool:
    members = get_args(kind)
    return len(members) == 1 and str in leaves(members[0])


def _is_agent(kind: Any) -> bool:
    return bool(getattr(kind, "_is_protocol", False)) and callable(getattr(kind, "__call__", None))  # noqa: B004


def _names(word: str) -> Any:
    if word.startswith("["):
        return _yaml(word)
    return [name.strip() for name in word.split(",") if name.strip()]


def _yaml(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


SETTING_HELP = "A setting of the method, as KEY=VALUE; repeat for more (-s each=true -s samples=8)."
CRITIC_HELP = "The critic of a method that has one, by name (see `judgegraph agents`); the same as -s critic=NAME."
OPTIONS = {"judge": "-j/--judge", "criteria": "-c/--criteria"}  # settings with an option of their own


def graph_of(
    method: str, *, criteria: str | CriteriaSet | None, judge: Any, settings: Sequence[str],
    critic: str | None = None, judged: Callable[[Any], Any] = lambda build: None,
) -> Any:  # fmt: skip
    """The compiled graph of METHOD with what the command line says; what is None is left to METHOD's default.

    Args:
        judged: gives the criteria of the data, for a method (what builds it) that takes criteria and is given none.

    Raises:
        ConfigError: no such method; a line for each setting that it does not take; a factory that fails, or makes
            no graph.
    """
    from judgegraph.graphs.settings import faults

    build = factory(method)
    hints = _hints(build)
    if critic is not None:
        if not _takes(hints, "critic"):
            raise ConfigError(f"{method} has no critic to swap: leave --critic out; sageval has one, for example")
        settings = (*settings, f"critic={critic}")
    if criteria is None and "criteria" in (hints or {}):
        criteria = judged(build)
    given, wrong = _read(method, hints, settings)
    if "critic" in given and critic is not None:
        given["critic"] = critic  # always a name, whatever a factory's annotation reads from the text
    options = {key: value for key, value in (("criteria", criteria), ("judge", judge)) if value is not None}
    wrong += [f"{method} takes no {key}: leave {OPTIONS[key]} out" for key in options if not _takes(hints, key)]
    wrong += faults(method, hints or {}, given | options)
    if wrong:
        raise ConfigError("\n".join(wrong))
    return compiled(method, build, given | options)


def criteria_of(given: Mapping[str, Any]) -> str | CriteriaSet | None:
    """Of --criteria, with the examples of --examples.

    Raises:
        UsageError: examples without criteria. ConfigError: the file has none for them.
    """
    chosen: str | None = given["criteria"]
    if given["examples"] is None:
        return chosen
    if chosen is None:
        raise click.UsageError("--examples are of criteria: name these too, as --criteria SET")
    from judgegraph.data.load import load, with_examples

    try:
        return with_examples(chosen, load(given["examples"], fields=columns(given)))
    except ConfigError as error:
        raise ConfigError(f"--examples {given['examples']}: {error}") from None


def judge_of(
    judge: str | None, base_url: str | None, temperature: float | None = None, max_tokens: int | None = None
) -> Any:  # fmt: skip
    """An Endpoint where the command line says more than its name; None where it says nothing."""
    if base_url is None and temperature is None and max_tokens is None:
        return judge
    from judgegraph.calls import Endpoint

    return Endpoint(model=judge or "embedded", base_url=base_url, temperature=temperature, max_tokens=max_tokens)


def _read(method: str, hints: dict[str, Any] | None, settings: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Setting -> value, and a line for each that is none."""
    given: dict[str, Any] = {}
    wrong = []
    for text in settings:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise click.UsageError(f"--setting takes KEY=VALUE, got {text!r}")
        hint = (hints or {}).get(name, Any)
        if name in OPTIONS:
            wrong.append(f"{method}: {name}: it has an option of its own, {OPTIONS[name]}")
        elif not _takes(hints, name):
            told = meant_of(name, sorted(set(hints or {}) - set(OPTIONS)))
            wrong.append(f"{method} has no setting {one_line(name, 80)}{told}")
        elif name in given:
            wrong.append(f"{method}: {name}: given twice")
        elif why := unreadable(hint):
            wrong.append(f"{method}: {name}: {why}")
        else:
            given[name] = value_of(value, hint)
    return given, wrong


def _takes(hints: Mapping[str, Any] | None, name: str) -> bool:
    return hints is None or name in hints


def _hints(build: Any) -> dict[str, Any] | None:
    """Setting -> its annotation; a factory with `**settings` passes them on to the `builder` of its module.

    None where nothing is known of what a factory takes.
    """
    from judgegraph.graphs.settings import hints_of

    kinds = {p.kind for p in inspect.signature(build).parameters.values()}
    found = dict.fromkeys(_parameters(build), Any) | hints_of(build)
    if inspect.Parameter.VAR_KEYWORD in kinds:
        made = getattr(inspect.getmodule(build), "builder", None)
        if made is None or made.__module__ != build.__module__:
            return None
        found = {**found, **dict.fromkeys(_parameters(made), Any), **hints_of(made)}
        return {name: hint for name, hint in found.items() if name in {*_parameters(build), *_parameters(made)}}
    return {name: hint for name, hint in found.items() if name in _parameters(build)}


def _parameters(function: Any) -> tuple[str, ...]:
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(name for name, p in inspect.signature(function).parameters.items() if p.kind in plain)


def compiled(method: str, build: Any, given: dict[str, Any]) -> Any:
    """What the factory makes, compiled where it is not; its own mistakes are told with where they are."""
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel

    try:
        inspect.signature(build).bind(**given)
    except TypeError as error:
        raise ConfigError(f"{method}: {error}; give it as -s KEY=VALUE") from None
    try:
        made = build(**given)
        if isinstance(made, StateGraph):
            made = made.compile(name=getattr(build, "__name__", method))
    except JudgegraphError:
        raise
    except (Exception, SystemExit) as error:  # a factory does not end the command
        frames = traceback.extract_tb(error.__traceback__)
        at = [f for f in frames if f.filename == getattr(inspect.getmodule(build), "__file__", None)] or frames
        where = f"{at[-1].filename}, line {at[-1].lineno}"
        raise ConfigError(f"{method} raised {type(error).__name__}: {one_line(error)} ({where})") from error
    if not isinstance(made, Pregel):
        if inspect.iscoroutine(made):
            made.close()
        raise ConfigError(f"{method} returned {type(made).__name__}; expected a compiled LangGraph, or a StateGraph")
    return made


# The options of `judgegraph run`, in groups, and what is made of them.


Command = TypeVar("Command", bound=Callable[..., Any])
GROUPS = {  # heading of --help -> options; what stands nowhere comes last
    "What is judged, and by whom": (
        "criteria", "judge", "base_url", "temperature", "max_tokens", "critic", "settings", "fields",
        "examples", "data_format", "limit",
        "reference", "contexts", "turns", "images", "facts",
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
    click.option(
        "--reference/--no-reference", default=True, show_default=True,
        help="Show judges, critics and assistants the reference of a sample that has one.",
    ),
    *(
        click.option(f"--{name}/--no-{name}", default=True, show_default=True, help=f"Show them its {what}.")
        for name, what in (
            ("contexts", "retrieved passages"), ("turns", "messages and tool calls"), ("images", "images"),
            ("facts", "facts"),
        )
    ),
)  # fmt: skip
DATA_FORMATS = (
    "jsonl", "json", "csv", "tsv", "parquet", "openai", "langchain", "langsmith", "otel", "openinference", "langfuse",
    "atif",
)  # fmt: skip
examples = click.option(
    "--examples", metavar="FILE", type=click.Path(exists=True, dir_okay=False),
    help="Samples that people judged, of which three per criterion of --criteria are shown to its judges, read as DATA "
    "is; none is shown beside its own text.",
)  # fmt: skip
data_format = click.option(
    "--format", "data_format", type=click.Choice(DATA_FORMATS), metavar="NAME",
    help="How DATA is read, whatever its name: jsonl, json, csv, tsv, parquet; or runs of agents: openai, langchain, "
    "langsmith, otel, openinference, langfuse, atif.  [default: by its name]",
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
        help="Characters of one prompt at most; a longer one is not sent, and its scores are too large."
        "  [default: 400,000]",
    ),
    click.option(
        "--patience",
        metavar="SECONDS",
        type=Finite(0),
        help="For a server that is out: the run pauses so long.  [default: 600; before its first answer 10, or 120 "
        "where it says 502, 503 or 504; 120 where it says 429]",
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
    wide,
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
    found: dict[str, str] = {}
    for name, _, column in pairs:
        if found.setdefault(name, column) != column:
            cure = "; several people's judgements of one criterion are a list in one column of JSONL, such as [4, 5]"
            raise click.UsageError(
                f"--field names two columns for {name}: {found[name]!r} and {column!r}; give one"
                f"{cure if name.startswith('human.') else ''}"
            )
    return found


def evidence_left_out(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Evidence beside the reference that the command line leaves out."""
    return tuple(name for name in EVIDENCE if given.get(name) is False)


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
        **{
            name: given[name] for name in ("trace", "redact", "grace", "reference") if name in given
        },  # a plan and a probe keep none
        **({"without": left_out} if (left_out := evidence_left_out(given)) else {}),
        "budget": Budget(**cap) if any(value is not None for value in cap.values()) else None,
        "limits": Limits(**pace) if pace else None,
    }


def refuse_unwired(graph: Any) -> None:
    """Before a run: a graph that is not wired is refused, and a warning is told on stderr.

    What templates leave out is told once, at the run's end, with how often a sample had it.

    Raises:
        WiringError: it is not wired.
    """
    from judgegraph.wiring.check import refuse

    for finding in refuse(graph):
        if finding.code == "unfit-template":
            continue
        click.echo(printable(f"warning: {finding}"), err=True)
