"""Steps of a sample: a tree on a terminal, folds in a notebook; distributions as small bars; commands to copy."""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from judgegraph.answers import answers_of
from judgegraph.errors import printable
from judgegraph.runs.lowest import LowestScores, LowScore
from judgegraph.shown import draws
from judgegraph.trace.record import Step
from judgegraph.views.blocks import Block, Para, counted, duration, money, number_text
from judgegraph.views.notebook import Html, fold, framed, joined, para, table, text, verbatim

if TYPE_CHECKING:
    from judgegraph.runs.item import Item
    from judgegraph.runs.summary import Line
    from judgegraph.types import Comparison, Correction, Scale, Score


# One sample in a few lines: its scores with what the critic moved, its comparisons and corrections.


MOST_SAMPLES = 12  # rows of a list that need not be seen whole


def telling(items: Iterable[Item]) -> tuple[Item, str] | None:
    """The sample that the critic moved most, else the one with the lowest score, else the first; and which it is."""

    def moved(item: Item) -> float:
        values = {s.key: s.value for s in item.scores if s.value is not None}
        finals = [s for s in answers_of(item) if s.value is not None]
        return max((abs(values[s.key] - values[s.draft]) for s in finals if s.draft in values), default=0.0)

    many, found, lowest = 0, None, LowestScores()
    for item in items:
        lowest.add(item)
        if item.status == "ok":
            many += 1
            if found is None or moved(item) > found[0]:
                found = moved(item), item
    if found is None:
        return None
    if found[0] or many == 1:
        return found[1], "moved most" if many > 1 else ""
    if low := lowest.found():
        return low[0].item, f"{lowest_in_words(lowest.left_out)}: {mean_in_words(low[0])}"
    return found[1], "the first sample"


def lowest_in_words(left_out: str) -> str:
    """Such as "the lowest score but for 1 row without a rival"."""
    return f"the lowest score{left_out and f' but for {left_out}'}"


def mean_in_words(low: LowScore) -> str:
    """In the units of its scale, such as "mean 2.61 on 1-5"; as a share where its answers have several."""
    scale, sides = low.scale, ", both outputs" if low.item.comparisons or low.item.verdict is not None else ""
    if scale is None or scale.low is None or scale.high is None:
        return f"mean {number_text(low.value)} of 1, on several scales{sides}"
    return f"mean {number_text(scale.low + low.value * (scale.high - scale.low))} on {scale}{sides}"


def sample(item: Item, why: str = "") -> Iterator[Block]:
    """Its id and query, its answers, comparisons and corrections; a row for what is repeated."""
    yield Para(f"{item.id[:80]}{why and f' ({why})'}", "title")
    if item.sample.query:
        yield Para(f"  {cut(item.sample.query, 200)}", "fine")
    yield from _scores(item)
    yield from comparisons(item)
    for correction in item.corrections:
        who = f" by {cut(correction.agent, 80)}" if correction.agent else ""
        yield Para(f"  {heading(correction)}{who}: {cut(correction.text or correction.reason, 300)}")


def heading(correction: Correction) -> str:
    """What stands before a correction's text, or before why there is none."""
    if correction.changed:
        return f"corrected {correction.of}"
    ended = "" if correction.outcome == "unchanged" else f" ({correction.status.replace('_', ' ')})"
    return f"{correction.of} not corrected{ended}"


def cut(text: str, length: int) -> str:
    """On one line, at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def names(rows: Sequence[Line] | Sequence[Score]) -> list[str]:
    """What each row is called: its criterion, the side of a pair, and the agent where several judged the same."""
    agents: dict[tuple[str, ...], set[str]] = {}
    for x in rows:
        agents.setdefault((x.criterion, x.stage, x.of), set()).add(x.agent)
    return [
        x.criterion
        + (" (rival)" if x.of == "rival" else "")
        + (f" ({x.agent})" if len(agents[x.criterion, x.stage, x.of]) > 1 else "")
        for x in rows
    ]


def _scores(item: Item) -> Iterator[Block]:
    if not item.scores and item.overall is not None:  # of a graph that writes no more
        yield Para(f"  overall: {item.overall:.4g}")
    scores = {s.key: s for s in item.scores}
    finals = answers_of(item)
    paired = {c.agent for c in item.comparisons}  # their repeats are the orders
    rows: dict[str, list[Score]] = {}
    for name, score in zip(names(finals), finals, strict=True):
        rows.setdefault(name, []).append(score)
    shown = list(rows.items())[:MOST_SAMPLES]
    for name, row in shown:
        said, reason = [], ""
        for score in sorted(row, key=lambda s: s.repeat):
            draft = scores.get(score.draft or "")
            moved = draft is not None and draft.answer != score.answer
            arrow = f"{answer(draft)} -> " if draft and moved else ""
            said.append(f"{arrow}{answer(score)}{repeat_of(score, paired) if len(row) > 1 or score.repeat else ''}")
            if not reason and (reason := draft.reason if draft and not moved else score.reason) and len(row) > 1:
                reason = f"{repeat_of(score, paired).strip()} {reason}"
        yield Para(f"  {name}: {', '.join(said)}  {cut(reason, 220)}")
    yield from _more(len(finals) - sum(len(row) for _, row in shown), "score")


def repeat_of(score: Score, paired: Iterable[str]) -> str:
    """Which of repeated scores: by the order of a pair, else by number."""
    if score.agent in paired and score.repeat < 2:
        return (" (AB)", " (BA)")[score.repeat]
    return f" ({score.repeat + 1})"


def comparisons(item: Item) -> Iterator[Block]:
    """A row for each criterion, of many the first; the verdict of a graph that writes no more."""
    if not item.comparisons and item.verdict is not None:
        yield Para(f"  verdict: {item.verdict}")
    rows: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in item.comparisons:
        rows.setdefault((comparison.criterion, comparison.agent), []).append(comparison)
    shown = list(rows.items())[:MOST_SAMPLES]
    for (criterion, agent), row in shown:
        several = sum(name == criterion for name, _ in rows) > 1
        name = f"{criterion} ({agent})" if several else criterion
        yield Para(f"  {name}: {_verdicts(row)}  {cut(_reason_of(row), 160)}")
    yield from _more(len(item.comparisons) - sum(len(row) for _, row in shown), "comparison")


def _more(count: int, one: str) -> Iterator[Block]:
    if count > 0:
        yield Para(f"  and {counted(count, f'more {one}')}")


def _reason_of(row: Sequence[Comparison]) -> str:
    """What stands beside the verdicts: of both orders together, else of the first that says anything, and of which."""
    given = sorted((c for c in row if c.reason), key=lambda c: c.order != "both")
    if not given:
        return ""
    return given[0].reason if len(row) == 1 else f"({given[0].order}) {given[0].reason}"


def _verdicts(row: Sequence[Comparison]) -> str:
    lines = []
    for c in row:
        sums = f" {c.score_a:g} : {c.score_b:g}" if c.score_a is not None and c.score_b is not None else ""
        lines.append(f"{c.verdict or c.status}{sums} ({c.order})")
    return ", ".join(lines)


def answer(score: Score) -> str:
    """The value, the label, or how it failed."""
    return number_text(score.value) if score.value is not None else score.label or score.status


# Steps as a tree on a terminal; whatever it shows is inert there.


LINES, LENGTH = 4, 320  # of a text that is not shown whole
DETAIL, TROUBLE, TITLE = "dim", "red", "bold"
FINE = ("ok", "skipped", "abstained")
SETTING_NAMES = {"judge": "judge", "prompt": "prompt", "reader": "reader"}  # of an agent


@dataclass(frozen=True)
class Look:
    """How much is shown. full: texts whole; plain: no character beyond ASCII of our own."""

    full: bool = False
    plain: bool = False

    @property
    def dots(self) -> str:
        """What stands for what is left out."""
        return "..." if self.plain else "…"


USUAL = Look()


def tree_of(step: Step, look: Look = USUAL) -> Tree:
    """The step with all below it, each with its times, and what was read, written, asked and answered."""
    tree = Tree(label(step, look), guide_style=DETAIL)
    _grow(tree, step, look)
    return tree


def tree_text(step: Step, width: int = 100, look: Look = USUAL) -> str:
    """The same as plain text."""
    console = Console(
        file=io.StringIO(), width=width, color_system=None, highlight=False, force_terminal=False,
        force_jupyter=False,  # else rich would show it in a notebook, and there were no text
    )  # fmt: skip
    console.print(tree_of(step, look))
    return "\n".join(line.rstrip() for line in str(console.file.getvalue()).splitlines())  # type: ignore[attr-defined]


def _grow(tree: Tree, step: Step, look: Look) -> None:
    for below in step.steps:
        _grow(tree.add(label(below, look)), below, look)


def label(step: Step, look: Look = USUAL) -> Text:
    """What a step's own lines say."""
    text = Text(overflow="fold")
    text.append(inert(f"{step.kind} "), DETAIL)
    text.append(inert(step.name, 80), TITLE)
    for fact in (duration(step.ms), *facts(step)):
        text.append(inert(f"  {fact}"))
    if step.status not in FINE:
        text.append(inert(f"  {step.status}"), TROUBLE)
    elif step.status != "ok":
        text.append(inert(f"  {step.status}"), DETAIL)
    if step.about.get("error"):
        text.append(inert(f"\n{step.about['error']}"), DETAIL if step.status in FINE else TROUBLE)
    for fact in flow(step):
        text.append(inert(f"\n{fact}"), DETAIL)
    for who, fact in step.texts():
        text.append(inert(f"\n{who}: "), DETAIL)
        text.append(excerpt(fact, look))
    return text


def facts(step: Step) -> Iterator[str]:
    """Beside its name: who was asked, what a tool said, what a call took."""
    about = step.about
    if step.kind == "agent":
        yield from (f"{name} {about[key]}" for key, name in SETTING_NAMES.items() if about.get(key))
    elif step.kind == "tool" and about.get("value") is not None:
        yield _number(about["value"])
    elif step.kind == "model":
        if about.get("from"):
            yield {"ledger": "from the ledger", "joined": "joined"}.get(str(about["from"]), str(about["from"]))
        if retries := int(about.get("requests") or 1) - 1:
            yield f"{retries} {'retry' if retries == 1 else 'retries'}"
        if about.get("prompt_tokens") is not None:
            yield f"{about['prompt_tokens']:,}+{about.get('completion_tokens') or 0:,} tokens"
            yield money(about.get("usd"))


def flow(step: Step) -> Iterator[str]:
    """What went in and came out."""
    about = step.about
    if step.kind == "model":
        repeat = f"  repeat {about['repeat']}" if about.get("repeat") else ""
        choices = f"  {about['n']} choices" if (about.get("n") or 1) > 1 else ""
        form = f"  form {about['form']}" if about.get("form") else ""
        if line := f"{about.get('prompt') or ''}{form}{choices}{repeat}".strip():
            yield line
    reads, writes = _sizes(about.get("reads")), _sizes(about.get("writes"))
    if reads or writes:
        yield "  ".join([*([f"read: {reads}"] if reads else []), *([f"wrote: {writes}"] if writes else [])])


def _sizes(keys: Any) -> str:
    """Such as "sample, scores(8)"."""
    if not isinstance(keys, Mapping):
        return ""
    return ", ".join(f"{key}{_size(value)}" for key, value in keys.items())


def _size(value: Any) -> str:
    if isinstance(value, list):
        return f"({len(value)})"
    if isinstance(value, float):
        return f" = {value:.4g}"
    return f"({value})" if isinstance(value, int) and not isinstance(value, bool) else ""


def excerpt(text: str, look: Look = USUAL) -> str:
    """A text in its first lines, and how long it is; whole where all is wanted."""
    shown = inert(text.strip())
    if look.full:
        return shown
    lines = [line for line in shown.split("\n") if line.strip()]
    head = "\n".join(lines[:LINES])[:LENGTH].rstrip()
    return head if len(head) >= len("\n".join(lines)) else f"{head}{look.dots} ({len(text):,} characters)"


def inert(text: Any, most: int = 0) -> str:
    """Nothing in it drives a terminal; of a longer one than `most` the first of it."""
    text_shown = printable(str(text).replace("\r\n", "\n").expandtabs(4))
    return text_shown[:most] if most else text_shown


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


# A distribution as small bars, one character a point.


BLOCKS, LETTERS = "▁▂▃▄▅▆▇█", "_.:-=+*#"  # from nothing to all, each an eighth; letters where blocks cannot be written
MOST = 20  # points; of more, neighbours share a bar


def bars(shares: Mapping[str, float], scale: Scale | None = None, *, plain: bool = False) -> str:
    """A bar for each point of the scale in its order, those without a share too; "" for nothing.

    Args:
        shares: point or label -> share, at least 0. plain: letters in place of blocks.
    """
    total = sum(shares.values())
    if not shares or total <= 0:
        return ""
    heights = _pooled([shares.get(point, 0.0) / total for point in _points(shares, scale)])
    marks = LETTERS if plain else BLOCKS
    return "".join(marks[min(len(marks) - 1, round(height * (len(marks) - 1)))] for height in heights)


def likeliest(shares: Mapping[str, float], count: int = 2) -> str:
    """The points with most of it, such as "4: 72 %, 5: 20 %"; those of under half a percent are not told."""
    total = sum(shares.values())
    ranked = sorted(shares.items(), key=lambda one: -one[1])[:count] if total > 0 else []
    return ", ".join(f"{point}: {100 * share / total:.0f} %" for point, share in ranked if share / total >= 0.005)


def _points(shares: Mapping[str, float], scale: Scale | None) -> list[str]:
    if scale is not None and scale.labels:
        return [*scale.labels, *(label for label in shares if label not in scale.labels)]
    known = {str(point): float(point) for point in (scale.points if scale is not None else ())}
    try:
        return sorted(known | {point: float(point) for point in shares}, key=lambda point: float(point))
    except ValueError:
        return list(shares)


def _pooled(heights: list[float]) -> list[float]:
    if len(heights) <= MOST:
        return heights
    width = len(heights) / MOST
    return [sum(heights[round(i * width) : round((i + 1) * width)]) for i in range(MOST)]


# Steps as folds in a notebook: what was done opens by clicks, without a script.


OPEN = ("graph", "agent")  # nodes wait for a click, and what is told of a model for another
HEAD = ("criterion", "agent", "stage", "draft", "answer", "distribution", "read by", "reason")


def step_html(step: Step) -> Html:
    """A step with all below it; what failed is open."""
    opened = step.kind in OPEN or step.status not in FINE
    return fold(_summary(step), *_body(step), *map(step_html, step.steps), opened=opened)


def scores_html(scores: Iterable[Score], caption: str, drafts: Mapping[str, Score] | None = None) -> Html:
    """A row for each score, with its distribution as small bars, and beside it the draft that it rectifies.

    Args:
        drafts: key -> score; there is no such column without them.
    """
    rows = []
    for score in scores:
        draft = (drafts or {}).get(score.draft or "")
        cells = (answer(draft) if draft else "", answer(score), _bars(score), score.reader, score.reason)
        rows.append((_named(score), score.agent, score.stage, *cells))
    columns = [i for i, name in enumerate(HEAD) if name != "draft" or any(row[i] for row in rows)]
    head, rows_ = [HEAD[i] for i in columns], [[row[i] for i in columns] for row in rows]
    return table(caption, head, rows_, numeric=("draft", "answer", "distribution")) if rows else Html("")


def _named(score: Score) -> str:
    return score.criterion + (" (rival)" if score.of == "rival" else "")


def _bars(score: Score) -> str:
    shares = score.distribution or {}
    return f"{bars(shares, score.scale)} {likeliest(shares, 1)}" if shares else ""


def _summary(step: Step) -> Html:
    status = [] if step.status == "ok" else [step.status]
    facts_line = ", ".join([duration(step.ms), *facts(step), *status])
    return Html(f"{text(step.kind)} <b>{text(step.name, 80)}</b> {text(facts_line)}")


def _body(step: Step) -> Iterator[Html]:
    if step.about.get("error"):
        yield para(step.about["error"])
    lines = list(flow(step))
    if lines:
        yield joined(*map(para, lines))
    if step.kind != "node" or not step.steps:  # else its agent says them
        yield scores_html(step.scores, "wrote")
    for who, what in step.texts():
        yield fold(text(f"{who}, {len(what):,} characters", 80), verbatim(what))


@draws(Step)
def _framed(step: Step) -> Html:
    return framed(step_html(step))


@draws(Step, "text")
def _tree(step: Step) -> str:
    return tree_text(step)


# Commands that a page or a terminal suggests, so that they can be copied into a shell.


ESCAPED = frozenset("'\\!")  # what ends such a word, begins an escape in it, or recalls an earlier command


def quoted(text: str) -> str:
    """One word of a shell's command: plain or in quotes; as $'...' (bash, zsh) where it holds what is not shown.

    Invisible and control characters are masked wherever something judged is shown, which would change the word. They
    are written as bytes in UTF-8, so that the shell's own encoding does not matter.
    """
    if "\n" not in text and printable(text) == text:
        return shlex.quote(text)
    return f"$'{''.join(map(_escaped, text))}'"


def command(run: str, sample: str) -> str:
    """What prints a sample's whole trace; empty for a run that lies nowhere."""
    if not run:
        return ""
    whole = f"judgegraph trace {quoted(run)} --sample {quoted(sample)}"
    return whole if len(whole) <= 400 else f"judgegraph trace {quoted(run)}"


def _escaped(sign: str) -> str:
    if sign.isprintable() and sign not in ESCAPED:
        return sign
    bytewise = "surrogateescape" if "\udc80" <= sign <= "\udcff" else "surrogatepass"  # a file's name may be no UTF-8
    return "".join(f"\\x{byte:02x}" for byte in sign.encode("utf-8", bytewise))


# How a score was read, in words.


WORDS = {  # a score's reader -> of the score, where "by" and its name would not do
    "stated": "as stated in the reply", "mean": "as the mean of its parts", "panel": "by a panel",
    "plain": "by plain code", "random": "at random",
}  # fmt: skip


def read_by(reader: str) -> str:
    """Such as "by logprobs", "as stated in the reply". Not inert."""
    return WORDS.get(reader, f"by {reader}")
