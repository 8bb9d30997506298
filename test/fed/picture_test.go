package fed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/siteconfig"
	"covey/test/site"
)

// spots are rows of three columns at four places, by site: the last site has the last place alone.
func spots(i int) string {
	rng := rand.New(rand.NewPCG(uint64(i), 21))
	var text strings.Builder
	text.WriteString("c0,c1,c2\n")
	for range 1000 {
		at := rng.IntN(3)
		if i == 3 {
			at = 3
		}
		x, y := []float64{-1, 1, 0, 2}[at], []float64{0, 0, 1, -1}[at]
		fmt.Fprintf(&text, "%.4f,%.4f,%.4f\n", 3*x+0.1*rng.NormFloat64(), 2*y+0.1*rng.NormFloat64(), 0.1*rng.NormFloat64())
	}
	return text.String()
}

// TestPictures: studies with pictures go through agents and coordinator, with both kinds of noise,
// to a result that verifies; by site each block has its site's units, and one site's place is in
// its block alone.
func TestPictures(t *testing.T) {
	f := Start(t, t.TempDir(), Options{Sites: Names(4), Rows: spots, Config: func(_ *Part, c *siteconfig.Config) { c.Policy.PictureBySite = true }})
	for _, noise := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
		for _, by := range []string{"", proposal.PictureBySite} {
			if noise == proposal.NoiseCentral && by != "" {
				continue
			}
			s := proposal.Spec{Name: "pictures-" + noise + by, Dataset: site.Dataset, Epsilon: 20, Delta: 1e-6, Components: 2, Noise: noise,
				OnDropout: proposal.DropoutWait, Picture: true, PictureShare: 0.2, PictureBy: by, Columns: site.Columns(3, 1)}
			d := f.Propose(s)
			f.Finish(d)
			r := f.Result(d)
			file, err := json.Marshal(r)
			if err == nil {
				_, err = result.Verify(file)
			}
			if err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
			if len(r.Pictures) != 1 || len(r.Scores) != 2 {
				t.Fatalf("%s has %d pictures and %d histograms", s.Name, len(r.Pictures), len(r.Scores))
			}
			picture, place := r.Pictures[0], []int{}
			for g, counts := range picture.Counts {
				sum, most := 0.0, 0
				for b, n := range counts {
					sum += n
					if n > counts[most] {
						most = b
					}
				}
				want := 4000.0
				if by != "" {
					want = 1000
				}
				// 16 times the deviation of one count is that of all
				if off := sum - want; off > 6*16*picture.Sigma || off < -6*16*picture.Sigma {
					t.Errorf("%s: group %d has %v units ± %v, want %v", s.Name, g, sum, 16*picture.Sigma, want)
				}
				place = append(place, most)
			}
			if by == proposal.PictureBySite {
				if !slices.Equal(picture.Groups, r.Sites) || picture.Counts[3][place[3]] < 200 || picture.Counts[0][place[3]] > 100 {
					t.Errorf("%s: groups are %q; the last site's place holds %v and %v", s.Name, picture.Groups, picture.Counts[3][place[3]], picture.Counts[0][place[3]])
				}
			}
		}
	}
}
