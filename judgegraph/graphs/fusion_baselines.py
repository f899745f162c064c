"""Fusion-Eval's baselines: what stands in for the fusing judge, and what they need to be told."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import yaml

from judgegraph.agents.fusion import Blend, Rule
from judgegraph.agents.scorer import Scorer
from judgegraph.calls import JudgeLike, Reader
from judgegraph.errors import ConfigError, one_line
from judgegraph.graphs.settings import Templates, named
from judgegraph.prompts.criteria import CriteriaSet, MarkedFile, line_of, same_key, shown
from judgegraph.tools.catalogue import SAYING, Assistant, worst_and_best

# How much each assistant counts for a criterion: weights from a mapping or a file.


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


Fuse = Literal["judge", "average", "selected", "weighted"]
Direct = Literal["llm-score", "g-eval"]
Ranges: TypeAlias = Mapping[str, Sequence[float]]
WANTED = (
    "fuse='weighted' needs weights: criterion -> assistant -> 0 or more, as a mapping or a JSON or YAML file; "
    "`judgegraph meta RUN --assistants --weights-out weights.json` makes one of a run with human labels"
)


def direct_scorer(direct: Direct, judge: JudgeLike, chosen: CriteriaSet, name: str, templates: Templates) -> Scorer:
    """The direct evaluation as a node: LLMScore's or G-Eval's only agent, its scores at the stage "direct"."""
    common: dict[str, Any] = {"judge": judge, "criteria": chosen.criteria, "task": chosen.task, "stage": "direct"}
    if direct == "llm-score":
        return Scorer(**common, name=named(name, direct), **templates.of("llm_score", "direct"))
    reader = Reader("weighted", samples=20)
    return Scorer(
        **common, name=named(name, direct), reply="text", explain="never", steps=True, reader=reader,
        **{"prompt": "g_eval"} | templates.of("g_eval", "direct"),
    )  # fmt: skip


def blend(
    rule: Rule, offered: Sequence[Assistant], chosen: CriteriaSet, *, ranges: Ranges | None,
    weights: Weights | str | os.PathLike[str] | None, direct: Direct | None, name: str,
) -> Blend:  # fmt: skip
    """The node that takes the mean.

    Raises:
        ConfigError: an assistant without a range; of "weighted" no weights, or none for a criterion or an assistant.
    """
    ends = ranges_of(offered, {} if ranges is None else ranges)
    own, key = (named(name, direct), str(direct)) if direct else ("", "")
    given: Weights = {}
    if rule == "weighted":
        if weights is None:
            raise ConfigError(f"fusion-eval: {WANTED}")
        given = read_weights(weights)
        if own and any(own in by for by in given.values()):
            key = own  # weights of a run with two such graphs in one
        _complete(given, [c.name for c in chosen.criteria], [*ends, *([key] if key else [])])
    return Blend(
        ranges=ends, rule=rule, weights=given, direct=own, direct_key=key, criteria=chosen.criteria,
        name=named(name, "blend"),
    )  # fmt: skip


def known_ranges(offered: Iterable[Assistant], ranges: Ranges | None) -> tuple[Assistant, ...]:
    """Those whose worst and best value are known.

    Raises:
        ConfigError: the given ranges are no mapping.
    """
    given = _mapping({} if ranges is None else ranges)
    return tuple(a for a in offered if a.name in given or worst_and_best(a) is not None)


def ranges_of(offered: Sequence[Assistant], given: Ranges) -> dict[str, tuple[float, float]]:
    """Assistant -> (worst, best), the given ones before those that they say themselves.

    Raises:
        ConfigError: no range is known, or a given one is no pair of different numbers.
    """
    names = [a.name for a in offered]
    if unknown := sorted(map(str, set(_mapping(given)) - set(names))):
        raise ConfigError(f"fusion-eval: ranges: no assistant '{one_line(unknown[0], 80)}'; here: {', '.join(names)}")
    found: dict[str, tuple[float, float]] = {}
    for assistant in offered:
        if assistant.name in given:
            found[assistant.name] = pair(assistant.name, given[assistant.name])
        elif ends := worst_and_best(assistant):
            found[assistant.name] = ends
        else:
            raise ConfigError(
                f"fusion-eval: the mean needs the worst and the best value of '{assistant.name}', which does not say "
                f"both ({SAYING}): leave it out of assistants, or give ranges={{'{assistant.name}': [WORST, BEST]}}"
            )
    return found


def pair(name: str, ends: Any) -> tuple[float, float]:
    """(worst, best) as given.

    Raises:
        ConfigError: no pair of different numbers.
    """
    found = tuple(ends) if isinstance(ends, Sequence) and not isinstance(ends, str) else ()
    if len(found) == 2 and all(map(finite, found)) and found[0] != found[1]:
        worst, best = float(found[0]), float(found[1])
        if worst != best and finite(best - worst):
            return worst, best
    raise ConfigError(
        f"fusion-eval: ranges: {one_line(name, 80)}: expected [WORST, BEST], two different numbers, "
        f"got {one_line(repr(ends), 60)}"
    )


def _mapping(given: Any) -> Ranges:
    if not isinstance(given, Mapping):
        got = one_line(repr(given), 60)
        raise ConfigError(f"fusion-eval: ranges: expected assistant -> [WORST, BEST], got {got}")
    return given


def _complete(given: Weights, criteria: Sequence[str], voices: Sequence[str]) -> None:
    """Every criterion has a weight of every voice, or {}: it is meant to have none, and is skipped."""
    known = {same_key(name): by for name, by in given.items()}
    if without := [name for name in criteria if same_key(name) not in known]:
        said = ", ".join(f"'{one_line(name, 60)}'" for name in without[:5])
        there = one_line(", ".join(map(repr, given)), 200) or "none at all"
        raise ConfigError(
            f"fusion-eval: weights: none for {said}; there are for: {there}. Judge by these criteria alone (-c), or "
            f"write `{one_line(without[0], 60)}: {{}}` for one that is to be skipped; {WANTED}"
        )
    for criterion in criteria:
        by = known[same_key(criterion)]
        if missing := [voice for voice in voices if by and voice not in by]:
            raise ConfigError(
                f"fusion-eval: weights: {one_line(criterion, 80)}: no weight of '{missing[0]}'; 0 leaves it out"
            )
