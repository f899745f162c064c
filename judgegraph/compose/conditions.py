"""When to ask further: what in the scores so far is in doubt, and why."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from itertools import combinations
from typing import Any, ClassVar, Protocol, Self, TypeAlias, TypeVar, overload

from typing_extensions import TypedDict

from judgegraph.answers import ANSWERING, UNTOUCHED, distribution_width
from judgegraph.calls.context import Doubted, context
from judgegraph.compiled import vocabulary
from judgegraph.errors import ConfigError, handing_on, meant_of, one_line, settings_checked
from judgegraph.types import Criterion, EvalState, Note, Notes, Scale, Score, given_criteria, keyed

# Conditions over scores, one after the other: wide, low, failed.


State: TypeAlias = Mapping[str, Any]  # of a graph: as `judgegraph.types.EvalState`
BLIND, OFF = "condition-blind", "threshold-off-scale"  # kinds of notes
NOT_ASKED = UNTOUCHED[0]  # note of a score that a gate let pass
NEARLY = 1e-9  # a width or distance that is greater by less than this is not greater


@dataclass(frozen=True)
class OfScores:
    """Base of conditions that look at one score after the other; of several of one criterion any may be in doubt.

    Of a pair they look at the output's scores: what is reviewed, escalated or gated is the output's judgement.

    Attributes:
        stage: of the scores it looks at; None: those that are reviewed or escalated, in a gate the drafts.
        agent: whose they are; None: anybody's.
        last: of several agents' scores of a criterion the last one's alone, as a critic reviews that one.
    """

    stage: str | None = field(default=None, kw_only=True)
    agent: str | None = field(default=None, kw_only=True)
    last: bool = field(default=False, kw_only=True, repr=False)
    name: ClassVar[str]
    own: ClassVar[bool] = False

    def __bool__(self) -> bool:
        """Refused: a condition by itself is neither true nor false.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(
            f"jg.{self.name}(...) is neither true nor false by itself (in `x or y`, `if x`): join conditions by "
            f"jg.either, or ask one about a state, jg.{self.name}(...)(state)"
        )

    def __call__(self, state: State) -> dict[str, str]:
        found: dict[str, str] = {}
        for score in self.scores(state):
            if score.criterion not in found and (why := self.why(score)):
                found[score.criterion] = why
        return found

    def scores(self, state: State) -> list[Score]:
        """Those that it looks at, a rival's never among them.

        Where a panel scored a criterion, at whatever stage, its score is looked at and not those of its members.
        """
        given = [s for s in (state.get("scores") or {}).values() if s.of == "output"]
        stage = self.stage or "draft"
        found = [s for s in given if s.stage == stage and self.agent in (None, s.agent)]
        if self.agent is None and stage in ANSWERING and any(s.member for s in found):
            answers = [s for s in given if s.stage in ANSWERING and not s.member]
            joined = {s.criterion for s in answers}
            found = [s for s in found if not s.member or s.criterion not in joined]
            met = {s.criterion for s in found}
            found += [s for s in answers if s.criterion not in met]
        return list({s.criterion: s for s in found}.values()) if self.last else found

    def at(self, stage: str, agent: str | None = None, *, last: bool = False) -> Self:
        """A stage of its own stands, an agent of its own too."""
        last = last and self.stage in (None, stage)
        return replace(self, stage=self.stage or stage, agent=self.agent or agent, last=self.last or last)

    def why(self, score: Score) -> str:
        """Why a score is in doubt, "" where it is not."""
        raise NotImplementedError

    def remarks(self, state: State) -> dict[str, str]:
        """Kind of note -> why it could find nothing, or would find everything, whatever the scores are."""
        scores = self.scores(state)
        if not scores:
            whose = f" by '{self.agent}'" if self.agent else ""
            return {BLIND: f"{self.name} looks at stage '{self.stage or 'draft'}'{whose}, where no score stands"}
        return {kind: text for kind, text in ((BLIND, self.blind(scores)), (OFF, self.off(scores))) if text}

    def blind(self, scores: Sequence[Score]) -> str:
        """Why none of these scores can be in doubt, "" where one can."""
        return ""

    def off(self, scores: Sequence[Score]) -> str:
        """Which threshold lies off the scale of one of these scores, "" where all lie on theirs."""
        return ""


@handing_on(kinds=())
@dataclass(frozen=True)
class Wide(OfScores):
    """A score whose distribution is wide.

    Width is the standard deviation as a share of the scale's range (0 to 0.5), of labels what the most probable one
    leaves to the others, 1 - p. It is taken over what was seen on the scale (`Score.distribution`).

    Attributes:
        above: 0 to 1; a score is in doubt where its width is greater.
        unknown: so is one that has an answer and no distribution (a stated number): nobody knows how sure it is. False
            takes it for sure. A score without an answer has no width: see `Failed`.
    """

    above: float = 0.15
    unknown: bool = True
    name: ClassVar[str] = "wide"

    def __post_init__(self) -> None:
        check_share("wide: above", self.above)

    def why(self, score: Score) -> str:
        if score.answer is None:
            return ""
        width = distribution_width(score)
        if width is None:
            return "how wide it is cannot be known: there is no distribution" if self.unknown else ""
        what = (
            "the other labels' share" if score.label is not None else "the standard deviation as a share of the range"
        )
        return f"{what} is {width:.3g}, above {self.above:g}" if width - self.above > NEARLY else ""

    def blind(self, scores: Sequence[Score]) -> str:
        """Where none has a distribution, and the unknown is taken for sure."""
        read = [score for score in scores if score.answer is not None]
        if self.unknown or not read or any(distribution_width(score) is not None for score in read):
            return ""
        return "wide: no score has a distribution, and unknown=False takes all of them for sure"

    def off(self, scores: Sequence[Score]) -> str:
        """Half of the range is the widest that a number can be."""
        most = 0.5 if any(s.value is not None for s in scores) else 1.0
        return f"wide: no score can be wider than {most:g}, and above is {self.above:g}" if self.above >= most else ""


@handing_on(kinds=())
@dataclass(frozen=True)
class Low(OfScores):
    """A low score: below a value in the units of its scale, or below a share of the scale's range.

    Labels have no order and are never low.

    Attributes:
        below: in units of the scale, such as 3 on 1-5. share: 0 to 1 of the range instead, 0.5 for its middle.
    """

    below: float | None = None
    share: float | None = None
    name: ClassVar[str] = "low"

    def __post_init__(self) -> None:
        if (self.below is None) == (self.share is None):
            raise ConfigError("low: expected either below=, in units of the scale, or share=, 0 to 1 of its range")
        if self.share is not None:
            check_share("low: share", self.share)
        elif not is_number(self.below):
            raise ConfigError(f"low: below: expected a number, got {self.below!r:.40}")

    def why(self, score: Score) -> str:
        limit = self._limit(score.scale)
        if score.value is None or limit is None:
            return ""
        return f"{score.value:.4g} is below {limit:g}" if score.value < limit else ""

    def _limit(self, scale: Scale | None) -> float | None:
        """In units of the scale; None where it has no range to take a share of."""
        if self.share is None:
            return self.below
        if scale is None or scale.low is None or scale.high is None:
            return None
        return scale.low + self.share * (scale.high - scale.low)

    def blind(self, scores: Sequence[Score]) -> str:
        """Where all scores are labels."""
        labels = [score for score in scores if score.label is not None]
        return "low: all scores are labels, which have no order" if labels and len(labels) == len(scores) else ""

    def off(self, scores: Sequence[Score]) -> str:
        for score in scores:
            scale, limit = score.scale, self._limit(score.scale)
            if scale is None or scale.low is None or scale.high is None or limit is None:
                continue
            of = f"on the scale {scale} of '{one_line(score.criterion, 60)}'"
            if limit <= scale.low:
                return f"low: nothing {of} is below {limit:g}: no score can be in doubt"
            if limit > scale.high:
                return f"low: everything {of} is below {limit:g}: every score is in doubt"
        return ""


@handing_on(kinds=())
@dataclass(frozen=True)
class Failed(OfScores):
    """A criterion without an answer: its score failed or abstains, or it was asked for and has no score."""

    name: ClassVar[str] = "failed"

    def __call__(self, state: State) -> dict[str, str]:
        scored = {score.criterion for score in self.scores(state)}
        missing = {c.name: "it has no score" for c in given_criteria(state) or () if c.name not in scored}
        return {**super().__call__(state), **missing}

    def why(self, score: Score) -> str:
        return f"there is no answer ({score.status})" if score.answer is None else ""


def is_number(value: Any) -> bool:
    """A number, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def check_share(what: str, value: Any) -> None:
    """A threshold is a share.

    Raises:
        ConfigError: it is no number from 0 to 1; `what` says whose.
    """
    if not is_number(value) or not 0 <= value <= 1:
        raise ConfigError(f"{what}: expected a number from 0 to 1, got {value!r:.40}")


# What a function of a conditional edge promises where its code does not show it; `check` takes its word.


F = TypeVar("F", bound=Callable[..., Any])


@overload
def bounded(function: F, *, at_most: int) -> F: ...
@overload
def bounded(*, at_most: int) -> Callable[[F], F]: ...
@settings_checked
def bounded(function: F | None = None, *, at_most: int) -> F | Callable[[F], F]:
    """Say of a loop's condition that it goes round `at_most` times; also a decorator: `@bounded(at_most=3)`.

    Needed only where no counter shows it: a loop whose nodes write a whole number (`rounds: int`) that its condition
    reads counts as bounded without.

    Raises:
        ConfigError: `at_most` is no whole number of 1 or more.
    """
    if not isinstance(at_most, int) or isinstance(at_most, bool) or at_most < 1:
        raise ConfigError(f"bounded: at_most is 1 or more, a whole number; got {at_most!r}")

    def mark(condition: F) -> F:
        condition.at_most = at_most  # type: ignore[attr-defined]
        return condition

    return mark if function is None else mark(function)


@settings_checked
def never_empty(function: F) -> F:
    """Say of a fan-out that it always sends something, as where it falls back on criteria of its own."""
    function.never_empty = True  # type: ignore[attr-defined]
    return function


# The condition over several judges: they disagree.


STAGES = ("ballot", "draft", "final")


@handing_on(kinds=())
@dataclass(frozen=True)
class Disagree:
    """A criterion that several judges score differently.

    Every two answers of one criterion are compared, those that failed and those of a rival left out. A score that
    another one rectifies (`Score.draft`) does not count beside it. One judge alone never disagrees.

    Attributes:
        above: 0 to 1; in doubt where the greatest distance, each score as a share of its scale's range, is greater.
            Labels are in doubt where any two differ.
        stage: one or several; None: ballots, drafts and finals; where a panel left several ballots of a criterion,
            these alone, as they are copies of what its members wrote elsewhere and its own score comes of them.
    """

    above: float = 0.25
    stage: str | tuple[str, ...] | None = field(default=None, kw_only=True)
    name: ClassVar[str] = "disagree"
    own: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_share("disagree: above", self.above)
        if isinstance(self.stage, list):
            object.__setattr__(self, "stage", tuple(self.stage))

    def __call__(self, state: State) -> dict[str, str]:
        by = self._answers(state)
        said = {criterion: self._why(scores) for criterion, scores in by.items()}
        return {criterion: why for criterion, why in said.items() if why}

    def _answers(self, state: State) -> dict[str, list[Score]]:
        """Criterion -> the answers that it compares."""
        stages = (self.stage,) if isinstance(self.stage, str) else self.stage or STAGES
        given: Iterable[Score] = (state.get("scores") or {}).values()
        met = [s for s in given if s.of == "output" and s.stage in stages]
        if self.stage is None:
            cast = Counter(s.criterion for s in met if s.stage == "ballot")
            met = [s for s in met if s.stage == "ballot" or cast[s.criterion] < 2]
        rectified = {s.draft for s in met}
        by: dict[str, list[Score]] = {}
        for score in met:
            if score.answer is not None and score.key not in rectified:
                by.setdefault(score.criterion, []).append(score)
        return by

    def remarks(self, state: State) -> dict[str, str]:
        """Kind of note -> why it could find nothing, whatever the scores are."""
        by = self._answers(state)
        numbers = any(score.value is not None for scores in by.values() for score in scores)
        if self.above >= 1 and numbers:
            return {OFF: f"disagree: no two scores can be further apart than 1, and above is {self.above:g}"}
        if any(len(scores) > 1 for scores in by.values()):
            return {}
        stages = (self.stage,) if isinstance(self.stage, str) else self.stage or STAGES
        return {BLIND: f"disagree: no criterion has the answers of two judges at stage {' or '.join(stages)}"}

    def at(self, stage: str, agent: str | None = None, *, last: bool = False) -> Self:
        """As it is: judges disagree among themselves, whoever is reviewed."""
        return self

    def _why(self, scores: list[Score]) -> str:
        labels = {s.label.casefold() for s in scores if s.label is not None}
        if len(labels) > 1 or (labels and any(s.label is None for s in scores)):
            return f"{len(scores)} judges give different labels"
        apart = max((abs(_share_of_scale(a) - _share_of_scale(b)) for a, b in combinations(scores, 2)), default=0.0)
        if labels or apart - self.above <= NEARLY:
            return ""
        return f"{len(scores)} judges are {apart:.3g} of the range apart, above {self.above:g}"


def _share_of_scale(score: Score) -> float:
    """Where a number stands on its scale, 0 to 1; without a scale it stands for itself."""
    scale, value = score.scale, score.value or 0.0
    if scale is None or scale.low is None or scale.high is None:
        return value
    return (value - scale.low) / (scale.high - scale.low)


EVERY = ""  # stands for every criterion; no criterion has this name


class Condition(Protocol):
    """What a gate decides by: a frozen dataclass, so that its settings are part of a run's configuration."""

    name: ClassVar[str]

    def __call__(self, state: State) -> dict[str, str]:
        """Criterion -> why it is in doubt; `EVERY` stands for all of them, an empty mapping says that none is."""
        ...

    def at(self, stage: str, agent: str | None = None, *, last: bool = False) -> Condition:
        """The same condition over the scores of a stage and an agent, where it names none of its own.

        `last`: of several agents' scores of one criterion over the last one's alone.
        """
        ...

    def remarks(self, state: State) -> dict[str, str]:
        """Kind of note -> why it could find nothing, or would find everything, whatever the scores are."""
        ...

    @property
    def own(self) -> bool:
        """Whether it may look at anything in a state; else at the sample, the criteria and the scores."""
        ...


@dataclass(frozen=True)
class Either:
    """What any of several conditions finds in doubt; of two reasons for one criterion the first is told."""

    conditions: tuple[Condition, ...]
    name: ClassVar[str] = "either"

    def __call__(self, state: State) -> dict[str, str]:
        return {c: why for condition in reversed(self.conditions) for c, why in condition(state).items()}

    def at(self, stage: str, agent: str | None = None, *, last: bool = False) -> Either:
        """Each of them."""
        return Either(tuple(condition.at(stage, agent, last=last) for condition in self.conditions))

    def remarks(self, state: State) -> dict[str, str]:
        """What all of them have to remark: one that can find something is enough."""
        said = [condition.remarks(state) for condition in self.conditions]
        off = {kind: text for one in said for kind, text in one.items() if kind == OFF}
        blind = [one[BLIND] for one in said if BLIND in one]
        return off | ({BLIND: "; ".join(blind)} if len(blind) == len(said) else {})

    @property
    def own(self) -> bool:
        """Whether one of them is code of the caller's own."""
        return any(condition.own for condition in self.conditions)


@dataclass(frozen=True)
class Own:
    """A condition of the caller's own: any function of the state.

    Attributes:
        decide: gives a mapping criterion -> why, a list of criteria in doubt, or the name of one that is judged by;
            anything else is taken as true (every criterion is in doubt) or false. None is refused: a return was
            forgotten; so is a text that names no criterion, such as "no".
    """

    decide: Callable[[Any], Any]
    name: ClassVar[str] = "own"
    own: ClassVar[bool] = True

    def __call__(self, state: State) -> dict[str, str]:
        said, why = self.decide(state), f"{title(self.decide)} says so"
        if said is None:
            raise ConfigError(
                f"condition {one_line(title(self.decide), 80)} gave None, which says nothing: return True, False or "
                "the criteria in doubt on every way through it"
            )
        if callable(said):
            raise ConfigError(
                f"condition {one_line(title(self.decide), 80)} gave {one_line(title(said), 60)} itself and never asked "
                f"it: give it as it is, when={one_line(title(said), 60)}, or return what it says of the state"
            )
        if isinstance(said, Mapping):
            return {str(criterion): str(reason) for criterion, reason in said.items()}
        if isinstance(said, list | tuple | set | frozenset):
            return {str(criterion): why for criterion in said}
        known = [*dict.fromkeys([*_judged(state), *_scored(state)])]
        if isinstance(said, str) and said in known:
            return {said: why}
        if isinstance(said, str) and said and known:
            raise ConfigError(
                f"condition {one_line(title(self.decide), 80)} gave the text '{one_line(said, 60)}', and "
                f"{_meant(said, known)}: return True, False or the criteria in doubt"
            )
        return {EVERY: why} if said else {}

    def at(self, stage: str, agent: str | None = None, *, last: bool = False) -> Own:
        """As it is: it sees the whole state."""
        return self

    def remarks(self, state: State) -> dict[str, str]:
        """None: nobody knows what it looks at."""
        return {}


def title(condition: Any) -> str:
    """A condition with its settings in a few words: "wide", "wide(above=0.2)", "either(wide, failed)"."""
    if isinstance(condition, Own):
        return title(condition.decide)
    if isinstance(condition, Either):
        return f"either({', '.join(map(title, condition.conditions))})"
    name = getattr(condition, "__name__", None) or getattr(condition, "name", None) or type(condition).__name__
    if not isinstance(condition, OfScores | Disagree):
        return str(name)
    chosen = {f.name: getattr(condition, f.name) for f in fields(condition) if f.repr}
    own = {f.name: chosen[f.name] for f in fields(condition) if f.repr and chosen[f.name] != f.default}
    return f"{name}({', '.join(f'{k}={v}' for k, v in own.items())})" if own else str(name)


CONDITIONS: dict[str, type[Any]] = {  # name -> class, for graph files
    "wide": Wide, "disagree": Disagree, "low": Low, "failed": Failed, "either": Either,
}  # fmt: skip

ConditionLike: TypeAlias = "str | Mapping[str, Any] | Sequence[Any] | Condition | Callable[[Any], Any]"

wide, disagree, low, failed = Wide, Disagree, Low, Failed


def either(*conditions: ConditionLike) -> Either:
    """What any of several conditions finds in doubt: `either(wide(), failed())`.

    Raises:
        ConfigError: none at all, or one that is no condition.
    """
    if not conditions:
        raise ConfigError("either: expected one condition or more")
    return Either(tuple(map(condition_of, conditions)))


def condition_of(given: ConditionLike) -> Condition:
    """A condition from its name, {name: settings}, a list (any of them), a condition, or a function of the state.

    Settings are a mapping, or one value for the first of them: {"wide": {"above": 0.2}} and {"wide": 0.2} are alike.

    Raises:
        ConfigError: no such condition or setting, a value that it does not take, or nothing that can decide.
    """
    if isinstance(given, str):
        return _made(given, None)
    if isinstance(given, Mapping):
        if len(given) != 1:
            raise ConfigError(f"a condition is written {{name: settings}}, one name each; got {_shown(dict(given))}")
        return _made(*next(iter(given.items())))
    if isinstance(given, list | tuple):
        return either(*given)
    if isinstance(given, OfScores | Disagree | Either | Own):
        return given
    if inspect.isclass(given) or not callable(given):
        known = f"known: {', '.join(CONDITIONS)}, or a function of the state"
        hint = f": write {given.__name__.lower()}(...)" if inspect.isclass(given) else ""
        raise ConfigError(f"no condition: {_shown(given)}{hint}; {known}")
    if inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(type(given).__call__):
        raise ConfigError(
            f"condition {title(given)}: a condition asks nobody: write a plain function, not an async one"
        )
    return Own(given)


def _made(name: Any, settings: Any) -> Condition:
    """By name, as in a graph file."""
    kind = CONDITIONS.get(name)
    if kind is None:
        close = get_close_matches(str(name), CONDITIONS, n=1)
        meant = f"did you mean '{close[0]}'? " if close else ""
        raise ConfigError(f"no condition '{one_line(name, 80)}'; {meant}known: {', '.join(CONDITIONS)}")
    if kind is Either:
        return either(*(settings if isinstance(settings, list | tuple) else [settings] if settings else []))
    known = [f.name for f in fields(kind) if f.repr]
    if settings is None:
        settings = {}
    elif not isinstance(settings, Mapping):
        settings = {next(n for n in known if n not in ("stage", "agent")): settings}
    if unknown := [str(key) for key in settings if key not in known]:
        raise ConfigError(f"condition '{name}' has no setting {', '.join(unknown)}{meant_of(unknown[0], known)}")
    made: Condition = kind(**settings)
    return made


def _shown(given: Any) -> str:
    return one_line(repr(given), 80)


# A condition as a node: finds out what is in doubt, for the edge that decides by it.


LOOKED_AT = ("sample", "criteria", "scores")  # by every condition of ours


class Decided(TypedDict, total=False):
    """What a condition leaves for the edge behind it, and for who says later why nothing was asked."""

    doubts: dict[str, str]  # criterion -> why
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Asks a condition, not a model. It is a node so that its settings are seen, and its answer is known later.

    Attributes:
        when: the condition. criteria: what was judged by, where the state brings none. name: of its note.
        note: what to note of a sample of which nothing is in doubt; "" notes nothing.
    """

    when: Condition
    criteria: Sequence[Criterion] = ()
    name: str = "gate"
    note: str = ""

    async def __call__(self, state: EvalState) -> Decided:
        seen: dict[str, Any] = {**state, "criteria": given_criteria(state) or list(self.criteria)}
        said = self.when(seen) if self.when.own or in_plan() is None else {}
        doubts = said if in_plan() is None else in_doubt(self.when, seen)
        notes = self._notes(seen, doubts, said)
        return {"doubts": doubts, "notes": keyed(*notes)} if notes else {"doubts": doubts}

    def _notes(self, state: State, doubts: Mapping[str, str], found: Mapping[str, str]) -> list[Note]:
        """Why nothing was in doubt, and what is wrong with the condition; of no scores at all its helper tells."""
        said = self.when.remarks(state) if in_plan() is None and (self.note or state.get("scores")) else {}
        if doubts:
            said.pop(BLIND, None)
        elif self.note and BLIND not in said:
            said["gate-closed"] = self.note
        if text := _unknown(found, [*dict.fromkeys([*_judged(state), *_scored(state)])]):
            said["doubt-unknown"] = text
        return [Note(agent=self.name, text=text, status="skipped", kind=kind) for kind, text in said.items()]


def in_doubt(when: Condition, state: State) -> dict[str, str]:
    """What a condition says of a state. In a plan, once a reply was invented: everything, the first criterion, nothing.

    Whatever a condition looks at, invented scores say nothing of what it will find.
    """
    forced = in_plan()
    if forced is None:
        return when(state)
    why = f"{title(when)}, in a plan"
    if forced == "first":
        return dict.fromkeys([*_judged(state)][:1] or [EVERY], why)
    return {EVERY: why} if forced else {}


def _unknown(doubts: Mapping[str, str], known: Sequence[str]) -> str:
    """What is wrong with what a condition names: no criterion of the sample; "" for nothing."""
    scored = [*known]
    lost = sorted(name for name in doubts if name != EVERY and name not in scored) if scored else []
    if not lost:
        return ""
    return f"the condition finds '{one_line(lost[0], 60)}' in doubt, and {_meant(lost[0], scored)}"


def _meant(name: str, known: Sequence[str]) -> str:
    """That no criterion has a name, and which one may be meant."""
    close = get_close_matches(name, known, 1)
    meant = f"did you mean '{one_line(close[0], 60)}'?" if close else f"there are {one_line(', '.join(known), 120)}"
    return f"no criterion has that name: {meant}"


def _judged(state: State) -> Iterable[str]:
    """Names of the criteria that a sample is judged by."""
    listed = [c.name for c in given_criteria(state) or ()]
    return listed or _scored(state)


def _scored(state: State) -> Iterable[str]:
    """Names of the criteria that have a score."""
    return dict.fromkeys(s.criterion for s in (state.get("scores") or {}).values())


def in_plan() -> Doubted:
    """Whether a plan wants to see the most that may be asked, or the least; None where a graph decides by itself."""
    run = context.get()
    return run.doubted() if run is not None and run.doubted is not None else None


def of_these(doubts: Mapping[str, str], criteria: Collection[str]) -> dict[str, str]:
    """Criterion -> why, of those among some criteria that are in doubt."""
    if EVERY in doubts:
        return {criterion: doubts.get(criterion, doubts[EVERY]) for criterion in criteria}
    return {criterion: doubts[criterion] for criterion in criteria if criterion in doubts}


def looked_at(when: Condition | None) -> Iterable[str]:
    """Keys of the state that a condition may look at."""
    if when is None:
        return ()
    return vocabulary() if when.own else LOOKED_AT
