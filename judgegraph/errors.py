"""What can go wrong, in two kinds: fix the call (ConfigError), or ask the model again (ReplyError)."""

from __future__ import annotations

import base64
import builtins
import functools
import inspect
import operator
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextvars import ContextVar
from difflib import get_close_matches
from functools import lru_cache
from types import GenericAlias, NoneType, UnionType
from typing import Annotated, Any, Literal, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

damaged_lines: ContextVar[dict[str, None] | None] = ContextVar("judgegraph_damaged", default=None)
"""What is to be told at a command's end of lines that could not be used, each once; None where nobody asks."""

__all__ = [
    "AuthError", "ConfigError", "CriteriaError", "DataError", "ExtraError", "JudgegraphError", "PromptError",
    "ReplyError", "ScaleError", "StateError", "ValueRefused", "bare", "credentials", "one_line", "printable",
    "scrubbed", "secrets_of",
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


class ValueRefused(JudgegraphError, ValueError):
    """A value cannot be made of what was given; the message names its field, what is wrong and what is known.

    Attributes:
        title: what was to be made, such as "Score". found: what pydantic says of each field.
    """

    title = ""
    found: Sequence[Any] = ()

    @classmethod
    def of(cls, error: ValidationError, known: Iterable[str]) -> Self:
        """In place of pydantic's own error, which speaks to programmers and names an address."""
        found = error.errors(include_url=False)
        unknown = [str(one["loc"][0]) for one in found if one["type"] == "extra_forbidden" and len(one["loc"]) == 1]
        told = [f"{error.title} has no field '{one_line(key, 60)}'{meant_of(key, known)}" for key in unknown[:1]]
        told = told or [f"{error.title}: {_fault(one)}" for one in found[:5]]
        made = cls("\n".join(told))
        made.title, made.found = error.title, found
        return made

    def errors(self, **_: Any) -> Sequence[Any]:
        """As pydantic's error has it."""
        return self.found


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


FEW = 4  # names that are listed even where one of them is meant
SHORT = 40  # characters of a text that a message shows; a longer one may be what is judged
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
    if isinstance(error, ValidationError | ValueRefused):
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


def _fault(one: Mapping[str, Any]) -> str:
    """A field, why it was refused, and what it was given where that is short."""
    value, said = one["input"], one["msg"].removeprefix("Value error, ")
    short = value is None or isinstance(value, int | float) or (isinstance(value, str) and len(value) <= SHORT)
    got = "" if one["type"] == "missing" else f", got {one_line(repr(value)) if short else given_as(value)}"
    where = ".".join(map(str, one["loc"]))
    return f"{where}: {said}{got}" if where else f"{said}{'' if isinstance(value, Mapping) else got}"


def meant_of(name: str, known: Iterable[str]) -> str:
    """ "; did you mean 'criteria'?" for a name that none has; what is known, where that is little or none is close."""
    known = tuple(known)
    near = get_close_matches(name, known, 1)
    meant = f"did you mean '{near[0]}'?" if near else ""
    listed = f"known: {', '.join(known) or 'none'}" if not near or len(known) <= FEW else ""
    return f"; {meant}{' ' if meant and listed else ''}{listed}"


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


def status_text(status: str) -> str:
    """How something ended, as a reader says it: "over the budget" for "over_budget"; JSON keeps the identifier."""
    return "over the budget" if status == "over_budget" else status.replace("_", " ")


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


# What a part is made with: a wrong setting is refused where it is given, by its name, and not as Python would.


M = TypeVar("M", bound=Callable[..., Any])
BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
SEVERAL = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
ONE_NAME = "a text is one name"  # annotated to names of which one may stand alone
SHOWN_AS_IT_IS = (str, bytes, int, float, NoneType, Sequence, Mapping, Set)
KNOWN = (Sequence, Iterable, Callable, Mapping, list, tuple, dict, os.PathLike)
PLAIN = (bool, int, float, str, NoneType)
KINDS = {
    "integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text", "null": "none",
}  # fmt: skip
EXAMPLES = {"Criterion": "jg.criteria_set('summary').criteria", "Reader": "jg.Reader('mean', samples=8)"}


def settings_checked(made: M, *rest: Callable[..., Any] | str, kinds: Collection[str] | None = None) -> M:
    """A function or a dataclass that refuses, by a ConfigError, a setting that it lacks or that is of another kind.

    Args:
        rest: what takes the settings that the function hands on; "module:name" is imported when it is first called.
        kinds: settings whose kind is looked at, where it looks at the others itself; None: all.
    """
    call: Any = made.__init__ if isinstance(made, type) else made  # type: ignore[misc]
    first = 1 if isinstance(made, type) else 0  # without `self`
    takes = functools.cache(lambda: _takes(call, first, rest))

    if inspect.iscoroutinefunction(call):

        @functools.wraps(call)
        async def awaited(*args: Any, **given: Any) -> Any:
            refuse_wrong(made, *takes(), args, given, kinds)
            return await call(*args, **given)

        return cast(M, awaited)

    @functools.wraps(call)
    def checked(*args: Any, **given: Any) -> Any:
        refuse_wrong(made, *takes(), args[first:], given, kinds)
        return call(*args, **given)

    if isinstance(made, type):
        made.__init__ = checked  # type: ignore[misc]
        return made
    return cast(M, checked)


def handing_on(*rest: Callable[..., Any] | str, kinds: Collection[str] | None = None) -> Callable[[M], M]:
    """`settings_checked` of a function that hands its further settings on to these."""
    return lambda made: settings_checked(made, *rest, kinds=kinds)


def _takes(
    call: Callable[..., Any], first: int, rest: Iterable[Callable[..., Any] | str]
) -> tuple[inspect.Signature, tuple[Callable[..., Any], ...]]:  # fmt: skip
    """Its parameters with those of what it hands on, and what that is."""
    found = {one.name: one for one in [*inspect.signature(call).parameters.values()][first:]}
    others = tuple(pkgutil.resolve_name(one) if isinstance(one, str) else one for one in rest)
    for other in others:
        kinds = BY_NAME if isinstance(other, type) else BY_NAME[:1]
        more = [one for one in inspect.signature(other).parameters.values() if one.kind in kinds]
        found = {name: one for name, one in found.items() if one.kind is not one.VAR_KEYWORD}
        found |= {
            one.name: one.replace(kind=one.KEYWORD_ONLY, default=None) for one in more if one.name not in found
        }  # fmt: skip
    return inspect.Signature(list(found.values())), others


def refuse_wrong(
    made: Any, signature: inspect.Signature, rest: Iterable[Callable[..., Any]], args: Sequence[Any],
    given: Mapping[str, Any], kinds: Collection[str] | None = None,
) -> None:  # fmt: skip
    """
    Raises:
        ConfigError: something is not to be made with these arguments; a line for each that is wrong.
    """
    name, takes = made.__name__, signature.parameters
    known = [one.name for one in takes.values() if one.kind in BY_NAME]
    any_more = any(one.kind is one.VAR_KEYWORD for one in takes.values())
    if not any_more and (unknown := [key for key in given if key not in known]):
        raise ConfigError(f"{name} has no setting '{one_line(unknown[0], 60)}'{meant_of(unknown[0], known)}")
    try:
        values = signature.bind(*args, **given).arguments
    except TypeError as error:
        named = f"; by name: {name}({known[0]}=...)" if args and known else ""
        raise ConfigError(f"{name}: {error}{named}") from None
    asked = values if kinds is None else values.keys() & kinds
    chosen = {key: values[key] for key in asked if values[key] is not takes[key].default}
    hints = {key: hint for one in rest for key, hint in _hints(one).items() if is_plain(hint)} if chosen else {}
    hints |= _hints(made) if chosen else {}  # what it hands on may take lists for the one that it makes of them
    found = [(key, misfit(hints[key], value)) for key, value in chosen.items() if key in hints]
    found += [("name", "expected a name, got ''")] if isinstance(made, type) and chosen.get("name") == "" else []
    if wrong := [f"{name}: {key}: {why}" for key, why in found if why]:
        raise ConfigError("\n".join(wrong))


class _Names(dict[str, Any]):
    """What names in annotations mean that type checkers alone import: our public ones, and anything for the rest."""

    def __init__(self, made: Any) -> None:
        super().__init__(JudgeLike=object)
        homes = [
            sys.modules[one.__module__] for one in getattr(made, "__mro__", [made]) if one.__module__ in sys.modules
        ]
        self._there = {name for home in (*homes, builtins) for name in vars(home)}

    def __missing__(self, name: str) -> Any:
        if name in self._there:
            raise KeyError(name)
        return getattr(sys.modules["judgegraph"], name, Any)


@lru_cache(maxsize=256)
def _hints(made: Callable[..., Any]) -> Mapping[str, Any]:
    """Its annotations; without those of several values, and all where one cannot be resolved."""
    try:
        found = get_type_hints(made, localns=_Names(made), include_extras=True)
    except Exception:
        return {}
    if isinstance(made, type):
        return found
    kinds = {one.name: one.kind for one in inspect.signature(made).parameters.values()}
    one_each = {name: hint for name, hint in found.items() if kinds.get(name) not in SEVERAL}
    listed = [name for name, kind in kinds.items() if kind is SEVERAL[1] and name in found and is_plain(found[name])]
    return one_each | {name: GenericAlias(Sequence, (found[name],)) for name in listed}


def misfit(hint: Any, value: Any) -> str:
    """Why an annotation refuses a value, "" where it does not.

    Plain values are looked at, whether something is a list or a mapping at all, and classes of this package.
    """
    if isinstance(value, str) and ONE_NAME in getattr(hint, "__metadata__", ()):
        return ""
    kinds = _kinds(hint)
    if kinds and not any(_fits(kind, value) for kind in kinds):
        wants = [expected(Union[tuple(k for k in kinds if is_plain(k))])] if any(map(is_plain, kinds)) else []  # noqa: UP007
        wants += [_named(kind) for kind in kinds if not is_plain(kind)]
        lone = any(get_origin(kind) is Sequence and not misfit(get_args(kind)[0], value) for kind in kinds)
        got = one_line(repr(value), 80) if isinstance(value, SHOWN_AS_IT_IS) else given_as(value)
        return f"expected {' or '.join(wants)}, got {got}{'; one goes in a list: [...]' if lone else ''}"
    return ""


@lru_cache(maxsize=1024)
def _kinds(hint: Any) -> tuple[Any, ...]:
    """Its members, where what a value is can be told of each; else ()."""
    kinds = leaves(hint)
    return kinds if all(map(_is_known, kinds)) else ()


def _is_known(kind: Any) -> bool:
    origin = get_origin(kind) or kind
    ours = getattr(origin, "__module__", "").startswith("judgegraph.") and not getattr(origin, "_is_protocol", False)
    return is_plain(kind) or (isinstance(origin, type) and (ours or origin in KNOWN))


def _fits(kind: Any, value: Any) -> bool:
    if is_plain(kind):
        value = bool(value) if type(value).__name__ in ("bool", "bool_") else value  # a switch of NumPy's too
        counts = hasattr(value, "__index__") and not isinstance(value, bool)  # a number of NumPy's too
        try:
            _adapter(kind).validate_python(operator.index(value) if counts else value, strict=True)
        except (ValidationError, TypeError):
            return False
        return True
    origin, within = get_origin(kind) or kind, get_args(kind)
    if origin is Sequence and isinstance(value, list | tuple) and within and is_plain(within[0]):
        return all(_fits(leaf, one) for one in value for leaf in leaves(within[0])[:1]) or len(leaves(within[0])) > 1
    if origin in (Sequence, Iterable, list, tuple):  # whatever can be gone through, but no text and no value of ours
        return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) and not is_value(value)
    return isinstance(value, origin)


def is_value(thing: Any) -> bool:
    """A value with fields, which can be gone through too, and is no list."""
    return hasattr(type(thing), "model_fields")


@lru_cache(maxsize=256)
def _adapter(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(hint)


def _named(kind: Any) -> str:
    """ "a list of Criterion, such as jg.criteria_set('summary').criteria", "a mapping", "a Reader, such as ..."."""
    origin, within = get_origin(kind) or kind, get_args(kind)
    if origin in (os.PathLike, Callable):
        return "a path" if origin is os.PathLike else "a function"
    one = getattr(within[0], "__name__", "") if within and origin in (Sequence, list, tuple) else ""
    name = "a mapping" if origin in (Mapping, dict) else "a list" if within else f"a {origin.__name__}"
    shown = one if one in EXAMPLES else origin.__name__
    about = f"{name} of {one}" if one in EXAMPLES else name
    return f"{about}, such as {EXAMPLES[shown]}" if shown in EXAMPLES else about


def leaves(hint: Any) -> tuple[Any, ...]:
    """The members of a union, without what is annotated to them."""
    if get_origin(hint) is Annotated:
        return leaves(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return tuple(leaf for member in get_args(hint) for leaf in leaves(member))
    return (hint,)


@lru_cache(maxsize=1024)
def is_plain(hint: Any) -> bool:
    """Numbers, texts, switches, listed values, and none."""
    return all(leaf in PLAIN or get_origin(leaf) is Literal for leaf in leaves(hint))


def expected(hint: Any) -> str:
    """What an annotation takes, in words: "a whole number from 1 to 50", "'one' or 'three'"."""
    schema = TypeAdapter(hint).json_schema()
    said = [word for option in schema.get("anyOf", [schema]) for word in _words(option)]
    if len(said) < 2:
        return said[0]
    return f"{', '.join(said[:-1])}{', or' if ',' in said[0] else ' or'} {said[-1]}"


def _words(schema: Mapping[str, Any]) -> list[str]:
    if "enum" in schema or "const" in schema:
        return [repr(value) for value in schema.get("enum", [schema.get("const")])]
    kind = str(schema.get("type", "something else"))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        limits = f" from {low} to {high}"
    else:
        limits = f", {low} or more" if low is not None else f", {high} or less" if high is not None else ""
    return [KINDS.get(kind, kind) + limits]


class _Late:
    """A regular expression that is made when it is first used: all of them take a sixth of an import's time."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, found)
        return found


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return cast("re.Pattern[str]", _Late(pattern, flags))


class Value(BaseModel):
    """Base of all values that travel: frozen, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    def __init__(self, /, *unnamed: Any, **given: Any) -> None:
        """
        Raises:
            ValueRefused: no such field, or a value that it does not take.
        """
        kind = type(self)
        if unnamed:
            short = f", or {kind.__name__}.of({one_line(repr(unnamed[0]), 40)})" if hasattr(kind, "of") else ""
            known = ", ".join(f"{name}=" for name in kind.model_fields)
            raise ValueRefused(f"{kind.__name__} takes its fields by name ({known}){short}")
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise ValueRefused.of(error, kind.model_fields) from None

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # values within values are made without it
