"""Systems ranked by people and by metrics: strengths, ratings, cycles, and how far the rankings agree."""

from __future__ import annotations

import difflib
import math
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from judgegraph.data.samples import ABSENT, column_list, grouping_value, value_at
from judgegraph.errors import ConfigError, DataError, counted, handing_on, one_line
from judgegraph.meta.answers import ItemAnswers, answers_in, join_answers
from judgegraph.meta.cells import (
    Answer,
    Columns,
    Judgements,
    Kind,
    asked_of,
    is_given,
    number,
    people,
    refuse_unknown,
    rule_of,
    single,
)
from judgegraph.meta.conventions import Conventions, Unreadable
from judgegraph.meta.judgements import Raw, read_table
from judgegraph.meta.result import AGREE, NONE, Ends, json_values, settled_ends
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.stats.agreement import corrected
from judgegraph.stats.bootstrap import interval, p_of_zero, settled
from judgegraph.stats.correlation import Codes, Floats
from judgegraph.stats.ranking import (
    PRIOR,
    Cycles,
    EloRule,
    Matches,
    Ratings,
    Strengths,
    bradley_terry,
    elo,
    levels,
    preference_cycles,
    rankings_agree,
    signs,
    taus,
)
from judgegraph.types import Verdict, names_of

# Systems in an order: what came of ranking them, and how it is printed as JSON.


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """One system by one judge.

    Attributes:
        place: 1 for the strongest of its part; None where it was never compared.
        part: 1 for the most systems that comparisons link, 2 for the next, ...; None as of `place`.
        met: its comparisons. won: share of them, ties half. score: its mean, nan where pairs were judged.
        strength: Bradley-Terry, in log odds, mean 0 of a part. elo: averaged over orders. Both nan where it was never
            compared. Their intervals are nan where all resamples are alike: so is that of a strength without bounds,
            and of the Elo of a system that won or lost everything.
        p_next: two-sided, of the next system of its part being as strong, from the difference of the two in each
            resample. p_next_corrected: for all neighbours of the ranking. Both nan of the last, and without intervals.
        p_is_least: so many resamples cannot give a smaller p_next; more of them might.
    """

    system: str
    place: int | None
    part: int | None = 1
    met: float
    won: float
    score: float = math.nan
    strength: float
    strength_interval: Ends = NONE
    elo: float
    elo_interval: Ends = NONE
    p_next: float = math.nan
    p_next_corrected: float = math.nan
    p_is_least: bool = False


@dataclass(frozen=True, kw_only=True)
class AgainstPeople:
    """How far a metric's ranking is people's, by "score", "strength" or "elo": see `RankingsAgree`.

    Attributes:
        pairs: of systems that comparisons link, by people and by the metric; no others count.
        kendall_interval: from the resampled strengths, nan beside other measures, where tau is undefined, and where all
            resamples are alike.
    """

    by: str
    kendall: float
    spearman: float
    alike: int
    pairs: int
    kendall_interval: Ends = NONE


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The systems by one judge and criterion, the strongest first.

    Attributes:
        units: that hold a comparison. cycles: of majority preferences. unread: answers that are missing.
        elo_scale: of the ratings. signature: every choice behind it.
        against: () for people themselves, and where they did not judge.
    """

    criterion: str
    judge: str
    systems: tuple[Ranked, ...]
    comparisons: int
    units: int
    cycles: Cycles
    against: tuple[AgainstPeople, ...] = ()
    unread: int = 0
    notes: tuple[str, ...] = ()
    elo_scale: float = 400.0
    signature: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        found: dict[str, Any] = json_values(asdict(self))
        return found


# Systems that are to be ranked: whose output each item is, of pairs also whose the rival is; from runs and tables.


OUTPUT, OTHER = "A (output)", "B (rival)"  # where the data names no system: the two sides are two
SYSTEM, RIVAL, GROUP = "system", "rival_system", "group"  # keys of a sample's meta where none are named


@dataclass(frozen=True)
class Entrants:
    """Judgements whose `systems` are there.

    Attributes:
        rivals: of pairs, the systems of the second outputs. left_out: what else the run held, a line each.
    """

    judged: Judgements
    rivals: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()


def of_table(
    path: str | os.PathLike[str], *, rival: str | None = None, human: str | Sequence[str] = (),
    metrics: str | Sequence[str] = (), group: str | None = None, **columns: Any,
) -> list[Entrants]:  # fmt: skip
    """The entrants of a table, by criterion; columns as of `read_table`. People or metrics may be missing.

    Args:
        rival: column of the second system: rows are pairs then, judged by verdicts.

    Raises:
        ConfigError: no column of systems. DataError: no such column, and as of `read_table`.
    """
    people, scorers = names_of(human), names_of(metrics)
    columns |= {"human": people or scorers, "metrics": scorers or people[:1]}
    if rival is not None:
        columns["kind"] = "verdict"
    try:
        found = read_table(path, None, group=group, **columns)
    except DataError:
        _refuse_misspelt(path, [columns.get("system"), rival, group, columns.get("id"), columns.get("criterion")])
        raise
    for one in found:
        if one.systems is None:
            raise ConfigError(f"{one_line(path)}: which column holds the systems? Name it with --system COLUMN")
    if metrics and not human:
        found = [replace(one, human=((),) * len(one)) for one in found]
    if human and not metrics:
        found = [replace(one, metrics={}, statuses={}) for one in found]
    if rival is None:
        return [Entrants(one) for one in found]
    try:
        others = [one.groups for one in read_table(path, None, group=rival, **columns)]
    except DataError:
        _refuse_misspelt(path, [rival])
        raise
    return [Entrants(one, other) for one, other in zip(found, others, strict=True)]


def _refuse_misspelt(path: str | os.PathLike[str], wanted: Sequence[str | None]) -> None:
    """A name that is in no first row is no empty cell of it.

    Raises:
        DataError: one of them is.
    """
    from judgegraph.data.load import READERS, format_of  # here, as a run is no table

    first = next((row for _, row in READERS[format_of(Path(path))](Path(path))), None)
    if isinstance(first, dict):
        names = [name for name in wanted if name is not None]
        met = {name for name in names if value_at(first, name) is not ABSENT or name.partition(".")[0] in first}
        refuse_unknown(names, met, list(first), one_line(path))


def of_run(
    run: Run, *, system: str | None = None, rival: str | None = None, group: str | None = None,
    metrics: str | Sequence[str] = (), stages: str | Sequence[str] | None = None,
    verdicts: Mapping[str, Verdict] | None = None,
) -> list[Entrants]:  # fmt: skip
    """The entrants of a run, by criterion, whether people judged its samples or not.

    Args:
        system, rival, group: keys of the samples' meta; None for "system", "rival_system" and "group", where they are.
        metrics: only these agents. stages: whose scores count; None: the answers, and the final scores of `metrics`.

    Raises:
        ConfigError: a sample without its system, no such agent, or nothing that ranks.
    """
    metrics, stages = names_of(metrics), stages if stages is None else names_of(stages)
    items = [(item, answers_in(item, stages, assistants=False, agents=metrics)) for item in run.items]
    items, left_out = _of_one_kind(items)
    join_answers([answers for _, answers in items])
    items.sort(key=lambda one: one[0].place)  # as `read_run`
    names: dict[str, str] = {}
    for _, answers in items:
        for name in answers.names:
            names.setdefault(name.casefold(), name)
    _refuse_unknown_agents(metrics, items)
    found = [_criterion(name, key, items, (system, rival, group), metrics, verdicts) for key, name in names.items()]
    known = [one for one in found if one is not None]
    left_out += (*_unused(items, known), *_unasked(items))
    if not known:
        raise ConfigError(
            "nothing ranks the systems: there is no criterion by which all answers are numbers, or all are verdicts of "
            "pairs; --metric AGENT ranks by one agent"
        )
    return [replace(one, left_out=left_out) for one in known]


def _of_one_kind(
    items: list[tuple[Item, ItemAnswers]],
) -> tuple[list[tuple[Item, ItemAnswers]], tuple[str, ...]]:
    """Where pairs were compared: those, or the samples without a rival if they are more; the others are counted."""
    pairs = [one for one in items if one[0].sample.rival is not None]
    alone = [one for one in items if one[0].sample.rival is None]
    if not alone or not any(item.verdict or item.comparisons for item, _ in pairs):
        return items, ()
    kept, lost, what = (pairs, alone, "no rival") if len(pairs) >= len(alone) else (alone, pairs, "a rival")
    who = counted(len(lost), "sample has", "samples have")
    return kept, (f"{who} {what}: left out",)


def _unasked(items: Sequence[tuple[Item, ItemAnswers]]) -> Iterator[str]:
    """Samples that ended before anybody was asked: they are in no table, and a run counts them as failed."""
    lost = Counter(
        item.status
        for item, answers in items
        if item.status != "ok" and all(value is None for by in answers.by.values() for value, _ in by.values())
    )
    if lost:
        by = ", ".join(f"{count:,} {status}" for status, count in lost.items())
        yield (
            f"{sum(lost.values()):,} of {counted(len(items), 'sample')} ended before anything was answered ({by}): in "
            "no table, or counted as missing answers"
        )


def _unused(items: Sequence[tuple[Item, ItemAnswers]], known: Sequence[Entrants]) -> Iterator[str]:
    given = dict.fromkeys(name for item, _ in items for name, value in item.sample.human.items() if _cells(value))
    if known and given and not any(any(one.judged.human) for one in known):
        names = one_line(", ".join(f"human.{name}" for name in given), 200)
        kinds = " or a ".join(dict.fromkeys(one.judged.kind for one in known))
        of = one_line(", ".join(one.judged.criterion for one in known), 200)
        yield f"people are not ranked: of what the samples hold ({names}) nothing is a {kinds} by {of}"


def _refuse_unknown_agents(wanted: Sequence[str], items: Sequence[tuple[Item, ItemAnswers]]) -> None:
    known = list(dict.fromkeys(m for _, answers in items for found in answers.by.values() for m in found))
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{one_line(near[0], 60)}'?" if near else "."
            has = one_line(", ".join(known), 200) or "none that scored or compared"
            raise ConfigError(f"no agent '{one_line(name, 60)}' in the run{hint} It has {has}")


def _criterion(
    name: str, key: str, items: Sequence[tuple[Item, ItemAnswers]], keys: tuple[str | None, str | None, str | None],
    wanted: Sequence[str], verdicts: Mapping[str, Verdict] | None,
) -> Entrants | None:  # fmt: skip
    """One criterion of the items that were judged by it; None where its answers are labels."""
    seen = [(item, answers.answers(key), answers) for item, answers in items if key in answers.by]
    metrics = [m for m in dict.fromkeys(m for _, found, _ in seen for m in found) if not wanted or m in wanted]
    given = [found[m][0] for _, found, _ in seen for m in metrics if m in found and found[m][0] is not None]
    paired = bool(given) and all(answer in ("A", "B", "tie") for answer in given)
    if not given or not (paired or all(isinstance(answer, float | int) for answer in given)):
        return None
    exchanged = [m for m in metrics if paired and any(m in answers.exchanged.get(key, {}) for _, _, answers in seen)]
    raw = Raw(name, "the run", metrics={m: [] for m in metrics}, exchanged={m: [] for m in exchanged})
    raw.systems, raw.groups = [], []
    by_people = _peoples(key, {one for _, answers in items for one in answers.by}, [item for item, *_ in seen], paired)
    rivals: list[str] = []
    unnamed = paired and keys[:2] == (None, None) and not any(_is_named(item) for item, *_ in seen)
    for item, found, answers in seen:
        _add(raw, item, found, answers.exchanged.get(key, {}), by_people[:1])
        raw.systems.append(OUTPUT if unnamed else _meta(item, keys[0], SYSTEM) or "")
        rivals.append(OTHER if unnamed else _meta(item, keys[1], RIVAL) or "" if paired else "")
        raw.groups.append(_meta(item, keys[2], GROUP, needed=False) or "")
    raw.groups = raw.groups if all(raw.groups) else None
    kind: Kind = "verdict" if paired else "number"
    judged = raw.judgements(kind, verdicts if paired else None)
    if by_people[1:]:
        others = " and ".join(f"human.{one_line(other, 60)}" for other in by_people[1:])
        notes = (*judged.notes, f"people are ranked by human.{one_line(by_people[0], 60)}, not by {others}")
        judged = replace(judged, notes=notes)
    return Entrants(judged, tuple(rivals) if paired else None)


def _is_named(item: Item) -> bool:
    """Whether its data says of which system a text is."""
    return any(grouping_value(item.sample, key) is not ABSENT for key in (SYSTEM, RIVAL))


def _peoples(key: str, judged: Collection[str], items: Sequence[Item], paired: bool) -> list[str]:
    """Names, casefolded, of people's judgements by a criterion: its own first, then as of `read_run`."""
    met: dict[str, list[Any]] = {}
    for item in items:
        for name, value in item.sample.human.items():
            if asked_of(name.casefold(), judged) == key:
                met.setdefault(name.casefold(), []).extend(_cells(value))
    usable = [
        name for name, cells in met.items() if (cells if paired else any(number(cell) is not None for cell in cells))
    ]
    return sorted(usable, key=lambda name: name != key)


def _cells(human: Any) -> list[Any]:
    """What people gave of a sample, by one name."""
    return [cell for cell in (human if isinstance(human, list) else [human]) if is_given(cell)]


def _add(
    raw: Raw, item: Item, found: Mapping[str, Any], exchanged: Mapping[str, Any], by_people: Sequence[str]
) -> None:
    human = next((value for name, value in item.sample.human.items() if name.casefold() in by_people), None)
    raw.places.append(f"sample '{one_line(item.id, 60)}'")
    raw.ids.append(item.id)
    raw.human.append(human if isinstance(human, list) else [] if human is None else [human])
    for metric, cells in raw.metrics.items():
        cells.append(found.get(metric, (None, ""))[0])
    for metric, cells in raw.exchanged.items():
        cells.append(exchanged.get(metric))


def _meta(item: Item, key: str | None, usual: str, *, needed: bool = True) -> str | None:
    """A name in a sample's meta ("a.b" is b in the object a).

    Raises:
        ConfigError: there is none, and it is needed or was asked for.
    """
    value = grouping_value(item.sample, key or usual)
    if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
        return str(value)
    if key is None and not needed:
        return None
    option = {SYSTEM: "--system", RIVAL: "--rival", GROUP: "--group"}[usual]
    has = column_list(item.sample.meta, 120) or "nothing"
    raise ConfigError(
        f"sample '{one_line(item.id, 60)}': no name in meta.{one_line(key or usual, 60)}, its meta has {has}; "
        f"{option} KEY says where it is"
    )


# What people and each metric say of systems, as pairwise comparisons: scores of one document, or verdicts of pairs.


PEOPLE = "people"
MOST = 5_000_000  # comparisons of one judge: more do not fit into memory
WON = {"A": 1.0, "B": 0.0, "tie": 0.5}


@dataclass(frozen=True)
class Contest:
    """One judge by one criterion.

    Attributes:
        judge: a metric, or "people". matches: of all systems, in the order of their names; units are those that the
            judge compared something in, so that its draws do not hang on what others judged.
        documents: the table's number of each unit, by which judges are drawn together where they are compared.
        unread: answers that are missing. alike: pairs of a system with itself, left out.
        rule: how the annotators were taken together. unreadable: what a missing answer counted as.
        combined: its verdicts are those of both orders in one.
        means, counts: (n,) of each system, where items are scored: its mean score and how many there were.
        read: lines on how its answers were read, and on items that people did not judge.
    """

    criterion: str
    judge: str
    matches: Matches
    documents: Codes
    unread: int
    alike: int = 0
    rule: str = "single"
    unreadable: Unreadable = "drop"
    combined: bool = False
    means: Floats | None = None
    counts: Floats | None = None
    read: tuple[str, ...] = ()


def contests(entrants: Entrants, conventions: Conventions) -> list[Contest]:
    """People's contest, where they judged, then each metric's.

    Raises:
        DataError: doubled records that are refused; ConfigError: no such annotator, or too many comparisons.
    """
    combined = entrants.judged.in_both_orders if conventions.orders == "agree" else frozenset()
    if combined:
        entrants = replace(entrants, judged=entrants.judged.in_one_verdict())
    if entrants.rivals is None:
        one, _ = single(entrants.judged, conventions.duplicates)
        entrants = replace(entrants, judged=one)
    one = entrants.judged
    judges: dict[str, tuple[Sequence[Answer | None], Sequence[Answer | None]]] = {}
    judged = people(one, conventions)
    if any(answer is not None for answer in judged):
        judges[PEOPLE] = (judged, ())
    for name, answers in one.metrics.items():
        other = one.exchanged.get(name, ())
        judges[f"{name} (a metric)" if name == PEOPLE else name] = (answers, other)
    made = _of_scores if entrants.rivals is None else _of_pairs
    table = _Table.of(entrants)
    rule = rule_of(one, conventions)
    first = next(iter(judges), "")  # how words were read is told once
    about = {
        name: (*(one.notes if name == first else ()), *_unjudged(one, name, said)) for name, (said, _) in judges.items()
    }
    return [
        replace(
            made(table, name, *answers, conventions), criterion=one.criterion, rule=rule, combined=name in combined,
            read=about[name],
        )
        for name, answers in judges.items()
    ]  # fmt: skip


def _unjudged(one: Judgements, judge: str, said: Sequence[Answer | None]) -> Iterator[str]:
    """A judge ranks by all items that it judged, beside people who saw some of them."""
    seen = sum(map(bool, one.human))
    lacking = sum(answer is not None and not people for answer, people in zip(said, one.human, strict=True))
    if judge != PEOPLE and seen and lacking:
        judged = sum(answer is not None for answer in said)
        yield (
            f"{lacking:,} of {counted(judged, 'item')} that {_name(judge)} answered without a judgement of people: "
            "counted for its ranking, and for agreement (judgegraph meta) not"
        )


@dataclass(frozen=True)
class _Table:
    """The columns that all judges share, as codes.

    Attributes:
        system, rival: of each item; rival: as system where there is none. unit: its document, or itself.
    """

    names: tuple[str, ...]
    system: Codes
    rival: Codes
    unit: Codes

    @classmethod
    def of(cls, entrants: Entrants) -> _Table:
        one = entrants.judged
        assert one.systems is not None
        rivals = entrants.rivals or one.systems
        names = tuple(sorted({*one.systems, *rivals}))
        of = {name: code for code, name in enumerate(names)}
        units: Sequence[object] = one.groups or (one.ids if entrants.rivals is None else range(len(one)))
        return cls(names, _codes(one.systems, of), _codes(rivals, of), _codes(units, _places(units)))


def _places(names: Sequence[object]) -> dict[object, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _codes(names: Sequence[object], of: Mapping[Any, int]) -> Codes:
    return np.array([of[name] for name in names], dtype=np.intp)


def _of_scores(
    table: _Table, judge: str, answers: Sequence[Answer | None], _: Sequence[Answer | None], conventions: Conventions
) -> Contest:  # fmt: skip
    """Within each document the higher score wins. Without documents, items of one id are of one."""
    zero = 0.0 if conventions.unreadable == "zero" else np.nan
    scores = np.array([float(a) if isinstance(a, float | int) else zero if a is None else np.nan for a in answers])
    known = np.flatnonzero(~np.isnan(scores))
    system, score = table.system[known], scores[known]
    counts = np.bincount(system, minlength=len(table.names)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        means = np.bincount(system, score, minlength=len(table.names)) / counts
    first, second = _games(table.unit[known], system)
    x, y = score[first], score[second]
    with np.errstate(invalid="ignore"):  # inf is as high as inf
        equal = (x == y) | (np.abs(x - y) <= 1e-12 * np.maximum(1, np.maximum(np.abs(x), np.abs(y))))
    won, met = np.where(equal, 0.5, (x > y) * 1.0), table.unit[known]
    matches, documents = _numbered(Matches(table.names, system[first], system[second], won, met[first]), met)
    unreadable: Unreadable = "zero" if conventions.unreadable == "zero" else "drop"
    unread = sum(answer is None for answer in answers)
    return Contest("", judge, matches, documents, unread, unreadable=unreadable, means=means, counts=counts)


def _games(unit: Codes, system: Codes) -> tuple[Codes, Codes]:
    """Every two items of one document that are of different systems.

    Raises:
        ConfigError: there are too many.
    """
    order = np.argsort(unit, kind="stable")
    sizes = np.bincount(unit)
    starts = np.cumsum(sizes) - sizes
    if (total := int((sizes * (sizes - 1) // 2).sum())) > MOST:
        raise ConfigError(f"{total:,} comparisons of two outputs for one document; at most {MOST:,} are ranked")
    found = [np.empty((2, 0), dtype=np.intp)]
    for many in np.unique(sizes[sizes > 1]):
        rows = order[starts[sizes == many][:, None] + np.arange(many)]
        found.append(np.stack([rows[:, side].ravel() for side in np.triu_indices(int(many), 1)]))
    first, second = np.concatenate(found, axis=1)
    other = system[first] != system[second]
    return first[other], second[other]


def _of_pairs(
    table: _Table, judge: str, answers: Sequence[Answer | None], exchanged: Sequence[Answer | None],
    conventions: Conventions,
) -> Contest:  # fmt: skip
    """Each verdict is a comparison, in either order; what people or a metric did not answer is left out, or a tie."""
    unreadable: Unreadable = "tie" if conventions.unreadable == "tie" else "drop"
    missing = 0.5 if unreadable == "tie" and judge != PEOPLE else np.nan
    answered = [column for column in (answers, exchanged) if column]
    won = np.array([[missing if a is None else WON[str(a)] for a in column] for column in answered])
    unlike = table.system != table.rival
    order, at = np.nonzero(~np.isnan(won) & unlike)
    found = Matches(table.names, table.system[at], table.rival[at], won[order, at], table.unit[at])
    matches, documents = _numbered(found, table.unit[np.unique(at)])
    unread = sum(answer is None for column in answered for answer in column)
    return Contest("", judge, matches, documents, unread, int((~unlike).sum()), unreadable=unreadable)


def _numbered(matches: Matches, met: Codes) -> tuple[Matches, Codes]:
    """The same with its units numbered from 0 in the order in which they were met, and the unit of each number."""
    compared = set(matches.units.tolist())
    documents = np.array([unit for unit in dict.fromkeys(met.tolist()) if unit in compared], dtype=np.intp)
    place = np.empty(int(met.max(initial=-1)) + 1, dtype=np.intp)
    place[documents] = np.arange(len(documents))
    return replace(matches, unit=place[matches.units], total=len(documents)), documents


def _together(one: Contest, other: Contest) -> tuple[Matches, Matches]:
    """Both with one numbering of the units of either: what is drawn of one judge is drawn of the other."""
    met = np.union1d(one.documents, other.documents)
    first, second = (
        replace(each.matches, unit=np.searchsorted(met, each.documents[each.matches.units]), total=len(met))
        for each in (one, other)
    )
    return first, second


# What to know beside the numbers of a ranking.


FEW = 10  # units of which intervals are rough: a resample holds two thirds of them
WAYS = "wins do not lead from every system to every other, so that some strengths have no bounds"
SAME = "all resamples are alike"
WHOLE = "resamples are alike of a system that won or lost everything"


def notes_of(contest: Contest, strengths: Strengths, ratings: Ratings, c: Conventions) -> Iterator[str]:
    """A line each."""
    yield from contest.read
    yield from _of_parts(contest, strengths)
    if strengths.regularised:
        yield f"{WAYS}{', and no intervals' if c.resamples else ''}; each pair was lent {PRIOR:g} wins either way"
    elif strengths.lent:
        yield (
            f"in {strengths.lent / len(strengths.drawn):.1%} of the resamples some systems lost to no others: each "
            f"pair was lent {PRIOR:g} wins there"
        )
    if contest.alike:
        yield f"{counted(contest.alike, 'pair')} of a system with itself, left out"
    yield from _of_draws(contest, strengths, ratings, c)


def _of_parts(contest: Contest, strengths: Strengths) -> Iterator[str]:
    names, parts = np.array(contest.matches.names, dtype=object), strengths.parts
    if parts.max(initial=0) > 0:
        shown = "; ".join(", ".join(map(_name, names[parts == part][:4])) for part in range(min(3, parts.max() + 1)))
        yield (
            f"{parts.max() + 1} parts that nobody compared ({one_line(shown, 200)}): places, strengths, and pairs "
            "against people are within a part"
        )
    idle = names[parts < 0]
    if len(idle):
        yield f"never compared: {one_line(', '.join(map(_name, idle[:8])), 200)}"


def _name(name: str) -> str:
    return one_line(name, 40)


def _of_draws(contest: Contest, strengths: Strengths, ratings: Ratings, c: Conventions) -> Iterator[str]:
    if c.resamples and strengths.units == 1:
        yield "one unit alone (document, or comparison): no interval can be told"
    elif c.resamples and strengths.units < FEW:
        yield f"{counted(strengths.units, 'unit')}: intervals are rough"
    if len(strengths.drawn) < c.resamples:
        yield f"intervals of strengths from {len(strengths.drawn):,} resamples, more would take too long"
    if len(ratings.drawn) < c.resamples:
        yield f"Elo intervals from {len(ratings.drawn):,} resamples, more would take too long"
    if ratings.played < len(contest.matches):
        yield (
            f"Elo plays {counted(ratings.played, 'comparison')} of {len(contest.matches):,} in each order, drawn by "
            "chance: all would take too long"
        )


# A contest with its strengths and ratings, and what is said of it.


MOST_SYSTEMS = 300


@dataclass(frozen=True)
class Fitted:
    """One judge's contest, fitted."""

    contest: Contest
    strengths: Strengths
    ratings: Ratings
    conventions: Conventions
    rule: EloRule

    @classmethod
    def of(cls, contest: Contest, c: Conventions, rule: EloRule) -> Fitted:
        """Raises ConfigError: too many systems."""
        if len(contest.matches.names) > MOST_SYSTEMS:
            raise ConfigError(f"{len(contest.matches.names):,} systems; at most {MOST_SYSTEMS} are ranked")
        how = {"resamples": c.resamples, "seed": c.seed}
        return cls(contest, bradley_terry(contest.matches, **how), elo(contest.matches, rule, **how), c, rule)

    def ranking(self, people: Fitted | None) -> Ranking:
        """The systems in their order; `people`: what it is held against."""
        matches = self.contest.matches
        wins = matches.wins()
        rows = [self._row(k, wins) for k in range(len(matches.names))]
        rows.sort(key=lambda row: (row.part or math.inf, row.place or 0, row.system))
        rows = list(self._tested(rows))
        people = None if people is self else people
        against = () if people is None else tuple(self.against(people))
        return Ranking(
            criterion=self.contest.criterion, judge=self.contest.judge, systems=tuple(rows),
            comparisons=len(matches), units=matches.judged, cycles=preference_cycles(wins, matches.names),
            against=against, unread=self.contest.unread, elo_scale=self.rule.scale, signature=self.signature(people),
            notes=(
                *notes_of(self.contest, self.strengths, self.ratings, self.conventions),
                *self._without_interval(rows, against), *self._too_few(rows),
            ),
        )  # fmt: skip

    def _without_interval(self, rows: Sequence[Ranked], against: Sequence[AgainstPeople]) -> Iterator[str]:
        """Where there are resamples, and they do not tell how sure a number is."""
        if not self.conventions.resamples or self.strengths.units < 2:
            return
        bounded = dict(zip(self.contest.matches.names, ~self.strengths.unbounded, strict=True))
        compared = [row for row in rows if row.part is not None]
        lacking = {
            "strength": [row for row in compared if bounded[row.system] and math.isnan(row.strength_interval[0])],
            "Elo": [row for row in compared if math.isnan(row.elo_interval[0])],
        }
        for what, found in lacking.items():
            if found:
                who = "" if len(found) == len(compared) else f" of {', '.join(_name(row.system) for row in found[:8])}"
                why = WHOLE if any(row.won in (0, 1) for row in found) else SAME
                yield f"{one_line(f'no interval of {what}{who}', 200)}: {why}"
        if drawn := [by.by for by in against if by.pairs and math.isnan(by.kendall)]:
            yield f"no agreement with people by {', '.join(drawn)}: one of the two rankings has only draws"
        elif any(by.by == "strength" and by.pairs and math.isnan(by.kendall_interval[0]) for by in against):
            yield f"no interval of Kendall tau-b against people: {SAME}"

    def _row(self, k: int, wins: Floats) -> Ranked:
        strengths, met, part = self.strengths, wins.sum(axis=1) + wins.sum(axis=0), int(self.strengths.parts[k])
        won = float(wins[k].sum() / met[k]) if part >= 0 else math.nan
        level = levels(strengths.values[strengths.parts == part])
        mine = level[np.flatnonzero(strengths.parts == part) == k]
        known = part >= 0
        return Ranked(
            system=self.contest.matches.names[k], part=part + 1 if known else None,
            place=1 + int((level > mine).sum()) if known else None, met=float(met[k]),
            won=won,
            score=math.nan if self.contest.means is None else float(self.contest.means[k]),
            strength=float(strengths.values[k]),
            strength_interval=NONE if strengths.unbounded[k] else self.ends(strengths.drawn[:, k]),
            elo=float(self.ratings.values[k]) if known else math.nan,
            elo_interval=self.ends(self.ratings.drawn[:, k]) if 0 < won < 1 else NONE,
        )  # fmt: skip

    def _too_few(self, rows: Sequence[Ranked]) -> Iterator[str]:
        """Where even resamples that are all on one side would leave p above 1 - confidence."""
        drawn, units = len(self.strengths.drawn), self.strengths.units
        least = p_of_zero(np.ones(drawn), units=units)
        if least >= 1 - self.conventions.confidence and any(not math.isnan(row.p_next) for row in rows):
            yield f"{units:,} units, {drawn:,} resamples: p next is {least:.3f} or more, however clear the lead"

    def _tested(self, rows: Sequence[Ranked]) -> Iterator[Ranked]:
        """Each with the test against the next one."""
        names, drawn, units = self.contest.matches.names, self.strengths.drawn, self.strengths.units
        found = np.full(len(rows), math.nan)
        least = p_of_zero(np.ones(len(drawn)), units=units)
        for at, (row, other) in enumerate(pairwise(rows)):
            if row.part is not None and row.part == other.part:
                apart = drawn[:, names.index(row.system)] - drawn[:, names.index(other.system)]
                found[at] = p_of_zero(apart, units=units)
        for row, p, fixed in zip(rows, found, corrected(found, self.conventions.correction), strict=True):
            if math.isnan(p):
                yield row
            else:
                yield replace(row, p_next=float(p), p_next_corrected=float(fixed), p_is_least=bool(p <= least))

    def against(self, people: Fitted) -> list[AgainstPeople]:
        """By each measure that both have, over the systems that comparisons link by both."""
        own, theirs = self.strengths, people.strengths
        parts = _shared(own.parts, theirs.parts)
        measures: dict[str, tuple[Floats, Floats]] = {}
        if self.contest.means is not None and people.contest.means is not None:
            measures["score"] = (_of_means(people.contest.means), _of_means(self.contest.means))
        measures["strength"] = (signs(theirs.values), signs(own.values))
        measures["elo"] = (people.ratings.signs, self.ratings.signs)
        drawn = taus(*self._drawn_with(people), parts)
        enough = min(own.units, theirs.units) > 1
        ends = {"strength": self.ends(drawn, self._drawn_from(people)) if enough else NONE}
        found = {by: rankings_agree(*both, parts) for by, both in measures.items()}
        return [
            AgainstPeople(
                by=by, **asdict(one), kendall_interval=NONE if math.isnan(one.kendall) else ends.get(by, NONE)
            )
            for by, one in found.items()
        ]

    def _drawn_from(self, people: Fitted) -> int:
        """Units that either judged: those that are drawn for the interval of tau."""
        return len(np.union1d(self.contest.documents, people.contest.documents))

    def _drawn_with(self, people: Fitted) -> tuple[Floats, Floats]:
        """Resampled strengths by people and by this judge, of the same units."""
        if np.array_equal(self.contest.documents, people.contest.documents):
            return people.strengths.drawn, self.strengths.drawn
        how = {"resamples": self.conventions.resamples, "seed": self.conventions.seed}
        theirs, own = (bradley_terry(each, **how).drawn for each in _together(people.contest, self.contest))
        return theirs, own

    def ends(self, values: Floats, units: int | None = None) -> Ends:
        """Of an interval; one unit alone, or resamples that are all alike, tell nothing of how others vary."""
        units = self.strengths.units if units is None else units
        if not len(values) or units < 2:
            return NONE
        found = interval(values, self.conventions.confidence, units=units)
        return settled_ends((found.low, found.high))[0]

    def signature(self, people: Fitted | None = None) -> str:
        """All choices, in one line; `people`: what the ranking is held against."""
        c, rule, strengths, ratings, contest = (
            self.conventions, self.rule, self.strengths, self.ratings, self.contest
        )  # fmt: skip
        lent = f"lent:{PRIOR:g}" if strengths.regularised else "lent:0"
        some = "" if ratings.played == len(contest.matches) else f" of {ratings.played:,} comparisons"
        tau = () if people is None else (f"tau-bootstrap:{self._drawn_from(people)} units",)
        return "|".join((
            "ties:half", f"unreadable:{contest.unreadable}", *((AGREE,) if contest.combined else ()),
            f"annotators:{contest.rule}", f"bradley-terry:ml,{lent}",
            f"elo:k={rule.k:g},scale={rule.scale:g},start={rule.start:g},orders={ratings.orders}{some}",
            f"bootstrap:{contest.matches.drawn_from} units,{len(strengths.drawn)} resamples,{c.confidence:g}",
            f"elo-bootstrap:{len(ratings.drawn)} resamples,{ratings.each} orders each", *tau,
            f"p-next:strength,paired bootstrap,two-sided,correction:{c.correction}", f"seed:{c.seed}",
        ))  # fmt: skip


def _of_means(means: Floats) -> Floats:
    return signs(settled(means), 0.0)


def _shared(one: Codes, other: Codes) -> Codes:
    """Two systems are of one part where they are so by both; -1: by one of them it was never compared."""
    known = (one >= 0) & (other >= 0)
    found = np.full(len(one), -1, dtype=np.intp)
    found[known] = np.unique(np.stack([one[known], other[known]]), axis=1, return_inverse=True)[1].reshape(-1)
    return found


_CHOICES = frozenset(field.name for field in fields(Conventions))


@handing_on(Conventions, of_run, of_table, Columns)
def rank_systems(
    of: Run | str | os.PathLike[str] | Sequence[Entrants], conventions: Conventions | None = None,
    rule: EloRule | None = None, **more: Any,
) -> list[Ranking]:  # fmt: skip
    """Rank systems by people and by each metric, criterion by criterion.

    Args:
        of: a run or its folder, a table, or entrants.
        conventions: annotators, duplicates, unreadable, resamples, confidence, seed count here; or one by one in
            `more` (`resamples=200`), which come first.
        more: besides, what the parts of `of` are called, as of `judgegraph.meta.ranking.of_run` and `of_table`:
            system, rival, group, human, metrics, ...

    Raises:
        ConfigError: no systems, or fewer than two, or nothing was compared; missing answers that count as what
            nothing here has. ExtraError: choix is not installed.
    """
    choices = {name: more[name] for name in more if name in _CHOICES}
    where = {name: more[name] for name in more if name not in _CHOICES}
    if isinstance(of, str | os.PathLike):
        of = Run.load(of) if Path(of).is_dir() else of_table(of, **where)
    entrants = of_run(of, **where) if isinstance(of, Run) else of
    c, rule = (conventions or Conventions()).replaced(**choices), rule or EloRule()
    _refuse_unfit(entrants, c)
    rankings: list[Ranking] = []
    for one in entrants:
        people: Fitted | None = None
        for contest in contests(one, c):
            if not len(contest.matches):
                continue
            fitted = Fitted.of(contest, c, rule)
            people = fitted if contest.judge == PEOPLE else people
            rankings.append(fitted.ranking(people))
    if not rankings:
        raise ConfigError(
            "no two systems were compared: scores need outputs of several systems for one document (--group) or id, "
            "pairs need --rival"
        )
    first, lines = rankings[0], dict.fromkeys(line for one in entrants for line in one.left_out)
    return [replace(first, notes=(*lines, *first.notes)), *rankings[1:]]


def _refuse_unfit(entrants: Sequence[Entrants], c: Conventions) -> None:
    paired = {one.rivals is not None for one in entrants}
    if c.unreadable == "zero" and paired == {True}:
        raise ConfigError("unreadable: zero is of scores, and pairs are judged here; take drop or tie")
    if c.unreadable == "tie" and paired == {False}:
        raise ConfigError("unreadable: a tie is of pairs, and scores are given here; take drop or zero")
