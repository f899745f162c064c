"""The sections of a report, each from one tally of the run."""

from __future__ import annotations

from judgegraph.report.blocks import Section
from judgegraph.report.sections.agreement import agreement
from judgegraph.report.sections.biases import biases
from judgegraph.report.sections.failures import failures
from judgegraph.report.sections.notes import left_out, notes
from judgegraph.report.sections.pairs import pairs
from judgegraph.report.sections.rectification import rectification
from judgegraph.report.sections.scores import scores
from judgegraph.report.sections.suggestions import suggestions
from judgegraph.report.sections.tally import Tally, tally_of
from judgegraph.runtime.run import Run

__all__ = [
    "SECTIONS", "Tally", "agreement", "all_sections", "biases", "failures", "left_out", "notes", "pairs",
    "rectification", "scores", "suggestions", "tally_of",
]  # fmt: skip
SECTIONS = (left_out, scores, rectification, agreement, pairs, biases, suggestions, failures, notes)


def all_sections(run: Run, tally: Tally | None = None) -> tuple[Section, ...]:
    """Those that have something to tell, in the order of the page; the run's items are read once."""
    told = tally or tally_of(run)
    found = (section(run, told) for section in SECTIONS)
    return tuple(section for section in found if section is not None)
