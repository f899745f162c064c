"""Whether an assistant evaluator keeps its contract: a finite number, a finding, or Unmeasurable."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from judgegraph.testing import trial
from judgegraph.testing.answering import Answering, answered_by
from judgegraph.testing.check_runs import Hung
from judgegraph.testing.conformance import Breach, Conformance
from judgegraph.testing.error_leaves import told
from judgegraph.testing.hostile_texts import TEXTS
from judgegraph.testing.patience import ended
from judgegraph.tools import Assistant, find
from judgegraph.types import Finding, Sample

LACKING = ("source", "reference", "query", "rival")


async def assistant_checked(assistant: Assistant, samples: Sequence[Sample], ignore: tuple[str, ...]) -> Conformance:
    """Ask it of each sample, as it is and without each input, and of hostile texts; twice, for it says the same."""
    report = Conformance(assistant.name, ignored=ignore)
    if not str(assistant.about).strip():
        report.add(Breach("about", "its `about` is empty"))
    measured = False
    with suppress(Hung):
        for case, sample in _cases(samples):
            first, again = [await _asked(assistant, sample, case, report) for _ in range(2)]
            measured = measured or (first is not None and first.status == "ok")
            if first and again and first != again:
                said = f"it said {first.value}, then {again.value}"
                report.add(Breach("not-deterministic", said, case))
    if not measured and report.ok:
        report.note(["no sample of ours has what it reads; give samples=, or its values stay unchecked"])
    return report


def _cases(samples: Sequence[Sample]) -> Iterator[tuple[str, Sample]]:
    for sample in samples:
        yield f"sample '{sample.id}'", sample
        for key in LACKING:
            if getattr(sample, key):
                yield f"sample '{sample.id}' without {key}", sample.model_copy(update={key: _nothing(key)})
        bare = Sample(id=sample.id, output=sample.output)
        yield f"sample '{sample.id}' with an output alone", bare
    for name, text in TEXTS.items():
        every = {"output": text, "source": text, "query": text, "rival": text, "reference": text}
        yield f"hostile: {name}", samples[0].model_copy(update=every)


def _nothing(key: str) -> Any:
    return Sample.model_fields[key].get_default()


async def _asked(assistant: Assistant, sample: Sample, case: str, report: Conformance) -> Finding | None:
    """What a run would make of it; None of an error that ends a run."""
    given, own = sample.model_copy(deep=True), repr(assistant)
    report.runs += 1
    with answered_by(Answering()):
        task = asyncio.ensure_future(find(assistant, sample))
    if not await ended({task}, trial.PATIENCE):
        task.cancel()
        report.add(Breach("hangs", "it did not end", case))
        raise Hung
    if sample != given:
        report.add(Breach("mutates-state", "the sample is another afterwards", case))
    if repr(assistant) != own:
        report.add(Breach("mutates-itself", "the assistant is another afterwards", case))
    if (error := task.exception()) is not None:
        report.add(Breach("raises", told(error), case))
        return None
    found = task.result()
    if found.status == "agent_error":
        report.add(Breach("no-measure", found.reason, case))
    return found
