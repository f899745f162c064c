"""Traces to where OpenTelemetry's are looked at: Phoenix, Langfuse, Jaeger, LangSmith or any collector."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias
from urllib.parse import urlsplit

from judgegraph import __version__
from judgegraph.answers import answers_of
from judgegraph.calls.ledger import ReadOnlyLedger
from judgegraph.data.samples import DiskIndex, id_digest
from judgegraph.errors import ConfigError, DataError, ExtraError, one_line
from judgegraph.runs.item import FINE, Item
from judgegraph.trace.otel import CONVENTIONS, OtelSpan, Whose, as_json, clean, otel_spans
from judgegraph.trace.record import UNTRACED, line_at, recorded_trace
from judgegraph.traces.annotations import (
    NAMES,
    WHAT,
    Annotated,
    Annotation,
    Annotator,
    Tool,
    annotated,
    authorization,
    phoenix_answered,
    tool_of,
)
from judgegraph.traces.collector import CollectorSession, batches, environment_headers, secrets, shown_address
from judgegraph.traces.read import (
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
from judgegraph.types import text_of

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


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
