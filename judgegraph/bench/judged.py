"""The criteria that a collection's people judged by."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.bench.collection import Collection
from judgegraph.prompts.criteria_file import same_key
from judgegraph.prompts.criteria_sets import CriteriaSet, criteria_set
from judgegraph.types import Sample


def criteria_of(known: Collection, samples: Sequence[Sample]) -> CriteriaSet:
    """Of its criteria set those that people judged: others cost calls and meet no human score.

    The whole set where people judged by none of them, such as where they compared outputs as wholes.
    """
    whole = criteria_set(known.criteria)
    judged = {same_key(name) for sample in samples for name in sample.human}
    kept = tuple(criterion for criterion in whole.criteria if same_key(criterion.name) in judged)
    return CriteriaSet(name=whole.name, task=whole.task, criteria=kept or whole.criteria, source=whole.source)
