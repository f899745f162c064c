"""`judgegraph new`: a plug-in to start from, as a package of one's own."""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import click

from judgegraph import __version__
from judgegraph.errors import ConfigError, one_line, printable
from judgegraph.registry import KINDS, parts
from judgegraph.registry.shipped import normal

# A package's name, and the names that follow from it.


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,62}[A-Za-z0-9]")


@dataclass(frozen=True)
class PackageName:
    """Such as "strict-tone": its module is strict_tone, its class StrictTone."""

    name: str

    @staticmethod
    def of(text: str) -> PackageName:
        """In the normal form of package indexes: small letters, and single hyphens between words.

        Raises:
            ConfigError: it is no package's name, a part is called so already, or its module would hide another.
        """
        if not _NAME.fullmatch(text):
            rule = "a name starts with a letter and has two or more letters, digits and hyphens, such as strict-tone"
            raise ConfigError(f"'{one_line(text, 60)}' is no name for a package: {rule}")
        found = PackageName(normal(text))
        if keyword.iskeyword(found.module) or found.module in (*sys.stdlib_module_names, "tests", "judgegraph"):
            raise ConfigError(f"'{found.name}' is no name for a package: Python has another use for {found.module}")
        if find_spec(found.module) is not None:
            raise ConfigError(f"a package {found.module} is installed already; choose another name")
        for part in (part for kind in KINDS for part in parts(kind) if normal(part.name) == found.name):
            raise ConfigError(
                f"'{found.name}' is taken: the {part.kind} of {part.brought_by} is called so; choose another name"
            )
        return found

    @property
    def module(self) -> str:
        """What is imported."""
        return self.name.replace("-", "_")

    @property
    def class_name(self) -> str:
        """Of the plug-in's class."""
        return "".join(word.capitalize() for word in self.name.split("-"))

    @property
    def function(self) -> str:
        """Of the plug-in's factory."""
        return f"make_{self.module}"


# Writes a new package from the templates of its kind.


HERE = Path(__file__).parent
PACKAGE_KINDS = ("critic", "agent", "assistant", "method", "graph")  # each a folder of templates beside this file
NEXT = {  # kind -> commands behind its installation and its tests, and where to look
    "critic": ("show sageval --critic {name} --as text", "run sageval DATA --critic {name}",
               "What the judge is told is in {module}/critique.md, what is done in {module}/critic.py."),
    "agent": ("show graph.yaml --as text", "run graph.yaml DATA",
              "What the judge is told is in {module}/judge.md, a graph with it in graph.yaml."),
    "assistant": ("show graph.yaml --as text", "run fusion-eval DATA -s assistants={name}",
                  "What is measured, and what judges are told of it, is in {module}/assistant.py."),
    "method": ("show {name} --as text", "run {name} DATA", "The graph is in {module}/method.py."),
    "graph": ("show {module}/graph.yaml --as text", "run {module}/graph.yaml DATA",
              "The graph is in {module}/graph.yaml, what is judged by in {module}/criteria.yaml."),
}  # fmt: skip
SUFFIX = ".txt"  # of every template: none is imported, checked or collected where it lies


def write(kind: str, name: PackageName, into: Path) -> Path:
    """The folder that was written: a package with its own tests.

    Raises:
        ConfigError: there is something of that name already, or it cannot be written.
    """
    folder = into / name.name
    try:
        into.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
        for path, text in files(kind, name).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
    except FileExistsError as error:
        there = one_line(error.filename or folder)
        raise ConfigError(f"{there} is there already and stays as it is; choose another name, or --into DIR") from None
    except OSError as error:
        raise ConfigError(f"{one_line(folder)} cannot be written: {error.strerror}") from None
    return folder


def files(kind: str, name: PackageName) -> dict[str, str]:
    """Path in the package -> text."""
    held = HERE / kind
    words = {
        "__NAME__": name.name, "__MODULE__": name.module, "__CLASS__": name.class_name, "__VERSION__": __version__,
        "__FUNCTION__": name.function,
    }  # fmt: skip
    found = {}
    for template in sorted(held.rglob(f"*{SUFFIX}")):
        path = template.relative_to(held).as_posix().removesuffix(SUFFIX).replace("MODULE", name.module)
        text = template.read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        found[path] = text
    return found


@click.command()
@click.argument("kind", type=click.Choice(PACKAGE_KINDS))
@click.argument("name")
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), default=Path(), help="Where; default: here.")
def new(kind: str, name: str, into: Path) -> None:
    """Write a package NAME with a small plug-in of a KIND, its prompt and its tests; or a graph as a file.

    It can be installed as it is, is then found by its name (`judgegraph agents`), and is yours to change. Its tests run
    as they are, and `judgegraph show` draws its place in a graph.
    """
    package = PackageName.of(name)
    folder = write(kind, package, into)
    *commands, where = (text.format(name=package.name, module=package.module) for text in NEXT[kind])
    article = "an" if kind[0] == "a" else "a"
    steps = [f"cd {folder}", "pip install -e '.[dev]'", "python -m pytest", "judgegraph agents"]
    steps = [step for step in steps if kind != "graph" or step != "judgegraph agents"]
    steps += [f"judgegraph {command}" for command in commands]
    said = [f"{folder}: {article} {kind} '{package.name}'. Next:", *(f"  {step}" for step in steps), where]
    click.echo(printable("\n".join(said)))


# `judgegraph init`: what a data file holds, and the command that judges it.


@click.command()
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--out", metavar="FILE.yaml", type=click.Path(dir_okay=False),
              help="Write the proposed criteria to this file, to edit.")  # fmt: skip
def init(data: str, out: str | None) -> None:
    """Look at DATA, a file of yours, and propose which column is what, criteria, and the command to run.

    Fields are found by the names that collections give them (response, prompt, article, response_a and response_b,
    human_fluency ...) or by a word in their names; else the column with the longest texts that do not come again is a
    guess, and so are an id, a source and people's numbers, each with its reason. Nothing is judged, and DATA is only
    read.
    """
    from judgegraph.data.mapping import proposed_mapping, run_command
    from judgegraph.prompts.criteria import as_yaml, criteria_set, known_sets

    if out is not None and (Path(out).suffix not in (".yaml", ".yml") or Path(out).exists()):
        raise click.UsageError(f"--out {out}: {'it is there already' if Path(out).exists() else 'it ends in .yaml'}")
    found = proposed_mapping(Path(data))
    chosen = found.criteria({name: [c.name for c in criteria_set(name).criteria] for name in known_sets()})
    click.echo(printable(f"{data}: {found.rows:,} {'row' if found.rows == 1 else 'rows'} looked at"))
    width = max(len(field) for field in found.fields)
    for field, column in found.fields.items():
        guess = f"  (a guess: {found.guessed[field]})" if field in found.guessed else ""
        click.echo(printable(f"  {field:<{width}}  from {one_line(column, 40)}: {found.examples[column]}{guess}"))
    left = [column for column in found.columns if column not in found.fields.values()]
    if people := [column for column in left if column == "human" or column.startswith("human.")]:
        click.echo(printable(f"  people's judgements as they are: {one_line(', '.join(people), 200)}"))
    if left := [column for column in left if column not in people]:
        click.echo(printable(f"  kept as meta: {one_line(', '.join(left), 200)}"))
    if out is not None:
        Path(out).write_text(as_yaml(criteria_set(chosen)), encoding="utf-8")
        click.echo(printable(f"criteria: those of '{chosen}', in {out}: edit them"))
    else:
        click.echo(f"criteria: '{chosen}' (judgegraph criteria {chosen} prints them; -o FILE.yaml writes them to edit)")
    for line in run_command(data, found, out or chosen):
        click.echo(printable(line))
