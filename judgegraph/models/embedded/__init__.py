"""The judge that needs no key: a chat model that answers from text features."""

from judgegraph.models.embedded.model import NAME, EmbeddedJudge

__all__ = ["NAME", "EmbeddedJudge"]
