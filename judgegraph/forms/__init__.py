"""Other people's judges: how each words its question and its reply. Nothing is asked here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgegraph.forms.form import JudgeForm
    from judgegraph.forms.readers import FormReading, read_reply
    from judgegraph.forms.shipped import FORMS

_HOMES = {
    "JudgeForm": "judgegraph.forms.form",
    "FormReading": "judgegraph.forms.readers",
    "read_reply": "judgegraph.forms.readers",
    "FORMS": "judgegraph.forms.shipped",
}

__all__ = [
    "FORMS",
    "FormReading",
    "JudgeForm",
    "read_reply",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'judgegraph.forms' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
