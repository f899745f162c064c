"""What a reply thinks and what it answers: thoughts are set apart before anything is read.

Models think in channels that chat templates know by marks: `<think>`, `<reasoning>`, `[THINK]`, harmony's
`<|channel|>analysis`, `<|START_THINKING|>`, `<|begin_of_thought|>`. Servers take most of them out; those that do not
leave them in the text.
    An opened channel ends at its closing mark; without one, all behind it is thought.
    A closing mark that nothing opened ends a thought that the chat template opened: all before it is thought.
    A mark that stands in quotes or that a text is said to hold (`the output contains </think>`) is a word like others.
A reply that is JSON as a whole has no thoughts: what looks like a mark stands in one of its texts.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from judgegraph.calls.quotation import attributed, blanked

_NAMES = r"(?:seed:)?think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis|(?:internal|inner)_monologue"
_MARK = re.compile(
    rf"<(?P<close>/)?(?:{_NAMES})(?:\s[^<>\n]{{0,80}})?>|(?-i:\[(?P<shut>/)?(?:THINK|think)\])|(?P<tri>◁(?P<endtri>/)?think▷)"
    r"|<\|(?P<edge>START|END)_THINKING\|>|<\|(?P<endbar>/)?think(?:ing)?\|>|<\|(?P<of>begin|end)_of_thought\|>"
    r"|<(?:[ ](?P<spaced>/[ ]?)?|(?P<slashed>/)[ ])think(?:ing)?[ ]?>",
    re.I,
)
_HARMONY = re.compile(
    r"(?:<\|start\|>\s{0,3}\w{0,20}\s{0,3})?<\|channel\|>\s{0,3}(?P<name>\w{1,20})[^<\n]{0,80}<\|message\|>"
)
_ENDS = re.compile(
    r"<\|(?:end|return|call)\|>|<\|start\|>|<\|(?:START|END)_RESPONSE\|>|<\|(?:begin|end)_of_solution\|>"
)
_GLUED = re.compile(r"\s{0,9}analysis(?=[A-Z])")  # harmony whose special tokens a server dropped
_GLUED_FINAL = "assistantfinal"
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_HINTS = (
    "think",
    "thought",
    "reasoning",
    "reflection",
    "scratchpad",
    "analysis>",
    "analysis ",
    "_monologue",
    "<|channel|>",
    "_thinking|>",
)


@dataclass(frozen=True)
class Parts:
    """A reply taken apart.

    Attributes:
        text: as it came. spans: (start, end) of what is no answer, in order, in characters.
    """

    text: str
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def answer(self) -> str:
        """The text with blanks in the place of thoughts: every character stands where it stood."""
        return blanked(self.text, self.spans)

    @property
    def said(self) -> str:
        """The answer alone; the text as it came where nothing was thought."""
        return _without(self.text, self.spans) if self.spans else self.text

    @property
    def reasoning(self) -> str:
        """What was thought, without marks; "" where nothing was."""
        thoughts = (_bare(self.text[start:end]) for start, end in self.spans)
        return "\n".join(thought for thought in thoughts if thought)


def parts(text: str) -> Parts:
    """A reply's answer and its thoughts."""
    folded = text.casefold() if "<" in text or "[" in text or "◁" in text else ""
    if not any(hint in folded for hint in _HINTS):
        return Parts(text, ((0, _glued(text)),) if _GLUED.match(text) else ())
    if _is_json(text):
        return Parts(text)
    return Parts(text, tuple(_harmony(text) if "<|channel|>" in folded else ()) or tuple(_marked(text)))


def _without(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    pieces, end = [], 0
    for start, stop in spans:
        pieces.append(text[end:start].strip())
        end = stop
    return "\n".join(piece for piece in [*pieces, text[end:].strip()] if piece)


def _bare(thought: str) -> str:
    """A thought without its marks."""
    inner = _ENDS.sub("", _HARMONY.sub("", thought)) if "<|" in thought else thought
    inner = _GLUED.sub("", inner, count=1).removesuffix(_GLUED_FINAL)
    return _MARK.sub("", inner).strip()


def _marked(text: str) -> list[tuple[int, int]]:
    """The places of thoughts between marks, and of marks that are left over."""
    words = not ("[think]" in text and "[/think]" in text)  # in lower case they may be plain words
    marks = [
        (mark, _closes(mark)) for mark in _MARK.finditer(text) if not (words and mark[0] in ("[think]", "[/think]"))
    ]
    found: list[tuple[int, int]] = []
    depth, opened, closed = 0, 0, 0  # closed: where the latest closing mark of the open thought ends
    last = max((mark.start() for mark, closes in marks if closes), default=0)
    for mark, closes in marks:
        if depth and (mark.start() == last or not _enclosed(text, mark.span())):
            depth += -1 if closes else 1
            closed = mark.end() if closes else closed
            if not depth:
                found.append((opened, closed))
        elif not depth and not _is_word(text, mark.span(), found[-1][1] if found else 0):
            if not closes:
                depth, opened, closed = 1, mark.start(), 0
            else:  # the first one ends what the template opened; a later one is out of place, and ends nothing
                found.append(mark.span() if found else (0, mark.end()))
    if depth:  # a mark inside that is only spoken of opens nothing
        found.append((opened, closed or len(text)))
    return found + [edge.span() for edge in _ENDS.finditer(text, found[-1][1] if found else 0)]


def _closes(mark: re.Match[str]) -> bool:
    closing = any(mark[name] for name in ("close", "shut", "endtri", "endbar", "spaced", "slashed"))
    return closing or "END" in ((mark["edge"] or "").upper(), (mark["of"] or "").upper())


def _harmony(text: str) -> list[tuple[int, int]]:
    """The places of all that is not said in the final channel, with the marks of that; none where no channel is."""
    found: list[tuple[int, int]] = []
    end, channels = 0, False
    for mark in _HARMONY.finditer(text):
        if mark.start() < end or not (_opens(text, mark) if channels else not _is_word(text, mark.span(), end)):
            continue
        channels = True
        if mark["name"].casefold() == "final":
            found.append((end, mark.end()))
            closing = _ENDS.search(text, mark.end())
            end = closing.start() if closing else len(text)
    return [*found, (end, len(text))] if channels and end < len(text) else found


def _opens(text: str, mark: re.Match[str]) -> bool:
    """It stands where a channel may begin once one has: behind the end of another."""
    return mark[0].startswith("<|start|>") or text[max(0, mark.start() - 20) : mark.start()].rstrip().endswith(
        ("<|end|>", "<|call|>", "|return|>")
    )


def _glued(text: str) -> int:
    """Where the thoughts end of "analysisThe user ... assistantfinalScore: 4"."""
    at = text.rfind(_GLUED_FINAL)
    return at + len(_GLUED_FINAL) if at >= 0 else len(text)


def _enclosed(text: str, span: tuple[int, int]) -> bool:
    """Quotes stand right before and right behind."""
    start, end = span
    quoted = bool(start and end < len(text)) and _QUOTES.get(text[start - 1]) == text[end]
    return quoted and not text.startswith("```", end)


def _is_word(text: str, span: tuple[int, int], since: int) -> bool:
    """A mark that is spoken of: in quotes, or what the judged text is said to hold."""
    return _enclosed(text, span) or _in_quotes(text, span, since) or attributed(text, span[0])


def _in_quotes(text: str, span: tuple[int, int], since: int) -> bool:
    """A quotation that is opened before it on its line, and closed behind it."""
    start = max(since, text.rfind("\n", 0, span[0]) + 1, span[0] - 2000)
    line_end = text.find("\n", span[1])
    before, behind = text[start : span[0]], text[span[1] : line_end if line_end >= 0 else len(text)][:2000]
    if "“" in before and before.rfind("“") > before.rfind("”") and "”" in behind:
        return True
    return any(_count(before, quote) % 2 and quote in behind for quote in '"`')


def _count(text: str, quote: str) -> int:
    return text.count(quote) - text.count("\\" + quote)


def _is_json(text: str) -> bool:
    bare = text.strip()
    if not (bare.startswith(("{", "[")) and bare.endswith(("}", "]"))):
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True
