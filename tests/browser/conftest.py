"""Chromium, driven by playwright: absent either, these tests skip."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]  # fmt: skip
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser, without a window and without a profile."""
    playwright = pytest.importorskip("playwright.sync_api", reason="skipped: no playwright")
    if not CHROMIUM:
        pytest.skip("skipped: no chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Visit:
    """A page that was opened, and all that it did: requests, dialogs, errors, windows."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.did: list[str] = []
        self.blocked: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("requestfailed", lambda request: self.blocked.append(f"{request.url}: {request.failure}"))
        page.on("console", lambda message: self.did.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.did.append(f"error: {error}"))
        page.on("popup", lambda window: self.did.append(f"window: {window.url}"))
        page.on("download", lambda file: self.did.append(f"download: {file.url}"))
        page.on("worker", lambda worker: self.did.append(f"worker: {worker.url}"))
        page.on("dialog", self._dialog)

    def _dialog(self, dialog: Any) -> None:
        self.did.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open_all(self) -> None:
        """Every <details>, from outside the page."""
        self.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


@pytest.fixture
def visit(chromium: Any) -> Callable[..., AbstractContextManager[Visit]]:
    """Opens a file, or an address on this machine: `with visit(path, width=390, dark=True) as seen`."""

    @contextmanager
    def opened(what: Path | str, width: int = 1280, dark: bool = False, bypass_csp: bool = False) -> Iterator[Visit]:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", bypass_csp=bypass_csp
        )
        try:
            seen = Visit(context.new_page())
            seen.page.goto(what.as_uri() if isinstance(what, Path) else what)
            yield seen
        finally:
            context.close()

    return opened
