package study

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// pictured is a study of two components and their picture.
var pictured = with(four, "components = 2", "picture = true")

func init() {
	studies["picture"] = pictured
	studies["pictures, covariance"] = with(four, "components = 3", `method = "covariance"`, "picture = true", "picture_share = 0.1", "picture_pairs = [[1, 2], [3, 2]]", `center = "private"`)
	studies["pictures, deflation"] = with(four, "components = 2", `subspace = "deflation"`, "rounds = 20", "picture = true")
	studies["pictures by site"] = with(pictured, `picture_by = "site"`, `center = "private"`)
	studies["pictures by site, units"] = with(pictured, `picture_by = "site"`, `unit = "patient"`, "sites_per_unit = 2", `center = "private"`)
	studies["pictures by column"] = with(leveled, "components = 2", "picture = true", `picture_by = "column"`, `picture_column = "b"`, `center = "private"`)
	studies["pictures of filled rows"] = with(pictured, `missing = "fill"`)
}

// TestPictureKeys: what pictures take from a study that asks for no more, what they need and do not
// go with. By site they never have central noise, whatever the study says.
func TestPictureKeys(t *testing.T) {
	s, err := ParseSpec([]byte(pictured))
	if err != nil {
		t.Fatal(err)
	}
	if s.PictureShare != 0.05 || fmt.Sprint(s.PicturePairs) != "[[1 2]]" || s.Noise != NoiseCentral {
		t.Errorf("a share of %v, pairs %v, noise %s", s.PictureShare, s.PicturePairs, s.Noise)
	}
	if s, err = ParseSpec([]byte(with(pictured, `picture_by = "site"`))); err != nil || s.Noise != NoiseDistributed {
		t.Errorf("by site: noise %q, %v", s.Noise, err)
	}
	byColumn := with(leveled, "components = 2", "picture = true", `picture_by = "column"`, `picture_column = "b"`)
	if s, err = ParseSpec([]byte(byColumn)); err != nil || s.Noise != NoiseDistributed {
		t.Errorf("by column: noise %q, %v", s.Noise, err)
	}
	if s, err = ParseSpec([]byte(with(byColumn, "central_detail = true"))); err != nil || s.Noise != NoiseCentral {
		t.Errorf("by column with central_detail: noise %q, %v", s.Noise, err)
	}
	for _, c := range []struct{ text, lines, field string }{
		{four, "picture = true", "picture"}, // one component
		{pictured, `explained_variance = "none"`, "picture"},
		{pictured, `center = "pairs"`, "picture"},
		{pictured, "picture_share = -0.1", "picture_share"},
		{pictured, "picture_share = 0.95", "epsilon"},
		{pictured, "picture_pairs = []", "picture_pairs"},
		{pictured, "picture_pairs = [[1, 3]]", "picture_pairs"},
		{pictured, "picture_pairs = [[0, 1]]", "picture_pairs"},
		{pictured, "picture_pairs = [[1, 1]]", "picture_pairs"},
		{pictured, "picture_pairs = [[1, 2, 2]]", "picture_pairs"},
		{pictured, "picture_pairs = [[1, 2], [2, 1]]", "picture_pairs"},
		{pictured, "picture_pairs = [[1,2],[1,2],[1,2],[1,2],[1,2],[1,2],[1,2]]", "picture_pairs"},
		{pictured, `picture_by = "hospital"`, "picture_by"},
		{pictured, `picture_by = "column"`, "picture_column"},
		{pictured, "picture_by = \"column\"\npicture_column = \"a\"", "picture_column"}, // of numbers
		{pictured, `picture_column = "a"`, "picture_column"},
		{pictured, "picture_by = \"site\"\nnoise = \"central\"", "noise"},
		{pictured, "picture_by = \"site\"\nnoise = \"central\"\ncentral_detail = true", "central_detail"},
		{leveled, "components = 2\npicture = true\npicture_by = \"site\"\nnoise = \"central\"\ncentral_detail = true", "noise"},
		{byColumn, `noise = "central"`, "noise"},
		{four, "picture_share = 0.1", "picture_share"},
		{four, "picture_pairs = [[1, 2]]", "picture_pairs"},
		{four, `picture_by = "site"`, "picture_by"},
		{four, `picture_column = "a"`, "picture_column"},
		{pictured, "accountant = \"paper\"\nradius = 1.0\nrounds = 3\nmethod = \"power\"\nexplained_variance = \"private\"", "components"},
	} {
		_, err := ParseSpec([]byte(with(c.text, c.lines)))
		if bad, ok := errors.AsType[*FieldError](err); !ok || bad.Field != c.field {
			t.Errorf("%s: %v, want %s to be at fault", c.lines, err, c.field)
		}
	}
}

// TestPicturePlan: pictures come last, take the share that the study names and no more, and each
// has the noise of one unit in one bin, at each of its sites.
func TestPicturePlan(t *testing.T) {
	lines := []string{"picture_share = 0.1", "components = 3", "picture_pairs = [[1, 2], [1, 3], [2, 3]]", `picture_by = "site"`, "sites_per_unit = 2", "picture = true"}
	for _, more := range [][]string{{`method = "power"`}, {`method = "covariance"`}, {`method = "auto"`}} {
		p := mustPlan(t, with(four, append(more, lines...)...), 5000, 5000, 5000)
		last := p.Queries[len(p.Queries)-4:]
		rho := 0.0
		for i, q := range last {
			kind, values, delta, part := KindPicture, 3*256, math.Sqrt2, 0.8/3
			if i == 0 {
				kind, values, delta, part = KindScores, 3*32, math.Sqrt(6), 0.2
			}
			if q.Kind != kind || q.Values != values || q.Branch != "" || i > 0 && q.Round != i-1 || p.Ends(q.Index) != (i == 3) {
				t.Errorf("%s: query %d is %+v", more, i, q)
			}
			if got, want := p.Sensitivity(q, 0), 2*0x1p16*delta; !(got >= want) || got > want*(1+1e-12) {
				t.Errorf("%s has Δ = %v, want %v", q.Kind, got, want)
			}
			if got := q.Rho / p.Rho; math.Abs(got-0.1*part) > 1e-3*part {
				t.Errorf("%s: %s takes %v of the budget, want %v", more, q.Kind, got, 0.1*part)
			}
			rho += q.Rho
		}
		if got := rho / p.Rho; p.Proposal.Spec.Method != MethodAuto && math.Abs(got-0.1) > 1e-3 {
			t.Errorf("%s: pictures take %v of the budget", more, got)
		}
		if before := p.Queries[len(p.Queries)-5]; before.Kind != KindTotal {
			t.Errorf("%s: before pictures comes %s", more, before.Kind)
		}
	}
	if _, err := plan(t, with(pictured, `picture_by = "site"`), slices.Repeat([]int{10}, 65)...); err != nil {
		t.Errorf("65 sites: %v", err)
	}
}

// picturedRun is a course of a study up to its picture, and its releases.
func picturedRun(t *testing.T, text string) (*Plan, []byte, Course, []Release, []SignedRelease) {
	t.Helper()
	p, body, releases, signed := runStudy(t, text, false)
	c := p.Start()
	for i, r := range releases {
		if r.Kind == KindPicture {
			return p, body, c, releases, signed
		}
		var err error
		if c, err = p.Next(c, r, releases[:i]); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("there is no picture")
	return nil, nil, Course{}, nil, nil
}

// TestDeviationsAreChecked: agents refuse a grid that does not follow from the releases they hold,
// and one that no score can be divided by; ctx binds it.
func TestDeviationsAreChecked(t *testing.T) {
	p, _, c, releases, _ := picturedRun(t, pictured)
	good, err := p.NewAsk(c, c.Query, 0)
	if err == nil {
		err = errors.Join(p.Check(good), p.CheckCourse(c, good))
	}
	if err != nil {
		t.Fatal(err)
	}
	change := func(v float64) func(*Ask) {
		return func(a *Ask) { a.Deviations = slices.Clone(a.Deviations); a.Deviations[1] = v }
	}
	for name, bad := range map[string]struct {
		change func(*Ask)
		check  bool // Check refuses it, else CheckCourse alone
	}{
		"none":          {func(a *Ask) { a.Deviations = nil }, true},
		"one":           {func(a *Ask) { a.Deviations = a.Deviations[:1] }, true},
		"0":             {change(0), true},
		"below 0":       {change(-1), true},
		"not a number":  {change(math.NaN()), true},
		"infinite":      {change(math.Inf(1)), true},
		"too small":     {change(0x1p-301), true},
		"another":       {change(good.Deviations[1] * (1 + 1e-8)), false},
		"a narrow one":  {change(good.Deviations[1] / 1000), false},
		"another order": {func(a *Ask) { a.Deviations = []float64{a.Deviations[1], a.Deviations[0]} }, false},
	} {
		a := good
		bad.change(&a)
		check, course := p.Check(a), p.CheckCourse(c, a)
		if _, ok := errors.AsType[*MismatchError](course); !ok || (check != nil) != bad.check {
			t.Errorf("%s: Check says %v, CheckCourse %v", name, check, course)
		}
		if p.Context([32]byte{}, a) == p.Context([32]byte{}, good) {
			t.Errorf("%s: has the same context", name)
		}
	}
	for _, r := range releases {
		a := r.Ask(0)
		if a.Kind == KindScores || a.Kind == KindPicture {
			continue
		}
		if a.Deviations = good.Deviations; p.Check(a) == nil {
			t.Errorf("deviations in %s are accepted", a.Kind)
		}
	}
}

// TestPictureIsOfTheResult: what scores are counted along are the result's components, in its order
// and with its signs, within the roots of its variances.
func TestPictureIsOfTheResult(t *testing.T) {
	for name, text := range studies {
		if !strings.Contains(text, "picture = true") {
			continue
		}
		p, body, c, releases, signed := picturedRun(t, text)
		r := signResult(t, body, signed)
		for l, x := range r.Components {
			if !nearVector(x, c.X[l*p.D:(l+1)*p.D]) {
				t.Errorf("%s: component %d is %v, scores are along %v", name, l, x, c.X[l*p.D:(l+1)*p.D])
			}
			if want := math.Sqrt(r.ExplainedVariance[l]); math.Abs(c.Deviations[l]-want) > 1e-9*want {
				t.Errorf("%s: deviation %d is %v, the root of the variance %v", name, l, c.Deviations[l], want)
			}
			h := r.Scores[l]
			if h.Component != l+1 || len(h.Edges) != 33 || len(h.Counts) != 32 || math.Abs(h.Edges[32]-4*c.Deviations[l]) > 1e-9 || math.Abs(h.Edges[16]) > 1e-12 {
				t.Errorf("%s: scores of component %d: %+v", name, l, h)
			}
			if n := float64(p.N); math.Abs(h.Counts[16+l]-n) > 6*h.Sigma {
				t.Errorf("%s: %v units in the bin where all of %v are", name, h.Counts[16+l], n)
			}
		}
		for i, picture := range r.Pictures {
			q := p.Queries[len(p.Queries)-len(r.Pictures)+i]
			x, y := p.Pair(q)
			if picture.Pair != [2]int{x + 1, y + 1} || len(picture.X) != 17 || len(picture.Y) != 17 || picture.X[16] != 4*c.Deviations[x] || picture.Y[0] != -4*c.Deviations[y] {
				t.Errorf("%s: picture %d: %+v", name, i, picture)
			}
			if got := picture.Counts[0][(8+x)*16+8+y]; math.Abs(got-float64(p.N)) > 6*picture.Sigma {
				t.Errorf("%s: %v units in the bin where all of %d are", name, got, p.N)
			}
			sigma := releases[q.Index-len(p.Queries)+len(releases)].Spread() * 0x1p-16
			if picture.Sigma != sigma || picture.By != p.Proposal.Spec.PictureBy {
				t.Errorf("%s: picture %d is by %q with σ = %v, want %v", name, i, picture.By, picture.Sigma, sigma)
			}
			groups := map[string][]string{"": nil, PictureBySite: r.Sites, PictureByColumn: {"y", "n", "x", "other"}}[picture.By]
			if picture.By == PictureByColumn {
				groups = append(slices.Clone(p.Proposal.Spec.Columns[p.pictureColumn()].Levels), "other")
			}
			if !slices.Equal(picture.Groups, groups) || len(picture.Counts) != max(1, len(groups)) {
				t.Errorf("%s: groups are %q, want %q", name, picture.Groups, groups)
			}
		}
		if (p.Proposal.Spec.PictureBy == PictureBySite) != strings.Contains(r.PictureNote, "blocks are not authenticated") || r.PictureNote == "" {
			t.Errorf("%s: the note is %q", name, r.PictureNote)
		}
	}
}

// TestWeakVariance: a variance that noise made small, or negative, has a grid that is too wide.
func TestWeakVariance(t *testing.T) {
	p, _, c, releases, _ := picturedRun(t, with(pictured, `unit = "patient"`))
	i := slices.IndexFunc(releases, func(r Release) bool { return r.Kind == KindVariance })
	r := releases[i]
	c.Query = r.Query
	r.Noised = []int64{-5, 1 << 30}
	next, err := p.Next(c, r, releases[:i])
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt(2 * r.Tau() / c.PerUnit); math.Abs(next.Deviations[1]-want) > 1e-12*want || !(c.PerUnit > 1.5) {
		t.Errorf("deviations are %v, want %v for what is noise", next.Deviations, want)
	}
	if want := math.Sqrt(r.Z()[1] / c.PerUnit); math.Abs(next.Deviations[0]-want) > 1e-12*want || !slices.Equal(next.X[:p.D], orient(r.X[p.D:])) {
		t.Errorf("the stronger component has the deviation %v, want %v", next.Deviations[0], want)
	}
}

// TestSitesThatWereAway: of sites that are not in the sum a picture has no group.
func TestSitesThatWereAway(t *testing.T) {
	p, _, c, releases, _ := picturedRun(t, with(pictured, `picture_by = "site"`))
	at := slices.IndexFunc(releases, func(r Release) bool { return r.Kind == KindPicture })
	a, err := p.NewAsk(c, at, 0)
	if err != nil {
		t.Fatal(err)
	}
	noised := make([]int64, 5*256)
	for i := range noised {
		noised[i] = int64(i/256) << 16
	}
	if releases[at], err = p.NewRelease(a, []int{0, 1, 3, 4}, noised); err != nil {
		t.Fatal(err)
	}
	r, err := NewResult(p, releases)
	if err != nil {
		t.Fatal(err)
	}
	picture := r.Pictures[0]
	if want := []string{r.Sites[0], r.Sites[1], r.Sites[3], r.Sites[4]}; !slices.Equal(picture.Groups, want) || len(picture.Counts) != 4 || picture.Counts[2][0] != 3 {
		t.Errorf("groups are %q of %d, the third holds %v", picture.Groups, len(picture.Counts), picture.Counts[2][0])
	}
}

// TestVerifyRefusesOtherPictures: pictures are computed anew from what was signed, and what was
// signed follows from the releases before.
func TestVerifyRefusesOtherPictures(t *testing.T) {
	_, body, _, releases, signed := picturedRun(t, with(pictured, `picture_by = "site"`))
	result := signResult(t, body, signed)
	file := func(r *Result) []byte {
		input, err := r.signingInput()
		if err != nil {
			t.Fatal(err)
		}
		r.Signature = ed25519.Sign(signer, input)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	v, err := Verify(file(result))
	if err != nil {
		t.Fatal(err)
	}
	if rows := fmt.Sprint(v.Rows()); !strings.Contains(rows, "blocks are not authenticated") {
		t.Errorf("verify does not say whose blocks they are: %s", rows)
	}
	change := func(r *Result, f func(*Picture)) {
		r.Pictures = slices.Clone(r.Pictures)
		f(&r.Pictures[0])
	}
	for what, changes := range map[string][]func(*Result){
		"pictures_": {
			func(r *Result) { r.Pictures = nil },
			func(r *Result) {
				change(r, func(p *Picture) {
					p.Counts = slices.Clone(p.Counts)
					p.Counts[0], p.Counts[1] = p.Counts[1], p.Counts[0]
				})
			},
			func(r *Result) {
				change(r, func(p *Picture) { p.Groups = slices.Clone(p.Groups); p.Groups[0] = "elsewhere" })
			},
			func(r *Result) { change(r, func(p *Picture) { p.X = slices.Clone(p.X); p.X[3] *= 1.001 }) },
			func(r *Result) { change(r, func(p *Picture) { p.Sigma /= 2 }) },
			func(r *Result) { change(r, func(p *Picture) { p.By = "" }) },
		},
		"score_histograms_": {
			func(r *Result) { r.Scores = r.Scores[:1] },
			func(r *Result) { r.Scores = slices.Clone(r.Scores); r.Scores[0].Component = 2 },
		},
		"picture_note": {func(r *Result) { r.PictureNote = "as it is" }},
	} {
		for _, f := range changes {
			bad := *result
			f(&bad)
			_, err := Verify(file(&bad))
			if wrong, ok := errors.AsType[*VerifyError](err); !ok || wrong.What != what {
				t.Errorf("%s was changed: %v", what, err)
			}
		}
	}
	// A release on another grid, signed again.
	at := len(releases) - 1
	other := releases[at]
	other.Deviations = []float64{other.Deviations[0] / 64, other.Deviations[1]}
	bad := *result
	bad.Signed = append(slices.Clone(signed[:at]), signRelease(t, other))
	bad.Releases = append(slices.Clone(releases[:at]), other)
	if _, err := Verify(file(&bad)); err == nil || !strings.Contains(err.Error(), "deviations") {
		t.Errorf("a release on another grid: %v", err)
	}
}
