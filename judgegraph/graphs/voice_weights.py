"""How much each assistant counts for a criterion: weights from a mapping or a file."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import yaml

from judgegraph.errors import ConfigError, one_line
from judgegraph.prompts.marked_file import MarkedFile, line_of, shown

Weights: TypeAlias = Mapping[str, Mapping[str, float]]  # criterion -> assistant -> 0 or more


def finite(value: Any) -> bool:
    """Whether it is a number one can calculate with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def read_weights(which: Weights | str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Weights from a mapping, or from a JSON or YAML file.

    Raises:
        ConfigError: no such file, not of this shape, or a weight that is no number of 0 or more.
    """
    plain = which if isinstance(which, Mapping) else WeightsFile(Path(which)).weights()
    for criterion, by in plain.items():
        where = f"fusion-eval: weights: {one_line(criterion, 80)}"
        if not isinstance(by, Mapping):
            raise ConfigError(f"{where}: expected assistant -> weight, got {one_line(repr(by), 60)}")
        for name, weight in by.items():
            if not finite(weight) or weight < 0:
                raise ConfigError(
                    f"{where}: {one_line(name, 80)}: expected 0 or more, got {one_line(repr(weight), 60)}"
                )
    return {str(c): {str(name): float(weight) for name, weight in by.items()} for c, by in plain.items()}


class WeightsFile(MarkedFile):
    """A file of weights: {Coherence: {rouge-l: 0.4, chrf: 0.6}, ...}."""

    what: ClassVar[str] = "weights file"
    error: ClassVar[type[ConfigError]] = ConfigError

    def weights(self) -> dict[str, dict[str, Any]]:
        """As it stands there.

        Raises:
            ConfigError: unreadable, or not of this shape; names file and line.
        """
        found = {key: self._open(node, "assistant -> weight") for key, node in self._open(self.root(), "").items()}
        return {key: {name: self._number(node) for name, node in by.items()} for key, by in found.items()}

    def _open(self, node: yaml.Node, what: str) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            self.fail(line_of(node), "", f"expected {what or 'criterion -> assistant -> weight'}, got {shown(node)}")
        return {str(key.value): value for key, value in node.value if isinstance(key, yaml.ScalarNode)}

    def _number(self, node: yaml.Node) -> Any:
        try:
            return float(node.value)
        except (TypeError, ValueError):
            self.fail(line_of(node), "", f"expected a weight of 0 or more, got {shown(node)}")
