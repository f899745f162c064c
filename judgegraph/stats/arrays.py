"""The arrays that statistics take, and the words for how they are taken."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]  # 0, 1, ...: which group or system an item belongs to
Coefficient = Literal["pearson", "spearman", "kendall-b", "kendall-c"]
Level = Literal["dataset", "group", "system"]  # over all items; mean over groups; over means per system
Constant = Literal["skip", "zero"]  # a group in which either side is constant has no coefficient, or counts as 0
Unit = Literal["item", "group", "system", "both"]  # what a bootstrap draws
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall-b", "kendall-c")
