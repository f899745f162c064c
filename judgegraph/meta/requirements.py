"""Requirements that a run must meet: a mean, or a share of samples, told by the end of its interval."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from judgegraph.answers import answers_of, over_all_of
from judgegraph.errors import ConfigError, counted, one_line, settings_checked
from judgegraph.prompts.criteria import same_key
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run, incomplete_run, rejected_rows, total_of
from judgegraph.stats.bootstrap import mean_interval
from judgegraph.types import Criterion, Scale, Score, number_of

OVERALL, THRESHOLDS = "overall", "thresholds"
LEAST = 5  # samples that an interval rests on
UNJUDGED, UNREAD = NO_ANSWERS = ("nothing was judged", "no sample has an answer by it that could be read")
_TEST = re.compile(r"\s*(?P<name>.+?)\s*(?P<op>>=|<=|==|>|<|=)\s*(?P<bound>.+?)\s*")
_SHARE = re.compile(r"\s*share\s*\((?P<inner>.+)\)\s*(?P<op>>=|<=|>|<)\s*(?P<bound>[0-9.]+\s*%?)\s*", re.I)
_HOLDS = {
    ">=": lambda value, bound: value >= bound, ">": lambda value, bound: value > bound,
    "<=": lambda value, bound: value <= bound, "<": lambda value, bound: value < bound,
}  # fmt: skip
_LABEL = re.compile(r"[^\W\d_][^()<>=%]*")  # in the place of a number: of a scale whose labels have values
_FORMS = 'such as "Clarity >= 4", "share(Clarity >= 4) >= 0.95" or "share(Tone = warm) >= 90%"'


@dataclass(frozen=True)
class Requirement:
    """Such as "Clarity >= 4", of a mean, or "share(Clarity >= 4) >= 0.95", of samples.

    Attributes:
        text: as it was written. name: of the criterion. op, bound: what the mean or the share is held against.
        each: of a share, what a sample must meet: (op, number or label).
        label: of a mean, in the place of `bound` ("Clarity >= fair"), which is its value on the criterion's scale.
    """

    text: str
    name: str
    op: str
    bound: float
    each: tuple[str, float | str] | None = None
    label: str = ""

    @classmethod
    def of(cls, text: str) -> Requirement:
        """Raises ConfigError: it is none; the message says what one looks like."""
        share = _SHARE.fullmatch(text)
        found = cls._of_share(text) if share else cls._of_mean(text)
        if found is None:
            raise ConfigError(f"'{one_line(text, 80)}' is no requirement; write one {_FORMS}")
        if share and found.bound > 1:
            bound = share["bound"].strip()
            percent = "%" in bound
            cure = "" if percent or found.bound > 100 else f"; write {found.bound / 100:g} or {found.bound:g}%"
            above = "100%" if percent else "1"
            raise ConfigError(f"'{one_line(text, 80)}': {bound} is above {above}, and no share is{cure}")
        return found

    @classmethod
    def _of_share(cls, text: str) -> Requirement | None:
        share = _SHARE.fullmatch(text)
        inner = _TEST.fullmatch(share["inner"]) if share else None
        bound = _number(share["bound"].rstrip("% ")) if share else None
        if share is None or inner is None or bound is None:
            return None
        bound /= 100 if "%" in share["bound"] else 1
        number, equal = _number(inner["bound"]), inner["op"] in ("=", "==")
        if number is None and not equal and not _LABEL.fullmatch(inner["bound"]):
            return None
        each = ("=" if equal else inner["op"], inner["bound"] if number is None else number)
        return cls(text.strip(), inner["name"], share["op"], bound, each)

    @classmethod
    def _of_mean(cls, text: str) -> Requirement | None:
        whole = _TEST.fullmatch(text)
        if whole is None or whole["op"] not in _HOLDS or "(" in whole["name"]:
            return None
        bound, label = _number(whole["bound"]), whole["bound"]
        if bound is not None:
            return cls(text.strip(), whole["name"], whole["op"], bound)
        return cls(text.strip(), whole["name"], whole["op"], math.nan, None, label) if _LABEL.fullmatch(label) else None

    @property
    def ordered_label(self) -> str:
        """The label that stands for its value, "" where there is none: "Tone = warm" asks for the label itself."""
        if self.each is None:
            return self.label
        return self.each[1] if isinstance(self.each[1], str) and self.each[0] != "=" else ""

    def on(self, scale: Scale | None) -> Requirement:
        """The same by the value of its label, which its text says."""
        value, share = _label_value(scale, self.ordered_label), _SHARE.fullmatch(self.text)
        if value is None:
            return self
        end = len(self.text[: share.end("inner")].rstrip()) if share else len(self.text)
        text = f"{self.text[:end]} ({value:g}){self.text[end:]}"
        if self.each is None:
            return replace(self, text=text, bound=value, label="")
        return replace(self, text=text, each=(self.each[0], value))

    def met_by(self, answers: Sequence[Score]) -> float | None:
        """What a sample counts for: the mean of its answers by the criterion, of a share 1 or 0; None without any."""
        own = [
            score for score in answers if score.answer is not None and same_key(score.criterion) == same_key(self.name)
        ]
        values = [value for score in own if (value := number_of(score)) is not None]
        if self.each is None:
            return sum(values) / len(values) if values else None
        op, bound = self.each
        if isinstance(bound, str) and op == "=":
            return float(any(same_key(str(score.label)) == same_key(bound) for score in own)) if own else None
        mean = sum(values) / len(values) if values else None
        least = _label_value(own[0].scale, bound) if isinstance(bound, str) and own else bound
        if mean is None or not isinstance(least, float):
            return None
        return float(mean == least if op == "=" else _HOLDS[op](mean, least))


def _label_value(scale: Scale | None, label: str) -> float | None:
    """The number of a label, whatever its case; None where the scale has no such label or its labels no numbers."""
    found = [one for one in scale.labels if same_key(one) == same_key(label)] if scale and label else []
    return scale.value_of(found[0]) if scale and found else None


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


@dataclass(frozen=True)
class Outcome:
    """Whether a run meets a requirement.

    Attributes:
        text: the requirement. met: the end of the interval that is nearer to the bound meets it.
        value: the mean or the share. low, high: its 95 % interval: of a share Wilson's, of a mean, and where samples
            name their groups (`meta.group`), by drawing samples or whole groups of them anew.
        samples: that it rests on. without: of those that were asked for, the samples without an answer by the
            criterion; a mean leaves them out, a share counts them against what is required, as whatever they would
            have brought is not known. absent: of these, rows that were rejected and samples that were not judged, as
            the coverage counts them too. why: why it is not met, "" where it is.

    A share is a fraction here, and is printed as it was written: 0.6, or 60%.
    """

    text: str
    met: bool
    value: float | None
    low: float | None
    high: float | None
    samples: int
    without: int
    why: str = ""
    absent: int = 0
    share: bool = False

    def __str__(self) -> str:
        if self.why in (UNJUDGED, UNREAD):
            return f"required: {self.text}: not known: {self.why}"
        parts = [f"required: {self.text}: {'met' if self.met else 'not met'}"]
        if self.value is not None:
            parts.append(_as_written(self.value, self.text))
        if self.low is not None and self.high is not None:
            parts[-1] += f" [{_as_written(self.low, self.text)}, {_as_written(self.high, self.text)}]"
        parts[-1] += f" over {self._over()}"
        return ", ".join(parts) if self.met else f"{', '.join(parts)}: {self.why}"

    def _over(self) -> str:
        if not self.without:
            return counted(self.samples, "sample")
        these = f" ({self.absent:,} of them rejected rows or not judged)" if self.absent else ""
        lacking = f"{self.without:,} without an answer{these}"
        if self.share:
            return f"{counted(self.samples, 'sample')}, {lacking}, counted against it"
        return f"{self.samples:,} of {counted(self.samples + self.without, 'sample')}, {lacking}, left out"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def _as_written(value: float, text: str) -> str:
    """A mean, or a share in the unit of its requirement."""
    return f"{100 * value:.3g}%" if text.endswith("%") else f"{value:.2f}"


@settings_checked
def require(run: Run, *texts: str) -> list[Outcome]:
    """Hold a run against requirements, such as `jg.require(run, "share(Clarity >= 4) >= 0.95")`.

    A run that did not come to its end meets none.

    Raises:
        ConfigError: a text is no requirement.
    """
    required = [Requirement.of(text) for text in texts]
    rejected, total = rejected_rows(run), total_of(run.manifest)
    lost = sum(row["lost"] for row in rejected if isinstance(row.get("lost"), int))
    items = list(run.items)
    left = 0 if run.manifest.get("state") == "finished" else max(0, (total or 0) - len(items))
    return outcomes(items, required, len(rejected) + lost + left, incomplete_run(run))


def outcomes(
    items: Iterable[Item], required: Sequence[Requirement], absent: int = 0, unfinished: str = ""
) -> list[Outcome]:
    """Each requirement held against the items of a run; a pair's two sides have no answer that counts here.

    Args:
        absent: rows that were rejected, and samples that were not judged. unfinished: why the items are a part of the
            run, "" where they are all; a part meets nothing.
    """
    found: list[list[float | None]] = [[] for _ in required]
    groups: list[str | None] = []
    seen: dict[str, str] = {}
    scales: dict[str, list[Scale | None]] = {}
    judged = False
    for item in items:
        answers = [score for score in answers_of(item) if score.of == "output"] if item.sample.rival is None else []
        if (over_all := over_all_of(item)) is not None and item.sample.rival is None:
            answers = [*answers, Score(criterion=OVERALL, agent="", value=over_all)]
        group = item.sample.meta.get("group")
        groups.append(None if group is None else str(group))
        seen.update({same_key(score.criterion): score.criterion for score in answers})
        for score in answers:
            known = scales.setdefault(same_key(score.criterion), [])
            known += [score.scale] if score.answer is not None and score.scale not in known else []
        judged = judged or any(score.answer is not None for score in answers)
        for values, one in zip(found, required, strict=True):
            values.append(one.met_by(answers))
    on = [scales.get(same_key(one.name), []) for one in required]
    required = [one.on(known[0]) if len(known) == 1 else one for one, known in zip(required, on, strict=True)]
    held = [
        _outcome(one, values, groups, seen, absent, known, judged=judged)
        for one, values, known in zip(required, found, on, strict=True)
    ]
    told = [replace(one, absent=absent, share=of.each is not None) for one, of in zip(held, required, strict=True)]
    if not unfinished:
        return told
    return [
        replace(one, met=False, why=f"the run is {unfinished}") if one.why not in NO_ANSWERS else one for one in told
    ]


def _outcome(
    one: Requirement, values: Sequence[float | None], groups: Sequence[str | None], seen: Mapping[str, str],
    absent: int, scales: Sequence[Scale | None], *, judged: bool,
) -> Outcome:  # fmt: skip
    without = sum(value is None for value in values) + absent
    if not judged:
        return Outcome(one.text, False, None, None, None, 0, without, UNJUDGED)
    if same_key(one.name) not in seen:
        named = ", ".join(sorted(seen.values())) or "none"
        return Outcome(
            one.text, False, None, None, None, 0, without, f"no sample has an answer by it; judged by: {named}"
        )
    if one.ordered_label:
        label = f"'{one_line(one.ordered_label, 60)}'"
        why = f"{label} is no label: its scale is not known"
        if len(scales) > 1:
            why = f"its answers stand on {len(scales)} scales, so {label} has no one value"
        elif scales and scales[0]:
            why = _off(one, scales[0])
        return Outcome(one.text, False, None, None, None, 0, without, why)
    if one.each is not None:
        against = float(one.op in ("<", "<="))  # what is not known helps nothing to be met
        held = [against if value is None else value for value in (*values, *[None] * absent)]
        groups = [*groups, *(f"absent {n}" if None not in groups else None for n in range(absent))]
        at = list(range(len(held)))
    else:
        held = [value for value in values if value is not None]
        at = [place for place, value in enumerate(values) if value is not None]
    if not held:
        return Outcome(one.text, False, None, None, None, 0, without, UNREAD)
    mean = sum(held) / len(held)
    if len(held) < LEAST:
        why = f"fewer than {LEAST} samples, so it cannot be told for sure"
        return Outcome(one.text, False, mean, None, None, len(held), without, why)
    low, high = _ends(np.array(held), [groups[place] for place in at], share=one.each is not None)
    end = low if one.op in (">", ">=") else high
    if math.isnan(end):
        why = "all samples are of one group, so it cannot be told for sure"
        return Outcome(one.text, False, mean, None, None, len(held), without, why)
    met = bool(_HOLDS[one.op](end, one.bound))
    side = "lower" if one.op in (">", ">=") else "upper"
    bound = f"{100 * one.bound:g}%" if one.text.endswith("%") else f"{one.bound:g}"
    if met:
        why = ""
    elif _HOLDS[one.op](mean, one.bound):
        why = f"the {side} end of its interval, {_precise(end, one.text)}, is not {one.op} {bound}"
    else:
        why = f"{_precise(mean, one.text)} is not {one.op} {bound}"
    return Outcome(one.text, met, mean, low, high, len(held), without, why)


def _precise(value: float, text: str) -> str:
    return _as_written(value, text) if text.endswith("%") else f"{value:.3g}"


def _ends(
    values: np.ndarray[Any, np.dtype[np.float64]], groups: Sequence[str | None], *, share: bool
) -> tuple[float, float]:
    """A 95 % interval: of a share Wilson's; of a mean, and where samples name their groups, by drawing them anew."""
    grouped = None not in groups
    alike = bool((values == values[0]).all())
    if share and (alike or not grouped):
        from scipy.stats import binomtest

        units = (
            len(set(groups)) if grouped else len(values)
        )  # groups that are all alike tell as much as one sample each
        ends = binomtest(round(float(values.mean()) * units), units).proportion_ci(method="wilson")
        return float(ends.low), float(ends.high)
    if alike:
        return float(values[0]), float(values[0])
    codes = np.unique(np.array(groups, dtype=str), return_inverse=True)[1] if grouped else None
    return mean_interval(values, codes)


def _off(one: Requirement, scale: Scale) -> str:
    """Why no answer on a scale can be held against a requirement, "" where one can."""
    bound: float | str = one.label or one.bound if one.each is None else one.each[1]
    if one.ordered_label and scale.labels and not scale.values:
        label = one_line(one.ordered_label, 60)
        return f"the labels of {one.name} have no numbers; write share({one.name} = {label}) >= 0.9"
    if isinstance(bound, str):
        labels = [label for label in scale.labels if same_key(label) == same_key(bound)]
        return "" if labels else f"'{one_line(bound, 60)}' is no label of {one.name}, which is on {scale}"
    if scale.labels and not scale.values:
        return f"the labels of {one.name} have no numbers; write share({one.name} = {scale.labels[0]}) >= 0.9"
    low, high = (min(scale.values), max(scale.values)) if scale.values else (scale.low, scale.high)
    on = low is not None and high is not None and low <= bound <= high
    return "" if on else f"{bound:g} is not on the scale of {one.name}, {scale}"


def thresholds_of(criteria: Iterable[Criterion]) -> list[Requirement]:
    """A requirement of its mean for each criterion that has a threshold; a label stands for its value."""
    found = []
    for one in criteria:
        bound = one.scale.value_of(one.threshold) if isinstance(one.threshold, str) else one.threshold
        if bound is not None:
            found.append(Requirement(f"{one.name} >= {bound:g}", one.name, ">=", float(bound)))
    return found


def unfit(required: Sequence[Requirement], criteria: Sequence[Criterion]) -> str:
    """Of criteria that are known before a run: why a requirement fits none of them, "" where all do."""
    names = [criterion.name for criterion in criteria]
    known = {same_key(name): name for name in [*names, OVERALL]} if names else {}
    for one in required:
        scales = [criterion.scale for criterion in criteria if same_key(criterion.name) == same_key(one.name)]
        if scales and all(why := [_off(one, scale) for scale in scales]):
            return f"'{one.text}': {why[0]}"
        if known and same_key(one.name) not in known:
            near = get_close_matches(same_key(one.name), known, 1)
            hint = f"did you mean '{known[near[0]]}'? " if near else ""
            return f"'{one.text}': '{one.name}' is no criterion of this run; {hint}It judges by: {', '.join(names)}"
    return ""
