"""A line to the app that a test can cut, as a proxy or a sleeping machine does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.launched import free_port


class Line:
    """Passes bytes from a port of its own to the app's, both ways, unless it is cut."""

    def __init__(self, port: int) -> None:
        self._app_port = port
        self._cut = False
        self._open: list[socket.socket] = []
        self._door = socket.create_server(("127.0.0.1", free_port()))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}/"
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """Break every connection, and refuse new ones until `mend`."""
        self._cut = True
        while self._open:
            _close(self._open.pop())

    def mend(self) -> None:
        self._cut = False

    def close(self) -> None:
        self.cut()
        _close(self._door)

    def _serve(self) -> None:
        while True:
            try:
                page, _ = self._door.accept()
            except OSError:
                return
            if self._cut:
                _close(page)
                continue
            app = socket.create_connection(("127.0.0.1", self._app_port))
            self._open += [page, app]
            for source, sink in ((page, app), (app, page)):
                threading.Thread(target=_pass_on, args=(source, sink), daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    _close(source)
    _close(sink)


def _close(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()


@contextmanager
def line_to(port: int) -> Iterator[Line]:
    """A line to the app at `port`."""
    line = Line(port)
    try:
        yield line
    finally:
        line.close()
