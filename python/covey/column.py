"""A study's columns, and how their cells become the numbers of a row.

Cells are read as an agent reads them (docs/study.md, columns): a function of the cell and of public words alone.
"""

from __future__ import annotations

import datetime
import decimal
import re
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .errors import RowsError, RowsWarning, warn

Array = npt.NDArray[np.float64]

# Go's strconv.ParseFloat without its _ between digits: decimal and hexadecimal numbers
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ](?=..:..)[0-9:.,+\-Z ]+)?")
_TRUE = frozenset(("true", "t", "yes", "y", "1"))
_FALSE = frozenset(("false", "f", "no", "n", "0"))
_EPOCH = datetime.date(1970, 1, 1).toordinal()

LIMIT = 2.0**480  # dataset.Limit: the magnitude that a value stays below

OTHER = "other"
DAYS = "days since "
MISSING = " is missing"


@dataclass(frozen=True)
class Column:
    """One column of a study: a number, or levels of a category."""

    name: str
    levels: Tuple[str, ...] = ()
    kind: str = ""  # "", "boolean", or "days since YYYY-MM-DD"
    indicator: bool = False  # it has a coordinate for missing values
    learned: bool = False  # the study learned its scale
    measure: str = ""  # the unit of measurement, as the proposal has it

    @property
    def cells(self) -> int:
        """How many coordinates are gaps where the cell is one: the first."""
        return len(self.levels) + 1 if self.levels else 1

    @property
    def width(self) -> int:
        """How many coordinates the column has."""
        return self.cells + int(self.indicator)

    def coordinates(self) -> List[str]:
        """The names of the column's coordinates, as in feature_names_in_."""
        names = [self.name]
        if self.levels:
            names = [f"{self.name}={level}" for level in (*self.levels, OTHER)]
        if self.indicator:
            names.append(self.name + MISSING)
        return names

    def numbers(self, cells: Any, strict: bool) -> Array:
        """The (n, width) numbers of n cells; NaN in the first coordinates of a cell without a value.

        strict: a text that is no number raises a RowsError instead of being a missing value. As at a site, it is
        what a study does that keeps no gaps. Only of columns of numbers: any other cell is a fault of nobody's. A
        RowsWarning counts the cells that hold something and become missing values: a decimal comma, or "<0.1".
        """
        values = self._values(cells, strict)
        out = np.zeros((len(values), self.width))
        empty = np.isnan(values)
        if self.levels:
            rows = np.flatnonzero(~empty)
            out[rows, values[rows].astype(np.intp)] = 1
            out[empty, : self.cells] = np.nan
        else:
            out[:, 0] = values
        if self.indicator:
            out[:, self.cells] = empty
        return out

    def _values(self, cells: Any, strict: bool) -> Array:
        array = plain(cells)
        if array.ndim != 1:
            raise RowsError(f"column {self.name!r} has {array.ndim} dimensions, not 1")
        if not self.levels and self.kind == "" and array.dtype.kind in "fiub":
            values = array.astype(np.float64)
            far = np.abs(values) >= LIMIT
            if far.any():
                raise RowsError(f"column {self.name!r} has an infinite value, or one of 2^480 or more, in row {int(far.argmax())}")
            return values
        if array.dtype.kind == "m":  # whose numbers, in a unit that nobody said, would be taken
            raise RowsError(f"column {self.name!r} has durations: give them as numbers in the study's unit of measurement")
        if array.dtype.kind == "M":
            array = array.astype("datetime64[D]").astype(object)
        cells = [cell.item() if isinstance(cell, (np.bool_, np.integer, np.floating)) and not isinstance(cell, np.timedelta64) else cell for cell in array.tolist()]
        values = np.array([self._value(cell, row, strict) for row, cell in enumerate(cells)], dtype=np.float64)
        lost = [int(row) for row in np.flatnonzero(np.isnan(values)) if not _empty(cells[row])]
        if lost:
            what = "number" if self.kind == "" else "date" if self.kind.startswith(DAYS) else self.kind
            warn(f"column {self.name!r} has {len(lost)} of {len(cells)} cells that hold no {what}, the first in row {lost[0]}: they count as missing", RowsWarning)
        return values

    def _value(self, cell: Any, row: int, strict: bool) -> float:
        if not isinstance(cell, str) and _empty(cell):  # a level may be called NA
            return float("nan")
        if self.levels:
            return self._level(cell, row)
        if self.kind == "boolean":
            return _boolean(cell)
        if self.kind.startswith(DAYS):
            return _days(cell) - _days(self.kind[len(DAYS) :])
        if isinstance(cell, str):
            if _empty(cell):
                return float("nan")
            value = _parse(cell.strip(" \t"))
            if abs(value) < LIMIT:
                return value
        elif isinstance(cell, (bool, int, float)) and abs(cell) < LIMIT:
            return float(cell)
        elif isinstance(cell, decimal.Decimal) and abs(cell) < LIMIT:
            return float(cell)
        if not strict:
            return float("nan")
        raise RowsError(f"column {self.name!r} has no number in row {row}")

    def _level(self, cell: Any, row: int) -> float:
        if isinstance(cell, bool):
            cell = "true" if cell else "false"
        elif isinstance(cell, (int, float)):
            if not float(cell).is_integer() or abs(cell) >= 1e15:
                raise RowsError(f"column {self.name!r} has a number in row {row}, and levels: give it as the text that it is")
            cell = str(int(cell))
        if not isinstance(cell, str):
            raise RowsError(f"column {self.name!r} has no text in row {row}, and levels")
        text = cell.strip(" \t")
        if text in self.levels:
            return float(self.levels.index(text))
        return float("nan") if missing(text) else float(len(self.levels))


def _empty(cell: Any) -> bool:
    """Whether a cell says that it has no value."""
    if isinstance(cell, str):
        return missing(cell.strip(" \t"))
    return cell is None or (isinstance(cell, (float, decimal.Decimal)) and cell != cell) or type(cell).__name__ in ("NAType", "NaTType")


def missing(text: str) -> bool:
    """Whether a text is how a missing value is written: nothing, NA, or nan in any case of letters."""
    return text in ("", "NA") or text.lower() == "nan"


def _parse(text: str) -> float:
    """A number as an agent reads it; infinite or NaN of what is not finite or no number."""
    if _NUMBER.fullmatch(text):
        return float(text)
    try:
        return float.fromhex(text) if _HEX.fullmatch(text) else float("nan")
    except OverflowError:
        return float("inf")


def plain(cells: Any) -> npt.NDArray[Any]:
    """Cells as an array: None where a mask hides one, and each of a list as it is, not as the text of a number beside texts."""
    array: npt.NDArray[Any] = np.asarray(cells)
    if isinstance(cells, np.ma.MaskedArray) and np.any(cells.mask):
        array = array.astype(object)
        array[np.broadcast_to(cells.mask, array.shape)] = None
    return np.array(cells, dtype=object) if array.dtype.kind in "US" and isinstance(cells, (list, tuple)) else array


def _boolean(cell: Any) -> float:
    if isinstance(cell, (bool, int, float)):
        return float(cell) if cell in (0, 1) else float("nan")
    text = cell.strip(" \t").lower() if isinstance(cell, str) else ""
    return 1.0 if text in _TRUE else 0.0 if text in _FALSE else float("nan")


def _days(cell: Any) -> float:
    """Days since 1970-01-01, in UTC of a point in time, as in Parquet and databases; NaN of what is no date."""
    if isinstance(cell, datetime.datetime) and cell.utcoffset():
        try:
            cell = cell.astimezone(datetime.timezone.utc)
        except OverflowError:  # before the year 1, or after 9999
            return float("nan")
    if isinstance(cell, datetime.date):  # a datetime too
        return float(cell.toordinal() - _EPOCH)
    match = _DATE.fullmatch(cell.strip(" \t")) if isinstance(cell, str) else None
    if match is None:
        return float("nan")
    year, month, day = (int(part) for part in match.groups())
    try:
        if year == 0:  # which Go has, a leap year, and Python does not
            return float(datetime.date(400, month, day).toordinal() - 146097 - _EPOCH)
        return float(datetime.date(year, month, day).toordinal() - _EPOCH)
    except ValueError:
        return float("nan")


def widths(columns: Iterable[Column]) -> List[Tuple[int, Column]]:
    """Each column with the place of its first coordinate."""
    out, at = [], 0
    for column in columns:
        out.append((at, column))
        at += column.width
    return out


def named(columns: Iterable[Column]) -> List[str]:
    """The names of all coordinates, in order."""
    return [name for column in columns for name in column.coordinates()]


def own(names: Sequence[str], columns: Optional[Iterable[Column]]) -> Dict[int, int]:
    """The coordinate that says of another that its column has no value; by their names where columns are not known."""
    if columns is not None:
        return {at + j: at + column.cells for at, column in widths(columns) if column.indicator for j in range(column.cells)}
    out: Dict[int, int] = {}
    for says, name in enumerate(names):
        of = name[: -len(MISSING)] if name.endswith(MISSING) else None
        j = says - 1
        while of is not None and j >= 0 and (names[j] == of or names[j].startswith(f"{of}=")):
            out[j] = says
            j -= 1
    return out


def joined(columns: Iterable[Column], left_out: Iterable[Optional[str]]) -> List[Tuple[int, int]]:
    """Which coordinates are counted in which: levels that a study found too rare, in the column's other."""
    why = list(left_out)
    return [(at + level, at + column.cells - 1) for at, column in widths(columns) for level in range(len(column.levels)) if why[at + level] == "joined"]
