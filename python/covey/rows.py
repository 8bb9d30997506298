"""Rows as a caller has them, as numbers in the order of a result's coordinates."""

from __future__ import annotations

import unicodedata
from typing import Any, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from .column import LIMIT, Array, Column, named, plain, widths
from .errors import RowsError


def coordinates(X: Any, names: Sequence[str], columns: Optional[Tuple[Column, ...]], keeps_gaps: bool) -> Array:
    """A new (n, d) array of raw numbers; NaN is a gap. columns are None where only names are known.

    keeps_gaps: a text that is no number is a gap in a column by name.
    """
    if columns is None:
        columns = tuple(Column(name) for name in names)
    if by_name(X):
        return _table(X, columns, keeps_gaps)
    try:
        rows = plain(X)
    except ValueError as e:
        raise RowsError("rows are neither numbers nor columns by name") from e
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise RowsError(f"rows have shape {rows.shape}, not (n, {len(names)}): one number for each of feature_names_in_")
    if rows.dtype.kind in "fiub":
        out = rows.astype(np.float64)
    else:
        out = np.concatenate([Column(name).numbers(rows[:, j], strict=True) for j, name in enumerate(names)], axis=1)
    far = np.abs(out) >= LIMIT
    if far.any():
        row, j = (int(i[0]) for i in np.nonzero(far))
        raise RowsError(f"row {row} has an infinite value, or one of 2^480 or more, in {names[j]!r}")
    for at, column in widths(columns):
        _check(out[:, at : at + column.width], column)
    return out


def by_name(X: Any) -> bool:
    """Whether X has columns by name."""
    return _names(X) is not None


def _names(X: Any) -> Optional[Iterable[Any]]:
    """The names of X's columns; None where its cells have only places.

    A frame of polars or pyarrow has no keys, and is an array to NumPy, of columns in the frame's own order.
    """
    if hasattr(X, "keys"):
        return list(X.keys())
    if hasattr(X, "__array__"):
        for names in (getattr(getattr(X, "dtype", None), "names", None), getattr(X, "column_names", None), getattr(X, "columns", None)):
            if isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names):
                return names
    return None


def _table(X: Any, columns: Tuple[Column, ...], keeps_gaps: bool) -> Array:
    there = set(_names(X) or ())
    lost = [column.name for column in columns if column.name not in there]
    if lost:
        more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        near = [name for name in there if isinstance(name, str) and _plain(name) == _plain(lost[0])]
        hint = f"; {near[0]!a} is near, and names match exactly" if near else ""
        raise RowsError(f"there is no column {', '.join(map(repr, lost[:5]))}{more}{hint}")
    parts: List[Array] = []
    for column in columns:
        part = column.numbers(X[column.name], strict=not keeps_gaps)
        if parts and len(part) != len(parts[0]):
            raise RowsError(f"column {column.name!r} has {len(part)} rows, {columns[0].name!r} has {len(parts[0])}")
        parts.append(part)
    return np.concatenate(parts, axis=1) if parts else np.empty((0, len(named(columns))))


def _plain(name: str) -> str:
    """A name without what people do not see in it: spaces around it, case, and how its accents are written."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def _check(part: Array, column: Column) -> None:
    """A gap is one in all coordinates of its column, and its indicator says so."""
    gaps = np.isnan(part[:, : column.cells])
    if column.levels:
        if (gaps.any(axis=1) != gaps.all(axis=1)).any():
            row = int((gaps.any(axis=1) != gaps.all(axis=1)).argmax())
            raise RowsError(f"row {row} has a value in some levels of {column.name!r} only")
    if column.indicator:
        says = part[:, column.cells]
        if np.isnan(says).any() or (says[gaps[:, 0]] != 1).any():
            raise RowsError(f"{column.name + ' is missing'!r} is not 1 in the rows without a value in {column.name!r}")
