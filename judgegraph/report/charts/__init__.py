"""Charts of a report: text in, SVG out, each a `Picture`."""

from judgegraph.report.charts.bars import bars, split_bar
from judgegraph.report.charts.histogram import Series, histogram
from judgegraph.report.charts.interval_plot import Measure, interval_plot
from judgegraph.report.charts.look import CHART_CSS
from judgegraph.report.charts.score_bar import score_bar
from judgegraph.report.charts.win_graph import win_graph

__all__ = [
    "CHART_CSS",
    "Measure",
    "Series",
    "bars",
    "histogram",
    "interval_plot",
    "score_bar",
    "split_bar",
    "win_graph",
]
