"""The pairwise judge: two responses, one criterion and its guideline, a score for each and a verdict."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.judge import bare, guideline_for
from judgegraph.calls import Form, JudgeLike, replies
from judgegraph.calls.asking import STRING, Incomplete, answer_schema, off_points, record
from judgegraph.calls.ratings import CONTRARY
from judgegraph.errors import ReplyError, ScaleError, settings_checked
from judgegraph.prompts import Rendered
from judgegraph.prompts.template import left_out_examples
from judgegraph.types import (
    Comparison,
    Comparisons,
    Criterion,
    Sample,
    Scale,
    Score,
    Scores,
    Side,
    Status,
    Verdict,
    keyed,
    sample_of,
    text_of,
)

# What a pairwise judge is asked to return: a score for each response and what sets them apart, or a bare verdict.


SWAPPED: dict[Verdict | None, Verdict | None] = {"A": "B", "B": "A", "tie": "tie", None: None}
SPOKEN: dict[str, tuple[str, ...]] = {"A": (), "B": (), "tie": ("tie", "tied")}

_SCORE = re.compile(r"(?<![a-z])(?:response|output|answer|assistant)\s+\(?([AB])\)?(?:['’]s)?\s+score\s*[:：]", re.I)
_SHORT = re.compile(  # "Response A: 3", "A - 4/5": a line or a part of one that says no more
    r"(?:^|(?<=[\n,;|])|(?<=[.!][ ]))[ \t#>-]{0,6}(?:(?:response|output|answer|assistant)\s+)?\(?([AB])\)?(?:['’]s)?"
    r"(?:[ ]?(?:score|rating)[ ]?)?[ ]?(?:[:：=]|[-–—](?=[ ]))"
    r"(?=[ ]{0,2}[0-9]{1,3}(?:[./][0-9]{1,3})?(?:[ \t.]*(?:[\n,;|(]|\Z)|[.][ ]))",
    re.I,
)
_COMPARISON = re.compile(r"(?<![a-z])comparison\s*[:：]", re.I)
_VERDICT = re.compile(r"(?<![a-z])(?:final\s+)?verdict\s*[:：]", re.I)
_TAKEN_BACK = re.compile(  # a last line that says no more than this
    r"(?:(?:actually|wait|no|sorry|please)[ ,.!]{1,3}){0,3}(?:(?:swap|exchange|reverse|switch)[ ](?:that|it|them|these"
    r"|(?:the|my)[ ](?:two[ ])?(?:scores|ratings|verdict))|I[ ](?:retract|withdraw)[ ](?:that|this|it|both)"
    r"|I[ ]take[ ](?:that|it)[ ]back|(?:scratch|strike|ignore|disregard|forget)[ ](?:that|this|it)|never[ ]?mind"
    r"|that[ ](?:is|was)[ ](?:wrong|a[ ]mistake))[.!]?",
    re.I,
)
_EXPLANATION = re.compile(r"\s*explanation\s*[:：]\s*", re.I)


@dataclass(frozen=True)
class SideJudgement:
    """What a reply says of one response: a score on the scale, or why there is none.

    Beside a bare verdict the status is "skipped": no score was due.
    """

    value: float | None = None
    reason: str = ""
    status: Status = "unreadable"


@dataclass(frozen=True)
class Judgement:
    """What a reply says of two responses.

    Attributes:
        a, b: the sides as the reply labels them.
        comparison: what sets them apart. stated: a verdict said in words, None where there is none.
    """

    a: SideJudgement
    b: SideJudgement
    comparison: str = ""
    stated: Verdict | None = None

    @property
    def verdict(self) -> Verdict | None:
        """The greater score, equal scores are a tie; without two scores the verdict said in words."""
        if self.a.value is None or self.b.value is None:
            return self.stated
        return greater(self.a.value, self.b.value)

    @property
    def status(self) -> Status:
        """ok with a verdict; else the status of a side that has no score."""
        if self.verdict is not None:
            return "ok"
        statuses: list[Status] = [side.status for side in (self.a, self.b) if side.status != "ok"]
        return "unreadable" if "unreadable" in statuses else statuses[0]

    def swapped(self) -> Judgement:
        """The same judgement with its labels exchanged."""
        return replace(self, a=self.b, b=self.a, stated=SWAPPED[self.stated])


def greater(a: float, b: float) -> Verdict:
    """The verdict of two sums or scores; equal ones are a tie (a float's last digits aside)."""
    if math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9):
        return "tie"
    return "A" if a > b else "B"


def pairwise_form(scale: Scale) -> Form[Judgement]:
    """Explanation and score of each response, then a comparison; a null score is an abstention."""
    score = answer_schema(scale)
    properties = {"explanation_a": STRING, "score_a": score, "explanation_b": STRING, "score_b": score}

    def read(data: Any) -> Judgement:
        said: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        (a, bad_a), (b, bad_b) = _side(said, "a", scale), _side(said, "b", scale)
        judgement = Judgement(a, b, str(said.get("comparison") or ""), _unasked_verdict(said))
        return _complete(judgement, [problem for problem in (bad_a, bad_b) if problem])

    return Form("pairwise", record({**properties, "comparison": STRING}), read)


def _unasked_verdict(said: Mapping[str, Any]) -> Verdict | None:
    """A verdict that stands beside the scores in a form, though none was asked for."""
    from judgegraph.replies.choices import read_choice

    given = next((said[key] for key in ("verdict", "winner", "preference") if isinstance(said.get(key), str)), "")
    return _verdict(read_choice(f"Verdict: {given}", SPOKEN).value) if given else None


def _side(said: Mapping[str, Any], label: str, scale: Scale) -> tuple[SideJudgement, str]:
    """One side, and what is wrong with it."""
    key, reason = f"score_{label}", str(said.get(f"explanation_{label}") or "")
    if key not in said:
        return SideJudgement(reason=reason), f"{key} is missing"
    if said[key] is None:
        return SideJudgement(reason=reason, status="abstained"), ""
    try:
        given = said[key]
        value = scale.check(float(given) if isinstance(given, str) else given)
    except ScaleError as error:
        return SideJudgement(reason=reason), f"{key}: {error}"
    except ValueError:
        return SideJudgement(reason=reason), f"{key} is no number on the scale {scale}"
    return SideJudgement(value, reason, "ok"), ""


def _complete(judgement: Judgement, problems: list[str]) -> Judgement:
    """The judgement, if nothing is wrong with it; half of one is kept in case asking again does not help."""
    if not problems or judgement.status == "ok":
        return judgement
    if len(problems) == 2:
        raise ValueError("; ".join(problems))
    raise Incomplete("; ".join(problems), judgement, 1)


def _object_in(text: str) -> Mapping[str, Any] | None:
    """The scores of both in JSON, though words were asked for; None where there are none."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) and {"score_a", "score_b"} <= said.keys() else None


def pairwise_text(scale: Scale) -> Form[Judgement]:
    """A plain reply: "Response A Score: n", "Response B Score: n" with explanations, "Comparison:", or a verdict.

    Source: Fennec's reply form (table 9). Its parser takes one character behind each mark and 0 where that fails; ours
    reads a number on the scale or none. A reply without scores is read for its verdict alone ("Output (a)", "tie").
    """
    form = pairwise_form(scale)

    def read(text: str) -> Judgement:
        if text.strip().startswith("{") and (said := _object_in(text)) is not None:
            found: Judgement = form.read(said)
            return found
        judgement = judgement_in(text, scale)
        if judgement.status == "refused":
            raise ReplyError("the model declined to judge", "refused", text)
        sides = {"A": judgement.a, "B": judgement.b}
        missing = [label for label, side in sides.items() if side.value is None and side.status != "abstained"]
        bad = [f"no score of Response {label} on {scale}" for label in missing]
        return _complete(judgement, bad)

    return Form("pairwise", None, read)


def judgement_in(text: str, scale: Scale) -> Judgement:
    """What a plain reply says; sides without a score abstained ("N/A"), are unreadable, or refused with the reply."""
    from judgegraph.replies.choices import read_choice
    from judgegraph.replies.quotation import attributed, disowned, unquoted
    from judgegraph.replies.reply import parts

    plain = parts(text).answer_text.replace("*", "")
    own = unquoted(plain)
    marks = [mark for kind in (_SCORE, _COMPARISON, _VERDICT) for mark in kind.finditer(own)]
    marks = [mark for mark in marks if not (attributed(own, mark.start()) or disowned(own, mark.start(), mark.end()))]
    marks.sort(key=lambda mark: mark.start())
    if not any(mark.re is _SCORE for mark in marks):
        marks = sorted([*marks, *_both_short(own)], key=lambda mark: mark.start())
    if not any(mark.re in (_SCORE, _SHORT) for mark in marks):
        choice = read_choice(text, SPOKEN)
        side = SideJudgement(status="skipped" if choice.status == "ok" else choice.status, reason=choice.rule)
        return Judgement(side, side, text.strip(), _verdict(choice.value))
    if _TAKEN_BACK.fullmatch(own.rstrip().rpartition("\n")[2].strip()):
        side = SideJudgement(status="unreadable", reason="scores that are taken back")
        return Judgement(side, side, text.strip())
    ends = [mark.start() for mark in marks[1:]] + [len(plain)]
    pieces = [(mark, plain[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    sides = {label: _side_in(label, pieces, scale) for label in "AB"}
    comparison = next((piece for mark, piece in pieces if mark.re is _COMPARISON), "")
    said = next((piece for mark, piece in reversed(pieces) if mark.re is _VERDICT), "")
    stated = _verdict(read_choice(f"Verdict: {said}", SPOKEN).value) if said else None
    return Judgement(sides["A"], sides["B"], comparison, stated)


def _both_short(text: str) -> list[re.Match[str]]:
    """A bare score of each response: "A: 4, B: 3". One of them alone may be a list mark."""
    marks = list(_SHORT.finditer(text))
    return marks if sorted(mark[1].upper() for mark in marks) == ["A", "B"] else []


def _side_in(label: str, pieces: list[tuple[re.Match[str], str]], scale: Scale) -> SideJudgement:
    """The score and the explanation under a response's mark; two different scores for one response are none."""
    from judgegraph.replies.free_text import read_rating

    read = []
    for mark, piece in pieces:
        if mark.re in (_SCORE, _SHORT) and mark[1].upper() == label:
            head, *rest = _EXPLANATION.split(piece, maxsplit=1)
            stated, _, below = head.strip().partition("\n")
            read.append((read_rating(f"Score: {stated[:60]}", scale), rest[0] if rest else below.strip()))
    reason = read[0][1] if read else ""
    if read and all(reading.status == "abstained" for reading, _ in read):
        return SideJudgement(reason=reason, status="abstained")
    values = {reading.value for reading, _ in read}
    if len(values) != 1 or not isinstance(value := values.pop(), float):
        return SideJudgement(reason=reason)
    return SideJudgement(value, reason, "ok")


def _verdict(value: float | str | None) -> Verdict | None:
    return value if value in ("A", "B", "tie") else None  # type: ignore[return-value]


Order = Literal["AB", "BA"]
Orders = Literal["AB", "BA", "both"]
PROMPTS = {"form": "judge_pair", "text": "judge_pair_text"}
EMPTY = '""'  # how an empty response is shown: its section must not be missing


class Case(TypedDict):  # what the comparer reads
    sample: Sample
    criterion: Criterion
    guidelines: NotRequired[dict[str, str]]  # criterion -> guideline; else the criterion's own


class Compared(TypedDict):  # what it writes
    comparisons: Comparisons
    scores: Scores


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Comparer:
    """Scores `Sample.output` (A) and `Sample.rival` (B) by one criterion; the greater score is the verdict.

    Source: Fennec, section 3.1, eq. 3, pairwise evaluation. For every order it writes a comparison, and a score per
    response (`of` says whose, `repeat` is 0 in order AB and 1 in order BA), so that a side whose score could be read
    keeps it. Scores and verdicts are always those of A = output and B = rival, whatever the order and the labels.

    Attributes:
        judge: who answers. task: one sentence that says what kind of text is judged.
        orders: "AB" prints A first, "BA" prints B first, "both" asks twice, side by side.
        labels: "position": A is always the one printed first (LLMBar, Auto-J), and what the reply says is mapped back
            here, so that a judge's liking for a letter cancels out in both orders; "response": a response keeps its
            letter when the order is exchanged (Fennec).
        reply: "form" asks for JSON, "text" for marked lines; of those a bare verdict is read too, without scores.
        prompt: a template, by default the reply's own. temperature: paper: 0; None leaves it to the judge.
    """

    judge: JudgeLike = "embedded"
    task: str = "an assistant's response to a user's query"
    orders: Orders = "AB"
    labels: Literal["response", "position"] = "position"
    reply: Literal["form", "text"] = "form"
    prompt: str = ""
    temperature: float | None = 0.0
    name: str = "comparer"
    stage: str = "final"

    def __post_init__(self) -> None:
        if self.prompt in ("", *PROMPTS.values()):  # so that `replace(agent, reply=...)` changes both
            object.__setattr__(self, "prompt", PROMPTS[self.reply])

    async def __call__(self, state: Case) -> Compared:
        orders: tuple[Order, ...] = ("AB", "BA") if self.orders == "both" else (self.orders,)
        judged = await asyncio.gather(*(self._judged(state, order) for order in orders))
        return {
            "comparisons": keyed(*(comparison for comparison, _ in judged)),
            "scores": {key: score for _, scores in judged for key, score in scores.items()},
        }

    async def _judged(self, state: Case, order: Order) -> tuple[Comparison, Scores]:
        criterion, about = state["criterion"], {"criterion": state["criterion"].name, "agent": self.name}
        if why := _unfit(sample_of(state), criterion):
            return Comparison(**about, order=order, status="skipped", reason=why), {}
        form = (pairwise_form if self.reply == "form" else pairwise_text)(criterion.scale)
        prompt = self.rendered(state, order)
        try:
            (reply,) = await replies(self.judge, prompt, form, temperature=self.temperature)
        except ReplyError as error:
            lost: Any = {"status": error.status, "reason": str(error), "raw": error.text or None}
            side = SideJudgement(reason=str(error), status=lost["status"])
            return Comparison(**about, order=order, **lost), self._scores(criterion, order, side, side)
        said: Judgement = reply.value
        if reply.ends is not None:
            reply.ends.end(said.status)
        exchanged = self.labels == "position" and order == "BA"
        contrary, remarks = _contrary(said), _remarks(said, criterion, exchanged)
        unshown = left_out_examples(criterion, sample_of(state))
        said, notes = said.swapped() if exchanged else said, (*reply.notes, *remarks, *unshown)
        comparison = Comparison(
            **about, order=order, verdict=said.verdict, score_a=said.a.value, score_b=said.b.value,
            status=said.status, reason=said.comparison, raw=None if said.status == "ok" else reply.text,
            notes=notes,
        )  # fmt: skip
        return comparison, self._scores(criterion, order, said.a, said.b, contrary)

    def rendered(self, state: Case, order: Order) -> Rendered:
        """The prompt; by position the texts change places, by response their sections do."""
        sample, criterion = sample_of(state), state["criterion"]
        a, b = (_shown(text_of(text)) for text in (sample.output, sample.rival))
        by_section = self.labels == "response"
        a, b = (a, b) if by_section or order == "AB" else (b, a)
        early = by_section and order == "BA"
        return prompts.load(self.prompt).render(
            task=self.task, criterion=bare(criterion),
            guideline=guideline_for(criterion, state.get("guidelines")),
            **{name: value for name, value in prompts.material(sample, (criterion,)).items() if name != "output"},
            response_a=a, response_b_first=b if early else "", response_b="" if early else b,
        )  # fmt: skip

    def _scores(
        self, criterion: Criterion, order: Order, a: SideJudgement, b: SideJudgement, notes: tuple[str, ...] = ()
    ) -> Scores:
        """A score per response; none where the reply was a bare verdict."""
        sides: tuple[tuple[Any, SideJudgement], ...] = (("output", a), ("rival", b))
        return keyed(*(
            Score(
                criterion=criterion.name, agent=self.name, stage=self.stage, repeat=int(order == "BA"), of=of,
                value=side.value, status=side.status, reason=side.reason, scale=criterion.scale,
                reader="stated" if side.value is not None else "",
                notes=() if side.value is None else (*off_points(side.value, criterion.scale), *notes),
            )
            for of, side in sides if side.status != "skipped"
        ))  # fmt: skip


def _shown(text: str) -> str:
    return text if text.strip() else EMPTY


def _unfit(sample: Sample, criterion: Criterion) -> str:
    """Why there is nothing to compare, "" where there is."""
    if sample.rival is None:
        return "the sample has no rival to compare with"
    return "a scale of labels has no scores to compare" if criterion.scale.labels else ""


def _remarks(said: Judgement, criterion: Criterion, exchanged: bool) -> tuple[str, ...]:
    values = [side.value for side in (said.a, said.b) if side.value is not None]
    return (
        *(note for value in dict.fromkeys(values) for note in off_points(value, criterion.scale)),
        *(["in the reply's words A is the rival, which was printed first"] if exchanged else []),
        *_contrary(said),
    )


def _contrary(said: Judgement) -> tuple[str, ...]:
    """A note where the verdict that a reply states is another than its scores give: the scores count."""
    scored = said.a.value is not None and said.b.value is not None
    if not scored or said.stated in (None, said.verdict):
        return ()
    return (f"the reply says {said.stated}{CONTRARY}{said.verdict}; the scores count",)


# Two responses that were scored apart, each without the other in view: what their scores say of the pair.


NAMES: dict[Side, str] = {"output": "A", "rival": "B"}


def compared(scores: Iterable[Score]) -> list[Comparison]:
    """A comparison per criterion, in the order of judging: the greater of two single scores is the verdict.

    Source: Fennec, section 5.2 (table 3): pairs decided by single evaluation. A side without a number gives no
    verdict, but a status and the reason; the other side keeps its score.

    Args:
        scores: final scores of one agent, of `output` and of `rival`.
    """
    found: dict[str, dict[Side, Score]] = {}
    for score in scores:
        found.setdefault(score.criterion, {})[score.of] = score
    return [_compared(sides) for sides in found.values()]


def _compared(sides: Mapping[Side, Score]) -> Comparison:
    one = next(iter(sides.values()))
    values = {side: sides[side].value if side in sides else None for side in NAMES}
    lacking: list[tuple[Side, Score | None]] = [(side, sides.get(side)) for side in NAMES if values[side] is None]
    a, b = values["output"], values["rival"]
    status: Status = "ok"
    if lacking:
        status = next((s.status for _, s in lacking if s is not None and s.status != "ok"), "skipped")
    return Comparison(
        criterion=one.criterion, agent=one.agent, score_a=a, score_b=b, status=status,
        verdict=greater(a, b) if a is not None and b is not None else None,
        reason="each scored alone" if not lacking else "; ".join(_why(side, score) for side, score in lacking),
    )  # fmt: skip


def _why(side: Side, score: Score | None) -> str:
    if score is None or score.label is not None:
        return f"{NAMES[side]} has no score" if score is None else "a scale of labels has no scores to compare"
    return f"{NAMES[side]}: {score.status}" + (f" ({score.reason})" if score.reason else "")
