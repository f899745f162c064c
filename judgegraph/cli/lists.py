"""`judgegraph agents`."""

from __future__ import annotations

import inspect
import json
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from judgegraph.cli.options import address, judge_of
from judgegraph.errors import ConfigError, JudgegraphError, counted, one_line, printable
from judgegraph.models.prices import Prices
from judgegraph.prompts.criteria import CriteriaSet, as_yaml, criteria_set, known_sets
from judgegraph.registry import ABOUT, VARIANTS, Disabled, Part, Variant, builder_of, is_made, keys_of, part_of, parts

# `judgegraph criteria`.


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of YAML.")
@click.option(
    "--steps",
    "which",
    type=click.Choice(["missing", "all"]),
    help="First let a judge write the evaluation steps of criteria that have none, or of all.",
)
@click.option("-j", "--judge", help="Who writes them: embedded, openai:MODEL, or PROVIDER:MODEL.  [default: embedded]")
@click.option("--base-url", metavar="URL", callback=address, help="Of any OpenAI-compatible server.")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it to a file, a new one.")
def criteria(
    name: str | None, as_json: bool, which: Any, judge: str | None, base_url: str | None, out: Path | None
) -> None:  # fmt: skip
    """List the criteria sets, or print the set NAME as a criteria file.

    NAME is a built-in name or the path of a YAML or JSON file. With --steps the criteria have steps
    that a model wrote once from task and definition, as G-Eval does: write it to a file, read it, and give the
    file as --criteria.
    """
    if name is None and (which or out):
        raise click.UsageError(f"{'--steps' if which else '--out'} needs the NAME of a set, or its file")
    if out is not None and out.exists():
        raise click.UsageError(f"{out} is there already and stays as it is; choose another name")
    if name is None:
        sets = known_sets()
        lines = [f"{key:<14}{task}" for key, task in sets.items()]
        click.echo(json.dumps(sets, indent=1) if as_json else "\n".join(lines))
        return
    chosen, failed = criteria_set(name), False
    if which:
        chosen, failed = _with_steps(chosen, which, judge, base_url)
    as_text = json.dumps(chosen.model_dump(mode="json", exclude_defaults=True), indent=1) if as_json else ""
    if out is not None:
        try:
            out.write_text(as_text or as_yaml(chosen), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"--out {one_line(out)} cannot be written: {error.strerror}") from None
    else:
        click.echo(as_text or printable(as_yaml(chosen)), nl=as_json)
    if failed:
        sys.exit(1)


def _with_steps(chosen: CriteriaSet, which: Any, judge: str | None, base_url: str | None) -> tuple[CriteriaSet, bool]:
    """The set with the steps that a judge writes, and whether any are missing; what came of it is told on stderr."""
    from judgegraph.agents.steps import with_steps
    from judgegraph.compiled import run_sync

    judged_by = judge_of(judge, base_url) or "embedded"
    made, failed = run_sync(with_steps(chosen, judged_by, which=which))
    new = sum(one.steps != before.steps for one, before in zip(made.criteria, chosen.criteria, strict=True))
    told = (
        f"steps written of {new} of {counted(len(made.criteria), 'criterion', 'criteria')}; the set was {chosen.digest}"
    )
    click.echo(printable(f"{told} and is {made.digest} now" if new else f"{told} and is as it was"), err=True)
    for line in failed:
        click.echo(printable(line), err=True)
    return made, bool(failed)


# What `judgegraph agents`, `tools` and `methods` say of a part: a row each, as JSON or as lines of text.


WIDEST = 100  # columns of text: longer lines are hard to read


@dataclass(frozen=True, kw_only=True)
class Row:
    """One part, as it is listed.

    Attributes:
        name: what to write to get it: "PACKAGE:NAME" where two packages share the name, with "(MODULE:ATTRIBUTE)"
            behind where one package has it twice.
        reads, writes: keys of the state, "?" behind what may be missing, a text where they are none or not
            known before; None where nothing is known.
        disabled: why it cannot be used, "" where it can.
    """

    name: str
    kind: str
    package: str
    version: str
    about: str = ""
    reads: Sequence[str] | str | None = None
    writes: Sequence[str] | str | None = None
    disabled: str = ""


def rows(parts: Iterable[Part], told: Callable[[Part], dict[str, Any]]) -> list[Row]:
    """A row for each part, by package, ours first; what cannot be loaded says why.

    Args:
        told: what to say of a part: about, reads, writes. It may load it.
    """
    listed = tuple(parts)
    called = _names(listed)
    found = []
    for part in sorted(listed, key=lambda part: not part.ours):
        shown = called[part]
        common = {"kind": part.kind, "package": part.package, "version": part.version}
        try:
            with redirect_stdout(sys.stderr):  # what a package prints when it is imported is none of our answer
                found.append(Row(name=shown, **common, **told(part)))
        except Disabled as error:
            found.append(Row(name=shown, **common, disabled=error.reason))
        except JudgegraphError as error:
            found.append(Row(name=shown, **common, disabled=str(error)))
        except Exception as error:  # a description is code too
            if part.ours:
                raise
            found.append(Row(name=shown, **common, disabled=one_line(f"{type(error).__name__}: {error}")))
    return found


def _names(listed: Sequence[Part]) -> dict[Part, str]:
    """What each is listed as; a disabled one takes no other's name away."""
    sharing = Counter((part.kind, part.name) for part in listed)
    off = {part for part in listed if sharing[part.kind, part.name] > 1 and _off(part)}
    clashing = Counter((part.kind, part.name) for part in listed if part not in off)
    twice = Counter((part.kind, part.exact) for part in listed)
    found = {}
    for part in listed:
        if part not in off and clashing[part.kind, part.name] == 1:
            found[part] = part.name
        else:
            found[part] = part.exact if twice[part.kind, part.exact] == 1 else f"{part.exact} ({part.target})"
    return found


def _off(part: Part) -> bool:
    with redirect_stdout(sys.stderr):
        return part.disabled


def first_line(thing: Any) -> str:
    """The first line of a docstring; a dataclass without one of its own has none."""
    said = getattr(thing, "__doc__", None)
    doc = said.strip() if isinstance(said, str) else ""
    name = getattr(thing, "__name__", type(thing).__name__)
    line = doc.splitlines()[0] if doc and not doc.startswith(f"{name}(") else ""
    return one_line(line, 160)


def json_text(found: Sequence[Row], more: Callable[[Row], Mapping[str, Any]] = lambda _: {}) -> str:
    """Name -> row, with more to say of it; a name that two kinds share stands as "KIND/NAME"."""
    several = Counter(row.name for row in found)
    keys = [f"{row.kind}/{row.name}" if several[row.name] > 1 else row.name for row in found]
    return json.dumps({key: {**asdict(row), **more(row)} for key, row in zip(keys, found, strict=True)}, indent=1)


def print_rows(found: Sequence[Row], *, headings: bool, kinds: bool = False, margin: str = "") -> None:
    """Rows under their packages: name, kind, first line, what is read and written, within the terminal's width.

    Without headings they stand behind `margin`.
    """
    width = min(WIDEST, shutil.get_terminal_size().columns)
    column = min(24, max((len(row.name) for row in found), default=0)) + 2
    for (package, version), group in groupby(found, lambda row: (row.package, row.version)):
        if headings:
            click.echo(printable(f"{one_line(package, 80)} {one_line(version, 40)}".rstrip()))
        for row in group:
            click.echo("\n".join(_lines(row, column, width, "  " if headings else margin, kinds)))


def _lines(row: Row, column: int, width: int, margin: str, kinds: bool) -> Iterator[str]:
    name = one_line(row.name, 80)
    indent = margin + " " * column
    texts = [f"{row.kind}: {row.about}" if kinds and row.about else row.kind if kinds else row.about]
    if row.disabled:
        texts = [f"disabled: {one_line(row.disabled, 400)}"]
    elif (wiring := _wiring(row)) != "":
        texts.append(wiring)
    lines = [line for text in texts for line in textwrap.wrap(printable(text), max(16, width - len(indent)))]
    head = f"{margin}{name:<{column}}"
    if len(name) > column - 2:
        yield head.rstrip()
    elif lines:
        yield (head + lines.pop(0)).rstrip()
    else:
        yield head.rstrip()
    yield from (indent + line for line in lines)


def _wiring(row: Row) -> str:
    """ "reads sample, criteria?; writes scores", "" where nothing is known."""
    said = (_listed("reads ", row.reads), _listed("writes ", row.writes))
    return "; ".join(filter(None, said))


def _listed(verb: str, keys: Sequence[str] | str | None) -> str:
    if keys is None:
        return ""
    text = keys if isinstance(keys, str) else ", ".join(keys)
    return f"{verb}{one_line(text, 600) or 'nothing'}"


BY_SETTINGS = "what its settings say"  # of a gate: which node it opens to


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def agents(as_json: bool) -> None:
    """List agents and critics by package: what each is for, and which keys of the state it reads and writes.

    "criteria?" may be missing. A critic is named by --critic NAME; both kinds are nodes of graph files. What a package
    brings and cannot be used is listed with the reason.
    """
    found = rows((*parts("critic"), *parts("agent")), _described)
    if as_json:
        click.echo(json_text(found))
    else:
        print_rows(found, headings=True, kinds=True)


def _described(part: Part) -> dict[str, Any]:
    thing = part.load()
    reads, writes = _keys(thing)
    return {"about": first_line(thing), "reads": reads, "writes": writes}


def _keys(thing: Any) -> tuple[Sequence[str] | str | None, Sequence[str] | str | None]:
    """What the annotations of the agent say: of a function that builds one, of what it builds of no settings."""
    if inspect.isclass(thing) or is_made(thing):
        return keys_of(thing)
    try:
        made = thing()
    except Exception:  # it needs settings, and nothing is known before
        return BY_SETTINGS, BY_SETTINGS
    return keys_of(made)


# `judgegraph methods`.


@click.command()
@click.option("-v", "--verbose", is_flag=True, help="Also what each reads and writes, which builds its graph.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text, with what -v says.")
def methods(verbose: bool, as_json: bool) -> None:
    """List the methods, ours and those that other packages bring, then the variants of ours.

    A variant is a method with settings of its own, a row of its paper: with -v the settings and where it stands there.
    What a package brings and cannot be used is listed with the reason.
    """
    deep = verbose or as_json
    found = rows(parts("method"), _wired if deep else _method_line)
    if as_json:
        click.echo(json_text(found, _varied))
        return
    plain = [row for row in found if _variant(row) is None]
    print_rows(plain, headings=deep or any(row.package != "judgegraph" for row in plain))
    click.echo("variants")
    print_rows(_as_text(found, verbose), headings=False, margin="  ")


def _method_line(part: Part) -> dict[str, Any]:
    """The line of one of ours is known without its graph."""
    if part.variant:
        return {"about": VARIANTS[part.name].about}
    if part.ours:
        return {"about": ABOUT[part.name]}
    return {"about": first_line(part.load())}


def _wired(part: Part) -> dict[str, Any]:
    """A variant reads and writes what its method does."""
    if part.variant:
        part, said = part_of("method", f"judgegraph:{VARIANTS[part.name].method}"), _method_line(part)
        return {**_wired(part), **said}
    reads, writes = _method_keys(part)
    return {**_method_line(part), "reads": reads, "writes": writes}


@cache
def _method_keys(part: Part) -> tuple[Any, Any]:
    from judgegraph.cli.options import compiled

    return keys_of(compiled(part.exact, builder_of(part), {}))


def _variant(row: Row) -> Variant | None:
    return VARIANTS.get(row.name.rpartition(":")[2]) if row.package == "judgegraph" else None


def _varied(row: Row) -> dict[str, Any]:
    """What a variant is of which method, and where the paper names it."""
    variant = _variant(row)
    if variant is None:
        return {}
    return {"method": variant.method, "settings": dict(variant.settings), "source": variant.source}


def _as_text(found: Sequence[Row], verbose: bool) -> list[Row]:
    """The variants alone: what is different, and with `verbose` by which settings."""
    rows = []
    for row in found:
        if (variant := _variant(row)) is not None:
            given = ", ".join(f"{name}={value}" for name, value in variant.settings.items())
            more = f" ({variant.method}, {given}; {variant.source})" if verbose else ""
            rows.append(replace(row, about=row.about + more, reads=None, writes=None))
    return rows


# `judgegraph prices`.


@click.command()
@click.option("--prices", "path", metavar="FILE", help="A price file of your own, YAML or JSON; it comes first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of YAML.")
def prices(path: str | None, as_json: bool) -> None:
    """Print the table of prices, USD per million tokens, as a file to save, edit and pass as --prices FILE."""
    known = Prices.load(path)
    if as_json:
        rows = {key: {k: v for k, v in asdict(one).items() if v is not None} for key, one in known.table.items()}
        click.echo(json.dumps({"as_of": known.as_of, "prices": rows}, indent=1))
    else:
        click.echo(known.text(), nl=False)


# `judgegraph schema`.


EXAMPLES = ("sageval", "coascore", "panel-with-gate")  # graph files that come with the package


@click.command()
@click.option(
    "--example", type=click.Choice(EXAMPLES),
    help="Print a graph file instead, to copy and change: --example sageval > mine.yaml",
)  # fmt: skip
def schema(example: str | None) -> None:
    """Print the JSON Schema of graph files, for an editor; or one of the graph files that come with this package.

    With `# yaml-language-server: $schema=graph.schema.json` in its first line a YAML file is checked while it is
    written. `judgegraph check my.yaml` says more: it knows every name, setting and edge.
    """
    if example is not None:
        text = files("judgegraph.graph_files").joinpath("shipped", f"{example}.yaml").read_text(encoding="utf-8")
        click.echo(text, nl=False)
        return
    from judgegraph.graph_files.build import json_schema

    click.echo(json.dumps(json_schema(), indent=1))


# `judgegraph tools`.


@click.command()
@click.option("-v", "--verbose", is_flag=True, help="Also what each costs, its licence, who defined it, its extra.")
@click.option(
    "--alignment", metavar="RUN", type=click.Path(exists=True, file_okay=False),
    help="As judgegraph plan --alignment: which of them the plan of this run assigned to which criterion.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text, with what -v says.")
def tools(verbose: bool, alignment: str | None, as_json: bool) -> None:
    """List assistant evaluators by package: what each measures, what it reads of a sample, and its range.

    They are named in -s assistants=NAME,NAME of fusion-eval, and are nodes of graph files. What a package brings and
    cannot be used is listed with the reason.
    """
    if alignment is not None:
        print_alignment(alignment, as_json)
        return
    found = rows(parts("assistant"), _tool_line)
    if as_json:
        click.echo(json_text(found, _declared))
        return
    if verbose:
        found = [replace(row, writes=f"{row.writes}{_more(_declared(row))}") for row in found]
    print_rows(found, headings=True)


def print_alignment(folder: str, as_json: bool) -> None:
    """What the plan of a run assigned to each criterion."""
    from judgegraph.runs.run import Run
    from judgegraph.views.run import aligned
    from judgegraph.views.terminal import show

    found = Run.load(folder).alignment().rows
    if as_json:
        click.echo(json.dumps({"alignment": found}, indent=1))
    elif found:
        show(aligned(found))
    else:
        click.echo("no sample of this run has a plan: fusion-eval writes one, its variant no-plan does not")


def _tool_line(part: Part) -> dict[str, Any]:
    from judgegraph.tools.catalogue import assistant

    about: Any = assistant(part.exact).about
    if not hasattr(about, "measures"):
        return {"about": str(about).strip().partition("\n")[0], "writes": "a number"}
    return {"about": about.measures, "reads": about.reads, "writes": f"a number, {about.range} ({about.direction})"}


def _declared(row: Row) -> dict[str, Any]:
    """What an assistant declares for those who choose; {} of one that declares nothing, or cannot be used."""
    from judgegraph.tools.catalogue import About, assistant

    about = None if row.disabled else assistant(row.name).about
    if not isinstance(about, About):
        return {}
    return {
        "inputs": about.inputs, "range": about.range, "direction": about.direction, "cost": about.cost,
        "licence": about.licence, "source": about.source, "extra": about.extra,
    }  # fmt: skip


def _more(told: Mapping[str, Any]) -> str:
    keys = ("cost", "licence", "source")
    needs = {"semantic": "judgegraph[semantic]", "library": "a library of its own", "endpoint": "a server of yours"}
    extra = f"; needs {needs.get(told['extra'], told['extra'])}" if told.get("extra") else ""
    return "".join(f"; {key}: {told[key]}" for key in keys if told.get(key)) + extra
