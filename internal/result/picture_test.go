package result

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestPictureIsOfTheResult: what scores are counted along are the result's components, in its order
// and with its signs, within the roots of its variances.
func TestPictureIsOfTheResult(t *testing.T) {
	all := maps.Clone(texts.Studies)
	all["pictures of filled rows"] = texts.With(texts.Pictured, `missing = "fill"`)
	joined := false
	for name, text := range all {
		if !strings.Contains(text, "picture = true") {
			continue
		}
		p, body, c, releases := runs.RunPictured(t, text)
		signed := signReleases(t, releases)
		r := signResult(t, body, signed)
		for l, x := range r.Components {
			if !study.NearVector(x, c.X[l*p.D:(l+1)*p.D]) {
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
			x, y := p.Pictures.Pair(q)
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
			groups := map[string][]string{"": nil, proposal.PictureBySite: r.Sites}[picture.By]
			if picture.By == proposal.PictureByColumn { // what is joined has no group
				column := p.Proposal.Spec.Columns[1]
				out := func(level string) bool {
					return slices.ContainsFunc(r.LeftOut, func(l LeftOut) bool { return l.Column == column.Name+"="+level })
				}
				groups = append(slices.DeleteFunc(slices.Clone(column.Levels), out), "other")
				joined = joined || len(groups) == len(column.Levels) && strings.Contains(r.PictureNote, "left_out_")
			}
			if !slices.Equal(picture.Groups, groups) || len(picture.Counts) != max(1, len(groups)) {
				t.Errorf("%s: groups are %q, want %q", name, picture.Groups, groups)
			}
		}
		if (p.Proposal.Spec.PictureBy == proposal.PictureBySite) != strings.Contains(r.PictureNote, "blocks are not authenticated") || r.PictureNote == "" {
			t.Errorf("%s: the note is %q", name, r.PictureNote)
		}
	}
	if !joined {
		t.Error("no level is joined")
	}
}

// TestSitesThatWereAway: of sites that are not in the sum a picture has no group.
func TestSitesThatWereAway(t *testing.T) {
	p, _, c, releases := runs.RunPictured(t, texts.With(texts.Pictured, `picture_by = "site"`))
	at := slices.IndexFunc(releases, func(r study.Release) bool { return r.Kind == study.KindPicture })
	a, err := p.NewAsk(c, at)
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
	r, err := New(p, releases)
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
	_, body, _, releases := runs.RunPictured(t, texts.With(texts.Pictured, `picture_by = "site"`))
	signed := signReleases(t, releases)
	result := signResult(t, body, signed)
	v, err := Verify(resealed(t, result))
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
			_, err := Verify(resealed(t, &bad))
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
	bad.Signatures = append(signatures(signed[:at]), signRelease(t, other).Signature)
	bad.Releases = append(slices.Clone(releases[:at]), other)
	if _, err := Verify(resealed(t, &bad)); err == nil || !strings.Contains(err.Error(), "deviations") {
		t.Errorf("a release on another grid: %v", err)
	}
}

// TestPicturesThatAreNotShownAreSaid: a study that finds fewer components than it has pictures of
// has paid for these all the same.
func TestPicturesThatAreNotShownAreSaid(t *testing.T) {
	pair := study.Release{Kind: study.KindPicture}
	for _, c := range []struct {
		r     Result
		wants []string
	}{
		{Result{}, nil},
		{Result{Releases: []study.Release{pair}, Pictures: []Picture{{Pair: [2]int{1, 2}}}}, []string{"on components 1 and 2"}},
		{Result{Releases: []study.Release{pair, pair}, Pictures: []Picture{{Pair: [2]int{1, 2}}}}, []string{"on components 1 and 2", "1 of 2 pictures that were asked for are not shown"}},
		{Result{Releases: []study.Release{pair}}, []string{"1 of 1 pictures that were asked for are not shown"}},
	} {
		text := c.r.PictureText()
		for _, want := range c.wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q lacks %q", text, want)
			}
		}
		if (text == "") != (c.wants == nil) || strings.Contains(text, "not shown") != (len(c.r.Releases) > len(c.r.Pictures)) {
			t.Errorf("%q", text)
		}
	}
}
