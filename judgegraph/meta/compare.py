"""Several runs over the same samples as one table: means, agreement with people, cost, which differences are real."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from judgegraph.answers import answers_of
from judgegraph.data.samples import ABSENT, UNTRUSTED, grouping_value
from judgegraph.errors import ConfigError, DataError, counted, one_line, settings_checked
from judgegraph.meta.agreement import THIN, agreement
from judgegraph.meta.answers import answers_in
from judgegraph.meta.cells import BOTH, Judgements, Unjudged
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic import codes
from judgegraph.meta.diff_moves import paid_for, part_of_manifest
from judgegraph.meta.judgements import Seen, read_seen, seen_of
from judgegraph.meta.ranking import WON
from judgegraph.meta.result import Agreement, Row, json_values
from judgegraph.runs.folder import LEDGER
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run, Table, incomplete_run, rejected_rows, seldom
from judgegraph.runs.summary import Covered, covered, criteria_names, has_weights, summarise
from judgegraph.shown import Shown
from judgegraph.stats.agreement import corrected, exact, permutation_tests_of_means
from judgegraph.stats.bootstrap import mean_interval
from judgegraph.stats.correlation import Codes, Floats
from judgegraph.types import Scale

MOST_RUNS = 12
LEAST = 5  # samples that an interval and a test rest on
ALPHA = 0.05
PERMUTATIONS = 10_000
VERDICT = "verdict for A"  # of pairs: 1, 0.5 for a tie, 0
RunLike = Run | str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class ComparedRun:
    """One of the runs.

    Attributes:
        name: of its folder, or its method; no two are alike. samples: that it has. finished: of these, those whose
            graph came to its end. coverage: as a gate on coverage counts it, rows of the data that were rejected
            included. seconds: median time of a sample, None where no call was paid for: what a ledger answers takes a
            time of its own.
        calls, tokens, usd: that were paid for; None where that is not known, usd where a price is not. from_ledger:
            replies that lay in a ledger which it shares with others, and cost nothing here.
        incomplete: why its numbers are of a part, "" of a run that came to its end.
    """

    name: str
    method: str
    signature: str
    samples: int
    finished: int
    coverage: Covered
    calls: int | None
    tokens: int | None
    usd: float | None
    seconds: float | None
    incomplete: str = ""
    from_ledger: int = 0


@dataclass(frozen=True, kw_only=True)
class MeanOf:
    """Mean answer of a run by a criterion, on the samples for which every run with this criterion has one.

    Attributes:
        low, high: 95 % interval, nan of fewer than five samples. n: samples. alone: samples that this run answers,
            those that other runs lack included. scale: in words.
    """

    run: str
    criterion: str
    mean: float
    low: float = math.nan
    high: float = math.nan
    n: int
    alone: int
    scale: str = ""


@dataclass(frozen=True, kw_only=True)
class MeanDifference:
    """Two runs by one criterion, sample by sample.

    Attributes:
        difference: of the means, a less b. low, high: its 95 % interval. p: two-sided, by swapping the runs' answers
            sample by sample (group by group, where samples name theirs); corrected: for all differences (Holm).
        unit: what was swapped, "sample" or "group" (`meta.group`, whole). units: how many. least_p: the least p that
            so many can give, before the correction. note: why it was not tested, or how far p can fall.
    """

    criterion: str
    a: str
    b: str
    n: int
    difference: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    corrected: float = math.nan
    unit: str = "sample"
    units: int = 0
    least_p: float = math.nan
    note: str = ""

    @property
    def is_real(self) -> bool:
        """Whether it is told from chance after the correction."""
        return self.corrected < ALPHA

    @property
    def p_is_least(self) -> bool:
        """Whether so many drawn swaps cannot give a smaller p, and more of them might."""
        return self.p * (PERMUTATIONS + 1) < 1 + 1e-9


@dataclass(frozen=True, kw_only=True)
class RunComparison(Shown):
    """Runs over the same samples.

    Attributes:
        runs: in the order given; the first is what the others are held to. samples: that are in all of them, with one
            query, source and reference; same_outputs: of these, those of which all judged one output, too.
        means, differences: by criterion. agreement: with people, each run a metric; None where people judged nothing.
        notes: what was left out, and why.
    """

    runs: tuple[ComparedRun, ...]
    samples: int
    same_outputs: int
    means: tuple[MeanOf, ...]
    differences: tuple[MeanDifference, ...]
    agreement: Agreement | None = field(default=None)
    notes: tuple[str, ...] = ()

    @property
    def criteria(self) -> list[str]:
        """In the order of their first coming."""
        return list(dict.fromkeys(one.criterion for one in self.means))

    def mean(self, run: str, criterion: str) -> MeanOf | None:
        """Of a run by a criterion, None where it has none."""
        return next((one for one in self.means if (one.run, one.criterion) == (run, criterion)), None)

    def with_people(self, run: str, criterion: str) -> list[Row | None]:
        """How a run's answers by a criterion agree with people, by the first statistic; of agents that answer side by
        side a row for each, named "run: agent". None alone where nothing is known."""
        found: dict[str, Row | None] = {}
        longer = [one.name for one in self.runs if one.name.startswith(f"{run}: ")]  # other runs, and no agents of it
        for row in self.agreement.rows if self.agreement else ():
            others = any(row.metric == name or row.metric.startswith(f"{name}: ") for name in longer)
            mine = row.metric == run or (row.metric.startswith(f"{run}: ") and not others)
            if mine and row.criterion.casefold() == criterion.casefold():
                found.setdefault(row.metric, row)
        return [*found.values()] or [None]

    def worse(self) -> list[MeanDifference]:
        """Runs that are really below the first one by a criterion."""
        return [one for one in self._with_first() if one.is_real and one.difference > 0]

    def untested(self) -> list[str]:
        """Runs of which no difference with the first one could be tested, or shown by so few samples or groups: nobody
        knows whether they are below it."""
        tested = {one.b for one in self._with_first() if self.least_corrected(one) < ALPHA}
        return [run.name for run in self.runs[1:] if run.name not in tested]

    def least_corrected(self, one: MeanDifference) -> float:
        """The least p, corrected, that a difference could have with so many units; nan where it was not tested."""
        return min(1.0, one.least_p * sum(not math.isnan(other.p) for other in self.differences))

    def _with_first(self) -> list[MeanDifference]:
        return [one for one in self.differences if one.a == self.runs[0].name]

    def table(self) -> Table:
        """A row for each run and criterion: mean, interval, agreement with people."""
        rows: list[dict[str, Any]] = []
        for one in self.means:
            rows += [{
                **asdict(one), "metric": found.metric if found and found.metric != one.run else None,
                "statistic": found.statistic if found else None,
                "agreement": found.value if found else None, "agreement_low": found.interval[0] if found else None,
                "agreement_high": found.interval[1] if found else None, "agreement_n": found.n if found else None,
            } for found in self.with_people(one.run, one.criterion)]  # fmt: skip
        return Table(rows, COLUMNS, "mean")

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        found: dict[str, Any] = json_values({
            "samples": self.samples, "same_outputs": self.same_outputs,
            "runs": [{**asdict(run), "coverage": run.coverage._asdict()} for run in self.runs],
            "means": [asdict(one) for one in self.means],
            "differences": [{**asdict(one), "is_real": one.is_real} for one in self.differences],
            "agreement": self.agreement.to_dict() if self.agreement else None, "notes": list(self.notes),
        })  # fmt: skip
        return found

    def __str__(self) -> str:
        real = sum(one.is_real for one in self.differences)
        runs, differences = counted(len(self.runs), "run"), counted(len(self.differences), "difference")
        return f"{runs} on {counted(self.samples, 'sample')}, {real} of {differences} real"


COLUMNS = ("run", "criterion", "scale", "n", "alone", "mean", "low", "high", "metric", "statistic", "agreement",
           "agreement_low", "agreement_high", "agreement_n")  # fmt: skip


# What is kept of a run: its answers by sample, and what they are answers to.


@dataclass
class _Held:
    """A run as it is compared.

    Attributes:
        answers: criterion (casefolded) -> sample id -> value. names, scales, labels: of criteria, by the same key.
        given, judged: sample id -> digest of its query, source and reference, and of its outputs. groups: by id.
        unread: criterion -> the statuses of its scores that say nothing. places: of samples, in the data.
        people: its answers beside people's, by criterion. untold: why these cannot be told. thin: ids of
            texts that give nothing to judge.
    """

    row: ComparedRun
    answers: dict[str, dict[str, float]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    scales: dict[str, set[str]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    given: dict[str, bytes] = field(default_factory=dict)
    judged: dict[str, bytes] = field(default_factory=dict)
    groups: dict[str, str | None] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)
    people: list[Judgements] = field(default_factory=list)
    thin: set[str] = field(default_factory=set)
    unread: dict[str, Counter[str]] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    untold: str = ""

    def add(self, item: Item, key: str | None = None) -> None:
        """One item's answers; several agents' by one criterion count by their mean. `key`: of its group, in meta."""
        sample = item.sample
        self.given[item.id] = _digest(sample.query, sample.source, sample.reference, *sample.shown_evidence().values())
        self.judged[item.id] = _digest(sample.output, sample.rival)
        self.places[item.id] = item.place
        group = grouping_value(sample, key or "group")
        group = None if group is ABSENT else group
        if key and group is None:
            raise DataError(f"sample '{one_line(item.id, 60)}' has no {one_line(key, 60)!r} in its meta, to group by")
        self.groups[item.id] = None if group is None else str(group)
        if any(note.kind in UNTRUSTED for note in item.notes):
            self.thin.add(item.id)
        if item.ms and item.status == "ok":
            self.times.append(item.ms / 1000)
        found: dict[str, list[float]] = {}
        for score in answers_of(item) if sample.rival is None else ():
            key = score.criterion.casefold()
            if score.value is not None and score.of == "output":
                found.setdefault(key, []).append(score.value)
                self.names.setdefault(key, score.criterion)
                self.scales.setdefault(key, set()).add(score.scale.unit if score.scale else "")
            elif score.label is not None:
                self.labels.setdefault(key, score.criterion)
            elif score.of == "output":
                self.unread.setdefault(key, Counter())[score.status] += 1
        if item.status == "ok" and item.verdict is not None:
            found[VERDICT] = [WON[item.verdict]]
            self.names[VERDICT], self.scales[VERDICT] = VERDICT, {"0-1"}
        for key, values in found.items():
            self.answers.setdefault(key, {})[item.id] = sum(values) / len(values)


def _digest(*parts: object) -> bytes:
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).digest()


def _held(run: Run, name: str, group: str | None = None) -> _Held:
    row = ComparedRun(
        name=name, method=str(run.manifest.get("method") or "graph"), signature=run.signature, samples=0, finished=0,
        coverage=Covered(0.0, "", 0, 0), calls=None, tokens=None, usd=None, seconds=None,
    )  # fmt: skip
    held = _Held(row)

    seen: list[Seen] = []

    def watched() -> Iterable[Item]:
        for item in run.items:  # read once: a second reading would take as long
            held.add(item, group)
            seen.append(seen_of(item, answers_in(item, None, False)))
            yield item

    summary = summarise(watched(), run.signature, criteria_names(run.manifest), weighted=has_weights(run.manifest))
    spent, rejected = paid_for(run.manifest), rejected_rows(run)
    calls, prompt, completion = (spent[name] for name in ("calls", "prompt_tokens", "completion_tokens"))
    lost = sum(row["lost"] for row in rejected if isinstance(row.get("lost"), int))
    held.row = replace(
        row, samples=summary.samples.total(), finished=summary.samples["ok"],
        coverage=covered(summary, len(rejected) + lost),
        calls=None if calls is None else int(calls),
        tokens=None if prompt is None or completion is None else int(prompt + completion), usd=spent["usd"],
        seconds=median(held.times) if held.times and spent["calls"] != 0 else None,
        incomplete=incomplete_run(run, summary.samples.total() - summary.samples["over_budget"]),
        from_ledger=_from_ledger(run.manifest),
    )  # fmt: skip
    try:
        held.people = read_seen(run, seen).judgements
    except Unjudged:
        pass
    except ConfigError as error:
        held.untold = one_line(error, 200)
    return held


def _named(runs: Sequence[RunLike] | Mapping[str, RunLike]) -> list[tuple[str, Run]]:
    """The runs with names that tell them apart: their folders', with the parents' where they are alike, or a number."""
    given = [*runs.values()] if isinstance(runs, Mapping) else [*runs]
    loaded = [run if isinstance(run, Run) else Run.load(run) for run in given]
    paths = [run.folder.path if run.folder else None for run in loaded]
    resolved = [path.resolve() if path else None for path in paths]
    twice = [path for path in resolved if path is not None]
    if len(set(twice)) < len(twice):
        path = next(path for at, path in enumerate(twice) if path in twice[:at])
        raise ConfigError(f"compare: '{one_line(path.name, 60)}' is given twice: name two folders that differ")
    if len({*map(id, loaded)}) < len(loaded):
        raise ConfigError("compare: a run is given twice: give runs that differ")
    if isinstance(runs, Mapping):
        return list(zip((one_line(name, 60) for name in runs), loaded, strict=True))
    names = [_name(path, run, 1) for path, run in zip(resolved, loaded, strict=True)]
    if len(set(names)) < len(names):
        names = [_name(path, run, 2) for path, run in zip(resolved, loaded, strict=True)]
    met: dict[str, int] = {}
    for at, name in enumerate(names):
        met[name] = met.get(name, 0) + 1
        names[at] = name if met[name] == 1 else f"{name} ({met[name]})"
    return list(zip(names, loaded, strict=True))


def _name(path: Path | None, run: Run, parts: int) -> str:
    return "/".join(path.parts[-parts:]) if path else one_line(str(run.manifest.get("method") or "run"), 60)


# The comparison itself.


@settings_checked
def compare(
    runs: Sequence[RunLike] | Mapping[str, RunLike], *, conventions: Conventions | None = None,
    criteria: Sequence[str] = (), group: str | None = None,
) -> RunComparison:  # fmt: skip
    """Hold several runs over the same samples beside one another.

    Samples are matched by id, with one query, source and reference; their outputs may differ, where two versions of a
    generator are judged. Means are of the samples that every run with the criterion answers, so that a run is not
    better for the hard ones that it lacks. Differences are tested sample by sample, each two runs by each criterion,
    and corrected together. Agreement with people is of the samples of which all runs judged one output.

    Args:
        runs: two to twelve runs, or their folders, or a mapping of such by the names they shall have in the table;
            the first is what the others are held to.
        conventions: of agreement with people; None is Spearman for numbers, accuracy for labels and verdicts.
        criteria: only by these. group: key of a sample's meta, its document: whole groups are tested; None: "group".

    Raises:
        ConfigError: fewer than two runs, a run twice, runs without a sample in common, a criterion of none of them.
        DataError: a run cannot be read, or a sample has no such key.
    """
    if isinstance(runs, str | os.PathLike) or not 2 <= len(runs) <= MOST_RUNS:
        raise ConfigError(f"compare takes two to {MOST_RUNS} runs")
    named = _named(runs)
    with seldom():
        held = [_held(run, name, group) for name, run in named]
    notes = [f"{one.row.name} is {one.row.incomplete}" for one in held if one.row.incomplete]
    common, same = _common(held, notes)
    keys = _keys(held, criteria, notes)
    notes += _defined_apart([(name, run.manifest) for name, run in named], keys)
    means, differences = _means(held, keys, common, notes)
    found = _agreement(held, same, set(criteria), conventions, notes)
    return RunComparison(
        runs=tuple(one.row for one in held), samples=len(common), same_outputs=len(same), means=tuple(means),
        differences=tuple(_corrected(differences)), agreement=found, notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _from_ledger(manifest: Mapping[str, Any]) -> int:
    """Replies that lay in a ledger which a run shares with others, and were paid for there; 0 of its own."""
    found = part_of_manifest(part_of_manifest(manifest, "calls"), "ledger").get("hits")
    return found if isinstance(found, int) and manifest.get("ledger") not in (None, LEDGER) else 0


def _defined_apart(runs: Sequence[tuple[str, Mapping[str, Any]]], keys: Sequence[str]) -> list[str]:
    """Criteria of one name by which the runs mean different things."""
    notes = []
    for key in keys:
        name, by = key, dict[str, tuple[str, list[str]]]()  # definition -> (shown, runs)
        for run, manifest in runs:
            for one in manifest.get("criteria") or ():
                if isinstance(one, Mapping) and str(one.get("name", "")).casefold() == key:
                    name, told = str(one["name"]), one_line(one.get("definition") or "none", 80)
                    by.setdefault(" ".join(str(one.get("definition") or "").split()), (told, []))[1].append(run)
        if len(by) > 1:
            said = "; ".join(f"{', '.join(dict.fromkeys(who))}: '{told}'" for told, who in [*by.values()][:3])
            notes.append(f"{one_line(name, 60)} is defined differently, so means may differ for that alone: {said}")
    return notes


def _common(held: Sequence[_Held], notes: list[str]) -> tuple[list[str], list[str]]:
    """Ids of the samples that all runs were given alike, in the order of the first run; and those of one output."""
    shared = [name for name in held[0].given if all(name in one.given for one in held[1:])]
    shared.sort(key=held[0].places.__getitem__)  # not as they ended: one seed draws the same in each sitting
    if not shared:
        raise ConfigError("compare: the runs have no sample in common: ids differ")
    common = [name for name in shared if len({one.given[name] for one in held}) == 1]
    most = max(len(one.given) for one in held)
    if len(shared) < most:
        notes.append(
            f"in all runs: {counted(len(shared), 'sample')} of up to {most:,} that one has; the others are left out"
        )
    if len(common) < len(shared):
        first = next(name for name in shared if len({one.given[name] for one in held}) > 1)
        notes.append(
            f"left out, as query, source or reference differ: {counted(len(shared) - len(common), 'sample')} "
            f"('{one_line(first, 60)}' first)"
        )
    if not common:
        raise ConfigError("compare: the runs' samples have the same ids, and other queries, sources or references")
    same = [name for name in common if len({one.judged[name] for one in held}) == 1]
    if len(same) < len(common):
        notes.append(
            f"other outputs were judged on {len(common) - len(same):,} of {counted(len(common), 'sample')}: there the "
            "means tell of the outputs too, not of the judges alone; agreement with people is of the other samples"
        )
    return common, same


def _keys(held: Sequence[_Held], criteria: Sequence[str], notes: list[str]) -> list[str]:
    """Criteria that two runs or more have, in the order of their first coming."""
    wanted = {name.casefold() for name in criteria}
    with_numbers: dict[str, list[str]] = {}
    for one in held:
        for key in one.answers:
            with_numbers.setdefault(key, []).append(one.row.name)
    labels = {key: name for one in held for key, name in one.labels.items()}
    if unknown := [name for name in criteria if name.casefold() not in {*with_numbers, *labels}]:
        there = ", ".join(dict.fromkeys(name for one in held for name in (*one.names.values(), *one.labels.values())))
        raise ConfigError(
            f"compare: no run judges by {one_line(', '.join(unknown), 120)}; there are {one_line(there, 200)}"
        )
    keys = [key for key, names in with_numbers.items() if len(names) > 1 and (not wanted or key in wanted)]
    alone = [
        (key, names[0]) for key, names in with_numbers.items() if len(names) == 1 and (not wanted or key in wanted)
    ]
    lost = [(key, who, one) for key, who in alone for one in held if key in one.unread and key not in one.names]
    for key, who, one in lost:
        why = ", ".join(f"{count:,} {status}" for status, count in one.unread[key].most_common(3))
        notes.append(f"{one_line(key, 60)}: no answer of {one.row.name} could be read ({why}) to hold beside {who}'s")
    if alone := [(key, who) for key, who in alone if key not in {gone for gone, *_ in lost}]:
        listed = ", ".join(f"{next(o.names[key] for o in held if key in o.names)} ({who})" for key, who in alone[:6])
        notes.append(f"criteria of one run alone, left out: {one_line(listed, 300)}" + (" …" if len(alone) > 6 else ""))
    unscored = [name for key, name in labels.items() if not wanted or key in wanted]
    if unscored:
        notes.append(f"labels have no mean: {one_line(', '.join(unscored), 200)} (agreement with people counts them)")
    return keys


def _means(
    held: Sequence[_Held], keys: Sequence[str], common: Sequence[str], notes: list[str]
) -> tuple[list[MeanOf], list[MeanDifference]]:
    means, differences = [], []
    for key in keys:
        mine = [one for one in held if key in one.answers]
        scales = {scale for one in mine for scale in one.scales[key]}
        name = mine[0].names[key]
        ids = [sample for sample in common if all(sample in one.answers[key] for one in mine)]
        if not ids:
            notes.append(f"{one_line(name, 60)}: no sample that all {len(mine)} runs answer")
            continue
        values = {one.row.name: np.array([one.answers[key][sample] for sample in ids]) for one in mine}
        if len(scales) > 1:
            values = {one.row.name: _shares(values[one.row.name], one.scales[key]) for one in mine}
            notes.append(
                f"{one_line(name, 60)}: runs have several scales ({', '.join(sorted(scales))}): shares of each"
            )
        group = codes([mine[0].groups[sample] for sample in ids])
        said = "0-1, share of its scale" if len(scales) > 1 else next(iter(scales))
        for one in mine:
            low, high = mean_interval(values[one.row.name], group)
            means.append(MeanOf(
                run=one.row.name, criterion=name, mean=float(values[one.row.name].mean()), low=low, high=high,
                n=len(ids), alone=len(one.answers[key]), scale=said,
            ))  # fmt: skip
        differences += _differences(name, values, group)
        if thin := [at for at, sample in enumerate(ids) if any(sample in one.thin for one in mine)]:
            left = ", ".join(f"{who} {_mean_text(np.delete(each, thin))}" for who, each in values.items())
            gives = "text gives" if len(thin) == 1 else "texts give"
            notes.append(f"{one_line(name, 60)}: {len(thin):,} {gives} {THIN}; means without: {left}")
    return means, differences


def _mean_text(values: Floats) -> str:
    return f"{values.mean():.2f}" if len(values) else "none"


def _shares(values: Floats, scales: set[str]) -> Floats:
    """As shares of the run's own scale; nan where it has several, or none."""
    scale = Scale.of(next(iter(scales))) if len(scales) == 1 and "" not in scales else None
    if scale is None or scale.low is None or scale.high is None:
        return np.full(len(values), math.nan)
    return np.asarray((values - scale.low) / (scale.high - scale.low), dtype=np.float64)


def _differences(criterion: str, values: Mapping[str, Floats], group: Codes | None) -> list[MeanDifference]:
    """Each two runs on the same samples, tested by the same swaps."""
    apart = {(a, b): values[a] - values[b] for a, b in combinations(values, 2)}
    found = {
        (a, b): MeanDifference(criterion=criterion, a=a, b=b, n=len(one), difference=float(one.mean()))
        for (a, b), one in apart.items()
    }
    few = min(map(len, values.values()), default=0) < LEAST
    told = {pair: one for pair, one in apart.items() if not few and not math.isnan(found[pair].difference)}
    if told:
        units = np.arange(len(next(iter(told.values())))) if group is None else group
        tests = permutation_tests_of_means(np.stack([*told.values()]), group=units, permutations=PERMUTATIONS)
        for (pair, one), tested in zip(told.items(), tests, strict=True):
            low, high = mean_interval(one, group)
            least = 2 / 2**tested.n if exact(tested.n, PERMUTATIONS) else 1 / (PERMUTATIONS + 1)
            found[pair] = replace(
                found[pair], low=low, high=high, p=tested.p, note=tested.note,
                unit="sample" if group is None else "group", units=tested.n, least_p=min(1.0, least),
            )  # fmt: skip
    note = f"fewer than {LEAST} samples" if few else "no common scale"
    return [one if pair in told else replace(one, note=note) for pair, one in found.items()]


def _corrected(differences: Sequence[MeanDifference]) -> list[MeanDifference]:
    p = corrected([one.p for one in differences])
    return [replace(one, corrected=float(value)) for one, value in zip(differences, p, strict=True)]


# Agreement with people: each run is a metric, on the samples that all of them have.


def _agreement(
    held: Sequence[_Held], common: Sequence[str], criteria: set[str], conventions: Conventions | None,
    notes: list[str],
) -> Agreement | None:  # fmt: skip
    if untold := next((one for one in held if one.untold), None):
        notes.append(f"agreement with people cannot be told: {untold.row.name}: {untold.untold}")
        return None
    wanted = {name.casefold() for name in criteria}
    read = [(one.row.name, {of.criterion.casefold(): of for of in one.people}) for one in held if one.people]
    if not read:
        return None
    joined = []
    for key in dict.fromkeys(key for _, found in read for key in found if not wanted or key in wanted):
        mine = [(name, found[key]) for name, found in read if key in found]
        kinds = {one.kind for _, one in mine}
        if len(kinds) > 1:
            notes.append(f"{mine[0][1].criterion}: {' and '.join(sorted(kinds))}s of people: agreement left out")
        else:
            joined.append(_joined(mine, common, notes))
    found = [one for one in joined if len(one)]
    if not found:
        return None
    c = conventions or Conventions(coefficients=("spearman",), correction="holm")
    try:
        agreed = agreement(found, c)
        notes += [f"agreement, {note}" for note in agreed.notes if THIN in note]
        return agreed
    except ConfigError as error:
        notes.append(f"agreement with people: {one_line(error, 200)}")
        return None


def _joined(mine: Sequence[tuple[str, Judgements]], common: Sequence[str], notes: list[str]) -> Judgements:
    """One criterion of several runs, a metric for each, on the common samples that people judged."""
    first = mine[0][1]
    places = [{id: at for at, id in enumerate(one.ids)} for _, one in mine]
    ids = [id for id in common if all(id in at for at in places) and first.human[places[0][id]]]
    said = [[one.human[at[id]] for id in ids] for (_, one), at in zip(mine, places, strict=True)]
    if other := sum(len(set(row)) > 1 for row in zip(*said, strict=True)):
        notes.append(
            f"{first.criterion}: people's judgements differ on {counted(other, 'sample')}: the first run's count"
        )
    metrics: dict[str, tuple[Any, ...]] = {}
    statuses: dict[str, tuple[str, ...]] = {}
    for (name, one), at in zip(mine, places, strict=True):
        metrics_of = {m: a for m, a in one.metrics.items() if not (m.endswith(BOTH) and m[: -len(BOTH)] in one.metrics)}
        for metric, answers in metrics_of.items():
            label = name if len(metrics_of) == 1 else f"{name}: {metric}"
            metrics[label] = tuple(answers[at[id]] for id in ids)
            statuses[label] = tuple(one.statuses[metric][at[id]] for id in ids) if metric in one.statuses else ()
    where = [places[0][id] for id in ids]
    return Judgements(
        criterion=first.criterion, kind=first.kind, ids=tuple(ids), human=tuple(first.human[at] for at in where),
        metrics=metrics, statuses={name: said for name, said in statuses.items() if said or not ids},
        groups=None if first.groups is None else tuple(first.groups[at] for at in where),
        systems=None if first.systems is None else tuple(first.systems[at] for at in where),
        label_order=first.label_order, thin=frozenset().union(*(one.thin for _, one in mine)), notes=first.notes,
    )  # fmt: skip
