"""PandaLM's test set: which of two responses is better, by three people; GPT-3.5 as recorded judge.

Source: Wang et al. 2023 (arXiv:2306.05087).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from judgegraph.bench.files import (
    OVERALL,
    Collection,
    Published,
    as_long,
    distinct,
    field,
    present,
    rows_of,
    sample_of,
    verdict_of,
)
from judgegraph.errors import DataError
from judgegraph.meta.cells import Judgements
from judgegraph.types import Sample, Verdict

PEOPLE = ("annotator1", "annotator2", "annotator3")
LABELS: dict[str, Verdict] = {"0": "tie", "1": "A", "2": "B"}
# "garbage": the authors could not read the reply. They count it as a tie: the preset does so, not this file.
ANSWERS: dict[str, Verdict | None] = {"1": "A", "2": "B", "Tie": "tie", "garbage": None}
ITEMS, JUDGE = "testset-v1.json", "gpt-3.5-turbo-testset-v1.json"


def _id(row: Mapping[str, Any], where: str) -> str:
    index = row.get("idx")
    if isinstance(index, bool) or not isinstance(index, int | str) or index == "":
        raise DataError(f"{where}, key 'idx': expected a number or text, got {type(index).__name__}")
    return str(index)


def _items(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    rows = rows_of(folder / ITEMS)
    distinct(folder / ITEMS, ((where, _id(row, where)) for where, row in rows))
    return rows


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    """A text; six replies "True" were stored as JSON's true by the authors."""
    return str(row[key]) if isinstance(row.get(key), bool) else field(row, key, where, str)


def _human(row: Mapping[str, Any], where: str) -> list[Verdict]:
    return [verdict_of(row, person, where, LABELS) for person in PEOPLE]


def _samples(folder: Path) -> Iterable[Sample]:
    for where, row in _items(folder):
        first, _, second = str(row.get("cmp_key", "")).partition("_")
        systems = {"system": first, "rival_system": second} if second else {}
        yield sample_of(
            where, id=_id(row, where), query=_text(row, "instruction", where), source=_text(row, "input", where),
            output=_text(row, "response1", where), rival=_text(row, "response2", where),
            human={OVERALL: _human(row, where)}, meta=systems,
        )  # fmt: skip


def _recorded(folder: Path) -> Mapping[str, list[Judgements]]:
    rows = _items(folder)
    if not present(folder / JUDGE):
        return {}
    replies = rows_of(folder / JUDGE)
    as_long(replies, rows, str(folder / JUDGE), ITEMS)
    for (where, answer), (place, row) in zip(replies, rows, strict=True):
        if _id(answer, where) != _id(row, place):
            raise DataError(f"{where}: has another idx than {ITEMS} there; take both from one version")
    answers = tuple(verdict_of(answer, "gpt_result", where, ANSWERS) for where, answer in replies)
    return {"": [Judgements(
        criterion=OVERALL, kind="verdict", ids=tuple(_id(row, where) for where, row in rows),
        human=tuple(tuple(_human(row, where)) for where, row in rows), metrics={"GPT-3.5": answers},
        statuses={"GPT-3.5": tuple("unreadable" if answer is None else "ok" for answer in answers)},
    )]}  # fmt: skip


def _published() -> tuple[Published, ...]:
    readme = "WeOpenML/PandaLM @ 3871806, README.md: against the majority of three annotators"
    table = "Fennec (arXiv:2405.12163), table 2; its code compares with annotator 1 alone, rows here as they say"
    names = ("accuracy", "macro-precision", "macro-recall", "macro-f1")
    own = zip(names, (0.7107, 0.5879, 0.5736, 0.5755), strict=True)
    fennec = {
        "GPT-4": (65.45, 79.63), "Zephyr": (48.42, 68.16), "Zephyr, Auto-J's data": (60.26, 79.28),
        "Zephyr, JudgeLM's data": (44.54, 85.28), "JudgeLM": (58.26, 76.08), "Auto-J": (60.68, 78.64),
        "Fennec": (70.67, 87.89), "Fennec-bridging": (72.17, 89.69),
    }  # fmt: skip
    return tuple(Published("GPT-3.5", OVERALL, name, value, readme, digits=4) for name, value in own) + tuple(
        Published(judge, OVERALL, name, round(percent / 100, 4), table, digits=4)
        for judge, pair in fennec.items()
        for name, percent in zip(("agreement", "consistency"), pair, strict=True)
    )


COLLECTION = Collection(
    name="pandalm",
    title="PandaLM test set",
    items="999 pairs of responses, three annotators",
    origin="WeOpenML/PandaLM @ 3871806, data/ (Apache-2.0)",
    files=(ITEMS, JUDGE),
    criteria="general",
    preset="pandalm",
    samples=_samples,
    recorded=_recorded,
    published=_published(),
    alone=1,
    method="fennec",
    settings=("orders=both",),
)
