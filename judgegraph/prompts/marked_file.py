"""A YAML or JSON file as nodes that know their line; whatever is wrong is named by file, line and key.

The file is composed and never constructed, so a tag in it runs nothing. Its reader asks for mappings, lists
and texts one level at a time, each list with a greatest length: aliases cannot make it larger than that.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NoReturn

import yaml

from judgegraph.errors import ConfigError, CriteriaError, one_line

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
    loader: ClassVar[type[yaml.SafeLoader]] = yaml.SafeLoader
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
