"""The order of what stands side by side in each layer, so that few edges cross."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from typing import TypeAlias

Key: TypeAlias = str | tuple[int, int]  # a node, or where an edge (its number) passes a layer
Link: TypeAlias = tuple[Key, Key]  # from a layer to the next
Layers: TypeAlias = list[list[Key]]
SWEEPS = 12


def ordered(layers: Layers, links: Sequence[Link]) -> Layers:
    """The layers with fewest crossings that sweeps down and up come by; ties stay as they were given."""
    uppers, lowers = neighbours(links)
    best, fewest = layers, crossings(layers, links)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        layers = _swept(layers, uppers) if sweep % 2 == 0 else _swept(layers[::-1], lowers)[::-1]
        if (count := crossings(layers, links)) < fewest:
            best, fewest = layers, count
    return best


def neighbours(links: Sequence[Link]) -> tuple[dict[Key, list[Key]], dict[Key, list[Key]]]:
    """(key -> those above it, key -> those below it) along the links."""
    uppers: dict[Key, list[Key]] = {}
    lowers: dict[Key, list[Key]] = {}
    for a, b in links:
        uppers.setdefault(b, []).append(a)
        lowers.setdefault(a, []).append(b)
    return uppers, lowers


def crossings(layers: Layers, links: Sequence[Link]) -> int:
    """Pairs of links that cross."""
    at = {key: (i, j) for i, layer in enumerate(layers) for j, key in enumerate(layer)}
    gaps: dict[int, list[tuple[int, int]]] = {}
    for a, b in links:
        gaps.setdefault(at[a][0], []).append((at[a][1], at[b][1]))
    return sum(map(_inversions, gaps.values()))


def _inversions(pairs: list[tuple[int, int]]) -> int:
    seen: list[int] = []
    count = 0
    for _, b in sorted(pairs):
        count += len(seen) - bisect_right(seen, b)
        insort(seen, b)
    return count


def _swept(layers: Layers, beside: dict[Key, list[Key]]) -> Layers:
    """Each layer sorted by the mean place of its neighbours in the layer before it."""
    done: Layers = [layers[0]] if layers else []
    for layer in layers[1:]:
        at = {key: j / max(1, len(done[-1]) - 1) for j, key in enumerate(done[-1])}
        own = {key: j / max(1, len(layer) - 1) for j, key in enumerate(layer)}
        mean = {key: _mean([at[n] for n in beside.get(key, ())], own[key]) for key in layer}
        done.append(sorted(layer, key=mean.__getitem__))
    return done


def _mean(places: list[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise
