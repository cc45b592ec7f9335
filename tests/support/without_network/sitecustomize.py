"""In `PYTHONPATH`: a machine that reaches nothing but itself."""

import socket

_connect = socket.socket.connect


def connect(self, address):
    if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1"):
        raise OSError("there is no network here")
    return _connect(self, address)


socket.socket.connect = connect
