"""A file of prices, YAML or JSON: its shape, and what each key may hold."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import yaml

from judgegraph.errors import ConfigError, CriteriaError, one_line
from judgegraph.models.prices import Price
from judgegraph.prompts.marked_file import MarkedFile, kind_of, line_of, shown

MOST = 5_000  # rows
SHAPE = 'as in "openai:gpt-4.1-mini": {prompt: 0.40, completion: 1.60}'


class PriceFile(MarkedFile):
    """A marked file whose faults are those of a price file."""

    def fail(self, line: int, key: str, reason: str) -> NoReturn:
        """Raise ConfigError, naming the file, the line and the key ("" for none)."""
        where = f", '{key}'" if key else ""
        raise ConfigError(f"price file {one_line(self.path)}, line {line}{where}: {reason}")

    def _text(self) -> str:
        try:
            return super()._text()
        except CriteriaError as error:  # it cannot be opened, or is too large
            raise ConfigError(str(error).replace("criteria", "price", 1)) from None

    def rows(self, node: yaml.Node) -> dict[str, Price]:
        """A mapping of judges' names to prices, which may be empty."""
        self._refuse_tag(node, "prices")
        if not isinstance(node, yaml.MappingNode):
            self.fail(line_of(node), "prices", f"expected a mapping of judges to prices, {SHAPE}, got {shown(node)}")
        if len(node.value) > MOST:
            self.fail(line_of(node), "prices", f"expected at most {MOST:,} prices, got {len(node.value):,}")
        found: dict[str, Price] = {}
        for key, value in node.value:
            name = self.filled(key, "prices", node)
            if one_line(name) != name:
                self.fail(line_of(key), one_line(name, 60), "expected a judge's name, one line, at most 200 characters")
            name = re.sub(r"@https?://", "@", name).rstrip("/")
            if name in found:
                self.fail(line_of(key), name, "given twice")
            found[name] = _price(self, name, key, value)
        return found


@dataclass(frozen=True)
class Found:
    """A file's content; as_of is "" where it has none."""

    as_of: str
    prices: dict[str, Price]


def read_prices(path: Path) -> Found:
    """Read a file of the shape

        as_of: 2026-04                                            # any text; may be left out
        prices:                                                   # USD per million tokens
          "openai:gpt-4.1-mini": {prompt: 0.40, completion: 1.60}  # wherever a model of that name is served
          "openai:*@localhost:8000/v1": {prompt: 0, completion: 0}

    Raises:
        ConfigError: unreadable, malformed, too large, or not of this shape; names file, line and key.
    """
    file = PriceFile(path)
    root = file.root()
    keys = file.mapping(root, ("as_of", "prices"), "a price file")
    if "prices" not in keys:
        file.fail(line_of(root), "prices", "missing; expected a mapping of judges to prices")
    as_of = keys.get("as_of")
    if as_of is not None and (not isinstance(as_of, yaml.ScalarNode) or one_line(as_of.value, 60) != as_of.value):
        file.fail(line_of(as_of), "as_of", f"expected one line of at most 60 characters, got {shown(as_of)}")
    return Found(as_of.value if as_of is not None else "", file.rows(keys["prices"]))


def _price(file: MarkedFile, name: str, key: yaml.Node, node: yaml.Node) -> Price:
    if not isinstance(node, yaml.MappingNode):
        file.fail(line_of(node), name, f"expected a price, {SHAPE}, got {shown(node)}")
    parts = file.mapping(node, ("prompt", "completion"), f"the price of {name}")
    for part in ("prompt", "completion"):
        if part not in parts:
            file.fail(line_of(key), name, f"{part} is missing; expected USD per million tokens, {SHAPE}")
    return Price(_usd(file, "prompt", parts["prompt"]), _usd(file, "completion", parts["completion"]))


def _usd(file: MarkedFile, key: str, node: yaml.Node) -> float:
    plain = isinstance(node, yaml.ScalarNode) and node.style is None
    if plain and kind_of(node) in ("a number", "text"):  # 1e-1 is a text to YAML, a number to JSON
        try:
            usd = float(node.value)
        except ValueError:
            usd = math.nan
        if 0 <= usd < math.inf:
            return usd
    return file.fail(line_of(node), key, f"expected USD per million tokens, a number of 0 or more, got {shown(node)}")
