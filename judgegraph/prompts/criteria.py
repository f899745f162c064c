"""Criteria sets: what kind of text is judged, and by what; ours are files, a user's has the same shape."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TypeAlias

import yaml
from pydantic import Field, field_validator

from judgegraph.errors import ConfigError, CriteriaError, ValueRefused, one_line, settings_checked
from judgegraph.types import (
    EXEMPLAR_CHARS,
    MOST_EXEMPLARS,
    REASON_CHARS,
    Criterion,
    Exemplar,
    Scale,
    Value,
    levels_text,
)

# A YAML or JSON file as nodes that know their line; whatever is wrong is named by file, line and key.
#
# The file is composed and never constructed, so a tag in it runs nothing. Its reader asks for mappings, lists
# and texts one level at a time, each list with a greatest length: aliases cannot make it larger than that.


MOST_BYTES = 250_000
_TAG = "tag:yaml.org,2002:"
_KINDS = {
    "str": "text", "int": "a number", "float": "a number", "bool": "true or false",
    "null": "nothing", "timestamp": "a date", "map": "a mapping", "seq": "a list",
}  # fmt: skip


def line_of(node: yaml.Node) -> int:
    """Where a node starts, counted from 1."""
    return int(node.start_mark.line) + 1


def kind_of(node: yaml.Node) -> str:
    """What a node is, in words: "text", "a number", "a list"."""
    return _KINDS.get(node.tag.removeprefix(_TAG), "a tagged value")


def shown(node: yaml.Node) -> str:
    """A node for a message: its kind, and a scalar's own text."""
    return f"{kind_of(node)} ({one_line(node.value, 60)})" if isinstance(node, yaml.ScalarNode) else kind_of(node)


@dataclass(frozen=True)
class MarkedFile:
    """One file being read. Every method raises its error, CriteriaError unless a kind of file has its own."""

    path: Path
    what: ClassVar[str] = "criteria file"
    error: ClassVar[type[ConfigError]] = CriteriaError
    loader: ClassVar[Any] = yaml.SafeLoader
    most_bytes: ClassVar[int] = MOST_BYTES

    def fail(self, line: int, key: str, reason: str) -> NoReturn:
        """Raise, naming the file, the line and the key ("" for none)."""
        where = f", '{key}'" if key else ""
        raise self.error(f"{self.what} {one_line(self.path)}, line {line}{where}: {reason}")

    def root(self) -> yaml.Node:
        """The document's outermost node; an empty file, two documents and broken syntax are refused."""
        text = self._text()
        try:
            node: yaml.Node | None = yaml.compose(text, Loader=self.loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            said = "; ".join(part for part in (error.context, error.problem) if part)
            self.fail(mark.line + 1 if mark else 1, "", f"is not well-formed: {one_line(said)}")
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            self.fail(line, "", f"holds the character {error.character:#x}, which YAML does not allow")
        except RecursionError:
            self.fail(1, "", "is nested too deeply")
        except (ValueError, OverflowError):
            self.fail(1, "", "holds an escape that stands for no character")
        return node if node is not None else self.fail(1, "", "is empty")

    def mapping(self, node: yaml.Node, known: tuple[str, ...], what: str) -> dict[str, yaml.Node]:
        """A mapping's values; an unknown key and a key given twice are refused."""
        self._refuse_tag(node, what)
        keys = ", ".join(known)
        if not isinstance(node, yaml.MappingNode):
            self.fail(line_of(node), what, f"expected a mapping with the keys {keys}, got {shown(node)}")
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = one_line(key.value if isinstance(key, yaml.ScalarNode) else kind_of(key), 60)
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f"; did you mean '{near[0]}'?" if near else "."
                self.fail(line_of(key), name, f"unknown key of {what}{hint} Known: {keys}")
            if name in found:
                self.fail(line_of(key), name, f"given twice, first in line {line_of(found[name])}")
            found[name] = value
        return found

    def items(self, node: yaml.Node, key: str, what: str, most: int) -> list[yaml.Node]:
        """A list's nodes, 1 to `most` of them."""
        self._refuse_tag(node, key)
        if not isinstance(node, yaml.SequenceNode):
            self.fail(line_of(node), key, f"expected {what}, got {shown(node)}")
        if not 1 <= len(node.value) <= most:
            self.fail(line_of(node), key, f"expected {what}, 1 to {most} entries, got {len(node.value)}")
        return list(node.value)

    def text(self, node: yaml.Node | None, key: str) -> str:
        """A node's text without white space around it, "" for none."""
        if node is None or kind_of(node) == "nothing":
            return ""
        self._refuse_tag(node, key)
        if kind_of(node) != "text":
            quote = "; put it in quotes" if isinstance(node, yaml.ScalarNode) else ""
            self.fail(line_of(node), key, f"expected text, got {shown(node)}{quote}")
        try:  # JSON writes signs beyond U+FFFF as two halves
            return str(node.value).strip().encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.fail(line_of(node), key, "holds a lone surrogate, which is no character")

    def filled(self, node: yaml.Node | None, key: str, parent: yaml.Node) -> str:
        """A text that must not be empty; `parent` gives the line where there is no node."""
        line = line_of(node if node is not None else parent)
        return self.text(node, key) or self.fail(line, key, "missing or empty; expected text")

    def _refuse_tag(self, node: yaml.Node, key: str) -> None:
        if not (node.tag.startswith(_TAG) and node.tag.removeprefix(_TAG) in _KINDS):
            tag = one_line(node.tag.replace(_TAG, "!!"), 80)
            self.fail(line_of(node), key, f"the tag {tag} is refused; write plain text, lists and mappings")

    def _text(self) -> str:
        try:
            with self.path.open("rb") as file:
                raw = file.read(self.most_bytes + 1)
        except OSError as error:
            raise self.error(f"{self.what} {one_line(self.path)}: {error.strerror}") from None
        if len(raw) > self.most_bytes:
            raise self.error(f"{self.what} {one_line(self.path)}: is larger than {self.most_bytes:,} bytes")
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.fail(raw.count(b"\n", 0, error.start) + 1, "", "is not UTF-8; save the file as UTF-8")
        # JSON may be indented by tabs, YAML may not; a JSON string holds none.
        return text.replace("\t", " ") if self.path.suffix.lower() == ".json" else text


# A file of criteria, YAML or JSON: its shape, and what each key may hold.


SET_KEYS = ("name", "task", "source", "criteria", "version", "digest")
CRITERION_KEYS = (
    "name", "definition", "steps", "scale", "guideline", "examples", "levels", "weight", "threshold", "since",
)  # fmt: skip
EXEMPLAR_KEYS = ("output", "score", "reason")
MOST_CRITERIA, MOST_LISTED, MOST_POINTS = 200, 100, 1001  # in a file, in a list, on a whole scale
SCALES = 'a scale such as "1-5", "1-5 by halves" or "0-1 any", a list of two or more labels, or labels with values'


@dataclass(frozen=True)
class Found:
    """A file's content; name, task and source are "" where it has none, and the version is 1."""

    name: str
    task: str
    source: str
    criteria: tuple[Criterion, ...]
    version: int = 1


def same_key(name: str) -> str:
    """What two names share that a form could not tell apart: case, spaces and punctuation do not count."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


class _OurFile(MarkedFile):
    """One that comes along: libyaml reads it in a tenth of the time, and it holds no mistake that would be told."""

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_criteria(path: Path) -> Found:
    """Read a file of the shape

        name: mine                     # the file's stem, unless given
        version: 2                     # 1, unless given
        digest: fc6f4efd               # may be left out; where it is given, task and criteria are what they were
        task: The output is a haiku.   # may be left out
        criteria:
          - name: Form
            definition: Three lines of five, seven and five syllables.
            steps: [Count the syllables of each line., Choose the value.]  # may be left out
            scale: "1-5"               # unless given; or "1-5 by halves", "0-1 any", [poor, good], {poor: 0, good: 1}
            guideline: what each value means                               # may be left out
            levels: {1: what a 1 is, 5: what a 5 is}                       # instead of it: the same as data
            weight: 2                  # 1, unless given; negative points count against
            threshold: 4               # may be left out: what `--require thresholds` holds a run against
            since: 2                   # 1, unless given: the version that brought it; asked for in a call of its own
            examples:                                                      # may be left out
              - {output: a text, score: 4, reason: why}                    # the reason too

    Raises:
        CriteriaError: unreadable, malformed, too large, or not of this shape; names file, line and key.
    """
    file = _OurFile(path) if path.parent == HERE else MarkedFile(path)
    root = file.root()
    keys = file.mapping(root, SET_KEYS, "a criteria file")
    if "criteria" not in keys:
        file.fail(line_of(root), "criteria", "missing; expected a list of criteria")
    name, task, source = (file.text(keys.get(key), key) for key in ("name", "task", "source"))
    found = Found(name, task, source, listed_criteria(file, keys["criteria"]), _version(file, keys, "version"))
    if "digest" in keys:
        _refuse_changed(file, keys["digest"], found)
    return found


def _version(file: MarkedFile, keys: dict[str, yaml.Node], key: str) -> int:
    if (node := keys.get(key)) is None:
        return 1
    plain = isinstance(node, yaml.ScalarNode) and re.fullmatch(r"[1-9][0-9]{0,5}", node.value)
    return int(node.value) if plain else file.fail(line_of(node), key, f"expected 1, 2, ..., got {shown(node)}")


def _refuse_changed(file: MarkedFile, node: yaml.Node, found: Found) -> None:
    """A digest of eight digits may read as a number, so it is taken as it is written."""
    told = node.value if isinstance(node, yaml.ScalarNode) else shown(node)
    now = _as_set(found, "set").digest
    if told != now:
        file.fail(
            line_of(node), "digest",
            f"{one_line(told, 20)} is of other criteria; task and criteria are {now} now: raise version, and write "
            "that digest or none",
        )  # fmt: skip


def listed_criteria(file: MarkedFile, node: yaml.Node) -> tuple[Criterion, ...]:
    """The criteria of a list, no two of one name.

    Raises:
        The error of `file`: not of the shape that `read_criteria` shows.
    """
    criteria: list[Criterion] = []
    lines: dict[str, int] = {}
    for item in file.items(node, "criteria", "a list of criteria", MOST_CRITERIA):
        criterion, line = _criterion(file, item), line_of(item)
        first = lines.setdefault(same_key(criterion.name), line)
        if len(lines) == len(criteria):
            clash = f"'{criterion.name}' is taken by the criterion in line {first}"
            file.fail(line, "name", f"{clash}; case and punctuation do not make names differ")
        criteria.append(criterion)
    return tuple(criteria)


def _criterion(file: MarkedFile, node: yaml.Node) -> Criterion:
    keys = file.mapping(node, CRITERION_KEYS, "a criterion")
    name = file.filled(keys.get("name"), "name", node)
    if one_line(name) != name or not same_key(name):
        file.fail(line_of(keys["name"]), "name", "expected one line of at most 200 letters, digits and signs")
    steps = file.items(keys["steps"], "steps", "a list of steps", MOST_LISTED) if "steps" in keys else []
    scale = _scale(file, keys["scale"]) if "scale" in keys else Scale(low=1, high=5)
    return Criterion(
        name=name,
        definition=file.filled(keys.get("definition"), "definition", node),
        steps=tuple(file.filled(step, "steps", step) for step in steps),
        scale=scale,
        guideline=file.text(keys.get("guideline"), "guideline") or None,
        levels=tuple(_levels(file, keys["levels"], scale).items()) if "levels" in keys else (),
        weight=_weight(file, keys["weight"]) if "weight" in keys else 1.0,
        threshold=_threshold(file, keys["threshold"], scale) if "threshold" in keys else None,
        examples=_exemplars(file, keys["examples"], scale) if "examples" in keys else (),
        since=_version(file, keys, "since"),
    )


def _pairs(file: MarkedFile, node: yaml.Node, key: str, what: str) -> list[tuple[yaml.Node, yaml.Node]]:
    """The entries of a mapping whose keys are the user's; a key that stands twice is refused."""
    file._refuse_tag(node, key)
    if not isinstance(node, yaml.MappingNode) or not 1 <= len(node.value) <= MOST_LISTED:
        file.fail(line_of(node), key, f"expected {what}, got {shown(node)}")
    seen: dict[str, int] = {}
    for name, _ in node.value:
        text = one_line(name.value if isinstance(name, yaml.ScalarNode) else shown(name), 60)
        if text in seen:
            file.fail(line_of(name), key, f"'{text}' is given twice, first in line {seen[text]}")
        seen[text] = line_of(name)
    return list(node.value)


def _levels(file: MarkedFile, node: yaml.Node, scale: Scale) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, text in _pairs(file, node, "levels", "a mapping of values to what they mean"):
        value = _score(file, name, node, scale)
        said = text.value if isinstance(text, yaml.ScalarNode) and kind_of(text) in ("a number", "text") else ""
        label = value if isinstance(value, str) else f"{value:g}"
        found[label] = said.strip() or file.fail(
            line_of(text), "levels", f"expected what {label} means, got {shown(text)}"
        )
    return found


def _float(file: MarkedFile, node: yaml.Node, key: str, what: str) -> float:
    try:
        value = float(node.value) if isinstance(node, yaml.ScalarNode) else float("nan")
    except ValueError:
        value = float("nan")
    return value if abs(value) <= 1000 else file.fail(line_of(node), key, f"expected {what}, got {shown(node)}")


def _weight(file: MarkedFile, node: yaml.Node) -> float:
    return _float(file, node, "weight", "a number from -1000 to 1000")


def _threshold(file: MarkedFile, node: yaml.Node, scale: Scale) -> float | str:
    if scale.labels and not scale.values:
        file.fail(line_of(node), "threshold", "needs an order: give the labels values, scale: {poor: 0, good: 1}")
    if scale.values and kind_of(node) == "text":
        return _score(file, node, node, scale)
    if scale.values:
        return _float(file, node, "threshold", "a label, or a number among those of the labels")
    return _score(file, node, node, scale)


def _exemplars(file: MarkedFile, node: yaml.Node, scale: Scale) -> tuple[Exemplar, ...]:
    found = []
    for item in file.items(node, "examples", "a list of examples", MOST_EXEMPLARS):
        keys = file.mapping(item, EXEMPLAR_KEYS, "an example")
        texts = {
            "output": file.filled(keys.get("output"), "output", item), "reason": file.text(keys.get("reason"), "reason")
        }  # fmt: skip
        for (key, text), most in zip(texts.items(), (EXEMPLAR_CHARS, REASON_CHARS), strict=True):
            if len(text) > most:
                file.fail(line_of(keys[key]), key, f"expected at most {most:,} characters, got {len(text):,}")
        found.append(Exemplar(score=_score(file, keys.get("score"), item, scale), **texts))
    return tuple(found)


def _score(file: MarkedFile, node: yaml.Node | None, parent: yaml.Node, scale: Scale) -> float | str:
    if node is None:
        file.fail(line_of(parent), "score", f"missing; expected a value on the scale {scale}")
    given: float | str = node.value if isinstance(node, yaml.ScalarNode) else shown(node)
    try:
        return scale.check_label(given) if scale.labels else scale.check(float(given))
    except ValueError:
        file.fail(line_of(node), "score", f"expected a value on the scale {scale}, got {shown(node)}")


def _scale(file: MarkedFile, node: yaml.Node) -> Scale:
    if isinstance(node, yaml.SequenceNode):
        nodes = file.items(node, "scale", SCALES, MOST_LISTED)
        labels = tuple(file.filled(label, "scale", label) for label in nodes)
        if len({label.casefold() for label in labels}) != len(labels) or len(labels) < 2:
            file.fail(line_of(node), "scale", "expected two or more different labels")
        return Scale(labels=labels)
    if isinstance(node, yaml.MappingNode):
        pairs = _pairs(file, node, "scale", SCALES)
        named = tuple(file.filled(label, "scale", label) for label, _ in pairs)
        values = tuple(_float(file, one, "scale", "the label's value") for _, one in pairs)
        try:
            return Scale(labels=named, values=values)
        except ValueRefused as error:
            file.fail(line_of(node), "scale", one_line(error.errors()[0]["msg"]).removeprefix("Value error, "))
    try:
        if kind_of(node) != "text":
            raise ValueError
        scale = Scale.of(node.value)
    except ValueError:
        file.fail(line_of(node), "scale", f"expected {SCALES}, got {shown(node)}")
    if scale.whole and (scale.high or 0) - (scale.low or 0) >= MOST_POINTS:
        file.fail(line_of(node), "scale", f"has over {MOST_POINTS} points; write 'any' behind it for any number")
    return scale


HERE = Path(__file__).parent / "criteria"
FILES = (".yaml", ".yml", ".json")
TASK = "The output is a text, to be judged as it stands."


class CriteriaSet(Value):
    """A named set of criteria.

    Attributes:
        name: a built-in set's name, a file's `name` (or its stem), "custom" for criteria made in code.
        task: one sentence that says what kind of text is judged.
        criteria: one or more, in the order they are asked, no two of one name (case and punctuation aside).
        source: where the criteria come from. version: 1, 2, ..., raised where a set is made of another.
    """

    name: str = Field(min_length=1)
    task: str = TASK
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    source: str = ""
    version: int = Field(default=1, ge=1)

    @field_validator("criteria")
    @classmethod
    def _distinct(cls, criteria: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
        twice = [key for key, n in Counter(same_key(c.name) for c in criteria).items() if n > 1]
        if twice:
            names = [c.name for c in criteria if same_key(c.name) == twice[0]]
            raise ValueError(f"{len(names)} criteria share one name: {', '.join(map(repr, names))}")
        return criteria

    @property
    def digest(self) -> str:
        """8 hex digits of task and criteria, which prompts are made of; name, version and source do not count."""
        bare = {at: {"examples"} for at, one in enumerate(self.criteria) if not one.examples}  # as it was without them
        text = self.model_dump_json(include={"task", "criteria"}, exclude={"criteria": bare})
        return blake2b(text.encode(), digest_size=4).hexdigest()


def as_yaml(found: CriteriaSet) -> str:
    """A set as the text of a criteria file, which reads as the same set; of a later version with its digest."""
    import yaml

    head: dict[str, object] = {"name": found.name}
    if found.version > 1:
        head |= {"version": found.version, "digest": found.digest}
    head |= {key: value for key in ("task", "source") if (value := getattr(found, key))}
    listed = [
        {
            **one.model_dump(mode="json", exclude_defaults=True, exclude=_unwritten(one)),
            **({"levels": dict(one.levels)} if one.levels else {}),
            "scale": _scale_written(one.scale),
        }
        for one in found.criteria
    ]
    return yaml.safe_dump({**head, "criteria": listed}, sort_keys=False, allow_unicode=True, width=110)


def _unwritten(one: Criterion) -> set[str]:
    """Keys that a file does without: a guideline that is its levels'."""
    return {"scale", "guideline"} if one.levels and one.guideline == levels_text(one.levels) else {"scale"}


def _scale_written(scale: Scale) -> object:
    if scale.values:
        return dict(zip(scale.labels, scale.values, strict=True))
    return list(scale.labels) or str(scale)


CriteriaLike: TypeAlias = str | os.PathLike[str] | Sequence[Criterion] | CriteriaSet


@settings_checked
def criteria_set(which: CriteriaLike) -> CriteriaSet:
    """A set from a built-in name, the path of a .yaml, .yml or .json file, criteria, or a set as it is.

    Raises:
        CriteriaError: no such set or file; a mistake in the file (names file, line and key); no criteria,
            or two of one name.
    """
    if isinstance(which, CriteriaSet):
        return which
    if not isinstance(which, str | os.PathLike):
        return _of_criteria(which)
    if isinstance(which, str) and which in _built_in():
        return _ours(which)
    path = Path(which)
    if path.suffix.lower() in FILES and path.is_file():
        return _read(path)
    raise CriteriaError(_unknown(path))


def known_sets() -> dict[str, str]:
    """Built-in set -> its task, in alphabetical order."""
    return {name: criteria_set(name).task for name in _built_in()}


@lru_cache(maxsize=1)
def _built_in() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in HERE.glob("*.yaml")))


@lru_cache(maxsize=32)
def _ours(name: str) -> CriteriaSet:
    return _read(HERE / f"{name}.yaml")


def _read(path: Path) -> CriteriaSet:
    return _as_set(read_criteria(path), path.stem)


def _as_set(found: Found, stem: str) -> CriteriaSet:
    return CriteriaSet(
        name=found.name or stem, task=found.task or TASK, criteria=found.criteria, source=found.source,
        version=found.version,
    )  # fmt: skip


def _of_criteria(criteria: Iterable[Criterion]) -> CriteriaSet:
    listed = list(criteria) if isinstance(criteria, Iterable) else [criteria]
    wrong = [c for c in listed if not isinstance(c, Criterion)]
    if wrong or not listed:
        got = repr(wrong[0]) if wrong else "none at all"
        raise CriteriaError(
            f"criteria: expected the name of a set, a file, or one or more Criterion, got {one_line(got)}"
        )
    try:
        return CriteriaSet(name="custom", criteria=tuple(listed))
    except ValueRefused as error:
        raise CriteriaError(f"criteria: {one_line(error.errors()[0]['msg'])}") from None


def _unknown(path: Path) -> str:
    which = one_line(path)
    if path.suffix.lower() in FILES:
        return f"criteria file {which}: there is no such file"
    if path.is_file():
        return f"criteria file {which}: expected a name that ends in {', '.join(FILES)}"
    near = difflib.get_close_matches(str(path), _built_in(), 1)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    known = ", ".join(_built_in())
    return f"no criteria set '{which}'{hint} Known: {known}, or the path of a .yaml or .json file"
