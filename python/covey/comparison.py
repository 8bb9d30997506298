"""Two results held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

from .column import Array
from .errors import ComparisonError
from .result import Result


@dataclass(frozen=True, eq=False)
class Comparison:
    """How far the components of two results lie apart, on the first's scaled columns.

    Both results are noised, so that two studies of the same rows differ, too: an angle without an interval says nothing
    of its reason. Angles are in degrees, 0 to 90.
    """

    angles: Array  # (k,), of each component of the first to that of the second with its number; k the lesser
    signs: Array  # (k,), 1 or -1: times this, the second's component points the first's way
    second: Array  # (k, d), the second's components with these signs, on the first's scaled columns and in their order
    principal_angles: Array  # (k,), rising: of the spans of the first k components of both
    scale_ratio: Array  # (d,), the second's scale over the first's; 1 where a column is left out of either
    left_out_of_one: Tuple[str, ...]  # columns that one of them left out, where its components have 0


def compare(a: Result, b: Result) -> Comparison:
    """Compares two results of the same columns, in any order.

    A component adds up scaled columns; where two studies have other scales the second's loadings are brought to the
    first's, so that they add up the same raw values. Offsets and means move no direction. Raises ComparisonError where
    the columns differ, or where either is simulated and the other is not.
    """
    mine, other = set(a.feature_names_in_), set(b.feature_names_in_)
    if mine != other:
        apart = sorted(mine ^ other)
        more = f" and {len(apart) - 5} more" if len(apart) > 5 else ""
        raise ComparisonError(f"in one of the results only: {', '.join(map(repr, apart[:5]))}{more}")
    if a.simulated != b.simulated:
        raise ComparisonError("one of the results is simulated")
    place = {name: j for j, name in enumerate(b.feature_names_in_)}
    order = [place[name] for name in a.feature_names_in_]
    k = min(a.n_components_, b.n_components_)
    once = set(a.left_out) ^ set(b.left_out)
    either = np.array([name in a.left_out or name in b.left_out for name in a.feature_names_in_])
    ratio = np.where(either, 1.0, b.scale_[order] / a.scale_)
    first, second = a.components_[:k], _unit(b.components_[:k, order] / ratio)
    cosines = np.einsum("ij,ij->i", first, second)
    signs = np.where(cosines < 0, -1.0, 1.0)
    second = second * signs[:, np.newaxis]
    return Comparison(
        angles=_angles(first, second),
        signs=signs,
        second=second,
        principal_angles=_principal(first, second),
        scale_ratio=ratio,
        left_out_of_one=tuple(name for name in a.feature_names_in_ if name in once),
    )


def _unit(rows: Array) -> Array:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ComparisonError("the scales are too far apart to bring one result's loadings to the other's")
    out: Array = rows / lengths
    return out


def _angles(first: Array, second: Array) -> Array:
    """Between unit vectors that point the same way; exact for small angles too, where arccos is not."""
    apart, along = np.linalg.norm(first - second, axis=1), np.linalg.norm(first + second, axis=1)
    out: Array = np.degrees(2 * np.arctan2(apart, along))
    return out


def _principal(first: Array, second: Array) -> Array:
    """The principal angles of two spans, rising (Björck and Golub 1973: sines where angles are small)."""
    p, q = np.linalg.qr(first.T)[0], np.linalg.qr(second.T)[0]
    cosines = np.clip(np.linalg.svd(p.T @ q, compute_uv=False), 0, 1)
    sines = np.clip(np.linalg.svd(q - p @ (p.T @ q), compute_uv=False)[::-1], 0, 1)
    out: Array = np.degrees(np.where(cosines > np.sqrt(0.5), np.arcsin(sines), np.arccos(cosines)))
    return out
