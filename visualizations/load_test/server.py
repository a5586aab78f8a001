"""The process that serves: who it is, and what it holds."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil


@dataclass(frozen=True)
class Held:
    """What the server's process and those that it started hold. megabytes: resident."""

    threads: int
    files: int
    megabytes: float

    def beyond(self, before: Held) -> dict[str, int]:
        """How many threads and files more than before there are, where there are any."""
        more = {name: getattr(self, name) - getattr(before, name) for name in ("threads", "files")}
        return {name: count for name, count in more.items() if count > 0}


class Server:
    """The process that listens at a loopback address. Raises ValueError for any other address.

    Nothing is known of it where it is this very process, or one that this user may not look at.
    """

    def __init__(self, url: str) -> None:
        self.url = loopback(url)
        port = urlsplit(self.url).port
        owner = _owner_of(port)
        self._process = psutil.Process(owner) if owner and owner != psutil.Process().pid else None

    def held(self) -> Held | None:
        """What it holds now; None where that can't be known."""
        if self._process is None:
            return None
        all_ = [self._process, *self._process.children(recursive=True)]
        try:
            return Held(
                sum(one.num_threads() for one in all_),
                sum(one.num_fds() for one in all_),
                sum(one.memory_info().rss for one in all_) / 2**20,
            )
        except psutil.Error:
            return None


def loopback(url: str) -> str:
    """`url` without its path, if it can only be this machine; raises ValueError."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    local = host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
    if parts.scheme != "http" or not local or parts.port is None:
        raise ValueError(f"a loopback address such as http://127.0.0.1:7860, not {url}")
    return f"http://{parts.netloc}"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _owner_of(port: int | None) -> int | None:
    """The process that listens at a port of this machine."""
    try:
        listening = [c for c in psutil.net_connections("tcp") if c.status == psutil.CONN_LISTEN and c.laddr.port == port]
    except psutil.AccessDenied:
        return None
    return next((connection.pid for connection in listening), None)
