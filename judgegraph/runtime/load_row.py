"""From a row of a data file to a sample, or the field and the reason why not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from judgegraph.errors import one_line
from judgegraph.runtime.load_value import Fault, kind_of, plain
from judgegraph.types import Sample

_MATERIAL = "text, a JSON object or a list of objects"
_EXPECTED = {
    "id": "text of one character or more", "query": "text", "source": _MATERIAL, "output": _MATERIAL,
    "rival": _MATERIAL, "reference": _MATERIAL, "human": "an object of numbers, labels or lists of them",
}  # fmt: skip


@dataclass(frozen=True)
class RowReader:
    """Makes samples of rows.

    Attributes:
        fields: a sample's field, or "human.NAME" -> the column that holds it, in dots for nested JSON.
        cells: all values are texts (CSV): an empty rival, reference or human judgement is none, and a
            human judgement that reads as a number is one.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    cells: bool = False

    def sample(self, row: Mapping[str, Any], spare_id: str) -> Sample:
        """The sample in a row; `spare_id` is its id where the row has no column for one.

        Raises:
            Fault: the row is no sample.
        """
        row = {key: plain(value, key) for key, value in row.items()}
        known, rest = self._sorted(row)
        known.setdefault("id", spare_id)
        if isinstance(known["id"], int) and not isinstance(known["id"], bool):
            known["id"] = str(known["id"])
        if "output" not in known:
            columns = one_line(", ".join(rest), 120) or "nothing else"
            name = "if it goes by another name, map it: fields={'output': COLUMN}, or -f output=COLUMN"
            raise Fault("output", f"missing; expected {_MATERIAL}; the row has {columns}; {name}")
        try:
            return Sample(**known, meta=rest)
        except ValidationError as error:
            raise _fault(error) from None

    def _sorted(self, row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What belongs to a sample's own fields, and the rest, which is its meta."""
        picked = {name: self._pick(row, name, column) for name, column in self.fields.items()}
        rest = {key: value for key, value in row.items() if key not in self.fields.values()}
        for key in list(rest):
            if (key in _EXPECTED or key.startswith("human.")) and key not in self.fields:
                picked[key] = rest.pop(key)
        meta = rest.pop("meta", None)
        if isinstance(meta, Mapping):
            rest = {**meta, **rest}
        elif meta is not None:
            rest["meta"] = meta
        known = {key: value for key, value in picked.items() if key in _EXPECTED}
        if self.cells:
            known = {k: v for k, v in known.items() if v != "" or k not in ("rival", "reference", "human")}
        human = self._human(known.get("human"), picked)
        return (known if human is None else {**known, "human": human}), rest

    def _pick(self, row: Mapping[str, Any], name: str, column: str) -> Any:
        if column in row:
            return row[column]
        value: Any = row
        for step in column.split("."):
            if not isinstance(value, Mapping) or step not in value:
                has = one_line(", ".join(row), 120)
                raise Fault(name, f"the row has no column '{one_line(column, 60)}'; it has {has}")
            value = value[step]
        return value

    def _human(self, whole: Any, picked: Mapping[str, Any]) -> Any:
        """People's judgements of the `human` column and of the dotted ones together; empty ones are none."""
        if self.cells and isinstance(whole, str):
            try:
                whole = json.loads(whole)
            except ValueError:
                raise Fault("human", "expected a JSON object; or one column per criterion: human.NAME") from None
        dotted = {k.removeprefix("human."): v for k, v in picked.items() if k.startswith("human.")}
        if not isinstance(whole, Mapping | None):
            return whole
        twice = sorted(set(whole or {}) & set(dotted))
        if twice:
            raise Fault(f"human.{twice[0]}", "given twice, in 'human' and in a column of its own")
        both = {**(whole or {}), **dotted}
        if self.cells:
            both = {name: _number_or_label(value, name) for name, value in both.items()}
        return {name: value for name, value in both.items() if value is not None}


def _number_or_label(cell: Any, name: str) -> Any:
    if not isinstance(cell, str):
        return cell
    if not cell.strip():
        return None
    try:
        return plain(float(cell), f"human.{name}")
    except ValueError:
        return cell


def _fault(error: ValidationError) -> Fault:
    """What pydantic found, in the words of a data file."""
    first = error.errors(include_url=False)[0]
    where = first["loc"] or ("",)
    name = str(where[0])
    shown = ".".join(str(part) for part in where[: 2 if name == "human" else 1])
    expected = "a number, a label, or a list of them" if shown != name else _EXPECTED.get(name, "JSON")
    return Fault(one_line(shown), f"expected {expected}, got {kind_of(first['input'])}")
