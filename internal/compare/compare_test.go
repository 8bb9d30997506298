package compare

import (
	"crypto/ed25519"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/worth"
)

// resultOf is one of four columns at three sites, with the components given.
func resultOf(t *testing.T, change func(*proposal.Spec), nonce byte, sites []string, components ...[]float64) *result.Result {
	t.Helper()
	s := proposal.Spec{Name: "compared", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Method: proposal.MethodCovariance, Center: proposal.CenterPrivate, Components: proposal.Components(len(components))}
	for _, name := range []string{"a", "b", "c", "d"} {
		s.Columns = append(s.Columns, proposal.Column{Name: name, Scale: 1})
	}
	change(&s)
	var roster []proposal.Member
	for i, name := range sites {
		key := ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i+1))).Public().(ed25519.PublicKey)
		roster = append(roster, proposal.Member{Name: name, Identity: proposal.Key(key), Units: 1000})
	}
	body, err := proposal.Propose(s, roster, ed25519.PublicKey(roster[0].Identity), [32]byte{nonce})
	if err != nil {
		t.Fatal(err)
	}
	r := &result.Result{Digest: proposal.DigestOf(body), D: 4, K: len(components), Components: components, Sites: sites, Center: s.Center, Method: s.Method, Proposal: body}
	for _, c := range s.Columns {
		r.Columns = append(r.Columns, c.Name)
	}
	return r
}

func same(*proposal.Spec) {}

var three = []string{"east", "north", "west"}

// unit is the direction in the plane of the first two columns at so many degrees.
func unit(degrees float64) []float64 {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return []float64{cos, sin, 0, 0}
}

// separated returns a report in which each component stands apart, within a bound of its angle.
func separated(bound float64, k int) *worth.Report {
	out := &worth.Report{}
	for i := range k {
		out.Components = append(out.Components, worth.Component{Number: i + 1, Group: []int{i + 1}, Separated: true, Angle: &bound})
	}
	return out
}

// tied returns one in which components 1 and 2 do not, with a bound of their plane.
func tied(bound float64) *worth.Report {
	c := worth.Component{Number: 1, Group: []int{1, 2}, GroupAngle: &bound}
	d := c
	d.Number = 2
	return &worth.Report{Components: []worth.Component{c, d}}
}

func compared(t *testing.T, a, b *result.Result, ofA, ofB *worth.Report) *Report {
	t.Helper()
	out, err := Of(a, b, ofA, ofB)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFlippedAndSwapped(t *testing.T) {
	flipped := unit(90 + 180 + 3)
	a, b := resultOf(t, same, 1, three, unit(0), unit(90)), resultOf(t, same, 2, three, flipped, unit(3))
	got := compared(t, a, b, separated(2.2, 2), separated(2, 2))
	first, second := got.Pairs[0], got.Pairs[1]
	if first.A != 1 || first.B != 2 || first.Flipped || second.B != 1 || !second.Flipped {
		t.Fatalf("%+v", got.Pairs)
	}
	for _, p := range got.Pairs {
		if math.Abs(p.Angle-3) > 1e-9 || p.Interval[0] != 0 || math.Abs(p.Interval[1]-7.2) > 1e-9 || p.Words != "cannot tell them apart; they may differ by up to 8 degrees" {
			t.Errorf("%+v", p)
		}
	}
}

// TestAnglesThatMustBeZero: planes of three columns share a line, and what spans all columns is all
// the same. Neither shows that studies agree.
func TestAnglesThatMustBeZero(t *testing.T) {
	sin, cos := math.Sincos(1)
	for _, c := range []struct {
		a, b    [][]float64
		leftOut int
		want    string
	}{
		{[][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}}, [][]float64{{cos, sin, 0, 0}, {0, 0, 1, 0}}, 0, ""},
		{[][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}}, [][]float64{{cos, sin, 0, 0}, {0, 0, 1, 0}}, 1, "With 2 components of 3 columns, 1 of the principal angles must be 0, whatever the rows"},
		{[][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}}, [][]float64{{cos, sin, 0, 0}, {-sin, cos, 0, 0}}, 2, "all principal angles are 0, whatever the rows"},
		{[][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, [][]float64{{cos, sin, 0, 0}, {-sin, cos, 0, 0}, {0, 0, 0, 1}}, 0, "With 3 components of 4 columns, 2 of the principal angles must be 0"},
	} {
		a, b := resultOf(t, same, 1, three, c.a...), resultOf(t, same, 2, three, c.b...)
		for j := range c.leftOut {
			out := result.LeftOut{Column: a.Columns[3-j]}
			a.LeftOut, b.LeftOut = append(a.LeftOut, out), append(b.LeftOut, out)
		}
		notes := strings.Join(compared(t, a, b, separated(1, a.K), separated(1, b.K)).Notes, " ")
		if strings.Contains(notes, "whatever the rows") != (c.want != "") || !strings.Contains(notes, c.want) {
			t.Errorf("%d of 4, %d left out: %q", a.K, c.leftOut, notes)
		}
	}
}

// TestFewerComponents: the nearest are paired whatever their signs and numbers, in A's order, and
// what has no partner is said.
func TestFewerComponents(t *testing.T) {
	one := resultOf(t, same, 1, three, unit(0))
	two := resultOf(t, same, 2, three, unit(190), unit(100))
	for _, c := range []struct {
		a, b *result.Result
		of   string
	}{{one, two, "One has 1 component, the other 2"}, {two, one, "One has 2 components, the other 1"}} {
		got := compared(t, c.a, c.b, separated(1, c.a.K), separated(1, c.b.K))
		if len(got.Pairs) != 1 || got.Pairs[0].A != 1 || got.Pairs[0].B != 1 || !got.Pairs[0].Flipped || math.Abs(got.Pairs[0].Angle-10) > 1e-9 ||
			len(got.Principal) != 1 || math.Abs(got.Principal[0]-10) > 1e-9 || !strings.Contains(strings.Join(got.Notes, " "), c.of) {
			t.Errorf("%+v", got)
		}
	}
	sin, cos := math.Sincos(math.Pi / 18)
	a := resultOf(t, same, 3, three, []float64{1, 0, 0, 0}, []float64{0, 1, 0, 0})
	b := resultOf(t, same, 4, three, []float64{0, 1, 0, 0}, []float64{cos, 0, sin, 0})
	if got := compared(t, a, b, separated(1, 2), separated(1, 2)).Pairs; got[0].A != 1 || got[0].B != 2 || got[1].A != 2 || got[1].B != 1 {
		t.Errorf("%+v", got)
	}
}

// TestIntervalsOfAngles: an interval ends at a right angle, and there is none of a component that
// does not stand apart, whatever bound comes with it.
func TestIntervalsOfAngles(t *testing.T) {
	a, b := resultOf(t, same, 1, three, unit(0)), resultOf(t, same, 2, three, unit(80))
	if got := compared(t, a, b, separated(7, 1), separated(8, 1)).Pairs[0].Interval; got == nil || math.Abs(got[0]-65) > 1e-9 || got[1] != 90 {
		t.Errorf("%v", got)
	}
	not := separated(7, 1)
	not.Components[0].Separated = false
	for _, of := range [][2]*worth.Report{{not, separated(8, 1)}, {separated(8, 1), not}, {separated(8, 0), separated(8, 1)}} {
		if got := compared(t, a, b, of[0], of[1]).Pairs[0]; got.Interval != nil || !strings.Contains(got.Words, "not determined") {
			t.Errorf("%+v", got)
		}
	}
}

func TestDifferent(t *testing.T) {
	a, b := resultOf(t, same, 1, three, unit(0)), resultOf(t, same, 2, three, unit(30))
	p := compared(t, a, b, separated(5, 1), separated(10, 1)).Pairs[0]
	if math.Abs(p.Interval[0]-15) > 1e-9 || math.Abs(p.Interval[1]-45) > 1e-9 || p.Words != "they differ, by 15 degrees at least" && p.Words != "they differ, by 14 degrees at least" {
		t.Errorf("%+v", p)
	}
}

// TestNoIntervalsFromAlarms: bounds that a result says not to rely on are no interval's.
func TestNoIntervalsFromAlarms(t *testing.T) {
	a, b := resultOf(t, same, 1, three, unit(0), unit(90)), resultOf(t, same, 2, three, unit(40), unit(130))
	yes, no := true, false
	for _, of := range []func() *worth.Report{func() *worth.Report { return separated(3, 2) }, func() *worth.Report { return tied(3) }} {
		for _, c := range []struct {
			a, b *bool
			want string
		}{{&yes, &no, "In A large"}, {&no, &yes, "In B large"}, {&yes, &yes, "In both results large"}, {&no, nil, ""}} {
			ofA, ofB := of(), of()
			ofA.Alarm, ofB.Alarm = c.a, c.b
			got := compared(t, a, b, ofA, ofB)
			intervals := 0
			for _, p := range got.Pairs {
				if p.Interval != nil {
					intervals++
				}
			}
			for _, s := range got.Spaces {
				if s.Interval != nil {
					intervals++
				}
			}
			if (intervals > 0) != (c.want == "") || strings.Contains(got.Notes[0], "large rows look different") != (c.want != "") || !strings.HasPrefix(got.Notes[0], c.want) {
				t.Errorf("%s: %d intervals, %q", c.want, intervals, got.Notes)
			}
		}
	}
}

// TestTurnedTie: two directions of equal variance may come out turned by any angle. Singly nothing
// is said of them; their plane is the same within its bounds, and that is not called the same.
func TestTurnedTie(t *testing.T) {
	a, b := resultOf(t, same, 1, three, unit(0), unit(90)), resultOf(t, same, 2, three, unit(40), unit(130))
	got := compared(t, a, b, tied(3), tied(4))
	for _, p := range got.Pairs {
		if p.Interval != nil || !strings.Contains(p.Words, "no interval is calibrated") {
			t.Errorf("%+v", p)
		}
	}
	if len(got.Spaces) != 1 || got.Spaces[0].Angle > 1e-9 || math.Abs(got.Spaces[0].Interval[1]-7) > 1e-9 || !strings.HasPrefix(got.Spaces[0].Words, "cannot tell them apart") {
		t.Errorf("%+v", got.Spaces)
	}
	// one result's tie alone: its plane has no interval
	if got := compared(t, a, b, tied(3), separated(3, 2)); len(got.Spaces) != 1 || got.Spaces[0].Interval != nil {
		t.Errorf("%+v", got.Spaces)
	}
}

func TestOtherOrderOfColumns(t *testing.T) {
	v := []float64{0.8, 0.6, 0, 0}
	a := resultOf(t, same, 1, three, v)
	b := resultOf(t, func(s *proposal.Spec) { slices.Reverse(s.Columns) }, 1, three, []float64{0, 0, 0.6, 0.8})
	if p := compared(t, a, b, separated(1, 1), separated(1, 1)).Pairs[0]; p.Angle > 1e-6 {
		t.Errorf("%+v", p)
	}
}

func TestRefused(t *testing.T) {
	a := resultOf(t, same, 1, three, unit(0))
	for want, b := range map[string]*result.Result{
		"one study":                a,
		`column "a" is in one`:     resultOf(t, func(s *proposal.Spec) { s.Columns[0].Name = "e" }, 1, three, unit(0)),
		`is divided by 1 in one`:   resultOf(t, func(s *proposal.Spec) { s.Columns[0].Scale = 2 }, 1, three, unit(0)),
		`in "" in one and in "kg"`: resultOf(t, func(s *proposal.Spec) { s.Columns[0].Measure = "kg" }, 1, three, unit(0)),
		"read in two ways":         resultOf(t, func(s *proposal.Spec) { s.Columns[0].As = "boolean" }, 1, three, unit(0)),
		"has another offset":       resultOf(t, func(s *proposal.Spec) { s.Columns[0].Offset, s.Center = 2, proposal.CenterPublic }, 1, three, unit(0)),
		"a learned scale in one": resultOf(t, func(s *proposal.Spec) {
			s.Columns[0].Scale, s.Columns[0].Standardize, s.CentralDetail = 0, proposal.StandardizePrivate, true
		}, 1, three, unit(0)),
		"one has 4 columns, the other": func() *result.Result { r := resultOf(t, same, 3, three, unit(0)); r.D = 3; return r }(),
	} {
		_, err := Of(a, b, separated(1, 1), separated(1, 1))
		if bad, ok := errors.AsType[*Error](err); !ok || !strings.Contains(bad.Reason, want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestOneSiteLess: R34. A site that was away from a sum is not in the components either.
func TestOneSiteLess(t *testing.T) {
	four := append([]string{"south"}, three...)
	of := func(nonce byte, sites []string, survivors ...int) *result.Result {
		r := resultOf(t, same, nonce, sites, unit(0))
		r.Releases = []study.Release{{Kind: study.KindMoment, Survivors: survivors}}
		return r
	}
	b := of(2, four, 0, 1, 2, 3)
	oneSiteLess(t, of(1, three, 0, 1, 2), b)
	oneSiteLess(t, of(4, four, 1, 2, 3), b)
	got := compared(t, of(5, four, 1, 2, 3), of(1, three, 0, 1, 2), separated(1, 1), separated(1, 1))
	if strings.Contains(strings.Join(got.Notes, "\n"), "shows that institution") {
		t.Errorf("%q", got.Notes)
	}
}

func oneSiteLess(t *testing.T, a, b *result.Result) {
	t.Helper()
	got := compared(t, a, b, separated(1, 1), separated(1, 1))
	if !slices.ContainsFunc(got.Notes, func(s string) bool {
		return strings.Contains(s, `one site, "south": what differs between the results shows that institution`)
	}) {
		t.Errorf("%q", got.Notes)
	}
	for _, words := range append(got.Notes, got.Pairs[0].Words) {
		if strings.Contains(words, "are the same") || strings.Contains(words, "no difference") {
			t.Errorf("%q looks better than the truth", words)
		}
	}
}

// TestDifferentChoices: what two studies chose differently is named, and nothing else is.
func TestDifferentChoices(t *testing.T) {
	a := resultOf(t, same, 1, three, unit(0))
	for want, change := range map[string]func(*result.Result, *proposal.Spec){
		"": func(*result.Result, *proposal.Spec) {},
		`The studies differ in method ("covariance" and "power"): part of an angle`: func(r *result.Result, _ *proposal.Spec) { r.Method = proposal.MethodPower },
		// of which a result has nothing
		`The studies differ in what they did with missing values ("error" and "drop-row"): part of an angle`: func(_ *result.Result, s *proposal.Spec) { s.Missing = proposal.MissingDropRow },
		`The studies differ in unit column (none and "who\a"), centering ("private" and "pairs"), what they did with missing values ("error" and "zero"): part of an angle`: func(r *result.Result, s *proposal.Spec) {
			r.Unit, r.Center, s.Missing = "who\a", proposal.CenterPairs, proposal.MissingZero
		},
	} {
		a, b := *a, *resultOf(t, same, 2, three, unit(0))
		a.Method, a.Center = proposal.MethodCovariance, proposal.CenterPrivate
		b.Method, b.Center = a.Method, a.Center
		p, err := study.NewPlan(a.Proposal)
		if err != nil {
			t.Fatal(err)
		}
		q := *p
		change(&b, &q.Proposal.Spec)
		said := strings.Join(notes(&a, &b, p, &q), "\n")
		if strings.Contains(said, "studies differ in") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%q:\n%s", want, said)
		}
	}
}

// TestSphere: rows divided by their norms have other components than the rows, and a covariance is
// of the rows whatever its study would have done with power iteration.
func TestSphere(t *testing.T) {
	of := func(method, rows string, nonce byte) *result.Result {
		r := resultOf(t, func(s *proposal.Spec) { s.Method, s.Rows = proposal.MethodAuto, rows }, nonce, three, unit(0))
		r.Method = method
		return r
	}
	plain, sphere := of(proposal.MethodPower, proposal.RowsPlain, 1), of(proposal.MethodPower, proposal.RowsSphere, 2)
	decided, covariance := of(proposal.MethodCovariance, proposal.RowsSphere, 3), of(proposal.MethodCovariance, proposal.RowsPlain, 4)
	for _, c := range []struct {
		a, b *result.Result
		want string
	}{
		{plain, sphere, `The studies differ in rows ("plain" and "sphere"): part of an angle`},
		{sphere, of(proposal.MethodPower, proposal.RowsSphere, 5), ""},
		{decided, covariance, ""},
	} {
		said := strings.Join(compared(t, c.a, c.b, separated(1, 1), separated(1, 1)).Notes, "\n")
		if strings.Contains(said, "studies differ in") != (c.want != "") || !strings.Contains(said, c.want) {
			t.Errorf("%q:\n%s", c.want, said)
		}
	}
}

// TestPrincipal: angles of spans, small ones to many digits.
func TestPrincipal(t *testing.T) {
	a := [][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}}
	sin, cos := math.Sincos(1e-9)
	got := principal(a, [][]float64{{0, cos, sin, 0}, {cos, 0, 0, sin}})
	for _, v := range got {
		if math.Abs(v*math.Pi/180/1e-9-1) > 1e-6 {
			t.Errorf("%v", got)
		}
	}
	if got := principal(a, [][]float64{{0, 0, 1, 0}, {0, 1, 0, 0}}); math.Abs(got[0]-90) > 1e-9 || got[1] > 1e-9 {
		t.Errorf("%v", got)
	}
}

// TestLevelsInAnotherOrder: levels are found by their names, so that their order makes no angle; a
// level that one alone has is refused.
func TestLevelsInAnotherOrder(t *testing.T) {
	of := func(nonce byte, component []float64, levels ...string) *result.Result {
		r := resultOf(t, func(s *proposal.Spec) {
			s.Columns = []proposal.Column{s.Columns[0], {Name: "kind", Levels: levels}}
			s.CentralDetail = true
		}, nonce, three, component)
		r.Columns = []string{"a"}
		for _, level := range append(levels, proposal.OtherLevel) {
			r.Columns = append(r.Columns, "kind="+level)
		}
		return r
	}
	a, b := of(1, []float64{0, 0.6, 0.8, 0}, "x", "y"), of(2, []float64{0, 0.8, 0.6, 0}, "y", "x")
	if got := compared(t, a, b, separated(1, 1), separated(1, 1)); got.Pairs[0].Angle > 1e-9 {
		t.Errorf("%+v", got.Pairs)
	}
	if _, err := Of(a, of(3, []float64{0, 0.8, 0.6, 0}, "x", "z"), separated(1, 1), separated(1, 1)); err == nil {
		t.Error("another level was compared")
	}
}

// TestCommonStartIsSaid: components that one study started from, or both, are near each other
// before any row is read.
func TestCommonStartIsSaid(t *testing.T) {
	a := resultOf(t, same, 1, three, unit(0))
	from := func(of proposal.Digest, turn float64, nonce byte) *result.Result {
		return resultOf(t, func(s *proposal.Spec) {
			s.Method, s.Start = proposal.MethodPower, &proposal.Start{Result: of, Vectors: unit(turn)}
		}, nonce, three, unit(1))
	}
	b, c, other := from(a.Digest, 0, 2), from(a.Digest, 1, 3), from(proposal.Digest{9}, 2, 4)
	nameless, too, again := from(proposal.Digest{}, 0, 5), from(proposal.Digest{}, 1, 6), from(proposal.Digest{9}, 1, 7)
	for _, test := range []struct {
		a, b *result.Result
		want string
	}{
		{a, b, "B was started from A's components: "}, {b, a, "A was started from B's components: "},
		{b, c, "Both were started from components of study " + a.Digest.String()[:12]}, {a, other, ""}, {b, other, ""},
		{nameless, too, ""}, {too, again, "Both were started from the same directions: "},
	} {
		said := strings.Join(compared(t, test.a, test.b, separated(1, 1), separated(1, 1)).Notes, "\n")
		if !strings.Contains(said, test.want) || strings.Contains(said, "may be the start") != (test.want != "") {
			t.Errorf("want %q: %q", test.want, said)
		}
	}
}
