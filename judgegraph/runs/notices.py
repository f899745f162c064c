"""What was skipped, dropped or not applied: found in a whole sample, and counted by kind over a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgegraph.answers import ANSWERING, drafts_that_stand
from judgegraph.calls.ratings import CONTRARY, GAINSAID, SEVERAL, fallback_reason
from judgegraph.errors import one_line
from judgegraph.replies.json_text import MENDED, RETAKEN
from judgegraph.types import Criterion, Note, Rectification, Score, Status

MOST_KINDS = 200  # that are told apart: ours are fewer, another package's agent may write a kind per sample
NAMED = 5  # names in a note
LONGEST = 600  # characters of a line's reason: what a server said, and what to do
FAILED = ("scores", "rectifications", "findings", "comparisons", "corrections")  # parts of an item that have a reason
LEFT_OUT = " left out: "  # behind a judge's name, in a note of a panel's score

TITLES: Mapping[str, str] = {  # kind -> what happened, the start of its line
    "advice-missing": "A critic's advice could not be had",
    "answer-taken-back": "A judge took an earlier answer back within its reply",
    "answers-differ": "A reply gave different answers, of which the last counts",
    "aspects-failed": "No aspects could be had for a target",
    "aspects-fewer": "Fewer aspects came than were asked for",
    "aspects-unscored": "Aspects without a score were left out",
    "assistants-failed": "No assistant gave a value",
    "assistants-not-consulted": "Assistants that the plan names were not consulted",
    "assistants-skipped": "All assistants were skipped",
    "assistants-unused": "No assistant was consulted",
    "condition-blind": "A condition had nothing to look at and could not open",
    "consultation-capped": "Consulting stopped at its cap on rounds",
    "consultation-failed": "The model called no assistants, those of the plan were called",
    "correction-unchanged": "A correction changed nothing",
    "criteria-doubled": "Criteria whose name had come before were left out",
    "criteria-dropped": "Criteria were given that got no score",
    "criteria-failed": "No criteria could be had",
    "criteria-fewer": "Another number of criteria came than was asked for",
    "critic-contrary": "A critic's verdict went against its own score and changed nothing",
    "critic-left-out": "A critic of a panel was left out",
    "doubt-unknown": "A condition names a criterion that is not there",
    "drafts-passed-over": "A critic reviewed the last of several judges' drafts, and the others count nowhere",
    "drafts-stand": "A critic was not heard, and drafts are the answer",
    "drafts-unread": "No draft could be read, and no critic was asked",
    "escalation-unanswered": "A stronger judge was asked and gave no answer",
    "gate-closed": "A gate stayed closed",
    "guideline-failed": "A criterion was judged without its guideline",
    "judgements-left-out": "Judgements without a score were left out",
    "labels-off-scale": "People's labels lie off the scale",
    "no-criteria": "Nothing was asked for lack of criteria",
    "no-rival": "A pair had no rival",
    "nothing-to-combine": "A panel had nothing to combine",
    "nothing-to-correct": "A corrector found no score to go by",
    "nothing-to-decide": "Neither of two judges gave a score",
    "nothing-to-review": "A critic found no score to review",
    "nothing-written": "The graph wrote nothing",
    "panel-member-failed": "A judge of a panel failed",
    "panel-member-missing": "A panel lost a member",
    "panel-member-silent": "A judge of a panel gave no answer",
    "criterion-unknown": "Scores of a criterion that nobody gave count",
    "scale-missing": "Numbers came without a scale",
    "criterion-on-scales": "One criterion was scored on several scales, so it has no mean",
    "no-answer": "No score is the graph's answer",
    "panel-fewer": "A panel counted fewer judges than it has",
    "panel-scales-differ": "A panel left out a judge whose scale differs",
    "plan-failed": "No plan could be had, all assistants were asked",
    "plan-mended": "A plan was mended",
    "query-empty": "Criteria were asked for a query that is empty",
    "read-as-stated": "Scores were read as the stated number, not by log-probabilities or samples",
    "read-by-samples": "Scores were read from samples, not by log-probabilities",
    "reply-mended": "Scores were read from a reply that was not the JSON asked for",
    "runs-differ": "What several runs wrote differently was left out",
    "scales-differ": "Criteria have different scales, and there is no overall score",
    "suggestions-dropped": "Suggestions that could not be used were left out",
    "suggestions-idle": "Suggestions were not shown to a person",
    "target-unscored": "A target was not scored, as no aspect speaks for it",
    "text-empty": "A judged text is empty or has no word",
    "text-opening": "A judged text opens an answer and gives none",
    "threshold-off-scale": "A threshold lies off the scale",
    "verdict-contrary": "A stated verdict was another than the reply's scores gave, which count",
    "verdicts-not-applied": "A critic's verdicts reached no score",
}  # fmt: skip


@dataclass
class Notice:
    """One kind of note over a run, or one reason why parts of its samples failed.

    Attributes:
        kind: as of `Note.kind`, or which parts they are, of `FAILED`. samples: how many samples have such a note.
        agent, text, status: of the first such note. sample: id of the sample that has it. others: samples whose
            text is another one, not in numbers and what it quotes alone.
    """

    kind: str
    agent: str
    text: str
    status: Status
    sample: str
    samples: int = 0
    others: int = 0

    def count(self, text: str) -> None:
        """One more sample with such a note."""
        self.samples += 1
        self.others += without_details(text) != without_details(self.text)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "kind": self.kind, "samples": self.samples, "status": self.status, "agent": self.agent,
            "example": self.text, "sample": self.sample,
        }  # fmt: skip

    def line(self, samples: int) -> str:
        """Such as "All assistants were skipped on 150 of 150 samples: rouge-l, chrf: no reference"."""
        plural = "" if samples == 1 else "s"
        said = title(self.kind) if self.kind not in FAILED else f"{self.kind.capitalize()} ended with {self.status}"
        other = f" ({self.others:,} of them for other reasons)" if self.others else ""
        return f"{said} on {self.samples:,} of {samples:,} sample{plural}: {one_line(self.text, LONGEST)}{other}"


NUMBERS = r"(?<!HTTP )(?<!code: )(?<!code )(?<!\d)\d+(?:[.,]\d+)*"  # a status of HTTP tells kinds apart
_DETAILS = re.compile(rf"'[^']{{0,200}}'|\"[^\"]{{0,200}}\"|{NUMBERS}")


def without_details(reason: str) -> str:
    """A reason without numbers and without what it quotes: those that are alike then are one reason."""
    return _DETAILS.sub("#", reason)


def title(kind: str) -> str:
    """What happened, in words; of a kind that is not ours its own words."""
    return TITLES.get(kind) or one_line(kind.replace("-", " "), 60).capitalize()


def count_kinds(notices: dict[str, Notice], sample: str, notes: Iterable[Note]) -> None:
    """Count one sample's notes: each kind once, however many it has of it."""
    first: dict[str, Note] = {}
    for note in notes:
        if note.kind:
            first.setdefault(note.kind, note)
    for kind, note in first.items():
        if kind not in notices and len(notices) >= MOST_KINDS:
            continue
        notices.setdefault(kind, Notice(kind, note.agent, note.text, note.status, sample)).count(note.text)


def by_count(notices: Mapping[Any, Notice]) -> list[Notice]:
    """The most frequent first, equal ones by kind."""
    return sorted(notices.values(), key=lambda one: (-one.samples, one.kind))


def unnoticed(
    scores: Sequence[Score], rectifications: Sequence[Rectification], criteria: Iterable[Criterion],
    compared: Iterable[str] = (), notes: Iterable[Note] = (),
) -> list[Note]:  # fmt: skip
    """What only a sample's whole result shows: verdicts that reached no score, drafts that stand, criteria without any.

    Args:
        criteria: that the sample was judged by, as far as its state says. compared: criteria of its comparisons.
        notes: of the sample.
    """
    if not rectifications and all(s.draft is None and s.scale is not None and s.reader != "panel" for s in scores):
        return _dropped(scores, criteria, compared)  # none of the others can say anything: as for nearly all samples
    return [
        *_not_applied(scores, rectifications), *_gainsaid(rectifications), *_unreviewed(scores), *_passed_over(scores),
        *_dropped(scores, criteria, compared), *_fewer(scores, notes), *_unscaled(scores),
    ]  # fmt: skip


TOLD_OF_PANELS = ("panel-member-failed", "panel-member-missing", "panel-member-silent", "panel-scales-differ")


def _fewer(scores: Sequence[Score], notes: Iterable[Note]) -> list[Note]:
    """A note for each panel that counted fewer judges than it has on some criteria, where no other note says so."""
    if not any(score.reader == "panel" for score in scores):
        return []
    told = {note.agent for note in notes if note.kind in (*TOLD_OF_PANELS, "criteria-dropped")}
    by_key = {score.key: score for score in scores}
    found: dict[str, list[str]] = {}
    for score in scores:
        if score.reader != "panel" or score.status != "ok" or score.draft is not None or score.agent in told:
            continue
        cast = {by_key[vote].agent for vote in score.votes if vote in by_key}
        lost = {note.partition(LEFT_OUT)[0] for note in score.notes if LEFT_OUT in note}
        if lost and (cast | lost) - lost:
            many = f"{len((cast | lost) - lost)} of {len(cast | lost)}"
            found.setdefault(score.agent, []).append(f"{many} on {one_line(score.criterion, 60)}")
    return [
        Note(agent=agent, status="skipped", kind="panel-fewer", text=f"'{one_line(agent, 80)}' counted {_few(said)}")
        for agent, said in found.items()
    ]


def _few(said: Sequence[str]) -> str:
    return ", ".join(said[:NAMED]) + (f" and {len(said) - NAMED} more" if len(said) > NAMED else "")


def _unscaled(scores: Sequence[Score]) -> list[Note]:
    """A note on answers that are numbers on no known scale: no mean of the answers holds them."""
    found = [
        s for s in scores
        if s.stage in ANSWERING and not s.member and s.status == "ok" and s.value is not None and s.scale is None
    ]  # fmt: skip
    if not found:
        return []
    many = names(list(dict.fromkeys(s.criterion for s in found)))
    text = (
        f"'{one_line(found[0].agent, 80)}' gave {found[0].value:.6g} for {many}, and nobody knows of how many: it "
        "counts in no mean of the answers; give the score a scale, such as Score(..., scale='0-100')"
    )
    return [Note(agent=found[0].agent, text=text, status="skipped", kind="scale-missing")]


def _unreviewed(scores: Sequence[Score]) -> list[Note]:
    """A note for each critic that said nothing of some drafts, which stand as the answer."""
    lost: dict[str, list[str]] = {}
    for final, draft in drafts_that_stand(scores):
        lost.setdefault(final.agent, []).append(draft.criterion)
    return [
        Note(
            agent=agent, status="skipped", kind="drafts-stand",
            text=f"'{one_line(agent, 80)}' said nothing of {names(list(dict.fromkeys(found)))}: what it was to review "
            "is the answer",
        )
        for agent, found in lost.items()
    ]  # fmt: skip


def _passed_over(scores: Sequence[Score]) -> list[Note]:
    """A note for each critic before which several judges gave drafts of one criterion: it reviewed the last of them."""
    if not any(s.draft for s in scores):
        return []
    by_key = {s.key: s for s in scores}
    used = {key for s in scores for key in (s.draft, *s.votes)}
    lost: dict[tuple[str, str, str], list[str]] = {}
    for final in scores:
        draft = by_key.get(final.draft or "")
        if draft is None or draft.stage != "draft" or final.stage != "final" or final.member:
            continue
        for one in scores:
            same = (one.criterion, one.of, one.stage) == (draft.criterion, draft.of, draft.stage)
            if same and one.agent != draft.agent and one.key not in used and not one.member:
                lost.setdefault((final.agent, draft.agent, one.agent), []).append(one.criterion)
    return [
        Note(
            agent=critic, status="skipped", kind="drafts-passed-over",
            text=f"'{one_line(critic, 80)}' reviewed what '{one_line(judge, 80)}' gave of {names(found)}, and what "
            f"'{one_line(other, 80)}' gave counts nowhere: name one by of=, or join them, jg.panel(..., stage='draft')",
        )
        for (critic, judge, other), found in lost.items()
    ]  # fmt: skip


def _not_applied(scores: Sequence[Score], verdicts: Sequence[Rectification]) -> list[Note]:
    """A note for each critic whose readable verdicts stand beside scores that they did not touch."""
    if not verdicts:
        return []
    by_key = {s.key: s for s in scores}
    applied: dict[str, set[str]] = {}  # criterion -> agents of scores that rectify a draft
    for score in scores:
        if score.draft is not None and _rectifies(score, by_key.get(score.draft)):
            applied.setdefault(score.criterion, set()).add(score.agent)
    lost: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.status == "ok" and not _reached(verdict, verdicts, applied.get(verdict.criterion, set())):
            lost.setdefault(verdict.agent, []).append(verdict.criterion)
    return [_unapplied(agent, names) for agent, names in lost.items()]


def _gainsaid(verdicts: Sequence[Rectification]) -> list[Note]:
    """A note for each critic some of whose verdicts go against the score beside them, and so changed nothing."""
    lost: dict[str, list[Rectification]] = {}
    for verdict in verdicts:
        if verdict.action == "keep" and any(GAINSAID in note for note in verdict.notes):
            lost.setdefault(verdict.agent, []).append(verdict)
    return [
        Note(
            agent=agent, status="skipped", kind="critic-contrary",
            text=f"'{one_line(agent, 80)}' on {names([one.criterion for one in found])}: "
            f"{next(note for note in found[0].notes if GAINSAID in note)}",
        )
        for agent, found in lost.items()
    ]  # fmt: skip


def _unapplied(agent: str, criteria: Sequence[str]) -> Note:
    text = (
        f"what '{one_line(agent, 80)}' says of {names(criteria)} changed no score: no Rectify(name=...) of its name "
        f"stands behind it, at the stage that it reviewed; or put it in as one node with jg.critique"
    )
    return Note(agent=agent, text=text, status="skipped", kind="verdicts-not-applied")


def _rectifies(final: Score, draft: Score | None) -> bool:
    """Whether it is a critic's: no stronger judge's, and none that waited for a verdict in vain."""
    unheard = final.status == "skipped" and draft is not None and draft.status == "ok"
    own = final.notes if draft is None else [note for note in final.notes if note not in draft.notes]
    return not unheard and not any(note.startswith(("escalated:", "not escalated:")) for note in own)


def _reached(verdict: Rectification, verdicts: Sequence[Rectification], agents: set[str]) -> bool:
    """Whether a score was rectified by it; who rectifies without a critic of its own name takes the last one's."""
    if verdict.agent in agents:
        return True
    said = [r for r in verdicts if r.criterion == verdict.criterion]
    return said[-1] is verdict and bool(agents - {r.agent for r in verdicts})


def _dropped(scores: Sequence[Score], criteria: Iterable[Criterion], compared: Iterable[str]) -> list[Note]:
    """A note on criteria without any score, where others have some."""
    asked = [c.name for c in criteria]
    known = {s.criterion for s in scores} | set(compared)
    lost = [name for name in asked if name not in known]
    if not lost or len(lost) == len(asked):  # where nothing at all was scored the sample itself says so
        return []
    agents = names(list(dict.fromkeys(s.agent for s in scores if s.criterion in asked)))
    text = f"{len(asked)} criteria were given, {len(asked) - len(lost)} scored by {agents or 'nobody'}: no score of "
    return [Note(agent="graph", text=text + names(lost), status="skipped", kind="criteria-dropped")]


def fallbacks(scores: Iterable[Score]) -> list[Note]:
    """A note for each way in which scores of a sample were read worse than its agents wanted, as their notes say."""
    found: dict[str, list[tuple[Score, str]]] = {}
    for score in scores:
        if score.status != "ok":
            continue
        if (why := fallback_reason(score.notes)) and score.reader in ("samples", "stated"):
            found.setdefault(f"read-{'by-samples' if score.reader == 'samples' else 'as-stated'}", []).append(
                (score, why)
            )
        if why := next((note for note in score.notes if note in MENDED), ""):
            found.setdefault("reply-mended", []).append((score, why))
        if any(note.startswith(RETAKEN) for note in score.notes):
            found.setdefault("answer-taken-back", []).append((score, RETAKEN))
        if why := next((note for note in score.notes if note.startswith(SEVERAL)), ""):
            found.setdefault("answers-differ", []).append((score, why))
        if why := next((note for note in score.notes if CONTRARY in note), ""):
            found.setdefault("verdict-contrary", []).append((score, why))
    return [
        Note(agent=some[0][0].agent, text=f"{len(some)} score{'' if len(some) == 1 else 's'}, {some[0][1]}", kind=kind)
        for kind, some in found.items()
    ]


LACKS: Mapping[str, str] = {  # what the manifest counts, by judge or prompt -> what that lacks, and what came of it
    "in_words": "Replies to a form that was told in words, as the judge takes no JSON schema or was seen to ignore it",
    "further": "Further calls for choices that the judge did not give at once, as n asked for",
    "unshown": "Prompts without a section for what their sample has, so that the judge was not shown it",
}


def lacks_of(manifest: Mapping[str, Any]) -> list[str]:
    """What judges cannot do and prompts leave out, a line each, with how many replies or calls that took."""
    calls = manifest.get("calls") or {}
    named = {
        title: ", ".join(f"{one_line(judge, 80)} ({count:,})" for judge, count in (calls.get(key) or {}).items())
        for key, title in LACKS.items()
    }
    lines = [f"{title}: {said}" for title, said in named.items() if said]
    return lines + ([UNSHOWN_EXAMPLES] if _examples_unshown(manifest) else [])


UNSHOWN_EXAMPLES = "Examples of criteria were shown to nobody: evaluators and critics as SAGEval's show them"
SHOWING_EXAMPLES = frozenset({"Evaluator", "Sage", "SelfReflection", "DevilsAdvocate", "CriticPanel", "PanelRole"})


def _examples_unshown(manifest: Mapping[str, Any]) -> bool:
    listed, nodes = manifest.get("criteria"), manifest.get("nodes")
    given = any(isinstance(one, Mapping) and one.get("examples") for one in listed or ())
    about = nodes.values() if isinstance(nodes, Mapping) else ()
    agents = {str(one.get("agent")) for one in about if isinstance(one, Mapping)}
    return given and bool(agents) and not agents & SHOWING_EXAMPLES


def names(listed: Sequence[str]) -> str:
    """A few names in a sentence."""
    shown = ", ".join(f"'{one_line(name, 60)}'" for name in listed[:NAMED])
    return f"{shown} and {len(listed) - NAMED} more" if len(listed) > NAMED else shown
