"""A report in Chromium: nothing in it acts, everything can be reached, and it is quickly there."""

import base64
import json
import time
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner
from report_runs import hostile_run, scored_run

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import fennec, sageval

pytestmark = [pytest.mark.browser, pytest.mark.long]
ROOT = Path(__file__).resolve().parents[2]
LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]
MARKERS = "[window.__ran, window.pwned, window.__pwned, window.xss].every(x => x === undefined)"


def corpus_run(shared: Path, folder: Path) -> jg.Run:
    """The hostile corpus, judged by the embedded judge; rows that are no samples are rejected."""
    lines = []
    for line in (shared / "hostile/inputs.jsonl").read_text().splitlines():
        sample = json.loads(line)["sample"]
        for one in sample if isinstance(sample, list) else [sample]:
            raw = one.get("__raw_line_base64__")
            lines.append(base64.b64decode(raw) if raw else json.dumps(one).encode())
    (folder / "hostile.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    done = CliRunner().invoke(
        main, ["run", "sageval", str(folder / "hostile.jsonl"), "-o", str(folder / "run"), "-c", "summary"]
    )
    assert done.exit_code == 0, done.output
    return jg.Run.load(folder / "run")


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attacked")
    return jg.write_report(hostile_run(folder / "run"), folder / "run.html", most=5)


@pytest.fixture(scope="module")
def corpus(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    return jg.write_report(corpus_run(shared, folder), folder / "run.html", most=5)


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    samples = list(jg.load(ROOT / "examples/forms.jsonl"))[:6]
    return jg.write_report(
        jg.evaluate(sageval(criteria="forms"), samples, out=folder / "run"), folder / "run.html", most=2
    )


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    samples = list(jg.load(ROOT / "examples/pairs.jsonl"))[:3]
    return jg.write_report(jg.evaluate(fennec(), samples, out=folder / "run"), folder / "run.html", most=1)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labelled")
    return jg.write_report(scored_run(folder / "run", 30), folder / "run.html", most=2)


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue(request.param)


ATTACKED = pytest.mark.parametrize("report", ["attacked", "corpus"], indirect=True)
ALL = pytest.mark.parametrize("report", ["forms", "pairs", "labelled", "attacked", "corpus"], indirect=True)


@ATTACKED
@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_nothing_in_it_acts(report: Path, width: int, dark: bool, visit):
    title = report.read_text().split("<title>")[1].split("</title>")[0]
    with visit(report, width, dark) as seen:
        seen.open_all()
        seen.page.mouse.wheel(0, 20_000)
        for _ in range(40):
            seen.page.keyboard.press("Tab")
        seen.page.wait_for_timeout(300)
        assert seen.requests == [report.as_uri()]
        assert seen.did == []
        assert seen.page.evaluate(MARKERS)
        assert seen.page.evaluate("document.scripts.length") == 0
        assert seen.page.evaluate("document.title") == seen.page.evaluate("t => new DOMParser()"
            ".parseFromString(t, 'text/html').body.textContent", title)  # fmt: skip
        assert seen.page.url == report.as_uri()


GOT_IN = """() => {
    const script = document.createElement('script'); script.textContent = 'window.__ran = 1';
    const image = document.createElement('img'); image.src = 'http://127.0.0.1:9/x';
    document.body.append(script, image);
    document.body.insertAdjacentHTML('beforeend', '<b onclick="window.__ran=1" id=zz>x</b>');
    document.getElementById('zz').click() }"""


def test_a_script_that_got_in_would_not_run(attacked: Path, visit):
    """The policy is the second line: what our escaping let through could still do nothing."""
    with visit(attacked) as seen:
        seen.page.evaluate(GOT_IN)
        seen.page.wait_for_timeout(200)
        assert seen.page.evaluate(MARKERS)
        assert seen.blocked == ["http://127.0.0.1:9/x: csp"]
        assert any("Content Security Policy" in line for line in seen.did)


@ALL
@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)])
def test_the_page_never_scrolls_sideways(report: Path, width: int, dark: bool, visit):
    with visit(report, width, dark) as seen:
        for opened in (False, True):
            if opened:
                seen.open_all()
            wide, window = seen.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= window


@ALL
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(report: Path, dark: bool, visit):
    axe = (files("axe_playwright_python") / "axe.min.js").read_text()
    with visit(report, dark=dark, bypass_csp=True) as seen:
        seen.page.evaluate(axe)
        for opened in (False, True):
            if opened:
                seen.open_all()
            found = seen.page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
            serious = [
                (rule["id"], rule["help"], [node["html"][:200] for node in rule["nodes"][:3]])
                for rule in found["violations"]
                if rule["impact"] in ("serious", "critical")
            ]
            assert serious == []


def test_every_fold_opens_by_keyboard(forms: Path, visit):
    with visit(forms) as seen:
        folds = seen.page.query_selector_all("summary")
        assert len(folds) > 40
        for fold in folds:  # outer ones stand before their inner ones; the way to a call stands open already
            if not fold.evaluate("one => one.parentElement.open"):
                fold.focus()
                seen.page.keyboard.press("Enter")
        assert seen.page.evaluate("[...document.querySelectorAll('details')].every(one => one.open)")


def test_the_keyboard_reaches_the_content_first_and_wide_tables(labelled: Path, visit):
    with visit(labelled, 390) as seen:
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate("document.activeElement.getAttribute('href')") == "#main"
        seen.page.keyboard.press("Enter")
        assert seen.page.evaluate("location.hash") == "#main"
        wide = seen.page.evaluate("[...document.querySelectorAll('.scroll')].every(x => x.tabIndex === 0)")
        assert wide


def test_a_reason_is_three_clicks_away(labelled: Path, visit):
    with visit(labelled) as seen:
        page = seen.page
        page.locator("nav.parts").get_by_role("link", name="Samples", exact=True).click()
        page.locator("details.group > summary").first.click()
        sample = page.locator("details.group[open] details.sample").first
        assert not sample.locator("ul").is_visible()
        sample.locator("summary").click()
        assert sample.locator("ul").is_visible()
        assert "Accuracy" in sample.inner_text()


def test_what_was_asked_is_two_clicks_from_an_opened_sample(forms: Path, visit):
    with visit(forms) as seen:
        sample = seen.page.locator("ol.samples details.sample").first
        for fold in (".id", ".trace > summary", ".k-model > summary"):
            assert not sample.locator(".k-model pre").first.is_visible()
            sample.locator(fold).first.click()
        texts = sample.locator(".k-model").first.locator("pre")
        assert texts.count() >= 2
        assert all(text.is_visible() for text in texts.all())


SEEN = """() => [...document.querySelectorAll('nav.parts a')].map(a => a.getBoundingClientRect())
    .every(box => box.width > 0 && box.left >= 0 && box.right <= innerWidth)"""


@pytest.mark.parametrize("width", [390, 700, 1280])
def test_the_navigation_shows_every_part(labelled: Path, width: int, visit):
    with visit(labelled, width) as seen:
        assert seen.page.locator("nav.parts a").count() > 6
        assert seen.page.evaluate(SEEN)
        seen.page.locator("nav.parts").get_by_role("link", name="Samples", exact=True).click()
        top, nav = seen.page.evaluate(
            "['#samples', 'nav.parts'].map(x => document.querySelector(x).getBoundingClientRect())"
            ".map((box, n) => n ? box.bottom : box.top)"
        )
        assert top >= nav - 1, "what was gone to is not under it"


BROKEN = """() => [...document.querySelectorAll('dl.about dt')].filter(one => {
    const text = document.createRange(); text.selectNodeContents(one);
    return one.textContent.length < 30 && new Set([...text.getClientRects()].map(box => box.top)).size > 1
}).map(one => one.textContent)"""


@pytest.mark.parametrize("width", [390, 1280])
def test_no_name_of_a_fact_is_broken(pairs: Path, width: int, visit):
    with visit(pairs, width) as seen:
        seen.open_all()
        assert seen.page.locator("dl.about dt", has_text="verdict").count()
        assert seen.page.evaluate(BROKEN) == []


@pytest.mark.parametrize("dark", [False, True])
def test_a_wide_table_shows_that_it_goes_on_and_its_rows_stay_low(labelled: Path, dark: bool, visit):
    """By a shadow at the side that has more; what scrolls with the table covers it at its end. Those of texts stack."""
    with visit(labelled, 390, dark) as seen:
        wide = seen.page.evaluate(
            "[...document.querySelectorAll('.scroll')].filter(x => x.scrollWidth > x.clientWidth)"
            ".map(x => getComputedStyle(x).backgroundAttachment)"
        )
        assert wide
        assert set(wide) == {"local, local, scroll, scroll"}
        rows = "main > section:not(#about) .scroll:not(.narrow) tbody tr"
        rows = f"[...document.querySelectorAll('{rows}')].map(x => x.offsetHeight)"
        assert max(seen.page.evaluate(rows)) < 120
        seen.page.emulate_media(media="print")
        assert seen.page.evaluate("getComputedStyle(document.querySelector('.scroll')).backgroundImage") == "none"


@ALL
def test_it_prints(report: Path, visit):
    with visit(report, dark=True) as seen:
        assert seen.page.pdf().startswith(b"%PDF")
        seen.page.emulate_media(media="print")
        ground = seen.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert ground == "rgb(255, 255, 255)"


@pytest.mark.timeout(300)
def test_a_thousand_samples_are_quickly_there(tmp_path: Path, visit, capsys: pytest.CaptureFixture[str]):
    run = scored_run(tmp_path / "run", 1000)
    start = time.process_time()  # others may run beside
    path = jg.write_report(run, tmp_path / "run.html")
    built = time.process_time() - start
    with visit(path) as seen:
        times = seen.page.evaluate(
            """() => ({ready: performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd,
            paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null})"""
        )
    size = path.stat().st_size
    with capsys.disabled():
        print(
            f"\n1,000 samples: {size:,} bytes, {built:.1f} s of CPU, painted {times['paint']} ms, {times['ready']} ms"
        )
    assert size < 10_000_000
    assert built < 15  # 5 s on a machine of its own
    assert times["ready"] < 3_000


@pytest.mark.parametrize("width", [390, 1280])
def test_the_findings_stand_on_the_first_screens_and_lead_to_their_numbers(labelled: Path, width: int, visit):
    with visit(labelled, width) as seen:
        rows = seen.page.locator("#findings li")
        assert 3 <= rows.count() <= 8
        top = seen.page.evaluate("document.querySelector('#findings').getBoundingClientRect().top")
        assert top < 900
        for link in rows.get_by_role("link").all():
            assert seen.page.locator(link.get_attribute("href") or "").count() == 1


def test_a_stranger_gets_from_the_data_to_the_worst_sample_and_what_to_do(tmp_path: Path, monkeypatch, visit):
    """Three commands behind the installation and two clicks: at most five and three are promised."""
    monkeypatch.chdir(tmp_path)

    def told(words: str) -> str:
        done = CliRunner().invoke(main, words.split())
        assert done.exit_code == 0, done.output
        return done.output

    start = time.monotonic()
    told(f"run sageval {ROOT / 'examples/forms.jsonl'} -n 6 -o run")
    told("report run -o run.html")
    with visit(tmp_path / "run.html") as seen:
        look = seen.page.locator("#findings li", has_text="Look first at ")
        worst = look.inner_text().split()[3]
        command = look.locator("code").inner_text()
        look.get_by_role("link").click()
        first = seen.page.locator("#samples details", has=seen.page.locator("summary", has_text=worst)).first
        first.locator("summary").first.click()
        reasons = [one for one in first.locator(".why, dd, p, td").all_inner_texts() if len(one) > 40]
        assert reasons
        assert seen.did == []
    why = told(command.removeprefix("judgegraph "))
    assert worst in why
    assert any(" ".join(one.split())[:40] in " ".join(why.split()) for one in reasons)
    assert time.monotonic() - start < 60
