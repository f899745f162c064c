"""A collector over loopback: takes OTLP as a real one does, and keeps what came."""

from __future__ import annotations

import base64
import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

PLAIN = "application/x-protobuf"
JSON = {"Content-Type": "application/json"}
ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {  # status, headers, body
    "nowhere": (302, {}, b""),
    "unchanged": (304, {}, b""),
    "busy": (429, {"Retry-After": "3600"}, b""),
    "busy until": (429, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}, b""),
    "part in JSON": (200, JSON, b'{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "old"}}'),
    "another JSON": (200, JSON, b'["hello"]'),
    "error in JSON": (200, JSON, b'{"error": "quota used \\u0075p"}'),
    "error of no kind": (200, {}, b' {"code": 7, "message": "denied"}'),
    "garbage": (200, {"Content-Type": PLAIN}, b"\xff\xffgarbage"),
    "bomb": (200, {"Content-Type": PLAIN, "Content-Encoding": "gzip"}, gzip.compress(bytes(40_000_000), 1)),
    "nothing": (204, {}, b""),
    "whole in JSON": (200, JSON, b'{"partialSuccess": {}, "more": 1}'),
    "whole by its other name": (200, JSON, b'{"partial_success": null}'),
    "whole and empty": (200, JSON, b" {}\n"),
    "echo": (400, {"Content-Type": "text/plain"}, b"not with api_key=CANARY%7Bk nor CANARY{k nor Bearer CANARYTOKEN"),
}
MIRRORS: dict[str, tuple[int, str, Callable[[str], str]]] = {  # status, kind, how the authorization is repeated
    "mirror": (401, "text/plain", lambda said: f"not with {said}."),
    "mirror in JSON": (401, JSON["Content-Type"], lambda said: _escaped({"not": said})),
    "mirror of success": (200, JSON["Content-Type"], lambda said: _escaped({"not": said})),
    "mirror of the login": (401, "text/plain", lambda said: f"not with {base64.b64decode(said.split()[-1]).decode()}."),
}


class Collector(ThreadingHTTPServer):
    """Attributes: does: what it answers next. says: more headers of it. batches, headers, paths: what came."""

    daemon_threads = True
    handler: type[BaseHTTPRequestHandler]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), self.handler)
        self.says: dict[str, str] = {}
        self.does = "ok"
        self.batches: list[ExportTraceServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def spans(self) -> list[Any]:
        return [span for batch in self.batches for r in batch.resource_spans for s in r.scope_spans for span in s.spans]

    @property
    def resource(self) -> dict[str, Any]:
        return values(self.batches[0].resource_spans[0].resource.attributes)


class Taking(BaseHTTPRequestHandler):
    server: Collector

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.paths.append(self.path)
        does, _, setting = self.server.does.partition("=")
        if does == "hang":
            time.sleep(float(setting))
            return
        if does in ANSWERS:
            status, more, answer_body = ANSWERS[does]
            self._say(status, more.get("Content-Type", ""), answer_body, more)
        elif does in MIRRORS:
            status, kind, form = MIRRORS[does]
            self._say(status, kind, form(self.headers["authorization"]).encode())
        elif does == "drip":
            self._drip()
        elif does == "page":
            self._say(200, "text/html; charset=utf-8", b"<html>hello</html>")
        elif does == "status":
            self._say(int(setting), "text/plain", b"no", self.server.says)
        elif does == "elsewhere":
            self._say(302, "text/plain", b"", {"Location": self.server.url + "/other"})
        else:
            self.server.batches.append(ExportTraceServiceRequest.FromString(body))
            answer = ExportTraceServiceResponse()
            if does == "part":
                answer.partial_success.rejected_spans = int(setting)
                answer.partial_success.error_message = "too \x1b[31mold"
            self._say(200, PLAIN, answer.SerializeToString(), self.server.says)

    def _drip(self) -> None:
        """As if there were more, and without an end."""
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(b"\n")
                self.wfile.flush()
                time.sleep(0.1)

    def do_GET(self) -> None:
        self._say(200, PLAIN, b"")

    def _say(self, status: int, kind: str, body: bytes, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _escaped(said: Any) -> str:
    """JSON as some write it."""
    return json.dumps(said).replace("/", "\\/").replace("=", "\\u003d")


Collector.handler = Taking


@contextmanager
def collecting(collector: Collector | None = None) -> Iterator[Collector]:
    with collector or Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def values(attributes: Any) -> dict[str, Any]:
    """As plain values."""
    return {one.key: value(one.value) for one in attributes}


def value(given: Any) -> Any:
    kind = given.WhichOneof("value")
    return [value(one) for one in given.array_value.values] if kind == "array_value" else getattr(given, kind)
