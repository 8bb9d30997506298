package worth

import (
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
)

// TestShortRowsAreSaidWhereTrue: noise is blamed only where it is why lengths do not count, and no
// sphere where a covariance found the components.
func TestShortRowsAreSaidWhereTrue(t *testing.T) {
	falling := append([]float64{2, 1}, slices.Repeat([]float64{0.1}, 14)...)
	for name, c := range map[string]struct {
		rows, method string
		n            int
		noise, asked bool
	}{
		"asked, many": {proposal.RowsSphere, proposal.MethodPower, 600_000, false, true},
		"auto, many":  {proposal.RowsAuto, proposal.MethodPower, 600_000, false, false},
		"auto, few":   {proposal.RowsAuto, proposal.MethodPower, 5000, true, false},
		"plain":       {proposal.RowsPlain, proposal.MethodPower, 6000, false, false},
		"covariance":  {"", proposal.MethodCovariance, 600_000, false, false},
	} {
		s := spec(16, 1, c.method)
		s.Rows = c.rows
		p, r := law{second: diagonal(falling...), radius: 8, rng: seeded(22)}.run(t, s, c.n)
		got := of(t, p, r)
		groups := says(got, "in groups with different averages")
		if got.Share == nil || says(got, "Noise is the limit here") != c.noise || says(got, "as asked (rows") != c.asked || groups != (c.noise || c.asked) {
			t.Errorf("%s, ι = %.2g: %q", name, p.Iota, got.Sentences)
		}
	}
}

// TestNoBoundIsNotCompared: where nothing stands out there are no bounds to be farther off than.
func TestNoBoundIsNotCompared(t *testing.T) {
	s := spec(16, 1, proposal.MethodPower)
	s.Rows, s.Epsilon = proposal.RowsSphere, 0.01
	p, r := law{second: diagonal(slices.Repeat([]float64{1}, 16)...), radius: 8, rng: seeded(23)}.run(t, s, 2400)
	if got := of(t, p, r); got.Share != nil || got.Uncalibrated != "" || says(got, "these bounds") {
		t.Errorf("%q", got.Sentences)
	}
}

// TestOutputIsExplained: components that are not the last round's answer are said not to be, and a
// covariance has no rounds to be unfinished.
func TestOutputIsExplained(t *testing.T) {
	for output, want := range map[string]string{proposal.OutputPooled: "is pooled", proposal.OutputRandom: "at random", proposal.OutputLast: ""} {
		s := spec(6, 1, proposal.MethodPower)
		s.Output = output
		p, r := law{second: diagonal(4, 1, 1, 1, 1, 1), radius: 8, rng: seeded(9)}.run(t, s, 60_000)
		if got := of(t, p, r); says(got, "The components are not that answer") != (want != "") || !says(got, want) {
			t.Errorf("%s: %q", output, got.Sentences)
		}
	}
	p, r := law{second: diagonal(4, 1, 1, 1, 1, 1), radius: 8, rng: seeded(9)}.run(t, spec(6, 1, proposal.MethodCovariance), 60_000)
	if got := of(t, p, r); !says(got, "noise and sampling)") || says(got, "round") {
		t.Errorf("%q", got.Sentences)
	}
}

// TestComponentsOfAllColumns: what as many components as columns capture is no finding.
func TestComponentsOfAllColumns(t *testing.T) {
	for k, want := range map[int]bool{1: false, 2: true} {
		p, r := law{second: diagonal(2, 1), radius: 8, rng: seeded(22)}.run(t, spec(2, k, proposal.MethodCovariance), 600_000)
		if got := of(t, p, r); got.Share == nil || says(got, "their share says nothing") != want || says(got, "at least 9") == want || strings.HasPrefix(got.Verdict(r).Headline, "At least") == want {
			t.Errorf("%d of 2: %q", k, got.Sentences)
		}
		p, r = law{second: diagonal(2, 1), radius: 8, rng: seeded(22)}.run(t, spec(2, k, proposal.MethodPower), 600_000)
		if got := of(t, p, r); len(got.Moved) == 0 || says(got, "The last round turned the answer by") == want {
			t.Errorf("%d of 2 by power iteration: %q", k, got.Sentences)
		}
		s := spec(2, k, proposal.MethodPower)
		s.Rows = proposal.RowsSphere
		p, r = law{second: diagonal(0.7, 0.3), radius: 8, rng: seeded(22)}.run(t, s, 600_000)
		if got := of(t, p, r); got.Share == nil || !says(got, "in groups with different averages") || says(got, "capture 1% less") == want {
			t.Errorf("%d of 2 on the sphere: %q", k, got.Sentences)
		}
	}
	// The study asks about both columns, and finds one component.
	s := spec(2, 1, proposal.MethodPower)
	s.Components, s.ComponentsMax, s.ExplainedVariance = proposal.ComponentsAuto, 2, proposal.VariancePrivate
	p, r := law{second: diagonal(2, 0.1), radius: 8, rng: seeded(22)}.run(t, s, 600_000)
	if got := of(t, p, r); r.K != 1 || len(got.Moved) == 0 || says(got, "The last round turned the answer by") {
		t.Errorf("%d of at most 2 by power iteration: %q", r.K, got.Sentences)
	}
}

// TestBlindGuessIsSaid: of few columns, or of many components, any directions capture much: k/d of
// the total.
func TestBlindGuessIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		k      int
		method string
		want   string
		little bool
	}{
		"flat":                  {[]float64{1, 1, 1, 1}, 3, proposal.MethodCovariance, "A blind guess captures about 99.", true},
		"many":                  {[]float64{3, 1, 1, 1}, 3, proposal.MethodCovariance, "A blind guess captures about ", false},
		"few":                   {[]float64{8, 1, 1, 1, 1, 1}, 1, proposal.MethodCovariance, "", false},
		"many, power iteration": {[]float64{3, 1, 1, 1}, 3, proposal.MethodPower, "A blind guess captures about ", false},
		"few, power iteration":  {[]float64{4, 1, 1, 1}, 1, proposal.MethodPower, "", false},
	} {
		s := spec(len(c.values), c.k, c.method)
		s.ExplainedVariance = proposal.VariancePrivate
		p, r := law{second: diagonal(c.values...), radius: 8, rng: seeded(51)}.run(t, s, 60_000)
		got := of(t, p, r)
		first, total := 0.0, 0.0
		for i, v := range c.values {
			if total += v; i < c.k {
				first += v
			}
		}
		right := float64(c.k) / float64(len(c.values)) * total / first
		if got.Share == nil || math.Abs(got.Share.Blind-right) > 0.03 {
			t.Errorf("%s: %+v, want a blind guess of %.3f", name, got.Share, right)
			continue
		}
		doubts := strings.Join(got.Verdict(r).Doubts, "\n")
		if says(got, "A blind guess") != (c.want != "") || !says(got, c.want) || says(got, "says little") != c.little || strings.Contains(doubts, "says little") != c.little {
			t.Errorf("%s: %q, doubts %q", name, got.Sentences, doubts)
		}
	}
}

// TestGivenStartIsSaid: a component that rounds hardly turn agrees with its start whatever the rows
// show. The second of these is any of three equal ones, and starts at one of them.
func TestGivenStartIsSaid(t *testing.T) {
	s := spec(4, 2, proposal.MethodPower)
	s.Start, s.Rounds = &proposal.Start{Vectors: []float64{1, 0, 0, 0, 0, 1, 0, 0}}, 2
	p, r := law{second: diagonal(3, 1, 1, 1), radius: 8, rng: seeded(41)}.run(t, s, 6_000_000)
	if got := of(t, p, r); !says(got, "The components are within 0.") || !says(got, "may be the start") {
		t.Errorf("%q", got.Sentences)
	}
	r.Components = [][]float64{{1, 0, 0, 0}, {0, math.Cos(0.0005), math.Sin(0.0005), 0}} // 0.029 degrees
	if got := of(t, p, r); !says(got, "The components are within 0.1 degrees") {
		t.Errorf("rounded down: %q", got.Sentences)
	}
	auto := spec(4, 2, proposal.MethodAuto)
	auto.Start = s.Start
	p, r = law{second: diagonal(3, 1, 1, 1), radius: 8, rng: seeded(41)}.run(t, auto, 6_000_000)
	if got := of(t, p, r); r.Method != proposal.MethodCovariance || says(got, "may be the start") {
		t.Errorf("%s: %q", r.Method, got.Sentences)
	}
	s.Start = nil
	p, r = law{second: diagonal(3, 1, 1, 1), radius: 8, rng: seeded(41)}.run(t, s, 6_000_000)
	if got := of(t, p, r); says(got, "may be the start") {
		t.Errorf("%q", got.Sentences)
	}
}

// TestSitesApartAreSaid: what sites differ by can be components, as many as there are sites, or one
// less about the mean of all, and nothing released shows it. Pairs are of one site.
func TestSitesApartAreSaid(t *testing.T) {
	for _, c := range []struct {
		center string
		k      int
		want   string
	}{
		{proposal.CenterPrivate, 1, "this component can be how sites differ"},
		{proposal.CenterPrivate, 3, "up to 2 of these components can be"},
		{proposal.CenterPublic, 3, "up to 3 of these components can be"},
		{proposal.CenterPrivate, 2, "up to 2 of these components can be"},
		{proposal.CenterPairs, 2, ""},
		{proposal.CenterPrivate, 4, ""},
	} {
		s := spec(4, c.k, proposal.MethodCovariance)
		s.Center = c.center
		p, r := law{second: diagonal(3, 2, 1, 0.5), radius: 8, rng: seeded(43)}.run(t, s, 60_000)
		if got := of(t, p, r); says(got, "how sites differ") != (c.want != "") || c.want != "" && !says(got, c.want) {
			t.Errorf("%s, %d of 4: %q", c.center, c.k, got.Sentences)
		}
	}
}

// TestRepeatedRowsAreSaid: bounds are those of independent rows, and nothing released shows whether
// rows are that. Without bounds there is nothing to be too good.
func TestRepeatedRowsAreSaid(t *testing.T) {
	s := spec(4, 1, proposal.MethodCovariance)
	p, r := law{second: diagonal(3, 1, 1, 1), radius: 8, rng: seeded(42)}.run(t, s, 60_000)
	if got := of(t, p, r); got.Share == nil || !says(got, repeatsSentence) {
		t.Errorf("%q", got.Sentences)
	}
	r.Unit = "patient"
	if got := of(t, p, r); got.Share != nil || says(got, repeatsSentence) {
		t.Errorf("with a unit: %q", got.Sentences)
	}
}

// TestPercent: a share is shown to a tenth of a percent and never rounded up.
func TestPercent(t *testing.T) {
	for v, want := range map[float64]string{0: "0.0%", 0.57: "57.0%", 0.9899: "98.9%", 0.99996: "99.9%", 1: "100.0%"} {
		if got := percent(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// TestOrderInDoubtIsSaid: noised variances decide how components are listed, and may put two that
// are told apart into another order than the covariance or the rounds that found them.
func TestOrderInDoubtIsSaid(t *testing.T) {
	steep, turned := diagonal(3, 2, 0.1, 0.1), diagonal(2, 3, 0.1, 0.1)
	for name, c := range map[string]struct {
		law    law
		method string
		want   string
	}{
		"covariance":                {law{second: steep, whole: turned}, proposal.MethodCovariance, "the covariance that they were found in puts them in another order (2, 1)"},
		"covariance, in order":      {law{second: steep, whole: steep}, proposal.MethodCovariance, ""},
		"covariance, equal":         {law{second: diagonal(2, 2, 0.1, 0.1), whole: turned}, proposal.MethodCovariance, ""},
		"power iteration":           {law{second: steep, whole: turned}, proposal.MethodPower, "the rounds that found them put them in another order (2, 1)"},
		"power iteration, in order": {law{second: steep, whole: steep}, proposal.MethodPower, ""},
	} {
		s := spec(4, 2, c.method)
		s.ExplainedVariance = proposal.VariancePrivate
		c.law.radius, c.law.rng = 8, seeded(31)
		p, r := c.law.run(t, s, 60_000)
		got := of(t, p, r)
		doubts := strings.Join(got.Verdict(r).Doubts, "\n")
		if got.Share == nil || says(got, "in another order") != (c.want != "") || !says(got, c.want) || !strings.Contains(doubts, c.want) {
			t.Errorf("%s: %q, doubts %q, variances %v", name, got.Sentences, doubts, r.ExplainedVariance)
		}
	}
}

// TestGroupsAreSaidOnce: components of a group need not be neighbors, since they are ordered by
// their noised variances.
func TestGroupsAreSaidOnce(t *testing.T) {
	p, _ := planned(t, spec(5, 4, proposal.MethodCovariance), 6000)
	out, angle := &Report{Share: &Share{Estimate: 0.99, Lower: 0.98}}, 20.0
	for i, group := range [][]int{{1, 3}, {2, 4}, {1, 3}, {2, 4}} {
		out.Components = append(out.Components, Component{Number: i + 1, Group: group, GroupAngle: &angle})
	}
	out.say(p, &result.Result{N: 6000, D: 5, K: 4}, "")
	for _, text := range []string{"Components 1 and 3 ", "Components 2 and 4 "} {
		if n := strings.Count(strings.Join(out.Sentences, "\n"), text); n != 1 {
			t.Errorf("%q is said %d times: %q", text, n, out.Sentences)
		}
	}
}
