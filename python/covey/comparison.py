"""Two results held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

import numpy as np

from .column import Array, Column
from .errors import ComparisonError
from .result import Result


@dataclass(frozen=True, eq=False)
class Comparison:
    """How far the components of two results lie apart: the angles of "analyst compare", without its intervals.

    Both results are noised, so that two studies of the same rows differ, too: an angle without an interval says nothing
    of its reason. Angles are in degrees, 0 to 90.
    """

    pairs: Tuple[Tuple[int, int], ...]  # k pairs of numbers from 1, of the first's and of the second's; k the lesser
    angles: Array  # (k,), of each pair
    signs: Array  # (k,), 1 or -1: times this, the second's component points the first's way
    second: Array  # (k, d), the pairs' components of the second with these signs, in the first's order of columns
    principal_angles: Array  # (k,), falling: of the spans of the first k components of both
    left_out_of_one: Tuple[str, ...]  # columns that one of them left out, where its components have 0


def compare(a: Result, b: Result) -> Comparison:
    """Compares two results of the same columns, in any order; components are matched, the nearest first.

    Scales that the studies learned are each one's own: then correlations are compared. Raises ComparisonError where the
    columns, their units of measurement, texts or public scales, or, without centering, their offsets differ, where one
    of the results is simulated, of two results of one study, and of archives, which do not say what their columns are.
    """
    if a.digest == b.digest:
        raise ComparisonError("both results are of one study")
    mine, other = set(a.feature_names_in_), set(b.feature_names_in_)
    if mine != other:
        apart = sorted(mine ^ other)
        more = f" and {len(apart) - 5} more" if len(apart) > 5 else ""
        raise ComparisonError(f"in one of the results only: {', '.join(map(repr, apart[:5]))}{more}")
    if a.simulated != b.simulated:
        raise ComparisonError("one of the results is simulated")
    place = {name: j for j, name in enumerate(b.feature_names_in_)}
    order = [place[name] for name in a.feature_names_in_]
    _alike(a, b, order)
    first, second = a.components_, b.components_[:, order]
    k = min(len(first), len(second))
    pairs = _pairs(first, second, k)
    left, right = [i for i, _ in pairs], [j for _, j in pairs]
    signs = np.where(np.einsum("ij,ij->i", first[left], second[right]) < 0, -1.0, 1.0)
    matched = second[right] * signs[:, np.newaxis]
    once = set(a.left_out) ^ set(b.left_out)
    return Comparison(
        pairs=tuple((i + 1, j + 1) for i, j in pairs),
        angles=_angles(first[left], matched),
        signs=signs,
        second=matched,
        principal_angles=_principal(first[:k], second[:k])[::-1],
        left_out_of_one=tuple(name for name in a.feature_names_in_ if name in once),
    )


def _alike(a: Result, b: Result, order: List[int]) -> None:
    """Refuses columns that are not the same numbers in both, as "analyst compare" does: loadings on them mean different things."""
    if a.columns is None or b.columns is None:
        raise ComparisonError("an archive does not say what columns are measured in and how they are read: load the result files")
    centered = all(str(r.raw.get("center", "public")) != "public" for r in (a, b))
    mine, theirs = _columns(a.columns), _columns(b.columns)
    for j, name in enumerate(a.feature_names_in_):
        of, other = mine[j], theirs[order[j]]
        if of.measure != other.measure:
            raise ComparisonError(f"column {name!r} is in {of.measure!r} in one and in {other.measure!r} in the other")
        if of.kind != other.kind or set(of.levels) != set(other.levels):  # each level is a coordinate, found by its name
            raise ComparisonError(f"column {name!r} is read in two ways, or has other levels")
        if of.learned != other.learned:
            raise ComparisonError(f"column {name!r} has a learned scale in one alone")
        gap = name == f"{of.name} is missing" and of.indicator  # of a learned scale, whatever its column's
        if not (of.learned or gap) and a.scale_[j] != b.scale_[order[j]]:
            raise ComparisonError(f"column {name!r} is divided by {a.scale_[j]:g} in one and by {b.scale_[order[j]]:g} in the other")
        if not centered and a.offset_[j] != b.offset_[order[j]]:
            raise ComparisonError(f"column {name!r} has another offset, and not both studies are centered")


def _columns(columns: Tuple[Column, ...]) -> List[Column]:
    """The column of each coordinate."""
    return [c for c in columns for _ in range(c.width)]


def _pairs(first: Array, second: Array, k: int) -> List[Tuple[int, int]]:
    """k pairs of places, the nearest first to be matched, in the first's order."""
    cosines = np.abs(first @ second.T)
    out = []
    for _ in range(k):
        i, j = (int(v) for v in np.unravel_index(cosines.argmax(), cosines.shape))
        out.append((i, j))
        cosines[i, :] = -1
        cosines[:, j] = -1
    return sorted(out)


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
