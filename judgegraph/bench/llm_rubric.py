"""LLM-Rubric: real dialogues with an assistant, rated by the people who had them; a model's recorded distributions.

Source: Hashemi et al. 2024, arXiv:2501.00274. A model's answer to a question is read by its probabilities, as our
weighted reader does (`expected` of `judgegraph.calls.ratings`), or is the likeliest one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from judgegraph.bench.files import TRIPLE, Collection, Published, distinct, field, read_text, rows_of, sample_of
from judgegraph.calls.ratings import Weighted, expected
from judgegraph.errors import DataError, one_line
from judgegraph.meta.cells import Judgements
from judgegraph.types import Sample, Scale

DIALOGUES = "real_data.json"
HUMAN, JUDGED = "human_judges_real_convs_FIXED_ANON.tsv", "gpt-3.5-turbo-16k_real_evaluations_FIXED.tsv"
SCALE, QUESTION = Scale.of("1-4"), "Q0"  # how satisfied the user is with all of it
EXPECTED, LIKELIEST = "gpt-3.5-turbo-16k, expected answer", "gpt-3.5-turbo-16k, likeliest answer"


def _table(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Place and cells of each row."""
    rows = csv.DictReader(io.StringIO(read_text(path)), delimiter="\t")
    return [(f"{path}, row {at}", {k: v or "" for k, v in row.items() if k}) for at, row in enumerate(rows, 1)]


def _cell(row: Mapping[str, str], key: str, where: str) -> float:
    try:
        return float(row[key])
    except (KeyError, ValueError):
        got = one_line(repr(row.get(key)), 40)
        raise DataError(f"{where}, column {key!r}: expected a number, got {got}") from None


def _rated(folder: Path) -> dict[str, tuple[float, str]]:
    """Dialogue -> (what its user answered to the question, the system that the user talked to)."""
    rows = _table(folder / HUMAN)
    distinct(folder / HUMAN, ((where, row.get("text_id", "")) for where, row in rows))
    return {row["text_id"]: (_cell(row, QUESTION, where), row.get("dialogue_system", "")) for where, row in rows}


def samples(folder: Path) -> Iterator[Sample]:
    """One for each dialogue: its messages are turns, the last of them the output."""
    rated = _rated(folder)
    for where, row in rows_of(folder / DIALOGUES):
        id, messages = field(row, "_id", where, str), field(row, "messages", where, list)
        if id in rated:
            human, system = rated[id]
            last = messages[-1].get("content") if messages and isinstance(messages[-1], Mapping) else None
            yield sample_of(
                where, id=id, turns=messages, output=str(last or ""), human={"Overall": human}, meta={"system": system}
            )


def recorded(folder: Path) -> Mapping[str, list[Judgements]]:
    """The model's answer to the question, read in two ways."""
    rated, found = _rated(folder), dict[str, Weighted]()
    for where, row in _table(folder / JUDGED):
        if row.get("criterion") == QUESTION and row.get("text_id") in rated:
            read = expected({str(n): _cell(row, f"answer{n}_prob", where) for n in SCALE.points}, SCALE)
            if read is None:
                raise DataError(f"{where}: the probabilities of its answers are no distribution")
            found[row["text_id"]] = read
    likeliest = tuple(float(max(one.distribution, key=one.distribution.__getitem__)) for one in found.values())
    return {"": [
        Judgements(
            criterion="Overall", kind="number", ids=tuple(found), human=tuple((rated[id][0],) for id in found),
            metrics={EXPECTED: tuple(one.value for one in found.values()), LIKELIEST: likeliest},
            systems=tuple(rated[id][1] for id in found),
        )
    ]}  # fmt: skip


COLLECTION = Collection(
    name="llm_rubric",
    title="LLM-Rubric, real dialogues (Hashemi et al. 2024)",
    items="223 dialogues with 3 systems, each rated by its user",
    origin="microsoft/LLM-Rubric, data (MIT)",
    files=(DIALOGUES, HUMAN, JUDGED),
    criteria="dialogue",
    preset="unieval",
    samples=samples,
    recorded=recorded,
    published=tuple(
        Published(judge, "Overall", statistic, value, "microsoft/LLM-Rubric, README, Q0", "dataset", 4)
        for judge, values in ((EXPECTED, (0.1773, 0.0867, 0.0659)), (LIKELIEST, (0.1401, 0.0870, 0.0811)))
        for statistic, value in zip(TRIPLE, values, strict=True)
    ),
)
