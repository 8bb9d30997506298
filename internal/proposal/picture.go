package proposal

import (
	"slices"
)

// maxPictures is the most pairs of components that a study may picture.
const maxPictures = 6

// The values of Spec.PictureBy.
const (
	PictureByColumn = "column"
	PictureBySite   = "site"
)

// resolvePicture fills in what a study with pictures leaves out.
func (s *Spec) resolvePicture() {
	if s.Picture {
		def(&s.PictureShare, 0.05)
		if s.PicturePairs == nil {
			s.PicturePairs = [][]int{{1, 2}}
		}
	}
}

// checkPicture checks what goes with pictures.
func (s *Spec) checkPicture() error {
	if !s.Picture {
		const why = "has no effect without picture = true"
		switch {
		case s.PicturePairs != nil:
			return FieldErrorf("picture_pairs", why)
		case s.PictureBy != "":
			return FieldErrorf("picture_by", why)
		case s.PictureColumn != "":
			return FieldErrorf("picture_column", why)
		}
		return nil
	}
	switch {
	case s.MostComponents() < 2:
		return FieldErrorf("picture", "needs at least 2 components, got %d", s.MostComponents())
	case s.ExplainedVariance != VariancePrivate:
		return FieldErrorf("picture", `needs explained_variance = "private": its grid is made of released variances`)
	case s.Center == CenterPairs:
		return FieldErrorf("picture", `is of rows; center = "pairs" has differences of them alone`)
	case len(s.PicturePairs) == 0 || len(s.PicturePairs) > maxPictures:
		return FieldErrorf("picture_pairs", "must be 1 to %d pairs of components, got %d", maxPictures, len(s.PicturePairs))
	}
	if err := s.checkPicturePairs(); err != nil {
		return err
	}
	return s.checkPictureBy()
}

// checkPicturePairs refuses pairs of components that the study does not have, or draws already.
func (s *Spec) checkPicturePairs() error {
	for i, pair := range s.PicturePairs {
		if len(pair) != 2 || min(pair[0], pair[1]) < 1 || max(pair[0], pair[1]) > s.MostComponents() || pair[0] == pair[1] {
			return FieldErrorf("picture_pairs", "must be pairs of two of the components 1 to %d, got %v", s.MostComponents(), pair)
		}
		if slices.ContainsFunc(s.PicturePairs[:i], func(other []int) bool {
			return slices.Equal(other, pair) || other[0] == pair[1] && other[1] == pair[0]
		}) {
			return FieldErrorf("picture_pairs", "has the pair %v twice", pair)
		}
	}
	return nil
}

// checkPictureBy checks what divides the units into groups.
func (s *Spec) checkPictureBy() error {
	switch s.PictureBy {
	case "":
	case PictureByColumn:
		if !slices.ContainsFunc(s.Columns, func(c Column) bool { return c.Name == s.PictureColumn && len(c.Levels) > 0 }) {
			return FieldErrorf("picture_column", "must be a column with levels, got %.80q", s.PictureColumn)
		}
	case PictureBySite:
		// Each site alone fills its block: the exact sum would be that site's exact counts.
		if s.Noise != NoiseDistributed {
			return FieldErrorf("noise", `picture_by = "site" needs "distributed": with "central" the coordinator's leader would read each site's exact counts, and central_detail does not allow that`)
		}
	default:
		return FieldErrorf("picture_by", "must be %q, %q or left out, got %.80q", PictureByColumn, PictureBySite, s.PictureBy)
	}
	if s.PictureColumn != "" && s.PictureBy != PictureByColumn {
		return FieldErrorf("picture_column", "needs picture_by = %q", PictureByColumn)
	}
	return nil
}
