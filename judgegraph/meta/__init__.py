"""How far a judge agrees with people: from a run or from any table."""

from __future__ import annotations
