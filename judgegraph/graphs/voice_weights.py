"""How much each assistant counts for a criterion: weights from a mapping or a file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import yaml

from judgegraph.errors import ConfigError, one_line
from judgegraph.prompts.criteria_file import same_key
from judgegraph.prompts.marked_file import MarkedFile, line_of, shown

Weights: TypeAlias = Mapping[str, Mapping[str, float]]  # criterion -> assistant -> 0 or more


def finite(value: Any) -> bool:
    """Whether it is a number one can calculate with."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def read_weights(which: Weights | str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Weights from a mapping, or from a JSON or YAML file; a criterion may have none: {}.

    Raises:
        ConfigError: no such file, not of this shape, a criterion twice (case and punctuation aside), or a weight that
            is no number of 0 or more.
    """
    if not isinstance(which, Mapping | str | os.PathLike):
        raise ConfigError(
            "fusion-eval: weights: expected criterion -> assistant -> weight, or a file of such, "
            f"got {one_line(repr(which), 60)}"
        )
    plain = which if isinstance(which, Mapping) else WeightsFile(Path(which)).weights()
    found: dict[str, dict[str, float]] = {}
    names: dict[str, str] = {}
    for criterion, by in plain.items():
        first = names.setdefault(same_key(str(criterion)), str(criterion))
        if first in found:
            raise ConfigError(f"fusion-eval: weights: '{one_line(criterion, 80)}' is given twice, also as '{first}'")
        found[str(criterion)] = _weights(f"fusion-eval: weights: {one_line(criterion, 80)}", by)
    return found


def _weights(where: str, by: Any) -> dict[str, float]:
    if not isinstance(by, Mapping):
        raise ConfigError(f"{where}: expected assistant -> weight, got {one_line(repr(by), 60)}")
    for name, weight in by.items():
        if not finite(weight) or weight < 0:
            raise ConfigError(f"{where}: {one_line(name, 80)}: expected 0 or more, got {one_line(repr(weight), 60)}")
    return {str(name): float(weight) for name, weight in by.items()}


class WeightsFile(MarkedFile):
    """A file of weights: {Coherence: {rouge-l: 0.4, chrf: 0.6}, ...}."""

    what: ClassVar[str] = "weights file"
    error: ClassVar[type[ConfigError]] = ConfigError

    def weights(self) -> dict[str, dict[str, Any]]:
        """As it stands there.

        Raises:
            ConfigError: unreadable, or not of this shape; names file and line.
        """
        found = self._open(self.root(), "criterion -> assistant -> weight", same_key)
        opened = {key: self._open(node, "assistant -> weight", str) for key, node in found.items()}
        return {key: {name: self._number(node) for name, node in by.items()} for key, by in opened.items()}

    def _open(self, node: yaml.Node, what: str, alike: Callable[[str], str]) -> dict[str, yaml.Node]:
        """A mapping's values; keys that are alike are refused, as one would hide the other."""
        if not isinstance(node, yaml.MappingNode):
            self.fail(line_of(node), "", f"expected {what}, got {shown(node)}")
        found: dict[str, yaml.Node] = {}
        lines: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fail(line_of(key), "", f"expected {what}, got {shown(key)} for a name")
            name = str(key.value)
            if alike(name) in lines:
                self.fail(line_of(key), one_line(name, 60), f"given twice, first in line {lines[alike(name)]}")
            lines[alike(name)], found[name] = line_of(key), value
        return found

    def _number(self, node: yaml.Node) -> Any:
        try:
            return float(node.value)
        except (TypeError, ValueError):
            self.fail(line_of(node), "", f"expected a weight of 0 or more, got {shown(node)}")
