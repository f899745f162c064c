"""Traces to where OpenTelemetry's are looked at: Phoenix, Langfuse, Jaeger, LangSmith or any collector."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast, get_args
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from requests import Response

from judgegraph import __version__
from judgegraph.answers import METRIC, Role, answers_of, roles_of
from judgegraph.calls.ledger import ReadOnlyLedger
from judgegraph.data.samples import DiskIndex
from judgegraph.errors import ConfigError, DataError, ExtraError, one_line
from judgegraph.runs.item import FINE, Item
from judgegraph.runs.lines import id_digest
from judgegraph.trace.span import line_at, recorded_trace
from judgegraph.traces.collector import (
    CONVENTIONS,
    RESULT,
    CollectorSession,
    OtelSpan,
    Whose,
    as_json,
    basic,
    batches,
    clean,
    environment_headers,
    login_of,
    otel_spans,
    secrets,
    sendable,
    shown_address,
)
from judgegraph.traces.read import (
    UNTRACED,
    RunRecord,
    belongs,
    indexed,
    ledger_of,
    near,
    ranked_traces,
    spans_of,
    traces_in,
    tree,
)
from judgegraph.traces.redact import known_names, redacted_item, redacted_root
from judgegraph.types import Comparison, Score, text_of

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


# Scores where people look for them: annotations of spans in Phoenix, scores in Langfuse.
#
# Both tools take the scores of a trace by a request of its own and read no event of a span. What is sent here names the
# spans by the ids that they were sent with, and has an id of its own, so that what is sent twice is there once.


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


OVERALL = "overall"


def _overall(item: Item, first: OtelSpan) -> Iterator[Annotation]:
    if item.overall is not None and not any(score.criterion == OVERALL for score in item.scores):
        about = {"sample": item.id, "status": item.status}
        yield Annotation(
            first.trace_id, first.span_id, first.end, OVERALL, OVERALL, value=item.overall, whole=True, about=about
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


MANY, BODY_BYTES = 500, 1_500_000  # of one request at most, about
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
        for batch in batches(written, lambda text: len(text.encode()), MANY, BODY_BYTES):
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


# Spans sent to a collector, one batch after the other: what it answers is looked at, and nothing waits in a queue.


PATH = "/v1/traces"
LOGGER = "opentelemetry.exporter.otlp"


class Sender:
    """To a URL, or by an exporter of OpenTelemetry's; used by one thread.

    Args:
        scores: the tool that takes them, or "auto", "none"; as of `export_otel`.

    Raises:
        ExtraError: OpenTelemetry is not installed. ConfigError: the URL is none.
    """

    def __init__(self, endpoint: str | None, exporter: Any, run: str, scores: str | None = "none") -> None:
        try:
            from opentelemetry.sdk.resources import OTELResourceDetector, Resource
            from opentelemetry.sdk.trace.export import SpanExportResult
            from opentelemetry.sdk.util.instrumentation import InstrumentationScope
        except ImportError:
            raise ExtraError("export to OpenTelemetry", "otel") from None
        except ValueError as error:  # it reads its variables as it is imported
            raise ConfigError(f"OpenTelemetry cannot be set up: {one_line(error)}") from None
        about = {"service.name": "judgegraph", "service.version": __version__, "judgegraph.run.id": run}
        self._resource = Resource({**about, "openinference.project.name": "judgegraph"})
        self._resource = self._resource.merge(OTELResourceDetector().detect())  # the environment knows better
        self._scope = InstrumentationScope("judgegraph", __version__, CONVENTIONS)
        self._good, self._theirs = SpanExportResult.SUCCESS, exporter
        self._where = shown_address(endpoint) if endpoint is not None else type(exporter).__name__
        self._endpoint, self._scores = endpoint, scores
        self.tool = tool_of(endpoint, scores)
        self._session: CollectorSession | None = None
        self._secrets: list[str] = []
        if endpoint is None:
            self._exporter = exporter
        else:
            headers = environment_headers()
            who = "" if "authorization" in headers else authorization(endpoint, self.tool)
            self._secrets = secrets(endpoint, [*headers.values(), who])
            self._session, self._exporter = _exporter(endpoint, who)

    def send(self, spans: Sequence[OtelSpan]) -> None:
        """One request, or a few where the collector asks for patience.

        Raises:
            ConfigError: it was not taken, in a line that says why.
        """
        made = [_made(span, self._resource, self._scope) for span in spans]
        with _logged_messages() as messages:
            taken = self._taken(made, messages)
        why = self._session.why if self._session is not None else ""
        if why or not taken:
            why = why or (messages[-1] if messages else "the exporter does not say why")
            why += self._key_unused()
            raise ConfigError(f"{self._where} did not take the spans: {self._without_secrets(why)}")

    def annotate(self, annotations: Sequence[Annotation]) -> int:
        """After their spans were sent: those that were taken, 0 where nobody takes any.

        Raises:
            ConfigError: not all were taken, in a line that says why.
        """
        if self._session is None or self._endpoint is None or not annotations:
            return 0
        if self.tool is None and self._scores == "auto" and phoenix_answered(self._session):
            self.tool = "phoenix"
        if self.tool is None:
            return 0
        if why := Annotator(self._session, self._endpoint, self.tool).send(annotations):
            what = f"{self._where} took the spans, but not their {WHAT[self.tool]}s as {NAMES[self.tool]} takes them"
            raise ConfigError(f"{what}: {self._without_secrets(why)}; --scores none sends spans alone")
        return len(annotations)

    def _key_unused(self) -> str:
        """That there is a key, which goes to nobody before it is said whose address this is."""
        if self.tool is not None or self._session is None or not phoenix_answered(self._session):
            return ""
        return "; with --scores phoenix PHOENIX_API_KEY is sent" if os.environ.get("PHOENIX_API_KEY") else ""

    def _without_secrets(self, why: str) -> str:
        for secret in self._secrets:
            why = why.replace(secret, "...")
        return one_line(why, 300)

    def _taken(self, made: Sequence[ReadableSpan], messages: list[str]) -> bool:
        if self._session is None:
            return bool(self._exporter.export(made) == self._good)
        self._session.why = ""
        try:
            return bool(self._exporter.export(made) == self._good)
        except Exception as error:  # earlier versions raise what later ones log
            messages.append(type(error).__name__)
            return False

    def close(self) -> None:
        """Leave the collector; an exporter of the caller's stays open."""
        if self._theirs is None:
            self._exporter.shutdown()


def _exporter(endpoint: str, who: str) -> tuple[CollectorSession, Any]:
    """OpenTelemetry's own, which heeds OTEL_EXPORTER_OTLP_HEADERS, ..._TIMEOUT, ..._CERTIFICATE and the like."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        raise ExtraError("export to OpenTelemetry", "otel") from None
    parts = urlsplit(endpoint)
    path = parts.path.rstrip("/")
    host = parts.netloc.rpartition("@")[2]  # what knows no login puts none in a header's place, nor into a log
    url = parts._replace(netloc=host, path=path if path.endswith(PATH) else path + PATH, fragment="").geturl()
    session = CollectorSession(who)
    return session, OTLPSpanExporter(url, session=session)


@contextmanager
def _logged_messages() -> Generator[list[str]]:
    """What the exporter would log: it tells there, and only there, what went wrong."""
    messages: list[str] = []

    class LogCollector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    logger, handler = logging.getLogger(LOGGER), LogCollector(logging.WARNING)
    before, level, off = logger.propagate, logger.level, logger.disabled
    logger.addHandler(handler)
    logger.propagate, logger.disabled = False, False
    logger.setLevel(logging.WARNING)
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.propagate, logger.disabled = before, off
        logger.setLevel(level)


def _made(span: OtelSpan, resource: Any, scope: Any) -> ReadableSpan:
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def context(span_id: int) -> SpanContext:
        return SpanContext(span.trace_id, span_id, False, TraceFlags(TraceFlags.SAMPLED))

    return ReadableSpan(
        span.name, context(span.span_id), context(span.parent_id) if span.parent_id is not None else None,
        resource, span.attributes, [Event(name, about, span.end) for name, about in span.events], (),
        SpanKind.CLIENT if span.client else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.UNSET),
        start_time=span.start, end_time=span.end, instrumentation_scope=scope,
    )  # fmt: skip


SPANS, BYTES = 512, 2_000_000  # of one request at most, about; so many are held
Scores: TypeAlias = Literal["auto", "none", "phoenix", "langfuse"]
NOT_BOTH = "export_otel: give the collector's URL, or an exporter; nothing is sent anywhere unasked"


class Sent(int):
    """How many spans were sent, as a number.

    Attributes:
        annotations: how many scores, verdicts and judgements of people were sent besides.
        tool: the tool that took them; None where nobody did.
    """

    annotations: int
    tool: Tool | None

    def __new__(cls, spans: int, annotations: int = 0, tool: Tool | None = None) -> Self:
        """With what it counts."""
        self = super().__new__(cls, spans)
        self.annotations, self.tool = annotations, tool
        return self


def export_otel(
    run: RunRecord, endpoint: str | None = None, *, exporter: Any = None, samples: Iterable[str] | None = None,
    redact: bool = False, scores: Scores = "auto",
) -> Sent:  # fmt: skip
    """Send the traces of a run, one OpenTelemetry trace for each sample; gives how many spans.

    Their ids follow from the run, the sample and its time, so that what is sent twice can be known by them; scores are
    events `gen_ai.evaluation.result`, and annotations where a tool takes them so. Headers, such as a key, are taken
    from OTEL_EXPORTER_OTLP_HEADERS.

    Args:
        endpoint: URL of an OTLP/HTTP collector; "/v1/traces" is added where it is missing. exporter: one of
            OpenTelemetry's, in its place. samples: ids of those that are sent; None is all. redact: send no text that
            was judged, asked or said, and no reason.
        scores: who takes scores, verdicts and people's judgements besides: "phoenix" as annotations of the spans,
            "langfuse" as scores, "none"; "auto": Langfuse is known by the end of its address, Phoenix by its answer.

    Raises:
        ConfigError: the collector cannot be reached or refuses; spans that were sent by then stay there. ExtraError:
            OpenTelemetry is not installed.
        DataError: no spans were recorded, the run has no such sample, or its folder cannot be read.
    """
    wanted = None if samples is None else _known(_ids(samples), "the run", lambda: (item.id for item in run.items))
    return _sent(_of_run(run, wanted, texts=not redact), run.manifest, endpoint, exporter, scores)


def export_folder(
    path: str | os.PathLike[str], endpoint: str | None = None, *, exporter: Any = None,
    samples: Iterable[str] | None = None, redact: bool = False, scores: Scores = "auto",
) -> Sent:  # fmt: skip
    """As `export_otel`, of a folder that `jg.tracing` wrote: it has no scores."""

    def ids() -> Iterator[str]:
        return (one.id for one in ranked_traces(path))

    wanted = None if samples is None else _known(_ids(samples), os.fspath(path), ids)
    return _sent(_of_folder(path, wanted, texts=not redact), {}, endpoint, exporter, scores)


def _sent(
    spans: Iterator[Annotated], manifest: dict[str, Any], endpoint: str | None, exporter: Any, scores: str | None
) -> Sent:  # fmt: skip
    if (endpoint is None) == (exporter is None):
        raise ConfigError(NOT_BOTH)
    if exporter is not None and not callable(getattr(exporter, "export", None)):
        raise ConfigError(f"export_otel: {one_line(repr(exporter), 80)} is no exporter of OpenTelemetry's")
    with closing(Sender(endpoint, exporter, str(manifest.get("run") or ""), scores)) as sender:
        count = more = 0
        for batch in batches(spans, lambda span: span[0].size, SPANS, BYTES):
            sender.send([span for span, _ in batch])
            count += len(batch)
            more += sender.annotate([one for _, mine in batch for one in mine])
    if not count:
        raise DataError(f"there is nothing to send: {UNTRACED}")
    return Sent(count, more, sender.tool)


def _ids(samples: Any) -> set[str]:
    """Those that are asked for."""
    many = isinstance(samples, Iterable) and not isinstance(samples, str | bytes)
    wanted: list[Any] = list(samples) if many else []
    if not wanted or not all(isinstance(one, str) for one in wanted):
        raise ConfigError(f'samples: ids of samples, such as ["s1"]; None is all; got {one_line(repr(samples), 80)}')
    return set(wanted)


def _known(wanted: set[str], where: str, ids: Callable[[], Iterable[str]]) -> set[str]:
    """All of them are there, which is known before anything is sent."""
    if missing := wanted - {one for one in ids() if one in wanted}:
        first = min(missing)
        raise DataError(f"{where} has no sample {one_line(first, 80)!r}{near(first, ids())}")
    return wanted


def _of_run(run: RunRecord, wanted: Collection[str] | None, texts: bool) -> Iterator[Annotated]:
    """In the order of finishing; its files are read as streams, and one sample's spans are held."""
    path, agents = spans_of(run), run.manifest.get("nodes") or {}
    if path is None or not path.exists():
        raise DataError(f"{run.folder.path if run.folder else 'a run without a folder'}: {UNTRACED}")
    run_id, known = str(run.manifest.get("run") or ""), known_names(run.manifest)
    with closing(ReadOnlyLedger(ledger_of(run))) as ledger, closing(indexed(path)) as offsets:
        for item in run.items:
            line = _line(path, offsets, item.id) if wanted is None or item.id in wanted else b""
            if line and (found := recorded_trace(line)) is not None and belongs(found, item):
                root = tree(found, item, agents, ledger)
                if not texts:
                    root, item = redacted_root(root, known, item), redacted_item(item, known)
                error = _failed(item, texts)
                about = _about(run, item, texts) | ({"error.type": error.partition(":")[0]} if error else {})
                whose = Whose(run_id, item.id, found.started, texts, about, error)
                yield from annotated(otel_spans(root, whose), item, texts)


def _failed(item: Item, texts: bool) -> str:
    """How a sample failed, or that each of its answers did: people look for failures in a list of first spans."""
    if item.status not in FINE:
        return clean(f"{item.status}: {item.reason}" if texts and item.reason else item.status)
    answers = answers_of(item)
    if not answers or any(one.status in FINE for one in answers):
        return ""
    first = answers[0]
    if not texts:
        return first.status
    many = f"none of {len(answers)} answers" if len(answers) > 1 else "no answer"
    return clean(f"{first.status}: {many}" + (f" ({one_line(first.reason, 300)})" if first.reason else ""))


def _line(path: Path, offsets: DiskIndex, sample: str) -> bytes:
    at = offsets.get(id_digest(sample))
    return b"" if at is None else line_at(path, at)


def _of_folder(path: str | os.PathLike[str], wanted: Collection[str] | None, texts: bool) -> Iterator[Annotated]:
    for one in traces_in(path, redact=not texts):
        if wanted is None or one.sample in wanted:
            for span in otel_spans(one.root, Whose("", one.sample, one.started, texts)):
                yield span, ()


def _about(run: RunRecord, item: Item, texts: bool) -> dict[str, Any]:
    """Of a sample's first span: whose it is, what went in, what came out."""
    about: dict[str, Any] = {
        "judgegraph.run.id": str(run.manifest.get("run") or ""), "judgegraph.signature": run.signature,
        "judgegraph.method": str(run.manifest.get("method") or ""), "judgegraph.sample.status": item.status,
    }  # fmt: skip
    if item.overall is not None:
        about["judgegraph.overall"] = item.overall
    if item.verdict is not None:
        about["judgegraph.verdict"] = item.verdict
    finals = {s.criterion: s.answer for s in answers_of(item) if s.of == "output"}
    about["output.value"], about["output.mime_type"] = as_json(finals), "application/json"
    if texts:
        sample = item.sample
        parts = {"query": sample.query, "source": sample.source, "output": sample.output, "rival": sample.rival}
        given = {name: text_of(value) for name, value in parts.items() if value} | sample.shown_evidence()
        about["input.value"], about["input.mime_type"] = as_json(given), "application/json"
        if item.reason:
            about["judgegraph.sample.reason"] = item.reason
    return {key: clean(value) if isinstance(value, str) else value for key, value in about.items()}
