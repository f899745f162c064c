"""Results that a notebook shows. They hold no drawing: the room that draws registers a form for each kind of result."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Literal, TypeVar

from judgegraph.errors import printable

VIEWS = ("traces", "notebook", "run", "agreement", "critic", "comparison", "plan")
DRAWN_IN = tuple(f"judgegraph.views.{kind}" for kind in VIEWS)  # imported when one is to be drawn
PLOTTED_IN = ("judgegraph.report.plots",)
whole_tables = ContextVar("whole_tables", default=False)  # a narrow terminal draws every column, in parts (--wide)
Form = Literal["html", "text", "blocks", "plot"]
Kind = TypeVar("Kind")
_forms: dict[tuple[type, Form], Callable[[Any], Any]] = {}


class Shown:
    """A result that a notebook shows as HTML, and as plain text by what `str` says."""

    def _repr_mimebundle_(self, **asked: Any) -> dict[str, str]:
        """What IPython asks for before `repr`, which a dataclass has and a pretty printer would take."""
        return {"text/plain": printable(str(self))}

    def _repr_html_(self) -> str:
        return str(drawn(self, "html"))


def draws(kind: type[Kind], form: Form = "html") -> Callable[[Callable[[Kind], Any]], Callable[[Kind], Any]]:
    """Registers the function below it as the form of a kind of result, and of the kinds derived from it.

    HTML and text are strings, blocks what a result is laid out as; of plots an object with a method for each.
    """

    def register(draw: Callable[[Kind], Any]) -> Callable[[Kind], Any]:
        _forms[kind, form] = draw
        return draw

    return register


def drawn(result: object, form: Form) -> Any:
    """A result in one of its forms.

    Raises:
        LookupError: nothing draws it so.
    """
    rooms = PLOTTED_IN if form == "plot" else DRAWN_IN
    for room in ("", *rooms):  # the first that knows it: a step needs none of what a run is drawn with
        if room:
            importlib.import_module(room)
        for kind in type(result).__mro__:
            if (kind, form) in _forms:
                return _forms[kind, form](result)
    raise LookupError(f"no {form} form of {type(result).__name__} is registered in {', '.join(rooms)}")
