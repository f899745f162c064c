"""Probes of a judge's biases around any method: exchanged order, padded copies, its own model's outputs."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from judgegraph import registry
from judgegraph.answers import answers_of, over_all_of
from judgegraph.calls.budget import priced
from judgegraph.compiled import agents_of
from judgegraph.errors import ConfigError, DataError, handing_on, one_line
from judgegraph.meta.cells import SWAPPED as BACK
from judgegraph.meta.cells import Judgements, is_given, number, people
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic import labels_of
from judgegraph.meta.result import Drawing, Measured
from judgegraph.runs.item import Item, nothing_judged
from judgegraph.runs.run import Run
from judgegraph.runs.summary import criteria_names
from judgegraph.stats.correlation import Codes, Floats
from judgegraph.types import Json, Sample, Scale, Score, Verdict, key_of, names_of

# Padded copies of an output: longer, and with nothing in them that was not there before.


TIMES = 3  # that the last sentence is said once more
MOST_WORDS = 60  # of what is taken for a sentence
POLITE = (
    "I hope that this is of some use. Should anything be left open, please feel free to ask at any time. "
    "Thank you very much for your time and for reading this far, and all the best with what comes next."
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def repeated(text: str) -> str:
    """The last sentence three more times."""
    last = _SENTENCE.split(text.strip())[-1].split()[-MOST_WORDS:]
    return " ".join([text.rstrip(), *[" ".join(last)] * TIMES])


def polite(text: str) -> str:
    """Courtesies that say nothing of the matter."""
    return f"{text.rstrip()}\n\n{POLITE}"


def restated(text: str) -> str:
    """All of it a second time, announced as such."""
    return f"{text.rstrip()}\n\nTo say the same once more: {text.strip()}"


KINDS: Mapping[str, Callable[[str], str]] = {"repeated": repeated, "polite": polite, "restated": restated}


def padded(output: Json, kind: str) -> Json | None:
    """A padded copy; of JSON its longest text is padded. None where there is no text to pad."""
    if isinstance(output, str):
        return KINDS[kind](output) if output.strip() else None
    leaves = [(path, text) for path, text in _leaves(output) if text.strip()]
    if not leaves:
        return None
    path, text = max(leaves, key=lambda leaf: len(leaf[1]))
    return _replaced(output, path, KINDS[kind](text))


def _leaves(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield path, value
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, one in inner:
        yield from _leaves(one, (*path, key))


def _replaced(value: Json, path: tuple[Any, ...], text: str) -> Json:
    if not path:
        return text
    first, *rest = path
    if isinstance(value, Mapping):
        return {key: _replaced(one, tuple(rest), text) if key == first else one for key, one in value.items()}
    return [_replaced(one, tuple(rest), text) if place == first else one for place, one in enumerate(value)]


# The copies of samples that probes judge beside the originals, and what was found of each.


ORIGINAL, SWAPPED = "original", "swapped"
Line: TypeAlias = tuple[str, str]  # criterion, agent; ("overall", "") is the answer over all


def pads(kind: str) -> tuple[str, str]:
    """Words for a padded copy against its original: as the first of the two, and as the second."""
    return f"{kind}-first", f"{kind}-second"


def copy_id(id: str, word: str) -> str:
    """Of a copy."""
    return key_of(id, "probe", word)


def copies(sample: Sample, probes: Iterable[str], kinds: Iterable[str], pairwise: bool) -> Iterator[tuple[str, Sample]]:
    """(word, copy) of a sample; people judged the original alone, so that no copy has their labels."""
    pair = pairwise and sample.rival is not None
    if "swap" in probes and pair:
        yield SWAPPED, _copy(sample, SWAPPED, output=sample.rival, rival=sample.output)
    for kind in kinds if "padded" in probes else ():
        longer = padded(sample.output, kind)
        if longer is None:
            continue
        if not pair:
            yield kind, _copy(sample, kind, output=longer)
            continue
        first, second = pads(kind)
        yield first, _copy(sample, first, output=longer, rival=sample.output)
        yield second, _copy(sample, second, rival=longer)


def _copy(sample: Sample, word: str, **changed: object) -> Sample:
    return sample.model_copy(update={"id": copy_id(sample.id, word), "human": {}, **changed})


@dataclass(frozen=True)
class Seen:
    """What a method said of one sample or copy: its verdict, and per line its number or label."""

    verdict: Verdict | None = None
    answers: dict[Line, float | str] = field(default_factory=dict)
    scales: dict[Line, Scale] = field(default_factory=dict)

    @classmethod
    def of(cls, item: Item, given: Collection[str] = ()) -> Seen:
        """Of criteria that were written for the sample, not `given` to the run, there is no line: a copy has others."""
        written = item.written(given)
        held: dict[Line, list[Score]] = {}
        for score in _last(item):
            if score.of == "output" and score.answer is not None and score.criterion not in written:
                held.setdefault((score.criterion, score.agent), []).append(score)
        answers = {line: _one(scores) for line, scores in held.items()}
        scales = {line: scores[0].scale for line, scores in held.items() if scores[0].scale is not None}
        if (over_all := over_all_of(item)) is not None and item.status == "ok":
            answers["overall", ""] = over_all
        return cls(item.verdict if item.status == "ok" else None, answers, scales)


def _last(item: Item) -> list[Score]:
    """The answers; where there are none, the scores of the stage that was written last."""
    stage = item.scores[-1].stage if item.scores else ""
    return answers_of(item) or [score for score in item.scores if score.stage == stage]


def _one(scores: Sequence[Score]) -> float | str:
    """Of repeats the mean, of labels the first."""
    if scores[0].label is not None:
        return scores[0].label
    return fmean(score.value for score in scores if score.value is not None)


# Does a judge pay for length? Outputs against padded copies of themselves, scored alone or side by side.


EVEN = 1e-9  # a score that moves by less does not move


@dataclass(frozen=True)
class Change:
    """What one kind of padding did to one criterion's scores.

    Attributes:
        agent: who scored; "" for the answer over all criteria. scale: of the scores, None where it is not said.
        n: samples scored with and without the padding. unread: samples that lack one of the two scores.
        mean: change of the score, in the units of the scale; None of labels.
        raised, lowered: shares of samples; None of labels. relabelled: share with another label; None of numbers.
    """

    kind: str
    criterion: str
    agent: str
    n: int
    scale: Scale | None = None
    mean: Measured | None = None
    raised: Measured | None = None
    lowered: Measured | None = None
    relabelled: Measured | None = None
    unread: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        numbers = {name: getattr(self, name) for name in ("mean", "raised", "lowered", "relabelled")}
        about = {"kind": self.kind, "criterion": self.criterion, "agent": self.agent, "n": self.n}
        more = {"unread": self.unread, "scale": str(self.scale) if self.scale else None}
        return {**about, **more, **{name: m.to_dict() for name, m in numbers.items() if m is not None}}


@dataclass(frozen=True)
class Padded:
    """What padding did.

    Attributes:
        changes: of scores, per kind and criterion.
        wins: kind -> share of comparisons that the padded copy wins against its own original, each pair asked for in
            both orders, a tie counts half: 0.5 for a judge that does not care.
        unread: kind -> pairs without a verdict in one of the orders, judged or not. note: why there is nothing.
    """

    changes: tuple[Change, ...]
    wins: dict[str, Measured]
    unread: dict[str, int]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        wins = {kind: won.to_dict() for kind, won in self.wins.items()}
        return {"changes": [c.to_dict() for c in self.changes], "wins": wins, "unread": self.unread, "note": self.note}


def padding(
    seen: Sequence[dict[str, Seen]], made: Sequence[Collection[str]], kinds: Sequence[str], units: Codes | None,
    drawing: Drawing, original: str,
) -> Padded:  # fmt: skip
    """Of the samples with padded copies; `made`: words of each sample's copies, judged or not."""
    changes = [change for kind in kinds for change in _changes(seen, made, kind, units, drawing, original)]
    wins: dict[str, Measured] = {}
    unread: dict[str, int] = {}
    for kind in kinds:
        first, second = pads(kind)
        pairs = sum(first in words for words in made)
        both = [(i, one[first].verdict, one[second].verdict) for i, one in enumerate(seen) if {first, second} <= {*one}]
        read = [(i, (_share(a, "A") + _share(b, "B")) / 2) for i, a, b in both if a is not None and b is not None]
        if pairs:
            unread[kind] = pairs - len(read)
            wins[kind] = drawing.share([won for _, won in read], _units(units, [i for i, _ in read]))
    note = "" if changes or any(won.n for won in wins.values()) else _why(seen, any(made))
    return Padded(tuple(changes), wins, unread, note)


def _why(seen: Sequence[dict[str, Seen]], made: bool) -> str:
    """Why there is no change and no comparison."""
    if not any(seen):
        return "nothing to say: no sample was judged"
    if made and not any(len(one) > 1 for one in seen):
        return "nothing to say: no padded copy was judged"
    if made and any(one.verdict is not None or one.answers for words in seen for one in words.values()):
        return "nothing to say: no padded copy has an answer beside its original's"
    return "not applicable: the method scores nothing that a padded copy could be scored by"


def _share(verdict: str, padded: str) -> float:
    """What the padded side has of a comparison."""
    return 0.5 if verdict == "tie" else float(verdict == padded)


def _changes(
    seen: Sequence[dict[str, Seen]], made: Sequence[Collection[str]], kind: str, units: Codes | None,
    drawing: Drawing, original: str,
) -> list[Change]:  # fmt: skip
    due = [i for i, words in enumerate(made) if kind in words]
    pairs = [(i, seen[i][original], seen[i][kind]) for i in due if {original, kind} <= {*seen[i]}]
    lines = dict.fromkeys(line for _, before, _ in pairs for line in before.answers)
    lost = len(due) - len(pairs)
    return [found for line in lines if (found := _change(pairs, lost, kind, line, units, drawing)) is not None]


def _change(
    pairs: Sequence[tuple[int, Seen, Seen]], lost: int, kind: str, line: Line, units: Codes | None, drawing: Drawing
) -> Change | None:
    both = [(i, a.answers[line], b.answers[line]) for i, a, b in pairs if line in a.answers and line in b.answers]
    if not both:
        return None
    mine = _units(units, [i for i, *_ in both])
    unread = lost + sum(line in a.answers or line in b.answers for _, a, b in pairs) - len(both)
    scale = next((a.scales[line] for _, a, _ in pairs if line in a.scales), None)
    if any(isinstance(answer, str) for _, *sides in both for answer in sides):
        relabelled = drawing.share([a != b for _, a, b in both], mine)
        return Change(kind, *line, len(both), scale, relabelled=relabelled, unread=unread)
    moves = [float(b) - float(a) for _, a, b in both]
    return Change(
        kind, *line, len(both), scale, mean=drawing.mean(moves, mine),
        raised=drawing.share([move > EVEN for move in moves], mine),
        lowered=drawing.share([move < -EVEN for move in moves], mine), unread=unread,
    )  # fmt: skip


def _units(units: Codes | None, places: Sequence[int]) -> Codes | None:
    return units[list(places)] if units is not None and places else None


# Does a judge favour what its own model wrote? Its scores against people's, of its own outputs and of others'.


SELF_PROBE_EVEN, DIGITS = 1e-9, 12  # what is less than that of a value, or comes after so many digits, is round-off
_IDLE = re.compile(r"[^a-z0-9]+")


Table = dict[str, tuple[Floats, Floats, Codes]]  # criterion -> the judge's scores, people's, and of which sample


@dataclass(frozen=True)
class OwnModel:
    """How much higher the judge scores its own model's outputs than others that people score alike.

    People's scores are held fixed by a straight line, one slope per criterion within own and other outputs. Noise in
    what is held fixed flattens the line, and the flattened part of a true difference between systems looks like a bias.
    How noisy people are is not known, so there are two numbers, and the truth lies between them as long as the noise of
    the judge and that of people have nothing to do with each other. Only what both say is a bias.

    Attributes:
        own: systems taken for the judge's own. n_own, n_other: their scores by criteria that people judged by too.
        people_exact: in standard deviations of the judge's scores, were people's scores without error (all scatter
            between the two is the judge's). judge_exact: the same, were all of it people's.
        note: why there is nothing.
    """

    own: tuple[str, ...]
    n_own: int = 0
    n_other: int = 0
    people_exact: Measured | None = None
    judge_exact: Measured | None = None
    note: str = ""

    @property
    def biased(self) -> bool:
        """Whether both intervals lie on one side of 0."""
        both = [one for one in (self.people_exact, self.judge_exact) if one is not None]
        return len(both) == 2 and (all(one.low > 0 for one in both) or all(one.high < 0 for one in both))

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        named = {"people_exact": self.people_exact, "judge_exact": self.judge_exact}
        numbers = {name: m.to_dict() if m else None for name, m in named.items()}
        counts = {"own": list(self.own), "n_own": self.n_own, "n_other": self.n_other}
        return {**counts, **numbers, "biased": self.biased, "note": self.note}


def own_model(
    samples: Sequence[Sample], seen: Sequence[Seen | None], own: Sequence[str], units: Codes | None, drawing: Drawing
) -> OwnModel:
    """Of samples whose `meta.system` says who wrote them; `own` are the systems that are the judge's model."""
    systems = [str(sample.meta["system"]) if "system" in sample.meta else None for sample in samples]
    mine = np.array([system in own for system in systems])
    if not any(systems):
        return OwnModel(tuple(own), note="not applicable: no sample says in meta.system who wrote its output")
    if not mine.any():
        return OwnModel(
            tuple(own), note="not applicable: no output is of the judge's own model (own= names its system)"
        )
    if not any(seen):
        return OwnModel(tuple(own), note="nothing to say: no sample was judged")
    table = _table(samples, seen, systems)
    places = np.concatenate([place for _, _, place in table.values()]) if table else np.array([], dtype=np.intp)
    n_own = int(mine[places].sum())
    if not n_own or n_own == len(places):
        why = "people judged" if table else "people judged nothing by the judge's criteria, so"
        return OwnModel(tuple(own), n_own, len(places) - n_own, note=f"not applicable: {why} nothing to compare with")

    def measured(judge_exact: bool) -> Measured:
        return drawing.of(lambda index: _advantage(table, mine, index, judge_exact), len(samples), units)

    counts = n_own, len(places) - n_own
    return OwnModel(tuple(own), *counts, people_exact=measured(False), judge_exact=measured(True))


def _table(samples: Sequence[Sample], seen: Sequence[Seen | None], systems: Sequence[str | None]) -> Table:
    """Of scores that are numbers, with people's mean; of several agents' by one criterion the last one's."""
    rows: dict[str, list[tuple[float, tuple[float | str, ...], int]]] = {}
    for place, (sample, one) in enumerate(zip(samples, seen, strict=True)):
        answers: dict[Line, float | str] = one.answers if one is not None and systems[place] is not None else {}
        held = {criterion: answer for (criterion, _), answer in answers.items()}
        for criterion, answer in held.items():
            human = tuple(number(cell) if is_given(cell) else math.nan for cell in labels_of(sample, criterion))
            if isinstance(answer, float) and human and None not in human:
                rows.setdefault(criterion, []).append((answer, tuple(v for v in human if v is not None), place))
    table: Table = {}
    for criterion, held_rows in rows.items():
        ids, labels = tuple(str(place) for *_, place in held_rows), tuple(human for _, human, _ in held_rows)
        counted = people(Judgements(criterion, "number", ids, labels, {}), Conventions())
        counted_rows = [
            (j, h, p) for (j, _, p), h in zip(held_rows, counted, strict=True) if isinstance(h, int | float)
        ]
        if counted_rows:
            judge, human_, place_ = (np.array(column) for column in zip(*counted_rows, strict=True))
            table[criterion] = judge.astype(np.float64), human_.astype(np.float64), place_.astype(np.intp)
    return table


def _advantage(table: Table, mine: Any, index: Codes, judge_exact: bool) -> float:
    """Of drawn samples: the mean over criteria, each counting by how much it knows; nan where none tells."""
    often = np.bincount(index, minlength=len(mine))
    found, weights = [], []
    for judge, human, place in table.values():
        rows = np.repeat(np.arange(len(place)), often[place])
        own = mine[place[rows]]
        share = own.mean() if len(rows) else 0.0
        if 0 < share < 1:
            found.append(_given_people(judge[rows], human[rows], own, judge_exact))
            weights.append(len(rows) * share * (1 - share))
    values = np.array(found)
    known = ~np.isnan(values)
    return float(np.average(values[known], weights=np.array(weights)[known])) if known.any() else math.nan


def _given_people(judge: Floats, human: Floats, own: Any, judge_exact: bool) -> float:
    """How much higher the own ones are than others with the same score by people, in the judge's standard deviations.

    The slope is that of the judge on people, or where the judge is exact the inverse of that of people on the judge,
    both from within own and other outputs: what lies between the two is what is asked.
    """
    deviation = judge.std()
    if deviation <= SELF_PROBE_EVEN * np.abs(judge).max(initial=0.0):
        return 0.0  # a judge that says one thing prefers nobody
    apart = [float(side[own].mean() - side[~own].mean()) for side in (judge, human)]
    if abs(apart[1]) <= SELF_PROBE_EVEN * np.abs(human).max(initial=0.0):
        return float(round(apart[0] / deviation, DIGITS))  # people see no difference, so no slope is needed
    j, h = (_within(side, own) for side in (judge, human))
    together = float(j @ h)
    above, under = (float(j @ j), together) if judge_exact else (together, float(h @ h))
    if under <= SELF_PROBE_EVEN * math.sqrt(float(j @ j) * float(h @ h)) or (judge_exact and together <= 0):
        return math.nan
    return float(round((apart[0] - above / under * apart[1]) / deviation, DIGITS))


def _within(values: Floats, own: Any) -> Floats:
    """Less the mean of its kind."""
    return np.asarray(values - np.where(own, values[own].mean(), values[~own].mean()))


def own_systems(graph: Any, samples: Sequence[Sample], given: str | Sequence[str]) -> tuple[str, ...]:
    """Systems that are the judge's own model: those given, else those called as one of the graph's judges is."""
    systems = dict.fromkeys(str(sample.meta["system"]) for sample in samples if "system" in sample.meta)
    for name in names_of(given):
        if name not in systems:
            has = one_line(", ".join(systems), 200) or "none: no sample has meta.system"
            raise ConfigError(f"own: no system '{one_line(name, 60)}' wrote one of the samples; there are {has}")
    if given:
        return names_of(given)
    known = {_plain(name) for _, agent in agents_of(graph) for name in _models(agent)} - {""}
    return tuple(system for system in systems if _plain(system) in known)


def _models(agent: Any) -> list[str]:
    judges = getattr(agent, "judges", None) or [getattr(agent, "judge", None)]
    names = [j if isinstance(j, str) else getattr(j, "model_name", None) or getattr(j, "model", None) for j in judges]
    return [name for name in names if isinstance(name, str)]


def _plain(name: str) -> str:
    """A model's name without its provider, and without what is spelt in several ways: "gpt41mini"."""
    return _IDLE.sub("", name.rpartition(":")[2].rpartition("/")[2].casefold())


# Does a pairwise verdict depend on what stands first? Each pair judged as it is, and with its two sides exchanged.


@dataclass(frozen=True)
class Swapped:
    """What exchanging output and rival did.

    Attributes:
        flips: share of pairs whose verdict, mapped back, is another one; a tie beside a winner counts.
        reversed: share of pairs whose winner becomes the loser.
        first: of a pair's verdicts for one side, in both runs, the share for what stands as `output`; the mean
            over pairs, 0.5 for a judge that does not care. A method that prints the rival first: what it prints last.
        n: pairs with both verdicts. unread: pairs without one of them: it could not be read, or the pair or its copy
            was not judged. note: why there is nothing.
    """

    flips: Measured
    reversed: Measured
    first: Measured
    n: int
    unread: int
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        numbers = {name: getattr(self, name).to_dict() for name in ("flips", "reversed", "first")}
        return {**numbers, "n": self.n, "unread": self.unread, "note": self.note}


def swapped(
    seen: Sequence[dict[str, Seen]], made: Sequence[Collection[str]], units: Codes | None, drawing: Drawing,
    original: str,
) -> Swapped:  # fmt: skip
    """Of the samples with an exchanged copy; `made`: words of each sample's copies, judged or not."""
    pairs = sum(SWAPPED in words for words in made)
    known = [(i, one[original], one[SWAPPED]) for i, one in enumerate(seen) if original in one and SWAPPED in one]
    read = [(i, a.verdict, b.verdict) for i, a, b in known if a.verdict is not None and b.verdict is not None]
    mine = _swap_units(units, [i for i, *_ in read])
    flips = drawing.share([BACK.get(b, b) != a for _, a, b in read], mine)
    turned = drawing.share([a == b != "tie" for _, a, b in read], mine)
    sides = [(i, [verdict == "A" for verdict in (a, b) if verdict != "tie"]) for i, a, b in read]
    decided = [(i, sum(wins) / len(wins)) for i, wins in sides if wins]
    first = drawing.share([part for _, part in decided], _swap_units(units, [i for i, _ in decided]))
    return Swapped(flips, turned, first, len(read), pairs - len(read), "" if read else _swap_note(seen, pairs))


def _swap_note(seen: Sequence[dict[str, Seen]], pairs: int) -> str:
    """Why no pair has both verdicts."""
    if not any(seen):
        return "nothing to say: no sample was judged"
    if pairs:
        return "nothing to say: no pair has a verdict in both orders"
    return "not applicable: the method gives no verdict on pairs, or there are no pairs"


def _swap_units(units: Codes | None, places: Sequence[int]) -> Codes | None:
    return units[list(places)] if units is not None and places else None


PROBES = ("swap", "padded", "self")
FAILURES = 20  # kinds that are told


@dataclass(frozen=True)
class Probes:
    """What the probes found; of a probe that was not asked for None.

    Attributes:
        samples: probed. judged: of these, and of their copies, those whose graph came to its end. copies: made.
        signature, state, spent, calls: of the run: all that the numbers depend on, how it ended, what it cost, and its
            calls as its manifest counts them.
        failures: (status, reason) -> how many samples and copies ended so; why: in words, where none was judged.
    """

    samples: int
    copies: int
    judged: int
    signature: str
    state: str
    spent: Mapping[str, Any]
    calls: Mapping[str, Any]
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
            "signature": self.signature, "state": self.state, "spent": priced(self.spent),
            "calls": priced(self.calls),
        }  # fmt: skip
        failed = [{"status": s, "reason": r, "count": n} for (s, r), n in self.failures.items()]
        about |= {"failures": failed, **({"nothing_judged": self.why} if self.why else {})}
        return {**about, **{name: one.to_dict() for name, one in found.items() if one is not None}}


@handing_on("judgegraph.runs.evaluate:aevaluate", kinds={"samples"})
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
    names = own_systems(made, held, own) if "self" in probes else ()
    if tuple(probes) == ("self",) and not names:
        raise ConfigError(
            "self: nothing to measure, and nothing was paid: no output is of the judge's own model, by meta.system; "
            "name its system (--own, own=)"
        )
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
        found["own"] = own_model(held, [one.get(ORIGINAL) for one in seen], names, units, drawing)
    if why:
        found = {name: replace(one, note=f"{one.note}: {why}" if one.note else why) for name, one in found.items()}
    manifest = run.manifest
    judged, extra = sum(map(len, seen)), sum(map(len, words))
    found |= {"failures": dict(failed.most_common(FAILURES)), "why": why}
    return Probes(
        len(held), extra, judged, run.signature, str(manifest["state"]), manifest["spent"], manifest["calls"],
        confidence, **found,
    )  # fmt: skip


def _judged(
    graph: Any, held: Sequence[Sample], probes: Sequence[str], kinds: Sequence[str], settings: Mapping[str, Any]
) -> tuple[Run, list[dict[str, Seen]], list[list[str]]]:
    """The run, what was seen of each sample by the words of its copies, and the words of all its copies.

    Whether a method judges pairs is known when it has: so the copies are made after the originals were judged, and the
    second call goes on with the first one's run.
    """
    from judgegraph.runs.evaluate import evaluate  # which imports LangGraph: a page that shows probes needs none

    run = evaluate(graph, held, **settings)
    pairwise = any(item.comparisons or item.verdict is not None for item in run.items)
    made = [list(copies(sample, probes, kinds, pairwise)) for sample in held]
    if any(made) and run.manifest["state"] == "finished":
        run = evaluate(graph, chain(held, (copy for some in made for _, copy in some)), **settings)
    places = {sample.id: (place, ORIGINAL) for place, sample in enumerate(held)}
    places |= {copy.id: (place, word) for place, some in enumerate(made) for word, copy in some}
    seen: list[dict[str, Seen]] = [{} for _ in held]
    given = criteria_names(run.manifest)
    for item in run.items:
        if item.status == "ok" and item.id in places:
            place, word = places[item.id]
            seen[place][word] = Seen.of(item, given)
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
