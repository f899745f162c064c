"""When to ask further: what in the scores so far is in doubt, and why."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, ClassVar, Protocol, TypeAlias

from judgegraph.compose.disagree import Disagree
from judgegraph.compose.of_scores import BLIND, OFF, Failed, Low, OfScores, State, Wide
from judgegraph.errors import ConfigError, one_line

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
        decide: gives a mapping criterion -> why, a list of criteria in doubt, or the name of one that has a score;
            anything else is taken as true (every criterion is in doubt) or false.
    """

    decide: Callable[[Any], Any]
    name: ClassVar[str] = "own"
    own: ClassVar[bool] = True

    def __call__(self, state: State) -> dict[str, str]:
        said, why = self.decide(state), f"{title(self.decide)} says so"
        if isinstance(said, Mapping):
            return {str(criterion): str(reason) for criterion, reason in said.items()}
        if isinstance(said, list | tuple | set | frozenset):
            return {str(criterion): why for criterion in said}
        if isinstance(said, str) and any(s.criterion == said for s in (state.get("scores") or {}).values()):
            return {said: why}
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
        raise ConfigError(f"condition '{name}' has no setting {', '.join(unknown)}; known: {', '.join(known)}")
    made: Condition = kind(**settings)
    return made


def _shown(given: Any) -> str:
    return one_line(repr(given), 80)
