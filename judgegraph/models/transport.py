"""By which of two ways "openai:" models are asked."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import get_args

from judgegraph.errors import ConfigError, ExtraError
from judgegraph.models.endpoint import Endpoint, Transport

VARIABLE = "JUDGEGRAPH_TRANSPORT"


def is_fast(endpoint: Endpoint) -> bool:
    """Whether it is asked over aiohttp, not by langchain-openai: as it says, else the environment, else if it can.

    Raises:
        ConfigError: the environment names no transport. ExtraError: aiohttp was asked for and is not installed.
    """
    wanted = endpoint.transport if endpoint.transport != "auto" else os.environ.get(VARIABLE) or "auto"
    if wanted not in get_args(Transport):
        raise ConfigError(f"{VARIABLE} is 'auto', 'fast' or 'langchain', got {wanted!r}")
    installed = find_spec("aiohttp") is not None
    if wanted == "fast" and not installed:
        raise ExtraError("the fast path to OpenAI-compatible servers", "fast")
    return wanted == "fast" or (wanted == "auto" and installed)
