"""What corrections gained: each and its original judged alone by another judge than the one that corrected.

A text was picked for correction because its judge scored it low. Scored once more by that judge it would rise by
itself where the low score was bad luck, and a corrector likes what it wrote. So another judge scores both texts, which
it has not picked.

Source: Fennec, section 5.3 and table 4 (scores before and after, by another model).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from judgegraph.agents.reverse import carried_over
from judgegraph.calls import JudgeLike
from judgegraph.calls.budget import priced
from judgegraph.compiled import agents_of
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.graphs.regrade import CORRECTED, JUDGED_BY, regrade
from judgegraph.meta.result import Drawing, Measured
from judgegraph.prompts.criteria import CriteriaLike
from judgegraph.runs.evaluate import evaluate
from judgegraph.runs.folder import write_lines
from judgegraph.runs.identity import judge_line
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run, corrected, incomplete_run
from judgegraph.stats.agreement import corrected as corrected_for_many
from judgegraph.stats.agreement import sign_test
from judgegraph.stats.correlation import Codes
from judgegraph.types import Criterion, Sample, Side, text_of, words

RESULT = "gain.json"
EVEN, DIGITS = 1e-9, 12  # a score that moves by less does not move; what comes after so many digits is round-off
_IDLE = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Gain:
    """What corrections gained by one criterion, or by several taken together.

    Attributes:
        criterion: its name; "overall" of all, "low" of those that had scored low, "others" of the rest. In these three
            a correction counts once, by the mean over its criteria.
        n: corrections with both scores. unread: without one of them. queries: different ones among them, each with
            its source.
        before, after: means, in points of 1-5. gain: their difference; intervals draw queries.
        raised, lowered, even: corrections that scored higher than their original, lower, alike.
        p: of the sign test, over queries, two-sided. p_holm: for all criteria at once (Holm); nan of the three.
    """

    criterion: str
    n: int
    unread: int
    queries: int
    before: float
    after: float
    gain: Measured
    raised: int
    lowered: int
    even: int
    p: float
    p_holm: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        plain = {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in vars(self).items()}
        return {**plain, "gain": self.gain.to_dict()}


@dataclass(frozen=True)
class CorrectionGain:
    """What the corrections of a run gained.

    Attributes:
        overall, low, others: over all criteria, those that had scored low, the rest; None where there are none.
        criteria: one by one, the most often judged first.
        responses: how many scored low: outcome ("ok", "unchanged" or a status) -> how many.
        judge: who judged. correctors: who corrected. same_judge: whether these are one, and the gain says little.
        run_signature: of the run that corrected. signature: of the run that judged. notes: what to know.
    """

    overall: Gain | None
    low: Gain | None
    others: Gain | None
    criteria: tuple[Gain, ...]
    responses: Mapping[str, int]
    judge: str
    correctors: tuple[str, ...]
    same_judge: bool
    run_signature: str
    signature: str
    confidence: float = 0.95
    notes: tuple[str, ...] = ()
    calls: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_shown(self) -> bool:
        """Whether the interval of the overall gain lies on one side of 0, and the sign test bears it out."""
        one = self.overall
        return one is not None and (one.gain.low > 0 or one.gain.high < 0) and one.p <= 1 - self.confidence + EVEN

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        sides = {name: getattr(self, name) for name in ("overall", "low", "others")}
        return {
            **{name: one.to_dict() if one else None for name, one in sides.items()},
            "criteria": [one.to_dict() for one in self.criteria], "responses": dict(self.responses),
            "judge": self.judge, "correctors": list(self.correctors), "same_judge": self.same_judge,
            "confidence": self.confidence, "run_signature": self.run_signature, "signature": self.signature,
            "notes": list(self.notes), "calls": dict(self.calls),
        }  # fmt: skip

    def save(self, folder: str | Path) -> Path:
        """Write it as `gain.json` into a folder, such as that of the run that judged.

        Raises:
            ConfigError: it cannot be written.
        """
        path = Path(folder) / RESULT
        write_lines(path, [json.dumps(self.to_dict(), indent=1, ensure_ascii=False)])
        return path


def corrections_of(run: Run) -> list[Sample]:
    """The changed corrections of a run as samples that `judgegraph.graphs.regrade` judges.

    `output` is the correction and `rival` the original. Nothing that was said of the original travels along: no
    human judgements, no columns of its row; only what it was corrected by, and the criteria it was judged by.

    Raises:
        ConfigError: no response of the run was changed. DataError: the run cannot be read.
    """
    found = list(_samples(run))
    if not found:
        said = outcomes(run)
        told = ", ".join(f"{count} {name}" for name, count in said.items()) or "no response scored low"
        raise ConfigError(f"no correction to judge: {told}")
    return found


def _samples(run: Run) -> Iterator[Sample]:
    for item in sorted(run.items, key=lambda item: item.place):
        criteria = [one.model_dump(mode="json", exclude_defaults=True) for one in judged_by(item)]
        for sample in corrected([item], run.signature):
            about = {**sample.meta[CORRECTED], JUDGED_BY: criteria}
            yield sample.model_copy(update={"meta": {CORRECTED: about}, "human": {}})


def judged_by(item: Item) -> list[Criterion]:
    """The criteria that a sample was judged by, each with its guideline; those with labels are left out."""
    guidelines = item.other.get("guidelines") or {}
    held = list(item.branches.values()) or list(item.criteria)
    if not held:
        names = dict.fromkeys(score.criterion for made in item.corrections for score in made.by)
        held = [Criterion(name=name) for name in names]
    full = [one.model_copy(update={"guideline": guidelines.get(one.name) or one.guideline}) for one in held]
    return [one for one in full if not one.scale.labels]


def outcomes(run: Run) -> dict[str, int]:
    """What became of the responses that scored low: "ok" of one that was changed, "unchanged", or a status."""
    found = Counter(made.outcome for item in run.items for made in item.corrections)
    return dict(sorted(found.items(), key=lambda pair: (pair[0] != "ok", pair[0] != "unchanged", -pair[1])))


def correctors_of(run: Run) -> tuple[str, ...]:
    """Who corrected, as the run's manifest has it: "openai:gpt-4.1-mini@t0"."""
    return _judges_of(run, "Corrector")


def _judges_of(run: Run, *agents: str) -> tuple[str, ...]:
    nodes = run.manifest.get("nodes") or {}
    held = [about.get("judge") for about in nodes.values() if isinstance(about, Mapping)
            and about.get("agent") in agents]  # fmt: skip
    return tuple(dict.fromkeys(str(judge) for judge in held if judge))


def refuse_same(run: Run, graph: Any, *, allowed: bool) -> bool:
    """Whether a graph of `regrade` asks the model that corrected; the provider, temperature and address aside.

    Raises:
        ConfigError: it does, and that is not allowed.
    """
    judge = judge_of_graph(graph)
    same = [one for one in correctors_of(run) if _model(one) == _model(judge)]
    if same and not allowed:
        raise ConfigError(
            f"{one_line(judge, 60)} corrected these texts: it would judge its own work, and what it picked for a low "
            "score rises by itself. Name another judge: --judge, or judge=; --same-judge (same_judge=True) does it "
            "all the same, and the result says so"
        )
    return bool(same)


def judge_of_graph(graph: Any) -> str:
    """Who judges in a graph of `regrade`."""
    for node, agent in agents_of(graph):
        if node.endswith("judge"):
            return judge_line(agent.judge, agent.temperature)
    raise ConfigError("no node of the graph judges")


def _model(judge: str) -> str:
    return _IDLE.sub("", judge.partition("@")[0].rpartition(":")[2].rpartition("/")[2].casefold())


@dataclass(frozen=True)
class _Pair:
    """A correction's scores of one criterion, on 1-5; None where one could not be read."""

    sample: str
    query: str
    criterion: str
    was_low: bool
    before: float | None
    after: float | None


def _pairs(items: Iterable[Item]) -> Iterator[_Pair]:
    for item in items:
        about = item.sample.meta.get(CORRECTED) or {}
        asked = words(
            f"{item.sample.query}\n{text_of(item.sample.source)}"
        )  # of summaries the article tells them apart
        query = blake2b(" ".join(asked).encode()).hexdigest() if asked else str(about.get("id"))
        low = set(about.get("criteria") or ())
        scores: dict[tuple[str, Side], float] = {}
        for score in item.scores:
            if score.value is not None and score.scale is not None:
                scores[score.criterion, score.of] = carried_over(score.value, score.scale)
        for name in dict.fromkeys(one.name for one in item.branches.values()):
            after, before = scores.get((name, "output")), scores.get((name, "rival"))
            yield _Pair(item.id, query, name, name in low, before, after)


def gain_of(
    run: Run, judged: Run, *, judge: str = "", same_judge: bool = False, confidence: float = 0.95,
    resamples: int = 1000, seed: int = 0,
) -> CorrectionGain:  # fmt: skip
    """What the corrections of a run gained, by the run that judged them.

    Args:
        judged: a run of `judgegraph.graphs.regrade` over `corrections_of(run)`.
        resamples, seed: of the bootstrap, which draws queries.

    Raises:
        DataError: it is a run of another graph.
    """
    if judged.manifest.get("method") != "regrade":
        raise DataError(f"a run of {one_line(str(judged.manifest.get('method')), 40)}; expected one of regrade")
    pairs = list(_pairs(judged.items))
    drawing = Drawing(confidence, resamples, seed)
    names = Counter(one.criterion for one in pairs)
    each = [_gain(name, [one for one in pairs if one.criterion == name], drawing) for name, _ in names.most_common()]
    holm = corrected_for_many([one.p if one.n else math.nan for one in each])
    each = [replace(one, p_holm=float(p)) for one, p in zip(each, holm, strict=True)]
    low, rest = [one for one in pairs if one.was_low], [one for one in pairs if not one.was_low]
    sides = {"overall": pairs, "low": low, "others": rest}
    overall, picked, others = (_gain(name, side, drawing) if side else None for name, side in sides.items())
    left = incomplete_run(judged)
    notes = [f"{left}: the corrections that were judged so far"] if left else []
    if not same_judge and _model(judge) in map(_model, _judges_of(run, "Judge", "Comparer")):
        notes.append(
            "the judge is the one whose low scores picked these texts: where a low score was bad luck it rises by "
            "itself; a judge that did not score in the run is a fairer one"
        )
    if incomplete_run(run):
        notes.append(f"the run that corrected is {incomplete_run(run)}")
    calls = {key: priced(judged.manifest.get(key) or {}) for key in ("calls", "spent")}
    return CorrectionGain(
        overall, picked, others, tuple(each), outcomes(run), judge, correctors_of(run), same_judge, run.signature,
        judged.signature, confidence, tuple(notes), calls,
    )  # fmt: skip


def _gain(name: str, pairs: Sequence[_Pair], drawing: Drawing) -> Gain:
    """Each correction once, by the mean over its criteria that were read on both sides."""
    held: dict[str, list[_Pair]] = {}
    for one in pairs:
        held.setdefault(one.sample, []).append(one)
    read = {id: [one for one in mine if None not in (one.before, one.after)] for id, mine in held.items()}
    means = [(_mean(mine, "before"), _mean(mine, "after"), mine[0].query) for mine in read.values() if mine]
    gains = [round(after - before, DIGITS) + 0.0 for before, after, _ in means]
    queries = [query for *_, query in means]
    code: Codes | None = np.unique(queries, return_inverse=True)[1].astype(np.intp) if queries else None
    of_query: dict[str, list[float]] = {}
    for query, gain in zip(queries, gains, strict=True):
        of_query.setdefault(query, []).append(gain)
    moved = [fmean(mine) for mine in of_query.values()]
    undefined = math.nan
    return Gain(
        criterion=name, n=len(means), unread=len(held) - len(means), queries=len(of_query),
        before=fmean(b for b, _, _ in means) if means else undefined,
        after=fmean(a for _, a, _ in means) if means else undefined, gain=drawing.mean(gains, code),
        raised=_count(gains, lambda g: g > EVEN), lowered=_count(gains, lambda g: g < -EVEN),
        even=_count(gains, lambda g: abs(g) <= EVEN),
        p=sign_test(_count(moved, lambda g: g > EVEN), _count(moved, lambda g: g < -EVEN)) if means else undefined,
    )  # fmt: skip


def _mean(pairs: Sequence[_Pair], side: str) -> float:
    return fmean(getattr(one, side) for one in pairs)


def _count(gains: Sequence[float], rule: Callable[[float], bool]) -> int:
    return sum(map(rule, gains))


def correction_gain(
    run: Run, judge: JudgeLike, *, criteria: CriteriaLike | None = None, same_judge: bool = False,
    out: str | Path | None = None, confidence: float = 0.95, resamples: int = 1000, seed: int = 0, **settings: Any,
) -> CorrectionGain:  # fmt: skip
    """Judge the corrections of a run and their originals by another judge, and say what was gained.

    Args:
        run: of Fennec, or of any graph with a corrector. judge: who judges; not the one that corrected.
        criteria: a set's name, a file, or criteria; None: those that each original was judged by.
        same_judge: let the one that corrected judge all the same; the result says so.
        out: a folder for the run that judges and for `gain.json`; the same call goes on where it was stopped.
        settings: of `evaluate`, such as budget and limits.

    Raises:
        ConfigError: nothing was changed, or the judge is the one that corrected. DataError: a run that cannot be read.
    """
    graph = regrade(judge, criteria=criteria)
    same = refuse_same(run, graph, allowed=same_judge)
    judged = evaluate(graph, corrections_of(run), out=out, **settings)
    found = gain_of(
        run, judged, judge=judge_of_graph(graph), same_judge=same, confidence=confidence, resamples=resamples, seed=seed
    )  # fmt: skip
    if out is not None:
        found.save(out)
    return found
