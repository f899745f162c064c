"""What can go wrong, in two kinds: fix the call (ConfigError), or ask the model again (ReplyError)."""

from __future__ import annotations

import base64
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from pydantic import ValidationError

damaged_lines: ContextVar[dict[str, None] | None] = ContextVar("judgegraph_damaged", default=None)
"""What is to be told at a command's end of lines that could not be used, each once; None where nobody asks."""

__all__ = [
    "AuthError", "ConfigError", "CriteriaError", "DataError", "ExtraError", "JudgegraphError", "PromptError",
    "ReplyError", "ScaleError", "StateError", "bare", "credentials", "one_line", "printable", "scrubbed", "secrets_of",
]  # fmt: skip


class JudgegraphError(Exception):
    """Base of every error this package raises on purpose."""


class ConfigError(JudgegraphError):
    """The call, a file or a setting is wrong; trying again cannot help.

    Attributes:
        ends_run: it would meet every sample alike, so a run ends here. Else it fails the sample that it comes from, as
            any error of a node does.
    """

    ends_run = False


class PromptError(ConfigError):
    """A template is malformed, or was given other values than its `$fields`."""


class CriteriaError(ConfigError):
    """A criteria file is malformed; the message names file, line and key."""


class DataError(ConfigError):
    """A data row is malformed; the message names file, line and field."""


class AuthError(ConfigError):
    """The endpoint refuses our key; every further call would fail alike, so a run ends here.

    Attributes:
        put_off: that is not sure yet: it may be one sample's text that is refused, and a run judges that one later.
    """

    ends_run = True
    put_off = False


class ExtraError(ConfigError):
    """An optional dependency is missing; the message names the extra that brings it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': pip install 'judgegraph[{extra}]'")


class ScaleError(JudgegraphError, ValueError):
    """A value is not on its scale."""


class StateError(JudgegraphError, ValueError):
    """A node wrote what a run cannot take up; the message names node, key and cure."""


class ReplyError(JudgegraphError):
    """A model call ended without a usable reply; `status` says how, `text` keeps what came back.

    Args:
        message: one line for people.
        status: a status of `judgegraph.types.Status` other than "ok".
        text: the raw reply, "" where none arrived.

    Attributes:
        final: the request was answered in a way that sending it again cannot change; False where that is not known.
    """

    final = False

    def __init__(self, message: str, status: str = "unreadable", text: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.text = text


def sentence(text: str) -> str:
    """The text with a full stop, where it has no end of its own: for what ends in words of others."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


BRANCHES = "langgraph.graph._branch"  # the module that follows conditional edges
WRITTEN_IN: Mapping[str, str] = {  # what nodes make -> the key of the state that holds it
    "Score": "scores", "Rectification": "rectifications", "Comparison": "comparisons", "Finding": "findings",
    "Correction": "corrections",
}  # fmt: skip


def in_words(error: BaseException) -> str:
    """An error's kind and text, which may be code and fail; of a value that was refused its field, why and the cure."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:
        text = ""
    if isinstance(error, ValidationError):
        wrong = (
            f"{'.'.join(map(str, one['loc'])) or 'value'}: {one['msg']}, got {given_as(one['input'])}"
            for one in error.errors()
        )
        text = f"{error.title}: {'; '.join(wrong)}"
        if key := WRITTEN_IN.get(error.title):
            text = f"for the state's '{key}', {text}; write what {error.title} takes, or a "
            text += "status other than 'ok' with its reason"
    elif off_its_ways(error):
        text = f"what follows it gave {one_line(text, 60)}, which is none of its targets: return one of them, or END"
    return f"{kind}: {text}" if text.strip() else f"{kind}, which says no more"


def given_as(value: object) -> str:
    """What kind of thing a value is, with the cure where it is a coroutine that nobody waited for."""
    name = type(value).__name__
    cure = " (await it)" if inspect.iscoroutine(value) else ""
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}{cure}"


def off_its_ways(error: BaseException) -> bool:
    """Whether LangGraph looked in vain for what a condition gave among the condition's targets."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return isinstance(error, KeyError) and at is not None and at.tb_frame.f_globals.get("__name__") == BRANCHES


def commonest(counts: Iterable[int], what: str) -> str:
    """ "the commonest reason" for what has the highest count; of several with as high a one "one of the 2 commonest
    reasons (4 each)".
    """
    ranked = sorted(counts, reverse=True)
    ties = ranked.count(ranked[0])
    return f"the commonest {what} ({ranked[0]:,})" if ties == 1 else (
        f"one of the {ties:,} commonest {what}s ({ranked[0]:,} each)"
    )  # fmt: skip


def counted(count: int, one: str, many: str = "") -> str:
    """ "1 sample", "2,000 samples"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def one_line(text: object, limit: int = 200) -> str:
    """Text for an error message: one line of printable characters, at most `limit` of them.

    Judged text and file names end up in messages, and messages on terminals: white space becomes
    single spaces; control characters, direction marks and lone surrogates are written as escapes; a longer
    text ends in "…".
    """
    line = " ".join(str(text)[: 4 * limit + 4].split())
    shown = line
    if not line.isprintable():
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def printable(text: str) -> str:
    """Without control characters except newline: nothing judged may drive a terminal."""
    return "".join(c if c == "\n" or (c.isprintable() and c not in _BIDI) else "\ufffd" for c in text)


_BIDI = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


# Keys never leave: what must not stand in any message, and how it is taken out.


SHORTEST = 4  # characters: a shorter "key" would blank out innocent words
_LOOKS = re.compile(r"\b(?:sk|pk|rk)-[\w-]{8,}|(?<=bearer )\S{8,}|(?<=://)[^/\s@]+(?=@)", re.I)


def secrets_of(model: Any) -> tuple[str, ...]:
    """Keys, header values and credentials in addresses that a chat model holds; longest first."""
    settings = getattr(model, "__dict__", {})
    found = {text for name, value in settings.items() for text in _held(name, value)}
    return tuple(sorted((s for s in found if len(s) >= SHORTEST), key=len, reverse=True))


def _held(name: str, value: Any) -> Iterator[str]:
    if hasattr(value, "get_secret_value"):
        secret = value.get_secret_value()
        yield from [secret] if isinstance(secret, str) and secret != "unused" else []
    elif isinstance(value, Mapping) and ("header" in name or "query" in name):
        yield from (str(v) for v in value.values() if isinstance(v, str))
    elif isinstance(value, str) and "://" in value:
        yield from credentials(value)


def credentials(url: str) -> Iterator[str]:
    """Whatever in an address may be a key: user, password, both as Basic sends them, values of a query."""
    parts = urlsplit(url)
    userinfo, at, _ = parts.netloc.rpartition("@")
    if at:
        name, _, word = userinfo.partition(":")
        yield from {userinfo, name, word, unquote(name), unquote(word)}
        yield base64.b64encode(f"{unquote(name)}:{unquote(word)}".encode()).decode()
    yield from (value for _, value in parse_qsl(parts.query))


@lru_cache(maxsize=256)
def bare(url: str) -> str:
    """The address without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def scrubbed(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with every secret, and whatever looks like a key, as "***"."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return _LOOKS.sub("***", text)
