"""What `doctor` found of an endpoint, kept in the user's cache folder, so that a run need not fail to learn it."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile

from pydantic import BaseModel, ConfigDict

from judgegraph.errors import ConfigError
from judgegraph.models.endpoint import Endpoint
from judgegraph.models.resolve import Support
from judgegraph.models.secrets import bare

VERSION = 1
FRESH = timedelta(days=30)  # servers change; older findings are not used
AGAIN = timedelta(days=7)  # what a run finds out again at the cost of one refused request is not believed for longer
UNKEPT = {"presumed", "doubts", "cap", "cut", "whole", "most_n"}  # what a process knows for itself
REFUSABLE = {"temperature", "top_p", "seed"}
SLACK = timedelta(days=1)  # a clock that was set back makes no finding void


class Findings(BaseModel):
    """What was found of one model at one address.

    Attributes:
        address: without user, password and query; "" is the provider's own. date: when it was found.
        deviations: where the endpoint does other than OpenAI's API says, and what that means for a run.
    """

    model_config = ConfigDict(frozen=True)

    version: int = VERSION
    model: str
    address: str
    date: datetime
    support: Support
    deviations: tuple[str, ...] = ()


def cache_folder() -> Path:
    """$JUDGEGRAPH_CACHE, else `judgegraph` in $XDG_CACHE_HOME or where this system keeps its caches.

    Raises:
        ConfigError: the user has no home folder.
    """
    if own := os.environ.get("JUDGEGRAPH_CACHE"):
        return Path(own)
    named = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None)
    if named:
        return Path(named) / "judgegraph"
    try:
        home = Path.home()
    except RuntimeError:
        raise ConfigError("there is no home folder for a cache; set JUDGEGRAPH_CACHE to a folder") from None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "judgegraph"


def address_used(endpoint: Endpoint) -> str:
    """Where its calls go, without anything that may be a key; "" for the provider's own."""
    return bare(endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or "")


def known_support(endpoint: Endpoint, now: datetime | None = None) -> Support | None:
    """What was found of this endpoint in the last 30 days; None where nothing was, or it cannot be read.

    After 7 days it holds only what a run would not notice by itself: a name of the limit, a schema and bounds within it
    that are ignored without a word, and whether it thinks. All else is tried once more, once in each process.
    """
    try:
        found = Findings.model_validate_json(_path(endpoint).read_bytes(), strict=True)
    except (OSError, ValueError, ConfigError):  # it is a cache: without it a run learns by itself
        return None
    same = (found.version, found.model, found.address) == (VERSION, endpoint.model, address_used(endpoint))
    age = (now or datetime.now(UTC)) - _aware(found.date)
    if not same or not -SLACK <= age <= FRESH or not _sound(found.support):
        return None
    told = found.support if age <= AGAIN else _lasting(found.support)
    told.presumed = {name for name in ("json_schema", "logprobs", "max_tokens") if getattr(told, name) is not None}
    return told


def _sound(support: Support) -> bool:
    """Each value is one that doctor may have found: others were written by somebody else."""
    return 0 <= support.top_logprobs <= 20 and support.refused <= REFUSABLE


def _lasting(support: Support) -> Support:
    return Support(
        json_schema=support.json_schema, max_tokens=support.max_tokens, max_length=support.max_length,
        thinks=support.thinks,
    )  # fmt: skip


def keep(endpoint: Endpoint, support: Support, deviations: tuple[str, ...] = (), now: datetime | None = None) -> Path:
    """Write down what was found, readable by its owner alone, in place of what stood there.

    Raises:
        ConfigError: the cache folder cannot be written to.
    """
    found = Findings(
        model=endpoint.model, address=address_used(endpoint), date=now or datetime.now(UTC),
        support=support, deviations=deviations,
    )  # fmt: skip
    path = _path(endpoint)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(
            path,
            json.dumps(
                found.model_dump(mode="json", exclude={"support": {"presumed", "doubts", "cap", "cut", "whole"}}),
                indent=1,
            ),
        )
    except OSError as error:
        raise ConfigError(f"findings cannot be kept in {path.parent}: {error.strerror or error}") from None
    return path


def _replace(path: Path, text: str) -> None:
    """At once or not at all: another process may be reading it."""
    with NamedTemporaryFile("w", dir=path.parent, prefix=".", delete=False, encoding="utf-8") as file:  # mode 0600
        file.write(text)
    try:
        Path(file.name).replace(path)
    except OSError:
        with suppress(OSError):
            Path(file.name).unlink()
        raise


def _path(endpoint: Endpoint) -> Path:
    key = json.dumps([endpoint.model, address_used(endpoint)]).encode()
    return cache_folder() / "doctor" / f"{blake2b(key, digest_size=16).hexdigest()}.json"


def _aware(date: datetime) -> datetime:
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def adopt(known: Support, found: Support) -> None:
    """Put what was found in the place of what was known, also for calls that are under way."""
    for field in fields(Support):
        setattr(known, field.name, getattr(found, field.name))
