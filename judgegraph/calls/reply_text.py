"""What the readers of free text share: what a reading is, how much of a reply is read, what a refusal is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from judgegraph.calls.quotation import unquoted
from judgegraph.calls.reasoning import parts

HEAD, TAIL = 2000, 4000  # characters: verdicts stand at either end, so the work is bounded by these
_GAP = "\n\n"
MOST_WORDS = 4  # of what takes an answer back and says another without a word for it: "make it a 2"

_REFUSAL = re.compile(
    r"\bI(?:['’]m|[ ]am)[ ](?:so[ ]|very[ ]|really[ ])?(?:sorry|afraid|unable|not[ ]able)\b"
    r"|\bI[ ](?:can(?:not|['’]t|[ ]not)|won['’]t|will[ ]not|must[ ]decline|apologi[sz]e)\b"
    r"|\bas[ ]an?[ ](?:AI|artificial|(?:large[ ])?language[ ]model)\b"
    r"|\bunable[ ]to[ ](?:rate|score|judge|provide|assist|help|evaluate|comply)\b",
    re.IGNORECASE,
)
_MARK = r"[*_\"'`)\]]{0,3}"
_NAMED = (  # "Score", "**Final rating**", "Score for Relevance", then a colon
    r"(?:[a-z]{1,20}[ ]){0,2}(?:score|rating|grade|mark|verdict|answer|result|label|judge?ment)"
    rf"(?:[ ](?:for|of|on)(?:[ ]\w{{1,20}}){{1,4}})?{_MARK}[:=]"
)
_NOTHING = r"(?:n/?a|null|not[ ]applicable|no[ ]evidence|(?:I[ ](?:must[ ]|have[ ]to[ ])?)?abstain(?:s|ed|ing)?)"
_ABSTAINS_AT_START = re.compile(
    rf"[\W_]*(?:{_NAMED}[\W_]{{0,9}})?(?:no[ ]evidence\s{{0,3}}:|(?:I[ ](?:must[ ]|have[ ]to[ ])?)?abstain\b"
    rf"|not[ ]applicable[ ](?:to|for|here|in|as|because|since)\b"
    rf"|(?:n/?a|null|not[ ]applicable)(?={_MARK}\s{{0,3}}(?:[:;.,(–—-]|\n)))",
    re.IGNORECASE,
)
_ABSTAINS = re.compile(rf"[\W_]*(?:[a-z][\w ]{{0,40}}{_MARK}:)?[\W_]{{0,9}}{_NOTHING}[\W_]*", re.IGNORECASE)
_ABSTAINS_AT_END = re.compile(
    rf"(?:^|[.!?][ ]){_MARK}{_NAMED}[\W_]{{0,9}}{_NOTHING}[\W_]*\Z"
    r"|(?:^|[.!?][ ])(?:but[ ]|so[ ])?I[ ](?:must[ ]|have[ ]to[ ]|therefore[ ])?abstain\W*\Z",
    re.I | re.M,
)

_WITHDRAWN = re.compile(
    r"(?:^|[.!?…][ ])[ ]{0,3}(?:oh,?[ ]|but[ ])?(?:I[ ](?:retract|withdraw)[ ](?:that|it|this)"
    r"|I[ ]take[ ](?:that|it)[ ]back"
    r"|(?:scratch|ignore|disregard)[ ]that|never[ ]?mind|just[ ]kidding|that[ ](?:was|is)[ ]a[ ]joke)\b",
    re.I | re.M,
)
_TURN = re.compile(  # where a judge takes back what it said
    r"(?:^|[.!?…;:)\]—–]|--|\n)[ \t]{0,3}(?:(?:but|oh|hm+|no|ok(?:ay)?)[,.]?[ ])?"
    r"(?:(?:edit|update|corrected)(?=[ ]?:)|actually|wait|hold[ ]on|correction|scratch[ ]that|"
    r"on[ ](?:reflection|second[ ]thought|closer[ ](?:look|reading|inspection))"
    r"|let[ ]me[ ](?:re\w{3,9}|correct)|I[ ](?:take[ ](?:that|it)[ ]back|retract|revise|change[ ]my|correct[ ]my"
    r"|(?:need|want|have)[ ]to[ ](?:correct|revise)))\b",
    re.I,
)
_RETRACTING = (
    r"(?:no(?:pe)?|nein|non|sorry|pardon|(?:or[ ])?rather|I[ ]mean|h+m+|make[ ](?:that|it)|corrected|correction|well"
    r"|perdón|ou[ ]plutôt|(?:oder[ ])?besser|mejor|нет|то[ ]есть|不|いや)"
)
RETRACTS = (  # what stands between an answer and the one that takes its place: "5, no, 2"
    rf"\b{_RETRACTING}\b(?:[\s,，、.:;…—–-]{{1,5}}"
    r"(?:or|rather|it['’]s|it|make|an?|to|is|more|like|better|mean|I|give|say|score|no)){0,5}[\s,，、.:;…—–-]{1,5}"
)
RETRACTS_AT_ALL = re.compile(rf"\b{_RETRACTING}\b", re.I)


@dataclass(frozen=True)
class Reading:
    """What a reply says.

    Attributes:
        value: a number on the scale, or a label; None unless status is "ok".
        status: "ok"; "unreadable": no verdict, or several that cannot be ordered, or one off the scale;
            "refused": the model declined and gave no verdict; "abstained": it says that it cannot judge.
        span: start and end of the value in the text, in characters, so that its token can be found.
        rule: which rule read it, or why nothing was read.
    """

    value: float | str | None
    status: Literal["ok", "unreadable", "refused", "abstained"] = "ok"
    span: tuple[int, int] | None = None
    rule: str = ""


@dataclass(frozen=True)
class Excerpt:
    """The part of a reply that is read: its answer without quotations, all of it, or its two ends where it is long."""

    text: str
    cut: int  # positions from here on are shifted
    shift: int
    lead: int = 0  # characters before it: blanks, and thoughts that were blanked

    @classmethod
    def of(cls, reply: str) -> Excerpt:
        """Both ends of the reply; a word (or number) that the cut would split is left out."""
        answer = parts(reply).answer
        bare = answer.strip()
        lead = len(answer) - len(answer.lstrip())
        if len(bare) <= HEAD + TAIL:
            return cls(unquoted(bare), len(bare), 0, lead)
        head = re.sub(r"\S+\Z", "", bare[:HEAD][-200:])
        head = bare[: max(0, HEAD - 200)] + head if head else ""
        start = len(bare) - TAIL
        blank = re.compile(r"\s").search(bare, start, start + 200)
        tail = bare[blank.start() if blank else len(bare) :]
        text = head + _GAP + tail
        return cls(unquoted(text), len(head) + len(_GAP), len(bare) - len(text), lead)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A place in the excerpt as a place in the reply."""
        shift = self.lead + (self.shift if start >= self.cut else 0)
        return start + shift, end + shift


def refuses(text: str) -> bool:
    """The reply declines, at either end."""
    return bool(_REFUSAL.search(text[:400]) or _REFUSAL.search(text[-200:]))


def abstains(text: str) -> bool:
    """The reply opens or ends by saying that there is nothing to judge by ("N/A", "No evidence: ...").

    Then no other rule is tried: a "no" or a number that stands beside it is no verdict.
    """
    whole = len(text) < 200 and _ABSTAINS.fullmatch(text)
    return bool(whole or _ABSTAINS_AT_START.match(text[:400]) or _ABSTAINS_AT_END.search(text[-200:]))


def turn_of(text: str) -> int:
    """Where the last words begin that take back what was said before; 0 where there are none."""
    turns = [match.start() for match in _TURN.finditer(text)]
    return turns[-1] if turns else 0


def withdrawn(text: str, since: int) -> bool:
    """Whether what stands before a place is taken back behind it: "Score: 5. I retract that."."""
    return _WITHDRAWN.search(text, since) is not None


def only_answers(later: str) -> bool:
    """Words that take an answer back and say hardly more than another: "On second thought, 2."."""
    turn = _TURN.match(later)
    return turn is not None and len(re.findall(r"[^\W\d_]+", later[turn.end() :])) <= MOST_WORDS


def unread(text: str, why: str) -> Reading:
    """No value: refused where the reply declines, unreadable otherwise."""
    return Reading(None, "refused" if refuses(text) else "unreadable", rule=why)
