"""A judge form: what a judge of somebody else wants to be asked, and how its reply is to be read.

A form holds no text of its authors. It says where their template can be had (`Origin`), which of our keys its slots are
filled from, how the request is made (chat or raw text, system, prefix, stop), and what the reply says (`reader`,
`labels`, `tie`, `scale`). The template itself comes at run time: `judgegraph.forms.templates`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import yaml
from pydantic import ValidationError

from judgegraph.errors import ConfigError, one_line, settings_checked
from judgegraph.types import Scale

Kind: TypeAlias = Literal["single", "pair"]
Ask: TypeAlias = Literal["chat", "completion"]
OrderRule: TypeAlias = Literal["agree-else-tie", "mean", "one"]

KEYS: Mapping[str, str] = MappingProxyType({
    "query": "the request that is answered",
    "source": "what the output was made from: a context, an input",
    "output": "the response to score",
    "A": "the response that stands first",
    "B": "the response that stands second",
    "reference": "an answer written by people",
    "contexts": "passages that were retrieved",
    "turns": "messages, calls of tools and their results",
    "facts": "what else is known about the case",
    "criterion": "the criterion's name",
    "definition": "what the criterion measures",
    "rubric": "the definition in brackets, and what each score means below it",
    "levels": "what each score means: the criterion's guideline",
    "scale": "the scale, such as 1-5",
    "task": "one sentence: what kind of text is judged",
})  # fmt: skip
OF_CRITERION = ("criterion", "definition", "rubric", "levels")
NEEDED: Mapping[Kind, tuple[str, ...]] = MappingProxyType({"single": ("output",), "pair": ("A", "B")})


@dataclass(frozen=True)
class Origin:
    """Where a template stands that its authors publish.

    Attributes:
        package: the module's name where one is installed, "" where no package brings it. pip: how pip calls it.
        file: within the package, or as its authors call it. user, system: names of the constants, or the fields of a
            row, that hold the two messages; system "" is none.
        row: (field, value) of the row in a file of rows. where: repository and folder, for people.
        inserts: (slot, name) of slots that the authors fill with another constant. A name in `user` may be a text with
            <NAME> in it, where they join several.
    """

    file: str = ""
    user: str = ""
    system: str = ""
    package: str = ""
    pip: str = ""
    row: tuple[str, str] | None = None
    where: str = ""
    inserts: tuple[tuple[str, str], ...] = ()


@settings_checked
@dataclass(frozen=True, kw_only=True)
class JudgeForm:
    """What a judge wants to be asked and how its reply is read.

    Attributes:
        name: of the form. kind: "single" scores one response, "pair" compares two. about: one line.
        reader: of `judgegraph.forms.readers.READERS`.
        scale: of the numbers in the reply, such as "1-5" or "1-10 any"; "" takes the criterion's own.
        labels: how the reply calls what stood first and what stood second. tie: how it calls a tie, "" where it has
            none: a tie is then unreadable.
        endpoint: "chat" asks by messages, "completion" by raw text, which a model without a chat template needs.
        wrap: around a raw text, with {prompt} and perhaps {system} in it.
        prefix: what the judge's own turn begins with. stop: what ends its reply.
        slots: their names -> our `KEYS`, beside the names that are known (`templates.KNOWN_SLOTS`).
        drop_if_empty: of our keys, those whose paragraph is left out where the sample has nothing for them.
        orders: how two orders of a pair come to one verdict; "one" where the authors ask one order alone.
        settings: how its authors sample, such as {"temperature": 0, "max_tokens": 1024}.
        origins: where its template can be had, the best first. prompt: of a form of ours, its template.
        source: paper or repository that the form was read from.
    """

    name: str
    kind: Kind
    reader: str
    about: str = ""
    scale: str = ""
    labels: tuple[str, str] = ("A", "B")
    tie: str = ""
    endpoint: Ask = "chat"
    wrap: str = ""
    prefix: str = ""
    stop: tuple[str, ...] = ()
    slots: Mapping[str, str] = field(default_factory=dict, hash=False)
    drop_if_empty: tuple[str, ...] = ()
    orders: OrderRule = "one"
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    origins: tuple[Origin, ...] = ()
    prompt: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        for name, kinds in (("kind", Kind), ("endpoint", Ask), ("orders", OrderRule)):
            if (value := getattr(self, name)) not in get_args(kinds):
                known = ", ".join(map(repr, get_args(kinds)))
                raise ConfigError(f"form '{one_line(self.name, 80)}': {name} is one of {known}, got {value!r:.80}")
        if self.scale:
            self.numbers()
        if unknown := sorted({*self.slots.values(), *self.drop_if_empty} - set(KEYS)):
            listed = ", ".join(one_line(name, 40) for name in unknown)
            raise ConfigError(f"form '{one_line(self.name, 80)}': no key {listed}; known: {', '.join(KEYS)}")
        if self.wrap and "{prompt}" not in self.wrap:
            raise ConfigError(f"form '{one_line(self.name, 80)}': wrap has no {{prompt}} in it")

    def numbers(self, own: Scale | None = None) -> Scale | None:
        """The scale of the reply's numbers: the form's, else the criterion's own.

        Raises:
            ConfigError: the form's is none.
        """
        try:
            return Scale.of(self.scale) if self.scale else own
        except (ValueError, ValidationError) as error:
            raise ConfigError(f"form '{one_line(self.name, 80)}': scale: {one_line(error)}") from None


def read_form(path: Path) -> JudgeForm:
    """A form of one's own from a YAML file, whose keys are the attributes of `JudgeForm`.

    `origins` is not among them, as who writes a form has its template: it is given beside it.

    Raises:
        ConfigError: no such file, no YAML, an unknown key, or a wrong value; with file and key.
    """
    try:
        held = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: no form can be read there: {error.strerror or error}") from None
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path}: a form is a YAML file: {one_line(error)}") from None
    if not isinstance(held, dict):
        raise ConfigError(f"{path}: a form is a mapping, kind: and reader: at least; got {type(held).__name__}")
    known = {one.name for one in fields(JudgeForm)} - {"origins", "prompt"}
    if unknown := sorted(str(key) for key in held if key not in known):
        listed = ", ".join(one_line(key, 40) for key in unknown)
        raise ConfigError(f"{path}: a form has no key {listed}; known: {', '.join(sorted(known))}")
    if missing := [key for key in ("kind", "reader") if key not in held]:
        raise ConfigError(f"{path}: the form lacks {' and '.join(missing)}")
    return JudgeForm(**{"name": path.stem, **{key: _value(path, key, value) for key, value in held.items()}})


def _value(path: Path, key: str, value: Any) -> Any:
    """A key's value as the form holds it: lists as tuples, texts as they are."""
    if key in ("slots", "settings"):
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise ConfigError(f"{path}, key '{key}': expected a mapping of names")
        return value
    if key in ("labels", "stop", "drop_if_empty"):
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise ConfigError(f"{path}, key '{key}': expected a list of texts; put 'quotes' around numbers")
        if key == "labels" and len(value) != 2:
            raise ConfigError(f"{path}, key 'labels': expected two, of what stands first and second; got {len(value)}")
        return tuple(value)
    if not isinstance(value, str):
        raise ConfigError(f"{path}, key '{key}': expected a text, got {type(value).__name__}; put 'quotes' around it")
    return value
