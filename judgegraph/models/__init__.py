"""Who answers: endpoints, chat models, the embedded judge."""

from judgegraph.models.judges import Endpoint, JudgeLike, name_of, resolve

__all__ = ["Endpoint", "JudgeLike", "name_of", "resolve"]
