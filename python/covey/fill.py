"""The values that a study gives to gaps: internal/clip's Matrix.Fill, in NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .column import Array

RIDGE = 0.05  # clip.fillRidge


def fill(y: Array, gaps: npt.NDArray[np.bool_], components: Array) -> None:
    """Sets the gaps of (n, d) rows to what (k, d) orthonormal components predict from the other cells.

    y has 0 in its gaps. With O the other cells of a row, a gap j becomes V_j (V_OᵀV_O + RIDGE·I)⁻¹ V_Oᵀ y_O. A row
    without a value stays zeros. What is not finite would be 0.
    """
    at = np.flatnonzero(gaps.any(axis=1))
    if not len(at):
        return
    k = len(components)
    rows, mask = y[at], gaps[at]
    # V_OᵀV_O is what the gaps leave of the unit matrix.
    outer = np.einsum("aj,bj->jab", components, components).reshape(-1, k * k)
    gram = (1 + RIDGE) * np.eye(k) - (mask.astype(np.float64) @ outer).reshape(-1, k, k)
    place = np.linalg.solve(gram, (rows @ components.T)[:, :, np.newaxis])[:, :, 0]
    predicted = place @ components
    predicted[~np.isfinite(predicted)] = 0
    y[at] = np.where(mask, predicted, rows)
