"""What somebody tries who wants `jg.fetch` to reach inward, to wait for ever, or to fill the memory."""

import ast
import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.tools.fetch import FetchError, is_public

Write = Callable[[bytes], object]
OK = b"HTTP/1.1 200 OK\r\n"


def drip(write: Write, data: bytes = b"X-A: b\r\n", pause: float = 0.05) -> None:
    """Byte by byte, without an end."""
    while True:
        for byte in data:
            write(bytes([byte]))
            time.sleep(pause)


def endless(write: Write, data: bytes) -> None:
    while True:
        write(data)


ANSWERS: dict[str, Callable[[Write], object]] = {
    "headers in drips": lambda w: (w(OK), drip(w)),
    "a status line in drips": lambda w: drip(w, b"H"),
    "a chunk's size in drips": lambda w: (w(OK + b"Transfer-Encoding: chunked\r\n\r\n"), drip(w, b"0")),
    "a body in drips": lambda w: (w(OK + b"Content-Length: 500\r\n\r\n"), drip(w, b"x")),
    "silence": lambda w: time.sleep(2),
    "a header without end": lambda w: (w(OK + b"X-A: "), endless(w, b"x" * 4096)),
    "headers without end": lambda w: (w(OK), endless(w, b"X-A: b\r\n" * 100)),
    "patience without end": lambda w: endless(w, b"HTTP/1.1 100 Continue\r\n\r\n"),
    "chunks without end": lambda w: (w(OK + b"Transfer-Encoding: chunked\r\n\r\n"), endless(w, b"4\r\npage\r\n")),
    "a body without end": lambda w: (w(OK + b"\r\n"), endless(w, b"page" * 1000)),
    "a lie about its length": lambda w: w(OK + b"Content-Length: 99999999999\r\n\r\npage"),
    "a negative length": lambda w: (w(OK + b"Content-Length: -1\r\n\r\n"), endless(w, b"page" * 1000)),
    "a huge chunk": lambda w: w(OK + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFF\r\npage"),
    "no number as a chunk": lambda w: w(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\npage"),
    "HTTP/0.9": lambda w: w(b"<html>page</html>"),
    "another protocol": lambda w: w(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "HTTP/9": lambda w: w(b"HTTP/9.9 200 OK\r\n\r\npage"),
    "a packed bomb": lambda w: w(OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"0" * 1_000_000)),
    "a packed transfer": lambda w: w(OK + b"Transfer-Encoding: gzip\r\nContent-Encoding: x-gzip\r\n\r\n" + b"\x1f\x8b"),
    "nothing": lambda w: None,
    "a status of its own": lambda w: w(b"HTTP/1.1 999 \x1b[2J\r\n\r\n"),
    "a redirect to nowhere": lambda w: w(b"HTTP/1.1 302 Found\r\n\r\n"),
    "a redirect to a login": lambda w: w(b"HTTP/1.1 302 Found\r\nLocation: http://a.example@127.0.0.1/\r\n\r\n"),
    "a redirect to no URL": lambda w: w(b"HTTP/1.1 302 Found\r\nLocation: http://[::1/\r\n\r\n"),
    "a redirect in Latin-1": lambda w: w(b"HTTP/1.1 302 Found\r\nLocation: http://\xb91.0.0.1/\r\n\r\n"),
    "two redirects": lambda w: w(b"HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: http://127.0.0.1/\r\n\r\n"),
    "a redirect to itself": lambda w: w(b"HTTP/1.1 307 Again\r\nLocation: ?\r\n\r\n"),
    "a redirect to a port": lambda w: w(b"HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:22/\r\n\r\n"),
    "a redirect to a file": lambda w: w(b"HTTP/1.1 303 See\r\nLocation: file:///etc/passwd\r\n\r\n"),
    "a redirect to gopher": lambda w: w(b"HTTP/1.1 308 Moved\r\nLocation: gopher://127.0.0.1:6379/_FLUSHALL\r\n\r\n"),
}  # fmt: skip


class Server:
    """Answers every connection by one of these."""

    def __init__(self) -> None:
        self.kind, self.asked = "", 0
        self._listens = socket.create_server(("127.0.0.1", 0))
        self.at = f"127.0.0.1:{self._listens.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listens.accept()
            except OSError:
                return
            self.asked += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                ANSWERS[self.kind](connection.sendall)
            except OSError:  # who asked has gone
                pass

    def close(self) -> None:
        self._listens.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.sampled(4)
def test_no_answer_keeps_it_waiting_or_fills_it(server: Server, kind: str):
    server.kind, server.asked = kind, 0
    start = time.monotonic()
    with pytest.raises(FetchError) as raised:
        jg.fetch(f"http://{server.at}/", allow=[server.at], seconds=0.3, max_bytes=100_000)
    assert time.monotonic() - start < 4
    assert server.asked <= 6
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 500


SPELLINGS = [
    "http://\u2460\u2461\u2466.0.0.1/", "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/", "http://127\u30020\u30020\u30021/",
    "http://127.0.0.1\uff0fa.example/", "http://a.example\uff20127.0.0.1/", "http://loc\u00adalhost/", "http://\u2113ocalhost/",
    "http://0177.0.0.1/", "http://017700000001/", "http://0x7f.1/", "http://0x7f.0x0.0x0.0x1/", "http://127.0.1/",
    "http://127.255.255.254/", "http://0.0.0.0/", "http://0000::1/", "http://[0:0:0:0:0:0:0:1]/", "http://[::]/",
    "http://[::127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:0:127.0.0.1]/", "http://[64:ff9b:1::7f00:1]/",
    "http://[64:ff9b::a9fe:a9fe]/", "http://[fe80::1%25lo]/", "http://[::1%lo]/", "http://[fec0::1]/", "http://[ff02::1]/",
    "http://[2001:db8::1]/", "http://[100::1]/", "http://[5f00::1]/", "http://[3fff::1]/", "http://LOCALHOST/", "http://LocalHost:80/",
    "http://a.example@127.0.0.1/", "http://127.0.0.1@a.example/", "http://@127.0.0.1/", "http://:@127.0.0.1/",
    "http://a.example:80@127.0.0.1/", "http://a.example\\@127.0.0.1/", "http://127.0.0.1\\.a.example/",
    "http:\\\\127.0.0.1/", "http:/127.0.0.1/", "http:127.0.0.1", "http:///127.0.0.1/", "http://127.0.0.1:0/",
    "http://127.0.0.1:-1/", "http://127.0.0.1:8\u0660/", "http://127.0.0.1:+80/", "http://127.0.0.1#@a.example/",
    "http://127.0.0.1?@a.example/", "http://%31%32%37.0.0.1/", "http://127.0.0.1%00.a.example/", "http://[::1", "http://]/",
    "http://a..b/", "http://.a/", "http://" + "a" * 300 + ".example/", "http://" + "a." * 2000 + "b/",
    "http://127.0.0.1\t/", "\thttp://127.0.0.1/", "ht\ntp://127.0.0.1/", " http://127.0.0.1/", "HTTP://127.0.0.1/",
    "http://u@\x1b[2Ja/", "http://\x1b[2J/", "http://\u202e/", "http://168.63.129.16/", "http://192.0.0.8/", "http://240.0.0.1/",
    "http://198.18.0.1/", "http://192.0.2.1/", "jar:http://127.0.0.1/", "unix:///run/a.sock", "http+unix://a/", "view:http://a/",
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("url", SPELLINGS, ids=[ascii(url)[:60] for url in SPELLINGS])
def test_no_spelling_opens_a_connection(url: str, monkeypatch: pytest.MonkeyPatch):
    known = socket.getaddrinfo

    def resolved(host: str, port: int, **more: int) -> object:
        """Numbers and this machine's own name as the system reads them; no question leaves the machine."""
        try:
            return known(host, port, flags=socket.AI_NUMERICHOST, **more)
        except socket.gaierror:
            if host.lower().rstrip(".") == "localhost":
                return [(2, 1, 6, "", ("127.0.0.1", port))]
            raise

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("a connection was opened"))
    with pytest.raises(FetchError) as raised:
        jg.fetch(url, seconds=2, allow=["a.example:80"])
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize("mixed", [
    ["93.184.215.14", "10.0.0.1"], ["2606:2800:21f:cb07::1", "::1"], ["93.184.215.14", "::ffff:10.0.0.1"],
    ["2606:2800:21f:cb07::1", "fe80::1%eth0"], ["64:ff9b::5db8:d70e", "64:ff9b::7f00:1"], ["169.254.169.254"], [],
])  # fmt: skip
def test_one_inward_address_among_many_is_enough(mixed: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 1, 6, "", (a, 80)) for a in mixed])
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("a connection was opened"))
    with pytest.raises(FetchError, match="no address"):
        jg.fetch("http://a.example/")


def test_a_resolver_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    silent = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: silent.wait(5) and [])
    start = time.monotonic()
    with pytest.raises(FetchError, match="not looked up in time"):
        jg.fetch("http://a.example/", seconds=0.1)
    assert time.monotonic() - start < 4
    silent.set()


@pytest.mark.parametrize("allow", ["{at}9", "x{at}", "127.0.0.1", "{port}", ":{port}", "", "*"])
def test_a_server_that_is_not_named_whole_is_not_allowed(server: Server, allow: str):
    server.kind, server.asked = "nothing", 0
    with pytest.raises(FetchError, match="no address of the public internet"):
        jg.fetch(f"http://{server.at}/", allow=allow.format(at=server.at, port=server.at.partition(":")[2]))
    assert server.asked == 0


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.215.14", "2001:4860:4860::8888", "64:ff9b::808:808", "2002:808:808::1"]
)
def test_what_is_public_is_reached(address: str):
    assert is_public(address)


def test_no_other_module_of_ours_that_judges_can_connect():
    """Models are asked over HTTP by `models`; agents, tools, prompts and helpers import nothing that connects."""
    known = {"socket", "ssl", "http", "urllib", "httpx", "requests", "aiohttp", "subprocess", "ftplib", "smtplib"}
    fetching = {"fetch.py", "addresses.py", "timed_wire.py"}
    home = Path(jg.__file__).parent
    for room in ("agents", "tools", "prompts", "compose", "graphs", "stats"):
        for path in (home / room).rglob("*.py"):
            if path.name in fetching:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                named = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not {name.partition(".")[0] for name in named} & known, path
