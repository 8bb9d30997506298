"""A result as scikit-learn's own objects. Imports scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

if TYPE_CHECKING:
    from .result import Result


def pipeline(result: Result) -> Any:
    """A fitted Pipeline of "rows", "scale" and "pca" (Result.as_sklearn)."""
    k, d = result.components_.shape
    scale = StandardScaler()
    scale.mean_, scale.scale_ = result.offset_.copy(), result.scale_.copy()
    scale.var_ = scale.scale_**2
    scale.n_features_in_, scale.n_samples_seen_ = d, result.n_samples_

    pca = PCA(n_components=k, svd_solver="full")
    pca.components_, pca.mean_ = result.components_.copy(), result.mean_.copy()
    pca.n_components_, pca.n_features_in_, pca.n_samples_ = k, d, result.n_samples_
    nan = np.full(k, np.nan)  # not bought
    variance, ratio = result.explained_variance_, result.shares if result.judged else None
    pca.explained_variance_ = nan if variance is None else variance.copy()
    pca.explained_variance_ratio_ = nan.copy() if ratio is None else ratio.copy()
    kept = result.n_samples_ * max(1.0, result.rows_per_unit) if result.rows_kept is None else result.rows_kept
    pca.singular_values_ = np.sqrt(pca.explained_variance_ * max(0.0, kept - 1))
    noise = result.noise_variance()
    pca.noise_variance_ = float("nan") if noise is None else noise
    rows = FunctionTransformer(result.coordinates, feature_names_out=_names)
    rows.n_features_in_ = d
    return Pipeline([("rows", rows), ("scale", scale), ("pca", pca)])


def _names(rows: Any, _: Any) -> Any:
    """The names of what coordinates returns; no closure, which no pickle holds."""
    return np.array(rows.func.__self__.feature_names_in_, dtype=object)
