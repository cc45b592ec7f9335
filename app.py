"""The entry point: `streamlit run app.py`.

Streamlit takes any folder `pages` beside its main script for an old-style site map, and then the first request to a
page of a fresh server says "Page not found". So the main script is pages/shell.py; this file names it.
"""

import asyncio
import gc
import os
import sys
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import streamlit as st
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from streamlit import file_util
from streamlit.web.server import server_util

from core import entry, home, policy
from core.runs import annotation_sets, bundle
from core.server import instance, quotas, roles
from core.store.store import StoreError
from pages import addresses, connections, shell
from pages.middleware import Door
from pages.viewer.room_routes import ROOM_ROUTES
from pages.viewer.routes import ROUTES

OPEN = "--open"
"""The argument that opens the app in a browser when it starts (`streamlit run app.py -- --open`). With `--open=lessons`
it opens that page.
"""


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """Start to index new journals with the server, and stop with it whatever was started on demand."""
    # Pages that need the store report when another process holds it.
    with suppress(StoreError):
        entry.keeper()
    await asyncio.to_thread(bundle.clean, home.journals())
    # Everything loaded now stays: a garbage collection that scans all of it would delay everyone by a tenth of a
    # second.
    gc.collect()
    gc.freeze()
    port = int(st.get_option("server.port"))
    url = server_util.get_url(server_util.get_display_address(st.get_option("server.address") or "0.0.0.0"))  # noqa: S104
    opens = next((one for one in sys.argv if one.partition("=")[0] == OPEN), "")
    addresses.announce(url, port, bool(opens), opens.partition("=")[2])
    forgetting = asyncio.create_task(purge_expired_runs())
    yield
    forgetting.cancel()
    addresses.forget(port)
    entry.close()
    instance.release()


async def purge_expired_runs() -> None:
    """Delete, every hour, data whose retention period is over."""
    while True:
        if (days := policy.limit("days_kept")) is not None:
            # If the folder is gone there is nothing to delete; it may be back in an hour.
            with suppress(home.DataDirError):
                await asyncio.to_thread(quotas.delete_old_runs, home.journals(), days)
                await asyncio.to_thread(entry.rooms().forget, time.time() - days * 24 * 3600)
                await asyncio.to_thread(annotation_sets.forget, home.journals(), time.time() - days * 24 * 3600)
                await asyncio.to_thread(entry.answers().forget_before, time.time() - days * 24 * 3600)
            with suppress(home.DataDirError):
                await asyncio.to_thread(roles.purge_expired)
        await asyncio.sleep(3600)


class PageAddress(StringConvertor):
    """The address of a page, as a part of a route."""

    regex = "[a-z-]*"


def with_our_icon(html: str) -> str:
    """Return Streamlit's page with our icon and the app's address. Otherwise its scripts would fetch the icon of each
    page from a Google server, which the browser refuses, and try every part of the address until the app answers.
    """
    icon = f"data:image/svg+xml;base64,{b64encode((addresses.PAGES / 'icon.svg').read_bytes()).decode()}"
    # Its scripts change a "shortcut icon" only.
    html = html.replace('rel="shortcut icon" href="./favicon.png"', f'rel="icon" href="{icon}"')
    here = 'window.__streamlit = {BACKEND_BASE_URL: new URL(".", location).href}'
    return html.replace("<script>", f"<script>{here}</script><script>", 1)


INDEX = with_our_icon(Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8"))
"""The HTML of every page."""


async def index(_: Request) -> HTMLResponse:
    """Answer with the HTML of a page."""
    return HTMLResponse(INDEX, headers={"cache-control": "no-cache"})


# Stored questions and answers are private: only the user who runs the app may read the files.
os.umask(0o077)
try:
    home.journals()
    instance.claim(f"http://127.0.0.1:{st.get_option('server.port')}")
except (home.DataDirError, instance.HomeInUseError) as error:
    # Print the reason in one line before the server starts.
    sys.exit(str(error))

if faults := policy.faults():
    sys.exit("\n".join(faults))

shell.shorten()
policy.set_listen_address(st.get_option("server.address"))
if policy.is_hosted():
    connections.bound()
register_url_convertor("page", PageAddress())
app = st.App(
    Path(__file__).parent / "pages" / "shell.py",
    lifespan=lifespan,
    routes=[*ROUTES, *ROOM_ROUTES, Route("/{page:page}", index)],
    middleware=[Middleware(Door)],
)

if __name__ == "__main__":
    shell.main()
