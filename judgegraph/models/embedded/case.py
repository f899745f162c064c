"""One sample as its tagged sections show it, and what kind of sample it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from judgegraph.models.embedded.kinds import OUTPUT, QUERY, SOURCE, Kind, first_of, loads, parts
from judgegraph.models.embedded.source import Alignment, Source, align, source_of
from judgegraph.models.embedded.survey import Survey, survey_of
from judgegraph.models.embedded.text import Text, read_output, read_source

_LOOKED_AT = 4000  # characters whose script is looked at
_LATIN = ("LATIN", "FULLWIDTH LATIN")


@dataclass(frozen=True, eq=False)
class Case:
    """What is judged: texts as they stand in their sections, cut up when first looked at."""

    kind: Kind
    output: str
    source: str
    query: str
    fact: str
    grounds: str  # everything an output may draw on, for corrections and names

    @cached_property
    def text(self) -> Text:
        if self.survey is not None:
            return read_output("\n".join(self.survey.strings))
        return read_output(self.output)

    @cached_property
    def src(self) -> Source:
        return source_of(self.source)

    @cached_property
    def asked(self) -> Text:
        return read_source(self.query)

    @cached_property
    def ground(self) -> Source:
        return source_of(self.grounds)

    @cached_property
    def alignment(self) -> Alignment:
        return align(self.text, self.src)

    @cached_property
    def survey(self) -> Survey | None:
        return survey_of(loads(self.output)) if self.kind == "form" else None

    @cached_property
    def figures(self) -> bool:
        """Figures without a word: a bare "4" may be right or wrong, and text features cannot tell."""
        return any(map(str.isdigit, self.output)) and not any(map(str.isalpha, self.output))

    @cached_property
    def script(self) -> str:
        """Which of the texts is of another script than Latin, "" for none: my word features read English."""
        read = "\n".join(self.survey.strings) if self.survey is not None else self.output
        beside = ("source", self.source) if self.source.strip() else ("request", self.query)
        return next((name for name, text in (("text", read), beside) if _foreign(text)), "")

    @property
    def empty(self) -> bool:
        """Nothing that could be judged."""
        return bool(self.hollow)

    @cached_property
    def hollow(self) -> str:
        """Why there is nothing to judge: no word, a lone label, or a promise of a solution without one; else ""."""
        words = self.text.words
        if not any(c.isalpha() for w in words for c in w):
            return "all of it speaks to a grader and was set aside" if self.text.orders else "it holds no word"
        bare, short = self.output.strip(), len(words) <= 9
        opener = r"(?:thought process|let'?s (?:solve|think)|(?:final )?(?:solution|answer)\W*$)"
        if short and (bare.endswith(":") or re.match(opener, bare, re.I)):
            return "it says nothing: it opens an answer, or is a label, and what it announces is missing"
        if len(words) < 5 and _foreign(bare) and self.query.isascii() and self.source.isascii():
            return "it says nothing: a few signs of another script than that of what was asked"
        return ""


def _foreign(text: str) -> bool:
    """Most letters of its beginning are of another script than Latin."""
    letters = [c for c in text[:_LOOKED_AT] if c.isalpha()] if not text.isascii() else []
    return sum(not unicodedata.name(c, "").startswith(_LATIN) for c in letters) * 2 > len(letters)


def case_of(sections: Mapping[str, str], output: str | None = None) -> Case:
    """The case in these sections; `output` puts another text in place of the judged one (a rival)."""
    judged = first_of(sections, OUTPUT) if output is None else output
    return _case(judged, *parts(sections, judged, first_of(sections, SOURCE), first_of(sections, QUERY)))


@lru_cache(maxsize=64)
def _case(output: str, kind: Kind, source: str, query: str, fact: str) -> Case:
    grounds = "\n".join(dict.fromkeys(t for t in (source, query, fact) if t.strip()))
    return Case(kind=kind, output=output, source=source, query=query, fact=fact, grounds=grounds)
