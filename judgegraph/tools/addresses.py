"""Which address a host has, and whether it is one of the public internet."""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from typing import Any

from judgegraph.errors import JudgegraphError, one_line

UNICAST = ipaddress.IPv6Network("2000::/3")  # all that is given out of IPv6 to hosts of the public internet
TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # an IPv4 address behind NAT64
SET_APART = tuple(map(ipaddress.ip_network, (  # by its use, whatever a Python's own tables say
    "192.0.0.0/24", "192.88.99.0/24", "3fff::/20",
    "168.63.129.16/32",  # a cloud's own host, under a number of the internet
)))  # fmt: skip


class FetchError(JudgegraphError, OSError):
    """A page that was not fetched, and why."""


def address_of(host: str, port: int, end: float, *, allowed: bool) -> str:
    """The address to connect to; refused where any of the host's is not public, as which one is tried is chance.

    Args:
        end: when to wait for an answer no longer, by `time.monotonic`. allowed: it may be an address of one's own.

    Raises:
        FetchError: no address, one that is not public, or no answer in time.
    """
    shown = one_line(host, 80)
    found = [str(info[4][0]) for info in _looked_up(host, port, end, shown)]
    if not found:
        raise FetchError(f"{shown}: no address found")
    inward = [one for one in found if not is_public(one)]
    if inward and not allowed:
        raise FetchError(f"{shown} is {inward[0]}, which is no address of the public internet")
    return found[0]


def _looked_up(host: str, port: int, end: float, shown: str) -> list[Any]:
    """What the resolver says. It takes no limit of time, so it works in a thread that nobody waits for too long."""
    said: list[list[Any]] = []
    wrong: list[Exception] = []

    def ask() -> None:
        try:
            said.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:
            wrong.append(error)

    thread = threading.Thread(target=ask, daemon=True, name="judgegraph-look-up")
    thread.start()
    thread.join(max(0.0, end - time.monotonic()))
    if wrong:
        raise FetchError(f"{shown}: no address found ({one_line(wrong[0])})")
    if not said:
        raise FetchError(f"{shown}: not looked up in time")
    return said[0]


def is_public(address: str) -> bool:
    """Whether an IPv4 or IPv6 address, and the IPv4 address within it, is one of the public internet."""
    one = ipaddress.ip_address(address.partition("%")[0])
    if any(one in network for network in SET_APART):
        return False
    if isinstance(one, ipaddress.IPv4Address):
        return one.is_global and not one.is_multicast and not one.is_reserved
    if one in TRANSLATED:
        return is_public(str(ipaddress.IPv4Address(int(one) & 0xFFFFFFFF)))
    within = one.sixtofour or (one.teredo[1] if one.teredo else None)
    return one in UNICAST and one.is_global and (within is None or is_public(str(within)))
