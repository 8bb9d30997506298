"""The reader refuses what no study writes, with the name of the field."""

import base64
import hashlib
import io
import json
import unittest
import warnings
import zipfile
from unittest import mock

import numpy as np

import covey

from .samples import load, made


def _proposed(body):
    return made(proposal=base64.b64encode(body).decode(), digest=hashlib.sha256(body).hexdigest())


class Reader(unittest.TestCase):
    def test_whole(self):
        r = load(made())
        self.assertEqual((r.name, r.n_components_, r.n_features_in_, r.n_samples_), ("made", 2, 6, 1000))
        self.assertEqual((r.epsilon, r.delta, r.missing, r.simulated), (1.0, 1e-6, "fill", False))
        self.assertEqual([c.name for c in r.columns], ["a", "b", "c"])
        self.assertEqual(dict(r.left_out), {"c=y": "joined"})
        self.assertEqual(r.raw["name"], "made")
        for array in (r.components_, r.mean_, r.pictures[0].counts, r.score_histograms[0].edges):
            with self.assertRaises(ValueError):
                array[...] = 0
        with self.assertRaises(AttributeError):
            r.name = "another"
        self.assertIn("ε = 1", repr(r))

    def test_null_is_absent(self):
        r = load(made(explained_variance_=None, explained_variance_interval_=None, explained_variance_ratio_=None, total_variance_=...))
        self.assertIsNone(r.explained_variance_)
        with self.assertRaises(covey.NotBoughtError):
            r.hotelling_t2(np.zeros((1, 6)))
        self.assertTrue(np.isnan(r.as_sklearn()["pca"].explained_variance_).all())

    def test_shares(self):
        """A result file does not say whether shares of the total mean anything; an archive has only those that do."""
        r = load(made())
        with self.assertWarnsRegex(covey.SharesWarning, "variance_shares_unknown") as caught:
            np.testing.assert_array_equal(r.explained_variance_ratio_, [0.5, 0.1])
        self.assertEqual(caught.filename, __file__)
        self.assertTrue(np.isnan(r.as_sklearn()["pca"].explained_variance_ratio_).all())
        self.assertEqual(r.worth, ())
        fields = made(**{name: ... for name in ("proposal", "left_out_", "pictures_", "score_histograms_")})
        fields.update(feature_names_in_=list("abcdef"), worth=["so much"])
        for shares in (fields.pop("explained_variance_ratio_"), None):
            data = io.BytesIO()
            np.savez(data, **{name: np.atleast_1d(v) if isinstance(v, str) else np.array(v) for name, v in fields.items()}, **({"explained_variance_ratio_": np.array(shares)} if shares else {}))
            r = load(data.getvalue())
            self.assertEqual(r.worth, ("so much",))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assertEqual(None if r.explained_variance_ratio_ is None else list(r.explained_variance_ratio_), shares)
                np.testing.assert_array_equal(r.as_sklearn()["pca"].explained_variance_ratio_, shares or [np.nan] * 2)

    def test_shares_that_noise_made(self):
        """Of all or nothing, which noise makes of a share, no bar is drawn."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", covey.SharesWarning)
            np.testing.assert_array_equal(load(made(explained_variance_ratio_=[1, 0.25])).explained_variance_ratio_, [np.nan, 0.25])
            np.testing.assert_array_equal(load(made(explained_variance_ratio_=[0.5, 0])).explained_variance_ratio_, [0.5, np.nan])
            for wrong in ([0.5], [0.5, "x"], [[0.5, 0.1]], 0.5):
                with self.assertRaisesRegex(covey.ResultError, "explained_variance_ratio_"):
                    load(made(explained_variance_ratio_=wrong))

    def test_simulated(self):
        with self.assertRaises(covey.SimulatedError):
            load(made(simulated=True))
        self.assertTrue(load(made(simulated=True), allow_simulated=True).simulated)
        self.assertIn("simulated", repr(load(made(simulated=True), allow_simulated=True)))
        load(made(simulated=False))
        for word in ("true", 1, 0, []):
            with self.assertRaisesRegex(covey.ResultError, "simulated"):
                load(made(simulated=word), allow_simulated=True)

    def test_malformed(self):
        def picture(**changes):
            return [{**made()["pictures_"][0], **changes}]

        def histogram(**changes):
            return [{**made()["score_histograms_"][0], **changes}]

        unit = [[0.6, 0.8, 0, 0, 0, 0], [0.8, -0.6, 0, 0, 0, 0]]
        for field, value in [
            ("n_components_", 10**9),
            ("n_components_", 3),
            ("n_components_", 0),
            ("n_components_", 7),
            ("n_components_", 2.5),
            ("n_components_", True),
            ("n_components_", "2"),
            ("n_features_in_", 10**12),
            ("n_features_in_", 5),
            ("n_samples_", 0),
            ("n_samples_", -1),
            ("epsilon", "1"),
            ("epsilon", -1),
            ("delta", 2),
            ("name", 1),
            ("digest", "00"),
            ("digest", "G" * 64),
            ("offset_", [0] * 5),
            ("offset_", [[0] * 6]),
            ("offset_", ["0"] * 6),
            ("offset_", [True] * 6),
            ("offset_", [None] * 6),
            ("offset_", {"a": 1}),
            ("offset_", [10**400] + [0] * 5),
            ("scale_", [0] * 6),
            ("scale_", [-1] * 6),
            ("mean_", ...),
            ("components_", unit[:1]),
            ("components_", [unit[0], unit[1][:5]]),
            ("components_", [unit[0], unit[0]]),
            ("components_", [[2 * v for v in unit[0]], unit[1]]),
            ("components_", [[0, 0.6, 0, 0, 0.8, 0], unit[0]]),
            ("feature_names_in_", ["a"] * 6),
            ("feature_names_in_", ["a", "b", "b is missing", "c=z", "c=y", "c=other"]),
            ("feature_names_in_", [1] * 6),
            ("left_out_", [{"column": "d", "why": "weak"}]),
            ("left_out_", [{"column": "a", "why": "weak"}]),
            ("left_out_", ["a"]),
            ("left_out_", {"column": "a"}),
            ("explained_variance_", [1]),
            ("explained_variance_", [1, -1]),
            ("explained_variance_interval_", [1, 2]),
            ("missing", "zero"),
            ("missing", "guess"),
            ("proposal", "%%%"),
            ("proposal", "AAAA"),
            ("pictures_", picture(pair=[1, 3])),
            ("pictures_", picture(pair=[1, 1])),
            ("pictures_", picture(pair=[1.5, 2])),
            ("pictures_", picture(counts=[[0] * 255])),
            ("pictures_", picture(counts=[[0] * 256] * 2)),
            ("pictures_", picture(groups=["x", "y"])),
            ("pictures_", picture(x_edges=[0] * 17)),
            ("pictures_", picture(y_edges=list(range(16)))),
            ("pictures_", picture(sigma=None)),
            ("pictures_", picture() * 7),
            ("pictures_", 3),
            ("score_histograms_", histogram(component=3)),
            ("score_histograms_", histogram(component=0)),
            ("score_histograms_", histogram(counts=[0] * 31)),
            ("score_histograms_", histogram(edges=list(range(33))[::-1])),
        ]:
            with self.subTest(field=field, value=str(value)[:60]):
                with self.assertRaises(covey.ResultError) as caught:
                    load(made(**{field: value}))
                named = {"digest": "digest|proposal", "n_components_": "n_components_|components_", "n_features_in_": "n_features_in_|feature_names_in_"}
                item = {"pictures_": "pair|counts|groups|edges|sigma|pictures_", "score_histograms_": "component|counts|edges"}
                self.assertRegex(str(caught.exception), named.get(field, item.get(field, field)))

    def test_not_json(self):
        text = json.dumps(made())
        for broken in (
            "",
            "nothing",
            "[]",
            "3",
            text[:-5],
            text.replace('"epsilon": 1', '"epsilon": NaN'),
            text.replace('"epsilon": 1', '"epsilon": -Infinity'),
            text.replace('"epsilon": 1', '"epsilon": 1e999'),
            text.replace('"epsilon": 1', '"epsilon": ' + "9" * 5000),
            text.replace('"epsilon": 1', '"epsilon": 1, "epsilon": 2'),
            text.replace('"mean_": [0.5', '"mean_": [1e999'),
            text.replace('"mean_": [0.5', '"mean_": [NaN'),
            b"\xff" + text.encode(),
            '{"a":' + "[" * 100_000,
            b"\x93NUMPY",
            b"PK\x03\x04 and nothing else",
        ):
            with self.subTest(str(broken)[:40]), self.assertRaises(covey.ResultError):
                load(broken)
        self.assertTrue(issubclass(covey.ResultError, ValueError))
        with self.assertRaises(OSError):
            covey.load("/no/such/result.json")

    def test_damaged_bytes(self):
        """Whatever a byte becomes, the file is read or refused with words (seeded)."""
        text, rng = json.dumps(made()).encode(), np.random.default_rng(18)
        read = 0
        for _ in range(2000):
            damaged = bytearray(text)
            for at in rng.integers(0, len(text), size=rng.integers(1, 4)):
                damaged[at] = rng.integers(0, 256)
            try:
                load(bytes(damaged), allow_simulated=True)
                read += 1
            except covey.ResultError:
                pass
        self.assertGreater(read, 10)

    def archive(self, **changes):
        fields = {n: v for n, v in made(left_out_=..., pictures_=..., score_histograms_=..., proposal=..., missing=...).items()}
        fields.update(changes)
        out = io.BytesIO()
        np.savez(out, **{n: np.array([v]) if isinstance(v, str) else np.array(v) for n, v in fields.items() if v is not ...})
        return out.getvalue()

    def test_simulated_archive(self):
        with self.assertRaises(covey.SimulatedError):
            load(self.archive(simulated=1))
        self.assertTrue(load(self.archive(simulated=1), allow_simulated=True).simulated)
        for mark in (2, 1.0, "true", [1]):
            with self.assertRaisesRegex(covey.ResultError, "simulated"):
                load(self.archive(simulated=mark), allow_simulated=True)

    def test_archives(self):
        whole = load(self.archive())
        np.testing.assert_array_equal(whole.components_, load(made()).components_)
        self.assertIsNone(whole.columns)
        self.assertIsNone(whole.missing)
        left = load(self.archive(left_out_=np.array(["c=other"])))  # as of a study where every text is a level
        self.assertEqual(dict(left.left_out), {"c=other": ""})
        rows = np.array([[1.0, 2, 0, 0, 1, 0], [3.0, 6, 1, 0, 0, 1]])
        np.testing.assert_array_equal(left.transform(rows), load(made(left_out_=[{"column": "c=other", "why": "rare"}])).transform(rows))
        for changes in (
            {"components_": np.zeros((2, 5))},
            {"components_": np.array([["a"] * 6] * 2)},
            {"mean_": np.full(6, np.nan)},
            {"mean_": np.array([None] * 6)},
            {"mean_": np.zeros(6, dtype=complex)},
            {"mean_": np.zeros(6, dtype=bool)},
            {"n_components_": np.array([2, 2])},
            {"name": np.array(["a", "b"])},
            {"left_out_": np.array(["c=y"])},
            {"left_out_": np.array(["c=other", "c=y"])},
            {"feature_names_in_": ["a", "b", "b is missing", "c=x", "c=y=other", "c=other"], "left_out_": np.array(["c=y=other"])},
        ):
            with self.subTest(str(changes)[:60]), self.assertRaises(covey.ResultError):
                load(self.archive(**changes))
        twice = io.BytesIO(self.archive())
        with zipfile.ZipFile(twice, "a") as z, self.assertWarns(UserWarning):
            z.writestr("mean_.npy", z.read("mean_.npy"))
        with self.assertRaisesRegex(covey.ResultError, "twice"):
            load(twice.getvalue())
        workbook = io.BytesIO(self.archive())
        with zipfile.ZipFile(workbook, "a") as z:
            z.writestr("xl/workbook.xml", "<workbook/>")
        with self.assertRaisesRegex(covey.ResultError, "xl/workbook.xml is neither numbers nor texts"):
            load(workbook.getvalue())
        bomb = io.BytesIO(self.archive())
        with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED) as z:
            z.writestr("big.npy", bytes(1 << 20))
        with mock.patch("covey.file.MAX_BYTES", 1 << 20), self.assertRaisesRegex(covey.ResultError, "unpacks to more"):
            load(bomb.getvalue())

    def test_keys_of_many_parts(self):
        """A proposal is the writer's own text, and the parser takes minutes of a key of some ten thousand parts."""
        plain = base64.b64decode(made()["proposal"])
        key = b"\na" + b".a" * 40_000 + b" = 1\n"
        for text in (key, b"\n['a'" + b" . 'a'" * 40_000 + b"]\n", b'\nx = """a""""' + key, b"\nx = '''a'''''" + key, b"\n# it's" + key, b'\nx = {y = "\\"", ' + key[1:-1] + b"}\n", b'\nx = ""' + key):
            with self.subTest(text[:20]), self.assertRaisesRegex(covey.ResultError, "proposal has a key of more parts"):
                load(_proposed(plain + text))
        dots = "a" + 20 * ".a"
        for text in (f'\nx = "{dots}"', f"\nx = '{dots}'", f'\nx = """\n{dots}\\""""" ', f"\nx = '''{dots}'''", f"\n# {dots}", f"\nx = [{'1.5, ' * 20}]", "\nx = 1.5" * 0):
            with self.subTest(text[:20]):
                load(_proposed(plain + text.encode()))
        for text in ('\nx = "a', "\nx = 'a", '\nx = """a', "\nx = '''a"):
            with self.subTest(text), self.assertRaisesRegex(covey.ResultError, "proposal is not TOML"):
                load(_proposed(plain + text.encode()))

    def test_endless_empty_texts(self):
        """Texts of no bytes take none in a file, however many its header says that there are."""
        for name in ("feature_names_in_", "left_out_", "sites", "worth", "name", "picture_1_groups"):
            for n in (1, 1 << 40):
                data = io.BytesIO(self.archive(**{name: ...}))
                header = {"descr": "<U0", "fortran_order": False, "shape": (n,)}
                with zipfile.ZipFile(data, "a") as z, z.open(name + ".npy", "w") as file:
                    np.lib.format.write_array_header_1_0(file, header)
                with self.subTest(f"{n} of {name}"), self.assertRaisesRegex(covey.ResultError, name + " has more texts than bytes"):
                    load(data.getvalue())

    def test_archive_has_pictures_and_intervals(self):
        edges, counts = np.arange(-8.0, 9), np.arange(512.0).reshape(2, 256)
        low = np.array([[0.5] * 6, [np.nan] * 6])
        fields = {
            "picture_1_pair": [1, 2],
            "picture_1_groups": ["north", "south"],
            "picture_1_x_edges": edges,
            "picture_1_y_edges": 2 * edges,
            "picture_1_counts": counts,
            "picture_1_shown": counts,
            "picture_1_sigma": 5.0,
            "scores_edges": [np.arange(-16.0, 17)] * 2,
            "scores_counts": [[1.5] * 32, [2.5] * 32],
            "scores_sigma": [5.0, 6.0],
            "components_low_": low,
            "components_high_": low + 0.2,
        }
        r = load(self.archive(**fields))
        p = r.pictures[0]
        self.assertEqual((p.pair, p.groups, p.sigma, p.y_edges[0], p.counts[1, 0, 2]), ((1, 2), ("north", "south"), 5.0, -16, 258))
        self.assertEqual([(h.component, h.counts[0], h.sigma) for h in r.score_histograms], [(1, 1.5, 5.0), (2, 2.5, 6.0)])
        np.testing.assert_array_equal(r.loadings_interval, np.stack([low, low + 0.2], axis=-1))
        self.assertIsNone(load(self.archive()).loadings_interval)
        for changes in (
            {"picture_1_groups": np.array(["north"])},
            {"picture_1_counts": counts[:1]},
            {"picture_1_pair": np.array([1, 3])},
            {"scores_sigma": np.array([5.0])},
            {"scores_sigma": np.array([[5.0], [6.0]])},
            {"scores_counts": np.zeros((2, 31))},
            {"components_high_": np.zeros((2, 5))},
            {"components_high_": ...},
            {"components_low_": np.full((2, 6), np.inf)},
        ):
            with self.subTest(str(changes)[:60]), self.assertRaises(covey.ResultError):
                load(self.archive(**{**fields, **changes}))

    def test_damaged_archives(self):
        text, rng = self.archive(), np.random.default_rng(19)
        for _ in range(500):
            damaged = bytearray(text)
            for at in rng.integers(0, len(text), size=rng.integers(1, 4)):
                damaged[at] = rng.integers(0, 256)
            try:
                load(bytes(damaged))
            except covey.ResultError:
                pass
