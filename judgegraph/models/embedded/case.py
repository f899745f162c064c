"""One sample as its tagged sections show it, and what kind of sample it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from judgegraph.models.embedded.kinds import OUTPUT, QUERY, SOURCE, Kind, first_of, loads, parts
from judgegraph.models.embedded.source import Alignment, Source, align, source_of
from judgegraph.models.embedded.survey import Survey, survey_of
from judgegraph.models.embedded.text import Text, read_output, read_source


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
    def empty(self) -> bool:
        """Nothing that could be judged: no word, a lone label, or a promise of a solution without one."""
        words = self.text.words
        if not words or not any(c.isalpha() for w in words for c in w):
            return True
        bare = self.output.strip()
        foreign = sum(c.isalpha() and not c.isascii() for c in bare) * 2 > len(bare) and self.query.isascii()
        short = len(words) <= 9
        opener = short and bool(
            re.match(r"(?:thought process|let'?s (?:solve|think)|(?:final )?(?:solution|answer)\W*$)", bare, re.I)
        )
        return opener or (short and bare.endswith(":")) or (short and foreign and (self.source + "a").isascii())


def case_of(sections: Mapping[str, str], output: str | None = None) -> Case:
    """The case in these sections; `output` puts another text in place of the judged one (a rival)."""
    judged = first_of(sections, OUTPUT) if output is None else output
    return _case(judged, *parts(sections, judged, first_of(sections, SOURCE), first_of(sections, QUERY)))


@lru_cache(maxsize=64)
def _case(output: str, kind: Kind, source: str, query: str, fact: str) -> Case:
    grounds = "\n".join(dict.fromkeys(t for t in (source, query, fact) if t.strip()))
    return Case(kind=kind, output=output, source=source, query=query, fact=fact, grounds=grounds)
