"""What can go wrong. All of it is a ValueError, so that a caller who does not branch need not know more."""

import sys
import warnings
from typing import Type


class ResultError(ValueError):
    """A file is not a result, or is one that no study writes."""


class SimulatedError(ResultError):
    """A result is simulated, and its reader did not ask for such."""


class RowsError(ValueError):
    """Rows do not fit a result: columns, shapes, or cells without a value that it has no rule for."""


class NotBoughtError(ValueError):
    """A study did not buy what is asked for, such as explained variance."""


class ComparisonError(ValueError):
    """Two results cannot be compared."""


class VerificationError(ValueError):
    """A result does not verify, or nobody could be asked."""


class RowsWarning(UserWarning):
    """Cells of rows that hold something, and count as missing, or as other than the study's levels; rows without scores."""


class SharesWarning(UserWarning):
    """Shares of the total variance of which nobody has said whether they mean anything."""


def warn(text: str, category: Type[Warning]) -> None:
    """Warns at the line of the caller of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
