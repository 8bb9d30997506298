package study

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestPictureKeys: what pictures take from a study that asks for no more, what they need and do not
// go with. By site they never have central noise, whatever the study says.
func TestPictureKeys(t *testing.T) {
	s, err := proposal.ParseSpec([]byte(texts.Pictured))
	if err != nil {
		t.Fatal(err)
	}
	if s.PictureShare != 0.05 || fmt.Sprint(s.PicturePairs) != "[[1 2]]" || s.Noise != proposal.NoiseCentral {
		t.Errorf("a share of %v, pairs %v, noise %s", s.PictureShare, s.PicturePairs, s.Noise)
	}
	if s, err = proposal.ParseSpec([]byte(texts.With(texts.Pictured, `picture_by = "site"`))); err != nil || s.Noise != proposal.NoiseDistributed {
		t.Errorf("by site: noise %q, %v", s.Noise, err)
	}
	byColumn := texts.With(texts.Leveled, "components = 2", "picture = true", `picture_by = "column"`, `picture_column = "b"`)
	if s, err = proposal.ParseSpec([]byte(byColumn)); err != nil || s.Noise != proposal.NoiseDistributed {
		t.Errorf("by column: noise %q, %v", s.Noise, err)
	}
	if s, err = proposal.ParseSpec([]byte(texts.With(byColumn, "central_detail = true"))); err != nil || s.Noise != proposal.NoiseCentral {
		t.Errorf("by column with central_detail: noise %q, %v", s.Noise, err)
	}
	for _, c := range []struct{ text, lines, field string }{
		{texts.Four, "picture = true", "picture"}, // one component
		{texts.Pictured, `explained_variance = "none"`, "picture"},
		{texts.Pictured, `center = "pairs"`, "picture"},
		{texts.Pictured, "picture_share = -0.1", "picture_share"},
		{texts.Pictured, "picture_share = 0.95", "epsilon"},
		{texts.Pictured, "picture_pairs = []", "picture_pairs"},
		{texts.Pictured, "picture_pairs = [[1, 3]]", "picture_pairs"},
		{texts.Pictured, "picture_pairs = [[0, 1]]", "picture_pairs"},
		{texts.Pictured, "picture_pairs = [[1, 1]]", "picture_pairs"},
		{texts.Pictured, "picture_pairs = [[1, 2, 2]]", "picture_pairs"},
		{texts.Pictured, "picture_pairs = [[1, 2], [2, 1]]", "picture_pairs"},
		{texts.Pictured, "picture_pairs = [[1,2],[1,2],[1,2],[1,2],[1,2],[1,2],[1,2]]", "picture_pairs"},
		{texts.Pictured, `picture_by = "hospital"`, "picture_by"},
		{texts.Pictured, `picture_by = "column"`, "picture_column"},
		{texts.Pictured, "picture_by = \"column\"\npicture_column = \"a\"", "picture_column"}, // of numbers
		{texts.Pictured, `picture_column = "a"`, "picture_column"},
		{texts.Pictured, "picture_by = \"site\"\nnoise = \"central\"", "noise"},
		{texts.Pictured, "picture_by = \"site\"\nnoise = \"central\"\ncentral_detail = true", "central_detail"},
		{texts.Leveled, "components = 2\npicture = true\npicture_by = \"site\"\nnoise = \"central\"\ncentral_detail = true", "noise"},
		{byColumn, `noise = "central"`, "noise"},
		{texts.Four, "picture_share = 0.1", "picture_share"},
		{texts.Four, "picture_pairs = [[1, 2]]", "picture_pairs"},
		{texts.Four, `picture_by = "site"`, "picture_by"},
		{texts.Four, `picture_column = "a"`, "picture_column"},
		{texts.Pictured, "accountant = \"paper\"\nradius = 1.0\nrounds = 3\nmethod = \"power\"\nexplained_variance = \"private\"", "components"},
	} {
		_, err := proposal.ParseSpec([]byte(texts.With(c.text, c.lines)))
		if bad, ok := errors.AsType[*proposal.FieldError](err); !ok || bad.Field != c.field {
			t.Errorf("%s: %v, want %s to be at fault", c.lines, err, c.field)
		}
	}
}

// TestPicturePlan: pictures come last, take the share that the study names and no more, and each
// has the noise of one unit in one bin, at each of its sites.
func TestPicturePlan(t *testing.T) {
	lines := []string{"picture_share = 0.1", "components = 3", "picture_pairs = [[1, 2], [1, 3], [2, 3]]", `picture_by = "site"`, "sites_per_unit = 2", "picture = true"}
	for _, more := range [][]string{{`method = "power"`}, {`method = "covariance"`}, {`method = "auto"`}} {
		p := mustPlan(t, texts.With(texts.Four, append(more, lines...)...), 5000, 5000, 5000)
		last := p.Queries[len(p.Queries)-4:]
		rho := 0.0
		for i, q := range last {
			kind, values, delta, part := KindPicture, 3*256, math.Sqrt2, 0.8/3
			if i == 0 {
				kind, values, delta, part = KindScores, 3*32, math.Sqrt(6), 0.2
			}
			if q.Kind != kind || q.Values != values || q.Branch != "" || i > 0 && q.Round != i-1 || p.Queries.Ends(q.Index) != (i == 3) {
				t.Errorf("%s: query %d is %+v", more, i, q)
			}
			if got, want := p.Noise.Sensitivity(q, 0), 2*0x1p16*delta; !(got >= want) || got > want*(1+1e-12) {
				t.Errorf("%s has Δ = %v, want %v", q.Kind, got, want)
			}
			if got := q.Rho / p.Rho; math.Abs(got-0.1*part) > 1e-3*part {
				t.Errorf("%s: %s takes %v of the budget, want %v", more, q.Kind, got, 0.1*part)
			}
			rho += q.Rho
		}
		if got := rho / p.Rho; p.Proposal.Spec.Method != proposal.MethodAuto && math.Abs(got-0.1) > 1e-3 {
			t.Errorf("%s: pictures take %v of the budget", more, got)
		}
		if before := p.Queries[len(p.Queries)-5]; before.Kind != KindTotal {
			t.Errorf("%s: before pictures comes %s", more, before.Kind)
		}
	}
	if _, err := plan(t, texts.With(texts.Pictured, `picture_by = "site"`), slices.Repeat([]int{10}, 65)...); err != nil {
		t.Errorf("65 sites: %v", err)
	}
}

// TestPictureWarning: a study whose pictures are of few units for their noise is warned of, by its
// smallest site where each is pictured.
func TestPictureWarning(t *testing.T) {
	for _, c := range []struct {
		text  string
		units []int
		warns string
	}{
		{texts.Pictured, []int{7000, 7000, 7000}, ""},
		{texts.Pictured, []int{1000, 1000, 1000}, "there are 3000 units in all"},
		{texts.With(texts.Pictured, `picture_by = "site"`), []int{50_000, 50_000, 1000}, "the smallest site has 1000"},
		{texts.With(texts.Pictured, `picture_by = "site"`), []int{50_000, 50_000, 50_000}, ""},
		{texts.With(texts.Leveled, "components = 2", "picture = true", `picture_by = "column"`, `picture_column = "b"`), []int{5000, 5000, 5000}, "a group of its even share has 3750"},
		{texts.Four, []int{100, 100, 100}, ""},
	} {
		w := strings.Join(mustPlan(t, c.text, c.units...).Warnings(), "\n")
		if strings.Contains(w, "pictures will be coarse") != (c.warns != "") || !strings.Contains(w, c.warns) {
			t.Errorf("%d units: %q, want %q", c.units, w, c.warns)
		}
		// A level may be one site's name.
		if by := strings.Contains(c.text, `picture_by = "column"`); strings.Contains(w, `a level of "b" that one site alone has shows that site`) != by {
			t.Errorf("by column %t: %q", by, w)
		}
	}
}
