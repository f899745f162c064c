"""A `when` of a file, made into a condition: by name, with settings, several of them, or code beside the file."""

from __future__ import annotations

from typing import Any

from judgegraph.compose.conditions import CONDITIONS, Condition, Either, Own, condition_of
from judgegraph.errors import JudgegraphError, one_line
from judgegraph.graph_files.around import Around
from judgegraph.graph_files.code import code_at, is_code
from judgegraph.graph_files.shape import hint
from judgegraph.graph_files.source import Place
from judgegraph.graphs.settings import fault, hints_of


def condition_at(around: Around, path: Place, given: Any) -> Condition | None:
    """The condition that stands at a place; None where it is none, which joins the faults."""
    before = len(around.source.faults)
    ready = _ready(around, path, given)
    if len(around.source.faults) > before:
        return None
    try:
        return condition_of(ready)
    except JudgegraphError as error:
        around.source.fault(path, one_line(error, 500))
    except Exception as error:  # a setting of a kind that a condition did not expect
        around.source.fault(path, f"no condition: {type(error).__name__}: {one_line(error)}")
    return None


def own_code(condition: Condition) -> Any:
    """The first function of the user's own in a condition, None where there is none."""
    if isinstance(condition, Own):
        return condition.decide
    inner = condition.conditions if isinstance(condition, Either) else ()
    return next((found for one in inner if (found := own_code(one)) is not None), None)


def _ready(around: Around, path: Place, given: Any) -> Any:
    """As `condition_of` takes it: code is loaded, names and settings are looked at."""
    if isinstance(given, list):
        return [_ready(around, (*path, place), one) for place, one in enumerate(given)]
    if isinstance(given, str):
        if is_code(given):
            return code_at(around, path, given)
        return given if _known(around, path, given) else None
    if not isinstance(given, dict) or len(given) != 1:
        said = "expected a condition's name, {name: settings}, or file.py:name"
        around.source.fault(path, f"{said}, got {around.source.shown(path)}")
        return None
    ((name, settings),) = given.items()
    if not _known(around, (*path, name), name):
        return None
    if name == "either":
        listed = settings if isinstance(settings, list) else [settings]
        place = (*path, name)
        return {name: [_ready(around, (*place, i) if listed is settings else place, x) for i, x in enumerate(listed)]}
    if isinstance(settings, dict):
        _check(around, (*path, name), name, settings)
    return given


def settings_of_condition(name: str) -> dict[str, Any]:
    """Setting -> annotation of a condition that a file may name."""
    return {key: value for key, value in hints_of(CONDITIONS[name]).items() if key not in ("name", "own", "last")}


def _known(around: Around, path: Place, name: str) -> bool:
    if name in CONDITIONS:
        return True
    around.source.fault(path, f"no condition '{one_line(name, 60)}'{hint(name, CONDITIONS)}, or file.py:name")
    return False


def _check(around: Around, path: Place, name: str, settings: dict[str, Any]) -> None:
    hints = settings_of_condition(name)
    for key, value in settings.items():
        if key not in hints:
            around.source.fault((*path, key), f"condition '{name}' has no such setting{hint(key, hints)}")
        elif why := fault(hints[key], value):
            expected = why.rpartition(", got ")[0] or why
            around.source.fault((*path, key), f"{expected}, got {around.source.shown((*path, key))}")
