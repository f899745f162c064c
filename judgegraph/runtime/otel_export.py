"""Traces to where OpenTelemetry's are looked at: Phoenix, Langfuse, Jaeger, LangSmith or any collector."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from judgegraph.answers import answers_of
from judgegraph.calls.kept import Kept
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runtime.disk_index import DiskIndex
from judgegraph.runtime.folder_traces import standings_in, traces_in
from judgegraph.runtime.item import Item
from judgegraph.runtime.journeys import belongs, indexed
from judgegraph.runtime.known_names import known_names
from judgegraph.runtime.lines import id_digest
from judgegraph.runtime.otel_sender import Sender
from judgegraph.runtime.redacted import redacted_item, redacted_root
from judgegraph.runtime.steps import tree
from judgegraph.runtime.traces import UNTRACED, RunRecord, ledger_of, near, spans_of
from judgegraph.trace.file import journey, line_at
from judgegraph.trace.otel import OtelSpan, Whose, otel_spans
from judgegraph.trace.otel_attributes import as_json, clean
from judgegraph.types import text_of

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
        return (one.id for one in standings_in(path))

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
    with closing(Kept(ledger_of(run))) as ledger, closing(indexed(path)) as stands:
        for item in run.items:
            line = _line(path, stands, item.id) if wanted is None or item.id in wanted else b""
            if line and (told := journey(line)) is not None and belongs(told, item):
                root = tree(told, item, agents, ledger)
                if not texts:
                    root, item = redacted_root(root, known, item), redacted_item(item, known)
                yield from otel_spans(root, Whose(run_id, item.id, told.started, texts, _about(run, item, texts)))


def _line(path: Path, stands: DiskIndex, sample: str) -> bytes:
    at = stands.get(id_digest(sample))
    return b"" if at is None else line_at(path, at)


def _of_folder(path: str | os.PathLike[str], wanted: Collection[str] | None, texts: bool) -> Iterator[OtelSpan]:
    for one in traces_in(path, redact=not texts):
        if wanted is None or one.sample in wanted:
            yield from otel_spans(one.root, Whose("", one.sample, one.started, texts))


def _about(run: RunRecord, item: Item, texts: bool) -> dict[str, Any]:
    """Of a sample's first span: whose it is, what went in, what came out."""
    told: dict[str, Any] = {
        "judgegraph.run.id": str(run.manifest.get("run") or ""), "judgegraph.signature": run.signature,
        "judgegraph.method": str(run.manifest.get("method") or ""), "judgegraph.sample.status": item.status,
    }  # fmt: skip
    if item.overall is not None:
        told["judgegraph.overall"] = item.overall
    if item.verdict is not None:
        told["judgegraph.verdict"] = item.verdict
    finals = {s.criterion: s.answer for s in answers_of(item) if s.of == "output"}
    told["output.value"], told["output.mime_type"] = as_json(finals), "application/json"
    if texts:
        sample = item.sample
        parts = {"query": sample.query, "source": sample.source, "output": sample.output, "rival": sample.rival}
        given = {name: text_of(value) for name, value in parts.items() if value}
        told["input.value"], told["input.mime_type"] = as_json(given), "application/json"
        if item.reason:
            told["judgegraph.sample.reason"] = item.reason
    return {key: clean(value) if isinstance(value, str) else value for key, value in told.items()}
