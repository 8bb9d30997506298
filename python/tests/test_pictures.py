"""The data of drawings, and comparisons, by hand."""

import unittest

import numpy as np

import covey

from .samples import PROPOSAL, load, made, proposed

PLAIN = {"left_out_": ..., "pictures_": ..., "score_histograms_": ...}
ANOTHER = proposed(PROPOSAL + "# another\n")  # a study of the same text, so that both can be compared


class Pictures(unittest.TestCase):
    def test_picture(self):
        p = load(made()).pictures[0]
        self.assertEqual((p.pair, p.counts.shape, p.x_edges.shape, p.sigma), ((1, 2), (1, 16, 16), (17,), 5.0))
        self.assertEqual(p.counts[0, 15, 15], 100)
        self.assertEqual(p.counts[0, 0, 0], -3)
        density = p.density()
        self.assertEqual(density[0, 15, 15], 1)  # of area 1
        self.assertEqual(density.sum(), 1)
        self.assertFalse(p.density(threshold=21).any())
        grouped = dict(made()["pictures_"][0], groups=["x", "other"], by="column", column="c", counts=[list(range(256)), [0] * 256])
        q = load(made(pictures_=[grouped])).pictures[0]
        self.assertEqual((q.groups, q.by, q.column, q.counts[0, 1, 2]), (("x", "other"), "column", "c", 18))
        self.assertFalse(q.density()[1].any())
        h = load(made()).score_histograms[0]
        self.assertEqual((h.component, h.edges.shape, h.counts.shape), (2, (33,), (32,)))

    def test_noise_alone_draws_little(self):
        """Of pictures of nothing, at most 1 in 100 has a bin drawn: 256 bins above 4 sigma, 0.81% by the normal law.

        16 of 1,000 or more with probability below 1%.
        """
        rng, drawn = np.random.default_rng(18), 0
        p = load(made()).pictures[0]
        for _ in range(1000):
            nothing = covey.Picture((1, 2), p.x_edges, p.y_edges, rng.normal(scale=5, size=(1, 16, 16)), 5.0)
            drawn += bool(nothing.density().any())
        self.assertLess(drawn, 16)

    def test_biplot(self):
        r = load(made())
        b = r.biplot()
        np.testing.assert_allclose(b.arrows[:2], [[0.6 * 2.5**0.5, 0.8 * 0.5**0.5], [0.8 * 2.5**0.5, -0.6 * 0.5**0.5]])
        self.assertTrue(b.by_variance)
        np.testing.assert_allclose(r.biplot((2, 1)).arrows, b.arrows[:, ::-1])
        free = load(made(explained_variance_=None, explained_variance_ratio_=None, explained_variance_interval_=None)).biplot()
        self.assertFalse(free.by_variance)
        np.testing.assert_allclose(free.arrows, r.components_.T)
        for pair in ((0, 1), (1, 3)):
            with self.assertRaisesRegex(ValueError, "no component"):
                r.biplot(pair)


class Comparisons(unittest.TestCase):
    def two(self, **changes):
        return load(made(**PLAIN)), load(made(**PLAIN, **ANOTHER, **changes))

    def test_signs_and_order(self):
        a = load(made(**PLAIN))
        order = [3, 4, 5, 1, 2, 0]  # columns the other way round
        head, *columns = PROPOSAL.split("[[study.columns]]")
        text = "[[study.columns]]".join([head, *columns[::-1]])
        flipped = [(-row[order]).tolist() for row in a.components_]
        names = [a.feature_names_in_[j] for j in order]
        b = load(made(**PLAIN, **proposed(text), feature_names_in_=names, components_=flipped, scale_=a.scale_[order].tolist(), offset_=a.offset_[order].tolist()))
        c = covey.compare(a, b)
        np.testing.assert_allclose(c.angles, 0, atol=1e-9)
        np.testing.assert_array_equal(c.signs, -1)
        np.testing.assert_allclose(c.second, a.components_)

    def test_angles(self):
        turn = np.radians(10)
        rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        components = rotation @ np.array(made()["components_"])
        a, b = self.two(components_=components.tolist())
        c = covey.compare(a, b)
        np.testing.assert_allclose(c.angles, 10)
        np.testing.assert_allclose(c.principal_angles, 0, atol=1e-6)  # one plane
        a, b = self.two(components_=[[0.6, 0.8, 0, 0, 0, 0], [0, 0, np.cos(turn), np.sin(turn), 0, 0]])
        np.testing.assert_allclose(covey.compare(a, b).principal_angles, [90, 0], atol=1e-6)
        small = 1e-7
        a, b = self.two(components_=[[0.6, 0.8, 0, 0, 0, 0], [0.8 * np.cos(small), -0.6 * np.cos(small), np.sin(small), 0, 0, 0]])
        np.testing.assert_allclose(covey.compare(a, b).angles[1], np.degrees(small), rtol=1e-6)
        np.testing.assert_allclose(covey.compare(a, b).principal_angles[0], np.degrees(small), rtol=1e-6)

    def test_scales(self):
        """A public scale that differs is refused; a learned one is each study's own."""
        a = load(made(**PLAIN))
        for name, refused in (("a", True), ("b", True), ("b is missing", False), ("c=x", False)):
            scale = a.scale_.copy()
            scale[a.feature_names_in_.index(name)] *= 2
            b = load(made(**PLAIN, **ANOTHER, scale_=scale.tolist()))
            if refused:
                with self.assertRaisesRegex(covey.ComparisonError, "is divided by"):
                    covey.compare(a, b)
            else:
                np.testing.assert_allclose(covey.compare(a, b).angles, 0, atol=1e-9)
        moved = load(made(**PLAIN, **ANOTHER, offset_=[7, 2, 0, 0, 0, 0]))
        with self.assertRaisesRegex(covey.ComparisonError, "'a' has another offset"):
            covey.compare(a, moved)
        private = {**PLAIN, "center": "private"}
        covey.compare(load(made(**private)), load(made(**private, **ANOTHER, offset_=[7, 2, 0, 0, 0, 0])))

    def test_other_columns(self):
        """Columns of one name that are not the same numbers are refused, as by "analyst compare"."""
        a = load(made(**PLAIN))
        for was, now, why in (
            ("name = 'a'", "name = 'a'\nmeasure = 'cm'", "'a' is in '' in one and in 'cm'"),
            ("name = 'a'", "name = 'a'\nas = 'boolean'", "'a' is read in two ways"),
            ("name = 'a'", "name = 'a'\nstandardize = 'private'", "'a' has a learned scale in one alone"),
        ):
            other = load(made(**PLAIN, **proposed(PROPOSAL.replace(was, now))))
            covey.compare(other, load(made(**PLAIN, **proposed(PROPOSAL.replace(was, now) + "# another\n"))))
            with self.assertRaisesRegex(covey.ComparisonError, why):
                covey.compare(a, other)
        names = ["a", "b", "b is missing", "c=y", "c=x", "c=other"]
        swapped = proposed(PROPOSAL.replace("'x', 'y'", "'y', 'x'"))
        turned = [[0.6, 0, 0, 0, 0.8, 0], [0, 1, 0, 0, 0, 0]]  # "y" is found by its name, wherever it stands
        levels = load(made(**PLAIN, **swapped, feature_names_in_=names, components_=[[0.6, 0, 0, 0.8, 0, 0], turned[1]]))
        np.testing.assert_allclose(covey.compare(load(made(**PLAIN, components_=turned)), levels).angles, 0, atol=1e-9)
        archive = load(made(**{**PLAIN, "proposal": ..., "digest": "0" * 64}))
        with self.assertRaisesRegex(covey.ComparisonError, "load the result files"):
            covey.compare(a, archive)

    def test_matched(self):
        """Components that trade places are one another's partners."""
        a = load(made(**PLAIN))
        c = covey.compare(a, load(made(**PLAIN, **ANOTHER, components_=a.components_[::-1].tolist())))
        self.assertEqual(c.pairs, ((1, 2), (2, 1)))
        np.testing.assert_allclose(c.angles, 0, atol=1e-9)

    def test_refused(self):
        a = load(made(**PLAIN))
        with self.assertRaisesRegex(covey.ComparisonError, "of one study"):
            covey.compare(a, load(made(**PLAIN)))
        other = load(made(**{**PLAIN, "proposal": ..., "digest": "0" * 64}, feature_names_in_=list("abcdef")))
        with self.assertRaises(covey.ComparisonError):
            covey.compare(a, other)
        with self.assertRaisesRegex(covey.ComparisonError, "simulated"):
            covey.compare(a, load(made(**PLAIN, **ANOTHER, simulated=True), allow_simulated=True))
        left = load(made(**{**PLAIN, **ANOTHER, "left_out_": [{"column": "c=x", "why": "weak"}]}))
        self.assertEqual(covey.compare(a, left).left_out_of_one, ("c=x",))
