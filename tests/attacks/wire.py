"""A program that speaks Streamlit's own protocol to a served app, as an attacker does. It has no browser, so it sees
only what the server sends.
"""

from __future__ import annotations

import http.client
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.browser.conftest import Server
from tests.support.waiting import PATIENCE


class Reply(NamedTuple):
    status: int
    words: str
    headers: dict[str, str]


def send(app: Server, method: str, path: str, body: bytes = b"", **headers: str) -> Reply:
    """Send one request, outside of any page."""
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=PATIENCE)
    try:
        connection.request(method, path, body or None, headers)
        reply = connection.getresponse()
        heard = {name.lower(): value for name, value in reply.getheaders()}
        words = b""
        # A client refused while sending may find the connection closed after the status.
        with suppress(ConnectionResetError):
            words = reply.read()
        return Reply(reply.status, words.decode("utf-8", "replace"), heard)
    finally:
        connection.close()


def cookie(app: Server) -> str:
    """The cookies that the server sets when a page is requested."""
    return send(app, "GET", "/").headers["set-cookie"].partition(";")[0]


class Tab:
    """A session like that of a browser tab; use it in a `with`, which ends it."""

    def __init__(self, app: Server, cookies: str = "", **headers: str) -> None:
        headers |= {"Cookie": cookies} if cookies else {}
        self._connecting = connect(
            f"ws://127.0.0.1:{app.port}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            additional_headers=headers,
            max_size=None,
            open_timeout=PATIENCE,
        )
        self.session = ""

    def __enter__(self) -> Tab:
        self._socket = self._connecting.__enter__()
        return self

    def __exit__(self, *fault: Any) -> None:
        self._connecting.__exit__(*fault)

    def run(self, page: str = "", query: str = "", widgets: Iterable[WidgetState] = ()) -> list[Any]:
        """Run the script with what was typed and pressed. Returns every element that it drew."""
        asked = BackMsg()
        asked.rerun_script.query_string = query
        asked.rerun_script.page_name = page
        asked.rerun_script.widget_states.widgets.extend(widgets)
        self._socket.send(asked.SerializeToString())
        drawn: list[Any] = []
        while True:
            said = ForwardMsg()
            data = self._socket.recv(timeout=PATIENCE)
            assert isinstance(data, bytes)
            said.ParseFromString(data)
            kind = said.WhichOneof("type")
            if kind == "new_session":
                self.session = said.new_session.initialize.session_id
                drawn.clear()
            elif kind == "delta" and said.delta.WhichOneof("type") == "new_element":
                drawn.append(said.delta.new_element)
            # A run that requests another one, as when it takes the host's code, is not the last.
            elif kind == "script_finished" and said.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return drawn

    def sign_in(self, code: str, page: str = "") -> list[Any]:
        """Type a code where the page asks for one. Returns every element that it then drew."""
        drawn = self.run(page)
        field = next(one.text_input.id for one in drawn if one.text_input.id.endswith("sign-in-code"))
        press = next(one.button.id for one in drawn if one.button.id.endswith("sign-in-go"))
        typed = WidgetState(id=field, string_value=code)
        return self.run(page, widgets=[typed, WidgetState(id=press, trigger_value=True)])

    def want(self, file: str) -> None:
        """Request a file that a button would make when it is clicked; returns once that is refused or done."""
        asked = BackMsg()
        asked.backend_operation_request.session_id = self.session
        asked.backend_operation_request.request_id = "1"
        asked.backend_operation_request.deferred_file.file_id = file
        self._socket.send(asked.SerializeToString())
        said = ForwardMsg()
        while said.WhichOneof("type") != "backend_operation_response":
            data = self._socket.recv(timeout=PATIENCE)
            assert isinstance(data, bytes)
            said.ParseFromString(data)

    def close(self) -> None:
        """End it before its `with` does."""
        self._socket.close()

    def say(self, data: bytes) -> None:
        """Send data that may not be a message at all."""
        self._socket.send(data)
