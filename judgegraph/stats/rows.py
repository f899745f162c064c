"""Coefficients of many short series at once, a series a row: groups of one size, systems' means of each resample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from judgegraph.stats.arrays import Codes, Coefficient, Floats
from judgegraph.stats.coefficients import ROUND_OFF, coefficient

CELLS = 2**21  # pairs of items held at once
WIDE = 256  # items a row from which tau by all pairs costs more than scipy's sorting


def of_rows(x: Floats, y: Floats, names: Sequence[Coefficient]) -> Floats:
    """(coefficients, rows), nan where undefined; a nan in a row takes its item out of that row.

    Args:
        x, y: (rows, items).
    """
    found = np.full((len(names), len(x)), np.nan)
    if x.shape[1] < 2:
        return found
    plain = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    if plain.any():
        found[:, plain] = [_of_whole_rows(x[plain], y[plain], name) for name in names]
    for row in np.flatnonzero(~plain):
        there = ~(np.isnan(x[row]) | np.isnan(y[row]))
        found[:, row] = [coefficient(name, x[row, there], y[row, there]) for name in names]
    return found


def of_groups(x: Floats, y: Floats, group: Codes, names: Sequence[Coefficient]) -> Floats:
    """(coefficients, groups) for group codes without gaps; nan where a group is single, or a side of it constant."""
    sizes = np.bincount(group)
    order, starts = np.argsort(group, kind="stable"), np.cumsum(sizes) - sizes
    found = np.full((len(names), len(sizes)), np.nan)
    for size in np.unique(sizes):
        alike = np.flatnonzero(sizes == size)
        items = order[starts[alike, None] + np.arange(size)]
        found[:, alike] = of_rows(x[items], y[items], names)
    return found


def _of_whole_rows(x: Floats, y: Floats, name: Coefficient) -> Floats:
    if name == "pearson":
        return _pearson(x, y)
    if name == "spearman":
        return _pearson(stats.rankdata(x, axis=1), stats.rankdata(y, axis=1))
    if x.shape[1] > WIDE:
        return np.array([coefficient(name, a, b) for a, b in zip(x, y, strict=True)])
    step = max(1, CELLS // x.shape[1] ** 2)
    return np.concatenate([_tau(x[i : i + step], y[i : i + step], name) for i in range(0, len(x), step)])


def _pearson(x: Floats, y: Floats) -> Floats:
    sides, defined = [], np.ones(len(x), dtype=bool)
    for side in (x, y):
        largest = np.abs(side).max(axis=1, keepdims=True)
        scaled = side / np.where(largest > 0, largest, 1.0)  # squares of huge or tiny values stay numbers
        mean = scaled.mean(axis=1, keepdims=True)
        size = np.linalg.norm(scaled - mean, axis=1, keepdims=True)
        # what is constant has a size of round-off, or none
        defined &= ((size > ROUND_OFF * np.abs(mean)) & (side != side[:, :1]).any(axis=1, keepdims=True))[:, 0]
        sides.append((scaled - mean) / np.where(size > 0, size, 1.0))
    return np.where(defined, np.clip((sides[0] * sides[1]).sum(axis=1), -1.0, 1.0), np.nan)


def _tau(x: Floats, y: Floats, name: Coefficient) -> Floats:
    """Tau-b or tau-c from all pairs of a row's items, each pair twice."""
    n = x.shape[1]
    signs = [(s[:, :, None] > s[:, None, :]).astype(np.int8) - (s[:, :, None] < s[:, None, :]) for s in (x, y)]
    surplus = (signs[0] * signs[1]).sum(axis=(1, 2), dtype=np.int64)
    untied_x, untied_y = (np.asarray(np.count_nonzero(s, axis=(1, 2))) for s in signs)
    classes = np.minimum(*(1 + np.count_nonzero(np.diff(np.sort(s, axis=1), axis=1), axis=1) for s in (x, y)))
    return tau(name, surplus, untied_x, untied_y, np.full(len(x), n), classes)


def tau(name: Coefficient, surplus: Floats, untied_x: Floats, untied_y: Floats, n: Floats, classes: Floats) -> Floats:
    """Tau-b or tau-c from counts of pairs, each pair twice; nan where a side is constant.

    Args:
        surplus: concordant less discordant. untied_x, untied_y: pairs that differ there. n: items.
        classes: distinct values of the side that has fewer.
    """
    defined = (np.asarray(untied_x) > 0) & (np.asarray(untied_y) > 0)
    if name == "kendall-b":
        under = np.sqrt(np.asarray(untied_x, dtype=np.float64)) * np.sqrt(np.asarray(untied_y, dtype=np.float64))
    else:
        under = np.asarray(n, dtype=np.float64) ** 2 * (classes - 1) / np.maximum(classes, 1)
    found = np.asarray(surplus, dtype=np.float64) / np.where(defined, under, 1.0)
    return np.where(defined, np.clip(found, -1.0, 1.0), np.nan)
