"""Makes a fitted scikit-learn PCA of a Covey result and projects rows with it:
python3 sklearn_pca.py result.npz rows.csv > scores.csv"""
import csv
import sys

import numpy as np
from sklearn.decomposition import PCA

result = np.load(sys.argv[1], allow_pickle=False)
pca = PCA(n_components=int(result["n_components_"]))
for name in result.files:  # scikit-learn's fitted attributes, and more, end with _
    if name.endswith("_") and name != "feature_names_in_":
        setattr(pca, name, result[name][()])

with open(sys.argv[2], newline="", encoding="utf-8-sig") as file:
    rows = [[float(row[c]) for c in result["feature_names_in_"]] for row in csv.DictReader(file)]
scaled = (np.array(rows) - result["offset_"]) / result["scale_"]
np.savetxt(sys.stdout, pca.transform(scaled), delimiter=",", fmt="%.17g")
