"""Spans sent to a collector, one batch after the other: what it answers is looked at, and nothing waits in a queue."""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judgegraph import __version__
from judgegraph.errors import ConfigError, ExtraError, one_line
from judgegraph.runtime.otel_headers import basic, header_values, login_of, secrets
from judgegraph.trace.otel import OtelSpan
from judgegraph.trace.otel_attributes import CONVENTIONS

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from judgegraph.runtime.otel_session import CollectorSession

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
        with _heard() as said:
            taken = self._taken(made, said)
        why = self._session.why if self._session is not None else ""
        if why or not taken:
            why = why or (said[-1] if said else "the exporter does not say why")
            for secret in self._secrets:
                why = why.replace(secret, "...")
            raise ConfigError(f"{self._where} did not take the spans: {one_line(why, 300)}")

    def _taken(self, made: Sequence[ReadableSpan], said: list[str]) -> bool:
        if self._session is None:
            return bool(self._exporter.export(made) == self._good)
        self._session.why = ""
        try:
            return bool(self._exporter.export(made) == self._good)
        except Exception as error:  # earlier versions raise what later ones log
            said.append(type(error).__name__)
            return False

    def close(self) -> None:
        """Leave the collector; an exporter of the caller's stays open."""
        if self._theirs is None:
            self._exporter.shutdown()


def _exporter(endpoint: str) -> tuple[CollectorSession, Any]:
    """OpenTelemetry's own, which heeds OTEL_EXPORTER_OTLP_HEADERS, ..._TIMEOUT, ..._CERTIFICATE and the like."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        from judgegraph.runtime.otel_session import CollectorSession
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
def _heard() -> Generator[list[str]]:
    """What the exporter would log: it tells there, and only there, what went wrong."""
    said: list[str] = []

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    logger, heard = logging.getLogger(LOGGER), Heard(logging.WARNING)
    before, level, off = logger.propagate, logger.level, logger.disabled
    logger.addHandler(heard)
    logger.propagate, logger.disabled = False, False
    logger.setLevel(logging.WARNING)
    try:
        yield said
    finally:
        logger.removeHandler(heard)
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
