"""What can go wrong, in two kinds: fix the call (ConfigError), or ask the model again (ReplyError)."""

from __future__ import annotations

from contextvars import ContextVar

damaged_lines: ContextVar[dict[str, None] | None] = ContextVar("judgegraph_damaged", default=None)
"""What is to be told at a command's end of lines that could not be used, each once; None where nobody asks."""


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
