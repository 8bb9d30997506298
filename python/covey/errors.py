"""What can go wrong. All of it is a ValueError, so that a caller who does not branch need not know more."""


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
