"""The values that a study gives to gaps: internal/clip's Matrix.Fill, in NumPy."""

from __future__ import annotations

from types import MappingProxyType
from typing import Mapping

import numpy as np
import numpy.typing as npt

from .column import Array

RIDGE = 0.05  # clip.fillRidge


def fill(y: Array, gaps: npt.NDArray[np.bool_], components: Array, own: Mapping[int, int] = MappingProxyType({})) -> None:
    """Sets the gaps of (n, d) rows to what (k, d) orthonormal components predict from the other cells.

    y has 0 in its gaps. own has columns' indicators, which say nothing of what is missing. With O the cells of a row but
    its gaps and their indicators, a gap j becomes V_j (V_OᵀV_O + RIDGE·I)⁻¹ V_Oᵀ y_O. A row
    without a value stays zeros. What is not finite would be 0.
    """
    at = np.flatnonzero(gaps.any(axis=1))
    if not len(at):
        return
    k = len(components)
    rows, mask = y[at], gaps[at]
    hidden = mask.copy()
    for j, at_own in own.items():
        hidden[:, at_own] |= mask[:, j]
    # V_OᵀV_O is what these leave of the unit matrix.
    outer = np.einsum("aj,bj->jab", components, components).reshape(-1, k * k)
    gram = (1 + RIDGE) * np.eye(k) - (hidden.astype(np.float64) @ outer).reshape(-1, k, k)
    place = np.linalg.solve(gram, (np.where(hidden, 0, rows) @ components.T)[:, :, np.newaxis])[:, :, 0]
    predicted = place @ components
    predicted[~np.isfinite(predicted)] = 0
    y[at] = np.where(mask, predicted, rows)
