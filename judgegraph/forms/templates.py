"""A form's template: found at run time, taken apart once, filled in one pass.

It comes from an installed package (its file is read, the package never imported), from a file that the user names, or
from a text. Judged text is never looked at for slots again, and what of it looks like a line of the template is told.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from judgegraph.errors import ConfigError, one_line
from judgegraph.forms.form import KEYS, NEEDED, OF_CRITERION, JudgeForm, Kind, Origin

NONE = "none"  # as a template for the system message: there is none
LARGEST = 4_000_000  # bytes of a file that a template is looked for in
KNOWN_SLOTS: Mapping[str, str] = MappingProxyType({  # in lower case, without "_", "-" and blanks
    **dict.fromkeys(("query", "question", "instruction", "prompt", "userinput", "userquery", "question1"), "query"),
    **dict.fromkeys(("output", "response", "answer", "assistantoutput", "modeloutput", "answer1"), "output"),
    **dict.fromkeys(("source", "context", "relevantcontext", "input", "document"), "source"),
    **dict.fromkeys(("contexts", "retrievedcontext", "retrievedcontexts", "passages"), "contexts"),
    **dict.fromkeys(("turns", "conversation", "messages", "trajectory"), "turns"),
    "facts": "facts",
    **dict.fromkeys(("reference", "referenceanswer", "refanswer", "refanswer1", "referenceresponse"),
                    "reference"),
    **dict.fromkeys(("rubric", "scorerubric", "scorerubrics"), "rubric"),
    **dict.fromkeys(("levels", "scoredescriptions"), "levels"),
    **dict.fromkeys(("criterion", "criterionname"), "criterion"),
    **dict.fromkeys(("definition", "criteria", "evaluationcriteria", "passcriteria"), "definition"),
})  # fmt: skip
OF_PAIR: Mapping[str, str] = MappingProxyType({
    **dict.fromkeys(("a", "responsea", "response1", "answera", "answer1", "outputa", "output1", "assistanta", "first",
                     "response", "answer", "output", "modela"), "A"),
    **dict.fromkeys(("b", "responseb", "response2", "answerb", "answer2", "outputb", "output2", "assistantb", "second",
                     "responseanother", "modelb", "rival"), "B"),
})  # fmt: skip
_NAME = r"[A-Za-z_][A-Za-z0-9_]{0,60}"
_BRACED = re.compile(rf"\{{\{{|\}}\}}|(?<!\$)\{{(?P<name>{_NAME})\}}")
_DOUBLE = re.compile(rf"\{{\{{[ ]?(?P<name>{_NAME})[ ]?\}}\}}")
_DOLLAR = re.compile(rf"\$\$|\$(?P<name>{_NAME})\b|\$\{{(?P<braced>{_NAME})\}}")
_LEVEL = re.compile(r"score_?(\d{1,2})_?(?:description|rubric)?|level_?(\d{1,2})", re.I)
_LEVEL_LINE = re.compile(r"^[ \t*_-]*(?:score|level)?[ ]*(\d{1,2})[ ]*[:=.)][ ]*(.*)$", re.I | re.M)
_JOINED = re.compile(r"<([\w.]+)>")  # in a name: several constants that are one text
_PARAGRAPHS = re.compile(r"(\n[ \t]*\n+)")


@dataclass(frozen=True)
class Piece:
    """What a template holds in its order: literal text, or a slot with the key that fills it ("level:3" of levels)."""

    text: str = ""
    slot: str = ""
    key: str = ""


@dataclass(frozen=True)
class FormTemplate:
    """A template of somebody else, ready to be filled.

    Attributes:
        user, system: the two messages in pieces; system () is none. source: where it came from, for people and for the
            signature. digest: 8 hex digits of its texts, its slots among them.
    """

    user: tuple[Piece, ...]
    system: tuple[Piece, ...] = ()
    source: str = ""
    digest: str = ""

    @property
    def keys(self) -> frozenset[str]:
        """Of `KEYS`, those that it shows; the text of one level counts as "levels"."""
        found = {piece.key.partition(":")[0] for piece in (*self.system, *self.user) if piece.key}
        return frozenset("levels" if key == "level" else key for key in found)

    @property
    def shows_criterion(self) -> bool:
        """Whether it shows anything of a criterion: without that one reply is of the response as a whole."""
        return bool(self.keys & set(OF_CRITERION))

    def slot_of(self, key: str) -> str:
        """How the template calls a key of ours."""
        return next((piece.slot for piece in (*self.user, *self.system) if piece.key == key), key)

    def filled(self, values: Mapping[str, str], drop: Iterable[str] = ()) -> tuple[str, str]:
        """(system, user) with the values in them; of a key in `drop` without a value the paragraph is left out."""
        empty = {key for key in drop if not values.get(key, "").strip()}
        return _filled(self.system, values, empty), _filled(self.user, values, empty)

    def echoes(self, values: Iterable[str]) -> str:
        """The first line of the template that one of the values holds too, "" where none does.

        A foreign template has no sections that a text cannot close: a text that holds one of its lines may be read as
        two, or as the template's own words.
        """
        lines = {line.strip() for piece in self.user if not piece.slot for line in piece.text.splitlines()}
        lines = {line for line in lines if len(line) > 3 and re.search(r"[A-Za-z]{2}", line)}
        found = (line.strip() for value in values for line in value.splitlines())
        return next((line for line in found if line in lines), "")


def _filled(pieces: tuple[Piece, ...], values: Mapping[str, str], empty: set[str]) -> str:
    if empty & {piece.key for piece in pieces}:
        pieces = tuple(_without(pieces, empty))
    return "".join(values.get(piece.key, "") if piece.slot else piece.text for piece in pieces)


def _without(pieces: tuple[Piece, ...], empty: set[str]) -> Iterator[Piece]:
    """Without the paragraphs that show an empty key, each with the blank lines behind it.

    A slot that is all of its paragraph takes the one before it along where that is a heading, a line that ends in ":".
    """
    blocks: list[list[Piece]] = [[]]
    gaps: list[str] = []
    for piece in pieces:
        parts = [piece.text] if piece.slot else _PARAGRAPHS.split(piece.text)
        for index, text in enumerate(parts):
            if index % 2:
                gaps.append(text)
                blocks.append([])
            elif piece.slot or text:
                blocks[-1].append(piece if piece.slot else Piece(text))
    gone = {i for i, block in enumerate(blocks) if any(piece.key in empty for piece in block)}
    for i in [i for i in gone if i and all(piece.slot for piece in blocks[i])]:
        heading = "".join(piece.text for piece in blocks[i - 1]).strip()
        gone |= {i - 1} if heading.endswith(":") and "\n" not in heading else set()
    for i, block in enumerate(blocks):
        if i not in gone:
            yield from block
            yield Piece(gaps[i] if i < len(gaps) else "")


# From a text to its pieces: which slots it has, and what fills each.


def taken_apart(
    form: JudgeForm, user: str, system: str, source: str, slots: Mapping[str, str] | None = None
) -> FormTemplate:
    """A template from its texts.

    Args:
        user: with slots written {name}, {{name}} or $name. system: the same, "" is none.
        source: where they came from. slots: their names -> our keys, beside the form's own.

    Raises:
        ConfigError: a slot that nothing fills, or what is to be judged has no slot; the message names it.
    """
    given = {**form.slots, **(slots or {})}
    if wrong := sorted({*given.values()} - set(KEYS)):
        raise ConfigError(f"slots: no key {', '.join(one_line(k, 40) for k in wrong)}; known: {', '.join(KEYS)}")
    made = FormTemplate(
        tuple(_pieces(user, given, form.kind, source)), tuple(_pieces(system, given, form.kind, source)), source
    )
    if missing := [key for key in NEEDED[form.kind] if key not in made.keys]:
        names = sorted({p.slot for p in (*made.user, *made.system) if p.slot})
        raise ConfigError(
            f"{source}: the template of form '{form.name}' has no slot for {' and '.join(missing)} "
            f"({'; '.join(KEYS[key] for key in missing)}); its slots are {_listed(names) or 'none'}: "
            f"say slots={{'THEIR NAME': '{missing[0]}'}}"
        )
    told = json.dumps([user, system, sorted((p.slot, p.key) for p in (*made.user, *made.system) if p.slot)])
    return replace(made, digest=blake2b(told.encode("utf-8", "replace"), digest_size=4).hexdigest())


def _pieces(text: str, given: Mapping[str, str], kind: Kind, source: str) -> Iterator[Piece]:
    if not text:
        return
    grammar, end, literal = _grammar(text), 0, ""
    for match in grammar.finditer(text):
        literal += text[end : match.start()]
        end = match.end()
        name = match.groupdict().get("name") or match.groupdict().get("braced")
        if name is None:  # a doubled sign stands for one
            literal += match[0][0] if grammar is not _DOUBLE else match[0]
            continue
        if literal:
            yield Piece(literal)
        literal = ""
        yield Piece("", name, _key(name, given, kind, source))
    if literal + text[end:]:
        yield Piece(literal + text[end:])


def _grammar(text: str) -> re.Pattern[str]:
    """How a template writes its slots: {name} where there is one, else {{name}}, else $name."""
    if any(match["name"] for match in _BRACED.finditer(text)):
        return _BRACED
    return _DOUBLE if _DOUBLE.search(text) else _DOLLAR


def _key(name: str, given: Mapping[str, str], kind: Kind, source: str) -> str:
    if name in given:
        return given[name]
    if name in KEYS and (kind == "pair" or name not in ("A", "B")) and (kind == "single" or name != "output"):
        return name
    if level := _LEVEL.fullmatch(name):
        return f"level:{level[1] or level[2]}"
    plain = re.sub(r"[_\- ]", "", name).lower()
    key = OF_PAIR.get(plain, "") if kind == "pair" else ""
    key = key or KNOWN_SLOTS.get(plain, "")
    if not key or (kind == "pair" and key == "output"):
        raise ConfigError(
            f"{source}: nothing is known to fill the slot '{one_line(name, 60)}'; say slots={{'{one_line(name, 60)}': "
            f"KEY}}, KEY one of {', '.join(KEYS)}"
        )
    return key


def level_of(levels: str, number: str) -> str:
    """What one score means, of a text with a line for each score ("Score 3: ..."); "" where it has none."""
    return next((line[2].strip() for line in _LEVEL_LINE.finditer(levels) if line[1] == number), "")


# Where the texts come from: a package, a file, one constant or field of it.


def template_of(
    form: JudgeForm, template: str = "", system: str = "", slots: Mapping[str, str] | None = None
) -> FormTemplate:
    """The template of a form.

    Args:
        template: "" looks into the installed packages that are known to have it; `FILE` is a .txt or .md file as a
            whole, or a .py, .json, .jsonl, .yaml file in which the authors' own names are looked for; `FILE:NAME` is
            one string constant of a .py file or one field; `FILE:FIELD=VALUE:NAME` a field of the row with that value;
            `PACKAGE:FILE:NAME` the same of an installed package; a text with a slot and a line end is the template.
        system: the same of the system message; "" is the form's own, "none" is none.

    Raises:
        ConfigError: nothing there, more than one thing, or a slot that nothing fills; with where it can be had.
    """
    if not template:
        origin, path = _installed(form)
        user, where = _text_at(path, origin, origin.user, form), f"{origin.package}/{origin.file}:{origin.user}"
        own = _text_at(path, origin, origin.system, form) if origin.system and not system else ""
    elif "\n" in template:
        user, where, own = template, "a text", ""
    else:
        path, name, origin = _named(form, template)
        user, where = _text_at(path, origin, name or origin.user, form), _shown(path, name or origin.user, origin)
        own = (
            _text_at(path, origin, origin.system, form, optional=True) if origin.system and not (system or name) else ""
        )
    if system and system != NONE:
        own = system if "\n" in system or " " in system else _system_at(form, system)
    return taken_apart(form, user, own, where, slots)


def _system_at(form: JudgeForm, system: str) -> str:
    path, name, origin = _named(form, system)
    return _text_at(path, origin, name or origin.system, form)


def _installed(form: JudgeForm) -> tuple[Origin, Path]:
    for origin in form.origins:
        if origin.package and (path := _in_package(origin.package, origin.file)) is not None:
            return origin, path
    raise ConfigError(f"form '{form.name}': its template is not here, and none is shipped; {cure(form)}")


def cure(form: JudgeForm) -> str:
    """Where the template of a form can be had."""
    ways = [f"pip install --no-deps {origin.pip or origin.package}" for origin in form.origins if origin.package]
    files = [
        f"{origin.file} in {origin.where}" if origin.file else origin.where for origin in form.origins if origin.where
    ]
    said = [f"install it ({' or '.join(ways)})"] if ways else []
    theirs = f" (as the authors have it: {files[0]})" if files else ""
    said.append(f"give a file by template=FILE{theirs}")
    return ", or ".join(said)


def _in_package(package: str, file: str) -> Path | None:
    """A file of an installed package, found without importing it; None where there is none."""
    try:
        found = find_spec(package.partition(".")[0])
    except (ImportError, ValueError):
        return None
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        path = Path(folder, *package.split(".")[1:], file)
        if path.is_file():
            return path
    return None


def _named(form: JudgeForm, asked: str) -> tuple[Path, str, Origin]:
    """(file, name within it or "", where the form's authors have theirs in such a file)."""
    base = next((p for p in form.origins if Path(asked.split(":")[0]).name == Path(p.file).name), None)
    base = base or next((p for p in form.origins if Path(p.file).suffix == Path(asked.split(":")[0]).suffix), Origin())
    if Path(asked).is_file():
        return Path(asked), "", base
    head, _, name = asked.rpartition(":")
    if not head:
        raise ConfigError(f"form '{form.name}': no file {one_line(asked, 200)}; {cure(form)}")
    if Path(head).is_file():
        return Path(head), name, base
    file, _, row = head.rpartition(":")
    field, equals, value = row.partition("=")
    if equals and Path(file).is_file():
        return Path(file), name, replace(base, row=(field, value))
    if file and (path := _in_package(file, row)) is not None:
        return path, name, base
    raise ConfigError(
        f"form '{form.name}': no file {one_line(head, 200)}, and no installed package has it; write FILE, FILE:NAME, "
        f"FILE:FIELD=VALUE:NAME or PACKAGE:FILE:NAME; {cure(form)}"
    )


def _shown(path: Path, name: str, origin: Origin) -> str:
    if path.suffix.lower() in (".txt", ".md"):
        return path.name
    row = f":{origin.row[0]}={origin.row[1]}" if origin.row and path.suffix.lower() in (".json", ".jsonl") else ""
    return f"{path.name}{row}:{name}" if name else path.name


def _text_at(path: Path, origin: Origin, name: str, form: JudgeForm, *, optional: bool = False) -> str:
    """A text in a file, by the kind of file.

    Raises:
        ConfigError: it cannot be read, or holds no such text.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ConfigError(f"{path}: too large for a template: more than {LARGEST // 10**6} MB")
        whole = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8") from None
    kind = path.suffix.lower()
    if kind in (".txt", ".md", ""):
        return whole
    held = _constants(whole, path) if kind == ".py" else _fields(whole, path, origin)
    if not name and len(held) == 1:
        return next(iter(held.values()))
    joined = _JOINED.findall(name)
    if name in held or (joined and all(one in held for one in joined)):
        text = held.get(name) or _JOINED.sub(lambda match: held[match[1]], name)
        for slot, other in origin.inserts:
            text = text.replace(f"{{{slot}}}", held.get(other, f"{{{slot}}}"))
        return text
    if optional:
        return ""
    wanted = f"no text '{one_line(name, 80)}'" if name else f"form '{form.name}' knows no name in it"
    raise ConfigError(f"{path}: {wanted}; write {path.name}:NAME, NAME one of {_listed(held) or 'none: it holds none'}")


def _listed(names: Iterable[str]) -> str:
    found = [one_line(name, 60) for name in names]
    return ", ".join(found[:20]) + (f" and {len(found) - 20} more" if len(found) > 20 else "")


def _constants(text: str, path: Path) -> dict[str, str]:
    """String constants of a module, of its classes ("Class.NAME") and calls ("NAME.keyword"); nothing of it is run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: is no Python: {one_line(error)}") from None
    return dict(_assigned(tree.body, ""))


def _assigned(body: Iterable[ast.stmt], inside: str) -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _assigned(node.body, f"{inside}{node.name}.")
        single = [node.target] if isinstance(node, ast.AnnAssign) else []
        targets = node.targets if isinstance(node, ast.Assign) else single
        names = [f"{inside}{target.id}" for target in targets if isinstance(target, ast.Name)]
        if not names or not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        if (value := _string(node.value)) is not None:
            yield from ((name, value) for name in names)
        elif isinstance(node.value, ast.Call):  # NAME = Kind(system="...", ...): "NAME.system"
            given = {keyword.arg: _string(keyword.value) for keyword in node.value.keywords if keyword.arg}
            yield from ((f"{name}.{key}", text) for name in names for key, text in given.items() if text is not None)


def _string(node: ast.expr) -> str | None:
    """A string as it is written: a literal, two that are added, one that is stripped; None of all else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _string(node.left), _string(node.right)
        return left + right if left is not None and right is not None else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
        held = _string(node.func.value)
        return getattr(held, node.func.attr)() if held is not None and node.func.attr in _STRIPS else None
    return None


_STRIPS = ("strip", "lstrip", "rstrip")


def _fields(text: str, path: Path, origin: Origin) -> dict[str, str]:
    """The texts of a JSON or YAML mapping, of the one row that the origin names where there are rows."""
    try:
        rows = _rows(text, path.suffix.lower())
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot be read: {one_line(error)}") from None
    if origin.row is not None and len(rows) > 1:
        name, value = origin.row
        rows = [row for row in rows if str(row.get(name)) == value]
        if len(rows) != 1:
            raise ConfigError(
                f"{path}: {len(rows)} rows have '{one_line(name, 60)}' = '{one_line(value, 60)}'; want one"
            )
    if len(rows) != 1:
        raise ConfigError(
            f"{path}: holds {len(rows)} rows; write {path.name}:FIELD=VALUE:NAME, which says which row and which field"
        )
    return {str(key): value for key, value in rows[0].items() if isinstance(value, str)}


def _rows(text: str, kind: str) -> list[Mapping[str, Any]]:
    if kind == ".jsonl":
        held: Any = [json.loads(line) for line in text.splitlines() if line.strip()]
    elif kind in (".yaml", ".yml"):
        held = yaml.safe_load(text)
    elif kind == ".json":
        held = json.loads(text)
    else:
        raise ValueError(f"a template is a .txt, .md, .py, .json, .jsonl or .yaml file, got {kind}")
    rows = held if isinstance(held, list) else [held]
    return [row for row in rows if isinstance(row, Mapping)]
