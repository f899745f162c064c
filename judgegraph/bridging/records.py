"""Foreign judgements: rows of other projects' files, each read into a sample with its judgement, or refused by name.

A row is of one response or of two. What its judge said is a verdict, or a score on any numeric scale, perhaps with a
reason, a criterion and a guideline. Formats of known collections are told by their columns; any other file names the
columns. A row that cannot be read is a rejection with file, line, field and reason, and never ends the reading.

Source: Fennec, sections 3.2 and 4.1, which bridges Auto-J, JudgeLM and Prometheus.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median_low
from typing import Any

from judgegraph.agents.pairwise import greater
from judgegraph.agents.reverse import FIVE, FOREIGN, ForeignJudgement
from judgegraph.bench.autoj import LABELS as AUTOJ
from judgegraph.bench.files import collection
from judgegraph.bench.pandalm import LABELS as PANDALM
from judgegraph.bench.pandalm import PEOPLE
from judgegraph.bench.prometheus import criterion_of, parts_of
from judgegraph.data.load import READERS, format_of
from judgegraph.data.samples import ABSENT, Fault, Rejection, RowReader, Samples, Unit, column_list, plain, value_at
from judgegraph.errors import ConfigError, DataError, ValueRefused, one_line
from judgegraph.types import Criterion, Sample, Scale, Verdict, same_text, text_of

Row = Mapping[str, Any]
FIELDS = (  # that -f maps, in a file of no known format
    "id", "query", "source", "reference", "output", "rival", "verdict", "score", "rival_score", "scale", "reason",
    "judge", "criterion", "definition", "guideline",
)  # fmt: skip
WORDS: Mapping[str, Verdict] = {
    "a": "A", "b": "B", "tie": "tie", "[[a]]": "A", "[[b]]": "B", "[[c]]": "tie", "tied": "tie", "output": "A",
    "rival": "B", "response a": "A", "response b": "B",
}  # fmt: skip
MARKED = "which chat templates write between turns"  # how the reason of a row ends that holds such a mark
RUNS_APART = 1  # points between the runs of one judge, beyond which its score is none
_RATING = re.compile(r"Rating:\s*(?:\[\[)?\s*(-?\d+(?:\.\d+)?)\s*(?:\]\])?", re.I)
_MARK = re.compile(  # what a chat template writes between turns, and tokenizers take for it wherever it stands
    r"<[|｜][^<>|｜\n]{1,40}[|｜]>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|\[/?(?:AVAILABLE_TOOLS|TOOL_CALLS)\]"
)


@dataclass(frozen=True)
class Reading:
    """How rows of a plain file are read.

    Attributes:
        fields: one of FIELDS -> its column, in dots for nested JSON. labels: a label as it stands there -> our verdict.
        scale: of all scores, where rows name none.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Verdict] = field(default_factory=dict)
    scale: Scale | None = None


@dataclass(frozen=True)
class RecordFormat:
    """How one kind of file is read.

    Attributes:
        about: what its judgements are, for people. columns: by which it is told.
        read: row -> what stands under FIELDS; raises Fault. origin: where it comes from, with its licence.
    """

    name: str
    about: str
    columns: frozenset[str]
    read: Callable[[Row, Reading], dict[str, Any]]
    origin: str = ""


def _text(row: Row, key: str) -> str:
    value = value_at(row, key)
    if isinstance(value, bool):  # "True", as some authors' files have it
        return str(value)
    if not isinstance(value, str):
        raise Fault(key, f"expected text, got {'nothing' if value is ABSENT else type(value).__name__}")
    return value


def _verdict(row: Row, key: str, words: Mapping[str, Verdict]) -> Verdict:
    value = value_at(row, key)
    spelt = "" if value is ABSENT or isinstance(value, bool | float) else str(value).strip()
    found = words.get(spelt) or words.get(spelt.casefold())
    if found is None:
        got = "nothing" if value is ABSENT else one_line(repr(value), 40)
        numbers = "; say which number is which, as in --label 0=A" if words is WORDS and spelt.isdigit() else ""
        raise Fault(key, f"expected one of {', '.join(words)}; got {got}{numbers}")
    return found


def _autoj(row: Row, _: Reading) -> dict[str, Any]:
    return {
        "query": _text(row, "prompt"), "output": _text(row, "response 1"), "rival": _text(row, "response 2"),
        "verdict": _verdict(row, "label", AUTOJ), "judge": "people (Auto-J's test set)",
    }  # fmt: skip


def _critique(row: Row, _: Reading) -> dict[str, Any]:
    """A rating on 1-10 behind its critique; a bare "Rating: 7" is one too, which Auto-J's own reader takes for 0."""
    said = _text(row, "autoj_critique.output")
    ratings = list(_RATING.finditer(said))
    if not ratings:
        raise Fault("autoj_critique.output", "expected 'Rating: [[1 to 10]]' behind the critique; there is none")
    return {
        "query": _text(row, "prompt"), "output": _text(row, "response"), "score": float(ratings[-1][1]),
        "scale": "1-10", "reason": said[: ratings[-1].start()].strip(), "judge": "Auto-J",
    }  # fmt: skip


def _pandalm(row: Row, _: Reading) -> dict[str, Any]:
    said = [_verdict(row, person, PANDALM) for person in PEOPLE]
    most = max(said, key=said.count)
    if said.count(most) * 2 <= len(said):
        raise Fault("annotator1", f"the annotators have no majority: {', '.join(said)}")
    return {
        "query": _text(row, "instruction"), "source": _text(row, "input"), "output": _text(row, "response1"),
        "rival": _text(row, "response2"), "verdict": most, "judge": "majority of three people",
    }  # fmt: skip


def _prometheus(row: Row, _: Reading) -> dict[str, Any]:
    """The middle one of a judge's runs, with its own feedback; runs that lie apart are no judgement."""
    try:
        parts = parts_of(_text(row, "instruction"), "row")
    except DataError as error:
        raise Fault("instruction", str(error).partition(": ")[2]) from None
    scores, feedback = row.get("gpt4_score"), row.get("gpt4_feedback")
    scores, feedback = ([one] if isinstance(one, int | float | str) else one for one in (scores, feedback))
    if not isinstance(scores, Sequence) or not scores or not all(type(one) in (int, float) for one in scores):
        raise Fault("gpt4_score", "expected a number or a list of them")
    if max(scores) - min(scores) > RUNS_APART:
        raise Fault("gpt4_score", f"the runs of the judge lie apart: {', '.join(f'{one:g}' for one in scores)}")
    score = median_low(scores)
    place = list(scores).index(score)
    reasons = feedback if isinstance(feedback, Sequence) and len(feedback) == len(scores) else [""] * len(scores)
    rubric = criterion_of(Sample(id="row", output=parts["response"], source=parts["rubric"]))
    return {
        "query": parts["task"], "reference": parts["reference"], "output": parts["response"],
        "score": float(score), "scale": "1-5", "reason": str(reasons[place]), "judge": "GPT-4",
        "criterion": rubric.name, "definition": rubric.definition, "guideline": rubric.guideline,
    }  # fmt: skip


def _own(row: Row, how: Reading) -> dict[str, Any]:
    """A row of a file whose columns are named as FIELDS, or mapped to them."""
    found: dict[str, Any] = {}
    empty: list[str] = []
    for name in FIELDS:
        value = value_at(row, how.fields.get(name, name))
        if value is ABSENT and name in how.fields:
            column = one_line(how.fields[name], 60)
            raise Fault(name, f"the row has no column '{column}'; it has {column_list(row, 120)}")
        if value is not ABSENT and value is not None and (value != "" or name in ("query", "output")):
            found[name] = value
        elif value is not ABSENT and name in ("verdict", "score"):
            empty.append(name)
    if empty and not found.keys() & {"verdict", "score"}:
        column = one_line(how.fields.get(empty[0], empty[0]), 60)
        raise Fault(empty[0], f"column '{column}' is empty in this row: fill in its {empty[0]}, or leave the row out")
    if "verdict" in found:
        words = {**(how.labels or WORDS)}
        found["verdict"] = _verdict(found, "verdict", WORDS if words == WORDS else words)
    return found


FORMATS: Mapping[str, RecordFormat] = {
    one.name: one
    for one in (
        RecordFormat(
            "autoj", "pairs, labelled by people 0 (first), 1 (second), 2 (tie)",
            frozenset({"prompt", "response 1", "response 2", "label"}), _autoj, collection("autoj").origin,
        ),
        RecordFormat(
            "autoj-critiques", "single responses with Auto-J's critique and rating on 1-10",
            frozenset({"prompt", "response", "autoj_critique"}), _critique,
            "GAIR-NLP/auto-j @ 2ae17a3, data/ (no licence stated)",
        ),
        RecordFormat(
            "pandalm", "pairs, labelled by three people 0 (tie), 1, 2",
            frozenset({"instruction", "response1", *PEOPLE}), _pandalm, collection("pandalm").origin,
        ),
        RecordFormat(
            "prometheus", "single responses with a rubric, scored on 1-5 with feedback",
            frozenset({"instruction", "gpt4_score"}), _prometheus, collection("prometheus").origin,
        ),
        RecordFormat("plain", "columns named as the fields are, or mapped with -f", frozenset(), _own),
    )
}  # fmt: skip


@dataclass(frozen=True)
class RecordReader(RowReader):
    """Makes samples with a foreign judgement of rows of one format.

    Attributes:
        kind: how its rows are read. how: of a plain file. name: of the file. prefix: put before ids.
    """

    kind: RecordFormat = FORMATS["plain"]
    how: Reading = field(default_factory=Reading)
    name: str = ""
    prefix: str = ""

    def sample(self, row: Mapping[str, Any], spare_id: str) -> Sample:
        """The sample in a row, its judgement under `meta["judgement"]`.

        Raises:
            Fault: the row is no judgement, or none that training data could be made of.
        """
        given = self.kind.read({key: plain(value, key) for key, value in row.items()}, self.how)
        _whole(given)
        judgement = _judgement(given, self.how.scale)
        id = value_at(row, "id") if "id" not in given else given["id"]
        id = str(id) if isinstance(id, int | str) and not isinstance(id, bool) and str(id) else spare_id
        shown = ("query", "source", "reference", "output", "rival")
        texts = {key: given[key] for key in shown if given.get(key) is not None}
        sample = super().sample({"id": f"{self.prefix}{id}", **texts}, spare_id)
        _fit_for_training(sample, judgement)
        about = {"of": one_line(Path(self.name).name, 80), "at": spare_id.replace("-", " ")}
        return sample.model_copy(
            update={"meta": {FOREIGN: judgement.model_dump(mode="json", exclude_defaults=True), "record": about}}
        )


def _whole(given: Mapping[str, Any]) -> None:
    for name in ("query", "output"):
        if name not in given:
            raise Fault(name, "missing; name its column: -f " + f"{name}=COLUMN")
    if not isinstance(given["query"], str):
        raise Fault("query", f"expected text, got {type(given['query']).__name__}")
    if not given["query"].strip():
        raise Fault("query", "is empty: no criterion can be tied to it")
    if "verdict" not in given and "score" not in given:
        raise Fault("verdict", "neither a verdict nor a score; name the column: -f verdict=COLUMN or -f score=COLUMN")


def _judgement(given: Mapping[str, Any], default: Scale | None) -> ForeignJudgement:
    """
    Raises:
        Fault: a scale that cannot be read, a score off it, a pair without a verdict or a score of each.
    """
    scores = {name: _number(given[name], name) for name in ("score", "rival_score") if name in given}
    scale = _scale(given.get("scale"), default) if scores else None
    pair = given.get("rival") is not None
    verdict = given.get("verdict")
    if pair and verdict is None:
        if len(scores) < 2:
            raise Fault("rival_score", "of a pair there is a verdict, or a score of each response")
        verdict = greater(scores["score"], scores["rival_score"])
    if not pair and verdict is not None:
        raise Fault("rival", "a verdict is on two responses, and the row has one; name the second: -f rival=COLUMN")
    for name, score in scores.items():
        if scale is not None and not (scale.low or 0) <= score <= (scale.high or 0):
            raise Fault(name, f"{score:g} is not on the scale {scale}")
    criterion = _criterion(given, scale)
    reason, judge = (str(given.get(name) or "") for name in ("reason", "judge"))
    try:
        return ForeignJudgement(
            verdict=verdict, **scores, scale=scale, reason=reason, judge=judge, criterion=criterion
        )  # fmt: skip
    except ValueRefused as error:
        raise Fault("verdict", one_line(error.errors(include_url=False)[0]["msg"])) from None


def _number(value: Any, name: str) -> float:
    try:
        number = float(value) if not isinstance(value, bool | list | Mapping) else None
    except (TypeError, ValueError):
        number = None
    if number is None or number != number or abs(number) > 1e300:
        raise Fault(name, f"expected a number, got {one_line(repr(value), 40)}")
    return number


def _scale(given: Any, default: Scale | None) -> Scale:
    if given is None and default is not None:
        return default
    if given is None:
        raise Fault("scale", "missing: a score says nothing without its scale; give --scale 1-10, or a column 'scale'")
    try:
        scale = Scale.of(given)
    except ValueRefused as error:
        why = one_line(error.errors(include_url=False)[0]["msg"], 120)
        raise Fault("scale", f"{one_line(repr(given), 40)} cannot be read: {why}") from None
    if scale.labels:
        raise Fault("scale", f"{one_line(str(scale), 60)} is of labels, which no score of 1-5 can be made of")
    return scale


def _criterion(given: Mapping[str, Any], scale: Scale | None) -> Criterion | None:
    """On the scale of the scores where it brings a guideline, which speaks of that scale's values; else on 1-5."""
    if "criterion" not in given:
        return None
    guideline = str(given["guideline"]) if given.get("guideline") else None
    try:
        return Criterion(
            name=str(given["criterion"]).strip(), definition=str(given.get("definition") or ""), guideline=guideline,
            scale=scale if guideline and scale else FIVE,
        )  # fmt: skip
    except ValueRefused:
        raise Fault("criterion", "expected a name of 1 to 200 characters") from None


def _fit_for_training(sample: Sample, judgement: ForeignJudgement) -> None:
    """
    Raises:
        Fault: a text would break out of its turn in a chat template, or the judgement contradicts its own texts.
    """
    texts = {name: text_of(getattr(sample, name)) for name in ("query", "source", "output")}
    texts |= {"rival": text_of(sample.rival or ""), "reference": text_of(sample.reference or "")}
    known = judgement.criterion
    texts |= {"reason": judgement.reason}
    texts |= {"criterion": f"{known.name} {known.definition}", "guideline": known.guideline or ""} if known else {}
    for name, text in texts.items():
        if mark := chat_mark(text):
            raise Fault(name, f"holds {one_line(mark, 40)!r}, {MARKED}")
    for name in ("output", "rival") if sample.rival is not None else ("output",):
        if not texts[name].strip():
            raise Fault(name, "is empty: there is nothing in it that a judge could learn from")
    if sample.rival is not None and judgement.verdict in ("A", "B") and same_text(texts["output"], texts["rival"]):
        raise Fault("rival", f"both responses are the same text, and the verdict is {judgement.verdict}")


def chat_mark(text: str) -> str:
    """The first mark of a chat template in a text, "" where there is none: a tokenizer reads it as a turn's end."""
    found = _MARK.search(text)
    return found[0] if found else ""


@dataclass(frozen=True)
class Records:
    """Foreign judgements of one file.

    Attributes:
        file: its name as it was given. format: of its rows. samples: each with its judgement.
        rejected: rows that are none. origin: where the file comes from, with its licence as it is stated there.
    """

    file: str
    format: str
    samples: tuple[Sample, ...]
    rejected: tuple[Rejection, ...]
    origin: str = ""


def read_records(
    path: str | os.PathLike[str], *, format: str | None = None, how: Reading | None = None, limit: int | None = None,
    origin: str = "", prefix: str = "",
) -> Records:  # fmt: skip
    """The foreign judgements in a file, which may be JSON lines, a JSON list, CSV, TSV or Parquet, also gzipped.

    Args:
        format: a name of FORMATS; None: told by the columns of the first row that can be read.
        how: columns, labels and scale of a plain file. limit: at most so many judgements.
        origin: where the file comes from, and its licence; "": as known of the format. prefix: put before ids.

    Raises:
        DataError: no such file, or nothing in it. ConfigError: no such format, or a setting that it does not take.
    """
    path, how = Path(path), how or Reading()
    if format is not None and format not in FORMATS:
        raise ConfigError(f"no format {one_line(format, 40)!r} of judgements; known: {', '.join(FORMATS)}")
    kind_of_file = format_of(path)
    rows = partial(READERS[kind_of_file], path)
    kind = FORMATS[format] if format else _format_by_columns(_first_row(rows), how)
    if kind.name != "plain" and (how.fields or how.labels or how.scale):
        raise ConfigError(
            f"{one_line(path)}: -f, --label and --scale are for files of no known format; this one is read as "
            f"{kind.name}. Give --as plain to read it by its columns"
        )
    unknown = sorted(set(how.fields) - set(FIELDS))
    if unknown:
        raise ConfigError(f"-f {one_line(unknown[0], 40)}: no field of a judgement; known: {', '.join(FIELDS)}")
    unit: Unit = "row" if kind_of_file in ("json", "parquet") else "line"
    reader = RecordReader(cells=kind_of_file in ("csv", "tsv"), kind=kind, how=how, name=str(path), prefix=prefix)
    found = Samples(one_line(path), rows, reader, unit=unit, limit=limit, strict=False, path=path, format=kind_of_file)
    samples = tuple(found)
    return Records(one_line(path), kind.name, samples, tuple(found.rejected), origin or kind.origin)


def _first_row(rows: Callable[[], Iterable[tuple[int, Any]]]) -> Collection[str]:
    return next((row.keys() for _, row in rows() if isinstance(row, Mapping)), ())


def _format_by_columns(columns: Collection[str], how: Reading) -> RecordFormat:
    """The format whose columns are all there; with columns that were named it is a plain file."""
    if not how.fields:
        for kind in FORMATS.values():
            if kind.columns and kind.columns <= set(columns):
                return kind
    return FORMATS["plain"]
