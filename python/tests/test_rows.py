"""What becomes of rows, by hand."""

import datetime
import decimal
import pickle
import unittest
import warnings

import numpy as np

import covey
from covey.column import Column

from .samples import load, made


class Rows(unittest.TestCase):
    def test_coordinates(self):
        r = load(made())
        table = {"a": [1, 3.5, "0x1p1", None], "b": ["2", " 10 ", "", "nothing"], "c": ["x", "y ", "else", "NA"], "d": "ignored"}
        nan = np.nan
        want = [[1, 2, 0, 1, 0, 0], [3.5, 10, 0, 0, 0, 1], [2, nan, 1, 0, 0, 1], [nan, nan, 1, nan, nan, nan]]
        with self.assertWarnsRegex(covey.RowsWarning, "^column 'b' has 1 of 4 cells that hold no number, the first in row 3: they count as missing$") as caught:
            np.testing.assert_array_equal(r.coordinates(table), want)
        self.assertEqual((len(caught.warnings), caught.filename), (1, __file__))
        np.testing.assert_array_equal(r.coordinates(np.array(want)), want)
        np.testing.assert_array_equal(r.coordinates(np.ma.array(np.nan_to_num(want, nan=7), mask=np.isnan(want))), want)
        records = np.array([(1.0, 2.0, "x")], dtype=[("a", "f8"), ("b", "f8"), ("c", "U5")])
        np.testing.assert_array_equal(r.coordinates(records), want[:1])
        # a level that joined counts as other in numbers, too
        np.testing.assert_array_equal(r.coordinates([[1, 2, 0, 0, 1, 0]]), [[1, 2, 0, 0, 0, 1]])

    def test_scaled_by_hand(self):
        r = load(made())
        # a = (3-1)/2 - 0.5, b = (10-2)/4 - 0, "b is missing" = 0/0.5 - 0.5, c=x = 1/0.8 - 0.8, other = 0 - 0.6
        np.testing.assert_allclose(r.scaled([[3, 10, 0, 1, 0, 0]]), [[0.5, 2, -0.5, 0.45, 0, -0.6]])
        np.testing.assert_allclose(r.transform([[3, 10, 0, 1, 0, 0]]), [[1.9, -0.8]])
        np.testing.assert_allclose(r.reconstruction_error([[3, 10, 0, 1, 0, 0]]), [0.25 + 0.45**2 + 0.36])
        np.testing.assert_allclose(r.hotelling_t2([[3, 10, 0, 1, 0, 0]]), [1.9**2 / 2.5 + 0.8**2 / 0.5])
        np.testing.assert_allclose(r.inverse_transform([[0, 0]]), [[2, 2, 0.25, 0.64, 0, 0.36]])

    def test_fill_by_hand(self):
        # One component and one gap: the gap is v2·v1·y1 / (v1² + 0.05).
        r = load(made(n_components_=1, components_=[[0.6, 0.8, 0, 0, 0, 0]], explained_variance_=[2.5], explained_variance_interval_=[[2, 3]], explained_variance_ratio_=[0.5], pictures_=..., score_histograms_=...))
        got = r.scaled({"a": [3], "b": [""], "c": ["x"]})
        np.testing.assert_allclose(got[0, 1], 0.8 * 0.6 * 0.5 / (0.36 + 0.05))
        np.testing.assert_allclose(r.scaled({"a": [""], "b": [""], "c": [""]})[0, [0, 1, 3, 4, 5]], 0)
        # That b is missing, 1/0.5 - 0.5 in each such row, predicts nothing of b, and is kept.
        r = load(made(n_components_=1, components_=[[0.48, 0.64, 0.6, 0, 0, 0]], explained_variance_=[2.5], explained_variance_interval_=[[2, 3]], explained_variance_ratio_=[0.5], pictures_=..., score_histograms_=...))
        got = r.scaled({"a": [3], "b": [""], "c": ["x"]})
        np.testing.assert_allclose(got[0, 1:3], [0.64 * 0.48 * 0.5 / (0.48**2 + 0.05), 1.5])

    def test_refused(self):
        r = load(made())
        for rows, why in [
            (np.zeros(6), "shape"),
            (np.zeros((2, 5)), "shape"),
            ([["a"] * 6], "'a' has no number in row 0"),
            ([["1_0", 0, 0, 0, 0, 0]], "'a' has no number in row 0"),
            (np.ones((1, 6), dtype="timedelta64[ns]"), "durations"),
            ([[1, 2, 3], [1]], "neither"),
            ([[np.inf, 0, 0, 0, 0, 0]], "infinite"),
            ([[0, 0, 0, np.nan, 0, 0]], "some levels"),
            ([[0, np.nan, 0, 0, 0, 0]], "b is missing"),
            ([[0, 0, np.nan, 0, 0, 0]], "b is missing"),
            ({"a": [1], "b": [1]}, "no column 'c'"),
            ({"a": [1], "b": [1, 2], "c": ["x"]}, "rows"),
            ({"a": [[1]], "b": [1], "c": ["x"]}, "dimensions"),
            ({"a": [np.inf], "b": [1], "c": ["x"]}, "infinite"),
            ({"a": [2.0**480], "b": [1], "c": ["x"]}, "'a' has an infinite value, or one of 2\\^480 or more, in row 0"),
            ([[-(2.0**480), 0, 0, 0, 0, 0]], "row 0 has an infinite value, or one of 2"),
            ({"a": [1], "b": [1], "c": [0.5]}, "give it as the text"),
            ({"a": [1], "b": [1], "c": [("x",)]}, "dimensions"),
            ([[1e144, 0, 0, 0, 0, 0], [-1e144, 1, 1, 1, 0, 0]], None),
        ]:
            with self.subTest(str(rows)[:60]):
                if why is None:
                    r.transform(rows)
                    continue
                with self.assertRaisesRegex(covey.RowsError, why):
                    r.transform(rows)
        tiny = load(made(scale_=[1e-300] * 6))
        with self.assertRaisesRegex(covey.RowsError, "scaled"), np.errstate(over="ignore"):
            tiny.transform([[1e144, 0, 0, 0, 0, 0]])
        with self.assertRaisesRegex(covey.RowsError, "shape"):
            r.inverse_transform([[1, 2, 3]])

    def test_gaps_without_a_rule(self):
        import base64
        import hashlib

        from .samples import PROPOSAL

        def rule(missing):
            text = PROPOSAL.replace("'fill'", f"'{missing}'")
            return load(made(missing=..., proposal=base64.b64encode(text.encode()).decode(), digest=hashlib.sha256(text.encode()).hexdigest()))

        r = rule("error")
        with self.assertRaisesRegex(covey.RowsError, "row 1 has no value in 'a'.*error"):
            r.transform({"a": [1, ""], "b": [1, 1], "c": ["x", "x"]})
        with self.assertRaisesRegex(covey.RowsError, "no number in row 0"):
            r.transform({"a": ["one"], "b": [1], "c": ["x"]})

        # as "agent project" leaves their scores empty
        r = rule("drop-row")
        table = {"a": [1, "", "one", 4], "b": [1, 1, 2, 3], "c": ["x", "x", "y", ""]}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scores = r.transform(table)
        self.assertEqual(
            [str(w.message) for w in caught],
            ["column 'a' has 1 of 4 cells that hold no number, the first in row 2: they count as missing", "3 of 4 rows have no scores, the first row 1, without a value in 'a': the study left such rows out"],
        )
        np.testing.assert_array_equal(np.isnan(scores), [[False] * 2] + [[True] * 2] * 3)
        np.testing.assert_array_equal(scores[0], r.transform({name: cells[:1] for name, cells in table.items()})[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(np.isnan(r.reconstruction_error(table)), [False, True, True, True])
            with self.assertRaisesRegex(covey.RowsError, "infinite"):
                r.transform({"a": [np.nan, np.inf], "b": [1, 1], "c": ["x", "x"]})

    def test_cells(self):
        nan = float("nan")
        cases = [
            (Column("b", kind="boolean"), ["TRUE", " y", "0", "N", "maybe", "", None, True, 0, 2, 1.0], [1, 1, 0, 0, nan, nan, nan, 1, 0, nan, 1]),
            (Column("n"), ["1e3", "-.5", "1_0", "1__0", "1_", "0x10", "0x1p4", "inf", "1e999", "１", "1,5", "nAn"], [1000, -0.5, nan, nan, nan, nan, 16, nan, nan, nan, nan, nan]),
            (
                Column("d", kind="days since 2000-01-01"),
                ["2000-01-02", "1999-12-31T23:59:00Z", "2000-01-03 08:30", "2000-02-30", "2000-1-2", "2000-01-02T", "2000-01-02 noon", datetime.date(2000, 1, 5), datetime.datetime(2000, 1, 5, 23)],
                [1, -1, 2, nan, nan, nan, nan, 4, 4],
            ),
        ]
        for (column, cells, want), lost in zip(cases, ["2 of 11 cells that hold no boolean, the first in row 4", "8 of 12 cells that hold no number, the first in row 2", "4 of 9 cells that hold no date, the first in row 3"]):
            with self.subTest(column.name):
                with self.assertWarns(covey.RowsWarning) as caught:
                    np.testing.assert_array_equal(column.numbers(np.array(cells, dtype=object), strict=False)[:, 0], want)
                self.assertIn(lost, str(caught.warning))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(Column("m").numbers([decimal.Decimal("1.5"), decimal.Decimal("NaN"), 2], strict=False)[:, 0], [1.5, nan, 2])
        dates = np.array(["2000-01-02T12:00", "NaT"], dtype="datetime64[m]")
        np.testing.assert_array_equal(cases[2][0].numbers(dates, strict=False)[:, 0], [1, nan])
        zone = datetime.timezone(datetime.timedelta(hours=-5))
        dates = np.array([datetime.datetime(2000, 1, 2, 23, 30, tzinfo=zone), datetime.datetime(2000, 1, 2, 23, 30, tzinfo=datetime.timezone.utc)])
        np.testing.assert_array_equal(cases[2][0].numbers(dates, strict=False)[:, 0], [2, 1])
        with self.assertWarns(covey.RowsWarning):
            cases[2][0].numbers(np.array([datetime.datetime(9999, 12, 31, 23, tzinfo=zone)]), strict=False)
        with self.assertRaisesRegex(covey.RowsError, "'n' has durations"):
            cases[1][0].numbers(np.array([1, 2], dtype="timedelta64[ns]"), strict=False)
        with self.assertRaisesRegex(covey.RowsError, "'n' has no number in row 0"):
            cases[1][0].numbers(np.array([np.timedelta64(1, "ns")], dtype=object), strict=True)
        hidden = np.ma.array([1.5, 2.5], mask=[False, True])
        np.testing.assert_array_equal(cases[1][0].numbers(hidden, strict=True)[:, 0], [1.5, nan])
        levels = Column("l", levels=("1", "true"))
        np.testing.assert_array_equal(levels.numbers(["1", 1.0, True, np.bool_(True)], strict=False).argmax(axis=1), [0, 0, 1, 1])
        np.testing.assert_array_equal(levels.numbers(np.array([np.int64(1), "x"], dtype=object), strict=False).argmax(axis=1), [0, 2])
        np.testing.assert_array_equal(levels.numbers(np.array([1, 1.0, True, "1", 2], dtype=object), strict=False).argmax(axis=1), [0, 0, 1, 0, 2])

    def test_lost_cells(self):
        """What is filled although a cell holds something is counted, a column at a time; nothing else is warned of."""
        r = load(made())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            r.transform({"a": ["60,5", "61,5", "NA"], "b": ["<0.1", "", " nan"], "c": ["x", "z", ""]})
        self.assertEqual(
            [str(w.message) for w in caught],
            ["column 'a' has 2 of 3 cells that hold no number, the first in row 0: they count as missing", "column 'b' has 1 of 3 cells that hold no number, the first in row 0: they count as missing"],
        )
        self.assertEqual({w.filename for w in caught}, {__file__})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            r.transform({"a": ["60.5", None], "b": [np.nan, "NA"], "c": ["z", None], "id": ["p1", "p2"]})
            np.testing.assert_array_equal(Column("l", levels=("NA",)).numbers(["NA", ""], strict=False)[0], [1, 0])

    def test_near_names(self):
        """Names that look alike and are not the same, as macOS and spreadsheets write them."""
        r = load(made())
        for name in ("a ", "A", "\uff41"):
            with self.assertRaisesRegex(covey.RowsError, "^there is no column 'a'; .* is near, and names match exactly$") as caught:
                r.transform({name: [1], "b": [1], "c": ["x"]})
            self.assertIn(ascii(name), str(caught.exception))
        with self.assertRaisesRegex(covey.RowsError, "^there is no column 'a'$"):
            r.transform({"d": [1], 7: [1], "b": [1], "c": ["x"]})

    def test_others(self):
        """Levels that a site writes in its own way are no fault, and all count as other."""
        r = load(made())  # of which 0.6² have other texts

        def rows(n, others):
            return {"a": [1] * n, "b": [1] * n, "c": ["else"] * others + ["x"] * (n - others)}

        for n, others in ((19, 19), (20, 15), (100, 77)):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                r.transform(rows(n, others))
        with self.assertWarnsRegex(covey.RowsWarning, "^column 'c' has 78 of 100 cells that hold none of its levels, and in the study 36%: they count as other.") as caught:
            r.transform(rows(100, 78))
        self.assertEqual(caught.filename, __file__)
        rare = load(made(left_out_=[{"column": "c=other", "why": "rare"}]))
        with self.assertWarnsRegex(covey.RowsWarning, "2 of 20 cells that hold none of its levels, and in the study next to none"):
            rare.transform(rows(20, 2))

    def test_scikit_learn_takes_columns_by_name(self):
        """In any order: by place, scores would be wrong without a sign of it."""
        r = load(made())
        table = {"c": ["x", "z"], "a": [3, 5], "b": [10, -4]}
        fitted = r.as_sklearn()
        np.testing.assert_allclose(fitted.transform(table), r.transform(table))
        np.testing.assert_allclose(fitted.transform(r.coordinates(table)), r.transform(table))
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_allclose(again.transform(table), r.transform(table))
        self.assertEqual((again.n_features_in_, list(again.get_feature_names_out())), (6, ["pca0", "pca1"]))
        self.assertEqual(list(again[:2].get_feature_names_out()), list(r.feature_names_in_))

    def test_frames_without_keys(self):
        """Columns are taken by name of a frame that NumPy takes for an array, too."""

        class Frame:
            """A frame as polars has it, and pyarrow where its names are in column_names."""

            def __init__(self, names, **columns):
                self._columns = columns
                setattr(self, names, list(columns))
                if names == "column_names":
                    self.columns = [np.array(c) for c in columns.values()]

            def __array__(self, dtype=None, copy=None):
                return np.array(list(self._columns.values()), dtype=dtype).T

            def __getitem__(self, name):
                return np.array(self._columns[name])

        r = load(made())
        table = {"c": ["x", "z"], "b": [10.0, -4.0], "a": [3.0, 5.0]}
        for names in ("columns", "column_names"):
            with self.subTest(names):
                np.testing.assert_array_equal(r.transform(Frame(names, **table)), r.transform(table))
                np.testing.assert_array_equal(r.as_sklearn().transform(Frame(names, **table)), r.transform(table))
                with self.assertRaisesRegex(covey.RowsError, "no column 'a'"):
                    r.transform(Frame(names, b=[1.0], c=["x"]))

    def test_many_rows(self):
        """Chunks change nothing."""
        from unittest import mock

        r = load(made())
        rng = np.random.default_rng(3)
        rows = np.concatenate([rng.normal(size=(500, 2)), np.zeros((500, 1)), np.tile([1.0, 0, 0], (500, 1))], axis=1)
        rows[rng.random(500) < 0.5, 0] = np.nan
        want = r.transform(rows)
        with mock.patch("covey.result.CHUNK", 100):
            np.testing.assert_allclose(r.transform(rows), want, rtol=0, atol=1e-13)

    def test_caller_s_rows_stay(self):
        r = load(made())
        rows = np.array([[1.0, 2, 0, 0, 1, 0], [np.nan, 2, 0, 1, 0, 0]])
        before = rows.copy()
        r.transform(rows)
        np.testing.assert_array_equal(rows, before)
