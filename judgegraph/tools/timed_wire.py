"""A connection that ends at a set time, however slowly bytes come: a socket's own timeout begins anew with each."""

from __future__ import annotations

import io
import socket
import ssl
import time
from http.client import HTTPConnection
from typing import Any

PORTS = {"http": 80, "https": 443}


class Pinned(HTTPConnection):
    """Connects to an address that was checked, under the name of its host; all of it is over by `end`."""

    def __init__(self, scheme: str, host: str, port: int, address: str, end: float) -> None:
        super().__init__(host, port)
        self._scheme, self._address, self._end = scheme, address, end
        self.default_port = PORTS[scheme]

    def connect(self) -> None:
        sock = socket.create_connection((self._address, self.port), timeout=left(self._end))
        try:
            if self._scheme == "https":
                sock.settimeout(left(self._end))
                sock = ssl.create_default_context().wrap_socket(sock, server_hostname=self.host)
        except BaseException:
            sock.close()
            raise
        self.sock = _Wire(sock, self._end)


class _Wire:
    """What `http.client` uses of a socket."""

    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock, self._end = sock, end

    def sendall(self, data: Any) -> None:
        self._sock.settimeout(left(self._end))
        self._sock.sendall(data)

    def makefile(self, _mode: str = "rb") -> io.BufferedReader:
        return io.BufferedReader(_Bytes(self._sock, self._end))

    def close(self) -> None:
        self._sock.close()


class _Bytes(io.RawIOBase):
    """The bytes of a socket, each waited for until the end and no longer."""

    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock, self._end = sock, end
        self._file = sock.makefile("rb", buffering=0)  # keeps the socket open where the connection lets go of it

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(left(self._end))
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


def left(end: float) -> float:
    """Seconds until then.

    Raises:
        TimeoutError: there are none.
    """
    seconds = end - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
