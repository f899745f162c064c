"""Probes of a judge's biases around any method: exchanged order, padded copies, its own model's outputs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from judgegraph import registry
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.meta.copies import ORIGINAL, Seen, copies
from judgegraph.meta.measured import Drawing
from judgegraph.meta.padded_probe import Padded, padding
from judgegraph.meta.padding import KINDS
from judgegraph.meta.self_probe import OwnModel, own_model, own_systems
from judgegraph.meta.swap_probe import Swapped, swapped
from judgegraph.runtime.evaluate import evaluate
from judgegraph.runtime.outcome import nothing_judged
from judgegraph.runtime.run import Run
from judgegraph.stats.arrays import Codes
from judgegraph.types import Sample

PROBES = ("swap", "padded", "self")
FAILURES = 20  # kinds that are told


@dataclass(frozen=True)
class Probes:
    """What the probes found; of a probe that was not asked for None.

    Attributes:
        samples: probed. judged: of these, and of their copies, those whose graph came to its end. copies: made.
        signature, state, spent: of the run: all that the numbers depend on, how it ended, what it cost.
        failures: (status, reason) -> how many samples and copies ended so; why: in words, where none was judged.
    """

    samples: int
    copies: int
    judged: int
    signature: str
    state: str
    spent: Mapping[str, Any]
    confidence: float
    swap: Swapped | None = None
    padded: Padded | None = None
    own: OwnModel | None = None
    failures: Mapping[tuple[str, str], int] = field(default_factory=dict)
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        found = {"swap": self.swap, "padded": self.padded, "self": self.own}
        about = {
            "samples": self.samples, "copies": self.copies, "judged": self.judged, "confidence": self.confidence,
            "signature": self.signature, "state": self.state, "spent": dict(self.spent),
        }  # fmt: skip
        failed = [{"status": s, "reason": r, "count": n} for (s, r), n in self.failures.items()]
        about |= {"failures": failed, **({"nothing_judged": self.why} if self.why else {})}
        return {**about, **{name: one.to_dict() for name, one in found.items() if one is not None}}


def probe(
    graph: Any, samples: Iterable[Sample], probes: Sequence[str] = ("swap", "padded"), *,
    kinds: Sequence[str] = tuple(KINDS), own: str | Sequence[str] = (), judge: Any = None, confidence: float = 0.95,
    resamples: int = 1000, seed: int = 0, **settings: Any,
) -> Probes:  # fmt: skip
    """Measure a judge's biases: judge samples, then copies of them that should fare the same.

    "swap" exchanges output and rival; it needs pairs, and a method that writes `verdict`. "padded" judges copies that
    are longer and say no more: alone, or of pairs beside their own original, in both orders. "self" compares scores of
    the judge's own model's outputs with those of others that people score alike; it judges nothing more, and needs
    `human` and `meta.system`. What a probe cannot say of a method or data it says so, in `note`.

    The samples are judged first, then the copies, all as one run; they are held in memory. Shares have Wilson's
    interval, all else a percentile bootstrap over samples; where every sample has a `meta.group`, groups are what
    counts for both. One sample or group alone has no interval.

    Args:
        graph: a compiled graph, or what `judgegraph methods` lists, or a file of one's own.
        kinds: of padding: "repeated" (the last sentence three more times), "polite" (courtesies), "restated" (all of it
            twice). own: systems that are the judge's own model; () for those called as one of the graph's judges.
        judge: of a method given by name. confidence: of intervals, 0 to 1. resamples, seed: of the bootstrap.
        settings: of `evaluate`: out, ledger, budget, concurrency, ...; without `out` nothing is kept.

    Raises:
        ConfigError: no such probe or kind; and as `evaluate`. DataError: as `evaluate`, and where there is no sample.
    """
    _check(probes, kinds, confidence, resamples, settings)
    made = graph if not isinstance(graph, str) else registry.factory(graph)(**({"judge": judge} if judge else {}))
    held = list(samples)
    if not held:
        raise DataError("there are no samples to probe with")
    with ExitStack() as stack:
        if settings.get("out") is None:
            settings["out"] = os.path.join(stack.enter_context(TemporaryDirectory(prefix="judgegraph-probe-")), "run")
        run, seen, words = _judged(made, held, probes, kinds, settings)
        failed = Counter((item.status, item.reason) for item in run.items if item.status != "ok")
        why = "" if any(seen) else nothing_judged(run.items, (), run.manifest.get("state"))
    drawing, units = Drawing(confidence, resamples, seed), _groups(held)
    found: dict[str, Any] = {}
    if "swap" in probes:
        found["swap"] = swapped(seen, words, units, drawing, ORIGINAL)
    if "padded" in probes:
        found["padded"] = padding(seen, words, kinds, units, drawing, ORIGINAL)
    if "self" in probes:
        names = own_systems(made, held, own)
        found["own"] = own_model(held, [one.get(ORIGINAL) for one in seen], names, units, drawing)
    if why:
        found = {name: replace(one, note=f"{one.note}: {why}" if one.note else why) for name, one in found.items()}
    told = run.manifest
    judged, extra = sum(map(len, seen)), sum(map(len, words))
    found |= {"failures": dict(failed.most_common(FAILURES)), "why": why}
    return Probes(len(held), extra, judged, run.signature, str(told["state"]), told["spent"], confidence, **found)


def _judged(
    graph: Any, held: Sequence[Sample], probes: Sequence[str], kinds: Sequence[str], settings: Mapping[str, Any]
) -> tuple[Run, list[dict[str, Seen]], list[list[str]]]:
    """The run, what was seen of each sample by the words of its copies, and the words of all its copies.

    Whether a method judges pairs is known when it has: so the copies are made after the originals were judged, and the
    second call goes on with the first one's run.
    """
    run = evaluate(graph, held, **settings)
    pairwise = any(item.comparisons or item.verdict is not None for item in run.items)
    made = [list(copies(sample, probes, kinds, pairwise)) for sample in held]
    if any(made) and run.manifest["state"] == "finished":
        run = evaluate(graph, chain(held, (copy for some in made for _, copy in some)), **settings)
    places = {sample.id: (place, ORIGINAL) for place, sample in enumerate(held)}
    places |= {copy.id: (place, word) for place, some in enumerate(made) for word, copy in some}
    seen: list[dict[str, Seen]] = [{} for _ in held]
    for item in run.items:
        if item.status == "ok" and item.id in places:
            place, word = places[item.id]
            seen[place][word] = Seen.of(item)
    return run, seen, [[word for word, _ in some] for some in made]


def _check(
    probes: Sequence[str], kinds: Sequence[str], confidence: float, resamples: int, settings: Mapping[str, Any]
) -> None:
    for what, given, known in (("probes", probes, PROBES), ("kinds", kinds, tuple(KINDS))):
        if isinstance(given, str) or not given or (wrong := [name for name in given if name not in known]):
            shown = one_line(repr(given if isinstance(given, str) or not given else wrong[0]), 60)
            raise ConfigError(f"{what}: expected some of {', '.join(known)}, as a list; got {shown}")
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence: expected more than 0 and less than 1, got {confidence}")
    if not isinstance(resamples, int) or resamples < 1:
        raise ConfigError(f"resamples: expected a whole number, 1 or more, got {one_line(repr(resamples), 40)}")
    if settings.get("retry_failed"):
        raise ConfigError("probe: retry_failed is of a run; probe again with the same out= to go on")


def _groups(samples: Sequence[Sample]) -> Codes | None:
    """Of samples that hang together; None where one has no group."""
    names = [sample.meta.get("group") for sample in samples]
    if any(name is None for name in names):
        return None
    return np.unique(np.array([str(name) for name in names]), return_inverse=True)[1].astype(np.intp)
