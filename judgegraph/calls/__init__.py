"""How one model call is made and read: `ask` is the one door."""

from judgegraph.calls.asking import Form, Reply, ask, replies
from judgegraph.calls.ratings import STATED, Rated, Reader, Slot, rate
from judgegraph.models.judges import Endpoint, JudgeLike, name_of

__all__ = [
    "STATED",
    "Endpoint",
    "Form",
    "JudgeLike",
    "Rated",
    "Reader",
    "Reply",
    "Slot",
    "ask",
    "name_of",
    "rate",
    "replies",
]
