"""Does the critic earn its cost? Drafts against finals: what it changed, whether it agrees better with people, and what
that came to.

It hides which draft and which final belong together, and how a difference of agreement is tested.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import binomtest

from judgegraph.answers import UNTOUCHED, is_escalation
from judgegraph.calls.budget import NodeUsage
from judgegraph.data.samples import ABSENT, grouping_value
from judgegraph.errors import counted, one_line, printable, settings_checked
from judgegraph.meta.cells import MISSING, NOTHING, Answer, Judgements, is_given, known_labels, people, width
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Raw, fitted
from judgegraph.meta.result import FEW, of_units, settled_ends
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.shown import Shown
from judgegraph.stats.agreement import corrected, exact, patterns, permutation_test
from judgegraph.stats.bootstrap import Interval, bootstrap, correlate, interval, of_groups, resample
from judgegraph.stats.correlation import Codes, Coefficient, Floats, Level, Unit
from judgegraph.types import Sample, Scale, Score, key_of

# What a critic did to the scores of a run: drafts beside the finals that name them, counted as they are read.


REPEATS = 0.8  # share of a reason's words that stand in the draft's reason, from which on it repeats it
DIGITS = 9  # a value that moves by less does not move: as where rounds of a critic are compared
MOST_POINTS, PARTS = 11, 5  # of a scale that are counted one by one; into how many parts a finer one is cut
_WORD = re.compile(r"\w+")


class Pair(NamedTuple):
    """A draft and what the critic made of it; None where it could not be read.

    human: people's cells as they stand in the sample. sample: its id, "" where unknown; place: in the dataset.
    """

    human: tuple[Any, ...]
    draft: Answer | None
    final: Answer | None
    group: str | None
    system: str | None
    sample: str = ""
    place: int = 0


@dataclass
class Review:
    """One criterion by one critic.

    Attributes:
        critic: agent of the finals. reviewed: agent and stage of the drafts ("evaluator/draft"). of: side of a pair.
        n: drafts that the critic looked at, both sides readable. changed, up, down: of these; what changed and went
            neither up nor down is a label.
        size_up, size_down: sums of the moves, in the units of the scale, both 0 or more.
        not_asked: drafts that a condition kept from the critic. failed: readable drafts whose final is not.
        unread: drafts that could not be read. escalated: finals behind which a stronger judge stood, and no critic.
        reasons: finals with a reason of the critic's own. repeated: of these, the ones that repeat the draft's.
        definitions: samples for which the critic wants the criterion's definition changed.
        before, after: point of the scale or label -> count, over the n.
        pairs: of samples with a human label, for agreement.
    """

    critic: str
    reviewed: str
    criterion: str
    of: str
    scale: Scale | None = None
    n: int = 0
    changed: int = 0
    up: int = 0
    down: int = 0
    size_up: float = 0.0
    size_down: float = 0.0
    not_asked: int = 0
    failed: int = 0
    unread: int = 0
    escalated: int = 0
    reasons: int = 0
    repeated: int = 0
    definitions: int = 0
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    pairs: list[Pair] = field(default_factory=list)

    def add(self, draft: Score, final: Score, reason: str) -> None:
        """Count one draft with its final; `reason` is what the critic said itself."""
        self.scale = self.scale or final.scale or draft.scale
        self.escalated += is_escalation(final, draft)
        if draft.answer is None:
            self.unread += 1
        elif any(note in UNTOUCHED for note in final.notes):
            self.not_asked += 1
        elif final.answer is None:
            self.failed += 1
        else:
            self._compare(draft, final)
            self.reasons += bool(_words(reason))
            self.repeated += repeats(reason, draft.reason)

    def _compare(self, draft: Score, final: Score) -> None:
        self.n += 1
        self.before[point_of(draft.answer, self.scale)] += 1
        self.after[point_of(final.answer, self.scale)] += 1
        if draft.value is None or final.value is None:
            self.changed += draft.answer != final.answer
            return
        move = round(final.value - draft.value, DIGITS)
        self.changed += move != 0
        self.up += move > 0
        self.down += move < 0
        self.size_up += max(0.0, move)
        self.size_down += max(0.0, -move)


def reviewer(reviews: Iterable[Review]) -> str:
    """What reviewed the drafts, in a word: "critic", or "stronger judge" of what `jg.escalate` made."""
    return "stronger judge" if any(review.escalated for review in reviews) else "critic"


@dataclass
class Critiques:
    """All critics of a run.

    Attributes:
        reviews: (critic, reviewed, criterion, of) -> what it did there. samples: critic -> samples it has finals in.
        new_criteria: critic -> name of a criterion it suggests -> samples.
        rounds: critic -> number of a round -> [scores in it, scores that it changed]; of critics asked repeatedly.
    """

    reviews: dict[tuple[str, ...], Review] = field(default_factory=dict)
    samples: Counter[str] = field(default_factory=Counter)
    new_criteria: dict[str, Counter[str]] = field(default_factory=dict)
    rounds: dict[str, dict[int, list[int]]] = field(default_factory=dict)

    def add(self, item: Item, group: str, system: str) -> None:
        """Count the finals of one sample that name a draft."""
        scores = {score.key: score for score in item.scores}
        reasons = {r.key: r.reason for r in item.rectifications}
        critics: dict[str, list[Review]] = {}
        for final in item.scores:
            draft = scores.get(final.draft or "")
            if draft is None:
                continue
            if final.stage == "final":
                review = self._review(draft, final)
                reason = reasons.get(key_of(final.criterion, final.agent), final.reason)
                review.add(draft, final, reason)
                if (human := labels_of(item.sample, final.criterion)) and final.of == "output":
                    places = _places(item.sample, group, system)
                    pair = Pair(human, draft.answer, final.answer, *places, item.sample.id, item.place)
                    review.pairs.append(pair)
                critics.setdefault(final.agent, []).append(review)
            elif (number := _round_of(final.stage)) and final.status == draft.status == "ok":
                counts = self.rounds.setdefault(final.agent, {}).setdefault(number, [0, 0])
                counts[0] += 1
                counts[1] += final.answer != draft.answer
        self.samples.update(critics.keys())
        self._advice(item, critics)

    def _review(self, draft: Score, final: Score) -> Review:
        key = final.agent, f"{draft.agent}/{draft.stage}", final.criterion, final.of
        return self.reviews.setdefault(key, Review(*key))

    def _advice(self, item: Item, critics: dict[str, list[Review]]) -> None:
        """Definitions and new criteria, each once a sample; advice of nobody's name is that of a single critic."""
        alone = next(iter(critics)) if len(critics) == 1 else ""
        found = {(s.agent if s.agent in critics else alone, s.kind, s.criterion) for s in item.suggestions}
        for critic, kind, criterion in found:
            if kind == "criterion" and critic:
                self.new_criteria.setdefault(critic, Counter())[criterion] += 1
            for review in critics.get(critic, ()):
                review.definitions += kind == "definition" and review.criterion.casefold() == criterion.casefold()


def critiques(items: Iterable[Item], group: str = "group", system: str = "system") -> Critiques:
    """Read items once; `group` and `system` are names in a sample's `meta`."""
    found = Critiques()
    for item in items:
        found.add(item, group, system)
    return found


def repeats(reason: str, earlier: str) -> bool:
    """Whether at least four in five of its words stand in the earlier one, each as often as it stands there."""
    words, known = Counter(_words(reason)), Counter(_words(earlier))
    return bool(words) and (words & known).total() >= REPEATS * words.total()


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def point_of(answer: Any, scale: Scale | None) -> str:
    """The point of the scale next to an answer (halves go up), a fifth of a scale with too many, or a label."""
    if isinstance(answer, str):
        return answer
    if scale is None or scale.low is None or scale.high is None:
        return f"{answer:g}"
    if 0 < len(scale.points) <= MOST_POINTS:
        return f"{int(min(max(answer + 0.5, scale.low), scale.high) // 1)}"
    width = (scale.high - scale.low) / PARTS
    part = min(PARTS - 1, int((answer - scale.low) / width))
    return f"{scale.low + part * width:g} to {scale.low + (part + 1) * width:g}"


def judged_by_people(item: Item) -> bool:
    """Whether people said anything of a sample, readable or not; NA and the like say nothing (`meta.cells`)."""
    scales = {score.criterion.casefold(): score.scale for score in item.scores if score.scale is not None}
    for name in item.sample.human:
        scale = scales.get(name.casefold())
        words = MISSING - NOTHING if scale is None else {label.casefold() for label in scale.labels}
        if any(is_given(cell, words) for cell in labels_of(item.sample, name)):
            return True
    return False


def labels_of(sample: Sample, criterion: str) -> tuple[Any, ...]:
    """People's cells by a criterion, whatever the case of its name; () where there are none."""
    held = next((v for k, v in sample.human.items() if k.casefold() == criterion.casefold()), None)
    if held is None:
        return ()
    return tuple(held) if isinstance(held, list) else (held,)


def _places(sample: Sample, group: str, system: str) -> tuple[str | None, str | None]:
    known = [grouping_value(sample, name) for name in (group, system)]
    first, second = (None if value in (None, ABSENT) else str(value) for value in known)
    return first, second


def _round_of(stage: str) -> int:
    word, _, number = stage.rpartition("-")
    return int(number) if word == "round" and number.isdecimal() else 0


# What a critic's calls cost, as a run's manifest has it, and what a point of agreement came to.


POINT = 0.01  # of a coefficient


@dataclass(frozen=True)
class Cost:
    """The calls of one critic.

    Attributes:
        nodes: of the graph, that are the critic. calls: it asked for, found: those of them that cost nothing here, as a
            ledger had the reply or another sample was asking for the same; what the run itself had paid for before it
            was stopped counts once.
        prompt_tokens, completion_tokens, usd: of all calls: those of the paid ones, and as much again for each found
            one as a paid one took on average. None where none was paid for, or of usd no price is known.
        share: of the run's calls that were paid for, 0 to 1; None where none was.
    """

    nodes: tuple[str, ...]
    calls: int
    found: int
    prompt_tokens: float | None
    completion_tokens: float | None
    usd: float | None
    share: float | None

    def per(self, points: float) -> dict[str, float | None]:
        """What one of so many points came to."""
        amounts = {name: getattr(self, name) for name in ("calls", "prompt_tokens", "completion_tokens", "usd")}
        return {name: None if amount is None else amount / points for name, amount in amounts.items()}

    @property
    def spent(self) -> Cost:
        """What was paid here alone, without what the found calls would have cost."""
        part = 1 - self.found / self.calls if self.calls else 0.0
        prompt, completion, usd = (
            None if amount is None else amount * part
            for amount in (self.prompt_tokens, self.completion_tokens, self.usd)
        )
        return replace(
            self, calls=self.calls - self.found, found=0, prompt_tokens=prompt, completion_tokens=completion, usd=usd
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "nodes": list(self.nodes)}


def cost_of(manifest: Mapping[str, Any], critic: str) -> Cost | None:
    """Of the critic behind the finals of an agent; None where the manifest does not tell."""
    nodes = _mapping_in(manifest, "critics").get(critic)
    calls = manifest.get("calls")
    bills = _mapping_in(calls, "by_node") if isinstance(calls, Mapping) else {}
    if not isinstance(nodes, list) or not nodes or not bills:
        return None
    known = {node: _node_usage(bill) for node, bill in bills.items() if isinstance(bill, Mapping)}
    mine = [bill for node, bill in known.items() if any(node == n or node.startswith(f"{n}/") for n in nodes)]
    paid, found = sum(bill.calls for bill in mine), sum(bill.found for bill in mine)
    unpriced, every = sum(bill.unpriced for bill in mine), sum(bill.calls for bill in known.values())
    times = (paid + found) / paid if paid else 0.0
    amounts = {
        name: sum(getattr(bill, name) for bill in mine) * times if paid else None
        for name in ("prompt_tokens", "completion_tokens", "usd")
    }
    if unpriced:
        amounts["usd"] = None
    return Cost(tuple(map(str, nodes)), paid + found, found, share=paid / every if every else None, **amounts)


def _mapping_in(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    held = data.get(name)
    return held if isinstance(held, Mapping) else {}


def _node_usage(stored: Mapping[str, Any]) -> NodeUsage:
    """What a manifest says of a node; what is no number is 0."""
    names = [field.name for field in fields(NodeUsage)]
    return NodeUsage(
        **{n: stored[n] for n in names if isinstance(stored.get(n), int | float) and 0 <= stored[n] < float("inf")}
    )


# What lies between drafts and finals by one statistic, and the mean of it over criteria.


@dataclass
class Gain:
    """One statistic of one criterion, before and after the critic.

    Attributes:
        statistic: a coefficient's name, "accuracy" or "kappa". level: of a coefficient, "" of labels.
        n: items that count: judged by people, draft and final readable. units: items, groups or systems that counted.
        before, after: of drafts and of finals with people, nan where undefined. difference: after less before.
        unit: what was drawn for the interval. low, high: the difference's interval, both resampled together.
        p: two-sided, paired; p_corrected: over criteria. p_is_least: so many permutations cannot give a smaller p.
        note: why there is no number, or how little one rests on.
        draws: the difference in each resample. basis: of what: equal ones come from the same draws.
    """

    criterion: str
    statistic: str
    level: str
    n: int
    units: int = 0
    before: float = math.nan
    after: float = math.nan
    difference: float = math.nan
    unit: str = ""
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_corrected: float = math.nan
    p_is_least: bool = False
    note: str = ""
    draws: Floats | None = field(default=None, repr=False)
    basis: tuple[Any, ...] | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        values = {name: value for name, value in vars(self).items() if name not in ("draws", "basis")}
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in values.items()}

    def bound(self, found: Interval, drawn: int, unit: Unit, *, changed: bool) -> None:
        """Take an interval from so many drawn units; `changed`: whether any final is another than its draft."""
        self.unit, ends = unit, (found.low, found.high)
        self.add(*of_units(drawn, unit))
        if changed and drawn > 1:  # where nothing did, no resample could have told otherwise
            ends, more = settled_ends(ends)
            self.add(*more)
        self.low, self.high = ends

    def add(self, *notes: str) -> None:
        """To what is to know."""
        self.note = "; ".join(note for note in (self.note, *notes) if note)


@dataclass(frozen=True)
class MeanGain:
    """Over the criteria that have a difference. low, high: its interval, nan where a criterion has none."""

    value: float
    low: float
    high: float

    @property
    def is_above_zero(self) -> bool:
        """Whether it is a gain, and told from nothing."""
        return self.low > 0

    @property
    def note(self) -> str:
        """What its interval says of 0 where it is no gain."""
        if self.is_above_zero:
            return ""
        return "the critic makes it worse" if self.high < 0 else "not told from 0"

    def to_dict(self) -> dict[str, float | str | None]:
        """As JSON values; what is undefined is null."""
        ends = {name: None if math.isnan(value) else value for name, value in vars(self).items()}
        return {**ends, "note": self.note}


def mean_gain(gains: Sequence[Gain], confidence: float) -> MeanGain | None:
    """Of one statistic; None where no criterion has a difference.

    Criteria that rest on the same samples were drawn together, and so is their mean. Of others it is not known how they
    go together: the mean of their intervals' ends is wide enough even where they do so entirely.
    """
    known = [gain for gain in gains if not math.isnan(gain.difference)]
    if not known:
        return None
    value = fmean(gain.difference for gain in known)
    if any(math.isnan(gain.low) for gain in known):
        return MeanGain(value, math.nan, math.nan)
    draws, first = [gain.draws for gain in known if gain.draws is not None], known[0]
    alike = first.basis is not None and all(gain.basis == first.basis for gain in known)
    if alike and len(draws) == len(known) and len({len(one) for one in draws}) == 1:
        drawn = first.basis[0] if first.basis else 0
        found = interval(np.mean(draws, axis=0), confidence, units=drawn)
        return MeanGain(value, found.low, found.high)
    return MeanGain(value, fmean(gain.low for gain in known), fmean(gain.high for gain in known))


def basis_of(drawn: int, unit: Unit, pairs: Sequence[Pair]) -> tuple[Any, ...] | None:
    """What draws depend on; None where it is not known which samples they are."""
    if any(not pair.sample for pair in pairs):
        return None
    return drawn, unit, tuple(pair.sample for pair in pairs)


def codes(names: Sequence[str | None]) -> Codes | None:
    """0, 1, ... per name; None where one is missing."""
    if not names or any(name is None for name in names):
        return None
    return np.unique(np.array(names, dtype=str), return_inverse=True)[1].astype(np.intp)


# How far labels of drafts and finals agree with people: accuracy and kappa, and what lies between them.


STATISTICS = ("accuracy", "kappa")


def of_labels(
    criterion: str, pairs: Sequence[Pair], human: Sequence[Answer | None], conventions: Conventions
) -> list[Gain]:
    """Accuracy and Cohen's kappa, each with an interval and p; both draw and swap whole groups where there are some.

    Of single items the test of accuracy is exact (McNemar): it goes by the items that one of both has right.
    """
    counted = [
        (pair, answer)
        for pair, answer in zip(pairs, human, strict=True)
        if answer is not None and (conventions.unreadable == "zero" or None not in (pair.draft, pair.final))
    ]
    found = [Gain(criterion, name, "", len(counted), len(counted)) for name in STATISTICS]
    if not counted:
        return found
    group = codes([pair.group for pair, _ in counted])
    tables = Tables(
        [answer for _, answer in counted], [p.draft for p, _ in counted], [p.final for p, _ in counted], group
    )
    unit: Unit = "item" if group is None else "group"
    values = tables.values(np.ones(len(tables)))
    for gain, (before, after) in zip(found, values, strict=True):
        gain.units, gain.before, gain.after, gain.difference = len(tables), before, after, after - before
    _label_bound(found, tables, unit, basis_of(len(tables), unit, [pair for pair, _ in counted]), conventions)
    _test(found, tables, unit, conventions)
    return found


class Tables:
    """Counts of each unit (item or group), whose sums give accuracy and kappa; unread is a label nobody else gives.

    Attributes:
        human: (units, labels), how often people give each. sides: (2, units, labels + 1), how often drafts and finals
            give each, and how often they are right.
    """

    def __init__(
        self, human: Sequence[Answer], drafts: Sequence[Answer | None], finals: Sequence[Answer | None],
        unit: Codes | None,
    ) -> None:  # fmt: skip
        columns = (human, drafts, finals)
        place = {label: code for code, label in enumerate(dict.fromkeys(chain.from_iterable(columns)))}
        people_codes, *given = (np.array([place[label] for label in column], dtype=np.intp) for column in columns)
        rows = np.arange(len(human)) if unit is None else unit
        size = int(rows.max()) + 1
        self.human, self.sides = np.zeros((size, len(place))), np.zeros((2, size, len(place) + 1))
        np.add.at(self.human, (rows, people_codes), 1.0)
        for side, labels in zip(self.sides, given, strict=True):
            np.add.at(side, (rows, labels), 1.0)
            np.add.at(side[:, -1], rows, np.equal(labels, people_codes).astype(np.float64))

    def __len__(self) -> int:
        return len(self.human)

    def values(self, times: Floats) -> list[tuple[float, float]]:
        """(draft's, final's) accuracy and kappa of units that stand there so many times."""
        accuracy, kappa = _agreement(times @ self.human, np.stack([times @ side for side in self.sides]))
        return [(float(one[0]), float(one[1])) for one in (accuracy, kappa)]

    def swapped(self, permutations: int, seed: int) -> tuple[Floats, int]:
        """Differences of accuracy and kappa where units' drafts and finals change places, and how many units can."""
        able = (self.sides[0] != self.sides[1]).any(axis=1)
        shared, apart = self.sides.sum(axis=(0, 1)) / 2, (self.sides[1] - self.sides[0])[able] / 2
        human, units, found = self.human.sum(axis=0), int(able.sum()), []
        for rows in patterns(units, permutations, seed, max(units, len(shared))):
            moved = rows @ apart
            both = _agreement(human, np.stack([shared - moved, shared + moved]))
            found.append(np.stack([one[1] - one[0] for one in both]))
        return np.concatenate(found, axis=1), units


def _agreement(human: Floats, sides: Floats) -> tuple[Floats, Floats]:
    """Accuracy and kappa of sums; kappa is nan where chance alone would agree entirely."""
    count = human.sum(axis=-1)
    right, chance = sides[..., -1] / count, (sides[..., :-1] @ human) / count**2
    with np.errstate(invalid="ignore", divide="ignore"):
        return right, np.where(chance < 1 - 1e-12, (right - chance) / (1 - chance), np.nan)


def _label_bound(
    found: Sequence[Gain], tables: Tables, unit: Unit, basis: tuple[object, ...] | None, conventions: Conventions
) -> None:
    if not conventions.resamples:
        return
    size = len(tables)

    def statistic(index: Codes) -> Floats:
        return np.array([b - a for a, b in tables.values(np.bincount(index, minlength=size).astype(np.float64))])

    drawn = resample(statistic, size, resamples=conventions.resamples, seed=conventions.seed)
    for gain, draws in zip(found, drawn, strict=True):
        gain.draws, gain.basis = draws, basis
        ends = interval(draws, conventions.confidence, units=size)
        gain.bound(ends, size, unit, changed=bool((tables.sides[0] != tables.sides[1]).any()))


def _test(found: Sequence[Gain], tables: Tables, unit: Unit, conventions: Conventions) -> None:
    drawn, units = tables.swapped(conventions.permutations, conventions.seed)
    for gain, differences in zip(found, drawn, strict=True):
        able = units
        if np.isnan(gain.difference):
            gain.add("undefined: people and the critic, or the draft, all say one label")
            continue
        if gain.statistic == "accuracy" and unit == "item":
            better, worse = (int((way * (tables.sides[1] - tables.sides[0])[:, -1] > 0).sum()) for way in (1, -1))
            able = better + worse
            gain.p = float(binomtest(better, able).pvalue) if able else 1.0
        else:
            large = int(np.sum(~(np.abs(differences) < abs(gain.difference) - 1e-12)))
            every = exact(units, conventions.permutations)
            gain.p = large / len(differences) if every else (large + 1) / (len(differences) + 1)
            gain.p_is_least = not every and not large
        if 0 < able < FEW:
            gain.add(f"{able} {unit}{'s' * (able > 1)} to swap: p cannot fall below {2 / 2**able:.3g}")


# How far drafts and finals agree with people, and whether what lies between them is more than chance.

SIDES = ("the draft", "the final")
Row: TypeAlias = tuple[Pair, float, float, float]  # with people's number, the draft's and the final's


def gains(
    criterion: str, pairs: Sequence[Pair], conventions: Conventions, labels: Sequence[str] = ()
) -> list[Gain]:  # fmt: skip
    """Before and after, one for each statistic; [] where people, or the annotator who is wanted, judged nothing.

    People's judgements are read as those of a run are (`meta.judgements.of_run`).

    Args:
        labels: of the criterion's scale, where it is one of labels.

    Raises:
        ConfigError, DataError: a judgement of people that cannot be read, or judgements of two kinds.
    """
    pairs = sorted(pairs, key=lambda pair: pair.place)  # an interval draws by place, and samples finish in any order
    cells = [cell for pair in pairs for cell in pair.human]
    words = known_labels(labels, cells)
    if not any(is_given(cell, words) for cell in cells):
        return []
    read, notes = _judgements(criterion, pairs, labels)
    if len(read.metrics) < len(SIDES):
        name = conventions.coefficients[0] if read.kind == "number" else STATISTICS[0]
        return [Gain(criterion, name, "", 0, note="; ".join(notes))]
    rule = conventions.annotators
    if isinstance(rule, int) and width(read) < rule:
        return []
    human, sides = people(read, conventions), zip(*(read.metrics[name] for name in SIDES), strict=True)
    known = [pair._replace(draft=draft, final=final) for pair, (draft, final) in zip(pairs, sides, strict=True)]
    if read.kind != "number":
        return of_labels(criterion, known, human, conventions)
    counted = _read(known, human, conventions)
    return [_of_numbers(criterion, counted, name, conventions) for name in conventions.coefficients]


def _judgements(criterion: str, pairs: Sequence[Pair], labels: Sequence[str]) -> tuple[Judgements, list[str]]:
    """Drafts and finals as two metrics beside people, read as metrics of a run are; why one was left out."""
    sides = ([pair.draft for pair in pairs], [pair.final for pair in pairs])
    raw = Raw(
        criterion, "the run", places=[f"sample '{one_line(pair.sample, 60)}'" for pair in pairs],
        ids=[str(place) for place in range(len(pairs))], human=[list(pair.human) for pair in pairs],
        metrics=dict(zip(SIDES, map(list, sides), strict=True)), statuses={name: [""] * len(pairs) for name in SIDES},
    )  # fmt: skip
    kind, notes = fitted(raw, None, labels, bool(labels))
    return raw.judgements(kind, None, labels if kind == "label" else ()), notes


def correct(found: Sequence[Gain], conventions: Conventions) -> None:
    """Correct p values over the criteria, each statistic by itself."""
    for statistic in dict.fromkeys(gain.statistic for gain in found):
        mine = [gain for gain in found if gain.statistic == statistic and not math.isnan(gain.p)]
        for gain, p in zip(mine, corrected([gain.p for gain in mine], conventions.correction), strict=True):
            gain.p_corrected = float(p)


def _read(pairs: Sequence[Pair], people_: Sequence[Answer | None], conventions: Conventions) -> list[Row]:
    """Those that count."""
    lost = 0.0 if conventions.unreadable == "zero" else None
    found = []
    for pair, human in zip(pairs, people_, strict=True):
        draft, final = (lost if answer is None else answer for answer in (pair.draft, pair.final))
        if isinstance(human, int | float) and draft is not None and final is not None:
            found.append((pair, float(human), float(draft), float(final)))
    return found


def _of_numbers(criterion: str, counted: Sequence[Row], name: Coefficient, conventions: Conventions) -> Gain:
    level = conventions.level_of(name)
    gain = Gain(criterion, name, level, len(counted))
    missing = [row for row in counted if level != "dataset" and getattr(row[0], level) is None]
    if missing or not counted:
        gain.note = f"level {level} needs a {level} of every sample, meta.{level}" if missing else "too few items"
        return gain
    if level == "group" and conventions.constant == "skip":
        counted = _comparable(gain, counted, name)
        if not counted:
            return gain
    group, system = (codes([getattr(pair, place) for pair, *_ in counted]) for place in ("group", "system"))
    human, draft, final = _columns(counted)
    about: dict[str, Any] = {"level": level, "group": group, "system": system, "constant": conventions.constant}
    before, after = (correlate(human, side, coefficient=name, **about) for side in (draft, final))
    gain.n, gain.units, gain.before, gain.after = len(counted), before.units, before.value, after.value
    gain.difference = after.value - before.value
    if math.isnan(gain.difference):
        gain.add("undefined: a side is constant, or there are too few items")
        return gain
    if conventions.resamples:
        _bound(gain, counted, name, conventions, about)
    if (draft == final).all():
        gain.p = 1.0  # whatever is exchanged, nothing changes
        return gain
    test = permutation_test(
        human, final, draft, coefficient=name, permutations=conventions.permutations, seed=conventions.seed, **about
    )
    gain.p, gain.p_is_least = test.p, test.p_is_least
    gain.add(test.note)
    return gain


def _columns(counted: Sequence[Row]) -> list[Floats]:
    """People's numbers, the drafts' and the finals'."""
    return [np.array([row[i] for row in counted], dtype=np.float64) for i in (1, 2, 3)]


def _comparable(gain: Gain, counted: Sequence[Row], name: Coefficient) -> list[Row]:
    """Items of groups with a coefficient of both drafts and finals: means over different groups do not compare."""
    group = codes([pair.group for pair, *_ in counted])
    if group is None:
        return list(counted)
    human, draft, final = _columns(counted)
    known = [~np.isnan(of_groups(human, side, group, [name])[0]) for side in (draft, final)]
    both, either = known[0] & known[1], known[0] | known[1]
    if both.all() or not either.any():
        return list(counted)
    if not both.any():
        gain.note = "no group in which people, drafts and finals all vary"
    elif (one := int((either & ~both).sum())) > 0:
        what = "drafts or the finals alone are constant"
        gain.note = f"groups compared: {int(both.sum())} of {int(either.sum())}; in {one} the {what}"
    return [row for row, is_in in zip(counted, both[group], strict=True) if is_in]


def _bound(
    gain: Gain, counted: Sequence[Row], name: Coefficient, conventions: Conventions, about: Mapping[str, Any]
) -> None:
    human, draft, final = _columns(counted)
    unit = _unit(conventions, about["level"], about["group"], about["system"])
    drawn = bootstrap(
        human, [draft, final], coefficients=(name,), unit=unit, resamples=conventions.resamples, seed=conventions.seed,
        **about,
    )  # fmt: skip
    made = int(drawn.made.min())
    gain.draws = drawn.values[1, 0, :made] - drawn.values[0, 0, :made]
    gain.basis = basis_of(drawn.units, unit, [pair for pair, *_ in counted])
    found = drawn.difference(1, 0, 0, conventions.confidence)
    gain.bound(found, drawn.units, unit, changed=bool((draft != final).any()))


def _unit(conventions: Conventions, level: Level, group: Codes | None, system: Codes | None) -> Unit:
    """What is drawn; a choice that the run's samples cannot follow is followed as far as they can."""
    wanted: Unit = conventions.unit or ("both" if level == "system" else "group")
    if wanted == "both":
        wanted = "both" if group is not None and system is not None else "group" if system is None else "system"
    missing = (wanted == "group" and group is None) or (wanted == "system" and system is None)
    return "item" if missing else wanted


@dataclass(frozen=True)
class CriticOf:
    """One critic over the scores of one agent.

    Attributes:
        critic: agent of the finals. reviewed: agent and stage of the drafts, such as "evaluator/draft".
        samples: in which it has finals.
        reviews: one for each criterion (and side of a pair): SAGEval's Table 1, and its Figure 3 as `before` and
            `after`.
        new_criteria: name -> samples for which the critic suggests it.
        rounds: number -> (scores in it, scores that it changed), of a critic that is asked repeatedly.
        gains: one for each criterion and statistic; empty where people judged nothing.
        means: statistic -> mean gain over the criteria that have one, with its interval.
        cost: None where the run's manifest does not tell it, and where it stands elsewhere: a critic over several
            agents has one cost, which is told with the first of them.
        together: all that the critic reviewed, where these are several and share its cost; else ().
    """

    critic: str
    reviewed: str
    samples: int
    reviews: tuple[Review, ...]
    new_criteria: dict[str, int]
    rounds: dict[int, tuple[int, int]]
    gains: tuple[Gain, ...]
    means: dict[str, MeanGain]
    cost: Cost | None
    together: tuple[str, ...] = ()

    def per_point(self) -> dict[str, dict[str, float | None]]:
        """Statistic -> what one point (0.01) of its mean gain came to in calls, tokens and USD.

        Only of a gain that is told from nothing, as noise has no price, and of a cost that is for this gain alone.
        """
        if self.cost is None or self.together:
            return {}
        return {name: self.cost.per(mean.value / POINT) for name, mean in self.means.items() if mean.is_above_zero}

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        who = reviewer(self.reviews)
        return {
            "critic": self.critic if who == "critic" else None,
            "stronger_judge": None if who == "critic" else self.critic,
            "reviewed": self.reviewed, "samples": self.samples,
            "criteria": [_row(review) for review in self.reviews],
            "new_criteria": self.new_criteria,
            "rounds": [{"round": k, "scores": n, "changed": c} for k, (n, c) in sorted(self.rounds.items())],
            "distribution": distribution(self.reviews),
            "agreement": [gain.to_dict() for gain in self.gains],
            "mean_gain": {name: mean.to_dict() for name, mean in self.means.items()},
            "cost": self.cost.to_dict() if self.cost else None, "cost_together": list(self.together),
            "per_point": self.per_point(),
        }  # fmt: skip


@dataclass(frozen=True)
class CriticWorth(Shown):
    """What the critics of a run did, each by itself. `conventions`: how agreement was counted."""

    critics: tuple[CriticOf, ...]
    conventions: Conventions

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {"critics": [critic.to_dict() for critic in self.critics]}

    def __str__(self) -> str:
        return printable(
            "\n".join(
                f"critic {one.critic} over {one.reviewed}: changed {sum(r.changed for r in one.reviews):,}"
                f" of {counted(sum(r.n for r in one.reviews), 'score')}"
                for one in self.critics
            )
        )


@settings_checked
def critic_worth(
    run: Run, conventions: Conventions | None = None, *, group: str = "group", system: str = "system"
) -> CriticWorth | None:
    """What the critics of a run changed, and what that was worth; None where no final score names a draft.

    An echo is a final that equals its draft (to nine digits, or in its label). A reason repeats the draft's where at
    least four in five of its words stand there. Needs no human labels; without them there is no agreement.

    Args:
        run: any run with finals that name their drafts: one critic, rounds of one, several in a row, a panel.
        conventions: of agreement; None is `Conventions()`.
        group, system: names in a sample's `meta` of its document and of what wrote it.
    """
    chosen, found = conventions or Conventions(), critiques(run.items, group, system)
    if not found.reviews:
        return None
    whose = dict.fromkeys((review.critic, review.reviewed) for review in found.reviews.values())
    all_of = {critic: tuple(reviewed for one, reviewed in whose if one == critic) for critic, _ in whose}
    return CriticWorth(tuple(_critic(run, found, *who, all_of[who[0]], chosen) for who in whose), chosen)


def _critic(
    run: Run, found: Critiques, critic: str, reviewed: str, all_of: tuple[str, ...], conventions: Conventions
) -> CriticOf:
    reviews = tuple(r for r in found.reviews.values() if (r.critic, r.reviewed) == (critic, reviewed))
    known = [gain for review in reviews for gain in gains(review.criterion, review.pairs, conventions, _labels(review))]
    correct(known, conventions)
    rounds = {number: (n, changed) for number, (n, changed) in found.rounds.get(critic, {}).items()}
    new = dict(found.new_criteria.get(critic, {}))
    new = dict(sorted(new.items(), key=lambda pair: (-pair[1], pair[0])))
    by_name = {name: [g for g in known if g.statistic == name] for name in dict.fromkeys(g.statistic for g in known)}
    means = {name: mean_gain(mine, conventions.confidence) for name, mine in by_name.items()}
    cost = cost_of(run.manifest, critic) if reviewed == all_of[0] else None
    return CriticOf(
        critic, reviewed, found.samples[critic], reviews, new, rounds, tuple(known),
        {name: mean for name, mean in means.items() if mean is not None}, cost, all_of if len(all_of) > 1 else (),
    )  # fmt: skip


def _labels(review: Review) -> tuple[str, ...]:
    return review.scale.labels if review.scale is not None else ()


def _row(review: Review) -> dict[str, Any]:
    """A line of SAGEval's Table 1, and more."""
    return {
        "criterion": review.criterion, "of": review.of, "n": review.n,
        "down": review.down, "up": review.up, "relabelled": review.changed - review.up - review.down,
        "changed": review.changed, "changed_share": _share(review.changed, review.n),
        "mean_up": _share(review.size_up, review.up), "mean_down": _share(review.size_down, review.down),
        "echo_share": _share(review.n - review.changed, review.n),
        "reasons": review.reasons, "repeated_share": _share(review.repeated, review.reasons),
        "definitions": review.definitions,
        "not_asked": review.not_asked, "failed": review.failed, "unread_drafts": review.unread,
    }  # fmt: skip


def distribution(reviews: tuple[Review, ...]) -> list[dict[str, Any]]:
    """The data of SAGEval's Figure 3a: how many drafts and finals lie at each point of the scale, by criterion."""
    rows = []
    for review in reviews:
        listed = [str(point) for point in review.scale.points] if review.scale else []
        met = sorted({*review.before, *review.after}, key=_sort_key)
        for point in [p for p in listed if set(met) <= set(listed)] or met:
            counts = {"draft": review.before[point], "final": review.after[point]}
            rows.append({"criterion": review.criterion, "of": review.of, "point": point, **counts})
    return rows


def _sort_key(point: str) -> tuple[float, str]:
    """Numbers, and parts of a scale by where they begin, before labels."""
    try:
        return float(point.partition(" to ")[0]), ""
    except ValueError:
        return math.inf, point


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
