"""The data of pictures: noised histograms of scores over all sites, and the arrows of a biplot.

Counts are released values with noise, so some are below zero, and one of a few units says nothing: sigma is the noise's
standard deviation on each. Nothing here smooths or hides any; a drawing must not show what is below a few sigma.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from .column import Array


@dataclass(frozen=True, eq=False)
class Picture:
    """A noised histogram of all units' scores on two components, perhaps by group."""

    pair: Tuple[int, int]  # components, from 1
    x_edges: Array  # (17,), in scores
    y_edges: Array  # (17,)
    counts: Array  # (groups, 16, 16), by group, x and y: units; the outermost bins hold what is beyond, too
    sigma: float
    groups: Tuple[str, ...] = ()  # levels or sites; empty where all units are one group
    by: Optional[str] = None  # "column" or "site"
    column: Optional[str] = None

    def density(self, threshold: float = 4.0) -> Array:
        """Each group's density on the grid: (groups, 16, 16), in units of 1/area, without smoothing.

        A count below threshold sigmas is 0, since noise alone makes such; the rest are over their sum and their bins'
        areas. A group that has no count above it is all zeros.
        """
        kept = np.where(self.counts >= threshold * self.sigma, np.maximum(self.counts, 0), 0.0)
        total = kept.sum(axis=(1, 2), keepdims=True)
        area = np.outer(np.diff(self.x_edges), np.diff(self.y_edges))
        out: Array = np.divide(kept, total, out=np.zeros_like(kept), where=total > 0) / area
        return out


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """A noised histogram of all units' scores on one component."""

    component: int  # from 1
    edges: Array  # (33,), in scores
    counts: Array  # (32,): units; the outermost bins hold what is beyond, too
    sigma: float


@dataclass(frozen=True, eq=False)
class Biplot:
    """The arrows of a biplot."""

    names: Tuple[str, ...]  # (d,)
    arrows: Array  # (d, 2): along the first and along the second component of the pair
    by_variance: bool  # loadings are times the root of the explained variance
    pair: Tuple[int, int]  # components, from 1
