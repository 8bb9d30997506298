"""A study's result, and what it does with rows.

A raw value v of a column was seen by the study as (v - offset) / scale, less a released mean. Scores are its place
along the components. What is computed of a person's row is that person's data: nothing here makes it private.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Tuple

import numpy as np

from . import fill, rows
from .column import Array, Column, joined, own, widths
from .errors import NotBoughtError, RowsError, RowsWarning, SharesWarning, warn
from .picture import Biplot, Picture, ScoreHistogram

CHUNK = 1 << 22  # numbers of rows that are worked on at once
OTHERS = 0.05  # share of cells that hold no level, beyond twice the study's, that is warned of: about a site's own (agent check)
LEAST = 20  # cells, of which that is warned


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What a study found. Arrays cannot be written to; d columns, k components.

    Fields that end with _ are scikit-learn's where it has them (docs/result-file.md has all).
    """

    name: str
    digest: str  # of the proposal that every site approved; that anybody signed it is NOT checked
    epsilon: float
    delta: float
    feature_names_in_: Tuple[str, ...]
    offset_: Array  # (d,)
    scale_: Array  # (d,), above 0
    mean_: Array  # (d,), of scaled columns
    components_: Array  # (k, d), orthonormal rows, on scaled columns
    n_samples_: int
    method: str
    explained_variance_: Optional[Array] = None  # (k,), None where it was not bought
    explained_variance_interval_: Optional[Array] = None  # (k, 2)
    shares: Optional[Array] = field(default=None, repr=False)  # (k,), explained_variance_ratio_ as the file has it
    total_variance_: Optional[float] = None
    rows_per_unit: float = 1.0
    rows_kept: Optional[float] = None  # noised, where rows without a value may be left out
    missing: Optional[str] = "error"  # what the study did with cells without a value; None: not known
    left_out: Mapping[str, str] = field(default_factory=dict)  # coordinate: why; "" where the file does not say
    columns: Optional[Tuple[Column, ...]] = None  # of the proposal; None: not known
    pictures: Tuple[Picture, ...] = ()
    score_histograms: Tuple[ScoreHistogram, ...] = ()
    loadings_interval: Optional[Array] = None  # (k, d, 2), NaN where a component is not determined; None: not in the file, or not known
    simulated: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)  # every field of the file, as it is

    def __repr__(self) -> str:
        k, d = self.components_.shape
        what = "simulated, " if self.simulated else ""
        return f"<covey.Result {self.name!r}: {what}{k} components of {d} columns, {self.n_samples_} units, ε = {self.epsilon:g}>"

    @property
    def n_components_(self) -> int:
        """k."""
        return self.components_.shape[0]

    @property
    def n_features_in_(self) -> int:
        """d."""
        return self.components_.shape[1]

    @property
    def explained_variance_ratio_(self) -> Optional[Array]:
        """Each component's share of the total variance: (k,), None where it was not bought or says nothing, NaN where
        noise made all or nothing of one.

        A result file has shares that say nothing, too, several times too high or too low, and cannot tell: then this
        warns with SharesWarning. verify() and the archive of "analyst export --npz" can.
        """
        if self.shares is not None and not self.judged:
            warn(
                'a result file has shares of the total variance even where they say nothing: use none where covey.verify(path)["worth"] '
                'has "variance_shares_unknown"; the archive of "analyst export --npz" leaves those out',
                SharesWarning,
            )
        return self.shares

    @property
    def judged(self) -> bool:
        """Whether the file was written by a program that judged what the result is worth: an archive."""
        return "worth" in self.raw

    @property
    def worth(self) -> Tuple[str, ...]:
        """What the result is worth, in sentences, the captured share first: those of `analyst result`.

        Read them before any number: they say whether a component can be interpreted. Empty of a result file, where
        covey.verify(path)["worth"]["sentences"] has them.
        """
        return tuple(str(sentence) for sentence in self.raw["worth"]) if self.judged else ()

    def coordinates(self, X: Any) -> Array:
        """The (n, d) raw numbers of rows, in the order of feature_names_in_; NaN is a gap.

        X is an (n, d) array of them already, or raw columns by name (a dict of sequences, a structured array, a data
        frame): numbers, texts where the study has levels, dates and booleans as it reads them. A text that is no level
        is the column's other. A level that the study found too rare counts as other, too. A column that the study does
        not have is ignored. Raises RowsError, and warns with RowsWarning of cells that hold something and are gaps, and
        of a column with far more other texts than in the study: its site may have codes of its own.
        """
        out = rows.coordinates(X, self.feature_names_in_, self.columns, self._keeps_gaps() or self._drops())
        if rows.by_name(X):
            self._others(out)
        for level, other in joined(self.columns or (), [self.left_out.get(n) for n in self.feature_names_in_]):
            out[:, other] += out[:, level]
            out[:, level] = np.where(np.isnan(out[:, level]), np.nan, 0.0)
        return out

    def scaled(self, X: Any) -> Array:
        """Rows as the study saw them: (n, d), scaled, centered, and with their gaps filled.

        With missing = "zero" a gap is the center; with "fill" it is what the components predict from the row's other
        cells, by the study's own rule. With "drop-row" the row is NaN, which a RowsWarning counts: the study left such
        rows out. A coordinate that was left out is 0. Raises RowsError, also for a gap where the study refused such
        rows, or where the file does not say what it did.
        """
        out = self.coordinates(X)
        gaps = np.isnan(out)
        dropped = gaps.any(axis=1) if self._drops() else np.zeros(len(out), dtype=bool)
        if dropped.any():
            row = int(dropped.argmax())
            name = self.feature_names_in_[int(gaps[row].argmax())]
            warn(f"{int(dropped.sum())} of {len(out)} rows have no scores, the first row {row}, without a value in {name!r}: the study left such rows out", RowsWarning)
        elif gaps.any() and not self._keeps_gaps():
            row, j = (int(i[0]) for i in np.nonzero(gaps))
            raise RowsError(f"row {row} has no value in {self.feature_names_in_[j]!r}, and {self._no_rule()}")
        out -= self.offset_
        out /= self.scale_
        out -= self.mean_
        out[gaps] = 0
        for j, name in enumerate(self.feature_names_in_):
            if name in self.left_out:
                out[:, j] = 0
        out[dropped] = np.nan
        if not np.isfinite(out[~dropped]).all():
            raise RowsError(f"row {int(np.nonzero(~np.isfinite(out).all(axis=1) & ~dropped)[0][0])} has a value that is infinite in scaled columns")
        if self.missing == "fill" and gaps.any():
            says = own(self.feature_names_in_, self.columns)
            step = max(1, CHUNK // (self.n_features_in_ + self.n_components_**2))
            for at in range(0, len(out), step):
                fill.fill(out[at : at + step], gaps[at : at + step], self.components_, says)
        return out

    def transform(self, X: Any) -> Array:
        """Scores: (n, k), of rows as coordinates takes them; NaN of a row that the study would leave out."""
        scores: Array = self.scaled(X) @ self.components_.T
        return scores

    def inverse_transform(self, scores: Any) -> Array:
        """The (n, d) raw numbers whose rows have these (n, k) scores and nothing besides."""
        array = np.asarray(scores, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != self.n_components_:
            raise RowsError(f"scores have shape {array.shape}, not (n, {self.n_components_})")
        out: Array = (array @ self.components_ + self.mean_) * self.scale_ + self.offset_
        return out

    def reconstruction_error(self, X: Any) -> Array:
        """The squared prediction error (Q) of each row: (n,), in squared units of the scaled columns.

        It is the squared distance of the row, scaled, centered and filled, to the span of the components.
        """
        scaled = self.scaled(X)
        rest = scaled - scaled @ self.components_.T @ self.components_
        out: Array = np.einsum("ij,ij->i", rest, rest)
        return out

    def hotelling_t2(self, X: Any) -> Array:
        """Hotelling's T² of each row: (n,), the sum of its squared scores over the explained variances.

        Raises NotBoughtError where explained variance was not bought, or a component's is 0, and for center = "pairs".
        """
        variance = self._variance("T²")
        if str(self.raw.get("center")) == "pairs":
            raise NotBoughtError("a study of pairs releases no mean, from which T² is measured")
        if not (variance > 0).all():
            raise NotBoughtError(f"component {int((variance <= 0).argmax()) + 1} has the noised variance 0, so that T² has no meaning")
        out: Array = np.sum(self.transform(X) ** 2 / variance, axis=1)
        return out

    def biplot(self, pair: Tuple[int, int] = (1, 2)) -> Biplot:
        """What a biplot draws for two components, numbered from 1.

        An arrow is a column's loadings times the roots of the explained variances, which for standardized columns are
        its correlations with the scores; the loadings alone where no variance was bought.
        """
        a, b = (self._component(i) for i in pair)
        arrows = self.components_[[a, b]].T.copy()
        scaled = self.explained_variance_ is not None
        if self.explained_variance_ is not None:
            arrows *= np.sqrt(self.explained_variance_[[a, b]])
        arrows.setflags(write=False)
        return Biplot(names=self.feature_names_in_, arrows=arrows, by_variance=scaled, pair=(a + 1, b + 1))

    def as_sklearn(self) -> Any:
        """A fitted sklearn.pipeline.Pipeline of coordinates, "rows", a StandardScaler, "scale", and a PCA, "pca".

        Its transform equals this one's on complete rows, and takes what coordinates takes. The PCA alone is
        as_sklearn()["pca"], of scaled rows. Without explained variance its explained_variance_ is NaN, and whitening has
        no meaning; explained_variance_ratio_ is NaN also of a result file, which cannot tell what it is worth. Needs
        scikit-learn.
        """
        from .sklearn import pipeline

        return pipeline(self)

    def _others(self, out: Array) -> None:
        for at, column in widths(self.columns or ()):
            other = at + len(column.levels)
            cells = out[~np.isnan(out[:, other]), other]
            # the scale of a level with share p is the root of p
            share = 0.0 if self.feature_names_in_[other] in self.left_out else float(self.scale_[other]) ** 2
            if column.levels and len(cells) >= LEAST and cells.mean() > 2 * share + OTHERS:
                had = f"{100 * share:.3g}%" if share else "next to none"
                warn(f"column {column.name!r} has {int(cells.sum())} of {len(cells)} cells that hold none of its levels, and in the study {had}: they count as other. Are its levels written another way here?", RowsWarning)

    def _variance(self, what: str) -> Array:
        if self.explained_variance_ is None:
            raise NotBoughtError(f"the result has no explained variance (not bought, or hidden by noise), without which there is no {what}")
        return self.explained_variance_

    def _component(self, number: int) -> int:
        if not 1 <= number <= self.n_components_:
            raise ValueError(f"there is no component {number}: they are numbered from 1 to {self.n_components_}")
        return number - 1

    def _keeps_gaps(self) -> bool:
        return self.missing in ("fill", "zero")

    def _drops(self) -> bool:
        return self.missing == "drop-row"

    def _no_rule(self) -> str:
        if self.missing is None:
            return "the archive does not say how the study treated such cells: load the result file"
        return f'the study has missing = "{self.missing}": it gave no such cell a value'

    def noise_variance(self) -> Optional[float]:
        """As scikit-learn's noise_variance_: the mean variance of all other directions, 0 at least; None if not bought."""
        if self.total_variance_ is None or self.explained_variance_ is None:
            return None
        directions = min(self.n_features_in_ - len(self.left_out), self.n_samples_) - self.n_components_
        if directions < 1:
            return 0.0
        return max(0.0, self.total_variance_ - float(self.explained_variance_.sum())) / directions


