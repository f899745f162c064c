"""The site of `make site` has every page of docs/, each in one place."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = {"index.md", "reference.md"}  # by docs/site.py


def test_the_site_leads_to_every_page_once():
    listed = re.findall(r"^ +- [^:\n]+: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert sorted(listed) == sorted(pages | MADE)
