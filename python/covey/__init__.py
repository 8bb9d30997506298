"""Reads the results of Covey studies: private principal components over sites that do not pool their rows.

    result = covey.load("result.json")
    scores = result.transform(rows)

No signature is checked here: `analyst verify FILE` does that, and verify() runs it.
"""

from .comparison import Comparison, compare
from .errors import ComparisonError, NotBoughtError, ResultError, RowsError, RowsWarning, SharesWarning, SimulatedError, VerificationError
from .file import load
from .picture import Biplot, Picture, ScoreHistogram
from .program import verify
from .result import Result

__version__ = "0.1.0"

__all__ = [
    "Biplot",
    "Comparison",
    "ComparisonError",
    "NotBoughtError",
    "Picture",
    "Result",
    "ResultError",
    "RowsError",
    "RowsWarning",
    "ScoreHistogram",
    "SharesWarning",
    "SimulatedError",
    "VerificationError",
    "compare",
    "load",
    "verify",
]
