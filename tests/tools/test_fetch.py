"""A fetch that cannot be turned inward: by address, by name, by redirect, by scheme, by size or by time."""

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import judgegraph as jg
from judgegraph.tools.fetch import FetchError, is_public


class Handler(BaseHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self):
        self.asked.append(self.path)
        kind, _, rest = self.path.lstrip("/").partition("/")
        if kind == "to":
            self.send_response(302)
            self.send_header("Location", rest)
            self.end_headers()
            return
        self.send_response(404 if kind == "lost" else 200)
        if kind == "packed":
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        try:
            for _ in range(int(rest or 1)):
                self.wfile.write(b"x" if kind == "drip" else b"page")
                self.wfile.flush()
                if kind == "drip":
                    time.sleep(0.1)
        except OSError:  # who asked has gone
            pass

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    Handler.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


def test_a_server_of_ones_own_is_asked_where_it_is_allowed_by_name(server):
    page = jg.fetch(f"http://{server}/page", allow=[server])
    assert (page.status, page.kind, page.text) == (200, "text/plain", "page")
    assert jg.fetch(f"http://{server}/to//page", allow=[server]).url == f"http://{server}/page"


def test_it_is_refused_without_that_and_nothing_is_sent(server):
    with pytest.raises(FetchError, match="no address of the public internet"):
        jg.fetch(f"http://{server}/page")
    assert Handler.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0/", "http://[::1]/",
        "http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://10.0.0.1/",
        "http://192.168.1.1/", "http://172.16.0.1/", "http://169.254.169.254/latest/meta-data/", "http://100.64.0.1/",
        "http://[fe80::1]/", "http://[fc00::1]/", "http://224.0.0.1/", "http://255.255.255.255/", "http://localhost./",
    ],
)  # fmt: skip
def test_no_inward_address_is_asked_however_it_is_written(url, monkeypatch):
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("a connection was opened"))
    with pytest.raises(FetchError, match="no address"):
        jg.fetch(url)


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://a.example/", "gopher://a.example/", "http:///x", "x", "", "http://a:99999/", "//a/b",
     "http://user:secret@a.example/", "http://a.example/a b", "http://a.example/\r\nHost: b", "data:text/plain,x"],
)  # fmt: skip
def test_only_plain_urls_of_the_web_are_fetched(url):
    with pytest.raises(FetchError) as raised:
        jg.fetch(url)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("to", ["http://127.0.0.1:1/", "file:///etc/passwd", "http://169.254.169.254/", "//localhost/"])
def test_a_redirect_is_checked_like_the_first_url(server, to):
    with pytest.raises(FetchError, match=r"no address|only http"):
        jg.fetch(f"http://{server}/to/{to}", allow=[server])
    assert len(Handler.asked) == 1


def test_a_name_with_one_inward_address_is_refused_and_is_looked_up_once(monkeypatch):
    asked = []

    def both(host, port, **_):
        asked.append(host)
        return [(2, 1, 6, "", (a, port)) for a in ("93.184.215.14", "127.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with pytest.raises(FetchError, match=r"is 127\.0\.0\.1"):
        jg.fetch("http://a.example/")
    assert asked == ["a.example"]


def test_the_connection_goes_to_the_address_that_was_checked(server, monkeypatch):
    host, _, port = server.partition(":")
    opened, connect = [], socket.create_connection
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", (host, int(port)))])
    monkeypatch.setattr(socket, "create_connection", lambda to, **k: (opened.append(to), connect(to, **k))[1])
    jg.fetch(f"http://a.example:{port}/page", allow=[f"a.example:{port}"])
    assert opened == [(host, int(port))]


@pytest.mark.parametrize(
    ("path", "settings", "said"),
    [
        ("page/300", {"max_bytes": 1000}, "over 1,000 bytes"),
        ("drip/100", {"seconds": 0.4}, "not fetched in time"),
        ("lost", {}, "status 404"),
        ("packed", {}, "packed content"),
        ("to//to//to//to//to//to//to//page", {}, "over 5 redirects"),
    ],
)
def test_size_time_and_hops_are_bounded(server, path, settings, said):
    start = time.monotonic()
    with pytest.raises(FetchError, match=said):
        jg.fetch(f"http://{server}/{path}", allow=[server], **settings)
    assert time.monotonic() - start < 5


def test_public_addresses_are_public():
    assert all(map(is_public, ("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e")))
