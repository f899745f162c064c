"""Scores where people look for them: annotations of spans in Phoenix, scores in Langfuse.

Both tools take the scores of a trace by a request of its own and read no event of a span. What is sent here names the
spans by the ids that they were sent with, and has an id of its own, so that what is sent twice is there once.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Literal, TypeAlias, cast, get_args
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from requests import Response

from judgegraph.answers import METRIC, OVERALL, Role, over_all_of, roles_of
from judgegraph.errors import ConfigError, one_line
from judgegraph.runs.item import Item
from judgegraph.trace.otel import RESULT, OtelSpan, as_json, clean
from judgegraph.traces.collector import CollectorSession, basic, batches, login_of, sendable
from judgegraph.types import Comparison, Score

# What a sample's scores, verdicts and people's judgements say, and of which span.


Kind: TypeAlias = Literal["LLM", "CODE", "HUMAN"]


@dataclass(frozen=True)
class Annotation:
    """One of them.

    Attributes:
        trace_id, span_id: as of an `OtelSpan`. whole: it is of the sample, and stands on the first span.
        at: when it was made, nanoseconds since 1970. key: unique in its trace.
        name: what is averaged under one name: the criterion of an answer, with what it is behind it where it is none,
            as in "Clarity (draft)", "Clarity (human)".
        kind: who said it: a judge, a computation, a person.
        value, label: one of them; of what has no answer the label is its status, and there is never a number.
        reason: "" for none. about: what else is known, without texts.
    """

    trace_id: int
    span_id: int
    at: int
    key: str
    name: str
    kind: Kind = "LLM"
    value: float | None = None
    label: str | None = None
    reason: str = ""
    whole: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """32 hexadecimal digits, the same whenever it is sent."""
        said = f"{self.trace_id:032x}{self.span_id:016x}{self.key}".encode("utf-8", "surrogatepass")
        return blake2b(said, digest_size=16).hexdigest()


Annotated: TypeAlias = tuple[OtelSpan, tuple[Annotation, ...]]


def annotated(spans: Iterable[OtelSpan], item: Item, texts: bool) -> Iterator[Annotated]:
    """A sample's spans, each with what is annotated to it.

    A score stands on the last span that wrote it, as its event tells; one that no span wrote, verdicts on a pair, what
    was found over all and what people said stand on the first.

    Args:
        item: what came of the sample, redacted where its spans are. texts: send reasons.
    """
    spans = list(spans)
    if not spans:
        return
    first = spans[0]
    wrote = {
        str(about["judgegraph.score.key"]): span for span in spans for name, about in span.events if name == RESULT
    }
    found: dict[int, list[Annotation]] = {}
    roles = roles_of(item)
    for score in item.scores:
        span = wrote.get(clean(score.key), first)
        found.setdefault(span.span_id, []).append(_of_score(score, roles[score.key], span, item, texts))
    whole = [*_of_pairs(item, first, texts), *_overall(item, first), *_of_people(item, first)]
    found.setdefault(first.span_id, []).extend(whole)
    for span in spans:
        yield span, tuple(found.get(span.span_id, ()))


def _of_score(score: Score, role: Role, span: OtelSpan, item: Item, texts: bool) -> Annotation:
    what = "" if role == "answer" else score.stage if role == "other" else role
    marks = [mark for mark in ("rival" if score.of == "rival" else "", what) if mark]
    about = {
        "status": score.status, "agent": score.agent, "stage": score.stage, "role": role, "reader": score.reader,
        "scale": str(score.scale) if score.scale is not None else "", "sample": item.id,
        "distribution": score.distribution, "unseen": score.unseen,
    }  # fmt: skip
    return Annotation(
        span.trace_id, span.span_id, span.end, score.key,
        score.criterion + (f" ({', '.join(marks)})" if marks else ""), "CODE" if score.stage == METRIC else "LLM",
        score.value, score.label if score.status == "ok" else score.status, score.reason if texts else "",
        about={key: value for key, value in about.items() if value not in (None, "")},
    )  # fmt: skip


def _of_pairs(item: Item, first: OtelSpan, texts: bool) -> Iterator[Annotation]:
    """Verdicts: of one order of the two responses, or of both."""
    for one in item.comparisons:
        about = {
            "status": one.status, "agent": one.agent, "order": one.order, "sample": item.id,
            "score_a": one.score_a, "score_b": one.score_b,
        }  # fmt: skip
        yield Annotation(
            first.trace_id, first.span_id, first.end, f"verdict/{one.key}", _verdict_name(one),
            label=one.verdict if one.status == "ok" and one.verdict else one.status,
            reason=one.reason if texts else "", whole=True,
            about={key: value for key, value in about.items() if value is not None},
        )  # fmt: skip


def _verdict_name(one: Comparison) -> str:
    return f"{one.criterion} (verdict{'' if one.order == 'both' else f' {one.order}'})"


def _overall(item: Item, first: OtelSpan) -> Iterator[Annotation]:
    if (over_all := over_all_of(item)) is not None:
        about = {"sample": item.id, "status": item.status}
        yield Annotation(
            first.trace_id, first.span_id, first.end, OVERALL, OVERALL, value=over_all, whole=True, about=about
        )


def _of_people(item: Item, first: OtelSpan) -> Iterator[Annotation]:
    """One for each of them that judged the sample."""
    for criterion, given in item.sample.human.items():
        for number, one in enumerate(given if isinstance(given, list) else [given], 1):
            if isinstance(one, str) and not one.strip():
                continue
            value, label = (None, one) if isinstance(one, str) else (float(one), None)
            about = {"sample": item.id, "annotator": number}
            yield Annotation(
                first.trace_id, first.span_id, first.end, f"human/{criterion}/{number}", f"{criterion} (human)",
                "HUMAN", value, label, whole=True, about=about,
            )  # fmt: skip


# The two tools: how each is known, where it takes scores, in which words, and what its answer means.


Tool: TypeAlias = Literal["phoenix", "langfuse"]
CHOICES = ("auto", "none", *get_args(Tool))
NAMES: dict[Tool, str] = {"phoenix": "Phoenix", "langfuse": "Langfuse"}
WHAT: dict[Tool, str] = {"phoenix": "annotation", "langfuse": "score"}  # what each calls them
PHOENIX_SAYS = "x-phoenix-server-version"  # a header of all its answers
TRACES, LANGFUSE_PATH = "/v1/traces", "/api/public/otel"
RESERVED = "note"  # a name that Phoenix keeps for itself


def tool_of(endpoint: str | None, scores: str | None) -> Tool | None:
    """The tool that takes the scores, None where nobody does or that is not known before it answers.

    Raises:
        ConfigError: `scores` is none of the choices, or the address cannot be that tool's.
    """
    scores = "none" if scores is None else scores
    if scores not in CHOICES:
        raise ConfigError(f"scores: one of {', '.join(CHOICES)}; got {one_line(repr(scores), 40)}")
    if endpoint is None:
        if scores in get_args(Tool):
            raise ConfigError(
                f"scores={scores!r} goes with an address: an exporter of OpenTelemetry's takes spans alone"
            )
        return None
    path = urlsplit(endpoint).path.rstrip("/").removesuffix(TRACES)
    if scores == "langfuse" and not path.endswith(LANGFUSE_PATH):
        raise ConfigError(f"Langfuse takes traces at an address that ends in {LANGFUSE_PATH}; give that one")
    if scores == "auto":
        return "langfuse" if path.endswith(LANGFUSE_PATH) else None
    return None if scores == "none" else cast(Tool, scores)


def phoenix_answered(session: CollectorSession) -> bool:
    """Whether the last answer was Phoenix's, as it says itself."""
    return session.answer is not None and PHOENIX_SAYS in session.answer.headers


def authorization(endpoint: str, tool: Tool | None) -> str:
    """What says who asks where OTEL_EXPORTER_OTLP_HEADERS doesn't: the address's login, else the tool's key.

    Raises:
        ConfigError: a key is half there, or can stand in no header.
    """
    if login := basic(login_of(endpoint)):
        return f"Basic {login}"
    said = ""
    if tool == "phoenix" and (key := os.environ.get("PHOENIX_API_KEY", "").strip()):
        said = f"Bearer {key}"
    elif tool == "langfuse":
        pair = {name: os.environ.get(name, "").strip() for name in ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")}
        if any(pair.values()) and not all(pair.values()):
            raise ConfigError(f"{next(name for name, key in pair.items() if not key)} is not set, and the other one is")
        said = f"Basic {basic(_quoted(':'.join(pair.values())))}" if all(pair.values()) else ""
    if said and not sendable("authorization", said):
        raise ConfigError("PHOENIX_API_KEY can stand in no header")
    return said


def _quoted(login: str) -> str:
    return login.replace("%", "%25")


def _where(endpoint: str, tool: Tool) -> str:
    """Where it takes scores."""
    parts = urlsplit(endpoint)
    path = parts.path.rstrip("/").removesuffix(TRACES)
    query = parse_qsl(parts.query, keep_blank_values=True)
    if tool == "langfuse":
        path = path.removesuffix(LANGFUSE_PATH) + "/api/public/ingestion"
    else:
        path, query = path + "/v1/span_annotations", [*query, ("sync", "true")]
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, path=path, query=urlencode(query), fragment="").geturl()


def phoenix_row(one: Annotation) -> dict[str, Any]:
    """As its POST /v1/span_annotations takes it."""
    result = {"score": one.value, "label": one.label, "explanation": one.reason or None}
    return {
        "span_id": f"{one.span_id:016x}", "name": f"{one.name} (score)" if one.name == RESERVED else one.name,
        "annotator_kind": one.kind, "result": {key: value for key, value in result.items() if value is not None},
        "metadata": dict(one.about), "identifier": f"judgegraph-{one.id}",
    }  # fmt: skip


def langfuse_event(one: Annotation) -> dict[str, Any]:
    """As an entry of the batch of its POST /api/public/ingestion; a judgement of the whole sample is the trace's.

    People's have no source ANNOTATION: Langfuse takes such a score and drops it later, where no score config of the
    project is named.
    """
    body: dict[str, Any] = {
        "id": one.id, "traceId": f"{one.trace_id:032x}", "name": one.name,
        "value": one.label if one.value is None else one.value,
        "dataType": "CATEGORICAL" if one.value is None else "NUMERIC",
        "metadata": {**one.about, "annotator_kind": one.kind},
    }  # fmt: skip
    body |= {} if one.whole else {"observationId": f"{one.span_id:016x}"}
    body |= {"comment": one.reason} if one.reason else {}
    at = datetime.fromtimestamp(one.at / 1e9, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    said = blake2b(as_json([body, at]).encode(), digest_size=16).digest()
    return {"id": str(UUID(bytes=said, version=4)), "type": "score-create", "timestamp": at, "body": body}


MANY, BYTES = 500, 1_500_000  # of one request at most, about
PAUSE = 0.25  # seconds


class Annotator:
    """Sends annotations to a tool that took the spans, in the same session; used by one thread.

    Args:
        endpoint: the address that took the spans.
    """

    def __init__(self, session: CollectorSession, endpoint: str, tool: Tool) -> None:
        self._session, self._tool, self._url = session, tool, _where(endpoint, tool)

    def send(self, annotations: Sequence[Annotation]) -> str:
        """Requests of at most 500; gives why not all were taken, "" where they were."""
        row = phoenix_row if self._tool == "phoenix" else langfuse_event
        written = [as_json(row(one)) for one in annotations]
        for batch in batches(written, lambda text: len(text.encode()), MANY, BYTES):
            rows = ",".join(batch)
            body = f'{{"data":[{rows}]}}' if self._tool == "phoenix" else f'{{"batch":[{rows}]}}'
            if why := self._sent(body, len(batch)):
                return why
        return ""

    def _sent(self, body: str, count: int) -> str:
        answer = self._answer(body)
        if answer is None or self._session.why:
            return self._session.why
        return _phoenix_refusal(answer, count) if self._tool == "phoenix" else _langfuse_refusal(answer, count)

    def _answer(self, body: str) -> Response | None:
        """Of Phoenix when it has written the spans, which it does after it took them; it is asked until then."""
        ends = time.monotonic() + self._session.timeout
        while True:
            answer = self._session.post_json(self._url, body)
            waits = answer is not None and answer.status_code == 404 and PHOENIX_SAYS in answer.headers
            if not waits or time.monotonic() + PAUSE > ends:
                return answer
            time.sleep(PAUSE)


def _phoenix_refusal(answer: Response, count: int) -> str:
    """It names those that it wrote."""
    said = _json_of(answer)
    written = said.get("data") if isinstance(said, dict) else None
    if not isinstance(written, list):
        return "it answered with what Phoenix does not say"
    return f"{count - len(written)} of {count} left out" if len(written) < count else ""


def _langfuse_refusal(answer: Response, count: int) -> str:
    """It lists those that it took, and of the others why not; the status is 207 in both cases."""
    said = _json_of(answer)
    taken, errors = (said.get(key) if isinstance(said, dict) else None for key in ("successes", "errors"))
    if not isinstance(taken, list) or not isinstance(errors, list):
        return "it answered with what Langfuse does not say"
    if len(taken) >= count and not errors:
        return ""
    first = next((one for one in errors if isinstance(one, dict)), {})
    why = " ".join(str(first[key]) for key in ("message", "error") if first.get(key))
    return f"{max(len(errors), count - len(taken))} of {count} left out{f': {why}' if why else ''}"


def _json_of(answer: Response) -> Any:
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError):
        return None
