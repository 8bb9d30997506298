package study

// The bins of pictures: of each axis of a pair of components, and of one component's histogram. They
// are of equal width, PictureReach standard deviations to either side of the center; the outermost
// also hold what lies beyond.
const (
	PictureBins  = 16
	ScoreBins    = 32
	PictureReach = 4
)

// MaxPictures is the most pairs of components that a study may picture.
const MaxPictures = 6

// The values of Spec.PictureBy.
const (
	PictureByColumn = "column"
	PictureBySite   = "site"
)

// Picture is a noised histogram of the scores of all units on two components.
type Picture struct {
	Pair   [2]int   `json:"pair"` // components, from 1
	By     string   `json:"by,omitempty"`
	Column string   `json:"column,omitempty"`
	Groups []string `json:"groups,omitempty"` // levels, or sites; one unnamed where By is empty
	// X and Y are the bins' edges on the first component and on the second, PictureBins + 1 each, in
	// scores of scaled and centered rows.
	X []float64 `json:"x_edges"`
	Y []float64 `json:"y_edges"`
	// Counts are those of each group, a vector of PictureBins² with bin (ix, iy) at
	// ix·PictureBins+iy: units, noised, and so perhaps below zero.
	Counts [][]float64 `json:"counts"`
	Sigma  float64     `json:"sigma"` // the noise's standard deviation on one count
}

// ScoreHistogram is a noised histogram of the scores of all units on one component.
type ScoreHistogram struct {
	Component int       `json:"component"` // from 1
	Edges     []float64 `json:"edges"`     // ScoreBins + 1
	Counts    []float64 `json:"counts"`    // ScoreBins, as in Picture
	Sigma     float64   `json:"sigma"`
}
