"""What real studies wrote, against what the agent's own code makes of rows."""

import json
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np

import covey

from .samples import ALL, BIN, SAMPLES, Sample


@unittest.skipUnless(SAMPLES, "samples of studies come from go test -tags sklearn ./test/python")
class Studies(unittest.TestCase):
    def setUp(self):
        kept = warnings.catch_warnings()
        kept.__enter__()
        self.addCleanup(kept.__exit__, None, None, None)
        warnings.simplefilter("ignore", covey.RowsWarning)  # messy rows hold cells that are no value

    def each(self):
        for name in ALL:
            with self.subTest(name):
                yield Sample(name)

    def test_rows_are_the_agent_s_own(self):
        filled = 0
        for s in self.each():
            rows, close = s.rows(s.kept), {"rtol": 1e-9, "atol": 1e-9}
            np.testing.assert_allclose(s.result.transform(rows), s.scores, **close)
            np.testing.assert_allclose(s.result.reconstruction_error(rows), s.spe, **close)
            if s.t2 is None:
                with self.assertRaises(covey.NotBoughtError):
                    s.result.hotelling_t2(rows)
            else:
                np.testing.assert_allclose(s.result.hotelling_t2(rows), s.t2, **close)
            # as numbers, too
            numbers = s.result.coordinates(rows)
            np.testing.assert_array_equal(s.result.transform(numbers), s.result.transform(rows))
            filled += int(np.isnan(numbers).any(axis=1).sum())
            if s.absent:
                self.assertEqual(s.result.missing, "drop-row")
                np.testing.assert_array_equal(np.flatnonzero(np.isnan(s.result.transform(s.table)).all(axis=1)), s.absent)
            self.assertGreater(len(s.kept), 50)
        self.assertGreater(filled, 300, "no sample has gaps")

    def test_a_row_s_scores_do_not_depend_on_others(self):
        s = Sample("fill")
        all_rows = s.result.transform(s.table)
        for i in range(0, 100, 7):
            np.testing.assert_allclose(s.result.transform(s.rows([i]))[0], all_rows[i], rtol=0, atol=1e-12)

    def test_samples_have_what_they_are_for(self):
        why = {name: set(Sample(name).result.left_out.values()) for name in ("fill", "demo-raw")}
        self.assertIn("joined", why["fill"])
        self.assertIn("rare", why["demo-raw"])
        self.assertIsNone(Sample("demo-unbought").result.explained_variance_)
        self.assertEqual([Sample(n).result.missing for n in ("demo", "demo-raw", "fill", "zero", "drop")], ["error", "fill", "fill", "zero", "drop-row"])

    def test_inverse(self):
        for s in self.each():
            scores = np.random.default_rng(1).normal(size=(20, s.result.n_components_))
            np.testing.assert_allclose(s.result.transform(s.result.inverse_transform(scores)), scores, atol=1e-9)

    def test_scikit_learn(self):
        for s in self.each():
            rows = s.result.coordinates(s.rows(s.kept))
            rows = rows[~np.isnan(rows).any(axis=1)]
            fitted = s.result.as_sklearn()
            # what a study left out is 0 in scaled rows, and has no part in a score
            np.testing.assert_allclose(fitted.transform(rows), s.result.transform(rows), rtol=0, atol=1e-9)
            scores = fitted.transform(rows)
            np.testing.assert_allclose(fitted.inverse_transform(scores), s.result.inverse_transform(scores), rtol=0, atol=1e-6)
            with np.load(s.dir / "result.npz", allow_pickle=False) as archive:
                for name in ("components_", "mean_", "explained_variance_", "singular_values_", "noise_variance_"):
                    if name in archive.files:
                        np.testing.assert_allclose(getattr(fitted["pca"], name), archive[name], err_msg=name)

    def test_archive(self):
        for s in self.each():
            if any("=" in name and not name.endswith("=other") for name in s.result.left_out):
                with self.assertRaises(covey.ResultError):
                    covey.load(s.dir / "result.npz")
                continue
            archive = covey.load(s.dir / "result.npz")
            rows = s.result.coordinates(s.rows(s.kept))
            whole = rows[~np.isnan(rows).any(axis=1)]
            np.testing.assert_array_equal(archive.transform(whole), s.result.transform(whole))
            self.assertEqual((archive.name, archive.digest, archive.method), (s.result.name, s.result.digest, s.result.method))
            whole[3, 0] = np.nan
            gap = s.result.feature_names_in_[0] + " is missing"
            if gap in s.result.feature_names_in_:
                whole[3, s.result.feature_names_in_.index(gap)] = 1
            if archive.missing in ("fill", "zero"):
                np.testing.assert_array_equal(archive.transform(whole), s.result.transform(whole))
                continue
            with self.assertRaisesRegex(covey.RowsError, "load the result file"):
                archive.transform(whole)

    def test_compare(self):
        s = Sample("demo")
        with self.assertRaisesRegex(covey.ComparisonError, "of one study"):
            covey.compare(s.result, s.result)
        with self.assertRaisesRegex(covey.ComparisonError, "another offset, and not both"):
            covey.compare(s.result, Sample("demo-private").result)
        there = Sample("demo-deflation")
        other = covey.compare(s.result, there.result)
        printed = json.loads(subprocess.run([Path(BIN, "analyst"), "compare", s.path, there.path, "--json"], capture_output=True, check=True).stdout)
        self.assertEqual(other.pairs, tuple((p["a"], p["b"]) for p in printed["components"]))
        np.testing.assert_allclose(other.angles, [p["angle_degrees"] for p in printed["components"]], rtol=0, atol=1e-6)
        np.testing.assert_allclose(other.principal_angles, printed["principal_angles_degrees"], rtol=0, atol=1e-6)
        # Components are orthonormal rows, so that their products are cosines. How far apart they are depends on both studies'
        # noise, and no bound on it holds in every run.
        cosines = np.abs(s.result.components_ @ there.result.components_.T)
        by_hand = [np.degrees(np.arccos(cosines[a - 1, b - 1])) for a, b in other.pairs]
        self.assertEqual(len(by_hand), 2)
        np.testing.assert_allclose(other.angles, by_hand, rtol=0, atol=1e-5)
        self.assertTrue((other.angles > 0).all(), other.angles)
        with self.assertRaisesRegex(covey.ComparisonError, "in one of the results only"):
            covey.compare(s.result, Sample("fill").result)

    def test_verify(self):
        s = Sample("demo")
        program = str(Path(BIN, "analyst"))
        self.assertEqual(covey.verify(s.path, program)["digest"], s.result.digest)
        key = covey.verify(s.path, program)["key"]
        self.assertTrue(covey.verify(s.path, program, key=key)["key_compared"])
        fields = json.loads(s.path.read_text(encoding="utf-8"))
        fields["components_"] = fields["components_"][::-1]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "-result.json")
            path.write_text(json.dumps(fields), encoding="utf-8")
            covey.load(path)  # which checks no signature
            with self.assertRaisesRegex(covey.VerificationError, "does not verify"):
                covey.verify(path, program)
        with self.assertRaisesRegex(covey.VerificationError, "did not run"):
            covey.verify(s.path, str(Path(BIN, "no such program")))
        with self.assertRaises(covey.VerificationError):
            covey.verify(s.path, program, key="aaaa-aaaa-aaaa-aaaa-aaaa-aaaa")
