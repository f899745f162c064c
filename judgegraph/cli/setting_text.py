"""The text of a setting on the command line, read as the setting's annotation says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import yaml

SWITCHES = {"true": True, "yes": True, "false": False, "no": False}
NOTHING = ("none", "null", "")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?", re.IGNORECASE)


def value_of(text: str, hint: Any) -> Any:
    """A setting's value; text that its annotation cannot be read from stays text, for the check to refuse.

    Args:
        hint: an annotation. Switches are true, false, yes or no; a list is "a,b" or "[a, b]"; what has no
            annotation is read as YAML.
    """
    from judgegraph.graphs.settings import leaves

    kinds, word = leaves(hint), text.strip()
    listed = [value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
    if Any in kinds:
        return _yaml(text)
    if found := [value for value in listed if str(value) == word]:
        return found[0]
    if NoneType in kinds and word.lower() in NOTHING and not any(map(_is_agent, kinds)):  # of an agent it is a name
        return None
    if bool in kinds and word.lower() in SWITCHES:
        return SWITCHES[word.lower()]
    if int in kinds and _WHOLE.fullmatch(word):
        return int(word)
    if float in kinds and _NUMBER.fullmatch(word):
        return float(word)
    lists = [kind for kind in kinds if _is_list(kind)]
    if any(_holds_text(kind) for kind in lists):
        return _names(word)
    return _yaml(text) if lists and str not in kinds else text


def unreadable(hint: Any) -> str:
    """Why no text can be such a setting, "" where one can."""
    from judgegraph.graphs.settings import leaves

    kinds = leaves(hint)
    simple = (str, int, float, bool, Any)
    if any(kind in simple or get_origin(kind) is Literal or _is_list(kind) for kind in kinds):
        return ""
    return "takes an agent, only from Python" if any(map(_is_agent, kinds)) else "takes an object, only from Python"


def _is_list(kind: Any) -> bool:
    return (get_origin(kind) or kind) in (list, tuple, set, dict, Sequence, Mapping)


def _holds_text(kind: Any) -> bool:
    from judgegraph.graphs.settings import leaves

    members = get_args(kind)
    return len(members) == 1 and str in leaves(members[0])


def _is_agent(kind: Any) -> bool:
    return bool(getattr(kind, "_is_protocol", False)) and callable(getattr(kind, "__call__", None))  # noqa: B004


def _names(word: str) -> Any:
    if word.startswith("["):
        return _yaml(word)
    return [name.strip() for name in word.split(",") if name.strip()]


def _yaml(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text
