"""What a check of an agent found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from judgegraph.errors import one_line

CODES: dict[str, str] = {  # code -> what an agent that conforms does
    "shape": "is a frozen dataclass or a function, and can be called",
    "signature": "annotates its state and its return value with a TypedDict each",
    "not-equal": "equals another of the same settings",
    "undeclared-read": "reads only keys that its state's annotation declares",
    "undeclared-write": "returns a mapping with keys that its return annotation declares",
    "mutates-state": "leaves the state as it was",
    "mutates-itself": "leaves itself as it was",
    "not-json": "returns values that JSON can hold and give back",
    "wrong-key": "puts a value under its own key, by `keyed`",
    "off-scale": "writes no number or label that is not on its scale",
    "clamped": "writes a status for an answer off the scale, and moves none onto it",
    "failure-scored": "writes a status, never an answer, where the judge gave none; a score that no judge gives, "
    "whose reason alone a judge words, has reader='plain'",
    "failure-vanishes": "writes, where a good reply would have been an entry, one with a status, or a note",
    "config-swallowed": "lets jg.ConfigError pass: jg.AuthError, one of them, would meet every sample alike",
    "unknown-criterion": "rectifies only criteria that have a score",
    "unreviewed": "rectifies every score under review, by a status where it can say nothing",
    "other-name": "signs its rectifications by its own `name`, by which they are looked for",
    "other-stage": "reviews the scores of its own `stage`, and no others",
    "wrong-direction": "says 'up' of a higher value and 'down' of a lower one",
    "raises": "ends without an error, whatever the judge does",
    "hangs": "ends in time",
    "not-deterministic": "writes the same for the same state and replies",
    "prompt-differs": "asks the same for the same state, so that a ledger knows the call again",
    "open-section": "shows judged text, and what a judge said of it, only in a section that the text cannot close",
    "cancellation": "ends at once when it is cancelled",
    "leaked-task": "leaves no task behind",
    "about": "says in `about` what it measures, on what range: a planner knows no more of it",
    "no-measure": "gives a finite number or a Finding, and raises judgegraph.tools.Unmeasurable where it cannot",
    "missing-optional": "works without the keys that it declares as NotRequired",
    "missing-required": "names the key that is missing",
}


@dataclass(frozen=True)
class Breach:
    """One thing that an agent does and should not.

    Attributes:
        code: of `CODES`. message: what was seen. case: in which state, with which judge.
    """

    code: str
    message: str
    case: str = ""

    def __str__(self) -> str:
        where = f" [{self.case}]" if self.case else ""
        return f"{self.code}: {one_line(self.message, 400)}{where}; an agent that conforms {CODES[self.code]}"


@dataclass
class Conformance:
    """The report of `check_agent`; printed, it lists what was found.

    Attributes:
        agent: its class's name. findings: one per code and message, with the first case that showed it.
        notes: what could not be checked, and advice. runs: how often the agent was called.
    """

    agent: str
    findings: list[Breach] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    runs: int = 0
    ignored: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Nothing was found."""
        return not self.findings

    @property
    def codes(self) -> set[str]:
        """The codes that were found."""
        return {finding.code for finding in self.findings}

    def add(self, *found: Breach) -> None:
        """Keep findings, each of one message once."""
        known = {(finding.code, finding.message) for finding in self.findings}
        for one in found:
            if one.code not in self.ignored and (one.code, one.message) not in known:
                self.findings.append(one)
                known.add((one.code, one.message))

    def note(self, texts: Iterable[str]) -> None:
        """Keep notes, each once."""
        self.notes += [text for text in dict.fromkeys(texts) if text not in self.notes]

    def __str__(self) -> str:
        end = "conforms" if self.ok else f"{len(self.findings)} findings"
        lines = [f"{self.agent}: {end} ({self.runs} runs)", *(f"- {finding}" for finding in self.findings)]
        return "\n".join([*lines, *(f"  note: {one_line(note, 400)}" for note in self.notes)])
