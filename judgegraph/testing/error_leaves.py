"""The errors within an error: a task group raises what its tasks raised in a group."""

from __future__ import annotations

from collections.abc import Iterator


def leaves(error: BaseException) -> Iterator[BaseException]:
    """What a group holds, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def told(error: BaseException) -> str:
    """Kind and text of each."""
    return "; ".join(f"{type(one).__name__}: {one}" for one in leaves(error))
