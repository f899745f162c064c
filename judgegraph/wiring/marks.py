"""What a function of a conditional edge promises where its code does not show it; `check` takes its word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from judgegraph.errors import ConfigError

F = TypeVar("F", bound=Callable[..., Any])


@overload
def bounded(function: F, *, at_most: int) -> F: ...
@overload
def bounded(*, at_most: int) -> Callable[[F], F]: ...
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


def never_empty(function: F) -> F:
    """Say of a fan-out that it always sends something, as where it falls back on criteria of its own."""
    function.never_empty = True  # type: ignore[attr-defined]
    return function
