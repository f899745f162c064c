"""JSON in a reply: found and mended, and where each of its values stands."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judgegraph.replies.quotation import attributed, enclosed

# Where a value stands in a JSON text: needed because tokens do not align with JSON.


_SPACE = re.compile(r"[\s,:]*")
_SCALAR = re.compile(r"-?[\d.eE+-]+|[A-Za-z]+")
_OPEN = re.compile(r'\{\s*["}]')  # of an object, not of prose in braces
_DEEPEST = 40
_MOST = 50  # objects looked at: a text of braces alone must not cost quadratic time
JsonPath = tuple[str, ...]
Span = tuple[int, int]


def spans(text: str) -> dict[JsonPath, Span]:
    """Path -> (start, end) in characters of every scalar under the objects in a text.

    The text may have prose or a fence around its objects, and trailing commas. Items of arrays count by their
    index, written as text. A text that is cut off gives what stands before the cut. A path that stands twice,
    in one object or in two, is left out: it has no one place.
    """
    found: list[tuple[JsonPath, Span]] = []
    at, tries = text.find("{"), 0
    while at >= 0 and tries < _MOST:
        tries += 1
        end = _value_at(text, at, (), found) if _OPEN.match(text, at) else at + 1
        at = text.find("{", end)
    counts = Counter(path for path, _ in found)
    return {path: span for path, span in found if counts[path] == 1}


def _value_at(text: str, at: int, path: JsonPath, found: list[tuple[JsonPath, Span]]) -> int:
    """Reads one value at `at`, returns where it ends; len(text) where it is cut off."""
    if at >= len(text) or len(path) > _DEEPEST:
        return len(text)
    if text[at] in "{[":
        return _inside(text, at, path, found)
    quoted = text[at] == '"'
    if quoted:
        end = _string_end(text, at)
    else:
        match = _SCALAR.match(text, at)
        end = match.end() if match else len(text)
    found.append((path, (at + 1, max(at + 1, end - 1)) if quoted else (at, end)))
    return end


def _inside(text: str, at: int, path: JsonPath, found: list[tuple[JsonPath, Span]]) -> int:
    is_object, index = text[at] == "{", 0
    at = _skip(text, at + 1)
    while at < len(text) and text[at] not in "}]":
        key = str(index)
        if is_object:
            if text[at] != '"':
                return len(text)
            end = _string_end(text, at)
            key = _text(text[at:end])
            at = _skip(text, end)
        at = _skip(text, _value_at(text, at, (*path, key), found))
        index += 1
    return at + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _string_end(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


def _text(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted.strip('"')


# JSON from a reply that is nearly JSON, where only one reading is possible; what was mended is noted.


FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)```", re.S)
MOST = 200_000  # characters: a longer reply is no answer to any form of ours
TRIES = 50  # braces looked at: a text of braces alone must not cost quadratic time
_OBJECT = re.compile(r'\{\s*["}]')  # how an object begins; "{braces}" in prose do not
_LONE = re.compile(r"\\u[dD][89a-fA-F]")
_REVISED = re.compile(  # what a judge says between an answer and the one that takes it back
    r"\b(?:wait|actually|correct(?:ed|ion|ing)|revis\w{1,4}|instead|on[ ](?:reflection|second[ ]thought)|"
    r"reconsider\w{0,3}|retract|scratch[ ]that|rather|"
    r"my[ ](?:(?:final|own|actual)[ ])?(?:answer|evaluation|verdict|reply|score|rating)|"
    r"final[ ](?:answer|evaluation|verdict|reply))\b",
    re.I,
)
_ANOTHERS = re.compile(r"claim|request|demand|inject|candidate|author|user|quot|cited|initial|draft|example", re.I)
Notes = tuple[str, ...]
_Asked = tuple[Callable[[], str], Mapping[str, Any]]  # texts that the judge was shown; the form's schema
FENCED, COMMA, PROSE = "code fence removed", "trailing comma removed", "prose around the JSON removed"
RETAKEN, SURPLUS = "an earlier answer taken back", "surplus level removed"
CASE, UNCLOSED = "keys in another case", "missing closing bracket added"
MENDED = (FENCED, COMMA, PROSE, SURPLUS, CASE, UNCLOSED)  # notes on what had to be mended
SHOWN = 40  # characters of a value that was taken back, in a note


class Declined(ValueError):
    """A reply whose words decline to judge."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and not _same(found[key], value):
            raise ValueError(f"key {key[:40]!r} stands twice with different values")
        found[key] = value
    return found


def _same(one: Any, two: Any) -> bool:
    """Equal as JSON: 1 and true are not."""
    return json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:40]} is too large a number")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite)


def parse(
    text: str, keys: frozenset[str] = frozenset(), judged: Callable[[], str] = str,
    schema: Mapping[str, Any] | None = None,
) -> tuple[Any, Notes]:  # fmt: skip
    """The JSON value in a reply, and notes on what was mended.

    Mended where unambiguous: code fences, prose around one object, trailing commas, one surplus level
    around an object that has the form's keys. Of different objects the last one counts where words before it take
    the earlier ones back ("wait", "my final answer").

    Args:
        text: the reply, with blanks in the place of thoughts.
        keys: the form's top-level keys; they tell which of several objects is meant.
        judged: gives the texts that the judge was shown: JSON that stands so in them is no answer.
        schema: of the form: of a low value in it "The answer is incorrect." is the reason, and takes nothing back.

    Raises:
        ValueError: there is no JSON in it, more than one reading, or its words say that the JSON is not its answer.
    """
    if len(text) > MOST:
        raise ValueError(f"a reply of {len(text)} characters is no answer to a form")
    try:
        bare = text.lstrip().removeprefix("\ufeff").lstrip()
        asked = (judged, schema or {})
        try:
            value, notes = _decode(bare.rstrip(), keys, asked)
        except ValueError:
            if (closed := _closed(bare, asked[1])) == bare:
                raise
            value, notes = _decode(closed, keys, asked)
            notes = (*notes, UNCLOSED)
        if _LONE.search(text):
            value = _writable(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    value, notes = _unwrap(value, keys, notes)
    spelled = _spelled(value, schema or {})
    return spelled, notes if spelled is value else (*notes, CASE)


def _spelled(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with its keys as the form has them: {"Score": 4} has "score"; the value itself where all are so.

    Raises:
        ValueError: a key stands there in two ways.
    """
    inner = schema.get("properties")
    if not isinstance(value, dict) or not inner:
        return value
    names = {key: key if key in inner else _key_of(key, inner) for key in value}
    for key, name in names.items():
        if key != name and name in value:  # an entry that nobody asked for stays one; a second score does not
            if not isinstance(value[key], dict):
                raise ValueError("a key stands twice, in capital and in small letters")
            names[key] = key
    if len({*names.values()}) < len(names):
        raise ValueError("a key stands twice, in capital and in small letters")
    found = {names[key]: _spelled(one, inner.get(names[key]) or {}) for key, one in value.items()}
    return value if all(found.get(key, found) is one for key, one in value.items()) else found


def _key_of(key: str, names: Mapping[str, Any]) -> str:
    return next((name for name in names if name.casefold() == key.strip().casefold()), key)


_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')


def _closed(text: str, schema: Mapping[str, Any]) -> str:
    """JSON that lacks nothing but closing brackets, with them; the text as it is where more is missing.

    A number at the very end is whole where the form allows none of two digits.
    """
    bare = text.rstrip().removesuffix("```").rstrip()
    body = re.sub(r"\A```[a-zA-Z]*\s*", "", bare)
    outside = _STRINGS.sub("", body)
    if not _OBJECT.match(body) or '"' in outside or body.endswith(","):  # a text is cut off, or more was to come
        return text
    if body[-1].isdigit() and bare == text:
        from judgegraph.replies.free_text import best_of  # many expressions: no part of an import

        if max(best_of(schema), default=10) >= 10:
            return text
    opened: list[str] = []
    for bracket in re.findall(r"[{}\[\]]", outside):
        if bracket in "{[":
            opened.append("}" if bracket == "{" else "]")
        elif not opened or opened.pop() != bracket:
            return text
    if not opened:
        return text
    return body + "".join(reversed(opened))


def _decode(text: str, keys: frozenset[str], asked: _Asked) -> tuple[Any, Notes]:
    try:
        return _whole(text), ()
    except ValueError as error:
        reason = error
    fences = list(FENCE.finditer(text)) if "```" in text else []
    if len(fences) == 1 and not _objects(FENCE.sub("", text), keys, fitting_only=True):
        try:
            value, notes = _mended(fences[0][1])
        except ValueError as error:
            reason = error
        else:
            return _own(text, fences[0].span(), value, asked), (FENCED, *notes)
    found = _objects(text, keys)
    if not found:
        raise ValueError(f"the reply is no JSON: {reason}")
    mended = without_trailing_commas(text)
    aside = enclosed(_filled(mended, found)) if len(found) > 1 else []
    found = [
        one
        for one in found
        if not (attributed(mended, one.span[0]) or any(start < one.span[0] < end for start, end in aside))
    ] or found
    last = found[-1]
    different = [one for one in found if not _same(one.value, last.value)]
    if different and not _REVISED.search(mended[different[-1].span[1] : last.span[0]][-500:]):
        raise ValueError(f"the reply holds {len(different) + 1} different JSON objects")
    notes = (_retaken(different, last),) * bool(different)
    return _own(mended, last.span, last.value, asked), (*notes, *last.notes)


def _retaken(different: list[_Object], last: _Object) -> str:
    """A note on answers that were taken back, with what they said otherwise: "(score 5)"; texts are too long for it."""
    stands = set(_leaves(last.value))
    said = dict.fromkeys(pair for one in different for pair in _leaves(one.value) if pair not in stands)
    told = [f"{path} {value}" for path, value in said if len(path) + len(value) <= SHOWN]
    return f"{RETAKEN} ({', '.join(told[:3])})" if told else RETAKEN


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every value in JSON that holds no others, as it is written there, with its path."""
    if not isinstance(value, dict | list):
        yield path, json.dumps(value)
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        name = json.dumps(str(key))[1:-1]
        yield from _leaves(inner, f"{path}.{name}" if path else name)


def _filled(text: str, objects: list[_Object]) -> str:
    """The text with letters in the place of objects, so that nothing in them is taken for a tag."""
    for one in objects:
        start, end = one.span
        text = f"{text[:start]}{'x' * (end - start)}{text[end:]}"
    return text


def _own(text: str, span: tuple[int, int], value: Any, asked: _Asked) -> Any:
    """The value, where the words around it do not say that it is another's or none."""
    if not (text[: span[0]].strip() or text[span[1] :].strip()):
        return value
    from judgegraph.replies.free_text import DECLINED, objection  # many expressions: no part of an import

    if why := objection(text, *span, value, *asked):
        raise (Declined if why == DECLINED else ValueError)(f"the reply is unclear: {why}")
    return value


def _whole(text: str) -> Any:
    value, end = _DECODER.raw_decode(text)
    if text[end:].strip():
        raise ValueError(f"something follows the JSON value at character {end}")
    return value


def _mended(text: str) -> tuple[Any, Notes]:
    text = text.strip()
    try:
        return _whole(text), ()
    except ValueError:
        return _whole(without_trailing_commas(text)), (COMMA,)


@dataclass(frozen=True)
class _Object:
    value: Any
    notes: Notes
    span: tuple[int, int]  # in the text without trailing commas


def _objects(text: str, keys: frozenset[str], *, fitting_only: bool = False) -> list[_Object]:
    """The top-level objects inside prose; those with the form's keys alone, if any has them.

    Raises:
        ValueError: one of them is broken. What stands inside a broken object is not the answer, and what
            stands beside it may not be.
    """
    mended = without_trailing_commas(text)
    commas = (COMMA,) * (mended != text)
    found: list[_Object] = []
    depth, end, tries = 0, 0, 0
    while match := _OBJECT.search(mended, end):
        tries += 1
        depth = _depth(mended[end : match.start()], depth)
        if depth or tries > TRIES:
            raise ValueError("the reply's brackets do not match")
        value, after = _DECODER.raw_decode(mended, match.start())
        prose = (PROSE,) * bool(mended[: match.start()].strip() or mended[after:].strip())
        found.append(_Object(value, (*prose, *commas), (match.start(), after)))
        end = after
    fitting = [one for one in found if keys & set(one.value)]
    return fitting if fitting or fitting_only else found


def _depth(prose: str, depth: int) -> int:
    """Brackets open after this stretch of text; one closed too many opens nothing."""
    for bracket in re.findall(r"[{}\[\]]", prose):
        depth = max(0, depth + (1 if bracket in "{[" else -1))
    return depth


def without_trailing_commas(text: str) -> str:
    """The text without commas that stand right before a closing bracket, outside strings."""
    if not re.search(r",\s*[}\]]", text):
        return text
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    parts[::2] = [re.sub(r",(\s*[}\]])", r"\1", part) for part in parts[::2]]
    return "".join(parts)


def _writable(value: Any) -> Any:
    """Without lone surrogates, which no file can hold: a model may write half of an emoji as "\\ud83d"."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_writable(key): _writable(item) for key, item in value.items()}
    return [_writable(item) for item in value] if isinstance(value, list) else value


def _unwrap(value: Any, keys: frozenset[str], notes: Notes) -> tuple[Any, Notes]:
    """Off with one surplus level: {"result": {...}} or [{...}], if only the inner object has the form's keys."""
    inner = value
    if isinstance(value, dict) and len(value) == 1 and not keys & set(value):
        ((name, inner),) = value.items()
        if _ANOTHERS.search(name):  # {"candidate": {"score": 5}}
            return value, notes
    elif isinstance(value, list) and len(value) == 1:
        (inner,) = value
    if inner is not value and isinstance(inner, dict) and keys & set(inner):
        return inner, (*notes, SURPLUS)
    return value, notes
