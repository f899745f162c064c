"""Files and objects that hold agents' runs, as samples; and back to what they were."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judgegraph.agent_runs.formats import FORMATS, META, format_of_document
from judgegraph.agent_runs.messages import RECORD, langchain_records, openai_message
from judgegraph.errors import DataError, one_line
from judgegraph.types import Sample

MOST_BYTES = 512 * 1024 * 1024  # of a file of runs: it is read whole, as a run's spans stand anywhere in it


def trajectories(given: Any, format: str = "", *, id: str = "run-1") -> list[Sample]:
    """Runs of agents as samples: each message, call and result is a turn, what was asked is the query, and what was
    answered last is the output.

    Args:
        given: what `json.load` makes of an export, a list of OpenAI-style messages, LangChain's message objects or
            their dicts, a LangGraph state with "messages", or spans.
        format: "openai", "langchain", "langsmith", "otel", "openinference", "langfuse" or "atif"; "" finds out.
        id: of a run whose record has none.

    Returns:
        A sample for each run; what the format holds and a turn does not name is kept in its `more`, and in
        `meta["trajectory"]`, so that `as_records` writes it as it was. Definitions of tools are the fact "tools".

    Raises:
        DataError: no format fits, or a record lacks what its format demands.
    """
    document = _plain(given)
    found = format or format_of_document(document)
    if found not in FORMATS:
        named = f"'{one_line(format, 40)}' is no format of runs" if format else "no format of runs fits"
        raise DataError(f"trajectory: {named}; known: {', '.join(FORMATS)}")
    try:
        return [run.sample(found) for run in FORMATS[found](document, id)]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise DataError(f"trajectory ({found}): {place}: {one_line(first['msg'], 200)}") from None
    except ValueError as error:
        raise DataError(f"trajectory ({found}): {one_line(error, 200)}") from None
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise DataError(
            f"trajectory: no run in the format {found}: {type(error).__name__}: {one_line(error)}"
        ) from None


def trajectory(given: Any, format: str = "", *, id: str = "run-1") -> Sample:
    """The one run in what is given; arguments and errors as `trajectories`, and DataError where there are several."""
    found = trajectories(given, format, id=id)
    if len(found) != 1:
        raise DataError(f"trajectory: {len(found)} runs stand there; jg.trajectories(...) gives all of them")
    return found[0]


def _plain(given: Any) -> Any:
    """Message objects of LangChain's as dicts; a state's, too."""
    if isinstance(given, Mapping) and isinstance(given.get("messages"), list):
        return {**given, "messages": _plain(given["messages"])}
    if isinstance(given, list | tuple) and given and hasattr(given[0], "content") and hasattr(given[0], "type"):
        return langchain_records(given)
    return given


def as_records(sample: Sample) -> Any:
    """What a sample of `trajectories` was read from, as it was; of any other sample OpenAI-style messages."""
    about = sample.meta.get(META)
    if not isinstance(about, Mapping):
        return [openai_message(turn) for turn in sample.turns]
    if about["format"] not in ("openai", "langchain"):
        return about["rest"]
    messages = [turn.more[RECORD] if RECORD in turn.more else openai_message(turn) for turn in sample.turns]
    return messages if about["rest"] is None else {**about["rest"], "messages": messages}


def read_trajectories(path: str | os.PathLike[str], format: str = "") -> Iterator[Sample]:
    """Samples of a file: JSON (one document, or a list of runs or spans), or JSON lines with a document each.

    Raises:
        DataError: as `trajectories`, with file and line; no JSON, or a file of over 512 MB.
    """
    path = Path(path)
    known = set[str]()
    for line, document in _documents(path):
        try:
            found = trajectories(document, format, id=f"run-{line}")
        except DataError as error:
            raise DataError(f"{one_line(path)}, line {line}: {error}") from None
        for sample in found:
            name, number = sample.id, 2
            while sample.id in known:
                sample, number = sample.model_copy(update={"id": f"{name}#{number}"}), number + 1
            known.add(sample.id)
            yield sample


def _documents(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"{one_line(path)}: over {MOST_BYTES >> 20} MB; give it in parts")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{one_line(path)}: is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise DataError(f"{one_line(path)}: {error.strerror}") from None
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        yield from _lines(path, text)
        return
    if isinstance(whole, list) and whole and all(isinstance(one, list) for one in whole):
        yield from enumerate(whole, 1)  # lists of messages
    elif isinstance(whole, list) and whole and all(isinstance(one, Mapping) and "messages" in one for one in whole):
        yield from enumerate(whole, 1)
    else:
        yield 1, whole


def _lines(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    """Documents of JSON lines; spans of one run, a line each, are one document."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found.append((number, json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise DataError(f"{one_line(path)}, line {number}: no JSON: {one_line(error, 100)}") from None
    if (found and format_of_document([found[0][1]]) in ("langsmith", "otel", "openinference")) or (
        found and isinstance(found[0][1], Mapping) and "traceId" in found[0][1] and "observations" not in found[0][1]
    ):  # fmt: skip
        yield 1, [document for _, document in found]
        return
    yield from found
