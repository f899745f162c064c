"""Every page is in the index, and every link leads somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md") if path.name != "README.md")
LINKING = sorted(path.relative_to(ROOT).as_posix() for path in (
    *DOCS.glob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")
))  # fmt: skip
FENCED = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.M | re.S)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(<?([^()\s<>]+)>?(?: \"[^\"]*\")?\)")


def links(text: str) -> list[str]:
    """Where a text leads, but for what stands in code."""
    return LINK.findall(CODE.sub("", FENCED.sub("", text)))


def headings(text: str) -> set[str]:
    """The anchors of its titles, as GitHub makes them: a title that comes again gets a number."""
    found: dict[str, int] = {}
    for title in re.findall(r"^#{1,6} +(.*?)(?: +#+)?$", FENCED.sub("", text), re.M):
        bare = LINK.sub("]", title).translate(dict.fromkeys(map(ord, "[]`*")))
        slug = re.sub(r"[^\w\- ]", "", bare.lower()).replace(" ", "-")
        number = found[slug] = found.get(slug, -1) + 1
        if number:
            found[f"{slug}-{number}"] = 0
    return set(found)


def lost(path: Path, text: str) -> list[str]:
    """Links of a page that lead nowhere: no file, or no such title in it."""
    wrong = []
    for link in links(text):
        file, _, title = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if re.match(r"[a-z]+:", link):
            continue
        if target == path:
            there = headings(text)
        elif target.exists() and target.is_relative_to(ROOT):
            there = headings(target.read_text()) if title else set()
        else:
            wrong.append(link)
            continue
        if title and title not in there:
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("file", LINKING)
def test_every_link_leads_to_a_file_and_a_title(file: str):
    assert lost(ROOT / file, (ROOT / file).read_text()) == []


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_in_the_index_with_a_line(page: str):
    rows = (DOCS / "README.md").read_text().splitlines()
    assert [row for row in rows if re.fullmatch(rf"\| \[{re.escape(page)}\]\({re.escape(page)}\) \| .{{10,}} \|", row)]


def test_a_newcomer_is_led_to_every_page():
    assert set(PAGES) - {"start.md"} <= {link.partition("#")[0] for link in links((DOCS / "start.md").read_text())}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[a](start.md) [b](https://example.org/x#y) `[c](no.md)`\n\n```text\n[d](no.md)\n```\n", []),
        ("[a](no.md) and [b](../../outside.md)", ["no.md", "../../outside.md"]),
        ("# One, *two* & `three`\n# Same\n# Same\n[a](#one-two--three) [b](#same-1) [c](#same-2)", ["#same-2"]),
        ("[a](start.md#install) [b](start.md#instal)", ["start.md#instal"]),
        ("```text\n# Not a title\n```\n[a](#not-a-title)", ["#not-a-title"]),
    ],
    ids=["to a page, to the web, in code", "to nowhere", "to titles here", "to titles there", "a fence has no titles"],
)
def test_a_link_that_leads_nowhere_is_found(text: str, wrong: list[str]):
    assert lost(DOCS / "new.md", text) == wrong
