"""What critics suggest, decided on in a browser: topics that were accepted make a new version of the run's criteria."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from judgegraph.agents.person import decided
from judgegraph.errors import ConfigError, CriteriaError, DataError, one_line
from judgegraph.prompts.criteria import CriteriaSet, as_yaml
from judgegraph.runs.run import Run
from judgegraph.runs.suggestions import Suggestions, next_version

MOST = 60  # topics of a form
LONGEST = 4_000  # characters of a definition
CHOICES = ("", "accept", "reject")


@dataclass
class Topics:
    """The topics of a run, worked out again where samples have come."""

    _found: Suggestions | None = None
    _samples: int = -1
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def of(self, run: Run, samples: int) -> Suggestions:
        """Of a run with so many samples by now."""
        with self._lock:
            if self._found is None or samples != self._samples:
                self._found, self._samples = run.suggestions(), samples
            return self._found


def state_of(found: Suggestions) -> str:
    """What a form was made of, so that no answer is taken for another topic's."""
    said = "\0".join(f"{one.kind}\0{one.of}\0{one.label}\0{one.definition}" for one in found.topics[:MOST])
    return blake2b(said.encode("utf-8", "replace"), digest_size=12).hexdigest()


def answers(found: Suggestions, given: Mapping[str, str]) -> dict[int, Any]:
    """Place of a topic -> "accept", "reject" or the definition as it was edited; those left for later are not in it.

    Raises:
        DataError: a choice is none of these, or a definition is too long.
    """
    said: dict[int, Any] = {}
    for at, topic in enumerate(found.topics[:MOST]):
        choice = given.get(f"choice:{at}", "")
        if choice not in CHOICES:
            raise DataError(f"{one_line(topic.label, 60)}: {choice[:20]!r} is neither accept nor reject")
        text = " ".join(given.get(f"definition:{at}", topic.definition).split())
        if len(text) > LONGEST:
            raise DataError(f"{one_line(topic.label, 60)}: a definition has at most {LONGEST:,} characters")
        if choice:
            edited = choice == "accept" and text != " ".join(topic.definition.split())
            said[at] = {"definition": text} if edited else choice
    return said


def adopted(before: CriteriaSet, found: Suggestions, said: Mapping[int, Any], name: str, run: str) -> CriteriaSet:
    """The next version of a set, with what was accepted; the set itself where nothing was.

    Raises:
        DataError: an edited definition makes no criterion, or two criteria have one name.
    """
    chosen = [found.topics[at].as_suggestion() for at in said]
    try:
        now, _ = decided(before.criteria, chosen, [*said.values()])
        return next_version(before, now, name, run)
    except CriteriaError as error:
        raise DataError(str(error)) from None


def written(criteria: CriteriaSet, folder: Path, name: str) -> Path:
    """Writes the set beside a run, under a name that nothing has yet; gives the file.

    Raises:
        ConfigError: it cannot be written.
    """
    for number in range(1, 1_000):
        path = folder / f"{name}.criteria{f'-{number}' if number > 1 else ''}.yaml"
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # as all files of a run
        except FileExistsError:
            continue
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from None
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(as_yaml(criteria))
        return path
    raise ConfigError(f"{folder}: too many files {name}.criteria*.yaml")
