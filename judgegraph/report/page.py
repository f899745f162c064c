"""The sections of a report, each from one tally of the run."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from judgegraph.data.samples import ABSENT, grouping_value
from judgegraph.errors import ConfigError, DataError, one_line, settings_checked
from judgegraph.report.answers import agreement, biases, pairs, scores
from judgegraph.report.charts import CHART_CSS, finalize, small_bar
from judgegraph.report.drawing.figure import DRAWING_CSS
from judgegraph.report.findings import findings, overlap, rectification, suggestions
from judgegraph.report.graph import graph_part, run_figure, times_and_traffic
from judgegraph.report.samples import (
    Listing,
    Shown,
    common_scale,
    grouped,
    least,
    listings,
    short,
    size,
    whole,
)
from judgegraph.report.sections_run import Tally, alignment, failures, left_out, notes, tally_of
from judgegraph.runs.folder import write_lines
from judgegraph.runs.item import Item
from judgegraph.runs.run import GONE, Run, rejected_rows, seldom
from judgegraph.runs.suggestions import redacted_suggestions, suggestions_of
from judgegraph.runs.summary import Summary, criteria_names, has_weights, summarise
from judgegraph.traces.read import SampleTrace, node_times, traces_of, within
from judgegraph.traces.redact import Names, RunNames, UnredactedTexts, known_names, redacted_item
from judgegraph.views.blocks import (
    Block,
    Finding,
    Findings,
    Fold,
    Grid,
    Para,
    Section,
    cost,
    count_text,
    counted,
    duration,
    in_line,
    share,
)
from judgegraph.views.trace import Detail, SampleView, view_of

SECTIONS = (
    failures, left_out, scores, rectification, alignment, agreement, overlap, pairs, biases, suggestions, notes,
)  # fmt: skip


# All that the numbers depend on: signature, versions, configuration, data, and rows that were no samples.


ROWS = 400  # of the configuration
REJECTED_ROWS = 50  # rows of the data
VALUE = 400  # characters
DAMAGED = 20  # lines that are named


def about(
    manifest: Mapping[str, Any], rejected: Sequence[Mapping[str, Any]], incomplete: str = "",
    damaged: Sequence[str] = (),
) -> Section:  # fmt: skip
    """The section; everything else stands in the run's manifest.json.

    Args:
        unfinished: as `runs.run` says it. damaged: lines of its items that were left out.
    """
    return Section("about", "About this run", tuple(_blocks(manifest, rejected, incomplete, damaged)))


def _blocks(
    manifest: Mapping[str, Any], rejected: Sequence[Mapping[str, Any]], incomplete: str, damaged: Sequence[str]
) -> Iterator[Block]:
    yield Grid("The run", ("What", "Value"), tuple(_facts(manifest, incomplete, damaged)))
    if criteria := manifest.get("criteria"):
        listed = tuple(
            (in_line(c.get("name", ""), 100), _scale(c), in_line(c.get("definition", ""), 600)) for c in criteria
        )
        yield Fold(f"Criteria ({len(listed)})", (Grid("Criteria", ("Name", "Scale", "Definition"), listed[:ROWS]),))
    if settings := manifest.get("configuration"):
        rows = tuple((in_line(key, 120), in_line(_text(value), VALUE)) for key, value in settings.items())
        left = (Para(f"And {len(rows) - ROWS:,} more in manifest.json."),) if len(rows) > ROWS else ()
        grid = Grid("Configuration", ("Setting", "Value"), rows[:ROWS])
        yield Fold(f"Configuration ({len(rows)})", (grid, *left))
    if rejected:
        left = (
            (Para(f"And {len(rejected) - REJECTED_ROWS:,} more in rejected.json."),)
            if len(rejected) > REJECTED_ROWS
            else ()
        )
        bad = tuple(_row(row) for row in rejected[:REJECTED_ROWS])
        grid = Grid("Rows of the data that are no samples", ("Line", "Id", "Field", "Why"), bad)
        yield Fold(counted(len(rejected), "rejected row"), (grid, *left))


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Of a rejected row: line, id, field and reason."""
    return tuple(
        in_line(str(row.get(key) or ""), most)
        for key, most in (("line", 20), ("id", 80), ("field", 80), ("reason", VALUE))
    )


def _facts(manifest: Mapping[str, Any], incomplete: str, damaged: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "Signature", str(manifest.get("signature", ""))
    yield "Method", in_line(str(manifest.get("method", "")), 120)
    yield "State", incomplete or str(manifest.get("state", ""))
    yield "Run", str(manifest.get("run", ""))
    yield "Started", str(manifest.get("started") or "")
    yield "Ended", str(manifest.get("ended") or ("not known" if incomplete.endswith(GONE) else "not yet"))
    if data := manifest.get("data"):
        yield (
            "Data",
            in_line(f"{data.get('file')}, {data.get('size'):,} bytes, digest {data.get('digest')}", VALUE),
        )
    versions = {"judgegraph": manifest.get("judgegraph"), **(manifest.get("versions") or {})}
    yield "Versions", ", ".join(f"{name} {number}" for name, number in versions.items())
    if column := manifest.get("grouped_by"):
        yield "Groups", f"meta.{in_line(column, 120)} of each sample (--group): drawn whole for intervals"
    if budget := manifest.get("budget"):
        yield "Budget", ", ".join(f"{key} {value}" for key, value in budget.items() if value is not None)
    if damaged:
        rest = f"; and {len(damaged) - DAMAGED:,} more" if len(damaged) > DAMAGED else ""
        yield (
            "Damaged",
            f"{counted(len(damaged), 'line')}: {in_line('; '.join(damaged[:DAMAGED]), 10 * VALUE)}{rest}",
        )


def _scale(criterion: Mapping[str, Any]) -> str:
    from judgegraph.types import Scale

    scale = criterion.get("scale")
    return str(Scale.of(scale)) if scale else "1-5"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# What stands at the top.


def facts(run: Run, summary: Summary, rejected: int, lost: int = 0) -> list[tuple[str, str]]:
    """(name, value): what stands at the top of the page; a run that is not finished is never told as a whole one."""
    from judgegraph.runs.item import lacks_of
    from judgegraph.runs.summary import covered

    left = state_of(run, summary)
    ended = " that came to an end" if left else ""
    part = covered(summary, rejected + lost)
    found = [("State", left)] if left else []
    found.append(("Samples", _judged(run, summary, ended)))
    if named := run.manifest.get("criteria_set"):
        found.append(("Criteria", "of your own" if named == "own" else in_line(named, 80)))
    failed = summary.samples.total() - summary.samples["ok"]
    both = f", {summary.partly:,} of these judged in part" if summary.partly else ""
    found += [("Failed", counted(failed, "sample") + both)] if failed else []
    unread = f", about {counted(lost, 'row')} behind could not be read" if lost else ""
    found += [("Rejected", f"{counted(rejected, 'row')} of the data{unread}")] if rejected else []
    coverage = f"{share(part.share)} of {in_line(part.name, 80)} ({part.counts})" if part.share < 1 else "100 %"
    found.append(("Coverage", f"{coverage}, of those{ended}" if ended else coverage))
    return [*found, *_cost_rows(run), *(("Judge", lack) for lack in lacks_of(run.manifest))]


def state_of(run: Run, summary: Summary) -> str:
    """Such as "unfinished: 12 of 32 samples done", "" of a run that came to its end."""
    from judgegraph.runs.run import incomplete_run

    return incomplete_run(run, summary.samples.total() - summary.samples["over_budget"])


def _judged(run: Run, summary: Summary, ended: str) -> str:
    """Of all that the run was given where that is known; drafts whose final scores failed are told apart."""
    from judgegraph.runs.run import total_of

    here = summary.samples.total()
    total = (total_of(run.manifest) or 0) if ended else here
    of = f"{total:,}" if total >= max(1, here) else f"{here:,}{ended}"
    if not summary.drafts:
        partly = f", and {summary.partly:,} in part" if summary.partly else ""
        return f"{summary.judged - summary.partly:,} judged of {of}{partly}"
    return f"{summary.judged - summary.drafts:,} of {of} with a final score; {summary.drafts:,} with drafts alone"


def _cost_rows(run: Run) -> Iterator[tuple[str, str]]:
    """What it cost; the manifest of a run under way, or killed, is of its beginning: its spans know more."""
    spent, ledger = run.manifest.get("spent") or {}, (run.manifest.get("calls") or {}).get("ledger") or {}
    amounts = {key: spent.get(key) or 0 for key in ("usd", "unpriced", "calls", "prompt_tokens", "completion_tokens")}
    amounts |= {"found": ledger.get("hits") or 0, "shared": ledger.get("joined") or 0}
    least = "at least " if run.manifest.get("state") == "running" else ""
    if least:
        met = within(node_times(run), "")
        amounts = {key: max(amounts[key], getattr(met, {"calls": "paid"}.get(key, key))) for key in amounts}
    reused = f", {count_text(amounts['found'])} from the ledger" if amounts["found"] else ""
    shared = f", {count_text(amounts['shared'])} shared with another call" if amounts["shared"] else ""
    yield "Cost", cost(amounts["usd"], amounts["calls"], amounts["unpriced"], least)
    lost = spent.get("unanswered") or 0
    useless = f", {counted(lost, 'request')} without a reply of use" if lost else ""
    yield "Model calls", f"{least}{count_text(amounts['calls'])} paid{reused}{shared}{useless}"
    yield "Tokens", f"{least}{count_text(amounts['prompt_tokens'])} in, {count_text(amounts['completion_tokens'])} out"


# A run whose judged and generated texts are replaced by their lengths, for whatever reads it.


@dataclass(frozen=True)
class RedactedRun(Run):
    """As the run, without texts.

    Attributes:
        names: of a whole run; None: each sample numbers its own. whole: what it is of, where that adds to its items.
    """

    names: Names | None = None
    whole: Run | None = None

    @property
    def items(self) -> Iterator[Item]:
        """The finished samples, in the order of finishing."""
        return self._redacted(super().items if self.whole is None else self.whole.items)

    def _in_order(self) -> Iterator[Item]:
        return self._redacted(super()._in_order() if self.whole is None else self.whole._in_order())

    def _redacted(self, items: Iterator[Item]) -> Iterator[Item]:
        known = self.names or known_names(self.manifest)
        return (redacted_item(item, known) for item in items)

    def summary(self) -> Summary:
        """As of the run; reasons and notes are told by their lengths."""
        return summarise(self.items, self.signature, criteria_names(self.manifest), weighted=has_weights(self.manifest))


@dataclass(frozen=True)
class GroupedRun(Run):
    """A run whose samples are grouped by another column than `group`.

    Attributes:
        whole: the run. column: a key of their meta.
    """

    whole: Run | None = None
    column: str = "group"

    @classmethod
    def of(cls, run: Run, column: str) -> GroupedRun:
        """Of a run.

        Raises:
            DataError: a sample has no such column.
        """
        known: dict[str, None] = {}
        for item in run.items:
            known |= dict.fromkeys(item.sample.meta)
            if grouping_value(item.sample, column) in (ABSENT, None):
                said = f"sample '{one_line(item.id, 60)}' has no {one_line(column, 60)!r} in its meta, to group by"
                raise DataError(f"{said}; known: {', '.join(one_line(key, 40) for key in known) or 'none'}")
        return cls({**run.manifest, "grouped_by": column}, run.held, run.folder, run, column)

    @property
    def items(self) -> Iterator[Item]:
        """The finished samples, in the order of finishing."""
        return map(self._grouped, super().items if self.whole is None else self.whole.items)

    def _in_order(self) -> Iterator[Item]:
        return map(self._grouped, super()._in_order() if self.whole is None else self.whole._in_order())

    def _grouped(self, item: Item) -> Item:
        meta = {**item.sample.meta, "group": grouping_value(item.sample, self.column)}
        return item.model_copy(update={"sample": item.sample.model_copy(update={"meta": meta})})


def two_levels(run: Run) -> tuple[RedactedRun, RedactedRun, RunNames]:
    """(for numbers, for showing, names): in the first only names are replaced, in the second texts too.

    What counts words or compares texts counts those of the run itself, so that a number is the same with or without
    texts on the page.
    """
    names = RunNames(known_names(run.manifest), run.items)
    levels = (RedactedRun(run.manifest, run.held, run.folder, one, run) for one in (UnredactedTexts(names), names))
    counted, shown = levels
    return counted, shown, names


# The templates of the page: every text that goes into one is made visible and escaped, in this one place.


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
    made.globals["bar"] = lambda one: Markup(small_bar(one.shares, one.scale, one.answer))
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


# The page of a run: its parts, and how they share the bytes that it may have.


MOST_BYTES, ROOMY = 2_900_000, 9_900_000  # of a page; and of one that shows every sample's texts
TEXTED = 1_000  # samples whose texts are shown
SHOWING = (left_out, alignment, suggestions, failures, notes)  # sections that show texts
LEAST_WHOLE, MOST_WHOLE = 0.35, 0.8  # of what is left beside the sections, for the samples of the lists


@dataclass(frozen=True)
class _HeldRun(Run):
    """A run whose samples were read once: the parts of a page ask for them several times."""

    kept: tuple[Item, ...] = ()

    @property
    def items(self) -> Iterator[Item]:
        return iter(self.kept)

    def _in_order(self) -> Iterator[Item]:
        return iter(sorted(self.kept, key=lambda item: item.place))


def _held(run: Run) -> Run:
    """The run with its samples in memory, where there are at most a thousand."""
    if run.folder is None:
        return run
    first = tuple(islice(run.items, TEXTED + 1))
    return run if len(first) > TEXTED else _HeldRun(run.manifest, run.held, run.folder, first)


def page_of(run: Run, *, most: int, redact: bool, most_bytes: int | None = None) -> tuple[str, tuple[Finding, ...]]:
    """The whole page as text, and what stands at its top."""
    templates, run = Templates(), _held(run)
    counted, texts, names = two_levels(run) if redact else (run, run, None)
    tally, rejected = tally_of(counted), rejected_rows(run)
    summary = tally.summary
    shown = tally if texts is counted else tally_of(texts)
    if names is not None:  # texts that stand for others are alike, whatever the others say
        shown.suggested = redacted_suggestions(suggestions_of(run.items), names)
    lists = listings(texts, most)
    read = times_and_traffic(run, run_figure(run.manifest))
    shown.nodes = read[0]
    parts = [*_sections(counted, tally, texts, shown)]
    state = state_of(run, summary)
    damaged = [
        what.partition(": sample")[0] if redact else what for what in (run.folder.left_out if run.folder else ())
    ]
    last = about(run.manifest, rejected, state, damaged)
    behind = [graph_part(run, read), last]
    lost = sum(row["lost"] for row in rejected if isinstance(row.get("lost"), int))
    found = findings(counted, tally, shown, lists, len(rejected) + lost)
    answers = Findings(found, dict(_anchors(parts, behind)))
    parts = [Section("findings", "Findings", (answers,)), *parts]
    sections, end = templates.sections(parts), templates.sections(behind)
    told = facts(run, summary, len(rejected), lost)
    head = templates.head(_head(run, redact, state), told, _anchors(parts, behind))
    if most_bytes is None:
        most_bytes = ROOMY if summary.samples.total() <= TEXTED else MOST_BYTES
    room = most_bytes - size([head, *sections, *end]) - 20_000
    scale = common_scale(x.scale for x in summary.answers.values())
    groups = grouped(texts.items, summary.samples.total(), scale)
    folder, places = _folder(run), dict[str, int]()

    def write(item: Item, level: Detail) -> str:
        return templates.short(view_of(item, level, folder), places.get(item.id))

    share = min(MOST_WHOLE * room, max(LEAST_WHOLE * room, room - least(groups, write)))
    listed, detail = _whole(run, lists, templates, names, int(share))
    places |= {name: number for number, name in enumerate(listed)}
    told_short = short(groups, write, room - size(list(listed.values())))
    samples = templates.samples(lists, listed, places, told_short, detail)
    return "".join([head, *sections, samples, *end, templates.foot()]), found


def _sections(counted: Run, tally: Tally, texts: Run, shown: Tally) -> Iterator[Section]:
    """Numbers from the one run, and from the other what shows texts."""
    for section in SECTIONS:
        run, numbers = (texts, shown) if section in SHOWING else (counted, tally)
        if (found := section(run, numbers)) is not None:
            yield found


def _whole(
    run: Run, lists: list[Listing], templates: Templates, names: Names | None, room: int
) -> tuple[dict[str, str], Detail]:
    """Id -> what is shown of it, of every sample in the lists."""
    why: dict[str, str] = {}
    for listing in lists:
        for name, reason in listing.samples:
            why.setdefault(name, reason)
    traces: list[SampleTrace] = list(traces_of(run, why, redact=names or False))
    folder = _folder(run)

    def write(detail: Detail) -> list[str]:
        views = [view_of(t.item, detail, folder, why[t.item.id], t) for t in traces]
        return [templates.sample(view, number) for number, view in enumerate(views)]

    written, detail = whole(write, room)
    return {t.item.id: html for t, html in zip(traces, written, strict=True)}, detail


def _folder(run: Run) -> str:
    return str(run.folder.path) if run.folder else ""


def _head(run: Run, redact: bool, state: str) -> dict[str, Any]:
    manifest = run.manifest
    return {
        "method": str(manifest.get("method") or "graph"), "name": run.folder.path.resolve().name if run.folder else "",
        "signature": run.signature, "state": state or str(manifest.get("state") or ""), "redact": redact,
        "when": str(manifest.get("started") or ""), "took": duration(_took(manifest)),
        "version": str(manifest.get("judgegraph") or ""),
    }  # fmt: skip


def _took(manifest: Mapping[str, Any]) -> float | None:
    """Milliseconds in which it worked; from its start to its end is not that where it was taken up again."""
    seconds = manifest.get("seconds") if manifest.get("state") != "running" else None
    return seconds * 1000 if isinstance(seconds, int | float) and 0 < seconds < float("inf") else None


def _anchors(parts: list[Section], behind: list[Section]) -> Iterator[tuple[str, str]]:
    """(anchor, title) of the page's parts; the samples stand between them."""
    yield from ((part.key, part.title) for part in parts)
    yield "samples", "Samples"
    yield from ((part.key, part.title) for part in behind)


# `jg.write_report`: a run as one page that opens anywhere.


REDACTABLE = ("texts",)


@settings_checked
def write_report(
    run: Run | str | os.PathLike[str], out: str | os.PathLike[str], *, most: int = 10, redact: tuple[str, ...] = (),
    most_bytes: int | None = None, group: str | None = None,
) -> Path:  # fmt: skip
    """Write a run as one HTML file: no script, no network, at most 3 MB.

    The file is readable by its owner alone, as all files of a run are: it holds what was judged. A run that is too
    large for it is shown in part, and the page says so.

    Args:
        run: a run or its folder. out: the file.
        most: samples in each list: most moved, most uncertain, failed, dearest.
        redact: ("texts",): judged and generated texts are replaced by their lengths.
        most_bytes: size of the file at most, 200,000 or more; None: 10 MB with up to 1,000 samples, whose texts are
            shown, and 3 MB with more.
        group: key of a sample's meta, its document or dialogue: what intervals draw whole; None: "group".

    Raises:
        ConfigError: an argument is wrong; the file cannot be written, or is one of the run's own.
        DataError: there is no run, or a sample has no such group.
    """
    return written_report(run, out, most=most, redact=redact, most_bytes=most_bytes, group=group)[0]


def written_report(
    run: Run | str | os.PathLike[str], out: str | os.PathLike[str], *, most: int = 10, redact: tuple[str, ...] = (),
    most_bytes: int | None = None, group: str | None = None,
) -> tuple[Path, tuple[Finding, ...]]:  # fmt: skip
    """As `write_report`, with what stands at the top of the page."""
    found = run if isinstance(run, Run) else Run.load(run)
    if most < 1 or (most_bytes is not None and most_bytes < 200_000):
        raise ConfigError(f"report: most is 1 or more, most_bytes 200,000 or more; got {most} and {most_bytes}")
    if isinstance(redact, str) or not set(redact) <= set(REDACTABLE):
        raise ConfigError(f'report: redact is () or ("texts",); got {one_line(repr(redact), 80)}')
    if found.folder and found.folder.owns(out, found.manifest.get("ledger")):
        raise ConfigError(f"{out} is a file of the run itself; name another one")
    found = GroupedRun.of(found, group) if group else found
    with seldom():
        page, said = page_of(found, most=most, redact=bool(redact), most_bytes=most_bytes)
    write_lines(Path(out), [page], end="")
    return Path(out), said
