"""Fusion-Eval's baselines: what stands in for the fusing judge, and what they need to be told."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from judgegraph.agents.blend import Blend, Rule
from judgegraph.agents.scorer import Scorer
from judgegraph.calls import JudgeLike, Reader
from judgegraph.errors import ConfigError, one_line
from judgegraph.graphs.settings import named
from judgegraph.graphs.voice_weights import Weights, finite, read_weights
from judgegraph.prompts.criteria_sets import CriteriaSet
from judgegraph.prompts.sections import slug
from judgegraph.tools.finding import Assistant
from judgegraph.tools.ranges import worst_and_best

Fuse = Literal["judge", "average", "selected", "weighted"]
Direct = Literal["llm-score", "g-eval"]
Ranges: TypeAlias = Mapping[str, Sequence[float]]
WANTED = (
    "fuse='weighted' needs weights: criterion -> assistant -> 0 or more, as a mapping or a JSON or YAML file; "
    "`judgegraph meta RUN --assistants --weights-out weights.json` makes one of a run with human labels"
)


def direct_scorer(direct: Direct, judge: JudgeLike, chosen: CriteriaSet, name: str) -> Scorer:
    """The direct evaluation as a node: LLMScore's or G-Eval's only agent, its scores at the stage "direct"."""
    common: dict[str, Any] = {"judge": judge, "criteria": chosen.criteria, "task": chosen.task, "stage": "direct"}
    if direct == "llm-score":
        return Scorer(**common, name=named(name, direct))
    reader = Reader("weighted", samples=20)
    return Scorer(
        **common, name=named(name, direct), prompt="g_eval", reply="text", explain="never", steps=True, reader=reader
    )


def blend(
    rule: Rule, offered: Sequence[Assistant], chosen: CriteriaSet, *, ranges: Ranges | None,
    weights: Weights | str | os.PathLike[str] | None, direct: Direct | None, name: str,
) -> Blend:  # fmt: skip
    """The node that takes the mean.

    Raises:
        ConfigError: an assistant without a range; of "weighted" no weights, or none for a criterion or an assistant.
    """
    ends = ranges_of(offered, ranges or {})
    given: Weights = {}
    if rule == "weighted":
        if weights is None:
            raise ConfigError(f"fusion-eval: {WANTED}")
        given = read_weights(weights)
        _complete(given, [c.name for c in chosen.criteria], [*ends, *([direct] if direct else [])])
    return Blend(
        ranges=ends, rule=rule, weights=given, direct=named(name, direct) if direct else "",
        direct_key=direct or "", criteria=chosen.criteria, name=named(name, "blend"),
    )  # fmt: skip


def known_ranges(offered: Iterable[Assistant], ranges: Ranges | None) -> tuple[Assistant, ...]:
    """Those whose worst and best value are known."""
    return tuple(a for a in offered if a.name in (ranges or {}) or worst_and_best(a) is not None)


def ranges_of(offered: Sequence[Assistant], given: Ranges) -> dict[str, tuple[float, float]]:
    """Assistant -> (worst, best), the given ones before those that they say themselves.

    Raises:
        ConfigError: no range is known, or a given one is no pair of different numbers.
    """
    names = [a.name for a in offered]
    if unknown := sorted(set(given) - set(names)):
        raise ConfigError(f"fusion-eval: ranges: no assistant '{one_line(unknown[0], 80)}'; here: {', '.join(names)}")
    found: dict[str, tuple[float, float]] = {}
    for assistant in offered:
        ends = given.get(assistant.name) or worst_and_best(assistant)
        if ends is None:
            raise ConfigError(
                f"fusion-eval: the mean needs the worst and the best value of '{assistant.name}', which does not say "
                f"both: leave it out of assistants, or give ranges={{'{assistant.name}': [WORST, BEST]}}"
            )
        pair = tuple(ends) if isinstance(ends, Sequence) and not isinstance(ends, str) else ()
        if len(pair) != 2 or not all(map(finite, pair)) or pair[0] == pair[1]:
            raise ConfigError(
                f"fusion-eval: ranges: {assistant.name}: expected [WORST, BEST], two different numbers, "
                f"got {one_line(repr(ends), 60)}"
            )
        found[assistant.name] = (float(pair[0]), float(pair[1]))
    return found


def _complete(given: Weights, criteria: Iterable[str], voices: Sequence[str]) -> None:
    known = {slug(name): by for name, by in given.items()}
    for criterion in criteria:
        if slug(criterion) not in known:
            raise ConfigError(f"fusion-eval: weights: none for '{one_line(criterion, 80)}'; {WANTED}")
        if missing := [voice for voice in voices if voice not in known[slug(criterion)]]:
            raise ConfigError(
                f"fusion-eval: weights: {one_line(criterion, 80)}: no weight of '{missing[0]}'; 0 leaves it out"
            )
