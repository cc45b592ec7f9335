"""Cold start to first paint: from starting the server to a page with its heading in a browser, against a bare app."""

import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, QUIET, Server

ROUNDS = 3


def main() -> None:
    if CHROMIUM is None:
        sys.exit("This benchmark needs Chromium.")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        colds, warms, bares = [], [], []
        bare = Path(folder) / "bare.py"
        bare.write_text("import streamlit as st\nst.title('bare')\n")
        for number in range(ROUNDS):
            for script, times in (("app.py", colds), (str(bare), bares)):
                page = browser.new_page()
                began = time.perf_counter()
                server = Server(Path(folder) / f"home{number}", script=script)
                page.goto(f"{server.url}/ask" if script == "app.py" else server.url)
                page.wait_for_selector("h1")
                times.append(time.perf_counter() - began)
                if script == "app.py":
                    began = time.perf_counter()
                    page.reload()
                    page.wait_for_selector("h1")
                    warms.append(time.perf_counter() - began)
                page.close()
                server.stop()
        browser.close()
    cold, warm, least = min(colds), min(warms), min(bares)
    print(f"cold start to the Ask page {cold:5.2f} s, {cold / least:.2f} x an app of one line ({least:.2f} s)")
    print(f"reload of the Ask page     {warm:5.2f} s, {warm / least:.2f} x")


if __name__ == "__main__":
    main()
