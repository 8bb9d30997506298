"""Results for the tests: samples that the Go programs wrote (test/python), and one made here."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Dict, List

import numpy as np

import covey

SAMPLES = os.environ.get("COVEY_SAMPLES", "")
BIN = os.environ.get("COVEY_BIN", "")

# One of each kind of study; test/python writes them.
ALL = ("demo", "demo-raw", "demo-private", "demo-pairs", "demo-unbought", "demo-deflation", "fill", "zero", "drop", "learned", "whole")


class Sample:
    """A result that a study wrote, a site's rows, and what the agent's own code makes of them (internal/score)."""

    def __init__(self, name: str) -> None:
        self.dir = Path(SAMPLES, name)
        self.path = self.dir / "result.json"
        self.result = covey.load(self.path)
        with open(self.dir / "rows.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.table: Dict[str, List[str]] = {name: [row[name] for row in rows] for name in rows[0]}
        with open(self.dir / "sample.json", encoding="utf-8") as file:
            expected = json.load(file)
        n = len(rows)
        gone = set(expected["absent"])
        self.absent = sorted(gone)
        self.kept = [i for i in range(n) if i not in gone]
        self.scores = np.array(expected["scores"]).reshape(n, -1)[self.kept]
        self.spe = np.array(expected["spe"])[self.kept]
        self.t2 = None if expected["t2"] is None else np.array(expected["t2"])[self.kept]

    def rows(self, of: List[int]) -> Dict[str, List[str]]:
        return {name: [cells[i] for i in of] for name, cells in self.table.items()}


PROPOSAL = """
version = 3
[study]
missing = 'fill'
[[study.columns]]
name = 'a'
[[study.columns]]
name = 'b'
indicator = true
[[study.columns]]
name = 'c'
levels = ['x', 'y']
"""


def made(**changes: Any) -> Dict[str, Any]:
    """The fields of a small result: columns a and b, b's indicator, and levels x and y of c, of which y is rare."""
    fields: Dict[str, Any] = {
        "name": "made",
        "digest": hashlib.sha256(PROPOSAL.encode()).hexdigest(),
        "proposal": base64.b64encode(PROPOSAL.encode()).decode(),
        "epsilon": 1,
        "delta": 1e-6,
        "method": "covariance",
        "missing": "fill",
        "feature_names_in_": ["a", "b", "b is missing", "c=x", "c=y", "c=other"],
        "offset_": [1, 2, 0, 0, 0, 0],
        "scale_": [2, 4, 0.5, 0.8, 1, 0.6],
        "mean_": [0.5, 0, 0.5, 0.8, 0, 0.6],
        "n_samples_": 1000,
        "n_features_in_": 6,
        "n_components_": 2,
        "left_out_": [{"column": "c=y", "why": "joined"}],
        "components_": [[0.6, 0.8, 0, 0, 0, 0], [0.8, -0.6, 0, 0, 0, 0]],
        "explained_variance_": [2.5, 0.5],
        "explained_variance_interval_": [[2, 3], [0, 1]],
        "explained_variance_ratio_": [0.5, 0.1],
        "total_variance_": 5,
        "pictures_": [{"pair": [1, 2], "x_edges": list(range(-8, 9)), "y_edges": list(range(-8, 9)), "counts": [[-3.0] * 255 + [100.0]], "sigma": 5}],
        "score_histograms_": [{"component": 2, "edges": list(range(-16, 17)), "counts": [1.5] * 32, "sigma": 5}],
    }
    fields.update(changes)
    return {name: value for name, value in fields.items() if value is not ...}


def load(fields: Any, **options: Any) -> covey.Result:
    """Loads fields, or text, as a file."""
    text = fields if isinstance(fields, (str, bytes)) else json.dumps(fields)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "result.json")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return covey.load(path, **options)


def proposed(text: str) -> Dict[str, Any]:
    """The fields of a result of another proposal."""
    return {"digest": hashlib.sha256(text.encode()).hexdigest(), "proposal": base64.b64encode(text.encode()).decode()}
