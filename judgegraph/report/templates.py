"""The templates of the page: every text that goes into one is made visible and escaped, in this one place."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from judgegraph.report.blocks import Section
from judgegraph.report.charts import CHART_CSS
from judgegraph.report.drawing.look import DRAWING_CSS
from judgegraph.report.samples.detail import Detail
from judgegraph.report.samples.fitted import Shown
from judgegraph.report.samples.lists import Listing
from judgegraph.report.samples.sample import SampleView
from judgegraph.report.visible import finalize


@cache
def css() -> str:
    """All of the page's style. A "<" in it would be the end of its element."""
    own = files("judgegraph.report").joinpath("page/page.css").read_text(encoding="utf-8")
    return f"\n{own}{DRAWING_CSS}{CHART_CSS}"


@cache
def environment() -> Environment:
    """Autoescape is on for every template, and a name that is not given is an error."""
    made = Environment(
        loader=PackageLoader("judgegraph.report", "page"), autoescape=True, undefined=StrictUndefined,
        finalize=finalize, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.globals["kind"] = lambda block: type(block).__name__
    made.globals["svg"] = lambda picture: Markup(picture.svg)  # made by our charts, which escape what they are given
    return made


class Templates:
    """The page's parts as HTML."""

    def __init__(self) -> None:
        self._env = environment()
        self._blocks: Any = self._env.get_template("blocks.html").module
        self._sample: Any = self._env.get_template("sample.html").module

    def head(
        self, about: Mapping[str, Any], facts: Sequence[tuple[str, str]], anchors: Iterable[tuple[str, str]]
    ) -> str:
        """Up to the first section."""
        digest = b64encode(sha256(css().encode()).digest()).decode()
        return self._env.get_template("head.html").render(
            about=about, facts=facts, anchors=list(anchors), css=Markup(css()), digest=digest
        )

    def sections(self, parts: Iterable[Section]) -> list[str]:
        """Each as HTML."""
        return [str(self._blocks.section(part)) for part in parts]

    def sample(self, view: SampleView, number: int) -> str:
        """One with its whole trace; its anchor is made of its number, never of data."""
        return str(self._sample.whole(view, number))

    def short(self, view: SampleView, whole: int | None) -> str:
        """One of all; `whole` is the number of the listed sample that tells more."""
        return str(self._sample.short(view, whole))

    def samples(
        self, lists: Sequence[Listing], listed: Mapping[str, str], places: Mapping[str, int], shown: Shown,
        detail: Detail,
    ) -> str:  # fmt: skip
        """The part of the page with all samples; each listed one is told in the first list that has it.

        Later lists have it in its rank too, as a link.
        """
        met: set[str] = set()
        found = []
        for listing in lists:
            ranked: list[tuple[Markup | None, int, str, str]] = []  # None: told above
            for name, why in listing.samples:
                if name in listed:
                    ranked.append((None if name in met else Markup(listed[name]), places[name], name, why))
                    met.add(name)
            found.append((listing, ranked))
        groups = [(title, count, [Markup(html) for html in written]) for title, count, written in shown.groups]
        return self._env.get_template("samples.html").render(lists=found, groups=groups, shown=shown, detail=detail)

    def foot(self) -> str:
        """The page's end."""
        return "</main>\n</body>\n</html>\n"
