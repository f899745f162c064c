"""Charts of a run as SVG, for a notebook or a paper: the same ones that the page shows, and its overlap and cost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import combinations, groupby
from pathlib import Path
from typing import Any

from judgegraph.errors import ConfigError, printable
from judgegraph.meta.criterion_worth import rank_correlation
from judgegraph.meta.result import Agreement
from judgegraph.report.answers import DRAWN, agreement_of, agreement_plot, charts, charts_of, matched_with_people
from judgegraph.report.answers import DRAWN as BESIDE
from judgegraph.report.charts import Measure, bars, interval_plot, matrix
from judgegraph.report.figures import mean_share
from judgegraph.report.findings import MOST, answers_by_criterion
from judgegraph.report.sections_run import Tally, tally_of
from judgegraph.runs.run import Run
from judgegraph.shown import draws
from judgegraph.traces.read import NodeTime, node_times
from judgegraph.views.blocks import Picture, counted, in_line

GAP = 16  # pixels between charts
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


@dataclass(frozen=True, repr=False)
class Plot:
    """One or several charts, one below the other.

    Attributes:
        pictures: each with its SVG and a sentence that says the same. note: what is not drawn, "" where all is.
    """

    pictures: tuple[Picture, ...]
    note: str = ""

    @property
    def svg(self) -> str:
        """All of them as one SVG file: no script, no style, nothing is fetched."""
        if len(self.pictures) == 1:
            return self.pictures[0].svg
        sizes = [_size(one.svg) for one in self.pictures]
        wide, high = max(size[0] for size in sizes), sum(size[1] + GAP for size in sizes) - GAP
        inner, y = [], 0.0
        for one, (_, tall) in zip(self.pictures, sizes, strict=True):
            inner.append(one.svg.replace("<svg ", f'<svg x="0" y="{y:g}" ', 1))
            y += tall + GAP
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}"'
        return f'{head} height="{high:g}">{"".join(inner)}</svg>'

    def save(self, path: str | Path) -> Path:
        """Write the SVG file; gives its path.

        Raises:
            ConfigError: it does not end in .svg, or cannot be written.
        """
        found = Path(path)
        if found.suffix.lower() != ".svg":
            raise ConfigError(f"{path}: a plot is written as .svg")
        try:
            found.write_text(self.svg, encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from None
        return found

    def _repr_html_(self) -> str:
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f'<div class="jg-shown">{"".join(one.svg for one in self.pictures)}{note}</div>'

    def __str__(self) -> str:
        return printable("\n".join(filter(None, [*(one.alt for one in self.pictures), self.note])))

    __repr__ = __str__  # a notebook keeps it beside the drawing


def _size(svg: str) -> tuple[float, float]:
    found = _SIZE.search(svg)
    assert found is not None  # our charts say it
    return float(found[1]), float(found[2])


@dataclass(frozen=True)
class Plots:
    """The charts of a run; each method raises ConfigError where the run has nothing to draw, and says why."""

    run: Run

    @cached_property
    def _tally(self) -> Tally:
        return tally_of(self.run)

    def scores(self) -> Plot:
        """How the answers of each criterion lie on their scale, drafts beside finals (SAGEval, Figure 3a)."""
        charts = charts_of(self.run, self._tally)
        return _plot(charts, "no answer could be read", _first(len(charts), len(self._tally.summary.shown), "line"))

    def critic(self) -> Plot:
        """The share of scores that a critic changed, of those that it looked at, with Wilson's 95 % intervals."""
        found: dict[str, list[Measure]] = {}
        for one in self._tally.critiques.reviews.values():
            if one.n:
                side = " (rival)" if one.of == "rival" else ""
                value, ends, n = mean_share({1.0: one.changed, 0.0: one.n - one.changed})
                found.setdefault(one.critic, []).append(Measure(one.criterion + side, value, ends.low, ends.high, n))
        charts = [
            interval_plot(f"Scores changed by {in_line(critic, 40)}", rows[:DRAWN], 0.0, 1.0, 0.0, shares=True)
            for critic, rows in found.items()
        ]
        most = max(map(len, found.values()), default=0)
        return _plot(charts, "no critic looked at a score", _first(DRAWN, most, "criterion", "criteria"))

    def agreement(self) -> Plot:
        """How far the answers agree with people, with intervals: Spearman, of labels and verdicts accuracy."""
        if not self._tally.labelled.items:
            raise ConfigError("nothing to plot: people judged no sample of the run; give columns human.CRITERION")
        found = agreement_of(self.run, self._tally)
        if not isinstance(found, Agreement):
            raise ConfigError(f"nothing to plot: {found}")
        kinds = [list(rows) for _, rows in groupby(found.rows, key=lambda row: row.kind)]
        most = max((sum(row.statistic == rows[0].statistic for row in rows) for rows in kinds), default=0)
        charts = [agreement_plot(rows) for rows in kinds]
        return _plot(charts, "no agreement can be told", _first(DRAWN, most, "row"))

    def people(self) -> Plot:
        """Answers beside people's judgements: how both lie on their scale, and which answer met which judgement.

        Of numbers with few values and of labels and verdicts a table of both, of other numbers points.
        """
        if not self._tally.labelled.items:
            raise ConfigError("nothing to plot: people judged no sample of the run; give columns human.CRITERION")
        agreed = agreement_of(self.run, self._tally)
        if not isinstance(agreed, Agreement):
            raise ConfigError(f"nothing to plot: {agreed}")
        found = matched_with_people(self.run, self._tally, agreed)
        drawn = [chart for one in found[:BESIDE] for chart in charts(one)]
        return _plot(drawn, "nothing can be compared", _first(BESIDE, len(found), "criterion", "criteria"))

    def overlap(self) -> Plot:
        """Spearman's rank correlation of the answers by each two criteria, of twelve at most; each on ten samples."""
        names, values = answers_by_criterion(self._tally.some.held)
        if len(names) < 2:
            raise ConfigError("nothing to plot: fewer than two criteria with ten answers that differ")
        shown = names[:MOST]
        pairs = {(a, b): rank_correlation(values[a], values[b])[0] for a, b in combinations(shown, 2)}
        note = _first(MOST, len(names), "criterion", "criteria")
        return Plot((matrix("Rank correlation of criteria", shown, pairs),), note)

    def cost(self) -> Plot:
        """What each node took: USD, in millionths, where calls have a price; else tokens of paid calls."""
        times = {name or "outside of nodes": one for name, one in node_times(self.run).items() if one.calls}
        if not times:
            raise ConfigError("nothing to plot: no spans with model calls were recorded")
        priced = any(one.usd for one in times.values())
        title = "USD by node, in millionths" if priced else "Tokens by node, of paid calls"
        rows = sorted(((name, _cost(one, priced)) for name, one in times.items()), key=lambda row: -row[1])
        if not any(cost for _, cost in rows):
            raise ConfigError("nothing to plot: all replies lay in the ledger, so that no call was paid")
        unpriced = sum(one.unpriced for one in times.values()) if priced else 0
        note = f"{counted(unpriced, 'paid call')} without a price not drawn" if unpriced else ""
        return Plot((bars(title, rows, sum(cost for _, cost in rows)),), note)


def _cost(one: NodeTime, priced: bool) -> int:
    return round(one.usd * 1_000_000) if priced else one.prompt_tokens + one.completion_tokens


def _plot(pictures: Sequence[Picture], nothing: str, note: str = "") -> Plot:
    if not pictures:
        raise ConfigError(f"nothing to plot: {nothing}")
    return Plot(tuple(pictures), note)


def _first(drawn: int, there_are: int, one: str, many: str = "") -> str:
    """What is not drawn, where there is more than a chart holds."""
    return f"the first {drawn} of {counted(there_are, one, many)} are drawn" if there_are > drawn else ""


@draws(Run, "plot")
def plots(run: Run) -> Any:
    """The charts of a run: `run.plot`."""
    return Plots(run)
