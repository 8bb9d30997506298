"""Reads result files, strictly: what no study writes is refused, with the field that is wrong."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import os
import re
import zipfile
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from .column import OTHER, Array, Column, named
from .errors import ResultError, SimulatedError
from .picture import Picture, ScoreHistogram
from .result import Result

PathLike = Union[str, "os.PathLike[str]"]

MAX_BYTES = 1 << 30  # of a file, and of what an archive unpacks to
MAX_COLUMNS = 100_000  # proposal.MaxColumns
MAX_COMPONENTS = 100  # proposal.MaxComponents
MAX_LEVELS = 64  # proposal.MaxLevels
MAX_PICTURES = 6  # proposal.MaxPictures
MAX_GROUPS = 1024
PICTURE_BINS = 16
SCORE_BINS = 32
GROUPS = re.compile("picture_[1-9]_groups")  # of an archive
TOLERANCE = 1e-6  # of orthonormal components, as the study's own


def load(path: PathLike, allow_simulated: bool = False) -> Result:
    """Reads a result file, as `analyst result --out` writes it, or the NumPy archive of `analyst export --npz`.

    It checks the file's shapes and numbers, and NO signature: that the file is what a study released is for
    `analyst verify`, or verify() here, to say. How gaps are filled and which texts a column has are in the result file
    alone; what the result is worth and the loadings' intervals are in the archive alone. Raises ResultError of a file
    that is not a result, SimulatedError of one that is simulated unless allow_simulated, and OSError.
    """
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ResultError(f"{os.fspath(path)} has more than {MAX_BYTES} bytes, which no result has")
    fields = _archive(data) if data[:4] == b"PK\x03\x04" else _json(data)
    result = _result(fields)
    if result.simulated and not allow_simulated:
        raise SimulatedError(f"{os.fspath(path)} is simulated: no site took part. Give allow_simulated=True to read it all the same")
    return result


def _json(data: bytes) -> Dict[str, Any]:
    def once(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
        out = dict(pairs)
        if len(out) != len(pairs):
            raise ResultError("the file has a field twice")
        return out

    def constant(text: str) -> Any:
        raise ResultError(f"the file has a number that is not finite: {text}")

    try:
        fields = json.loads(data.decode("utf-8"), object_pairs_hook=once, parse_constant=constant)
    except ResultError:
        raise
    except (ValueError, RecursionError) as e:  # UnicodeDecodeError and JSONDecodeError too
        raise ResultError("the file is not JSON") from e
    if not isinstance(fields, dict):
        raise ResultError("the file is not a JSON object")
    return {name: value for name, value in fields.items() if value is not None}


def _archive(data: bytes) -> Dict[str, Any]:
    """The arrays of a NumPy archive, as JSON would have them."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as z:
            if sum(info.file_size for info in z.infolist()) > MAX_BYTES:
                raise ResultError(f"the archive unpacks to more than {MAX_BYTES} bytes, which no result has")
            if len({info.filename for info in z.infolist()}) != len(z.infolist()):
                raise ResultError("the archive has an array twice")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            fields: Dict[str, Any] = {name: arrays[name] for name in arrays.files}
    except ResultError:
        raise
    except (ValueError, OSError, zipfile.BadZipFile, EOFError, KeyError, NotImplementedError, RuntimeError, MemoryError, zipfile.zlib.error) as e:  # type: ignore[attr-defined]
        raise ResultError("the file is not a NumPy archive of a result") from e
    for name, value in fields.items():
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiU":  # bytes of any other file
            raise ResultError(f"{name} is neither numbers nor texts")
        if value.size > value.nbytes:  # empty texts take no bytes: a few words of a file would stand for billions
            raise ResultError(f"{name} has more texts than bytes")
        if value.dtype.kind == "U" and name not in ("feature_names_in_", "left_out_", "sites", "worth") and not GROUPS.fullmatch(name):
            if value.shape != (1,):
                raise ResultError(f"{name} is not one text")
            fields[name] = str(value[0])
        elif value.ndim == 0:
            fields[name] = value.item()
    _histograms(fields)
    if "missing" not in fields:
        fields["missing"] = None
    if isinstance(fields.get("simulated"), int) and fields["simulated"] in (0, 1):  # an archive has no truth values
        fields["simulated"] = bool(fields["simulated"])
    # a level may count in its column's other, and the other in none
    if any(str(n).partition("=")[2] not in ("", "other") for n in np.ravel(fields.get("left_out_", []))):
        raise ResultError("the archive leaves out levels, and does not say which of them count as others: load the result file")
    fields["left_out_"] = [{"column": str(n), "why": ""} for n in np.ravel(fields.get("left_out_", []))]
    return fields


def _histograms(fields: Dict[str, Any]) -> None:
    """Sets an archive's pictures and histograms of scores as a result file has them; whose groups are is not in it."""
    names = ("pair", "x_edges", "y_edges", "counts", "sigma", "groups")
    every = [{name: fields[of + name] for name in names if of + name in fields} for of in (f"picture_{i + 1}_" for i in range(MAX_PICTURES))]
    fields["pictures_"] = [picture for picture in every if picture]
    columns = [np.atleast_1d(fields.get("scores_" + name, [])) for name in ("edges", "counts", "sigma")]
    if len({len(column) for column in columns}) > 1:
        raise ResultError("scores_edges, scores_counts and scores_sigma are of different numbers of components")
    fields["score_histograms_"] = [{"component": i + 1, "edges": e, "counts": c, "sigma": s} for i, (e, c, s) in enumerate(zip(*columns))]


class _Fields:
    """A result's fields, each read once and with words for what is wrong."""

    def __init__(self, fields: Mapping[str, Any], where: str = "") -> None:
        self.fields, self.where = fields, where

    def fault(self, name: str, why: str) -> ResultError:
        return ResultError(f"{self.where}{name} {why}")

    def number(self, name: str, least: float, most: float) -> float:
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.fault(name, "is not a number" if name in self.fields else "is not there")
        if not least <= value <= most:
            raise self.fault(name, f"is not in {least:g}..{most:g}")
        return float(value)

    def whole(self, name: str, least: int, most: int) -> int:
        value = self.fields.get(name)
        if isinstance(value, float) or self.number(name, least, most) != value:
            raise self.fault(name, "is not a whole number")
        return int(value)

    def text(self, name: str, default: Optional[str] = None) -> str:
        value = self.fields.get(name, default)
        if not isinstance(value, str):
            raise self.fault(name, "is not a text" if name in self.fields else "is not there")
        return value

    def texts(self, name: str, n: Optional[int] = None) -> Tuple[str, ...]:
        value = self.fields.get(name, ())
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
            raise self.fault(name, "is not a list of texts")
        if n is not None and len(value) != n:
            raise self.fault(name, f"has {len(value)} texts, not {n}")
        return tuple(value)

    def array(self, name: str, *shape: int) -> Array:
        """Finite numbers of this very shape, which nobody can write to."""
        value = self.fields.get(name)
        if value is None:
            raise self.fault(name, "is not there")
        if not _has_shape(value, shape):
            raise self.fault(name, f"does not have the shape {shape}, all of it numbers")
        try:
            out: npt.NDArray[np.float64] = np.array(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as e:
            raise self.fault(name, "has a number beyond float64") from e
        if not np.isfinite(out).all():
            raise self.fault(name, "has a number that is not finite")
        out.setflags(write=False)
        return out

    def maybe(self, name: str, *shape: int) -> Optional[Array]:
        return self.array(name, *shape) if name in self.fields else None

    def objects(self, name: str, most: int) -> List["_Fields"]:
        value = self.fields.get(name, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.fault(name, "is not a list of objects")
        if len(value) > most:
            raise self.fault(name, f"has {len(value)} entries, {most} at most")
        return [_Fields({k: v for k, v in item.items() if v is not None}, f"{name}[{i}].") for i, item in enumerate(value)]


def _has_shape(value: Any, shape: Tuple[int, ...]) -> bool:
    if isinstance(value, np.ndarray):
        return value.shape == shape and value.dtype.kind in "fi"
    if not shape:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, list) and len(value) == shape[0] and all(_has_shape(v, shape[1:]) for v in value)


def _result(fields: Dict[str, Any]) -> Result:
    f = _Fields(fields)
    d, k = f.whole("n_features_in_", 1, MAX_COLUMNS), f.whole("n_components_", 1, MAX_COMPONENTS)
    if k > d:
        raise f.fault("n_components_", f"is {k} of {d} columns")
    names = f.texts("feature_names_in_", d)
    if len(set(names)) != d:
        raise f.fault("feature_names_in_", "has a name twice")
    components = f.array("components_", k, d)
    if np.abs(components @ components.T - np.eye(k)).max() > TOLERANCE:
        raise f.fault("components_", "are not orthogonal unit vectors")
    scale = f.array("scale_", d)
    if not (scale > 0).all():
        raise f.fault("scale_", "is not above 0")
    simulated = fields.get("simulated", False)
    if not isinstance(simulated, bool):
        raise f.fault("simulated", "is neither true nor false")
    left_out = {item.text("column"): item.text("why") for item in f.objects("left_out_", d)}
    for j, name in enumerate(names):
        if name in left_out and components[:, j].any():
            raise f.fault("left_out_", "names a column that a component has a part in")
    if not set(left_out) <= set(names):
        raise f.fault("left_out_", "names what is no column")
    missing = None
    if "missing" in fields or isinstance(fields.get("proposal"), str):
        missing = None if fields.get("missing", "error") is None else f.text("missing", "error")
        if missing not in (None, "error", "fill", "zero", "drop-row"):
            raise f.fault("missing", "must be one of error, drop-row, zero and fill")
    columns, missing = _proposal(f, names, missing)
    variance, interval = f.maybe("explained_variance_", k), f.maybe("explained_variance_interval_", k, 2)
    if variance is not None and (variance < 0).any():
        raise f.fault("explained_variance_", "is below 0")
    return Result(
        name=f.text("name"),
        digest=_digest(f),
        epsilon=f.number("epsilon", 0, 1e308),
        delta=f.number("delta", 0, 1),
        feature_names_in_=names,
        offset_=f.array("offset_", d),
        scale_=scale,
        mean_=f.array("mean_", d),
        components_=components,
        n_samples_=f.whole("n_samples_", 1, 1 << 60),
        method=f.text("method"),
        explained_variance_=variance,
        explained_variance_interval_=interval,
        shares=_shares(f, k, alone=d - len(left_out) == 1),
        total_variance_=f.number("total_variance_", 0, 1e308) if "total_variance_" in fields else None,
        rows_per_unit=f.number("rows_per_unit", 0, 1e308) if "rows_per_unit" in fields else 1.0,
        # a file lacks a number that is 0
        rows_kept=f.number("rows_kept_", 0, 1e308) if "rows_kept_" in fields else 0.0 if "rows_kept_interval_" in fields else None,
        missing=missing,
        left_out=left_out,
        columns=columns,
        pictures=tuple(_picture(item, k) for item in f.objects("pictures_", MAX_PICTURES)),
        score_histograms=tuple(_histogram(item, k) for item in f.objects("score_histograms_", MAX_COMPONENTS)),
        loadings_interval=_loadings_interval(f, k, d),
        simulated=simulated,
        raw=fields,
    )


def _shares(f: _Fields, k: int, alone: bool) -> Optional[Array]:
    """Shares of the total variance: NaN where noise made all or nothing of one, as an archive has it already."""
    name = "explained_variance_ratio_"
    value = f.fields.get(name)
    if value is None:
        return None
    if not isinstance(value, np.ndarray):
        value = f.array(name, k)
    elif not _has_shape(value, (k,)) or np.isinf(value).any():
        raise f.fault(name, f"does not have the shape {(k,)}, of numbers and NaN")
    out: Array = np.ones(k) if alone else np.where((value > 0) & (value < 1), value, np.nan).astype(np.float64)
    out.setflags(write=False)
    return out


def _loadings_interval(f: _Fields, k: int, d: int) -> Optional[Array]:
    """An archive's: a result file has none."""
    names = ("components_low_", "components_high_")
    if not any(name in f.fields for name in names):
        return None
    for name in names:
        value = f.fields.get(name)
        if not isinstance(value, np.ndarray) or not _has_shape(value, (k, d)) or np.isinf(value).any():
            raise f.fault(name, f"does not have the shape {(k, d)}, of numbers and NaN")
    out: Array = np.stack([f.fields[name] for name in names], axis=-1).astype(np.float64)
    out.setflags(write=False)
    return out


def _digest(f: _Fields) -> str:
    digest = f.text("digest")
    if len(digest) != 64 or digest.strip("0123456789abcdef"):
        raise f.fault("digest", "is not 64 hexadecimal digits")
    return digest


def _proposal(f: _Fields, names: Tuple[str, ...], missing: Optional[str]) -> Tuple[Optional[Tuple[Column, ...]], Optional[str]]:
    """The study's columns, and its missing, from the proposal in the file; what the file says where there is none."""
    if "proposal" not in f.fields:
        return None, missing
    try:
        body = base64.b64decode(f.text("proposal"), validate=True)
    except (binascii.Error, ValueError) as e:
        raise f.fault("proposal", "is not base64") from e
    if hashlib.sha256(body).hexdigest() != _digest(f):
        raise f.fault("proposal", "is not what digest is the hash of")
    study = _toml(f, body).get("study")
    if not isinstance(study, dict):
        raise f.fault("proposal", "has no study")
    columns = tuple(_column(item) for item in _Fields(study, "proposal: study.").objects("columns", MAX_COLUMNS))
    if tuple(named(columns)) != names:
        raise f.fault("feature_names_in_", "are not those of the columns in the proposal")
    asked = _Fields(study, "proposal: study.").text("missing", "error")
    if "missing" in f.fields and asked != missing:
        raise f.fault("missing", "is not the proposal's")
    return columns, asked


def _toml(f: _Fields, body: bytes) -> Dict[str, Any]:
    try:
        import tomllib as toml
    except ImportError:  # Python 3.9 and 3.10
        import tomli as toml  # type: ignore[no-redef]
    try:
        text = body.decode("utf-8")
        if _shallow(text):
            return toml.loads(text)
    except (ValueError, RecursionError) as e:
        raise f.fault("proposal", "is not TOML") from e
    raise f.fault("proposal", "has a key of more parts than any study's")


MARKS = re.compile(r"""["'#.=,\[\]{}\n]""")
# the rest of a string; of several lines, up to two quotes may stand before the three at its end
STRINGS = {
    '"': re.compile(r'[^"\\\n]*(?:\\.[^"\\\n]*)*"'),
    "'": re.compile(r"[^'\n]*'"),
    '"""': re.compile(r'[^"\\]*(?:(?:\\.|"{1,2}(?!"))[^"\\]*)*"{3,5}', re.DOTALL),
    "'''": re.compile(r"[^']*(?:'{1,2}(?!')[^']*)*'{3,5}"),
}
MAX_DOTS = 8  # of a key; a proposal's have two


def _shallow(text: str) -> bool:
    """Whether no key has more than MAX_DOTS dots: of a key of many parts the parser takes more than the square of its length."""
    at, dots = 0, 0
    while mark := MARKS.search(text, at):
        sign, at = mark.group(), mark.end()
        if sign == ".":
            dots += 1
            if dots > MAX_DOTS:
                return False
        elif sign == "#":
            at = text.find("\n", at)
            if at < 0:
                break
        elif sign in "\"'":
            if text.startswith(sign * 2, at):
                sign, at = sign * 3, at + 2
            rest = STRINGS[sign].match(text, at)
            if rest is None:
                raise ValueError("a string without an end")
            at = rest.end()
        else:
            dots = 0
    return True


def _column(f: _Fields) -> Column:
    levels = f.texts("levels")
    if len(levels) > MAX_LEVELS or OTHER in levels or len(set(levels)) != len(levels):
        raise f.fault("levels", "are not a study's")
    indicator = f.fields.get("indicator", False)
    if not isinstance(indicator, bool):
        raise f.fault("indicator", "is neither true nor false")
    learned = bool(levels) or f.text("standardize", "") == "private"
    return Column(f.text("name"), levels, f.text("as", ""), indicator, learned, f.text("measure", ""))


def _edges(f: _Fields, name: str, bins: int) -> Array:
    edges = f.array(name, bins + 1)
    if not (np.diff(edges) > 0).all():
        raise f.fault(name, "do not rise")
    return edges


def _picture(f: _Fields, k: int) -> Picture:
    pair = f.array("pair", 2)
    if not all(v.is_integer() and 1 <= v <= k for v in pair.tolist()) or pair[0] == pair[1]:
        raise f.fault("pair", f"is not two of {k} components")
    groups = f.texts("groups")
    if len(groups) > MAX_GROUPS:
        raise f.fault("groups", f"are {len(groups)}, {MAX_GROUPS} at most")
    counts = f.array("counts", max(1, len(groups)), PICTURE_BINS**2).reshape(-1, PICTURE_BINS, PICTURE_BINS)
    counts.setflags(write=False)
    return Picture(
        pair=(int(pair[0]), int(pair[1])),
        x_edges=_edges(f, "x_edges", PICTURE_BINS),
        y_edges=_edges(f, "y_edges", PICTURE_BINS),
        counts=counts,
        sigma=f.number("sigma", 0, 1e308),
        groups=groups,
        by=f.text("by") if "by" in f.fields else None,
        column=f.text("column") if "column" in f.fields else None,
    )


def _histogram(f: _Fields, k: int) -> ScoreHistogram:
    return ScoreHistogram(
        component=f.whole("component", 1, k),
        edges=_edges(f, "edges", SCORE_BINS),
        counts=f.array("counts", SCORE_BINS),
        sigma=f.number("sigma", 0, 1e308),
    )
