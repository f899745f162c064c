"""The view in Chromium: attacks stay texts, all of it is reached by keyboard, no width is too small."""

import threading
from collections.abc import Iterator
from importlib.resources import files

import pytest
from report_runs import hostile_run, scored_run

from judgegraph.cli.folder import _listening

uvicorn = pytest.importorskip("uvicorn", reason="skipped: no uvicorn (the extra 'view')")
from judgegraph.webview.app import View  # noqa: E402

pytestmark = [pytest.mark.browser, pytest.mark.long]
LOOKS = [(1280, False), (390, True)]
MARKERS = "[window.__ran, window.pwned, window.__pwned, window.xss].every(x => x === undefined)"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Two runs, one of attacks and one of scores, looked at on a free port."""
    folder = tmp_path_factory.mktemp("view")
    hostile_run(folder / "attacks")
    scored_run(folder / "scores", 120)
    view = View([folder / "attacks", folder / "scores"], labels=folder / "mine.jsonl")
    view.start()
    view.wait()
    listener = _listening("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(view.guarded, log_level="warning", access_log=False, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    listener.close()
    view.close()


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_no_attack_in_a_table_or_a_sample_acts_and_nothing_scrolls_sideways(address, visit, width, dark):
    with visit(f"{address}/runs/0", width, dark) as seen:
        names = seen.page.eval_on_selector_all("table.list th a", "links => links.map(a => a.href)")
        assert names
        for link in [None, *names[:12]]:
            if link:
                seen.page.goto(link)
                seen.open_all()
            wide, window = seen.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= window, link
            assert seen.page.evaluate(MARKERS)
            assert seen.page.evaluate("document.scripts.length") == 0
        assert seen.did == []
        assert {url.split("/")[2] for url in seen.requests} == {address.split("/")[2]}


def test_a_stranger_finds_the_worst_sample_marks_it_and_goes_on_by_keyboard(address, visit):
    with visit(f"{address}/", 1280) as seen:
        page = seen.page
        page.get_by_role("link", name="scores").click()
        page.get_by_label("Order").select_option("least")
        page.get_by_role("button", name="Show").press("Enter")
        page.wait_for_url("**order=least**")
        page.locator("table.list th a").first.press("Enter")
        page.wait_for_url("**/sample?**")
        first = page.url
        page.locator("#labels input[inputmode=decimal]").first.fill("2")
        page.get_by_role("button", name="Write").press("Enter")
        page.wait_for_url("**outcome=**")
        assert "1 written to" in page.content()
        page.get_by_role("link", name="next:").press("Enter")
        page.wait_for_url(lambda url: url != first and "outcome" not in url)
        assert seen.did == []


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious_in_the_view(address, visit, dark):
    axe = (files("axe_playwright_python") / "axe.min.js").read_text()
    for path in ("/", "/runs/1", "/runs/1?order=least&page=2", "/runs/0/suggestions"):
        with visit(f"{address}{path}", dark=dark, bypass_csp=True) as seen:
            _no_violations(seen, axe, path)
            link = seen.page.locator("table.list th a")
            if link.count():
                link.first.click()
                seen.page.wait_for_url("**/sample?**")
                seen.open_all()
                _no_violations(seen, axe, f"a sample of {path}")


def _no_violations(seen, axe: str, where: str) -> None:
    seen.page.evaluate(axe)
    found = seen.page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    serious = [(one["id"], one["nodes"][0]["html"][:160]) for one in found["violations"]
               if one["impact"] in ("serious", "critical")]  # fmt: skip
    assert not serious, (where, serious)
