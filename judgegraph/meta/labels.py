"""Labels and verdicts against people's: accuracy, kappa, alpha, both orders, with intervals and by each rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgegraph.meta.answers import WRONG, Answers
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Answer
from judgegraph.meta.label_draws import SHARES, intervals
from judgegraph.meta.result import NONE, Ends, Row
from judgegraph.meta.signatures import AGREE, signature, unread_rule
from judgegraph.stats.labels import accuracy, both_orders, cohen_kappa, krippendorff_alpha, macro

RULES = {"drop": None, "wrong": WRONG, "tie": "tie"}  # rule -> what stands for an answer that could not be read


@dataclass(frozen=True)
class Verdicts:
    """Aligned columns of one metric: people's, its own, and those in the exchanged order where it was asked so."""

    human: tuple[Answer, ...]
    first: tuple[Answer, ...]
    second: tuple[Answer, ...] | None
    kept: tuple[int, ...]  # places of these items among all


def by_rule(answers: Answers, name: str, rule: str) -> Verdicts:
    """A metric's columns by a rule for unread answers: "drop", "wrong", "tie", or "right" (what people say)."""
    first, second = answers.metrics[name], answers.exchanged.get(name)
    kept = range(len(answers))
    if rule == "drop":
        kept = [i for i in kept if first[i] is not None and (second is None or second[i] is not None)]  # type: ignore[assignment]

    def filled(column: Sequence[Answer | None]) -> tuple[Answer, ...]:
        said = ((column[i], answers.human[i] if rule == "right" else RULES[rule]) for i in kept)
        return tuple(value if value is not None else other for value, other in said)  # type: ignore[misc]

    return Verdicts(
        tuple(answers.human[i] for i in kept), filled(first), None if second is None else filled(second), tuple(kept)
    )  # fmt: skip


def statistics(found: Verdicts, order: Sequence[str], unread_equal: bool) -> dict[str, float]:
    """Statistic -> value."""
    human, first = found.human, found.first
    values = {"accuracy": accuracy(human, first)}
    if found.second is not None:
        orders = both_orders(human, _none(first), _none(found.second), unread_agree=unread_equal)
        values |= {
            "accuracy-exchanged": orders.accuracy_second, "accuracy-mean": orders.accuracy_mean,
            "agreement": orders.agreement, "consistency": orders.consistency,
        }  # fmt: skip
    values["kappa"] = cohen_kappa(human, first)
    if order:
        values["kappa-linear"] = cohen_kappa(human, _none(first), "linear", order)
        values["kappa-quadratic"] = cohen_kappa(human, _none(first), "quadratic", order)
        values["alpha-ordinal"] = krippendorff_alpha([human, _none(first)], "ordinal", order)
    values["alpha"] = krippendorff_alpha([human, first])
    classes = macro(human, first)
    values |= {
        "macro-precision": classes.precision, "macro-recall": classes.recall, "macro-f1": classes.f1,
    }  # fmt: skip
    return values


def _none(column: Sequence[Answer]) -> list[Answer | None]:
    """Unread answers as none again, where their being wrong is no class of its own."""
    return [None if value == WRONG else value for value in column]


def rows(answers: Answers, conventions: Conventions) -> Iterator[Row]:
    """A row for each metric and statistic."""
    rule = unread_rule(answers, conventions)
    for name in answers.metrics:
        found = by_rule(answers, name, rule)
        values = statistics(found, answers.order, conventions.unread_equal)
        ways = _ways(answers, name, conventions)
        ends, notes = intervals(answers, found.human, found.first, found.second, found.kept, conventions)
        for statistic, value in values.items():
            yield _row(
                answers, conventions, name, statistic, value, ends.get(statistic, NONE), ways, len(found.human), notes
            )


def _ways(answers: Answers, name: str, conventions: Conventions) -> dict[str, dict[str, float]]:
    """Rule -> all statistics, where something could not be read."""
    columns = [answers.metrics[name], answers.exchanged.get(name, ())]
    if not any(value is None for column in columns for value in column):
        return {}
    rules = ("drop", "wrong", *(("tie",) if answers.kind == "verdict" else ()), "right")
    return {
        rule: statistics(by_rule(answers, name, rule), answers.order, conventions.unread_equal) for rule in rules
    }  # fmt: skip


def _row(
    answers: Answers, conventions: Conventions, name: str, statistic: str, value: float, ends: Ends,
    ways: dict[str, dict[str, float]], n: int, notes: tuple[str, ...],
) -> Row:  # fmt: skip
    more: tuple[str, ...] = ("unread-equal:true",) if statistic == "consistency" and conventions.unread_equal else ()
    more += (AGREE,) if name in answers.combined else ()
    if math.isnan(value):
        notes = (f"{n} items with an answer" if n < 2 else "one answer everywhere: nothing to agree on beyond chance",)
    return Row(
        criterion=answers.criterion, metric=name, kind=answers.kind, statistic=statistic, value=value, interval=ends,
        n=n, units=n, judged=len(answers), unread=_unread(answers, name),
        failures={rule: found[statistic] for rule, found in ways.items()},
        signature=signature(
            answers, conventions, statistic, "dataset", n, *more, made=0 if math.isnan(ends[0]) else None,
            wilson=statistic in SHARES,
        ), notes=notes,
    )  # fmt: skip


def _unread(answers: Answers, name: str) -> dict[str, int]:
    second = sum(value is None for value in answers.exchanged.get(name, ()))
    return {**answers.unread[name], **({"unread when exchanged": second} if second else {})}
