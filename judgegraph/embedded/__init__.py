"""The judge that needs no key: a chat model that answers from text features."""

from __future__ import annotations

from judgegraph.embedded.model import NAME, EmbeddedJudge

__all__ = ["NAME", "EmbeddedJudge"]
