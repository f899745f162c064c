"""`judgegraph new`: a plug-in to start from, as a package of one's own."""

from __future__ import annotations

import keyword
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from judgegraph import __version__
from judgegraph.data.load import READERS, format_of
from judgegraph.data.samples import NAMES, Fault, likely_column
from judgegraph.errors import ConfigError, DataError, one_line, printable
from judgegraph.registry import KINDS, parts
from judgegraph.registry.shipped import normal
from judgegraph.types import Criterion, Scale

if TYPE_CHECKING:
    from judgegraph.prompts.criteria import CriteriaSet

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
LISTED = {"critic": "agents", "agent": "agents", "assistant": "tools", "method": "methods"}  # the command that lists it
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

    It can be installed as it is, is then found by its name (`judgegraph agents`, `tools` or `methods`), and is yours to
    change. Its tests run as they are, and `judgegraph show` draws its place in a graph.
    """
    package = PackageName.of(name)
    folder = write(kind, package, into)
    *commands, where = (text.format(name=package.name, module=package.module) for text in NEXT[kind])
    article = "an" if kind[0] == "a" else "a"
    steps = [f"cd {folder}", "pip install -e '.[dev]'", "python -m pytest"]
    steps += [f"judgegraph {LISTED[kind]}"] if kind in LISTED else []
    steps += [f"judgegraph {command}" for command in commands]
    said = [f"{folder}: {article} {kind} '{package.name}'. Next:", *(f"  {step}" for step in steps), where]
    click.echo(printable("\n".join(said)))


# `judgegraph init`: what a data file holds, and the command that judges it.


@click.command()
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--out", metavar="FILE.yaml", type=click.Path(dir_okay=False),
              help="Write the proposed criteria to this file, to edit.")  # fmt: skip
@click.option("-c", "--criterion", "wanted", metavar="NAME", multiple=True,
              help="Judge by this alone: as a set that comes along defines it, else to be defined in the file. Repeat "
                   "for more. It needs -o.")  # fmt: skip
def init(data: str, out: str | None, wanted: tuple[str, ...]) -> None:
    """Look at DATA, a file of yours, and propose which column is what, criteria, and the command to run.

    Fields are found by the names that collections give them (response, prompt, article, response_a and response_b,
    human_fluency ...) or by a word in their names; else the column with the longest texts that do not come again is a
    guess, and so are an id, a source and people's numbers, each with its reason. Nothing is judged, and DATA is only
    read.
    """
    from judgegraph.prompts.criteria import as_yaml, criteria_set, known_sets

    if any(not 0 < len(name.strip()) <= 200 for name in wanted):
        raise click.UsageError("--criterion: a criterion's name has 1 to 200 characters")
    if wanted and out is None:
        raise click.UsageError("--criterion makes a criteria set of your own: -o FILE.yaml says where it is written")
    if out is not None and (Path(out).suffix not in (".yaml", ".yml") or Path(out).exists()):
        raise click.UsageError(f"--out {out}: {'it is there already' if Path(out).exists() else 'it ends in .yaml'}")
    found = proposed_mapping(Path(data))
    sets = {name: criteria_set(name) for name in known_sets()}
    chosen = found.criteria({name: [c.name for c in one.criteria] for name, one in sets.items()})
    click.echo(printable(f"{data}: {found.rows:,} {'row' if found.rows == 1 else 'rows'} looked at"))
    width = max(len(field) for field in found.fields)
    for field, column in found.fields.items():
        guess = f"  (a guess: {found.guessed[field]})" if field in found.guessed else ""
        click.echo(printable(f"  {field:<{width}}  from {one_line(column, 40)}: {found.examples[column]}{guess}"))
    left = [column for column in found.columns if column not in found.fields.values()]
    if people := [column for column in left if column == "human" or column.startswith("human.")]:
        click.echo(printable(f"  people's judgements as they are: {one_line(', '.join(people), 200)}"))
    if left := [column for column in left if column not in people and column != "meta"]:
        names = ", ".join(column.removeprefix("meta.") or column for column in left)
        click.echo(printable(f"  kept as meta: {one_line(names, 200)}"))
    unasked = found.unasked(c.name for c in sets[chosen].criteria)
    if out is not None:
        made, said = _written_set(sets, chosen, wanted or (found.judged if unasked else ()), found.scales)
        Path(out).write_text(as_yaml(made), encoding="utf-8")
        click.echo(printable(f"criteria: {said}, in {out}: edit them"))
    elif unasked:
        words = shlex.join(word for name in found.judged for word in ("-c", name))
        click.echo(printable(f"criteria: '{chosen}' does not ask for {one_line(', '.join(unasked), 200)}, which people "
                             "judged; this writes a set that does, to edit:"))  # fmt: skip
        click.echo(printable(f"judgegraph init {shlex.quote(data)} {words} -o {WRITTEN}"))
        out = WRITTEN
    else:
        click.echo(f"criteria: '{chosen}' (judgegraph criteria {chosen} prints them; -o FILE.yaml writes them to edit)")
    for line in run_command(data, found, out or chosen):
        click.echo(printable(line))


def _written_set(
    sets: Mapping[str, CriteriaSet], chosen: str, wanted: Sequence[str], scales: Mapping[str, str]
) -> tuple[CriteriaSet, str]:
    """(the set that a file begins with, what it is): those of a set, or those that are wanted, each as a set has it.

    Args:
        scales: what people judged -> the scale that they judged it on, where that is another than 1-5.
    """
    from judgegraph.prompts.criteria import CriteriaSet, same_key

    if not wanted:
        return sets[chosen], f"those of '{chosen}'"
    known = {
        same_key(c.name): c for one in (*sets.values(), sets[chosen]) for c in one.criteria
    }  # the chosen one's last
    once = {same_key(name): name.strip() for name in reversed(wanted)}
    own = {same_key(name): scale for name, scale in scales.items()}
    found = [_criterion(known.get(key), once[key], own.get(key)) for key in once][::-1]
    new = [one.name for one in found if same_key(one.name) not in known]
    told = f"to be defined: {one_line(', '.join(new), 200)}" if new else "as the sets that come along define them"
    if on := [f"{one.name} {own[same_key(one.name)]}" for one in found if same_key(one.name) in own]:
        told += f"; on the scale of people's column: {one_line(', '.join(on), 200)}"
    made = CriteriaSet(name="mine", task=sets[chosen].task, criteria=tuple(found))
    return made, f"{one_line(', '.join(one.name for one in found), 200)} ({told})"


def _criterion(known: Criterion | None, name: str, scale: str | None) -> Criterion:
    """As a set has it, else to be defined; on people's scale where there is one."""
    on = Scale.of(scale or "1-5")
    if known is not None:
        return known.model_copy(update={"scale": on}) if scale and not known.levels else known
    return Criterion(name=name, definition=UNDEFINED.format(name, f"{on.low:g}", f"{on.high:g}"), scale=on)


# Which column of a file is meant for which field of a sample: proposed by names, and by what stands in the columns.


ROWS = 200  # looked at
WRITTEN = "criteria.yaml"  # where a set that has to be made is proposed to stand
UNDEFINED = 'What "{}" means for the output: say it here in a sentence, and what a {} and a {} look like.'
SIDES = (("a", "b"), ("1", "2"), ("one", "two"), ("left", "right"))
HINTS: Mapping[str, frozenset[str]] = {  # field -> words of a column's name that speak for it
    "output": frozenset((
        "reply", "answer", "response", "output", "completion", "translation", "antwort", "ausgabe", "réponse",
        "reponse",
    )),
    "query": frozenset(("asked", "question", "query", "prompt", "request", "inquiry", "enquiry", "frage", "anfrage")),
    "source": frozenset((
        "source", "article", "document", "context", "passage", "grounds", "transcript", "quelle", "dokument", "kontext",
    )),
}  # fmt: skip
EXPECTED = frozenset(("gold", "reference", "expected", "ideal", "correct", "target"))  # of an answer: no output
NUMBERED = frozenset(("id", "ticket", "number", "no", "nr", "case", "key", "ref"))  # of a column of numbers: an id
MEASURED = re.compile(  # what a column of numbers may be beside a judgement
    r"len|token|word|char|sec|time|latency|duration|cost|usd|price|count|total|year|date|age|turn|step|version|index|rank"
    r"|row|page|model|temp|seed|prob|confidence|size|amount|ms\b|\bn\b|num|\bid\b", re.I,
)  # fmt: skip
RANGE = re.compile(r"[\s,;:(\[]*\d+\s*[-\u2013/]\s*\d+[)\]\s]*\Z")  # of a scale, at the end of a name: ", 0-100"
RATED = re.compile(  # what stands before a criterion's name in a column of judgements, and behind it
    r"\A(?:(?:human|people|gold|expert|annotator|annotation|crowd)[ _.-]?)?(?:(?:scores?|ratings?|labels?)[ _.-])?"
    r"|[ _.-](?:scores?|ratings?|labels?)\Z",
    re.I,
)
RATING = re.compile(r"(?<![^\W_])(?:score|rating|label|grade|verdict|likert|quality|stars)s?(?![^\W_])", re.I)
WINNERS = frozenset(("winner", "preferred", "preference", "verdict", "better", "best", "choice", "chosen"))
VERDICTS = frozenset(("a", "b", "1", "2", "tie", "draw", "both", "neither", "equal", "same", "none"))
OVERALLS = ("overall", "QA", "human", "preference")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
LONG = 20  # characters: a column of texts that are longer on average may hold outputs


@dataclass(frozen=True)
class ColumnMapping:
    """What is proposed for a file.

    Attributes:
        rows: that were looked at. columns: of the file, in their order. fields: a sample's field, or "human.NAME" ->
            its column. guessed: fields for which no name spoke -> what did. examples: column -> what stands in its
            first row. scales: what people judged -> their scale, where a column's name or numbers say another than 1-5.
    """

    rows: int
    columns: tuple[str, ...]
    fields: Mapping[str, str]
    guessed: Mapping[str, str]
    examples: Mapping[str, str]
    scales: Mapping[str, str]

    @property
    def options(self) -> list[str]:
        """The -f options of a command; fields whose columns have their names need none."""
        told = [f"{field}={column}" for field, column in self.fields.items() if field != column]
        return [word for one in told for word in ("-f", one)]

    @property
    def is_of_pairs(self) -> bool:
        """Each row has two outputs."""
        return "rival" in self.fields

    @property
    def judged(self) -> list[str]:
        """What people judged, in the order of the columns."""
        fields = {column: field for field, column in self.fields.items()}
        found = [fields.get(column, column) for column in self.columns]
        return [field.partition(".")[2] for field in found if field.startswith("human.")]

    def unasked(self, asked: Iterable[str]) -> list[str]:
        """What people judged and no criterion asks for; beside what one asks for, a judgement as such needs none."""
        known = {name.casefold() for name in asked}
        judged = [] if self.is_of_pairs else self.judged
        found = [one for one in judged if one.casefold() not in known]
        return found if found == judged else [one for one in found if not RATING.search(one) and one not in OVERALLS]

    def criteria(self, sets: Mapping[str, Sequence[str]]) -> str:
        """Of criteria sets, name -> its criteria, the one that people judged by, else by what the rows hold."""
        judged = {name.casefold() for name in self.judged}
        hits = {name: len(judged & {one.casefold() for one in held}) for name, held in sets.items()}
        source = self.fields.get("source", "")
        asked = self.examples.get(self.fields.get("query", ""), "")
        of_text = re.search(r"article|document", source, re.I) and not asked.rstrip().endswith("?")
        about = of_text or re.search(r"\bsummar", asked, re.I)
        usual = "summary" if about else "general"
        best = max(hits, key=lambda name: (hits[name], name == usual), default=usual)
        return best if hits.get(best, 0) > 1 else usual  # one quality alone is asked for by sets of many kinds


def proposed_mapping(path: Path) -> ColumnMapping:
    """Of a data file, from its first rows.

    Raises:
        DataError: it cannot be read, has no row, or no column that may be what is judged.
    """
    rows: list[dict[str, Any]] = []
    for _, row in READERS[format_of(path)](path):
        if not isinstance(row, Fault):
            rows.append(row)
        if len(rows) >= ROWS:
            break
    if not rows:
        raise DataError(f"{one_line(path)} has no row that can be read")
    everything = tuple(dict.fromkeys(key for row in rows for key in row))
    fields = _named(everything)
    guessed: dict[str, str] = {}
    columns = [column for column in everything if column != "meta" and not _is_nested(rows, column)]
    if "output" not in fields and (two := _two_of_a_kind(_left(columns, fields), rows)):
        fields |= two
        guessed["rival"] = "its name and the output's differ in one word"
    for field in HINTS:
        if field not in fields and (column := _hinted(field, rows, _left(columns, fields))):
            fields[field] = column
    if "output" not in fields:
        two = _two_texts(rows, _left(columns, fields))
        fields |= two
        guessed |= dict.fromkeys(two, "a third column says which of the two is better")
    if "output" not in fields and (longest := _longest(rows, _left(columns, fields))):
        fields["output"], guessed["output"] = longest, "its texts are the longest"
    if "id" not in fields and (column := _id(rows, _left(columns, fields))):
        fields["id"], guessed["id"] = column, "no two rows have the same"
    if "output" not in fields:
        listed = one_line(", ".join(everything), 200)
        raise DataError(f"{one_line(path)}: no column may be what is judged (output); there are {listed}")
    judged = _judged(rows, _left(columns, fields))
    if not judged and (numbers := _numbers(rows, _left(columns, fields))):
        name = _bare(numbers)
        judged = {f"human.{name}": numbers}
        guessed[f"human.{name}"] = "numbers on a scale"
    fields |= judged
    if "source" not in fields and (column := _repeated(rows, _left(columns, fields))):
        fields["source"], guessed["source"] = column, "its long texts come again"
    examples = {column: one_line(rows[0].get(column, ""), 60) for column in everything}
    order = ("id", "query", "source", "output", "rival", "reference")
    known = {name: fields[name] for name in order if name in fields}
    called = {field: column for field, column in fields.items() if field.startswith("human.")}
    called |= {column: column for column in everything if column.startswith("human.")}
    on = {name.partition(".")[2]: _scale(column, _values(rows, column)) for name, column in called.items()}
    scales = {name: scale for name, scale in on.items() if scale}
    return ColumnMapping(len(rows), everything, {**known, **fields}, guessed, examples, scales)


def _scale(column: str, values: Sequence[str]) -> str:
    """Of a column of people's numbers: as its name says, else the least of the usual ones that holds all of them.

    "" for 1-5, and where they are no numbers.
    """
    found = [float(value) for value in values if NUMBER.fullmatch(value)]
    if not found or len(found) < 0.8 * len(values):
        return ""
    usual = [(1, 5), (0, 1), (0, 5), (1, 10), (0, 10), (0, 100)]
    if told := RANGE.search(column):
        ends = map(int, re.findall(r"\d+", told[0]))
        usual = [(next(ends), next(ends)), *usual]
    for least, most in usual:
        if least < most and least <= min(found) and max(found) <= most:
            return "" if (least, most) == (1, 5) else f"{least}-{most}"
    return ""


def _named(columns: Sequence[str]) -> dict[str, str]:
    """Fields by the names of columns; of two outputs the first is the output, the other its rival."""
    found = _sides(columns)
    for field in NAMES:
        left = [column for column in columns if column not in found.values()]
        if field not in found and (column := likely_column(field, left)):
            found[field] = column
    if "rival" in columns:
        found["rival"] = "rival"
    return found


def _sides(columns: Sequence[str]) -> dict[str, str]:
    """The two outputs of pairs: response_a and response_b, chosen and rejected."""
    folded = {re.sub(r"[\W_]", "", column).casefold(): column for column in columns}
    if {"chosen", "rejected"} <= folded.keys():
        return {"output": folded["chosen"], "rival": folded["rejected"]}
    for stem in (*NAMES["output"], "model", "assistant", "text"):
        for first, second in SIDES:
            if f"{stem}{first}" in folded and f"{stem}{second}" in folded:
                return {"output": folded[f"{stem}{first}"], "rival": folded[f"{stem}{second}"]}
    return {}


def _two_of_a_kind(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Two columns of answers by two systems: `owl_answer` and `fox_answer`, whose names differ in one word."""
    found = [c for c in columns if _words(c) & HINTS["output"] and not _words(c) & EXPECTED and _longest(rows, [c])]
    if len(found) == 2 and [len(_words(a) - _words(b)) for a, b in (found, found[::-1])] == [1, 1]:
        return {"output": found[0], "rival": found[1]}
    return {}


def _two_texts(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dict[str, str]:
    """Two columns of texts as outputs of pairs, and people's verdict: of a column called so that says A, B or tie."""
    for verdict in (column for column in columns if _words(column) & WINNERS):
        said = {value.casefold() for value in _values(rows, verdict)}
        texts = [c for c in columns if c != verdict and not _is_repeated(rows, c) and _longest(rows, [c])]
        named = {text.casefold() for text in texts}
        if len(texts) == 2 and said and (said <= VERDICTS or said - VERDICTS <= named):
            return {"output": texts[0], "rival": texts[1], "human.overall": verdict}
    return {}


def _left(columns: Sequence[str], fields: Mapping[str, str]) -> list[str]:
    """The columns that are no field yet, and are not people's by their name."""
    return [c for c in columns if c not in fields.values() and c != "human" and not c.startswith("human.")]


def _is_nested(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    """It holds mappings or lists: fields of a sample may, what is only guessed to be a text does not."""
    return any(isinstance(row.get(column), Mapping | list) for row in rows)


def _values(rows: Sequence[Mapping[str, Any]], column: str) -> list[str]:
    """What stands in a column, as texts."""
    return [str(row[column]).strip() for row in rows if row.get(column) not in (None, "")]


def _is_repeated(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Its values come again and again, as those of a source with several outputs do."""
    values = _values(rows, column)
    return len(values) > 1 and 2 * len(set(values)) <= len(values)


def _words(column: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+", column.casefold()))


def _hinted(field: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """The column of texts in whose name a word speaks for a field; of several one whose values differ."""
    found = [column for column in columns if _words(column) & HINTS[field] and not _words(column) & EXPECTED]
    found = [column for column in found if not all(map(NUMBER.fullmatch, _values(rows, column)))]
    return min(found, key=lambda column: _is_repeated(rows, column), default="")


def _id(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A column with another short word in every row; of plain numbers only where its name says so."""
    for column in columns:
        values = _values(rows, column)
        plain = all(map(NUMBER.fullmatch, values))
        named = bool(_words(column) & NUMBERED) or "#" in column
        unique = len(rows) > 1 and len(set(values)) == len(rows)
        if unique and all(re.fullmatch(r"\S{1,40}", value) for value in values) and (named or not plain):
            return column
    return ""


def _numbers(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A column of numbers from 0 to 100 that is nothing else by its name, and in which some come again."""
    for column in columns:
        values = _values(rows, column)
        found = [float(value) for value in values if re.fullmatch(r"\d{1,3}(?:\.\d+)?", value)]
        few = len(values) >= 5 and 1 < len(set(found)) < len(found)
        if few and len(found) >= 0.8 * len(values) and max(found) <= 100 and not MEASURED.search(column):
            return column
    return ""


def _repeated(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """The column with the longest texts among those that come again."""
    return _longest(rows, [column for column in columns if len(rows) > 3 and _is_repeated(rows, column)])


def _longest(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """The column with the longest texts on average, "" where none are long; texts that come again are no outputs."""
    lengths = {column: fmean(len(str(row.get(column) or "")) for row in rows) for column in columns}
    own = {c: length for c, length in lengths.items() if length >= LONG and not _is_repeated(rows, c)}
    lengths = own or lengths
    best = max(lengths, key=lambda column: lengths[column], default="")
    return best if best and lengths[best] >= LONG else ""


def _judged(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dict[str, str]:
    """Columns of people's judgements, as "human.NAME": called so, or a rating by name, with numbers or few words."""
    found = {}
    for column in columns:
        values = [row.get(column) for row in rows if row.get(column) not in (None, "")]
        name = _bare(column)
        told = RATED.sub("", column.strip()) != column.strip() or RATING.search(column) is not None
        if column != "human" and not column.startswith("human.") and told and values and _are_ratings(values):
            found[f"human.{name}"] = column
    return found


def _bare(column: str) -> str:
    """The name of what is judged: "human_fluency" is of fluency, "QA score, 0-100" of QA."""
    name = RANGE.sub("", column.strip()) or column.strip()
    return RATED.sub("", name) or name


def _are_ratings(values: Sequence[Any]) -> bool:
    """Numbers, or a handful of short words that come again."""
    texts = [str(value).strip() for value in values if not isinstance(value, Mapping | list)]
    numbers = sum(re.fullmatch(r"-?\d{1,3}(?:\.\d+)?", text) is not None for text in texts)
    few = len(set(texts)) <= max(2, min(12, len(texts) // 2)) and all(len(text) <= 30 for text in texts)
    return len(texts) == len(values) and (numbers >= 0.8 * len(texts) or few)


def run_command(path: str, found: ColumnMapping, criteria: str) -> list[str]:
    """The first lines to try: three samples of a method that fits, then what a whole run would take."""
    method = "fennec" if found.is_of_pairs else "sageval"
    more = ["-s", "orders=both"] if found.is_of_pairs else ["-c", criteria]
    words = [method, path, *more, *found.options]
    return [shlex.join(["judgegraph", "run", *words, "--limit", "3"]), shlex.join(["judgegraph", "plan", *words])]
