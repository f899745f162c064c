"""Traces to where OpenTelemetry's are looked at: Phoenix, Langfuse, Jaeger, LangSmith or any collector."""

from __future__ import annotations

import binascii
import json
import logging
import os
import re
import threading
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, unquote_to_bytes, urlsplit

from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from requests import PreparedRequest, RequestException, Response, Session
from requests.auth import AuthBase
from requests.exceptions import ReadTimeout, Timeout

from judgegraph import __version__
from judgegraph.answers import answers_of
from judgegraph.calls.ledger import ReadOnlyLedger
from judgegraph.data.samples import DiskIndex
from judgegraph.errors import ConfigError, DataError, ExtraError, one_line
from judgegraph.runs.item import Item
from judgegraph.runs.lines import id_digest
from judgegraph.trace.otel import CONVENTIONS, OtelSpan, Whose, as_json, clean, otel_spans
from judgegraph.trace.span import line_at, recorded_trace
from judgegraph.traces.rank import ranked_traces, traces_in
from judgegraph.traces.read import UNTRACED, RunRecord, belongs, indexed, ledger_of, near, spans_of, tree
from judgegraph.traces.redact import known_names, redacted_item, redacted_root
from judgegraph.types import text_of

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


# Headers for a collector, from the environment and its address: a mistake in them is told before anything is sent.


NAMES = ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")  # the first that is set is taken
PARSER = "opentelemetry.util.re"  # its logger, which would print what it cannot read
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
SHORT = 4  # characters; what is shorter is no secret, and stands in many words


def header_values() -> list[str]:
    """The values that will be sent.

    Raises:
        ConfigError: an entry is no header; the line does not repeat it.
    """
    from opentelemetry.util.re import parse_env_headers

    name = next((one for one in NAMES if os.environ.get(one)), "")
    found: list[str] = []
    logger = logging.getLogger(PARSER)
    before, logger.disabled = logger.disabled, True
    try:
        for number, entry in enumerate(re.split(r"[ \t]*,[ \t]*", os.environ.get(name, "")), 1):
            parsed = parse_env_headers(entry, liberal=True)
            if entry.strip() and not (parsed and all(map(_sendable, parsed, parsed.values()))):
                raise ConfigError(f"{name}: entry {number} is no header; write name=value, and commas between several")
            found += parsed.values()
    finally:
        logger.disabled = before
    return found


def _sendable(name: str, value: str) -> bool:
    return bool(TOKEN.fullmatch(name)) and value.isprintable() and all(ord(one) < 256 for one in value)


def login_of(endpoint: str) -> str:
    """The login of an address, as it stands there."""
    return urlsplit(endpoint).netloc.rpartition("@")[0]


def basic(login: str) -> str:
    """What an authorization header says after "Basic"; "" for no login. A name alone has an empty password."""
    decoded = unquote_to_bytes(login if ":" in login else f"{login}:")
    return b64encode(decoded).decode() if decoded != b":" else ""


def secrets(endpoint: str, headers: list[str]) -> list[str]:
    """What no message shows, the longest first: the address's login and query, and the headers' values.

    A login and what a Basic header holds are in both forms, as collectors repeat either.
    """
    query, login = urlsplit(endpoint).query, login_of(endpoint)
    words = [word for one in headers for word in one.split()]
    logins = [login, unquote(login), *map(_login_in, words)]
    held = {
        *logins, *(part for one in logins for part in one.split(":", 1)), basic(login), query,
        *(value for _, value in parse_qsl(query)), *headers, *words,
    }  # fmt: skip
    held |= {one.rstrip("=") for one in held}  # the end of base64, which some leave out and JSON may escape
    forms = {form for one in held for form in (one, unquote(one), quote(one), quote(one, safe=""))}
    forms |= {one.replace("/", "\\/") for one in forms}  # as some write it in JSON
    return sorted((one for one in forms if len(one) >= SHORT), key=len, reverse=True)


def _login_in(word: str) -> str:
    """The login that a word of a header is the base64 of, "" where it is none."""
    try:
        decoded = b64decode(word, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return decoded if ":" in decoded else ""


# Spans sent to a collector, one batch after the other: what it answers is looked at, and nothing waits in a queue.


PATH = "/v1/traces"
LOGGER = "opentelemetry.exporter.otlp"


class Sender:
    """To a URL, or by an exporter of OpenTelemetry's; used by one thread.

    Raises:
        ExtraError: OpenTelemetry is not installed. ConfigError: the URL is none.
    """

    def __init__(self, endpoint: str | None, exporter: Any, run: str) -> None:
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
        self._where = _shown(endpoint) if endpoint is not None else type(exporter).__name__
        self._session: CollectorSession | None = None
        self._secrets: list[str] = []
        if endpoint is None:
            self._exporter = exporter
        else:
            self._secrets = secrets(endpoint, header_values())
            self._session, self._exporter = _exporter(endpoint)

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
            for secret in self._secrets:
                why = why.replace(secret, "...")
            raise ConfigError(f"{self._where} did not take the spans: {one_line(why, 300)}")

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


def _exporter(endpoint: str) -> tuple[CollectorSession, Any]:
    """OpenTelemetry's own, which heeds OTEL_EXPORTER_OTLP_HEADERS, ..._TIMEOUT, ..._CERTIFICATE and the like."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        raise ExtraError("export to OpenTelemetry", "otel") from None
    parts = urlsplit(endpoint)
    path = parts.path.rstrip("/")
    host = parts.netloc.rpartition("@")[2]  # what knows no login puts none in a header's place, nor into a log
    url = parts._replace(netloc=host, path=path if path.endswith(PATH) else path + PATH, fragment="").geturl()
    session = CollectorSession(basic(login_of(endpoint)))
    return session, OTLPSpanExporter(url, session=session)


def _shown(endpoint: str) -> str:
    """An address without a login and a query.

    Raises:
        ConfigError: it is none.
    """
    try:
        parts = urlsplit(endpoint if isinstance(endpoint, str) else "")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https"):
        raise ConfigError("the address of a collector begins with http:// or https://, such as http://127.0.0.1:6006")
    if any("\ud800" <= one <= "\udfff" for one in endpoint):  # of bytes that are no text
        raise ConfigError("the address of a collector is no text; write what is not ASCII as %XX")
    return one_line(f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}")


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
NOT_BOTH = "export_otel: give the collector's URL, or an exporter; nothing is sent anywhere unasked"


def export_otel(
    run: RunRecord, endpoint: str | None = None, *, exporter: Any = None, samples: Iterable[str] | None = None,
    redact: bool = False,
) -> int:  # fmt: skip
    """Send the traces of a run, one OpenTelemetry trace for each sample; gives how many spans.

    Their ids follow from the run, the sample and its time, so that what is sent twice can be known by them; scores are
    events `gen_ai.evaluation.result`. Headers, such as a key, are taken from OTEL_EXPORTER_OTLP_HEADERS.

    Args:
        endpoint: URL of an OTLP/HTTP collector; "/v1/traces" is added where it is missing. exporter: one of
            OpenTelemetry's, in its place. samples: ids of those that are sent; None is all. redact: send no text that
            was judged, asked or said, and no reason.

    Raises:
        ConfigError: the collector cannot be reached or refuses; spans that were sent by then stay there. ExtraError:
            OpenTelemetry is not installed.
        DataError: no spans were recorded, the run has no such sample, or its folder cannot be read.
    """
    wanted = None if samples is None else _known(_ids(samples), "the run", lambda: (item.id for item in run.items))
    return _sent(_of_run(run, wanted, texts=not redact), run.manifest, endpoint, exporter)


def export_folder(
    path: str | os.PathLike[str], endpoint: str | None = None, *, exporter: Any = None,
    samples: Iterable[str] | None = None, redact: bool = False,
) -> int:  # fmt: skip
    """As `export_otel`, of a folder that `jg.tracing` wrote: it has no scores."""

    def ids() -> Iterator[str]:
        return (one.id for one in ranked_traces(path))

    wanted = None if samples is None else _known(_ids(samples), os.fspath(path), ids)
    return _sent(_of_folder(path, wanted, texts=not redact), {}, endpoint, exporter)


def _sent(spans: Iterator[OtelSpan], manifest: dict[str, Any], endpoint: str | None, exporter: Any) -> int:
    if (endpoint is None) == (exporter is None):
        raise ConfigError(NOT_BOTH)
    if exporter is not None and not callable(getattr(exporter, "export", None)):
        raise ConfigError(f"export_otel: {one_line(repr(exporter), 80)} is no exporter of OpenTelemetry's")
    with closing(Sender(endpoint, exporter, str(manifest.get("run") or ""))) as sender:
        count = 0
        for batch in _batches(spans):
            sender.send(batch)
            count += len(batch)
    if not count:
        raise DataError(f"there is nothing to send: {UNTRACED}")
    return count


def _batches(spans: Iterator[OtelSpan]) -> Iterator[list[OtelSpan]]:
    held: list[OtelSpan] = []
    size = 0
    for span in spans:
        takes = span.size
        if held and (len(held) >= SPANS or size + takes > BYTES):
            yield held
            held, size = [], 0
        held.append(span)
        size += takes
    if held:
        yield held


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


def _of_run(run: RunRecord, wanted: Collection[str] | None, texts: bool) -> Iterator[OtelSpan]:
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
                yield from otel_spans(root, Whose(run_id, item.id, found.started, texts, _about(run, item, texts)))


def _line(path: Path, offsets: DiskIndex, sample: str) -> bytes:
    at = offsets.get(id_digest(sample))
    return b"" if at is None else line_at(path, at)


def _of_folder(path: str | os.PathLike[str], wanted: Collection[str] | None, texts: bool) -> Iterator[OtelSpan]:
    for one in traces_in(path, redact=not texts):
        if wanted is None or one.sample in wanted:
            yield from otel_spans(one.root, Whose("", one.sample, one.started, texts))


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
        given = {name: text_of(value) for name, value in parts.items() if value}
        about["input.value"], about["input.mime_type"] = as_json(given), "application/json"
        if item.reason:
            about["judgegraph.sample.reason"] = item.reason
    return {key: clean(value) if isinstance(value, str) else value for key, value in about.items()}


# How a collector is asked: each request ends in its time, little of the answer is read, and what it means is told.


MOST = 65_536  # bytes of an answer that are read; a collector's has a few
TEXTS = ("text/plain", "application/json")  # kinds of a refusal that say why
NO_COLLECTOR = "is this the address of an OTLP collector?"
OTHER = f"it answered with what no collector says; {NO_COLLECTOR}"
KNOWN = {name for one in ExportTraceServiceResponse.DESCRIPTOR.fields for name in (one.name, one.json_name)}


class Login(AuthBase):
    """That of an address, where no header says who asks.

    A session that has one looks for none in a .netrc, which would replace the header; proxies it still takes from the
    environment.
    """

    def __init__(self, basic: str) -> None:
        self._basic = basic

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        if self._basic and "Authorization" not in request.headers:
            request.headers["Authorization"] = f"Basic {self._basic}"
        return request


class CollectorSession(Session):
    """As OpenTelemetry's exporter wants one.

    Args:
        basic: the address's login in base64, "" for none.

    Attributes:
        why: what was wrong with the last answer, or that there was none; "" where all was taken.
    """

    def __init__(self, basic: str = "") -> None:
        super().__init__()
        self.why, self.auth = "", Login(basic)
        self.headers["Accept-Encoding"] = "identity"

    def request(self, method: Any, url: Any, *args: Any, timeout: Any = None, **more: Any) -> Response:
        """One, whole within `timeout` seconds, however slowly it is answered; a redirect is not followed.

        Raises:
            RequestException: there was no answer.
        """
        found: SimpleQueue[Response | BaseException] = SimpleQueue()
        ends = time.monotonic() + timeout if timeout is not None else None
        more |= {"allow_redirects": False, "stream": True, "timeout": timeout}

        def ask() -> None:  # a wait for bytes has a clock, the whole of them has none: so somebody waits beside it
            try:
                found.put(_read(super(CollectorSession, self).request(method, url, *args, **more), ends))
            except BaseException as error:
                if ends is None or time.monotonic() < ends:  # later it is told below, always in the same words
                    found.put(error)

        threading.Thread(target=ask, name="judgegraph-otlp", daemon=True).start()
        try:
            answer = found.get(timeout=None if timeout is None else max(0.0, timeout))
        except Empty:
            answer = ReadTimeout(f"no answer in {timeout:.3g} seconds")
        if isinstance(answer, BaseException):
            self.why = self.why or _failure(answer)  # what was answered before says more than that time ran out
            raise answer
        self.why = refusal(answer)
        return answer


def _read(answer: Response, ends: float | None) -> Response:
    """With as much of its body as is looked at, and no decoding that could swell."""
    read, body = getattr(answer.raw, "read1", None), b""
    with answer:
        while len(body) <= MOST:
            piece = read(4096, decode_content=False) if read else answer.raw.read(1, decode_content=False)
            if not piece:
                break
            body += piece
            if ends is not None and time.monotonic() > ends:
                raise ReadTimeout("the answer came too slowly")
    if answer.headers.get("Content-Encoding", "").lower() in ("gzip", "deflate"):
        try:
            body = zlib.decompressobj(47).decompress(body, MOST + 1)
        except zlib.error:
            body = b"\xff"  # which is no answer
    answer._content, answer._content_consumed = body, True
    return answer


def refusal(answer: Response) -> str:
    """Why not all was taken, "" where it was: a status of success, and a body that says so or nothing."""
    kind, body = answer.headers.get("Content-Type", "").lower(), answer.content
    if not 200 <= answer.status_code < 300:
        wait = answer.headers.get("Retry-After", "").strip()
        reason = body.decode("utf-8", "replace").strip() if kind.startswith(TEXTS) else ""
        return "".join((
            f"it answered {answer.status_code} {answer.reason or ''}".rstrip(),
            ", a redirect" if 300 <= answer.status_code < 400 and answer.status_code != 304 else "",
            f", and asks to wait {f'{wait} seconds' if wait.isdecimal() else f'until {wait}'}" if wait else "",
            f": {reason}" if reason else "",
        ))  # fmt: skip
    if kind.startswith("text/html"):
        return f"it answered with a page; {NO_COLLECTOR}"
    return _partial(body) if body else ""


def _partial(body: bytes) -> str:
    """By its first byte JSON or not: some name no kind, or another. JSON with none of OTLP's fields is an error's."""
    response = ExportTraceServiceResponse()
    try:
        if len(body) > MOST:
            raise DecodeError
        if body.lstrip()[:1] == b"{":
            Parse(body, response, ignore_unknown_fields=True)
            if (values := json.loads(body)) and not KNOWN & values.keys():
                return f"{OTHER} it says {json.dumps(values, ensure_ascii=False)}"
        else:
            response.ParseFromString(body)
    except (DecodeError, ParseError, ValueError, RecursionError):
        return OTHER
    part = response.partial_success
    return f"{part.rejected_spans} of them left out: {part.error_message}" if part.rejected_spans else ""


def _failure(error: BaseException) -> str:
    """In words without the address, whose query may hold a key."""
    if isinstance(error, Timeout) and error.__context__ is None:
        return str(error)
    if not isinstance(error, RequestException):
        return f"{type(error).__name__}: {error}"
    at: BaseException | None = error
    for _ in range(9):
        if at is None:
            break
        if isinstance(at, OSError) and at.strerror:
            return f"{type(error).__name__}: {at.strerror}"
        at = at.__cause__ or at.__context__
    return "no answer in time" if isinstance(error, Timeout) else type(error).__name__
