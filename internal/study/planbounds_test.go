package study

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"covey/internal/layout"
	"covey/internal/proposal"
	"covey/internal/query"
	"covey/test/texts"
)

// TestAnswersAreNotTooLong: as many numbers as a message holds are planned, and one more is refused
// with the key of study.toml that makes them so many.
func TestAnswersAreNotTooLong(t *testing.T) {
	for _, c := range []struct {
		method  string
		d, most int
		set     func(p *Plan, n int)
		field   string
	}{
		{proposal.MethodPower, 1, proposal.MaxValues, func(p *Plan, n int) { p.block = n }, "components"},
		{proposal.MethodCovariance, 0, proposal.MaxCovariance, func(p *Plan, n int) { p.D = n }, "method"},
		{proposal.MethodPower, 2, proposal.MaxValues / (query.PictureBins * query.PictureBins), func(p *Plan, n int) {
			p.Proposal.Spec.Picture, p.Pictures.Groups = true, make([]string, n)
		}, "picture_by"},
		{proposal.MethodPower, 2, proposal.MaxValues / KindTree.Definition().Values(1, 0), func(p *Plan, n int) {
			p.Proposal.Spec.Standardize, p.Layout, p.Learning.Score = proposal.StandardizePrivate, layout.Of(proposal.Spec{Columns: make([]proposal.Column, n)}), 1e9
		}, "standardize"},
	} {
		for more := range 2 {
			p := mustPlan(t, texts.Minimal, 1000, 1000, 1000)
			p.D, p.Method.Name = c.d, c.method
			c.set(p, c.most+more)
			err := errors.Join((&planner{p}).checkScore(), (&planner{p}).checkValues())
			if named := err != nil && strings.Contains(err.Error(), c.field+": "); named != (more > 0) || (err != nil) != (more > 0) {
				t.Errorf("%s of %d, at most %d: %v", c.field, c.most+more, c.most, err)
			}
		}
	}
}

// TestTooManyQueries: a study of more queries than it has slots is told so, even where δ would not
// be enough for their checks.
func TestTooManyQueries(t *testing.T) {
	text := strings.NewReplacer("delta = 1e-6", "delta = 1e-15").Replace(texts.With(texts.Four, "rounds = 500", "components = 40", `subspace = "deflation"`, `method = "power"`))
	for i := range 40 {
		text += fmt.Sprintf("[[columns]]\nname = \"more-%d\"\noffset = 0.0\nscale = 1.0\n", i)
	}
	if _, err := plan(t, text, 90_000, 90_000, 90_000); err == nil || !strings.Contains(err.Error(), "spare_slots: ") {
		t.Error(err)
	}
}

// TestPlanBounds: what each line asks for fits no plan over this roster, and the error names it.
func TestPlanBounds(t *testing.T) {
	for _, c := range []struct {
		line  string
		units int
		want  string
	}{
		{"method = \"power\"\nalpha = 1e-3", 1000, "alpha: gives "},
		{fmt.Sprint("spare_slots = ", proposal.MaxSlots), 1000, "spare_slots: "},
		{"radius = \"paper\"\nlambda = 1e60", 1000, "lambda: gives a radius outside"},
		{"center = \"pairs\"", 1, "center: \"pairs\" needs two units"},
	} {
		text := texts.Minimal
		if strings.HasPrefix(c.line, "center") {
			text = strings.Replace(text, "center = \"public\"\n", "", 1)
		}
		_, err := plan(t, strings.Replace(text, "[[columns]]", c.line+"\n[[columns]]", 1), c.units, c.units, c.units)
		if _, ok := errors.AsType[*proposal.FieldError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.line, err, c.want)
		}
	}
}
